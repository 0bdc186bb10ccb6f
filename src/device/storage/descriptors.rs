//! Descriptors of storage images and storage texel buffers: what shaders store through goes into them in place of the application's
//! views. The leaf hooks call this without a guard, so nothing here can panic.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};
use samplin_core::storage::lowers;
use serde_json::json;

use super::{LOST, NOTHING};
use crate::decide::Rule;
use crate::device::Device;
use crate::device::types::type_bit;
use crate::names;
use crate::table::FlatTable;

/// The types of descriptors that are stored to.
const TYPES: u32 = type_bit(vk::DescriptorType::STORAGE_IMAGE) | type_bit(vk::DescriptorType::STORAGE_TEXEL_BUFFER);

/// Writes with other views, and the infos and views that they point to.
pub(in crate::device) struct Aliased<'a> {
    writes: Vec<WriteDescriptorSet<'a>>,
    elements: Vec<MaybeUninit<u64>>,
}

impl Drop for Aliased<'_> {
    /// Apart, since every hook that writes descriptors has it at each of its ends.
    #[inline(never)]
    fn drop(&mut self) {
        (self.writes, self.elements) = Default::default();
    }
}

impl<'a> Aliased<'a> {
    pub(in crate::device) fn writes(&self) -> *const WriteDescriptorSet<'a> {
        self.writes.as_ptr()
    }
}

/// Elements of a template that are stored to: views of images at these places of the data, or of buffers.
pub(in crate::device) struct ElementsOf {
    /// Offset of the first, distance to the next, and how many.
    pub(in crate::device) at: (usize, usize, usize),
    pub(in crate::device) is_buffer: bool,
}

/// What a write stores to: where its elements are, how many words each has, and what they are; none if it is of another type than those
/// that are watched.
fn stored(write: &WriteDescriptorSet<'_>, watched: u32) -> Option<(*const u64, usize, ElementsOf)> {
    let is_watched = |ty| watched & type_bit(ty) != 0;
    let (elements, size, is_buffer): (*const u64, usize, bool) = match write.descriptor_type {
        vk::DescriptorType::STORAGE_IMAGE if is_watched(vk::DescriptorType::STORAGE_IMAGE) => {
            (write.p_image_info.cast(), size_of::<DescriptorImageInfo>(), false)
        }
        vk::DescriptorType::STORAGE_TEXEL_BUFFER if is_watched(vk::DescriptorType::STORAGE_TEXEL_BUFFER) => {
            (write.p_texel_buffer_view.cast(), size_of::<vk::BufferView>(), true)
        }
        _ => return None,
    };
    // An array that nobody may read is of no length, as everywhere.
    if elements.is_null() {
        return None;
    }
    let at = (0, size, write.descriptor_count as usize);
    Some((elements, size / size_of::<u64>(), ElementsOf { at, is_buffer }))
}

// Both are made of whole words.
const _: () = assert!(size_of::<DescriptorImageInfo>().is_multiple_of(8) && size_of::<vk::BufferView>() == 8);

impl Device {
    /// Whether any view is stored to through another one, or cannot be stored to any more.
    #[inline(always)]
    pub(in crate::device) fn stores_elsewhere(&self) -> bool {
        self.hot.watched() & TYPES != 0
    }

    /// What a descriptor gets in place of a view; the view itself if nothing stands in for it.
    fn stands_in(&self, table: &FlatTable, view: u64) -> u64 {
        match table.get(view) {
            0 => view,
            NOTHING => 0,
            LOST => {
                if std::ptr::eq(table, &raw const self.storage.views) {
                    self.tell_of_lost(view);
                }
                view
            }
            alias => alias,
        }
    }

    /// Says of the class of a view that one is stored to which cannot be.
    #[cold]
    fn tell_of_lost(&self, view: u64) {
        self.guard(
            || {
                let number = self.class_of(view);
                if let Some(class) = self.class((number as u32).wrapping_sub(1)) {
                    self.storage.lost_classes.insert(number, 1);
                    let why = "a view whose format cannot be stored is written to a descriptor of a storage image, and no other view \
                               stands in for it";
                    let (format, view_type) = (class.traits.format, class.traits.view_type);
                    let members = json!({ "format": names::format(format), "view_type": names::view_type(view_type) });
                    self.unresolved("storage-view", why, Some(Rule::ViewUsage), members, (number, 1));
                }
                if self.storage.views.remove(view) == LOST {
                    self.found_lost();
                }
            },
            || (),
        );
    }

    /// Looks for one view less that nothing stands in for; where there is nothing else to look for, nobody looks any more.
    pub(super) fn found_lost(&self) {
        let lost = &self.storage.lost;
        let is_last = lost.fetch_sub(1, Ordering::AcqRel) == 1 && self.storage.lowered.images == 0;
        if is_last && self.hot.unwatch(vk::DescriptorType::STORAGE_IMAGE) && lost.load(Ordering::Acquire) != 0 {
            // Another one came meanwhile.
            self.hot.watch(type_bit(vk::DescriptorType::STORAGE_IMAGE));
        }
    }

