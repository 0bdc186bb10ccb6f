//! What has to be bound for a pipeline and the sets that are bound with it.
//!
//! The answer depends on the pipeline and on what is in the sets, and on nothing else: not on the order of binds, not on what was
//! bound before.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};
use samplin_spirv::{Index, Operand};

use super::Separate;
use super::commands::{Binds, Bound, Hidden, Point, bind_point, place};
use super::layouts::{Binding, LARGEST, PipelineShape};
use super::programs::{Program, ProgramLink};
use super::recipe::{LINKS, Variant};
use super::sets::{Other, SetRecord};
use super::split::place_of;
use crate::counters::Path;
use crate::device::Device;

/// Most elements of an array that is indexed dynamically.
const ELEMENTS: u32 = 64;

/// A descriptor: set number, binding, element.
type Place = (u32, u32, u32);

/// What one use of a sampler asks for.
pub(super) struct Want {
    /// The link, by its place in the pipeline's list.
    pub(super) link: usize,
    pub(super) sampler_at: Place,
    pub(super) image_at: Place,
    /// The application's sampler there, and the one that the image needs.
    pub(super) given: u64,
    pub(super) wanted: u64,
    /// State and class, if they conflict.
    pub(super) pair: Option<Pair>,
    /// The image may be another one after the bind.
    loose: bool,
    /// There is no image, so that any sampler does.
    free: bool,
    /// Place in the link's samplers of a hidden set.
    place: u32,
}

/// What uses of samplers ask for, by the sets that are bound.
#[derive(Default)]
struct Wants {
    all: Vec<Want>,
    /// Set number and binding of samplers that are used in ways which are not known.
    blocked: Vec<(u32, u32)>,
}

/// How a link is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A shadow set is bound.
    Shadow,
    /// The sampler is pushed again.
    Push,
    /// The shader reads another sampler, from a set of the layer's own.
    Split,
}

/// What a pipeline and its sets come to.
struct Decided {
    /// Set numbers and samplers to exchange in them.
    others: Vec<(u32, Other)>,
    /// The pipeline to bind instead.
    variant: Option<Arc<Variant>>,
}

impl How {
    /// Name in the trace.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Shadow => "shadow",
            Self::Push => "push",
            Self::Split => "split",
        }
    }
}

/// The elements that an operand may name, of a binding with `count` descriptors; none if they cannot be known.
fn elements(operand: &Operand, binding: &Binding) -> Option<std::ops::Range<u32>> {
    match operand.index {
        Index::Whole => Some(0..1),
        Index::Const(element) => Some(element..element.saturating_add(1)),
        Index::Dynamic { .. } | Index::Push(_) if (1..=ELEMENTS).contains(&operand.count) => {
            Some(0..operand.count.min(binding.count))
        }
        _ => None,
    }
}

impl Device {
    /// What each use of a sampler asks for, by the sets that are bound. Sets that are not bound, or with another layout than the
    /// pipeline's, ask for nothing.
    fn wants(&self, program: &Program, point: &Point) -> Wants {
        let mut wants = Wants::default();
        for (index, link) in program.links.iter().enumerate() {
            self.wants_of(program, point, (index, link), &mut wants);
        }
        wants
    }

