//! The images that programs declare.

use ash::vk;
use samplin_core::declared::Declared;
use samplin_hot::memory::Room;
use samplin_spirv::{Access, Sampled};

use super::layouts::PipelineShape;
use crate::format::NumericClass;

/// What a view may be used for, and what a shader uses one for: bits.
pub(in crate::device) mod role {
    pub(in crate::device) const SAMPLED: u32 = 1;
    pub(in crate::device) const STORAGE: u32 = 2;
    pub(in crate::device) const INPUT: u32 = 4;
    pub(in crate::device) const TEXELS: u32 = 8;
    pub(in crate::device) const STORAGE_TEXELS: u32 = 16;
}

/// An image, or the images of an array, that a program declares.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) at: samplin_spirv::Operand,
    pub(super) declared: Declared,
    pub(super) role: u32,
    pub(super) stages: vk::ShaderStageFlags,
    pub(super) line: Option<(String, u32)>,
    /// Its id, and that of its image type, in the code of its stage.
    pub(super) variable: u32,
    pub(super) image: u32,
    pub(super) is_atomic: bool,
}

impl Variable {
    pub(super) fn of(found: samplin_spirv::Declared, stages: vk::ShaderStageFlags) -> Self {
        let has = |access: Access| found.access.intersects(access);
        let class = match found.ty.sampled {
            Sampled::Float => NumericClass::Float,
            Sampled::Sint => NumericClass::Sint,
            Sampled::Uint => NumericClass::Uint,
        };
        let role = match (found.is_storage, found.is_buffer()) {
            (true, true) => role::STORAGE_TEXELS,
            (true, false) => role::STORAGE,
            (false, true) => role::TEXELS,
            (false, false) if found.is_attachment() => role::INPUT,
            (false, false) => role::SAMPLED,
        };
        let declared = Declared {
            dim: found.ty.dim,
            arrayed: found.ty.arrayed,
            class,
            is_storage: found.is_storage,
            format: found.format,
            // An atomic has a format (VUID-StandaloneSpirv-OpImageTexelPointer-04658).
            is_read: has(Access::READ),
            is_written: has(Access::WRITTEN),
        };
        let (variable, image, is_atomic) = (found.variable, found.image, has(Access::ATOMIC));
        Self { at: found.at, declared, role, stages, line: found.line, variable, image, is_atomic }
    }

    pub(super) fn is_buffer(&self) -> bool {
        self.role & (role::TEXELS | role::STORAGE_TEXELS) != 0
    }

    /// Whether nothing tells them apart but stages, of which each has storage images of its own: formats are changed by types.
    fn is_same(&self, other: &Self) -> bool {
        let types = (self.stages, self.variable) == (other.stages, other.variable);
        (self.at, self.declared, self.role) == (other.at, other.declared, other.role)
            && (types || !self.declared.is_storage)
    }
}

/// Adds variables to those that were found, or their stages if they are there.
pub(super) fn add(all: &mut Vec<Variable>, more: impl Iterator<Item = Variable>) {
    for one in more {
        match all.iter_mut().find(|known| known.is_same(&one)) {
            Some(known) => known.stages |= one.stages,
            None => all.with_room().push(one),
        }
    }
}

/// The variables whose views are known where they are bound with a layout.
pub(super) fn followed(mut all: Vec<Variable>, layout: &PipelineShape) -> Box<[Variable]> {
    all.retain(|one| {
        let set = layout.sets.get(one.at.set as usize).and_then(Option::as_ref);
        set.and_then(|set| set.binding(one.at.binding)).is_some_and(|binding| binding.image_slot(0).is_some())
    });
    all.into_boxed_slice()
}
