//! The layer's own copies of set layouts, pipeline layouts and render passes: made where one is needed, and gone when nothing that is
//! defined so is left.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory;

use super::Separate;
use super::definitions::Own;
use super::layouts::{PipelineShape, SetShape, Twin};
use super::passes::RenderPass;
use super::programs::Program;
use crate::device::driver::Driver;
use crate::kept::RenderPassInfo;
use crate::table::lock;

/// The layer's own object of a definition, made where there is none yet; the one of two that are made at once which comes later is
/// destroyed again.
fn twin(kept: &Twin, own: &Mutex<Own>, make: impl FnOnce() -> Option<u64>, destroy: impl Fn(u64)) -> Option<u64> {
    let twin = kept.load(Ordering::Acquire);
    if twin != 0 {
        return Some(twin);
    }
    let made = make()?;
    if let Err(other) = kept.compare_exchange(0, made, Ordering::AcqRel, Ordering::Acquire) {
        destroy(made);
        return Some(other);
    }
    let gone = lock(own).add(kept);
    gone.into_iter().for_each(destroy);
    Some(made)
}

impl Separate {
    /// A set layout of the layer's own that is defined like `shape`; none if that is not known, if it names a sampler that is gone, or if
    /// the driver refuses.
    pub(super) fn twin_of_set(&self, driver: &Driver, shape: &SetShape) -> Option<vk::DescriptorSetLayout> {
        if !shape.is_known || shape.is_dead() {
            return None;
        }
        let make = || {
            let create = driver.fns.create_descriptor_set_layout?;
            let mut made = vk::DescriptorSetLayout::null();
            let result = shape.kept.with_create_info(|info| {
                // SAFETY: a create info equal to one that the driver accepted, or one of plain samplers; none of its immutable samplers was
                // destroyed, which `is_dead` would say.
                unsafe { create(driver.handle, info, std::ptr::null(), &mut made) }
            });
            (result == vk::Result::SUCCESS).then(|| made.as_raw())
        };
        let made = twin(&shape.twin, &self.layouts.own_sets, make, |made| driver.destroy_set_layout(made))?;
        Some(vk::DescriptorSetLayout::from_raw(made))
    }

    /// Set layouts of the layer's own that are defined like those of `shape`.
    pub(super) fn twins_of_sets(&self, driver: &Driver, shape: &PipelineShape) -> Option<Vec<vk::DescriptorSetLayout>> {
        let mut sets = memory::vec(shape.sets.len());
        for set in &shape.sets {
            sets.push(match set {
                Some(set) => self.twin_of_set(driver, set)?,
                None => vk::DescriptorSetLayout::null(),
            });
        }
        Some(sets)
    }

    /// A pipeline layout of the layer's own that is defined like `shape`.
    pub(super) fn twin_of_pipeline(&self, driver: &Driver, shape: &PipelineShape) -> Option<vk::PipelineLayout> {
        let make = || {
            let (create, kept) = (driver.fns.create_pipeline_layout?, shape.kept.as_ref()?);
            let sets = self.twins_of_sets(driver, shape)?;
            let mut made = vk::PipelineLayout::null();
            let result = kept.with_create_info(&sets, |info| {
                // SAFETY: equal to a create info that the driver accepted but for the set layouts, which are defined alike, and for one
                // more at the end, within the device's limits.
                unsafe { create(driver.handle, info, std::ptr::null(), &mut made) }
            });
            (result == vk::Result::SUCCESS).then(|| made.as_raw())
        };
        let made = twin(&shape.twin, &self.layouts.own_pipelines, make, |made| driver.destroy_pipeline_layout(made))?;
        Some(vk::PipelineLayout::from_raw(made))
    }

