//! The pre-scan: which passes could find something in a module.
//!
//! It looks at what stands before the first function and nothing else, keeps nothing and asks for no memory, so that modules which
//! are of no interest cost next to nothing. It may say of a module that it is of interest where a pass then finds nothing; never the
//! other way round.

use std::fmt;
use std::ops::BitOr;

use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, StorageClass};

use crate::module::Module;
use crate::op;

/// What stands before the first function of a module, as a set of the constants here.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Scan(u32);

macro_rules! found {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)*) => {
        impl Scan {
            $($(#[$doc])* pub const $name: Scan = Scan(1 << $bit);)*
            const NAMES: &[(Scan, &'static str)] = &[$((Scan::$name, stringify!($name)),)*];
        }
    };
}

found! {
    /// Atomic counters, or a capability for them.
    COUNTERS = 0,
    /// What modules for OpenGL carry and Vulkan forbids: the lower left origin, integer pixel centres, `VertexId`, `InstanceId`.
    GL = 1,
    /// Images of `Sampled` 2: storage images, storage texel buffers, input attachments.
    STORAGE_IMAGES = 2,
    /// A capability for storage images without a format.
    FORMATLESS = 3,
    /// The generator word or the source language of a compiler of HLSL or Slang.
    HLSL = 4,
    /// `SampleId`, `SamplePosition`, the decoration `Sample`, or a capability for them or for interpolation functions.
    SAMPLES = 5,
    /// An entry point for fragments.
    FRAGMENT = 6,
    /// A sample mask.
    SAMPLE_MASK = 7,
}

impl Scan {
    /// Whether any of `other` is in it.
    pub const fn intersects(self, other: Scan) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of `other` is in it.
    pub const fn contains(self, other: Scan) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Scan {
    type Output = Scan;

    fn bitor(self, other: Scan) -> Scan {
        Scan(self.0 | other.0)
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Scan::NAMES.iter().filter(|(bit, _)| self.contains(*bit)).map(|(_, name)| name);
        out.debug_set().entries(names).finish()
    }
}

/// The compilers of HLSL or Slang among the registered generators, by the upper half of the generator word: DXC and Slang.
const HLSL_GENERATORS: [u32; 2] = [14, 40];

/// The source languages HLSL and Slang, as `OpSource` numbers them.
const HLSL_LANGUAGES: [u32; 2] = [5, 11];

/// Looks at the words up to the first function, or as far as they can be read. Words that are no SPIR-V are of no interest.
pub fn scan(words: &[u32]) -> Scan {
    let [spirv::MAGIC_NUMBER, _version, generator, _bound, _schema, ..] = *words else { return Scan::default() };
    let mut found = Scan::default();
    if HLSL_GENERATORS.contains(&(generator >> 16)) {
        found = found | Scan::HLSL;
    }
    let mut at = Module::HEADER;
    while let Some(first) = words.get(at) {
        let (length, opcode) = ((first >> 16) as usize, first & 0xffff);
        let Some(instruction) = words.get(at..at + length).filter(|words| !words.is_empty()) else { break };
        let word = |n: usize| instruction.get(n).copied().unwrap_or(0);
        found = found
            | match opcode {
                op::FUNCTION => break,
                op::CAPABILITY => capability(word(1)),
                op::ENTRY_POINT if word(1) == ExecutionModel::Fragment as u32 => Scan::FRAGMENT,
                op::EXECUTION_MODE if is_gl_mode(word(2)) => Scan::GL,
                op::SOURCE if HLSL_LANGUAGES.contains(&word(1)) => Scan::HLSL,
                op::DECORATE => decoration(word(2), word(3)),
                op::MEMBER_DECORATE => decoration(word(3), word(4)),
                op::TYPE_POINTER if word(2) == StorageClass::AtomicCounter as u32 => Scan::COUNTERS,
                op::TYPE_IMAGE if word(7) == 2 => Scan::STORAGE_IMAGES,
                _ => Scan::default(),
            };
        at += length;
    }
    found
}

fn capability(number: u32) -> Scan {
    const COUNTERS: [Capability; 2] = [Capability::AtomicStorage, Capability::AtomicStorageOps];
    const FORMATLESS: [Capability; 2] =
        [Capability::StorageImageReadWithoutFormat, Capability::StorageImageWriteWithoutFormat];
    const SAMPLES: [Capability; 2] = [Capability::SampleRateShading, Capability::InterpolationFunction];
    let is_in = |list: &[Capability]| list.iter().any(|known| *known as u32 == number);
    match () {
        () if is_in(&COUNTERS) => Scan::COUNTERS,
        () if is_in(&FORMATLESS) => Scan::FORMATLESS,
        () if is_in(&SAMPLES) => Scan::SAMPLES,
        () => Scan::default(),
    }
}

fn decoration(number: u32, operand: u32) -> Scan {
    const SAMPLES: [BuiltIn; 2] = [BuiltIn::SampleId, BuiltIn::SamplePosition];
    const GL: [BuiltIn; 2] = [BuiltIn::VertexId, BuiltIn::InstanceId];
    let is_in = |list: &[BuiltIn]| list.iter().any(|known| *known as u32 == operand);
    match number {
        _ if number == Decoration::Sample as u32 => Scan::SAMPLES,
        _ if number != Decoration::BuiltIn as u32 => Scan::default(),
        _ if is_in(&SAMPLES) => Scan::SAMPLES,
        _ if is_in(&GL) => Scan::GL,
        _ if operand == BuiltIn::SampleMask as u32 => Scan::SAMPLE_MASK,
        _ => Scan::default(),
    }
}

/// Execution modes of OpenGL's that Vulkan forbids (VUID-StandaloneSpirv-OriginLowerLeft-04653).
pub(crate) fn is_gl_mode(mode: u32) -> bool {
    mode == ExecutionMode::OriginLowerLeft as u32 || mode == ExecutionMode::PixelCenterInteger as u32
}
