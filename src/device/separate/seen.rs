//! What programs declare of images and which views there are, before either is bound.
//!
//! What is in a set has to be noted when it is written, which may be before there is a shader. So the first writes of a device are noted,
//! and some more each time that a view and a type may differ which are new; where nothing is found meanwhile, writes reach the driver as if
//! nobody had ever looked, until there is another reason. With what was found they are noted as long as the device lives.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

use ash::vk;
use samplin_core::declared::{Declared, Mismatch, Viewed, differs, differs_at_all};
use samplin_hot::memory::Room;
use samplin_spirv::{Access, Sampled};

use super::layouts::{PipelineShape, hash_of};
use crate::device::types::{COMBINED, type_bit};
use crate::format::NumericClass;
use crate::settings::{Mode, Settings, TraceLevel, TraceTarget};
use crate::table::{FlatTable, fold, lock};

/// What a view may be used for, and what a shader uses one for: bits.
pub(super) mod role {
    pub(in crate::device::separate) const SAMPLED: u32 = 1;
    pub(in crate::device::separate) const STORAGE: u32 = 2;
    pub(in crate::device::separate) const INPUT: u32 = 4;
    pub(in crate::device::separate) const TEXELS: u32 = 8;
    pub(in crate::device::separate) const STORAGE_TEXELS: u32 = 16;
}

/// How many types and views are distinguished; with more, binds are followed.
const MOST: usize = 512;

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

#[derive(Default)]
struct Lists {
    declared: Vec<(u32, Declared)>,
    views: Vec<(u32, Viewed)>,
}

impl Lists {
    /// Whether a view is of a type that no shader samples, of those that do.
    fn is_foreign(&self, viewed: &Viewed) -> bool {
        let mut sampled = self.declared.iter().filter(|(role, _)| role & role::SAMPLED != 0);
        sampled.all(|(_, declared)| differs(declared, viewed, Mismatch::ViewType))
    }

    /// Whether a shader samples a type that no view is of, of those that can be sampled.
    fn is_lonely(&self, declared: &Declared) -> bool {
        let mut sampled = self.views.iter().filter(|(roles, _)| roles & role::SAMPLED != 0).peekable();
        sampled.peek().is_some() && sampled.all(|(_, viewed)| differs(declared, viewed, Mismatch::ViewType))
    }

    fn has_sampled(&self) -> bool {
        self.declared.iter().any(|(role, _)| role & role::SAMPLED != 0)
    }
}

/// Whether a type and a view that may meet are reason to look where they do. Of what is sampled dimensions are none: programs have views
/// of several.
fn alarms(role: u32, declared: &Declared, viewed: &Viewed) -> bool {
    match role {
        role::SAMPLED => differs(declared, viewed, Mismatch::Numbers),
        _ => differs_at_all(declared, viewed),
    }
}

/// Writes that are noted at first, and where a view and a type may differ.
const FIRST: i64 = 256;
pub(super) const AGAIN: i64 = 1024;
/// As long as the device lives.
pub(super) const EVER: i64 = i64::MAX / 2;

/// What shaders declare and what views there are, on one device.
pub(super) struct Seen {
    /// There is anything to record or to repair.
    pub(super) is_on: bool,
    /// What differs is mended where it can be.
    pub(super) repairs: bool,
    /// How many writes are still noted.
    pub(super) left: AtomicI64,
    /// They are.
    pub(super) watches: AtomicBool,
    /// Types of descriptors whose views are noted as long as the device lives.
    pub(super) kept: AtomicU32,
    /// The types of descriptors with such slots, of all layouts.
    pub(super) types: AtomicU32,
    /// Something that is declared may meet a view that it does not suit.
    pub(super) differs: AtomicBool,
    /// Hashes of views that are in the list.
    known: FlatTable,
    lists: Mutex<Lists>,
    /// Views of texel buffers: their formats and 1.
    pub(super) buffers: FlatTable,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            is_on: false,
            repairs: false,
            left: AtomicI64::new(0),
            watches: AtomicBool::new(false),
            kept: AtomicU32::new(0),
            types: AtomicU32::new(0),
            differs: AtomicBool::new(false),
            known: FlatTable::new(8),
            lists: Mutex::default(),
            buffers: FlatTable::new(8),
        }
    }
}

