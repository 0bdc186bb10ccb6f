//! The part of a device's record that the hooks read, and what of templates and of the rest of the layer is in it.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use ash::vk;

use crate::choices::{Choices, Pair};
use crate::counters::{Counters, Path};
use crate::gate::Gate;
use crate::layout::SetLayout;
use crate::table::HandleMap;

/// The commands of the layer below.
#[derive(Clone, Copy, Default)]
#[expect(missing_docs, reason = "each field is the command of that name")]
pub struct Next {
    pub update_descriptor_sets: Option<vk::PFN_vkUpdateDescriptorSets>,
    pub cmd_push_descriptor_set: Option<vk::PFN_vkCmdPushDescriptorSetKHR>,
    pub update_descriptor_set_with_template: Option<vk::PFN_vkUpdateDescriptorSetWithTemplate>,
}

/// What the rest of the layer does.
#[derive(Clone, Copy)]
pub struct Rest {
    /// `vkUpdateDescriptorSetWithTemplate` with everything that it can be given.
    pub update_descriptor_set_with_template: vk::PFN_vkUpdateDescriptorSetWithTemplate,
    /// Chooses for a pair without a choice. The first argument is the device record given to [`insert`](super::insert).
    ///
    /// # Safety
    ///
    /// The device record is alive.
    pub resolve: unsafe fn(*const c_void, Pair, Path) -> u64,
    /// Takes note of an immutable sampler that conflicts with its view, and [settles](Choices::settle) it. The first argument is
    /// the device record.
    ///
    /// # Safety
    ///
    /// The device record is alive.
    pub immutable: unsafe fn(*const c_void, Pair),
    /// Says that separate samplers meet their images in the shader only. The argument is the device record.
    ///
    /// # Safety
    ///
    /// The device record is alive.
    pub separate: unsafe fn(*const c_void),
}

/// One run of combined image samplers in the data of an update template.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// `offset` of the entry.
    pub offset: usize,
    /// `stride` of the entry.
    pub stride: usize,
    /// `descriptorCount` of the entry.
    pub count: usize,
    /// `dstBinding` and `dstArrayElement` of the entry.
    pub target: (u32, u32),
}

/// What is kept of a template with combined image samplers.
pub struct Template {
    /// Its combined image samplers.
    pub runs: Box<[Run]>,
    /// Their number.
    pub seen: u64,
    /// Nothing but one tightly packed run at the start of the data.
    pub plain: bool,
    /// Layout with immutable samplers of the sets that it is for.
    pub layout: Option<Arc<SetLayout>>,
    /// Whatever the rest of the layer keeps.
    pub detail: Box<dyn std::any::Any + Send + Sync>,
}

/// The part of a device's record that is needed for each descriptor. It is the first member of that record.
#[repr(C)]
pub struct Hot {
    /// Samplers and views, and which of them conflict.
    pub gate: Gate,
    /// The choices by state and class.
    pub choices: Choices,
    /// Counters of descriptors.
    pub counters: Counters,
    /// Whether a set layout with immutable samplers was ever created.
    pub has_immutables: AtomicBool,
    /// Whether it was said that separate samplers meet their images in the shader only.
    pub separate_said: AtomicBool,
    /// Update templates with combined image samplers.
    pub templates: HandleMap<Template>,
    /// Sets of layouts with immutable samplers.
    pub sets: HandleMap<SetLayout>,
    /// Pipeline layouts with such a set layout: one entry per set.
    pub pipeline_layouts: HandleMap<Vec<Option<Arc<SetLayout>>>>,
    pub(super) next: Next,
    pub(super) rest: Rest,
    /// The whole record, as given to [`insert`](super::insert): a reference to this part of it must not be made into one.
    record: AtomicPtr<c_void>,
}

impl Hot {
    /// The record of a device without objects.
    pub fn new(gate: Gate, next: Next, rest: Rest) -> Self {
        Self {
            gate,
            choices: Choices::default(),
            counters: Counters::new(),
            has_immutables: AtomicBool::new(false),
            separate_said: AtomicBool::new(false),
            templates: HandleMap::new(),
            sets: HandleMap::new(),
            pipeline_layouts: HandleMap::new(),
            next,
            rest,
            record: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Says once that separate samplers meet their images in the shader only.
    #[inline(always)]
    pub fn separate_seen(&self) {
        if !self.separate_said.load(Ordering::Relaxed) && !self.separate_said.swap(true, Ordering::Relaxed) {
            // SAFETY: this part of the record was borrowed from the whole one, which is therefore alive.
            unsafe { (self.rest.separate)(self.record()) };
        }
    }

    /// Says which record this is the start of.
    pub(super) fn is_part_of(&self, record: *const c_void) {
        self.record.store(record.cast_mut(), Ordering::Release);
    }

    /// The whole record, null before [`insert`](super::insert).
    pub(super) fn record(&self) -> *const c_void {
        self.record.load(Ordering::Acquire).cast_const()
    }
}
