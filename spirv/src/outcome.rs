//! What passes say about what they did: plain values with names.

use samplin_core::left::Left;

use crate::error::Error;

/// Passes in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// What storage images declare about their formats and how they are used.
    ImageAccess,
    /// Counters become storage buffers.
    AtomicCounters,
    /// Fragment shaders do without sample shading.
    SampleBuiltins,
    /// Inputs of fragment shaders are interpolated for each sample.
    SampleInputs,
    /// Sample masks have no more words than the device has.
    SampleMask,
    /// Images of formats that the device cannot store become images of unsigned integers.
    ImageFormats,
}

impl Pass {
    /// The name that records give it.
    pub const fn name(self) -> &'static str {
        match self {
            Pass::ImageAccess => "image_access",
            Pass::AtomicCounters => "atomic_counters",
            Pass::ImageFormats => "image_formats",
            Pass::SampleBuiltins => "sample_builtins",
            Pass::SampleInputs => "sample_inputs",
            Pass::SampleMask => "sample_mask",
        }
    }
}

/// Why a pass left a module, or a part of it, as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Why {
    /// The module cannot be read or not be edited.
    Module(Error),
    /// A kernel, whose images and pointers follow other rules.
    Kernel,
    /// An instruction with this opcode uses what has to change, and is none that the pass knows how to change.
    Opcode(u32),
    /// An `OpSelect` or `OpPhi` chooses between what has to change.
    Selected,
    /// A decoration that has to change belongs to a group.
    Group,
    /// The counter with this id has no binding.
    NoBinding(u32),
    /// The counter with this id has no byte offset, or one that is no multiple of 4, or one that is out of range.
    Offset(u32),
    /// A counter is something else than a 32-bit unsigned integer or an array of them.
    CounterType(u32),
    /// Counters of different types share bytes at this GL binding.
    Overlap(u32),
    /// The place for a buffer of counters is taken by the module's own descriptor, or its number is out of range.
    BindingTaken {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// With its counters the stage would have more storage buffers than so many, which the device has.
    StorageBuffers(u32),
    /// An index is no 32-bit integer.
    IndexWidth,
    /// Memory semantics that are no plain constant.
    Semantics,
    /// A function would have to be there in too many versions.
    Clones,
    /// A uniform variable outside of blocks, with this location.
    DefaultUniform(u32),
    /// The shader reads where a fragment or a point coordinate lies, which depends on the origin.
    FragmentOrigin,
    /// `InstanceId` is read and the device has no `BaseInstance`, or the entry points disagree about who has one.
    InstanceId,
    /// Two variables would be the same builtin, with this number.
    BuiltIn(u32),
    /// The variable of the builtin with this number has a type of its own.
    BuiltInType(u32),
    /// Pointers without a type may lead to images.
    Untyped,
    /// This storage image goes where it is not followed.
    Escapes {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// This storage image, or one of the same type, is worked on by atomic instructions, which need its format.
    Atomics {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// This storage image is read without a format, or one of the same type would be, and the device cannot do that.
    FormatlessRead {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// The same for writing.
    FormatlessWrite {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// An input, the one with this position in the interface, is another stage's too, or shares a type whose members cannot be
    /// decorated for it alone.
    SharedInput(u32),
    /// A variable that has to change is passed to a function by pointer.
    Passed,
    /// An image type of the format with this number has other components than that.
    ImageType(u32),
    /// What is read from or written to an image is no vector of its components.
    Texel,
    /// The operands of an image instruction, by their mask, say that integers are widened in another way than those of the format.
    ImageOperands(u32),
    /// The module declares the capability with this number, which the pass does not go together with.
    Capability(u32),
    /// A word of a sample mask that the device does not have is touched, or may be.
    MaskWords,
}

impl From<Error> for Why {
    fn from(error: Error) -> Why {
        Why::Module(error)
    }
}

impl Why {
    /// What records say is left.
    pub const fn left(self) -> Left {
        match self {
            Why::Module(_) => Left::Module,
            Why::Kernel => Left::Kernel,
            Why::Opcode(_) => Left::Opcode,
            Why::Selected => Left::SelectedPointer,
            Why::Group => Left::DecorationGroup,
            Why::NoBinding(_) => Left::CounterWithoutBinding,
            Why::Offset(_) => Left::CounterOffset,
            Why::CounterType(_) => Left::CounterType,
            Why::Overlap(_) => Left::CountersOverlap,
            Why::BindingTaken { .. } => Left::BindingTaken,
            Why::StorageBuffers(_) => Left::StorageBuffers,
            Why::IndexWidth => Left::IndexWidth,
            Why::Semantics => Left::MemorySemantics,
            Why::Clones => Left::FunctionVariants,
            Why::DefaultUniform(_) => Left::DefaultBlockUniform,
            Why::FragmentOrigin => Left::FragmentOrigin,
            Why::InstanceId => Left::InstanceId,
            Why::BuiltIn(_) => Left::BuiltinTwice,
            Why::BuiltInType(_) => Left::BuiltinType,
            Why::Untyped => Left::UntypedPointer,
            Why::Escapes { .. } => Left::ImageEscapes,
            Why::Atomics { .. } => Left::ImageAtomics,
            Why::FormatlessRead { .. } => Left::ReadWithoutFormat,
            Why::FormatlessWrite { .. } => Left::WriteWithoutFormat,
            Why::SharedInput(_) => Left::SharedInput,
            Why::Passed => Left::PassedByPointer,
            Why::ImageType(_) => Left::ImageType,
            Why::Texel => Left::TexelType,
            Why::ImageOperands(_) => Left::ImageOperands,
            Why::Capability(_) => Left::Capability,
            Why::MaskWords => Left::SampleMaskWords,
        }
    }
}

/// What a pass did, one value for each thing that it changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PassChange {
    /// The counters of a binding of GL's are read from and written to a storage buffer.
    Counters(Counters),
    /// A storage image has no format any more.
    FormatRelaxed {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
        /// The number of the format that was declared.
        format: u32,
    },
    /// The shader decodes and encodes the texels of a storage image itself.
    FormatLowered {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
        /// The number of the format that was declared.
        format: u32,
    },
    /// A storage image without a format says that it is not read.
    NotRead {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// A storage image without a format says that it is not written.
    NotWritten {
        /// Descriptor set.
        set: u32,
        /// Binding in it.
        binding: u32,
    },
    /// A capability, by its number, is declared.
    CapabilityAdded(u32),
    /// A capability, by its number, is not declared any more.
    CapabilityDropped(u32),
    /// An extension is not declared any more.
    ExtensionDropped(&'static str),
    /// Memory semantics name buffers instead of counters in this many instructions.
    Semantics(u32),
    /// The origin of fragments is the upper left, or pixel centres are not integers, where nobody can see it.
    Origin,
    /// A builtin, by its number, that nobody reads is not declared any more.
    BuiltInDropped(u32),
    /// A builtin is read as another one.
    BuiltInReplaced {
        /// The number of the one that was declared.
        from: u32,
        /// The number of the one that is read now.
        to: u32,
    },
    /// A builtin, by its number, is what it is with one sample, for every sample.
    BuiltInConstant(u32),
    /// A sample mask that is written holds for all samples of a pixel at once.
    MaskOfPixels,
    /// This many decorations `Sample` are gone.
    SampleDropped(u32),
    /// This many inputs, or members of them, are interpolated for each sample now.
    SampleAdded(u32),
    /// Inputs are read as they are at the centre of a pixel.
    Interpolation {
        /// Instructions that asked for a sample or for the centroid.
        at_the_centre: u32,
        /// Instructions that asked for an offset: what derivatives make of it is not exact under perspective.
        at_offsets: u32,
        /// Those of them whose derivatives are taken where they stand, and undefined if neighbours go another way.
        diverging: u32,
    },
    /// The location of a uniform variable that is a descriptor is not declared any more.
    LocationDropped(u32),
    /// A sample mask has fewer words.
    MaskShortened {
        /// As it was declared.
        from: u32,
        /// What the device has.
        to: u32,
    },
}

/// Counters of one binding of GL's, and where they are now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Counters {
    /// GL's binding.
    pub counter_binding: u32,
    /// The descriptor set of the storage buffer.
    pub set: u32,
    /// Its binding.
    pub binding: u32,
    /// The byte offsets of the counters and arrays of counters that the module declares, sorted.
    pub offsets: Vec<u32>,
    /// Bytes that the buffer has to have for all of them.
    pub size: u32,
}

/// What a pass made of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The new words; none if nothing was to be changed.
    pub words: Option<Vec<u32>>,
    /// What was done.
    pub changes: Vec<PassChange>,
    /// What was left as it was although it is of the pass's kind.
    pub left: Vec<Why>,
}
