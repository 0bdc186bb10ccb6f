//! The stable names of what the layer leaves as it is, with what each means and what to do about it.
//!
//! The `what` of each `unresolved` record is one of them. `samplin explain`, `inspect` and the report derive from this table.

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// An image and a sampler that a shader joins.
    Link,
    /// A sampler and a view.
    Pair,
    /// An object, or a device.
    Object,
    /// A storage image.
    Storage,
    /// A shader.
    Shader,
}

/// One name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The stable name, an `unresolved` record's `what`.
    pub name: &'static str,
    /// What is left.
    pub about: About,
    /// What it means, as a sentence.
    pub meaning: &'static str,
    /// What to do about it, without a capital and a full stop.
    pub advice: &'static str,
}

impl Left {
    /// The row of a name.
    pub fn of(name: &str) -> Option<&'static Left> {
        LEFT.iter().find(|left| left.name == name)
    }

    /// The meaning without a capital and a full stop, for the `why` of a record.
    pub fn clause(&self) -> String {
        let mut clause = self.meaning.trim_end_matches('.').to_owned();
        if let Some(first) = clause.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        clause
    }
}

const fn left(name: &'static str, about: About, meaning: &'static str, advice: &'static str) -> Left {
    Left { name, about, meaning, advice }
}

/// Every name.
pub const LEFT: &[Left] = &[
    left(
        "shared-sampler",
        About::Link,
        "The sampler also serves images that need another one, and the pipeline cannot read a second sampler.",
        "give the image a sampler of its own",
    ),
    left(
        "immutable-sampler",
        About::Link,
        "The sampler is immutable, so a copy of the descriptor set has the same one.",
        "write the sampler into the set, or make the immutable one NEAREST",
    ),
    left(
        "update-after-bind",
        About::Link,
        "The descriptor set may be updated after it is bound, so a copy of it would not follow.",
        "write the set before it is bound, or give the image a sampler that suits it",
    ),
    left(
        "layout-destroyed",
        About::Link,
        "The set layout was destroyed, so the set cannot be copied.",
        "keep the set layout for as long as its sets are in use",
    ),
    left(
        "bindless",
        About::Link,
        "The shader's index can reach descriptors that samplin does not list: an array without a length, or of more than 64.",
        "give the array of samplers a length of 64 at most, or the images samplers that suit them",
    ),
    left(
        "too-large",
        About::Link,
        "The binding has more than 1,048,576 descriptors, or the set has more than 16,384 and the pipeline cannot read another sampler.",
        "use smaller bindings and sets, or give the image a sampler that suits it",
    ),
    left(
        "pipeline-chain",
        About::Link,
        "A create info holds a structure or a handle that samplin cannot copy, so it cannot create the pipeline a second time.",
        "a newer samplin may know the structure; else give the image a sampler that suits it",
    ),
    left(
        "pipeline-library",
        About::Link,
        "The pipeline is linked from a library whose creation samplin did not see.",
        "link the pipeline of whole shaders, or give the image a sampler that suits it",
    ),
    left(
        "hidden-spirv",
        About::Link,
        "The shader arrives as an identifier or a binary, so samplin cannot see which descriptors it joins.",
        "hand the driver SPIR-V, not an identifier or a binary of it",
    ),
    left(
        "ray-tracing-handles",
        About::Link,
        "The application holds handles of the groups of the ray tracing pipeline, and another pipeline has others.",
        "give the image a sampler of its own, or all images of the sampler formats that it suits",
    ),
    left(
        "transform-feedback",
        About::Link,
        "The pair needs another pipeline, and none may be bound while transform feedback is active.",
        "bind the set before transform feedback begins",
    ),
    left(
        "malformed-spirv",
        About::Link,
        "The shader's words are inconsistent, so samplin does not rewrite them.",
        "spirv-val says what is wrong with the module",
    ),
    left(
        "opaque-operand",
        About::Link,
        "The shader chooses between several images or samplers, or takes one that comes from no variable.",
        "let the shader name its image and its sampler, not choose between several",
    ),
    left(
        "vendor-instruction",
        About::Link,
        "An instruction of a vendor reads the sampler, and samplin knows too little about it.",
        "sample with the instructions of SPIR-V or of a KHR or EXT extension",
    ),
    left(
        "cube",
        About::Link,
        "The image is a cube, for which the rewritten shader cannot do more than sample.",
        "nothing in the program: cubes are sampled with NEAREST there",
    ),
    left(
        "coordinate-type",
        About::Link,
        "The coordinates are not 32-bit floats.",
        "let the shader sample with coordinates of 32-bit floats",
    ),
    left(
        "image-operands",
        About::Link,
        "The instruction has operands that samplin does not rewrite.",
        "a newer samplin may rewrite the instruction; else clamp the coordinate in the shader",
    ),
    left(
        "too-many-clones",
        About::Link,
        "A function takes the sampler from callers that need different ones, in a way that samplin does not rewrite.",
        "pass images and samplers by reference, or give each a function of its own",
    ),
    left(
        "no-free-set",
        About::Link,
        "The pipeline layout uses all descriptor sets that the device can bind.",
        "leave one of the device's maxBoundDescriptorSets free",
    ),
    left(
        "began-before",
        About::Link,
        "The command buffer was begun before samplin had to follow it, so samplin does not know all that is bound in it and binds nothing of its own there.",
        "begin the command buffer after the conflicting views exist",
    ),
    left(
        "pushed-type",
        About::Link,
        "Descriptors of a type that samplin does not know were pushed, so samplin could not push them again and binds no set of its own behind them.",
        "bind the descriptors of that type in a set",
    ),
    left(
        "sampler-limit",
        About::Link,
        "The pipeline layout uses all descriptors that the device allows a stage or a layout.",
        "leave the stage room for one more sampler",
    ),
    left(
        "learned",
        About::Link,
        "The pipeline was created before the conflict was known, and the settings forbid to compile it again; a later one is compiled twice at creation.",
        "run it again with the setting learned, or let resolve_memory and split_compile allow more",
    ),
    left(
        "too-many-links",
        About::Link,
        "Only the first 64 links of a pipeline can be split.",
        "give the shader fewer images and samplers, or the image a sampler that suits it",
    ),
    left(
        "descriptor-buffer",
        About::Link,
        "The descriptors lie in a descriptor buffer, which samplin does not read.",
        "put images and samplers into descriptor sets, or give the images samplers that suit them",
    ),
    left(
        "generated-commands",
        About::Link,
        "The device may choose pipelines for commands that it generates, so for these everything is bound as the application has it.",
        "give the images of pipelines that the device chooses samplers that suit them",
    ),
    left(
        "dynamic-layout",
        About::Link,
        "Descriptors were bound without a pipeline layout, so samplin does not know which are bound.",
        "bind and push descriptors with a pipeline layout",
    ),
    left(
        "memory",
        About::Link,
        "The host or the device has no memory left.",
        "nothing in the program: free memory, or raise resolve_memory",
    ),
    left(
        "pair",
        About::Pair,
        "A sampler and a view conflict, and no other sampler is legal for both or none could be created.",
        "the record's rule and reason say which; `samplin explain RULE` says how to repair it",
    ),
    left(
        "immutable sampler",
        About::Pair,
        "An immutable sampler meets a view that it does not suit. It is the same for every view, so it stays.",
        "write the sampler into the set instead, or set immutable=demote",
    ),
    left(
        "separate samplers",
        About::Pair,
        "The program joins samplers and images in its shaders, and separate=base does not look at them.",
        "set separate=resolve",
    ),
    left(
        "limit",
        About::Pair,
        "The application comes near a limit of samplers that samplin's own samplers count against too.",
        "create fewer samplers: one for each distinct state",
    ),
    left(
        "limit exceeded",
        About::Object,
        "The application asks for more samplers, or more custom border colours, at a time than the device allows.",
        "create one sampler for each distinct state, and destroy those that are not used",
    ),
    left(
        "unknown image",
        About::Object,
        "A view's image was created by a command that samplin does not know, so the format's features are unknown.",
        "a newer samplin may know the command",
    ),
    left(
        "unknown structure",
        About::Object,
        "A sampler's chain holds a structure that samplin does not know, so it cannot copy the chain.",
        "a newer samplin may know the structure",
    ),
    left(
        "unknown enumerant",
        About::Object,
        "A value belongs to an extension that is younger than samplin, so it stays as it is.",
        "a newer samplin may know the extension",
    ),
    left(
        "host-mapped descriptor set",
        About::Object,
        "The application writes descriptors through a mapping of the set's memory, where samplin does not look.",
        "write such sets with vkUpdateDescriptorSets",
    ),
    left(
        "descriptor-heap",
        About::Object,
        "Samplers lie in a descriptor heap, where samplin does not look.",
        "query the format's features before you sample with LINEAR",
    ),
    left(
        "view-usage",
        About::Object,
        "A view inherits a usage that its format does not support, and nothing smaller is left or the chain cannot be copied.",
        "chain VkImageViewUsageCreateInfo with the usages that the view has",
    ),
    left(
        "image-usage",
        About::Object,
        "An image has a usage that its format does not support, and no list of formats says which views will have it.",
        "chain VkImageFormatListCreateInfo, or drop the usage",
    ),
    left(
        "storage-image",
        About::Storage,
        "An image of a format that the device cannot store cannot be stored as another format.",
        "use a format with VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT",
    ),
    left(
        "storage-view",
        About::Storage,
        "A storage view's format cannot be stored, and no view of another format can stand in.",
        "use a format with VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT",
    ),
    left(
        "storage-template",
        About::Storage,
        "An update template's data could not be copied, so its storage views stay as they are.",
        "nothing in the program: the host has no memory left",
    ),
    left(
        "storage-without-format",
        About::Storage,
        "A shader accesses a storage image without a format, and the image is stored as another format.",
        "declare the format in the shader, or use one that the device can store",
    ),
    left(
        "storage-buffers",
        About::Shader,
        "With buffers for its counters the stage would exceed maxPerStageDescriptorStorageBuffers.",
        "use fewer storage buffers or fewer counter bindings",
    ),
    left(
        "stage-chain",
        About::Shader,
        "A module in the chain of a stage stands behind a structure that samplin cannot copy.",
        "chain VkShaderModuleCreateInfo first",
    ),
    left(
        "sample-count",
        About::Shader,
        "Sample loss cannot be reported for shader objects, dynamic sample counts, or libraries without multisample state.",
        "nothing: the record only says that the loss is unknown",
    ),
    left(
        "stores-and-atomics",
        About::Shader,
        "A shader with counters writes buffers in a stage for which the device lacks stores and atomics.",
        "enable fragmentStoresAndAtomics or vertexPipelineStoresAndAtomics, or count elsewhere",
    ),
    left(
        "library",
        About::Shader,
        "A rule about sample shading does not apply to a pipeline library.",
        "nothing in the program",
    ),
    left(
        "module",
        About::Shader,
        "The module cannot be read or edited.",
        "spirv-val says what is wrong with the module",
    ),
    left(
        "kernel",
        About::Shader,
        "The module is a kernel, whose images and pointers follow other rules.",
        "nothing in the program",
    ),
    left(
        "opcode",
        About::Shader,
        "An instruction uses what has to change, and the pass does not know the instruction.",
        "a newer samplin may know it",
    ),
    left(
        "selected-pointer",
        About::Shader,
        "OpSelect or OpPhi chooses between things that have to change.",
        "let the shader name the variable that it uses",
    ),
    left(
        "decoration-group",
        About::Shader,
        "A decoration that has to change belongs to a group.",
        "compile without decoration groups (spirv-opt flattens them)",
    ),
    left(
        "counter-without-binding",
        About::Shader,
        "An atomic counter has no binding.",
        "give each counter layout(binding = …, offset = …)",
    ),
    left(
        "counter-offset",
        About::Shader,
        "An atomic counter has no offset, or one that is not a multiple of 4 or is out of range.",
        "give each counter an offset that is a multiple of 4",
    ),
    left(
        "counter-type",
        About::Shader,
        "An atomic counter is not a 32-bit unsigned integer or an array of them.",
        "declare counters as atomic_uint",
    ),
    left(
        "counters-overlap",
        About::Shader,
        "Counters of different types share bytes of one binding.",
        "give each counter its own offset",
    ),
    left(
        "binding-taken",
        About::Shader,
        "The binding for a buffer of counters is taken by the shader's own descriptor, or is out of range.",
        "choose another one with counters=S:F",
    ),
    left("index-width", About::Shader, "An index is not a 32-bit integer.", "index with int or uint"),
    left("memory-semantics", About::Shader, "Memory semantics are not a plain constant.", "use a constant"),
    left(
        "function-variants",
        About::Shader,
        "A function would need too many versions.",
        "call it with fewer different counters or images",
    ),
    left(
        "default-block-uniform",
        About::Shader,
        "The shader has a uniform outside of a block, which Vulkan does not know.",
        "put uniforms into a block",
    ),
    left(
        "fragment-origin",
        About::Shader,
        "The shader reads a fragment or point coordinate, which depends on where OpenGL's origin is.",
        "use origin_upper_left, or flip the coordinate",
    ),
    left(
        "instance-id",
        About::Shader,
        "The shader reads InstanceId, and the device has no BaseInstance or the entry points disagree about it.",
        "use gl_InstanceIndex",
    ),
    left("builtin-twice", About::Shader, "Two variables would be the same built-in.", "declare the built-in once"),
    left(
        "builtin-type",
        About::Shader,
        "The variable of a built-in has a type of its own.",
        "declare the built-in with its usual type",
    ),
    left(
        "untyped-pointer",
        About::Shader,
        "Pointers without a type may lead to images.",
        "compile without untyped pointers",
    ),
    left(
        "image-escapes",
        About::Shader,
        "An image is passed to where the pass cannot follow it.",
        "use the image variable itself",
    ),
    left(
        "image-atomics",
        About::Shader,
        "An image with atomics cannot be stored as another format.",
        "use a format that the device supports for atomics",
    ),
    left(
        "read-without-format",
        About::Shader,
        "The shader reads a storage image without a format, and the device cannot.",
        "declare the format, or enable shaderStorageImageReadWithoutFormat",
    ),
    left(
        "write-without-format",
        About::Shader,
        "The shader writes a storage image without a format, and the device cannot.",
        "declare the format, or enable shaderStorageImageWriteWithoutFormat",
    ),
    left(
        "shared-input",
        About::Shader,
        "Several entry points share an input that only some of them may change.",
        "give each entry point its own input",
    ),
    left("passed-by-pointer", About::Shader, "An input is passed to a function by pointer.", "pass its value"),
    left(
        "image-type",
        About::Shader,
        "The image has a type that the pass does not encode.",
        "use a two-dimensional colour image",
    ),
    left(
        "texel-type",
        About::Shader,
        "What is read from or written to the image is not a vector of its components.",
        "read and write vectors of four components",
    ),
    left(
        "capability",
        About::Shader,
        "The shader needs a capability that the device lacks.",
        "enable the capability's feature, or compile without it",
    ),
    left(
        "binding-missing",
        About::Shader,
        "The pipeline layout has no binding where the shader's counters became a storage buffer.",
        "add a storage buffer to the layout at that binding, or choose another one with counters=S:F",
    ),
    left(
        "atomic-counters",
        About::Shader,
        "The shader has atomic counters of OpenGL, which Vulkan drivers do not survive, and nothing allows samplin to rewrite them.",
        "set counters=auto, or enable VK_SAMPLIN_gl_shaders",
    ),
    left(
        "opengl-shader",
        About::Shader,
        "The shader is for OpenGL, and nothing allows samplin to rewrite it.",
        "set counters=auto, or enable VK_SAMPLIN_gl_shaders",
    ),
    left(
        "panic in a hook",
        About::Object,
        "samplin failed; from then on the device is only forwarded to, and nothing is repaired.",
        "report it with the trace",
    ),
    left(
        "out of host memory",
        About::Object,
        "The host refused memory; from then on the device is only forwarded to, and nothing is repaired.",
        "free memory",
    ),
    left(
        "sample-mask-words",
        About::Shader,
        "The length of a sample mask is not constant, or an index may be out of range.",
        "index gl_SampleMask with a constant",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push(path);
            }
        }
    }

    /// Whatever the layer's sources call `unresolved` with has a row. What they compose of variables is asked by the layer itself,
    /// in builds with debug assertions.
    #[test]
    fn every_name_in_the_layers_sources_has_a_row() {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &mut files);
        let mut names = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let calls = ["unresolved(\"", "link_left(\"", "storage_left(\""];
            for call in calls {
                names.extend(
                    text.split(call).skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name.to_owned()),
                );
            }
        }
        assert!(names.len() > 15, "{names:?}");
        let silent: Vec<_> = names.iter().filter(|name| Left::of(name).is_none()).collect();
        assert!(silent.is_empty(), "{silent:?}");
        assert_eq!(Left::of("no such name"), None);
    }

    /// The meaning of a link's is the `why` of its records, so it is one sentence.
    #[test]
    fn what_is_left_of_links_has_a_clause() {
        assert_eq!(Left::of("coordinate-type").unwrap().clause(), "the coordinates are not 32-bit floats");
        for left in LEFT.iter().filter(|left| left.about == About::Link) {
            let clause = left.clause();
            assert!(clause.starts_with(|c: char| c.is_ascii_lowercase()) && !clause.contains(". "), "{clause}");
            assert_eq!(format!("{clause}.").to_ascii_lowercase(), left.meaning.to_ascii_lowercase());
        }
    }
}
