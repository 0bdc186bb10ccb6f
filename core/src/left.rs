//! The stable names of what the layer leaves as it is, with what each means and what to do about it.
//!
//! The `what` of each `unresolved` record is one of them. Records, `samplin explain`, `inspect` and the report derive from this table.

mod causes;

use alloc::{borrow::ToOwned, string::String};

pub use causes::{Cause, Clause, Explained};

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

macro_rules! left {
    ($($about:ident { $($variant:ident $name:literal: $meaning:literal $advice:literal)+ })+) => {
        /// Why something is left as it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Left {
            $($(#[doc = $meaning] $variant,)+)+
        }

        impl Left {
            /// Every one.
            pub const ALL: &[Left] = &[$($(Left::$variant,)+)+];

            const fn row(self) -> (&'static str, About, &'static str, &'static str) {
                match self {
                    $($(Left::$variant => ($name, About::$about, $meaning, $advice),)+)+
                }
            }
        }
    };
}

impl Left {
    /// The one of a name.
    pub fn of(name: &str) -> Option<Left> {
        Left::ALL.iter().copied().find(|left| left.name() == name)
    }

    /// The stable name, an `unresolved` record's `what`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What is left.
    pub const fn about(self) -> About {
        self.row().1
    }

    /// What it means, as a sentence.
    pub const fn meaning(self) -> &'static str {
        self.row().2
    }

    /// What to do about it, without a capital and a full stop.
    pub const fn advice(self) -> &'static str {
        self.row().3
    }

    /// The meaning without a capital and a full stop, for the `why` of a record.
    pub fn clause(self) -> String {
        let mut clause = self.meaning().trim_end_matches('.').to_owned();
        if let Some(first) = clause.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        clause
    }
}