impl Seen {
    /// The types of descriptors whose views have slots.
    const TYPES: u32 = type_bit(vk::DescriptorType::STORAGE_IMAGE)
        | type_bit(vk::DescriptorType::INPUT_ATTACHMENT)
        | type_bit(vk::DescriptorType::UNIFORM_TEXEL_BUFFER)
        | type_bit(vk::DescriptorType::STORAGE_TEXEL_BUFFER)
        | COMBINED;

    /// Those of them that shaders store through.
    pub(super) const STORES: u32 =
        type_bit(vk::DescriptorType::STORAGE_IMAGE) | type_bit(vk::DescriptorType::STORAGE_TEXEL_BUFFER);

    pub(super) fn new(settings: &Settings) -> Self {
        let repairs = settings.storage.emulates() && settings.mode == Mode::Legalize;
        let records = settings.trace != TraceTarget::Off && settings.trace_level != TraceLevel::Summary;
        let is_on = records || repairs;
        let (left, watches) = (AtomicI64::new(if is_on { FIRST } else { 0 }), AtomicBool::new(is_on));
        Self { is_on, repairs, left, watches, ..Self::default() }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether writes are noted.
    #[inline(always)]
    pub(super) fn is_watching(&self) -> bool {
        self.watches.load(Ordering::Acquire)
    }

    /// Whether sets need slots for views alone.
    pub(super) fn has_slots(&self) -> bool {
        self.is_watching() || self.repairs
    }

    /// The types of descriptors whose views have slots in a layout.
    pub(super) fn types(&self) -> u32 {
        if self.is_on { Self::TYPES } else { 0 }
    }

    /// Notes the types of a layout. Those that are to be watched now.
    pub(super) fn watched(&self, types: u32) -> u32 {
        self.types.fetch_or(types, Ordering::SeqCst);
        if self.is_watching() { types } else { 0 }
    }

    /// Counts writes of descriptors of these types.
    #[cold]
    #[inline(never)]
    pub(super) fn spend(&self, types: impl Iterator<Item = vk::DescriptorType>) {
        let own = types.filter(|ty| Self::TYPES & type_bit(*ty) != 0).count();
        self.left.fetch_sub(own as i64, Ordering::Relaxed);
    }

    /// Whether what a draw finds bound is to be looked at.
    #[inline(always)]
    pub(super) fn differs(&self) -> bool {
        self.differs.load(Ordering::Acquire)
    }

    /// Notes a view. Whether it may meet what it does not suit.
    pub(super) fn view(&self, roles: u32, viewed: Viewed) -> bool {
        let key = fold(hash_of(&(roles, viewed))) | 1;
        if self.known.get(key) != 0 {
            return false;
        }
        self.known.insert(key, 1);
        let mut lists = lock(&self.lists);
        let is_foreign = roles & role::SAMPLED != 0 && lists.is_foreign(&viewed);
        let mut meets = is_foreign && lists.has_sampled();
        meets |= lists.declared.iter().any(|(role, declared)| role & roles != 0 && alarms(*role, declared, &viewed));
        meets |= lists.views.len() >= MOST;
        if lists.views.len() < MOST {
            lists.views.with_room().push((roles, viewed));
        }
        meets
    }

    /// Notes what a program declares. Whether it may meet a view that does not suit it.
    pub(super) fn declare(&self, variables: &[Variable]) -> bool {
        let mut lists = lock(&self.lists);
        let mut meets = false;
        for one in variables {
            let known = (one.role, one.declared);
            if lists.declared.contains(&known) {
                continue;
            }
            meets |= one.role == role::SAMPLED && lists.is_lonely(&one.declared);
            let mut views = lists.views.iter().filter(|(roles, _)| roles & one.role != 0);
            meets |= views.any(|(_, viewed)| alarms(one.role, &one.declared, viewed));
            meets |= lists.declared.len() >= MOST;
            if lists.declared.len() < MOST {
                lists.declared.with_room().push(known);
            }
        }
        meets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANE: Viewed = Viewed {
        format: vk::Format::R8G8B8A8_UNORM,
        view_type: Some(vk::ImageViewType::TYPE_2D),
        class: Some(NumericClass::Float),
        features: None,
        is_lowered: false,
    };

    fn variable(role: u32, format: u32, dim: u32) -> Variable {
        let is_storage = role == role::STORAGE;
        let at = samplin_spirv::Operand { set: 0, binding: 0, count: 1, index: samplin_spirv::Index::Whole };
        let class = NumericClass::Float;
        let declared = Declared { dim, arrayed: false, class, is_storage, format, is_read: true, is_written: false };
        let stages = vk::ShaderStageFlags::COMPUTE;
        Variable { at, declared, role, stages, line: None, variable: 1, image: 2, is_atomic: false }
    }

    /// Whichever comes first, a type and a view that may meet and differ are a reason, and nothing else is; each once.
    #[test]
    fn what_may_differ_is_a_reason_to_look() {
        let integers = Viewed { format: vk::Format::R32_UINT, class: Some(NumericClass::Uint), ..PLANE };
        let volume = Viewed { view_type: Some(vk::ImageViewType::TYPE_3D), ..PLANE };
        let cases = [
            (variable(role::STORAGE, 4, 1), role::STORAGE, PLANE, false),
            (variable(role::STORAGE, 1, 1), role::STORAGE, PLANE, true),
            (variable(role::STORAGE, 4, 2), role::STORAGE, PLANE, true),
            // Used for something else.
            (variable(role::STORAGE, 1, 1), role::SAMPLED | role::INPUT, PLANE, false),
            (variable(role::SAMPLED, 0, 1), role::SAMPLED, PLANE, false),
            (variable(role::SAMPLED, 0, 1), role::SAMPLED, integers, true),
            // No view there is could be what this one samples.
            (variable(role::SAMPLED, 0, 1), role::SAMPLED, volume, true),
        ];
        for (variable, roles, viewed, wanted) in cases {
            let (first, then) = (Seen::new(&Settings::default()), Seen::new(&Settings::default()));
            let variables = std::slice::from_ref(&variable);
            assert!(!first.view(roles, viewed) && !then.declare(variables), "{variable:?}");
            assert_eq!(
                (first.declare(variables), then.view(roles, viewed)),
                (wanted, wanted),
                "{variable:?} {viewed:?}"
            );
            assert!(!first.declare(variables) && !then.view(roles, viewed), "twice");
        }
        // Shaders that declare the format of a view that integers stand in for are rewritten as they come.
        let lowered = Viewed { is_lowered: true, ..PLANE };
        let declared = variable(role::STORAGE, 4, 1).declared;
        for (declared, wanted) in [
            (declared, false),
            (Declared { dim: 2, ..declared }, true),
            (Declared { format: 33, class: NumericClass::Uint, ..declared }, true),
            (Declared { format: 0, ..declared }, true),
        ] {
            let seen = Seen::new(&Settings::default());
            assert!(!seen.declare(&[Variable { declared, ..variable(role::STORAGE, 0, 1) }]));
            assert_eq!(seen.view(role::STORAGE, lowered), wanted, "{declared:?}");
        }
        // Programs have views of several dimensions.
        let seen = Seen::new(&Settings::default());
        assert!(!seen.declare(&[variable(role::SAMPLED, 0, 1), variable(role::SAMPLED, 0, 2)]));
        assert!(!seen.view(role::SAMPLED, PLANE) && !seen.view(role::SAMPLED, volume));
    }

    /// Only so many writes are noted, and only of types whose views alone have slots.
    #[test]
    fn writes_are_noted_for_a_while() {
        let seen = Seen::new(&Settings::default());
        seen.spend(std::iter::repeat_n(vk::DescriptorType::UNIFORM_BUFFER, 1000));
        assert_eq!(seen.left.load(Ordering::Relaxed), FIRST);
        seen.spend(std::iter::repeat_n(vk::DescriptorType::STORAGE_IMAGE, 256));
        assert_eq!(seen.left.load(Ordering::Relaxed), 0);
        let off = Seen::new(&Settings { trace: TraceTarget::Off, ..Settings::default() });
        assert!(!off.is_watching() && off.types() == 0, "nobody is told, and nothing is repaired");
    }
}
