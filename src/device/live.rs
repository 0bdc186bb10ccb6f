//! What a hook knows by the valid usage of its command, said once: what takes one of these is safe.

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use ash::vk::{self, Handle};

use super::types;
use crate::pnext::{self, slice};
use crate::table::HandleMap;

/// A handle that is null, or alive as long as `'c`: the application destroys, frees or resets nothing of it meanwhile, so that what is
/// kept of it stays.
#[derive(Clone, Copy)]
pub struct Live<'c, T> {
    handle: T,
    during: PhantomData<&'c ()>,
}

impl<'c, T: Handle + Copy> Live<'c, T> {
    /// # Safety
    ///
    /// `handle` is null, or it is not destroyed, freed or reset before `'c` ends.
    #[inline(always)]
    pub unsafe fn new(handle: T) -> Self {
        Self { handle, during: PhantomData }
    }

    /// Those of an array.
    ///
    /// # Safety
    ///
    /// As for [`Live::new`], of each.
    #[inline(always)]
    pub unsafe fn all(handles: &'c [T]) -> &'c [Self] {
        // SAFETY: a handle and nothing else, see the assertion below; each is alive by this function's contract.
        unsafe { std::slice::from_raw_parts(handles.as_ptr().cast(), handles.len()) }
    }

    /// The handle.
    #[inline(always)]
    pub fn handle(self) -> T {
        self.handle
    }

    /// The handle as a number.
    #[inline(always)]
    pub(super) fn as_raw(self) -> u64 {
        self.handle.as_raw()
    }

    /// What is kept of it.
    #[inline(always)]
    pub(super) fn of<E>(self, map: &'c HandleMap<E>) -> Option<&'c E> {
        // SAFETY: the handle is not removed before `'c` ends, since it lives that long.
        unsafe { map.get(self.as_raw()) }
    }

    /// [`Live::of`], for leaf hooks.
    #[inline(always)]
    pub(super) fn of_in_line<E>(self, map: &'c HandleMap<E>) -> Option<&'c E> {
        // SAFETY: the handle is not removed before `'c` ends, since it lives that long.
        unsafe { map.get_in_line(self.as_raw()) }
    }

    /// A share of what is kept of it.
    #[inline(always)]
    pub(super) fn share<E>(self, map: &HandleMap<E>) -> Option<Arc<E>> {
        // SAFETY: the handle is not removed during this call, since it lives longer.
        unsafe { map.share(self.as_raw()) }
    }
}

const _: () = assert!(size_of::<Live<'_, vk::DescriptorSet>>() == size_of::<vk::DescriptorSet>());

/// A command buffer in the recording state that nobody else uses as long as `'c`. What is bound in it is not destroyed meanwhile either,
/// as that would invalidate it (Command Buffer Lifecycle).
#[derive(Clone, Copy)]
pub struct Recording<'c>(Live<'c, vk::CommandBuffer>);

impl<'c> Recording<'c> {
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state until `'c` ends, which is externally synchronised.
    #[inline(always)]
    pub unsafe fn new(commands: vk::CommandBuffer) -> Self {
        // SAFETY: a command buffer that is recording is not freed, by this function's contract.
        Self(unsafe { Live::new(commands) })
    }

    /// The command buffer.
    #[inline(always)]
    pub(super) fn handle(self) -> vk::CommandBuffer {
        self.0.handle
    }

    /// It is alive.
    #[inline(always)]
    pub fn live(self) -> Live<'c, vk::CommandBuffer> {
        self.0
    }
}

/// A queue that is being submitted to, so that nobody else uses it.
#[derive(Clone, Copy)]
pub struct Submitting<'c>(Live<'c, vk::Queue>);

impl Submitting<'_> {
    /// # Safety
    ///
    /// `queue` is a valid queue until `'c` ends, which is externally synchronised.
    pub unsafe fn new(queue: vk::Queue) -> Self {
        // SAFETY: the queue is valid until the lifetime ends, by this function's contract.
        Self(unsafe { Live::new(queue) })
    }

    /// The queue.
    pub(super) fn handle(self) -> vk::Queue {
        self.0.handle
    }
}

/// A text that is null or null-terminated, as long as `'c`.
#[derive(Clone, Copy, Debug)]
pub struct Text<'c> {
    start: *const c_char,
    during: PhantomData<&'c ()>,
}

impl Text<'_> {
    /// # Safety
    ///
    /// `start` is null or null-terminated until the lifetime ends.
    pub unsafe fn new(start: *const c_char) -> Self {
        Self { start, during: PhantomData }
    }

    /// Its bytes but for the terminator.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        let mut at = self.start.cast::<u8>();
        std::iter::from_fn(move || {
            // SAFETY: no byte before this one was the terminator, so this one is readable.
            let byte = if at.is_null() { 0 } else { unsafe { *at } };
            at = at.wrapping_add(1);
            (byte != 0).then_some(byte)
        })
        .fuse()
    }
}