    fn wants_of(&self, program: &Program, point: &Point, (index, link): (usize, &ProgramLink), wants: &mut Wants) {
        let bound = |operand: &Operand| {
            let number = operand.set as usize;
            let bound = point.sets.get(number)?;
            let own = bound.layout.as_ref()?;
            if !own.is_compatible(&program.layout, number) {
                return None;
            }
            let record = bound.record.as_deref()?;
            Some((record, record.shape.binding(operand.binding)?))
        };
        let (Some((images, image)), Some((samplers, sampler))) = (bound(&link.image), bound(&link.sampler)) else {
            return;
        };
        let (image_elements, sampler_elements) = match (elements(&link.image, image), elements(&link.sampler, sampler))
        {
            _ if image.count > LARGEST || sampler.count > LARGEST => {
                wants.blocked.with_room().push((link.sampler.set, link.sampler.binding));
                return self.link_unresolved("too-large", program, index);
            }
            (Some(images), Some(samplers)) => (images, samplers),
            _ => {
                wants.blocked.with_room().push((link.sampler.set, link.sampler.binding));
                return self.link_unresolved("bindless", program, index);
            }
        };
        for image_element in image_elements {
            // Nothing to conflict with, if it is a hole or a null view.
            let view = image.image_slot(image_element).map_or(0, |slot| images.get(slot));
            for sampler_element in sampler_elements.clone() {
                let given = sampler.sampler_slot(sampler_element).map_or(0, |slot| samplers.get(slot));
                if given == 0 {
                    continue;
                }
                let pair = self.hot.gate.conflict(vk::Sampler::from_raw(given), vk::ImageView::from_raw(view));
                let wanted = pair.map_or(given, |pair| self.choose(pair, Path::Draw));
                wants.all.with_room().push(Want {
                    link: index,
                    sampler_at: (link.sampler.set, link.sampler.binding, sampler_element),
                    image_at: (link.image.set, link.image.binding, image_element),
                    given,
                    wanted,
                    pair,
                    loose: image.after_bind,
                    free: view == 0,
                    place: place_of(&link.image, &link.sampler, (image_element, sampler_element)),
                });
            }
        }
    }

    /// Decides what each sampler of the bound sets is to be: those to exchange in their sets, and the pipeline to bind with the
    /// links that ask for samplers of their own.
    fn decide_links(&self, separate: &Separate, program: &Program, point: &Point, wants: &mut Wants) -> Decided {
        let Wants { all, blocked } = wants;
        all.sort_by_key(|want| want.sampler_at);
        let bit = |want: &Want| if want.link < LINKS { 1_u64 << want.link } else { 0 };
        let mut variant = program.splits.current();
        loop {
            let mask = program.splits.mask();
            let (refused, why) = program.splits.refused();
            let (mut others, mut join) = (Vec::new(), 0_u64);
            let mut told = Vec::new();
            for group in all.chunk_by(|one, two| one.sampler_at == two.sampler_at) {
                let Some((set, binding, element)) = group.first().map(|want| want.sampler_at) else { continue };
                let own = || group.iter().filter(|want| !want.free && mask & bit(want) == 0);
                let changes = |want: &Want| want.wanted != want.given || separate.force.splits();
                let asks = || own().filter(|want| changes(want) && !want.loose).fold(0, |all, want| all | bit(want));
                let force = separate.force.splits() && asks() & !refused != 0;
                let Some(first) = own().find(|want| want.wanted != want.given || force) else {
                    told.with_room().push((group, Ok(How::Split)));
                    continue;
                };
                let agree = own().all(|want| want.wanted == first.wanted);
                let exchange = match program.blind {
                    _ if force => Err("shared-sampler"),
                    Some(why) => Err(why),
                    None if blocked.contains(&(set, binding)) => Err("bindless"),
                    None if own().any(|want| want.loose) => Err("update-after-bind"),
                    None if !agree => Err("shared-sampler"),
                    None => self.may_exchange(point, set, binding),
                };
                match exchange {
                    Ok(how) => {
                        others.with_room().push((set, (binding, element, first.wanted)));
                        told.with_room().push((group, Ok(how)));
                    }
                    Err(named) => {
                        let asks = asks();
                        let named = if refused & asks != 0 { why } else { named };
                        join |= asks & !refused;
                        told.with_room().push((group, Err(named)));
                    }
                }
            }
            if join != 0 {
                match self.split(separate, program, join) {
                    Ok(made) => variant = Some(made),
                    // What is forced is tried link by link.
                    Err(_) if separate.force.splits() && join.count_ones() > 1 => {
                        for one in (0..LINKS).map(|link| 1_u64 << link).filter(|one| join & one != 0) {
                            match self.split(separate, program, one) {
                                Ok(made) => variant = Some(made),
                                Err(why) => program.splits.refuse(one, why),
                            }
                        }
                    }
                    Err(why) => program.splits.refuse(join, why),
                }
                continue;
            }
            for (group, how) in told {
                self.tell_group(program, group, how, program.splits.mask());
            }
            return Decided { others, variant };
        }
    }