    /// The writes with other views, if one needs another one and there is memory for copies.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(never)]
    pub(in crate::device) unsafe fn aliased_writes<'a>(
        &self,
        count: u32,
        writes: *const WriteDescriptorSet<'a>,
    ) -> Option<Aliased<'a>> {
        // SAFETY: `count` valid writes by this function's contract.
        let given = unsafe { crate::hooks::slice(writes, count) };
        let watched = self.hot.watched();
        let (mut words, mut differs) = (0, false);
        for (elements, size, of) in given.iter().filter_map(|write| stored(write, watched)) {
            words += size * of.at.2;
            // SAFETY: a valid write has as many infos or views as it says (VUID-VkWriteDescriptorSet-descriptorType-02994 and -02996).
            differs = differs || unsafe { self.differs(&[of], elements.cast()) };
        }
        if !differs {
            return None;
        }
        let mut aliased = Aliased { writes: Vec::new(), elements: Vec::new() };
        aliased.writes.try_reserve_exact(given.len()).ok()?;
        aliased.elements.try_reserve_exact(words).ok()?;
        let mut to = aliased.elements.as_mut_ptr().cast::<u64>();
        for write in given {
            let mut copy = *write;
            if let Some((elements, size, of)) = stored(write, watched) {
                let length = size * of.at.2;
                // SAFETY: as many words as the write has, for which room was reserved, and which nobody else has seen.
                unsafe {
                    std::ptr::copy_nonoverlapping(elements, to, length);
                    self.exchange_stored(&[of], to.cast());
                }
                (copy.p_image_info, copy.p_texel_buffer_view) = (to.cast_const().cast(), to.cast_const().cast());
                to = to.wrapping_add(length);
            }
            aliased.writes.push(copy);
        }
        Some(aliased)
    }

    /// Whether an element of a template's data needs another view.
    ///
    /// # Safety
    ///
    /// `data` has the elements.
    pub(in crate::device) unsafe fn differs(&self, elements: &[ElementsOf], data: *const c_void) -> bool {
        let mut differs = false;
        // SAFETY: `data` has the elements by this function's contract; nothing is written.
        unsafe { self.each_element(elements, data, |_, view, other| differs = differs || view != other) };
        differs
    }

    /// Puts other views into a copy of a template's data.
    ///
    /// # Safety
    ///
    /// `copy` has the elements and may be written.
    #[inline(never)]
    pub(in crate::device) unsafe fn exchange_stored(&self, elements: &[ElementsOf], copy: *mut u8) {
        // SAFETY: the copy has the elements by this function's contract, each of which is a handle of 64 bits.
        unsafe {
            self.each_element(elements, copy.cast_const().cast(), |at, _, other| {
                copy.wrapping_add(at).cast::<u64>().write_unaligned(other);
            });
        }
    }

    /// Calls `with` for the place of each handle, the handle, and what it is to be.
    ///
    /// # Safety
    ///
    /// `data` has the elements.
    unsafe fn each_element(&self, elements: &[ElementsOf], data: *const c_void, mut with: impl FnMut(usize, u64, u64)) {
        for ElementsOf { at: (offset, stride, count), is_buffer } in elements {
            let inside = if *is_buffer { 0 } else { std::mem::offset_of!(DescriptorImageInfo, image_view) };
            let table = if *is_buffer { &self.storage.buffer_views } else { &self.storage.views };
            for index in 0..*count {
                let at = offset.wrapping_add(index.wrapping_mul(*stride)).wrapping_add(inside);
                // SAFETY: `data` has an element there; alignment is not promised. Handles that are not dispatchable have 64 bits.
                let view = unsafe { data.cast::<u8>().wrapping_add(at).cast::<u64>().read_unaligned() };
                with(at, view, self.stands_in(table, view));
            }
        }
    }

    /// Says of a template that its data cannot be copied, so that views in it are the application's.
    pub(in crate::device) fn template_unresolved(&self) {
        self.guard(
            || {
                let why = "the data of an update template is too large to be copied, or has elements of unknown size or that share bytes";
                self.unresolved("storage-template", why, Some(Rule::StorageFormat), json!({}), (0, 0));
            },
            || (),
        );
    }

    /// The view that a descriptor of a storage image gets.
    pub fn stored_view(&self, view: vk::ImageView) -> vk::ImageView {
        if self.stores_elsewhere() {
            vk::ImageView::from_raw(self.stands_in(&self.storage.views, view.as_raw()))
        } else {
            view
        }
    }

    /// The format that a descriptor of a storage texel buffer gets, which has no view.
    pub fn stored_format(&self, format: vk::Format) -> vk::Format {
        let lowered = lowers(self.storage.lowered.buffers, format);
        samplin_core::storage::alias(format).filter(|_| lowered).unwrap_or(format)
    }
}