/// Writes of a valid command: their sets are alive, and each has as many elements as it says.
#[derive(Clone, Copy)]
pub struct Writes<'c>(&'c [vk::WriteDescriptorSet<'c>]);

impl<'c> Writes<'c> {
    /// # Safety
    ///
    /// The writes are those of a valid update or push that ends after `'c`.
    #[inline(always)]
    pub unsafe fn new(writes: &'c [vk::WriteDescriptorSet<'c>]) -> Self {
        Self(writes)
    }

    /// One after the other.
    #[inline(always)]
    pub(super) fn each(self) -> impl Iterator<Item = Write<'c>> {
        self.0.iter().map(Write)
    }
}

/// A write of a valid command.
#[derive(Clone, Copy)]
pub struct Write<'c>(&'c vk::WriteDescriptorSet<'c>);

impl<'c> Write<'c> {
    /// # Safety
    ///
    /// As for [`Writes::new`].
    #[inline(always)]
    pub unsafe fn new(write: &'c vk::WriteDescriptorSet<'c>) -> Self {
        Self(write)
    }

    /// The set that is written to, if it is no push.
    #[inline(always)]
    pub(super) fn set(self) -> Live<'c, vk::DescriptorSet> {
        // SAFETY: a set that a command names is not freed meanwhile.
        unsafe { Live::new(self.0.dst_set) }
    }

    /// Its infos, if descriptors of its type have some. An array that nobody may read is of no length.
    #[inline(always)]
    pub(super) fn images(self) -> &'c [vk::DescriptorImageInfo] {
        if !types::has_images(self.descriptor_type) {
            return &[];
        }
        // SAFETY: as many as the write says (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493, and for pushes
        // VUID-VkWriteDescriptorSet-descriptorType-00322).
        unsafe { slice(self.0.p_image_info, self.0.descriptor_count) }
    }

    /// Its buffers, if it has some.
    pub(super) fn buffers(self) -> &'c [vk::DescriptorBufferInfo] {
        if !types::has_buffers(self.descriptor_type) {
            return &[];
        }
        // SAFETY: as many as the write says (VUID-VkWriteDescriptorSet-descriptorType-00324).
        unsafe { slice(self.0.p_buffer_info, self.0.descriptor_count) }
    }

    /// Its views of buffers, if it has some.
    pub(super) fn texels(self) -> &'c [vk::BufferView] {
        if !types::has_texels(self.descriptor_type) {
            return &[];
        }
        // SAFETY: as many as the write says (VUID-VkWriteDescriptorSet-descriptorType-02994).
        unsafe { slice(self.0.p_texel_buffer_view, self.0.descriptor_count) }
    }

    /// Its acceleration structures; none if none are chained.
    pub(super) fn structures(self) -> Option<&'c [vk::AccelerationStructureKHR]> {
        // SAFETY: a structure that is chained to a valid write is whole, and its array as long as it says.
        unsafe {
            let chained = pnext::find::<vk::WriteDescriptorSetAccelerationStructureKHR<'_>>(self.0.p_next)?;
            Some(slice(chained.p_acceleration_structures, chained.acceleration_structure_count))
        }
    }
}

impl<'c> Deref for Write<'c> {
    type Target = vk::WriteDescriptorSet<'c>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

/// A copy of descriptors of a valid command.
#[derive(Clone, Copy)]
pub struct Copied<'c>(&'c vk::CopyDescriptorSet<'c>);

impl<'c> Copied<'c> {
    /// Those of an array.
    ///
    /// # Safety
    ///
    /// The copies are those of a valid update that ends after `'c`.
    pub unsafe fn all(copies: &'c [vk::CopyDescriptorSet<'c>]) -> impl Iterator<Item = Self> {
        copies.iter().map(Self)
    }

    /// The sets that it is from and to (VUID-VkCopyDescriptorSet-srcSet-parameter, -dstSet-parameter).
    pub(super) fn sets(self) -> [Live<'c, vk::DescriptorSet>; 2] {
        // SAFETY: sets that a command names are not freed meanwhile.
        [self.0.src_set, self.0.dst_set].map(|set| unsafe { Live::new(set) })
    }
}

impl<'c> Deref for Copied<'c> {
    type Target = vk::CopyDescriptorSet<'c>;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

/// An update template and data that is valid for it.
#[derive(Clone, Copy)]
pub struct Filled<'c> {
    template: Live<'c, vk::DescriptorUpdateTemplate>,
    data: *const c_void,
}

impl<'c> Filled<'c> {
    /// # Safety
    ///
    /// `data` is valid for the template until `'c` ends.
    #[inline(always)]
    pub unsafe fn new(template: Live<'c, vk::DescriptorUpdateTemplate>, data: *const c_void) -> Self {
        Self { template, data }
    }

    /// The template.
    #[inline(always)]
    pub(super) fn template(self) -> Live<'c, vk::DescriptorUpdateTemplate> {
        self.template
    }

    /// The data.
    pub(super) fn data(self) -> *const c_void {
        self.data
    }
}
