//! Updates with templates: the look through the application's data, and a copy of it where that is one plain run.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use ash::vk::{self, DescriptorImageInfo, Handle};

use super::devices::{find, find_first};
use super::record::{Hot, Run, Template};
use super::writes::INFOS;
use crate::counters::Path;
use crate::gate::Gate;
use crate::layout::SetLayout;

/// `vkUpdateDescriptorSetWithTemplate`.
///
/// # Safety
///
/// The command's valid usage.
pub unsafe extern "system" fn update_descriptor_set_with_template(
    device: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    // SAFETY: the command's valid usage; a template is valid during the command and destroyed under external synchronisation.
    unsafe {
        if let Some(hot) = find_first(device)
            && let Some(next) = hot.next.update_descriptor_set_with_template
        {
            let Some(record) = hot.templates.get(template.as_raw()) else { return next(device, set, template, data) };
            let look = hot.gate.must_look() && (record.layout.is_some() || record.may_conflict(&hot.gate, data));
            if !look && hot.counters.add_here(Path::Template, record.seen) {
                return next(device, set, template, data);
            }
        }
        template_slowly(device, set, template, data);
    }
}

/// # Safety
///
/// As for [`update_descriptor_set_with_template`].
#[inline(never)]
unsafe extern "system" fn template_slowly(
    device: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    // SAFETY: the command's valid usage; a template is valid during the command and destroyed under external synchronisation.
    unsafe {
        let Some(hot) = find(device) else { return };
        let Some(next) = hot.next.update_descriptor_set_with_template else { return };
        let Some(record) = hot.templates.get(template.as_raw()) else { return next(device, set, template, data) };
        if !hot.gate.must_look() || !record.conflicts(hot, record.layout.as_deref(), data) {
            hot.counters.add(Path::Template, record.seen, 0);
            return next(device, set, template, data);
        }
        if record.layout.is_some() || !record.plain || !data.cast::<DescriptorImageInfo>().is_aligned() {
            return (hot.rest.update_descriptor_set_with_template)(device, set, template, data);
        }
        if record.seen <= INFOS as u64 {
            let mut room = [const { MaybeUninit::uninit() }; INFOS];
            next(device, set, template, template_rewritten(hot, record, data, &mut room));
        } else {
            let mut room = Vec::new();
            if room.try_reserve_exact(record.seen as usize).is_err() {
                // Without memory for a copy there is only what was given.
                return next(device, set, template, data);
            }
            next(device, set, template, template_rewritten(hot, record, data, room.spare_capacity_mut()));
        }
    }
}

/// What has to go down for a plain template.
///
/// # Safety
///
/// `data` is valid for the template and aligned, `hot` starts the record of the device, and there is room for all elements.
unsafe fn template_rewritten(
    hot: &Hot,
    record: &Template,
    data: *const c_void,
    room: &mut [MaybeUninit<DescriptorImageInfo>],
) -> *const c_void {
    let device = hot.record();
    // SAFETY: a plain template describes that many infos at `data`; `hot` starts the record of its device.
    let changed = unsafe {
        let given = std::slice::from_raw_parts(data.cast::<DescriptorImageInfo>(), record.seen as usize);
        let mut undecided = |pair| (hot.rest.resolve)(device, pair, Path::Template);
        hot.gate.substitute(&hot.choices, given, room, &mut undecided)
    };
    hot.counters.add(Path::Template, record.seen, changed);
    if changed > 0 { room.as_ptr().cast() } else { data }
}

impl Template {
    /// Whether a single pair in `data` may conflict, or a run of several has to be looked at.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685).
    #[inline(always)]
    unsafe fn may_conflict(&self, gate: &Gate, data: *const c_void) -> bool {
        self.runs.iter().any(|run| {
            let info = data.cast::<u8>().wrapping_add(run.offset).cast::<DescriptorImageInfo>();
            if run.count != 1 {
                return run.count > 1;
            }
            // SAFETY: the template describes an info there; alignment is not promised.
            let info = unsafe { info.read_unaligned() };
            gate.candidate(info.sampler, info.image_view) != 0
        })
    }

    /// Whether a pair in `data` conflicts whose sampler is not an immutable one of `layout`. Takes note of the immutable ones.
    ///
    /// # Safety
    ///
    /// As for `may_conflict`.
    pub unsafe fn conflicts(&self, hot: &Hot, layout: Option<&SetLayout>, data: *const c_void) -> bool {
        let mut out = false;
        for run in &self.runs {
            let start = data.cast::<u8>().wrapping_add(run.offset);
            // SAFETY: forwarded from the caller.
            unsafe {
                match layout.filter(|layout| layout.is_immutable(run.target.0)) {
                    Some(layout) => run.note_immutables(hot, layout, start),
                    None => out = out || run.conflicts(&hot.gate, start),
                }
            }
        }
        out
    }
}

impl Run {
    /// Element `index`.
    ///
    /// # Safety
    ///
    /// `start` is where the data of the run begins, and `index` is below the count.
    #[inline(always)]
    unsafe fn read(&self, start: *const u8, index: usize) -> DescriptorImageInfo {
        let at = start.wrapping_add(index.wrapping_mul(self.stride));
        // SAFETY: the template describes an info there; alignment is not promised.
        unsafe { at.cast::<DescriptorImageInfo>().read_unaligned() }
    }

    /// Takes note of the immutable samplers that conflict.
    ///
    /// # Safety
    ///
    /// `start` is where the data of the run begins.
    #[inline(never)]
    unsafe fn note_immutables(&self, hot: &Hot, layout: &SetLayout, start: *const u8) {
        // SAFETY: forwarded from the caller; below the count.
        let infos = (0..self.count).map(|index| unsafe { self.read(start, index) });
        hot.note_immutables(layout, self.target, infos);
    }

    /// # Safety
    ///
    /// `start` is where the data of the run begins.
    #[inline(never)]
    unsafe fn conflicts(&self, gate: &Gate, start: *const u8) -> bool {
        let infos = start.cast::<DescriptorImageInfo>();
        if self.count == 0 {
            return false;
        }
        if self.stride == size_of::<DescriptorImageInfo>() && infos.is_aligned() {
            // SAFETY: the template describes `count` infos without gaps, and they are aligned.
            return gate.first_conflict(unsafe { std::slice::from_raw_parts(infos, self.count) }).is_some();
        }
        (0..self.count).any(|index| {
            // SAFETY: below the count.
            let info = unsafe { self.read(start, index) };
            gate.conflict(info.sampler, info.image_view).is_some()
        })
    }
}