    /// Brings what is bound in line with what the pipeline needs. Sets whose numbers are in `chosen` are only chosen, for the caller
    /// to bind; all others are bound here.
    ///
    /// # Safety
    ///
    /// `commands` is the valid command buffer of `point`, and recording.
    unsafe fn settle(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: &mut Point,
        at: usize,
        chosen: std::ops::Range<usize>,
    ) {
        let Some(program) = point.program.clone() else { return };
        let mut wants = self.wants(&program, point);
        let Decided { others, variant } = self.decide_links(separate, &program, point, &mut wants);
        let pipeline = variant.as_ref().map_or(program.handle, |variant| variant.pipeline);
        if pipeline != point.pipeline
            && let Some(bind) = self.fns.cmd_bind_pipeline
        {
            point.pipeline = pipeline;
            // SAFETY: forwarded from the caller; it differs from the application's pipeline, which is bound, in the samplers that it reads.
            unsafe { bind(commands, bind_point(at), vk::Pipeline::from_raw(pipeline)) };
        }
        for number in 0..point.sets.len() {
            let of_set = |(set, other): &(u32, Other)| (*set as usize == number).then_some(*other);
            let own = memory::collect(others.iter().filter_map(of_set));
            // SAFETY: forwarded from the caller.
            unsafe { self.settle_set(separate, commands, (point, &program.layout), (at, number), &own, &chosen) };
        }
        if let Some(variant) = variant {
            let behind = chosen.end > variant.number();
            // A set that the caller binds at this number or behind it would be disturbed.
            if !behind {
                // SAFETY: forwarded from the caller.
                unsafe { self.settle_hidden(separate, commands, (point, at), &variant, &wants.all) };
            }
        }
    }