left! {
    Link {
        SharedSampler "shared-sampler":
            "The sampler also serves images that need another one, and the pipeline cannot read a second sampler."
            "give the image a sampler of its own"
        ImmutableSampler "immutable-sampler":
            "The sampler is immutable, so a copy of the descriptor set has the same one."
            "write the sampler into the set, or make the immutable one NEAREST"
        ImmutableLayout "immutable-layout":
            "A set is bound or read with a layout whose immutable samplers are others than those of the set."
            "make the layouts of sets and pipelines with the same immutable samplers"
        UpdateAfterBind "update-after-bind":
            "The descriptor set may be updated after it is bound, so a copy of it would not follow."
            "write the set before it is bound, or give the image a sampler that suits it"
        LayoutDestroyed "layout-destroyed":
            "The set layout was destroyed, so the set cannot be copied."
            "keep the set layout for as long as its sets are in use"
        Bindless "bindless":
            "The shader's index can reach a sampler and an image that conflict, in an array without a length or of more than 64 descriptors or pairs."
            "give the array of samplers a length of 64 at most, or the images samplers that suit them"
        TooLarge "too-large":
            "The binding has more than 1,048,576 descriptors and was written with what conflicts, or the set has more than 16,384 and the pipeline cannot read another sampler."
            "use smaller bindings and sets, or give the image a sampler that suits it"
        TooManyColumns "too-many-columns":
            "The arrays hold images of more kinds than a table has columns, so the image keeps the sampler that the shader names."
            "use fewer custom border colours, or give the image a sampler that suits it"
        IndexType "index-type":
            "The shader's index does not have 32 bits."
            "index arrays with 32-bit integers"
        PipelineChain "pipeline-chain":
            "A create info holds a structure or a handle that samplin cannot copy, so it cannot create the pipeline a second time."
            "a newer samplin may know the structure; else give the image a sampler that suits it"
        PipelineLibrary "pipeline-library":
            "The pipeline is linked from a library whose creation samplin did not see."
            "link the pipeline of whole shaders, or give the image a sampler that suits it"
        HiddenSpirv "hidden-spirv":
            "The shader arrives as an identifier or a binary, so samplin cannot see which descriptors it joins."
            "hand the driver SPIR-V, not an identifier or a binary of it"
        RayTracingHandles "ray-tracing-handles":
            "The application holds handles of the groups of the ray tracing pipeline, and another pipeline has others."
            "give the image a sampler of its own, or all images of the sampler formats that it suits"
        TransformFeedback "transform-feedback":
            "The pair needs another pipeline, and none may be bound while transform feedback is active."
            "bind the set before transform feedback begins"
        MalformedSpirv "malformed-spirv":
            "The shader's words are inconsistent, so samplin does not rewrite them."
            "spirv-val says what is wrong with the module"
        OpaqueOperand "opaque-operand":
            "The shader chooses between several images or samplers, or takes one that comes from no variable."
            "let the shader name its image and its sampler, not choose between several"
        VendorInstruction "vendor-instruction":
            "An instruction of a vendor reads the sampler, and samplin knows too little about it."
            "sample with the instructions of SPIR-V or of a KHR or EXT extension"
        Cube "cube":
            "The image is a cube, for which the rewritten shader cannot do more than sample."
            "nothing in the program: cubes are sampled with NEAREST there"
        CoordinateType "coordinate-type":
            "The coordinates are not 32-bit floats."
            "let the shader sample with coordinates of 32-bit floats"
        ImageOperands "image-operands":
            "The instruction has operands that samplin does not rewrite."
            "a newer samplin may rewrite the instruction; else clamp the coordinate in the shader"
        TooManyClones "too-many-clones":
            "A function takes the sampler from callers that need different ones, in a way that samplin does not rewrite."
            "pass images and samplers by reference, or give each a function of its own"
        NoFreeSet "no-free-set":
            "The pipeline layout uses all descriptor sets that the device can bind."
            "leave one of the device's maxBoundDescriptorSets free"
        BeganBefore "began-before":
            "The command buffer was begun before samplin had to follow it, so samplin does not know all that is bound in it and binds nothing of its own there."
            "begin the command buffer after the conflicting views exist"
        PushedType "pushed-type":
            "Descriptors of a type that samplin does not know were pushed, so samplin could not push them again and binds no set of its own behind them."
            "bind the descriptors of that type in a set"
        SamplerLimit "sampler-limit":
            "The pipeline layout uses all descriptors that the device allows a stage or a layout, or arrays have more samplers than their pool has places."
            "leave the stage room for one more sampler, or make fewer samplers for arrays"
        Learned "learned":
            "The pipeline was created before the conflict was known, and the settings forbid to compile it again; a later one is compiled twice at creation."
            "run it again with the setting learned, or let resolve_memory and split_compile allow more"
        TooManyLinks "too-many-links":
            "Only the first 64 links of a pipeline can be split."
            "give the shader fewer images and samplers, or the image a sampler that suits it"
        BothAspects "both-aspects":
            "A pipeline reads one descriptor of a view with depth and stencil both as floats and as integers, and it shows the depth."
            "give the descriptor a view of the aspect that the shader reads, and the other one a descriptor of its own"
        SetUnfollowed "set-unfollowed":
            "The set shows what samplin did not note: it is older than the first image with depth and stencil, or other descriptors of an array can be compared."
            "allocate the set after the image, give the descriptor a view of one aspect, or use formats that can be compared"
        DescriptorBuffer "descriptor-buffer":
            "The descriptors lie in a descriptor buffer, which samplin does not read."
            "put images and samplers into descriptor sets, or give the images samplers that suit them"
        EmbeddedSampler "embedded-sampler":
            "A shader reads an image of a descriptor buffer or heap through an embedded sampler, which has to stay what it is."
            "embed a sampler that suits the formats of the images, or put the sampler into the buffer or heap"
        GeneratedCommands "generated-commands":
            "The device may choose pipelines for commands that it generates, so samplin binds everything as the application has it."
            "give the images of pipelines that the device chooses samplers that suit them"
        DynamicLayout "dynamic-layout":
            "Descriptors were bound without a pipeline layout, so samplin does not know which are bound."
            "bind and push descriptors with a pipeline layout"
        Memory "memory":
            "The host or the device has no memory left, or the arrays of descriptor sets would take more than resolve_memory."
            "nothing in the program: free memory, or raise resolve_memory"
    }
    Pair {
        Pair "pair":
            "A sampler and a view conflict, and no other sampler is legal for both, or none could be created."
            "the record's rule and reason say which; `samplin explain RULE` says how to repair it"
        ImmutablePair "immutable sampler":
            "An immutable sampler meets a view that it does not suit. It is the same for every view, so it stays."
            "write the sampler into the set instead, or set immutable=demote"
        SeparateSamplers "separate samplers":
            "The program joins samplers and images in its shaders, and separate=base does not look at them."
            "set separate=resolve"
        Limit "limit":
            "The application comes near a limit of samplers that samplin's own samplers count against too."
            "create fewer samplers: one for each distinct state"
    }
    Object {
        LimitExceeded "limit exceeded":
            "The application asks for more samplers, or more custom border colours, at a time than the device allows."
            "create one sampler for each distinct state, and destroy those that are not used"
        Blit "blit":
            "Two images are blitted whose formats may not be blitted to each other."
            "blit between formats of one class, or draw or copy instead"
        UnknownImage "unknown image":
            "A view's image was created by a command that samplin does not know, so the format's features are unknown."
            "a newer samplin may know the command"
        UnknownStructure "unknown structure":
            "A sampler's chain holds a structure that samplin does not know, so it cannot copy the chain."
            "a newer samplin may know the structure"
        UnknownEnumerant "unknown enumerant":
            "A value belongs to an extension that is younger than samplin, so it stays as it is."
            "a newer samplin may know the extension"
        HostMappedDescriptorSet "host-mapped descriptor set":
            "The application writes descriptors through a mapping of the set's memory, where samplin does not look."
            "write such sets with vkUpdateDescriptorSets"
        DescriptorHeap "descriptor-heap":
            "Samplers and images in descriptor heaps do not suit each other, and which of them a shader joins is not known."
            "query the format's features before you sample with LINEAR"
        ViewUsage "view-usage":
            "A view inherits a usage that its format does not support, and nothing smaller is left or the chain cannot be copied."
            "chain VkImageViewUsageCreateInfo with the usages that the view has"
        ImageUsage "image-usage":
            "An image or a swapchain has a usage that its format does not support, and no list of formats says which views will have it."
            "chain VkImageFormatListCreateInfo with a format that has the usage, or drop the usage"
        DeclaredDimension "declared-dimension":
            "A shader declares an image of another dimension than the view that is bound, or of layers where the view has none."
            "bind a view of the type that the shader declares"
        DeclaredNumbers "declared-numbers":
            "A shader declares an image of other numbers than the view's format has: floats, signed or unsigned integers."
            "declare the image as the format is, or view it in a format of these numbers"
        PanicInAHook "panic in a hook":
            "samplin failed. From then on it forwards every call of the device, and repairs nothing."
            "report it with the trace"
        OutOfHostMemory "out of host memory":
            "The host refused memory. From then on samplin forwards every call of the device, and repairs nothing."
            "free memory"
    }
    Storage {
        StorageImage "storage-image":
            "An image of a format that the device cannot store cannot be stored as another format."
            "use a format with VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT"
        StorageView "storage-view":
            "A storage view's format cannot be stored, and no view of another format can stand in."
            "use a format with VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT"
        StorageTemplate "storage-template":
            "An update template's data is too large to be copied, or has elements that share bytes or whose size samplin does not know."
            "write the storage images with vkUpdateDescriptorSets"
        StorageWithoutFormat "storage-without-format":
            "A shader accesses a storage image without a format, and samplin stores the image as another format."
            "declare the format in the shader, write the set before the bind, or use a format that the device can store"
        DeclaredFormat "declared-format":
            "A shader declares a storage image of another format than the view that is bound, so that what it reads or writes is undefined."
            "set storage=emulate, or declare the view's format in the shader"
        FormatUnreadable "format-unreadable":
            "A shader reads a storage image without a format, and the device cannot do so with the view's format."
            "set storage=emulate, or declare the view's format in the shader"
        FormatUnwritable "format-unwritable":
            "A shader writes a storage image without a format, and the device cannot do so with the view's format."
            "set storage=emulate, or declare the view's format in the shader"
    }
    Shader {
        StorageBuffers "storage-buffers":
            "With the buffers that samplin adds, for counters or tables, the stage would exceed maxPerStageDescriptorStorageBuffers."
            "use fewer storage buffers or fewer counter bindings"
        StageChain "stage-chain":
            "A module in the chain of a stage stands behind a structure that samplin cannot copy."
            "chain VkShaderModuleCreateInfo first"
        SampleCount "sample-count":
            "Sample loss cannot be reported for shader objects, dynamic sample counts, or libraries without multisample state."
            "nothing: the record only says that the loss is unknown"
        StoresAndAtomics "stores-and-atomics":
            "A shader with counters writes buffers in a stage for which the device lacks stores and atomics."
            "enable fragmentStoresAndAtomics or vertexPipelineStoresAndAtomics, or count elsewhere"
        Library "library":
            "A rule about sample shading does not apply to a pipeline library."
            "nothing in the program"
        Module "module":
            "The module cannot be read or edited."
            "spirv-val says what is wrong with the module"
        Kernel "kernel":
            "The module is a kernel, whose images and pointers follow other rules."
            "nothing in the program"
        Opcode "opcode":
            "An instruction uses what has to change, and the pass does not know the instruction."
            "a newer samplin may know it"
        SelectedPointer "selected-pointer":
            "OpSelect or OpPhi chooses between things that have to change."
            "let the shader name the variable that it uses"
        DecorationGroup "decoration-group":
            "A decoration that has to change belongs to a group."
            "compile without decoration groups (spirv-opt flattens them)"
        CounterWithoutBinding "counter-without-binding":
            "An atomic counter has no binding."
            "give each counter layout(binding = …, offset = …)"
        CounterOffset "counter-offset":
            "An atomic counter has no offset, or one that is not a multiple of 4 or is out of range."
            "give each counter an offset that is a multiple of 4"
        CounterType "counter-type":
            "An atomic counter is not a 32-bit unsigned integer or an array of them."
            "declare counters as atomic_uint"
        CountersOverlap "counters-overlap":
            "Counters of different types share bytes of one binding."
            "give each counter its own offset"
        BindingTaken "binding-taken":
            "The binding for a buffer of counters is taken by the shader's own descriptor, or is out of range."
            "choose another one with counters=S:F"
        IndexWidth "index-width":
            "An index is not a 32-bit integer."
            "index with int or uint"
        MemorySemantics "memory-semantics":
            "Memory semantics are not a plain constant."
            "use a constant"
        FunctionVariants "function-variants":
            "A function would need too many versions."
            "call it with fewer different counters or images"
        DefaultBlockUniform "default-block-uniform":
            "The shader has a uniform outside of a block, which Vulkan does not know."
            "put uniforms into a block"
        FragmentOrigin "fragment-origin":
            "The shader reads a fragment or point coordinate, which depends on where OpenGL's origin is."
            "use origin_upper_left, or flip the coordinate"
        InstanceId "instance-id":
            "The shader reads InstanceId, and the device has no BaseInstance or the entry points disagree about it."
            "use gl_InstanceIndex"
        BuiltinTwice "builtin-twice":
            "Two variables would be the same built-in."
            "declare the built-in once"
        BuiltinType "builtin-type":
            "The variable of a built-in has a type of its own."
            "declare the built-in with its usual type"
        UntypedPointer "untyped-pointer":
            "Pointers without a type may lead to images."
            "compile without untyped pointers"
        ImageEscapes "image-escapes":
            "An image is passed to where the pass cannot follow it."
            "use the image variable itself"
        ImageAtomics "image-atomics":
            "An image with atomics cannot be stored as another format."
            "use a format that the device supports for atomics"
        ReadWithoutFormat "read-without-format":
            "The shader reads a storage image without a format, and the device cannot."
            "declare the format, or enable shaderStorageImageReadWithoutFormat"
        WriteWithoutFormat "write-without-format":
            "The shader writes a storage image without a format, and the device cannot."
            "declare the format, or enable shaderStorageImageWriteWithoutFormat"
        SharedInput "shared-input":
            "Several entry points share an input that only some of them may change."
            "give each entry point its own input"
        PassedByPointer "passed-by-pointer":
            "An input is passed to a function by pointer."
            "pass its value"
        ImageType "image-type":
            "The image has a type that the pass does not encode."
            "use a two-dimensional colour image"
        TexelType "texel-type":
            "What is read from or written to the image is not a vector of its components."
            "read and write vectors of four components"
        Capability "capability":
            "The shader needs a capability that the device lacks."
            "enable the capability's feature, or compile without it"
        BindingMissing "binding-missing":
            "The pipeline layout has no binding where the shader's counters became a storage buffer."
            "add a storage buffer to the layout at that binding, or choose another one with counters=S:F"
        AtomicCounters "atomic-counters":
            "The shader has atomic counters of OpenGL, which Vulkan drivers do not survive, and nothing allows samplin to rewrite them."
            "set counters=auto, or enable VK_SAMPLIN_gl_shaders"
        OpenglShader "opengl-shader":
            "The shader is for OpenGL, and nothing allows samplin to rewrite it."
            "set counters=auto, or enable VK_SAMPLIN_gl_shaders"
        SampleMaskWords "sample-mask-words":
            "The length of a sample mask is not constant, or an index may be out of range."
            "index gl_SampleMask with a constant"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/reference/left.md. `UPDATE_DOCS=1` writes it.
    #[test]
    fn the_page_is_made_of_the_table() {
        let mut page = "# What is left\n\nThe `what` of each `unresolved` record is one of these names. The page is generated from \
                        `core/src/left.rs`, the reasons at its end from `core/src/left/causes.rs`.\n"
            .to_owned();
        for (about, heading) in [
            (About::Link, "Images and samplers that a shader joins"),
            (About::Pair, "Samplers and views"),
            (About::Object, "Objects and devices"),
            (About::Storage, "Storage images"),
            (About::Shader, "Shaders"),
        ] {
            page += &format!("\n## {heading}\n\n| name | means | to do |\n|---|---|---|\n");
            for left in Left::ALL.iter().filter(|left| left.about() == about) {
                page += &format!("| `{}` | {} | {}. |\n", left.name(), left.meaning(), left.advice());
            }
        }
        page += "\n## Reasons\n\nThe `why` of a record is the meaning of its name, what a [rule](rules.md) says, or one of these reasons. `…` \
                 stands for what only the record knows.\n\n| name | why | to do |\n|---|---|---|\n";
        for cause in Left::ALL.iter().flat_map(|left| left.causes()) {
            let why = cause.text().replace("{}", "…");
            page += &format!("| `{}` | {why} | {} |\n", cause.left().name(), cause.advice());
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/left.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        assert!(
            std::fs::read_to_string(path).is_ok_and(|written| written == page),
            "UPDATE_DOCS=1 writes docs/reference/left.md"
        );
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        for left in Left::ALL {
            assert_eq!(Left::of(left.name()), Some(*left));
        }
        assert_eq!(Left::of("no such name"), None);
    }

    /// The meaning of a link's is the `why` of its records, so it is one sentence; of these as well.
    #[test]
    fn what_is_left_of_links_has_a_clause() {
        assert_eq!(Left::CoordinateType.clause(), "the coordinates are not 32-bit floats");
        let bare = [
            Left::UnknownImage,
            Left::HostMappedDescriptorSet,
            Left::DescriptorHeap,
            Left::SeparateSamplers,
            Left::StageChain,
            Left::StorageTemplate,
        ];
        for left in Left::ALL.iter().filter(|left| left.about() == About::Link || bare.contains(left)) {
            let clause = left.clause();
            assert!(clause.starts_with(|c: char| c.is_ascii_lowercase()) && !clause.contains(". "), "{clause}");
            assert_eq!(format!("{clause}.").to_ascii_lowercase(), left.meaning().to_ascii_lowercase());
        }
    }
}