    /// A pipeline layout of the layer's own that is compatible with `shape` for the set of a number, and what keeps it. If the driver
    /// refuses to make it, that of another pipeline: what the layer has bound there was bound with one, whose pipeline lives as long
    /// as the command buffer is of use.
    pub(super) fn twin_for_set(
        &self,
        driver: &Driver,
        shape: &PipelineShape,
        number: usize,
    ) -> Option<(vk::PipelineLayout, Option<Arc<PipelineShape>>)> {
        if let Some(twin) = self.twin_of_pipeline(driver, shape) {
            return Some((twin, None));
        }
        let mut found = None;
        let mut look = |program: &Program| {
            let layout = &program.layout;
            if found.is_none() && layout.is_compatible(shape, number) && layout.twin.load(Ordering::Acquire) != 0 {
                found = Some(Arc::clone(layout));
            }
        };
        self.programs.for_each(&mut look);
        self.shaders.for_each_combination(&mut look);
        let twin = found.as_ref().map(|layout| vk::PipelineLayout::from_raw(layout.twin.load(Ordering::Acquire)));
        Some((twin?, found))
    }

    /// Destroys the layouts of the layer's own: for the end of the device.
    pub(super) fn destroy_twins(&self, driver: &Driver) {
        let pipelines = std::mem::take(&mut *lock(&self.layouts.own_pipelines));
        pipelines.twins.iter().for_each(|twin| driver.destroy_pipeline_layout(twin.load(Ordering::Acquire)));
        let sets = std::mem::take(&mut *lock(&self.layouts.own_sets));
        sets.twins.iter().for_each(|twin| driver.destroy_set_layout(twin.load(Ordering::Acquire)));
    }

    /// A render pass of the layer's own that is defined like the application's, and so compatible with it; null for none, and nothing if
    /// the driver refuses.
    pub(super) fn twin_of_pass(&self, driver: &Driver, pass: Option<&RenderPass>) -> Option<vk::RenderPass> {
        let Some(pass) = pass else { return Some(vk::RenderPass::null()) };
        let make = || {
            let (mut made, none) = (vk::RenderPass::null(), std::ptr::null());
            let result = pass.kept.as_ref().ok()?.with_create_info(|info| match info {
                // SAFETY: a create info equal to one that the driver accepted.
                RenderPassInfo::First(info) => unsafe {
                    driver.fns.create_render_pass.map(|create| create(driver.handle, info, none, &mut made))
                },
                // SAFETY: as above.
                RenderPassInfo::Second(info) => unsafe {
                    driver.fns.create_render_pass2.map(|create| create(driver.handle, info, none, &mut made))
                },
            });
            (result == Some(vk::Result::SUCCESS)).then(|| made.as_raw())
        };
        let made = twin(&pass.twin, &self.own_passes, make, |made| driver.destroy_pass(made))?;
        Some(vk::RenderPass::from_raw(made))
    }

    /// Destroys the render passes of the layer's own: for the end of the device.
    pub(super) fn destroy_passes(&self, driver: &Driver) {
        let own = std::mem::take(&mut *lock(&self.own_passes));
        own.twins.iter().for_each(|twin| driver.destroy_pass(twin.load(Ordering::Acquire)));
    }
}

impl Driver {
    fn destroy_set_layout(&self, layout: u64) {
        if let Some(destroy) = self.fns.destroy_descriptor_set_layout {
            // SAFETY: made by `twin_of_set` with a NULL allocator; nobody has seen it, its shape is gone, with which any command that uses it
            // would be at work, or the device is about to end.
            unsafe { destroy(self.handle, Handle::from_raw(layout), std::ptr::null()) };
        }
    }

    fn destroy_pipeline_layout(&self, layout: u64) {
        if let Some(destroy) = self.fns.destroy_pipeline_layout {
            // SAFETY: made by `twin_of_pipeline` with a NULL allocator; nobody has seen it, its shape is gone, with which any command that
            // uses it would be at work, or the device is about to end.
            unsafe { destroy(self.handle, Handle::from_raw(layout), std::ptr::null()) };
        }
    }

    fn destroy_pass(&self, pass: u64) {
        if let Some(destroy) = self.fns.destroy_render_pass {
            // SAFETY: made by `twin_of_pass` with a NULL allocator; nobody has seen it, and what it was made of is gone, with which any
            // command that uses it would be at work, or the device is about to end.
            unsafe { destroy(self.handle, Handle::from_raw(pass), std::ptr::null()) };
        }
    }
}