    /// Binds the hidden set of a split pipeline.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn settle_hidden(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (point, at): (&mut Point, usize),
        variant: &Variant,
        wants: &[Want],
    ) {
        let mut samplers = Vec::new();
        for (link, count) in &variant.parts {
            let start = samplers.len();
            (0..*count).for_each(|_| samplers.with_room().push(0_u64));
            for want in wants.iter().filter(|want| want.link == *link) {
                // A descriptor that nobody may use can hold a sampler that is gone.
                let lives = want.wanted != want.given || self.hot.gate.sampler(want.given) != 0;
                if let Some(place) = samplers.get_mut(start + want.place as usize).filter(|_| lives) {
                    *place = want.wanted;
                }
            }
        }
        // Where nothing may be read, any sampler does.
        let Some(any) = samplers.iter().copied().find(|sampler| *sampler != 0) else { return };
        samplers.iter_mut().filter(|sampler| **sampler == 0).for_each(|sampler| *sampler = any);
        let Some(set) = self.hidden_set(separate, &variant.hidden, &samplers) else { return };
        let same = |hidden: &Hidden| hidden.set == set && std::ptr::eq(&*hidden.layout, &*variant.layout);
        if point.hidden.as_ref().is_some_and(same) {
            return;
        }
        let (Some(bind), Some(twin)) =
            (self.fns.cmd_bind_descriptor_sets, self.twin_of_pipeline(separate, &variant.layout))
        else {
            return;
        };
        let raw = vk::DescriptorSet::from_raw(set);
        // SAFETY: the command buffer is recording; the layout is the one that the bound pipeline was made with, compatible with the
        // application's for all sets below.
        unsafe { bind(commands, bind_point(at), twin, variant.number() as u32, 1, &raw, 0, std::ptr::null()) };
        point.hide(Hidden { set, layout: Arc::clone(&variant.layout) });
    }

    /// Whether a sampler of a bound set may be exchanged for all that read it.
    fn may_exchange(&self, point: &Point, set: u32, binding: u32) -> Result<How, &'static str> {
        let bound = point.sets.get(set as usize);
        let Some((bound, record)) = bound.and_then(|bound| Some((bound, bound.record.as_deref()?))) else {
            return Err("memory");
        };
        if record.shape.binding(binding).is_none_or(|binding| !binding.immutable.is_empty()) {
            return Err("immutable-sampler");
        }
        if bound.set == 0 {
            return Ok(How::Push);
        }
        if record.shape.after_bind {
            return Err("update-after-bind");
        }
        if record.is_without_layout() {
            return Err("layout-destroyed");
        }
        Ok(How::Shadow)
    }

    /// Binds what has to be bound at a set number.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn settle_set(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (point, layout): (&mut Point, &PipelineShape),
        (at, number): (usize, usize),
        others: &[Other],
        chosen: &std::ops::Range<usize>,
    ) {
        let Some(bound) = point.sets.get_mut(number) else { return };
        if bound.layout.as_ref().is_none_or(|own| !own.is_compatible(layout, number)) {
            return;
        }
        if bound.set == 0 {
            // SAFETY: forwarded from the caller.
            unsafe { self.push_again(separate, commands, (bound, layout), (at, number), others) };
            return point.show(number);
        }
        let force = || separate.force.shadows() && bound.record.as_deref().is_some_and(SetRecord::may_be_copied);
        let wanted = match others {
            [] if !force() => bound.set,
            others => {
                let record = bound.record.clone();
                let shadow = record.and_then(|record| self.shadow(separate, bound.set, &record, others));
                shadow.unwrap_or(bound.set)
            }
        };
        if wanted == bound.actual {
            return;
        }
        bound.actual = wanted;
        if chosen.contains(&number) {
            return;
        }
        let (Some(bind), Some(twin)) = (self.fns.cmd_bind_descriptor_sets, self.twin_of_pipeline(separate, layout))
        else {
            bound.actual = bound.set;
            return;
        };
        let set = vk::DescriptorSet::from_raw(wanted);
        // SAFETY: the command buffer is recording; the set is of a layout defined like that of the pipeline at this number, with which
        // all lower sets are compatible, so nothing else is disturbed; the offsets are those of the application's own bind.
        unsafe {
            let offsets = &bound.offsets;
            bind(commands, bind_point(at), twin, number as u32, 1, &set, offsets.len() as u32, offsets.as_ptr());
        }
        point.show(number);
    }

    /// Pushes samplers in place of the application's, and its own where they are wanted again.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn push_again(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (bound, layout): (&mut Bound, &PipelineShape),
        (at, number): (usize, usize),
        others: &[Other],
    ) {
        let is_at = |place: &(u32, u32)| others.iter().any(|(binding, element, _)| (*binding, *element) == *place);
        let mut next: Vec<Other> = memory::collect(others.iter().copied());
        let now = &bound.pushed;
        let back = now.iter().filter(|(binding, element, _)| !is_at(&(*binding, *element)));
        for (binding, element, _) in back {
            let slot = bound.record.as_deref().and_then(|record| {
                let slot = record.shape.binding(*binding)?.sampler_slot(*element)?;
                Some(record.get(slot))
            });
            if let Some(own) = slot.filter(|own| *own != 0) {
                next.with_room().push((*binding, *element, own));
            }
        }
        if !std::mem::take(&mut bound.repushed) {
            next.retain(|other| !now.contains(other));
        }
        bound.pushed = memory::collect(others.iter().copied());
        if next.is_empty() {
            return;
        }
        let (Some(push), Some(twin)) = (self.fns.cmd_push_descriptor_set, self.twin_of_pipeline(separate, layout))
        else {
            return;
        };
        let infos = memory::collect(next.iter().map(|(_, _, sampler)| vk::DescriptorImageInfo {
            sampler: vk::Sampler::from_raw(*sampler),
            ..Default::default()
        }));
        let writes = memory::collect(next.iter().zip(&infos).map(|((binding, element, _), info)| {
            vk::WriteDescriptorSet::default()
                .dst_binding(*binding)
                .dst_array_element(*element)
                .descriptor_type(vk::DescriptorType::SAMPLER)
                .image_info(std::slice::from_ref(info))
        }));
        // SAFETY: the command buffer is recording; the layout is defined like the one that the application pushed with, and only
        // samplers that it has pushed are replaced.
        unsafe { push(commands, bind_point(at), twin, number as u32, writes.len() as u32, writes.as_ptr()) };
    }

    /// The pipeline to bind instead of `pipeline`: one that is split stays so.
    ///
    /// # Safety
    ///
    /// `pipeline` is a valid pipeline.
    pub unsafe fn separate_variant(&self, separate: &Separate, pipeline: vk::Pipeline) -> vk::Pipeline {
        // SAFETY: forwarded from the caller.
        let program = unsafe { separate.programs.get(pipeline.as_raw()) };
        let variant = program.and_then(|program| program.splits.current());
        variant.map_or(pipeline, |variant| vk::Pipeline::from_raw(variant.pipeline))
    }

    /// Takes over a bound pipeline, after `actual` was bound for it.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    pub unsafe fn separate_pipeline(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        (pipeline, actual): (vk::Pipeline, vk::Pipeline),
    ) {
        let Some(at) = place(point) else { return };
        // SAFETY: forwarded from the caller.
        let (state, program) = unsafe { (separate.state(commands), separate.programs.share(pipeline.as_raw())) };
        let Some(state) = state else { return };
        state.with(at, |point| {
            point.program = program;
            point.pipeline = actual.as_raw();
            // SAFETY: forwarded from the caller.
            unsafe { self.settle(separate, commands, point, at, 0..0) };
        });
    }

    /// Takes over sets that are about to be bound. Returns what to bind instead of them, if anything.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the sets and the layout are valid.
    pub unsafe fn separate_binds(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        binds: &Binds<'_>,
    ) -> Option<Vec<vk::DescriptorSet>> {
        let at = place(binds.point)?;
        // SAFETY: forwarded from the caller.
        let (state, layout) = unsafe { (separate.state(commands)?, separate.pipeline_shape(binds.layout)?) };
        let first = binds.first as usize;
        state.with(at, |point| {
            // SAFETY: forwarded from the caller.
            unsafe {
                point.bind(separate, &layout, binds);
                self.settle(separate, commands, point, at, first..first + binds.sets.len());
            }
            point.actual(binds)
        })
    }

    /// Takes over sets that were bound.
    ///
    /// # Safety
    ///
    /// As for [`Device::separate_binds`].
    pub unsafe fn separate_bound(&self, separate: &Separate, commands: vk::CommandBuffer, binds: &Binds<'_>) {
        let Some(at) = place(binds.point) else { return };
        // SAFETY: forwarded from the caller.
        let (state, layout) = unsafe { (separate.state(commands), separate.pipeline_shape(binds.layout)) };
        let (Some(state), Some(layout)) = (state, layout) else { return };
        state.with(at, |point| {
            // SAFETY: forwarded from the caller.
            unsafe {
                point.bind(separate, &layout, binds);
                self.settle(separate, commands, point, at, 0..0);
            }
        });
    }

    /// Takes over pushed descriptors, after they were pushed: `write` puts them into the record.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the layout is valid.
    unsafe fn pushed(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        (layout, number): (vk::PipelineLayout, u32),
        write: impl FnOnce(&SetRecord),
    ) {
        let Some(at) = place(point) else { return };
        // SAFETY: forwarded from the caller.
        let (state, layout) = unsafe { (separate.state(commands), separate.pipeline_shape(layout)) };
        let (Some(state), Some(layout)) = (state, layout) else { return };
        state.with(at, |point| {
            let Some(record) = point.push(separate, &layout, number as usize) else { return };
            write(record);
            // SAFETY: forwarded from the caller.
            unsafe { self.settle(separate, commands, point, at, 0..0) };
        });
    }

    /// Takes over pushed descriptors, after they were pushed.
    ///
    /// # Safety
    ///
    /// The arguments of a valid push.
    pub unsafe fn separate_push(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        points: &[vk::PipelineBindPoint],
        place: (vk::PipelineLayout, u32),
        writes: &[vk::WriteDescriptorSet<'_>],
    ) {
        for point in points {
            // SAFETY: forwarded from the caller.
            unsafe {
                self.pushed(separate, commands, *point, place, |record| {
                    writes.iter().for_each(|write| record.take(write));
                });
            }
        }
    }

    /// Takes over descriptors that were pushed with a template.
    ///
    /// # Safety
    ///
    /// The arguments of a valid push.
    pub unsafe fn separate_push_template(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        template: vk::DescriptorUpdateTemplate,
        place: (vk::PipelineLayout, u32),
        data: *const c_void,
    ) {
        // SAFETY: a valid template, which is not destroyed during the command.
        let Some(runs) = (unsafe { separate.templates.share(template.as_raw()) }) else { return };
        // SAFETY: forwarded from the caller.
        unsafe {
            self.pushed(separate, commands, runs.bind_point, place, |record| runs.apply(record, data));
        }
    }
}
