//! What is done with a link.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use spirv::ImageOperands;

use crate::fold::is_zero;
use crate::module::Instruction;
use crate::op;
use crate::trace::Tracer;

/// What instructions do with a link, as a set of the constants here.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Uses(u32);

macro_rules! uses {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)*) => {
        impl Uses {
            $($(#[$doc])* pub const $name: Uses = Uses(1 << $bit);)*
            const NAMES: &[(Uses, &'static str)] = &[$((Uses::$name, stringify!($name)),)*];
        }
    };
}

uses! {
    /// Sampled with an implicit level of detail.
    IMPLICIT = 0,
    /// Sampled with an explicit level of detail that is not the constant zero.
    LOD = 1,
    /// Sampled at the constant level zero.
    LOD0 = 2,
    /// Sampled with gradients.
    GRAD = 3,
    /// With a bias.
    BIAS = 4,
    /// With a lower bound of the level of detail.
    MINLOD = 5,
    /// Compared with a reference.
    DREF = 6,
    /// With a projective coordinate.
    PROJ = 7,
    /// With an offset in texels, constant or not.
    OFFSET = 8,
    /// Gathered with one offset for each texel.
    CONST_OFFSETS = 9,
    /// Gathered.
    GATHER = 10,
    /// With a residency code.
    SPARSE = 11,
    /// Asked for the level of detail that sampling would use.
    QUERY_LOD = 12,
    /// Asked for the footprint that sampling would have.
    FOOTPRINT = 13,
    /// Read by an instruction of one vendor's.
    VENDOR = 14,
    /// Image and sampler are one descriptor.
    COMBINED = 15,
    /// Fetched from, where the sampler plays no part.
    FETCH = 16,
    /// Asked for sizes, levels or samples, where the sampler plays no part.
    QUERY = 17,
}

impl Uses {
    /// Whether all of `other` is in it.
    pub const fn contains(self, other: Uses) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in it.
    pub const fn intersects(self, other: Uses) -> bool {
        self.0 & other.0 != 0
    }

    /// What is in it and not in `other`.
    pub const fn without(self, other: Uses) -> Uses {
        Uses(self.0 & !other.0)
    }

    /// Whether the sampler plays a part in any of it.
    pub const fn samples(self) -> bool {
        self.without(Uses(Uses::COMBINED.0 | Uses::FETCH.0 | Uses::QUERY.0)).0 != 0
    }
}

impl BitOr for Uses {
    type Output = Uses;

    fn bitor(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }
}

impl BitOrAssign for Uses {
    fn bitor_assign(&mut self, other: Uses) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Uses {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (_, name) in Uses::NAMES.iter().filter(|(bit, _)| self.contains(*bit)) {
            if !std::mem::take(&mut first) {
                out.write_str(" ")?;
            }
            out.write_str(name)?;
        }
        Ok(())
    }
}

/// What an image instruction that is no vendor's does.
pub(crate) fn uses(tracer: &Tracer<'_, '_>, site: &Instruction<'_>) -> Uses {
    // The sparse forms are the same instructions in the same order, but for the queries.
    let (opcode, mut uses) = match site.opcode() {
        sparse @ op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SPARSE_DREF_GATHER => {
            (sparse - op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD + op::IMAGE_SAMPLE_IMPLICIT_LOD, Uses::SPARSE)
        }
        opcode => (opcode, Uses::default()),
    };
    // Where the mask of further operands is.
    let mask = match opcode {
        op::IMAGE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SAMPLE_PROJ_DREF_EXPLICIT_LOD => {
            let form = opcode - op::IMAGE_SAMPLE_IMPLICIT_LOD;
            if form & 1 == 0 {
                uses |= Uses::IMPLICIT;
            }
            if form & 4 != 0 {
                uses |= Uses::PROJ;
            }
            if form & 2 != 0 {
                uses |= Uses::DREF;
                6
            } else {
                5
            }
        }
        // Without a sampler there is nothing that further operands would say.
        op::IMAGE_FETCH => return Uses::FETCH,
        op::IMAGE_GATHER => {
            uses |= Uses::GATHER;
            6
        }
        op::IMAGE_DREF_GATHER => {
            uses |= Uses::GATHER | Uses::DREF;
            6
        }
        op::IMAGE_QUERY_LOD => return Uses::QUERY_LOD,
        op::IMAGE_SAMPLE_FOOTPRINT_NV => {
            uses |= Uses::FOOTPRINT;
            7
        }
        _ => return Uses::QUERY,
    };
    let operands = ImageOperands::from_bits_retain(site.word(mask));
    if operands.contains(ImageOperands::LOD) {
        let lod = site.word(mask + 1 + usize::from(operands.contains(ImageOperands::BIAS)));
        uses |= if is_zero(tracer.module, tracer.specialization, lod) { Uses::LOD0 } else { Uses::LOD };
    }
    for (operand, use_of) in [
        (ImageOperands::BIAS, Uses::BIAS),
        (ImageOperands::GRAD, Uses::GRAD),
        (ImageOperands::CONST_OFFSET, Uses::OFFSET),
        (ImageOperands::OFFSET, Uses::OFFSET),
        (ImageOperands::CONST_OFFSETS, Uses::CONST_OFFSETS),
        (ImageOperands::OFFSETS, Uses::CONST_OFFSETS),
        (ImageOperands::MIN_LOD, Uses::MINLOD),
    ] {
        if operands.contains(operand) {
            uses |= use_of;
        }
    }
    uses
}
