//! The sizes of structures that may be chained to a create info.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use regex_lite::Regex;

use crate::registry::{Element, Registry, all, is_for_vulkan, text, text_of};
use crate::{Failure, Outcome, read, registry, root, write};

const USAGE: &str = "\
Derives the sizes of structures that may be chained to a create info from the Vulkan registry.

    scripts/structure-sizes VK.XML           write them
    scripts/structure-sizes --check VK.XML   exit with 1 if a file differs from what would be written

VK.XML is the registry: registry/vk.xml of Vulkan-Headers or xml/vk.xml of Vulkan-Docs. What may be chained to one of ROOTS, or to
something that may be chained to it, is written to vk-layer-sys/src/sizes/table.rs, sType and size for each of the layouts in ABIS.
What may be chained within the create info of a pipeline (PIPELINE) and can be copied without knowing more is written to
vk-layer-sys/src/sizes/pipeline.rs, with its arrays: structures that hold no handle and no address of a device, and whose pointers
lead to arrays of plain data that is read.
Names, and which of them the ash in Cargo.lock has, go to vk-layer-sys/tests/headers/names.rs for the tests. Only facts are taken from
the registry: names, values, sizes and offsets. The same registry and the same ash give the same files.";

const ROOTS: [&str; 6] = [
    "VkDeviceCreateInfo",
    "VkImageCreateInfo",
    "VkImageViewCreateInfo",
    "VkSamplerCreateInfo",
    "VkDescriptorSetLayoutCreateInfo",
    "VkSamplerYcbcrConversionCreateInfo",
];

/// The create infos of graphics and compute pipelines and what they point to.
const PIPELINE: [&str; 12] = [
    "VkGraphicsPipelineCreateInfo",
    "VkComputePipelineCreateInfo",
    "VkPipelineShaderStageCreateInfo",
    "VkPipelineVertexInputStateCreateInfo",
    "VkPipelineInputAssemblyStateCreateInfo",
    "VkPipelineTessellationStateCreateInfo",
    "VkPipelineViewportStateCreateInfo",
    "VkPipelineRasterizationStateCreateInfo",
    "VkPipelineMultisampleStateCreateInfo",
    "VkPipelineDepthStencilStateCreateInfo",
    "VkPipelineColorBlendStateCreateInfo",
    "VkPipelineDynamicStateCreateInfo",
];

/// In place of the offset of a count: the pointer leads to one element.
const ONE: usize = 0xFFFF;

/// Size of a pointer and alignment of a 64-bit number.
#[derive(Clone, Copy)]
struct Abi {
    pointer: usize,
    wide: usize,
}

/// x86-64 and other 64-bit targets; 32-bit ARM and Windows; 32-bit x86 elsewhere.
const ABIS: [Abi; 3] = [Abi { pointer: 8, wide: 8 }, Abi { pointer: 4, wide: 8 }, Abi { pointer: 4, wide: 4 }];

/// The size of what C and the platforms' headers call their types; 0 for a pointer, or what is as wide as one.
fn plain(name: &str) -> Option<usize> {
    Some(match name {
        "char" | "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" => 2,
        "int" | "int32_t" | "uint32_t" | "float" | "DWORD" | "zx_handle_t" => 4,
        "int64_t" | "uint64_t" | "double" => 8,
        "size_t" | "HANDLE" | "HINSTANCE" | "HWND" | "HMONITOR" | "LPCWSTR" => 0,
        "NvSciBufObj" | "NvSciSyncObj" | "NvSciBufAttrList" | "NvSciSyncAttrList" => 0,
        _ => return None,
    })
}

/// A member of a structure; of bit-fields that share a unit the first.
struct Member<'a> {
    element: Element<'a>,
    offset: usize,
    size: usize,
    align: usize,
}

/// A pointer of a structure.
struct Array {
    /// The path of the pointer, and its offset.
    pointer: String,
    at: usize,
    /// The path of the count, empty where there is one element, and its offset.
    count: String,
    count_at: usize,
    /// The size of an element; 0 where the pointer has to be null.
    size: usize,
}

struct Measured<'a> {
    registry: Registry<'a>,
    width: Regex,
    length: Regex,
    typedef: Regex,
}

