//! Links whose shader looks up which sampler suits what it indexes: what it looks that up in, see [`tables`](super::tables).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use samplin_bind::plan::link_bit;
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};
use samplin_spirv::select::{Part, PoolAt, select_or_own};
use samplin_spirv::{Module, Specialization};

use super::Separate;
use super::blocks::Table;
use super::command_buffers::BindPoint;
use super::emulation;
use super::hidden::LookUps;
use super::limits::{More, bindings};
use super::lists::{Own, PLACES, PoolOf};
use super::looked_up::{Mirror, Selection};
use super::programs::Program;
use super::recipe::StageCode;
use super::split::left_of;
use super::stages::model;
use crate::device::driver::Driver;
use crate::device::resolve::On;
use crate::kept;

impl Selection {
    /// What the links `mask` of a program are looked up in, in bindings behind those from `first` on that their set has `before` them.
    pub(super) fn new(
        separate: &Separate,
        driver: &Driver,
        program: &Program,
        mask: u64,
        first: u32,
        before: &[(More, vk::DescriptorBindingFlags)],
    ) -> Result<Self, Left> {
        let mut new = Self::of(mask, first + before.len() as u32);
        for (_, link) in program.links.iter().enumerate().filter(|(number, _)| mask & link_bit(*number) != 0) {
            let added = new.add(&program.layout, &link.image, false);
            added.and_then(|()| new.add(&program.layout, &link.sampler, true)).ok_or(Left::OpaqueOperand)?;
        }
        const COUNTS: [u32; 9] = [PLACES, 2048, 1000, 500, 250, 100, 48, 24, 12];
        let own = new.least_flags();
        // Samplers of a set that may be updated after it was bound count towards a limit that is the greater one.
        let other = own | vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
        let mut last = Left::SamplerLimit;
        for (count, flags) in COUNTS.into_iter().flat_map(|count| [(count, own), (count, other)]) {
            if flags != own && !separate.limits.after_bind {
                continue;
            }
            (new.places, new.layout_flags) = (count, flags);
            let all = memory::collect(before.iter().copied().chain(new.more(program)));
            let more = memory::collect(all.iter().map(|(more, _)| *more));
            let kept = kept::SetLayout { flags, bindings: bindings(first, all) };
            match separate.limits.check_with(&program.layout, &more, flags, program.colors) {
                Ok(()) if separate.limits.is_supported(driver, &more, &kept) => return Ok(new),
                Ok(()) => last = Left::SamplerLimit,
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Its descriptors, in the order of its bindings, and the flags of these.
    pub(super) fn more(&self, program: &Program) -> Vec<(More, vk::DescriptorBindingFlags)> {
        let links = program.links.iter().enumerate().filter(|(number, _)| self.links & link_bit(*number) != 0);
        let stages = links.fold(vk::ShaderStageFlags::empty(), |all, (_, link)| all | link.stages);
        let buffers = 1 + usize::from(!self.statics.is_empty()) + self.tables.len();
        let buffer = More { kind: vk::DescriptorType::STORAGE_BUFFER, count: 1, stages };
        let pool = More { kind: vk::DescriptorType::SAMPLER, count: self.pool(), stages };
        let buffer = (buffer, vk::DescriptorBindingFlags::empty());
        memory::collect(std::iter::repeat_n(buffer, buffers).chain([(pool, self.flags)]))
    }

    /// The code of a stage that looks up what its links read through; none if none of them is in it.
    pub(super) fn rewrite(
        &self,
        program: &Program,
        stage: &StageCode,
        words: &[u32],
        set: u32,
    ) -> Result<Option<Vec<u32>>, Left> {
        let links = program.links.iter().enumerate().filter(|(number, _)| self.links & link_bit(*number) != 0);
        let (mut parts, mut own) = (Vec::new(), Vec::new());
        for (_, link) in links.filter(|(_, link)| link.stages.contains(stage.stage)) {
            let lookup = |operand, is_sampler| self.lookup(&program.layout, operand, is_sampler);
            let (column, row) =
                lookup(&link.image, false).zip(lookup(&link.sampler, true)).ok_or(Left::OpaqueOperand)?;
            parts.with_room().push(Part { image: link.image, sampler: link.sampler, column, row });
            own.with_room().push(self.own(&link.sampler));
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let model = model(stage.stage).ok_or(Left::OpaqueOperand)?;
        let constants = memory::collect(stage.constants.iter().map(|(number, bytes)| (*number, &**bytes)));
        let module = Module::read(words).map_err(emulation::left_module)?;
        let place = PoolAt { set, matrix: self.matrix(), pool: self.pool_binding(), count: self.pool() };
        let constants = Specialization(&constants);
        select_or_own(&module, &stage.name, model, Some(&constants), &place, &parts, &own).map(Some).map_err(left_of)
    }

    /// What a hidden set holds for the sets of a bind point; none if one of these is not followed, there is no memory, or more samplers
    /// are needed than its pool has.
    pub(super) fn look_ups<'s>(
        &'s self,
        separate: &Separate,
        on: On<'_>,
        point: &BindPoint,
    ) -> Result<LookUps<'s>, Left> {
        let entry =
            |set: u32| point.sets.get(set as usize).and_then(|bound| bound.content()).ok_or(Left::SetUnfollowed);
        separate.make_matrix(on).ok_or(Left::Memory)?;
        let mut tables = memory::vec(self.tables.len());
        for set in &self.tables {
            let entry = entry(*set)?;
            let table = separate.table_of(on, entry).ok_or(Left::Memory)?;
            if table.is_short.load(Ordering::Acquire) && !separate.write_samplers(on, entry) {
                return Err(Left::SamplerLimit);
            }
            tables.push(Arc::clone(table));
        }
        for mirror in &self.mirrors {
            let entry = entry(mirror.at.0)?;
            let varies = entry.shape.variable == Some(mirror.at.1);
            if if varies { entry.variable } else { mirror.of } > mirror.count {
                return Err(Left::SamplerLimit);
            }
        }
        let mut looked = memory::vec(self.words() as usize);
        for own in &self.statics {
            let entry = entry(own.at.0)?;
            let binding = entry.shape.binding(own.at.1).ok_or(Left::SetUnfollowed)?;
            looked.extend(Separate::looked(on, entry, binding, own.is_sampler, own.elements.clone()));
        }
        let statics = separate.words_of(on, &looked).ok_or(Left::SamplerLimit)?;
        let (is_late, mut reached) = (self.is_late(), Vec::new());
        if !is_late {
            // Other samplers may go while this pool is bound, and nobody writes it then.
            let mut samplers = memory::collect(looked.iter().filter(|own| own.is_sampler).map(|own| own.handle));
            for (set, binding) in self.heaps.iter().copied() {
                let entry = entry(set)?;
                let binding = entry.shape.binding(binding).ok_or(Left::SetUnfollowed)?;
                let slots = (0..binding.count).filter_map(|element| binding.sampler_slot(element));
                let slots = slots.map(|slot| entry.get(slot)).filter(|sampler| *sampler != 0);
                slots.for_each(|sampler| samplers.with_room().push(sampler));
            }
            reached = separate.tables.reached(samplers.into_iter());
        }
        let fits = match is_late {
            true => separate.tables.fits(self.places),
            false => reached.last().is_none_or(|(last, _)| *last < self.places),
        };
        if !fits {
            return Err(Left::SamplerLimit);
        }
        Ok(LookUps { tables, statics, looked, selection: self, reached, is_late })
    }

    /// The pool of a hidden set with these tables.
    pub(super) fn pool_of(&self, tables: &[Arc<Table>]) -> PoolOf {
        let of = |(at, mirror): (u32, &Mirror)| {
            let table = self.tables.iter().position(|set| *set == mirror.at.0).and_then(|at| tables.get(at))?;
            Some(Own { table: table.number, word: mirror.word, count: mirror.count, at })
        };
        PoolOf { count: self.pool(), places: self.places, own: memory::collect(self.mirrors().filter_map(of)) }
    }
}
