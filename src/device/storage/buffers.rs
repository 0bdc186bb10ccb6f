//! Views of storage texel buffers.

use ash::vk::{self, FormatFeatureFlags2 as Feature, Handle};
use samplin_core::left::Cause;
use samplin_core::storage::{self, lowers};

use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::shown::OWN;
use crate::device::storage::Storage;

impl Storage {
    /// Remembers a buffer whose views may be stored to.
    pub fn insert_buffer(&self, buffer: vk::Buffer, usage: u64) {
        if usage & u64::from(vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()) != 0 {
            self.buffers.insert(buffer.as_raw(), usage);
        }
    }

    /// Forgets a buffer.
    pub fn forget_buffer(&self, buffer: vk::Buffer) {
        self.buffers.remove(buffer.as_raw());
    }

    /// Makes a view of a buffer and what stands in for it; none if it is nothing to store to. `stated`: the usage that its chain states,
    /// if it has one and nothing else.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkCreateBufferView`.
    pub unsafe fn make_buffer_view(
        &self,
        ground: &Ground,
        create: vk::PFN_vkCreateBufferView,
        info: &vk::BufferViewCreateInfo<'_>,
        stated: Option<u64>,
        allocator: *const vk::AllocationCallbacks<'_>,
        view: *mut vk::BufferView,
    ) -> Option<vk::Result> {
        let stores = u64::from(vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw());
        let reads = u64::from(vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw());
        let usage = stated.unwrap_or_else(|| self.buffers.get(info.buffer.as_raw()));
        if usage & stores == 0 || !lowers(self.lowered.buffers, info.format) {
            return None;
        }
        let alias = storage::alias(info.format)?;
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        let features = unsafe { ground.driver.formats.get(&ground.driver.instance_fns, info.format) }?.buffer;
        let down = vk::BufferViewCreateInfo { p_next: std::ptr::null(), format: alias, ..*info };
        if usage & reads == 0 || !features.contains(Feature::UNIFORM_TEXEL_BUFFER) {
            // SAFETY: the application's own arguments but for a format of the same size, which can be stored.
            let result = unsafe { create(ground.driver.handle, &down, allocator, view) };
            if result == vk::Result::SUCCESS {
                // SAFETY: the call set it.
                let given = unsafe { *view }.as_raw();
                self.enter_view(ground, &self.buffer_views, vk::DescriptorType::STORAGE_TEXEL_BUFFER, given, OWN);
            }
            return Some(result);
        }
        let only = vk::BufferUsageFlags2CreateInfoKHR {
            usage: vk::BufferUsageFlags2KHR::from_raw(reads),
            ..Default::default()
        };
        let mut own = *info;
        if self.buffer_usage {
            own.p_next = (&raw const only).cast();
        } else {
            ground.view_unresolved(Cause::ReadOnlyBuffer, info.format);
        }
        // SAFETY: the application's own arguments, but for a part of the usage.
        let result = unsafe { create(ground.driver.handle, &own, allocator, view) };
        if result != vk::Result::SUCCESS {
            return Some(result);
        }
        let mut stored = vk::BufferView::null();
        // SAFETY: as the first, with a format of the same size; the view is the layer's own.
        let made = unsafe { create(ground.driver.handle, &down, std::ptr::null(), &mut stored) };
        // SAFETY: the first call set it.
        let given = unsafe { *view }.as_raw();
        let stands_in = if made == vk::Result::SUCCESS { stored.as_raw() } else { self.nothing() };
        self.enter_view(ground, &self.buffer_views, vk::DescriptorType::STORAGE_TEXEL_BUFFER, given, stands_in);
        if made != vk::Result::SUCCESS {
            ground.view_unresolved(Cause::ViewUnmade, info.format);
        }
        Some(result)
    }

    /// Forgets what stands in for a view of a buffer, which goes with it.
    pub fn forget_buffer_view(&self, hot: &Hot, driver: &Driver, view: vk::BufferView) {
        let (table, ty) = (&self.buffer_views, vk::DescriptorType::STORAGE_TEXEL_BUFFER);
        let alias = self.leave_table(hot, table, ty, view.as_raw());
        if let (1..OWN, Some(destroy)) = (alias, driver.fns.destroy_buffer_view) {
            // SAFETY: made by `make_buffer_view` with a NULL allocator, and used by nothing that does not use the application's view,
            // which is about to be destroyed (VUID-vkDestroyBufferView-bufferView-00936).
            unsafe { destroy(driver.handle, vk::BufferView::from_raw(alias), std::ptr::null()) };
        }
    }
}
