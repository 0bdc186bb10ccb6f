//! bind/tests/alphabet.tsv against the registry.

use std::collections::{BTreeMap, BTreeSet};

use crate::registry::{Element, all, is_for_vulkan, text_of};
use crate::{Failure, Outcome, read, registry, root};

const USAGE: &str = "\
Holds bind/tests/alphabet.tsv against the registry.

    scripts/alphabet VK_XML            exit with 1 if the registry has a command or a structure that the table lacks
    scripts/alphabet VK_XML --exact    also if the table has one that the registry lacks: for the newest registry

VK_XML is registry/vk.xml of Vulkan-Headers or xml/vk.xml of Vulkan-Docs. The table lists each command, and each structure, that takes
an object which a draw reads through or that is recorded into: HANDLES. A row has its name, who covers it, and how or why not:

  stream     bind/tests/property.rs: random streams against the reference; the third column is the call there
  action     the same as `Call` of none: a draw, which both models are asked about; the layer has to hook it
  machine    tests/mock/separate.rs: random programs against a model of objects
  table      a table of tests that the third column names
  -          nobody, for the reason in the third column";

const HANDLES: [&str; 14] = [
    "VkDescriptorSet",
    "VkDescriptorSetLayout",
    "VkDescriptorUpdateTemplate",
    "VkDescriptorPool",
    "VkPipelineLayout",
    "VkPipeline",
    "VkShaderEXT",
    "VkSampler",
    "VkImageView",
    "VkCommandBuffer",
    "VkCommandPool",
    "VkRenderPass",
    "VkIndirectExecutionSetEXT",
    "VkIndirectCommandsLayoutEXT",
];

/// Names of the registry's commands and structures that have one of [`HANDLES`], aliases left out.
fn names(root: Element<'_>) -> BTreeSet<String> {
    let types = all(root, "types").flat_map(|types| all(types, "type"));
    let is_structure = |one: &Element<'_>| {
        one.attribute("category") == Some("struct") && is_for_vulkan(*one, "api") && one.attribute("alias").is_none()
    };
    let members = |one: Element<'_>, part| -> BTreeSet<String> {
        all(one, part).filter_map(|member| text_of(member, "type")).map(str::to_owned).collect()
    };
    let structures: BTreeMap<String, BTreeSet<String>> = types
        .filter(is_structure)
        .filter_map(|one| Some((one.attribute("name")?.to_owned(), members(one, "member"))))
        .collect();
    let handles = BTreeSet::from(HANDLES.map(str::to_owned));
    let that_hold = |of: &BTreeSet<String>| -> BTreeSet<String> {
        structures.iter().filter(|(_, members)| !members.is_disjoint(of)).map(|(name, _)| name.clone()).collect()
    };
    let mut found = that_hold(&handles);
    // What has one of these by value or by pointer.
    let mut holding: BTreeSet<String> = handles.union(&found).cloned().collect();
    loop {
        let before = holding.len();
        holding.extend(that_hold(&holding));
        if holding.len() == before {
            break;
        }
    }
    for command in root.descendants().filter(|one| one.has_tag_name("command") && is_for_vulkan(*one, "api")) {
        let prototype = command.children().find(|child| child.has_tag_name("proto"));
        if let Some(prototype) = prototype
            && !members(command, "param").is_disjoint(&holding)
        {
            found.extend(text_of(prototype, "name").map(str::to_owned));
        }
    }
    found
}

/// What is wrong with a table.
fn compare(registry: &BTreeSet<String>, table: &str, exactly: Option<&str>) -> Vec<String> {
    let listed: BTreeSet<&str> = table.lines().filter_map(|line| line.split('\t').next()).collect();
    // An older registry names what was promoted since by its extension's name.
    let is_listed = |name: &&String| {
        let promoted = name.strip_suffix("KHR").or(name.strip_suffix("EXT")).unwrap_or(name);
        listed.contains(name.as_str()) || listed.contains(promoted)
    };
    let missing = registry.iter().filter(|name| !is_listed(name));
    let missing = missing.map(|name| format!("{name} has no row: who covers it, or why does nobody?"));
    let gone = exactly.into_iter().flat_map(|path| {
        let gone = listed.iter().filter(|name| !registry.contains(**name));
        gone.map(move |name| format!("{name} is not in {path}"))
    });
    missing.chain(gone).collect()
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (path, is_exact) = match arguments {
        [path] if !path.starts_with('-') => (*path, false),
        [path, "--exact"] | ["--exact", path] => (*path, true),
        _ => return Err(Failure::Usage(USAGE)),
    };
    let registry = registry::with(path, |root| Ok(names(root)))?;
    let wrong = compare(&registry, &read(&root().join("bind/tests/alphabet.tsv"))?, is_exact.then_some(path));
    wrong.iter().for_each(|line| eprintln!("alphabet: {line}"));
    Ok(wrong.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_a_handle_has_a_row() {
        let text = "<registry><types>\
            <type category=\"struct\" name=\"VkHas\"><member><type>VkSampler</type></member></type>\
            <type category=\"struct\" name=\"VkHolds\"><member><type>VkHas</type></member></type>\
            <type category=\"struct\" name=\"VkPlain\"><member><type>float</type></member></type></types><commands>\
            <command><proto><name>vkTakesKHR</name></proto><param><type>VkHolds</type></param></command>\
            <command><proto><name>vkPlain</name></proto><param><type>VkPlain</type></param></command></commands></registry>";
        let document = roxmltree::Document::parse(text).unwrap();
        let found = names(document.root_element());
        assert_eq!(found, BTreeSet::from(["VkHas", "vkTakesKHR"].map(str::to_owned)));
        assert_eq!(compare(&found, "VkHas\t-\nvkTakes\taction\n", None), [] as [&str; 0]);
        assert_eq!(
            compare(&found, "vkTakesKHR\taction\n", None),
            ["VkHas has no row: who covers it, or why does nobody?"]
        );
        assert_eq!(compare(&found, "VkHas\nvkTakesKHR\nvkGone", Some("vk.xml")), ["vkGone is not in vk.xml"]);
    }
}
