//! What tasks read of the Vulkan registry: registry/vk.xml of Vulkan-Headers or xml/vk.xml of Vulkan-Docs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use roxmltree::{Document, Node};

use crate::{Failure, read};

/// A node of the registry.
pub(crate) type Element<'a> = Node<'a, 'a>;

/// Reads the registry and calls a function with its root.
pub(crate) fn with<T>(path: &str, of: impl FnOnce(Element<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    let text = read(Path::new(path))?;
    let document = Document::parse(&text).map_err(|error| Failure::Input(format!("{path}: {error}")))?;
    of(document.root_element())
}

/// Whether an element belongs to Vulkan, and not to Vulkan SC alone.
pub(crate) fn is_for_vulkan(element: Element<'_>, attribute: &str) -> bool {
    element.attribute(attribute).is_none_or(|names| names.split(',').any(|name| name == "vulkan"))
}

/// The children of that name.
pub(crate) fn all<'a>(element: Element<'a>, name: &'a str) -> impl Iterator<Item = Element<'a>> {
    element.children().filter(move |child| child.has_tag_name(name))
}

/// The text of the first child of that name, up to its first own child.
pub(crate) fn text_of<'a>(element: Element<'a>, name: &str) -> Option<&'a str> {
    element.children().find(|child| child.has_tag_name(name)).map(|child| child.text().unwrap_or_default())
}

/// All text within an element, without that of `comment` elements.
pub(crate) fn text(element: Element<'_>) -> String {
    let is_kept = |node: &Element<'_>| node.is_text() && !node.ancestors().any(|above| above.has_tag_name("comment"));
    element.descendants().filter(is_kept).filter_map(|node| node.text()).collect()
}

/// What a type is called.
fn name_of(element: Element<'_>) -> Option<&str> {
    let prototype = || text_of(element.children().find(|child| child.has_tag_name("proto"))?, "name");
    element.attribute("name").or_else(|| text_of(element, "name")).or_else(prototype)
}

/// The types, constants and requirements of the registry.
pub(crate) struct Registry<'a> {
    pub(crate) types: BTreeMap<&'a str, Element<'a>>,
    pub(crate) aliases: BTreeMap<&'a str, &'a str>,
    /// Enumerations of 64 bits.
    pub(crate) wide: BTreeSet<&'a str>,
    pub(crate) values: BTreeMap<&'a str, i64>,
    /// The types that some core version or extension has.
    pub(crate) required: BTreeSet<&'a str>,
    pub(crate) version: u32,
    pub(crate) version_text: String,
}

impl<'a> Registry<'a> {
    pub(crate) fn new(root: Element<'a>) -> Result<Self, Failure> {
        let mut new = Registry {
            types: BTreeMap::new(),
            aliases: BTreeMap::new(),
            wide: BTreeSet::new(),
            values: BTreeMap::new(),
            required: BTreeSet::new(),
            version: 0,
            version_text: String::new(),
        };
        for element in all(root, "types").flat_map(|types| all(types, "type")) {
            match (name_of(element), element.attribute("alias")) {
                (Some(name), Some(of)) if is_for_vulkan(element, "api") => _ = new.aliases.insert(name, of),
                (Some(name), None) if is_for_vulkan(element, "api") => _ = new.types.insert(name, element),
                _ => {}
            }
        }
        let complete = new.types.get("VK_HEADER_VERSION_COMPLETE").map(|element| text(*element)).unwrap_or_default();
        let numbers: Vec<&str> = complete.rsplit('(').next().unwrap_or_default().split(',').map(str::trim).collect();
        new.version = header_version(root)?;
        new.version_text = match numbers[..] {
            [_, major, minor, ..] => format!("{major}.{minor}.{}", new.version),
            _ => return Err(Failure::Input("the registry has no VK_HEADER_VERSION_COMPLETE".into())),
        };
        for enums in all(root, "enums") {
            if enums.attribute("bitwidth") == Some("64") {
                new.wide.extend(enums.attribute("name"));
            }
            all(enums, "enum").for_each(|one| new.note(one, None));
        }
        let features = all(root, "feature").filter(|part| is_for_vulkan(*part, "api"));
        let extensions = all(root, "extensions").flat_map(|extensions| all(extensions, "extension"));
        for part in features.chain(extensions.filter(|part| is_for_vulkan(*part, "supported"))) {
            for require in all(part, "require").filter(|require| is_for_vulkan(*require, "api")) {
                new.required.extend(all(require, "type").filter_map(|one| one.attribute("name")));
                all(require, "enum").for_each(|one| new.note(one, part.attribute("number")));
            }
        }
        Ok(new)
    }

    /// Notes the value of an enumerant or constant.
    fn note(&mut self, element: Element<'a>, number: Option<&str>) {
        let Some(name) = element.attribute("name") else { return };
        if element.attribute("alias").is_some() || !is_for_vulkan(element, "api") {
            return;
        }
        let value = match element.attribute("offset") {
            Some(offset) => {
                let block = element.attribute("extnumber").or(number).and_then(|text| text.parse::<i64>().ok());
                offset.parse::<i64>().ok().zip(block).map(|(offset, block)| 1_000_000_000 + (block - 1) * 1000 + offset)
            }
            None => element.attribute("value").and_then(|text| match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => text.strip_suffix('U').unwrap_or(text).parse().ok().filter(|value| *value >= 0),
            }),
        };
        if let Some(value) = value {
            self.values.insert(name, value);
        }
    }

    /// A type's own name.
    pub(crate) fn resolve(&self, name: &'a str) -> &'a str {
        self.aliases.get(name).copied().unwrap_or(name)
    }

    /// The value of a constant, or of a number.
    pub(crate) fn number(&self, text: &str) -> Result<usize, Failure> {
        let known = || self.values.get(text).and_then(|value| usize::try_from(*value).ok());
        text.parse().ok().or_else(known).ok_or_else(|| Failure::Input(format!("{text} is not a number")))
    }
}

/// VK_HEADER_VERSION of Vulkan.
pub(crate) fn header_version(root: Element<'_>) -> Result<u32, Failure> {
    let is_it = |one: &Element<'_>| text_of(*one, "name") == Some("VK_HEADER_VERSION") && is_for_vulkan(*one, "api");
    let element = all(root, "types").flat_map(|types| all(types, "type")).find(is_it);
    let last = element.map(text).unwrap_or_default();
    let number = last.split_whitespace().next_back().and_then(|word| word.parse().ok());
    number.ok_or_else(|| Failure::Input("the registry has no VK_HEADER_VERSION".into()))
}
