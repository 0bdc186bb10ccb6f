//! Where the shaders of a second pipeline find the words that they look samplers up by, in the bindings of its hidden set.

use ash::vk;
use samplin_hot::memory::Room;
use samplin_spirv::select::{Length, Lookup};
use samplin_spirv::{Index, Operand};

use super::layouts::{Binding, PipelineShape, SlotKind};

/// Descriptors may be written after the bind.
const LATE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::from_raw(
    vk::DescriptorBindingFlags::UPDATE_AFTER_BIND.as_raw()
        | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING.as_raw(),
);

/// Descriptors near their set that have words of their own.
pub(super) struct Static {
    pub(super) at: (u32, u32),
    pub(super) is_sampler: bool,
    pub(super) elements: std::ops::Range<u32>,
    /// The first of the words.
    first: u32,
}

/// Samplers of a binding that may be written after the bind. Behind its places a pool has them too: a shader reads them there where no place
/// is left for one.
#[derive(Clone, Copy)]
pub(super) struct Mirror {
    pub(super) at: (u32, u32),
    /// The word of the first of them in the table of their set.
    pub(super) word: u32,
    /// How many there are, of so many.
    pub(super) count: u32,
    pub(super) of: u32,
    /// Where in the pool they are, behind the places.
    behind: u32,
}

/// Samplers of a binding that a pool has room for beside its places. Sets with more are not looked up.
const MIRRORED: u32 = 8192;

/// What the shaders of a second pipeline look samplers up in.
pub(super) struct Selection {
    /// The links that do, a bit each.
    pub(super) links: u64,
    pub(super) statics: Vec<Static>,
    /// The numbers of sets with tables.
    pub(super) tables: Vec<u32>,
    /// Places of the pool.
    pub(super) places: u32,
    /// Bindings of samplers in these tables.
    pub(super) heaps: Vec<(u32, u32)>,
    /// What it has behind them.
    pub(super) mirrors: Vec<Mirror>,
    /// Flags that the pool's binding needs as those of the application do.
    pub(super) flags: vk::DescriptorBindingFlags,
    /// Those of the layout of its sets.
    pub(super) layout_flags: vk::DescriptorSetLayoutCreateFlags,
    /// The first of its bindings: matrix, words of statics if there are any, tables, pool.
    first: u32,
}

