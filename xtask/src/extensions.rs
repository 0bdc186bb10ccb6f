//! What the layer knows of the registry's device extensions.

use std::collections::BTreeSet;

use crate::registry::{Element, all, header_version};
use crate::{Failure, Outcome, read, registry, root, write};

const USAGE: &str = "\
Writes src/extensions/known.rs: what the layer knows of the registry's device extensions.

    scripts/known-extensions VK_XML            writes the table
    scripts/known-extensions VK_XML --check    changes nothing; exit status 1 if the table is another

VK_XML is xml/vk.xml of KhronosGroup/Vulkan-Docs or registry/vk.xml of Vulkan-Headers. Only hashes of the names go into the layer: it
asks whether a name is among them, and never for the name.";

const TABLE: &str = "src/extensions/known.rs";

/// 64-bit FNV-1a, as in core/src/decide/state.rs, its halves combined.
fn hash_of(text: &str) -> u32 {
    let hash = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    (hash ^ (hash >> 32)) as u32
}

/// A number that was only set aside has a stand-in for a name; the extension that takes it will have another.
fn is_reserved(name: &str) -> bool {
    let end = name.rsplit_once("_extension_").map(|(_, end)| end);
    end.is_some_and(|end| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()))
}

fn derive(root: Element<'_>) -> Result<(String, String), Failure> {
    let extensions = all(root, "extensions").flat_map(|extensions| all(extensions, "extension"));
    let devices = extensions.filter(|extension| extension.attribute("type") == Some("device"));
    let names: BTreeSet<&str> =
        devices.filter_map(|extension| extension.attribute("name")).filter(|name| !is_reserved(name)).collect();
    let hashes: BTreeSet<u32> = names.iter().map(|name| hash_of(name)).collect();
    if hashes.len() != names.len() {
        return Err(Failure::Input("two names have the same hash".into()));
    }
    let version = header_version(root)?;
    let rows = hashes.iter().map(|hash| format!("    0x{:04x}_{:04x},\n", hash >> 16, hash & 0xFFFF));
    let head = format!(
        "// Written by scripts/known-extensions.\n\n/// Hashes of the names of the device extensions in version {version} of the \
         registry, in ascending order.\npub(super) static KNOWN: [u32; {}] = [\n",
        hashes.len()
    );
    let text = [head].into_iter().chain(rows).chain(["];\n".to_owned()]).collect();
    Ok((text, format!("{} extensions of version {version}", hashes.len())))
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (path, is_check) = match arguments {
        [path] if !path.starts_with('-') => (*path, false),
        [path, "--check"] | ["--check", path] => (*path, true),
        _ => return Err(Failure::Usage(USAGE)),
    };
    let (text, said) = registry::with(path, derive)?;
    let table = root().join(TABLE);
    if is_check {
        let holds = read(&table).is_ok_and(|written| written == text);
        if !holds {
            eprintln!("{TABLE} is not of {path}");
        }
        return Ok(holds);
    }
    write(&table, &text)?;
    println!("{said}");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_extensions_with_a_name_of_their_own_are_known() {
        let text = "<registry><types><type>#define <name>VK_HEADER_VERSION</name> 7</type></types><extensions>\
            <extension name=\"VK_KHR_a\" type=\"device\"/><extension name=\"VK_KHR_b\" type=\"instance\"/>\
            <extension name=\"VK_KHR_extension_3\" type=\"device\"/></extensions></registry>";
        let document = roxmltree::Document::parse(text).unwrap();
        let (text, said) = derive(document.root_element()).ok().unwrap();
        assert_eq!(said, "1 extensions of version 7");
        assert!(text.contains("in version 7 of") && text.contains("[u32; 1]"), "{text}");
        // FNV-1a of the empty text is its offset basis.
        assert_eq!(hash_of(""), 0xCBF2_9CE4 ^ 0x8422_2325);
    }
}