impl<'a> Measured<'a> {
    fn new(root: Element<'a>) -> Result<Self, Failure> {
        let new = |pattern| Regex::new(pattern).map_err(|error| Failure::Input(error.to_string()));
        let [width, length] = [new(r":\s*(\d+)\s*$")?, new(r"\[([^\]]+)\]")?];
        Ok(Measured { registry: Registry::new(root)?, width, length, typedef: new(r"typedef\s+([^;]+);")? })
    }

    /// The structures that may be chained to one of these.
    fn extending(&self, parents: &BTreeSet<&str>) -> BTreeSet<&'a str> {
        let is_child = |element: &Element<'a>| {
            let of = element.attribute("structextends").unwrap_or_default();
            element.attribute("category") == Some("struct") && of.split(',').any(|of| parents.contains(of))
        };
        self.registry.types.iter().filter(|(_, element)| is_child(element)).map(|(name, _)| *name).collect()
    }

    /// sType and name of those that some core version or extension has, in order of their sType.
    fn in_order(&self, names: &BTreeSet<&'a str>) -> Result<Vec<(i64, &'a str)>, Failure> {
        let registry = &self.registry;
        let aliased: BTreeSet<_> = registry.required.iter().filter_map(|name| registry.aliases.get(name)).collect();
        let known = names.iter().filter(|name| registry.required.contains(*name) || aliased.contains(name));
        let mut rows = Vec::new();
        for name in known {
            let s_type = self.s_type(name)?;
            let value = registry.values.get(s_type).ok_or_else(|| Failure::Input(format!("{s_type} has no value")))?;
            rows.push((*value, *name));
        }
        rows.sort_unstable();
        if rows.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(Failure::Input("two structures have the same sType".into()));
        }
        Ok(rows)
    }

    /// The structures that may be chained to [`ROOTS`], directly or through others.
    fn chainable(&self) -> BTreeSet<&'a str> {
        let (mut found, mut fresh) = (BTreeSet::new(), BTreeSet::from(ROOTS));
        while !fresh.is_empty() {
            fresh = self.extending(&fresh).difference(&found).copied().collect();
            found.extend(&fresh);
        }
        found
    }

    fn of(&self, name: &str) -> Result<Element<'a>, Failure> {
        let found = self.registry.types.get(name).copied();
        found.ok_or_else(|| Failure::Input(format!("the registry has no {name}")))
    }

    /// A type's category; none for what C and the platforms' headers define.
    fn category(&self, name: &'a str) -> Option<&'a str> {
        self.registry.types.get(self.registry.resolve(name))?.attribute("category")
    }

    /// The pointers of a structure; `None` if it holds a handle, or a pointer to anything but plain data in a number that a member gives.
    fn arrays(&self, name: &str, abi: Abi, before: usize, path: &str) -> Result<Option<Vec<Array>>, Failure> {
        let (mut found, mut offsets) = (Vec::new(), Vec::<(&str, usize)>::new());
        for Member { element, offset, .. } in self.lay_out(self.of(name)?, abi)? {
            let [label, of] = ["name", "type"].map(|part| text_of(element, part).unwrap_or_default());
            let (text, at) = (text(element), before + offset);
            offsets.push((label, at));
            if label == "pNext" {
                if !path.is_empty() {
                    let pointer = format!("{path}{label}");
                    found.push(Array { pointer, at, count: String::new(), count_at: ONE, size: 0 });
                }
            } else if text.contains('*') {
                let count = element.attribute("len");
                let many = count.and_then(|count| offsets.iter().rev().find(|(label, _)| *label == count));
                let is_input = text.matches('*').count() == 1 && text.trim_start().starts_with("const");
                if !is_input || many.is_none() && count.is_some() || !self.is_plain(of)? {
                    return Ok(None);
                }
                let (count, count_at) =
                    many.map_or((String::new(), ONE), |(label, at)| (format!("{path}{label}"), *at));
                let size = self.measure(of, abi)?.0;
                found.push(Array { pointer: format!("{path}{label}"), at, count, count_at, size });
            } else if self.category(of) == Some("struct") {
                match self.arrays(self.registry.resolve(of), abi, at, &format!("{path}{label}."))? {
                    Some(inner) => found.extend(inner),
                    None => return Ok(None),
                }
            } else if !self.is_plain(of)? {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Whether values of a type can be copied without looking at them: no pointers, no handles, no addresses, of known size.
    fn is_plain(&self, name: &'a str) -> Result<bool, Failure> {
        let name = self.registry.resolve(name);
        Ok(match self.category(name) {
            _ if name == "VkDeviceAddress" => false,
            Some("struct" | "union") => {
                for member in all(self.of(name)?, "member").filter(|member| is_for_vulkan(*member, "api")) {
                    let is_pointer = text(member).contains('*');
                    if is_pointer || !self.is_plain(text_of(member, "type").unwrap_or_default())? {
                        return Ok(false);
                    }
                }
                true
            }
            Some("enum" | "bitmask" | "basetype") => !text(self.of(name)?).contains('*'),
            _ => plain(name).is_some_and(|size| size > 0),
        })
    }

    /// The name of a structure's sType.
    fn s_type(&self, name: &str) -> Result<&'a str, Failure> {
        let member = all(self.of(name)?, "member").find(|member| text_of(*member, "name") == Some("sType"));
        let values = member.and_then(|member| member.attribute("values"));
        values.ok_or_else(|| Failure::Input(format!("{name} has no sType")))
    }

    /// Size and alignment of a type.
    fn measure(&self, name: &str, abi: Abi) -> Result<(usize, usize), Failure> {
        let name = self.registry.aliases.get(name).copied().unwrap_or(name);
        if let Some(size) = plain(name) {
            let size = if size == 0 { abi.pointer } else { size };
            return Ok((size, if size == 8 && abi.pointer != 8 { abi.wide } else { size }));
        }
        let element = self.of(name).map_err(|_| Failure::Input(format!("the size of {name} is not known")))?;
        let pointer = (abi.pointer, abi.pointer);
        Ok(match element.attribute("category") {
            Some("struct" | "union") => {
                let members = self.lay_out(element, abi)?;
                let size = members.iter().map(|member| member.offset + member.size).max().unwrap_or(0);
                let align = members.iter().map(|member| member.align).max().unwrap_or(1);
                (size.next_multiple_of(align), align)
            }
            Some("enum") if self.registry.wide.contains(name) => (8, abi.wide),
            Some("enum") => (4, 4),
            Some("funcpointer") => pointer,
            Some("handle") if text(element).contains("NON_DISPATCHABLE") => (8, abi.wide),
            Some("handle") => pointer,
            Some("bitmask" | "basetype") => {
                // The last one is the one for C; those before it are for Objective-C.
                let text = text(element);
                let last = self.typedef.captures_iter(&text).last();
                let last = last.as_ref().map(|found| &found[1]);
                let of = last.and_then(|typedef| typedef.split_whitespace().next());
                match of {
                    Some(_) if last.is_some_and(|typedef| typedef.contains('*')) => pointer,
                    Some(of) => self.measure(of, abi)?,
                    None => return Err(Failure::Input(format!("the size of {name} is not known"))),
                }
            }
            _ => return Err(Failure::Input(format!("the size of {name} is not known"))),
        })
    }

    /// The members of a structure or union.
    fn lay_out(&self, of: Element<'a>, abi: Abi) -> Result<Vec<Member<'a>>, Failure> {
        let (mut out, mut end, mut bits) = (Vec::new(), 0_usize, 0);
        for element in all(of, "member").filter(|member| is_for_vulkan(*member, "api")) {
            let text = text(element);
            let (mut size, align) = match text.contains('*') {
                true => (abi.pointer, abi.pointer),
                false => self.measure(text_of(element, "type").unwrap_or_default(), abi)?,
            };
            for found in self.length.captures_iter(&text) {
                size *= self.registry.number(&found[1])?;
            }
            let width = self.width.captures(&text).and_then(|found| found[1].parse::<usize>().ok());
            match width {
                // Bit-fields of one type share a unit while they fit.
                Some(width) if bits > 0 && bits + width <= size * 8 => {
                    bits += width;
                    continue;
                }
                width => bits = width.unwrap_or(0),
            }
            let is_union = of.attribute("category") == Some("union");
            let offset = if is_union { 0 } else { end.next_multiple_of(align) };
            end = offset + size;
            out.push(Member { element, offset, size, align });
        }
        Ok(out)
    }

    /// The sizes in each layout.
    fn sizes(&self, name: &str) -> Result<String, Failure> {
        let mut sizes = Vec::new();
        for abi in ABIS {
            sizes.push(self.measure(name, abi)?.0.to_string());
        }
        Ok(sizes.join(", "))
    }

    /// A structure's name and its aliases.
    fn names(&self, name: &'a str) -> Vec<&'a str> {
        let aliases = self.registry.aliases.iter().filter(|(_, of)| **of == name).map(|(alias, _)| *alias);
        [name].into_iter().chain(aliases).collect()
    }
}

/// The names (without Vk) of the structures with an sType that ash has.
fn ash_structures() -> Result<BTreeSet<String>, Failure> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline"];
    let done = Command::new("cargo").args(arguments).current_dir(root()).output();
    let done = done.map_err(|error| Failure::Input(format!("cargo: {error}")))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&done.stdout).map_err(|error| Failure::Input(format!("cargo metadata: {error}")))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let ash = packages.filter(|package| package["name"] == "ash").find_map(|package| package["manifest_path"].as_str());
    let folder = ash.and_then(|path| Path::new(path).parent());
    let folder = folder.ok_or_else(|| Failure::Input("cargo metadata knows no ash".into()))?;
    let source = read(&folder.join("src/vk/definitions.rs"))?;
    let pattern = Regex::new(r"unsafe impl(?:<'a>)? TaggedStructure for (\w+)");
    let pattern = pattern.map_err(|error| Failure::Input(error.to_string()))?;
    Ok(pattern.captures_iter(&source).map(|found| found[1].to_owned()).collect())
}

/// A macro that calls another one with structures.
fn calling(name: &str, structures: &[String]) -> String {
    let list: String = structures.iter().map(|structure| format!("            {structure},\n")).collect();
    format!(
        "\n/// Calls a macro with those that ash has.\n#[rustfmt::skip]\nmacro_rules! {name} {{\n    ($then:ident) => {{\n        \
         $then! {{\n{list}        }}\n    }};\n}}\npub(crate) use {name};\n"
    )
}

const NOTE: &str = "// Written by scripts/structure-sizes; do not edit.\n";

/// The texts of the three files.
fn derive(of: &Measured<'_>) -> Result<[(&'static str, String); 3], Failure> {
    let ash = ash_structures()?;
    let quoted = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let in_ash = |names: &[&str]| names.iter().map(|name| name[2..].to_owned()).find(|name| ash.contains(name));

    let rows = of.in_order(&of.chainable())?;
    let mut table = format!(
        "{NOTE}\n/// Header version of the registry that the table was made from.\npub const HEADER_VERSION: u32 = {};\n\n\
         /// sType, ascending, and size in bytes in each of the layouts in `COLUMNS`.\n#[rustfmt::skip]\n\
         pub static TABLE: [(i32, [u16; 3]); {}] = [\n",
        of.registry.version,
        rows.len()
    );
    let mut names = format!(
        "{NOTE}\n/// sType and names of each row, in the table's order (registry of Vulkan {}).\n#[rustfmt::skip]\n\
         pub(crate) const NAMES: [(&str, &[&str]); {}] = [\n",
        of.registry.version_text,
        rows.len()
    );
    let mut known = Vec::new();
    for (value, name) in rows {
        let all = of.names(name);
        let _ = writeln!(table, "    ({value}, [{}]), // {name}", of.sizes(name)?);
        let _ = writeln!(names, "    (\"{}\", &[{}]),", of.s_type(name)?, quoted(&all));
        known.extend(in_ash(&all));
    }
    table += "];\n";
    names += "];\n";
    names += &calling("in_ash", &known);

    let mut flat = Vec::new();
    for (value, name) in of.in_order(&of.extending(&BTreeSet::from(PIPELINE)))? {
        let mut columns = Vec::new();
        for abi in ABIS {
            columns.extend(of.arrays(name, abi, 0, "")?);
        }
        if columns.len() == ABIS.len() {
            flat.push((value, name, columns));
        }
    }
    let mut pipelines = format!(
        "{NOTE}\nuse super::Row;\n\n/// By sType, ascending.\n#[rustfmt::skip]\npub static PIPELINE: [Row; {}] = [\n",
        flat.len()
    );
    let _ = write!(
        names,
        "\n/// sType, names, and the paths of pointers and of their counts.\n\
         pub(crate) type Row = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);\n\n\
         /// As `NAMES`, for what can be chained within a pipeline's create info.\n\
         #[rustfmt::skip]\npub(crate) const PIPELINE: [Row; {}] = [\n",
        flat.len()
    );
    known.clear();
    for (value, name, columns) in flat {
        let first = columns.first().map_or(&[][..], |column| column);
        let list = |texts: Vec<String>| texts.join(", ");
        let cell = |array: &Array| format!("({}, {}, {})", array.at, array.count_at, array.size);
        let row = |at: usize| format!("[{}]", list(columns.iter().map(|column| cell(&column[at])).collect()));
        let arrays = list((0..first.len()).map(row).collect());
        let _ = writeln!(pipelines, "    ({value}, [{}], &[{arrays}]), // {name}", of.sizes(name)?);
        let all = of.names(name);
        let paths = list(first.iter().map(|one| format!("(\"{}\", \"{}\")", one.pointer, one.count)).collect());
        let _ = writeln!(names, "    (\"{}\", &[{}], &[{paths}]),", of.s_type(name)?, quoted(&all));
        known.extend(in_ash(&all));
    }
    pipelines += "];\n";
    names += "];\n";
    names += &calling("pipeline_in_ash", &known);
    Ok([
        ("vk-layer-sys/src/sizes/table.rs", table),
        ("vk-layer-sys/src/sizes/pipeline.rs", pipelines),
        ("vk-layer-sys/tests/headers/names.rs", names),
    ])
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (is_check, path) = match arguments {
        ["--check", path] => (true, *path),
        [path] if !path.starts_with('-') => (false, *path),
        _ => return Err(Failure::Usage(USAGE)),
    };
    let mut holds = true;
    for (name, text) in registry::with(path, |root| derive(&Measured::new(root)?))? {
        let path = root().join(name);
        if !is_check {
            write(&path, &text)?;
        } else if !read(&path).is_ok_and(|written| written == text) {
            eprintln!("structure-sizes: {name} is not what the registry gives");
            holds = false;
        }
    }
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A registry with one structure that has what `members` says.
    fn registry(members: &str) -> String {
        format!(
            "<registry><types>\
             <type category=\"define\">#define <name>VK_HEADER_VERSION</name> 7</type>\
             <type category=\"define\">#define <name>VK_HEADER_VERSION_COMPLETE</name> VK_MAKE_API_VERSION(0, 1, 4, VK_HEADER_VERSION)</type>\
             <type category=\"handle\"><type>VK_DEFINE_NON_DISPATCHABLE_HANDLE</type>(<name>VkThing</name>)</type>\
             <type category=\"struct\" name=\"VkOne\" structextends=\"VkComputePipelineCreateInfo\">{members}</type></types></registry>"
        )
    }

    fn with<T>(members: &str, then: impl FnOnce(Measured<'_>) -> T) -> T {
        let text = registry(members);
        let document = roxmltree::Document::parse(&text).unwrap();
        then(Measured::new(document.root_element()).ok().unwrap())
    }

    #[test]
    fn a_structure_is_laid_out_for_each_target() {
        let members = "<member><type>uint32_t</type> <name>a</name></member>\
            <member><type>uint64_t</type> <name>b</name></member>\
            <member>const <type>void</type>* <name>c</name></member>\
            <member><type>uint32_t</type> <name>d</name>:24</member><member><type>uint32_t</type> <name>e</name>:8</member>\
            <member><type>uint8_t</type> <name>f</name>[3]<comment>not [9] of them</comment></member>";
        let sizes = with(members, |of| ABIS.map(|abi| of.measure("VkOne", abi).ok().unwrap()));
        assert_eq!(sizes, [(32, 8), (32, 8), (24, 4)]);
        assert!(with("<member><type>Unheard</type> <name>a</name></member>", |of| of
            .measure("VkOne", ABIS[0])
            .is_err()));
    }

    #[test]
    fn arrays_of_plain_data_are_copied_and_nothing_else() {
        let arrays = |members: &str| with(members, |of| of.arrays("VkOne", ABIS[0], 0, "").ok().unwrap());
        let count = "<member><type>uint32_t</type> <name>n</name></member>";
        let many = format!("{count}<member len=\"n\">const <type>float</type>* <name>p</name></member>");
        let found = arrays(&many).unwrap();
        assert_eq!((found[0].pointer.as_str(), found[0].at, found[0].count_at, found[0].size), ("p", 8, 0, 4));
        assert!(arrays("<member><type>VkThing</type> <name>a</name></member>").is_none());
        assert!(arrays(&many.replace("const ", "")).is_none() && arrays(&many.replace("float", "VkThing")).is_none());
    }
}