impl Selection {
    /// One for these links, in bindings from `first` on, with no operand yet.
    pub(super) fn of(links: u64, first: u32) -> Self {
        let flags = vk::DescriptorBindingFlags::empty();
        let (statics, tables, heaps, mirrors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { links, statics, tables, places: 0, heaps, mirrors, flags, layout_flags: Default::default(), first }
    }

    /// Adds an operand, if its layout has it.
    pub(super) fn add(&mut self, layout: &PipelineShape, operand: &Operand, is_sampler: bool) -> Option<()> {
        let (shape, binding) = layout.binding(operand)?;
        let own = shape.kept.bindings.iter().find(|own| own.binding == operand.binding)?;
        self.flags |= own.flags & (LATE | vk::DescriptorBindingFlags::PARTIALLY_BOUND);
        if shape.has_in_arrays(binding) {
            if !self.tables.contains(&operand.set) {
                self.tables.with_room().push(operand.set);
            }
            let at = (operand.set, operand.binding);
            if is_sampler && !self.heaps.contains(&at) {
                self.heaps.with_room().push(at);
            }
            if is_sampler && binding.after_bind && self.mirrors.iter().all(|mirror| mirror.at != at) {
                let (word, behind) = (shape.first_in_table(binding, true) as u32, self.mirrored());
                let (count, of) = (binding.count.min(MIRRORED), binding.count);
                self.mirrors.with_room().push(Mirror { at, word, count, of, behind });
            }
        } else if self.find(operand, is_sampler).is_none() {
            let (at, elements) = ((operand.set, operand.binding), elements(operand, binding));
            let first = self.words();
            self.statics.with_room().push(Static { at, is_sampler, elements, first });
        }
        Some(())
    }

    /// How many words stand for descriptors in no table.
    pub(super) fn words(&self) -> u32 {
        self.statics.iter().map(|own| own.elements.len() as u32).sum()
    }

    fn find(&self, operand: &Operand, is_sampler: bool) -> Option<&Static> {
        let is_it = |own: &&Static| {
            let holds = match operand.index {
                Index::Const(element) => own.elements.contains(&element),
                _ => own.elements.start == 0 && own.elements.len() as u32 >= operand.count.max(1),
            };
            own.at == (operand.set, operand.binding) && own.is_sampler == is_sampler && holds
        };
        self.statics.iter().find(is_it)
    }

    /// Samplers of the pool behind its places.
    fn mirrored(&self) -> u32 {
        self.mirrors.iter().map(|mirror| mirror.count).sum()
    }

    /// Samplers of the pool.
    pub(super) fn pool(&self) -> u32 {
        self.places + self.mirrored()
    }

    /// Where the pool has the sampler that an operand names first, if it has that.
    pub(super) fn own(&self, operand: &Operand) -> Option<u32> {
        let mirror = self.mirrors.iter().find(|mirror| mirror.at == (operand.set, operand.binding))?;
        let element = if let Index::Const(element) = operand.index { element } else { 0 };
        Some(self.places + mirror.behind + element.min(mirror.count - 1))
    }

    /// Where the pool has the first of each.
    pub(super) fn mirrors(&self) -> impl Iterator<Item = (u32, &Mirror)> {
        self.mirrors.iter().map(|mirror| (self.places + mirror.behind, mirror))
    }

    /// Whether the pool is written while a set is bound.
    pub(super) fn is_late(&self) -> bool {
        self.flags.intersects(LATE)
    }

    /// The flags that the layout of its sets needs.
    pub(super) fn least_flags(&self) -> vk::DescriptorSetLayoutCreateFlags {
        match self.flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND) {
            true => vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL,
            false => vk::DescriptorSetLayoutCreateFlags::empty(),
        }
    }

    /// The binding of its matrix.
    pub(super) fn matrix(&self) -> u32 {
        self.first
    }

    /// The binding of its pool, the last.
    pub(super) fn pool_binding(&self) -> u32 {
        self.first + 1 + u32::from(!self.statics.is_empty()) + self.tables.len() as u32
    }

    /// Where a shader finds the word of an operand.
    pub(super) fn lookup(&self, layout: &PipelineShape, operand: &Operand, is_sampler: bool) -> Option<Lookup> {
        let (shape, binding) = layout.binding(operand)?;
        let statics = self.first + 1;
        if !shape.has_in_arrays(binding) {
            let own = self.find(operand, is_sampler)?;
            let (first, length) = match operand.index {
                Index::Const(element) => (own.first + element - own.elements.start, Length::One),
                Index::Whole => (own.first, Length::One),
                _ => (own.first, Length::Fixed(own.elements.len() as u32)),
            };
            return Some(Lookup { binding: statics, first, length });
        }
        let table = self.tables.iter().position(|set| *set == operand.set)? as u32;
        let tables = statics + u32::from(!self.statics.is_empty());
        let first = shape.first_in_table(binding, is_sampler) as u32;
        let varies = shape.variable == Some(binding.binding) && binding.kind != SlotKind::Either;
        let (first, length) = match operand.index {
            Index::Const(element) => (first + element, Length::One),
            Index::Whole => (first, Length::One),
            _ if varies => (first, Length::Rest),
            _ => (first, Length::Fixed(binding.count)),
        };
        Some(Lookup { binding: tables + table, first, length })
    }
}

/// The elements that an operand may name of a binding whose slots are near its set.
pub(super) fn elements(operand: &Operand, binding: &Binding) -> std::ops::Range<u32> {
    match operand.index {
        Index::Whole => 0..1,
        Index::Const(element) => element..element.saturating_add(1),
        _ => 0..binding.count,
    }
}
