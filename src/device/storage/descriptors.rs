//! Descriptors that show another view than the one that they are written with: storage images and storage texel buffers what shaders store
//! through, and those that shaders read one aspect of a view with two. The leaf hooks call this without a guard, so nothing here can panic.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};
use samplin_core::left::{Cause, Left};
use samplin_core::storage::lowers;
use serde_json::Value as Json;

use super::formatless::of_view;
use crate::decide::Rule;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::images::Images;
use crate::device::journal::Journal;
use crate::device::shown::{ElementsOf, LOST, NOTHING, OWN, StandIn};
use crate::device::stand_ins::StandIns;
use crate::device::storage::Storage;
use crate::device::types::type_bit;

/// Writes and words of elements that are copied on the stack.
const WRITES: usize = 4;
const WORDS: usize = 64;

/// Room for writes with other views, and for the infos and views that they point to: on the stack if they are few.
pub(in crate::device) struct Room<'a> {
    few: ([MaybeUninit<WriteDescriptorSet<'a>>; WRITES], [MaybeUninit<u64>; WORDS]),
    many: (Vec<WriteDescriptorSet<'a>>, Vec<u64>),
}

impl Room<'_> {
    #[inline(always)]
    pub(in crate::device) fn new() -> Self {
        Self {
            few: ([const { MaybeUninit::uninit() }; _], [const { MaybeUninit::uninit() }; _]),
            many: Default::default(),
        }
    }
}

/// What a write stores to: where its elements are, how many bytes they have, and what they are; none if it is of another type than those
/// that are watched.
fn stored(write: &WriteDescriptorSet<'_>, watched: u32) -> Option<(*const u8, usize, ElementsOf)> {
    if watched & type_bit(write.descriptor_type) == 0 {
        return None;
    }
    let shown = StandIn::of(write.descriptor_type)?;
    let (elements, size): (*const u8, usize) = match shown {
        StandIn::Stored | StandIn::Read => (write.p_image_info.cast(), size_of::<DescriptorImageInfo>()),
        StandIn::Buffer => (write.p_texel_buffer_view.cast(), size_of::<vk::BufferView>()),
    };
    // An array that nobody may read is of no length, as everywhere.
    if elements.is_null() {
        return None;
    }
    let count = write.descriptor_count as usize;
    // A valid write has its elements in memory, so their size is no overflow.
    let bytes = size.wrapping_mul(count);
    Some((elements, bytes, ElementsOf { at: (0, size, count), binding: write.dst_binding, shown }))
}

/// Words that hold so many bytes: infos of 32-bit processes are no whole words.
const fn words_of(bytes: usize) -> usize {
    bytes.div_ceil(size_of::<u64>())
}

// Copies of both start at a word.
const _: () = assert!(align_of::<DescriptorImageInfo>() <= 8 && align_of::<vk::BufferView>() <= 8);

impl Hot {
    /// Whether any view is stored to through another one or cannot be stored to any more, or is read through another one.
    #[inline(always)]
    pub fn exchanges_views(&self) -> bool {
        self.exchanged() != 0
    }
}

impl StandIns {
    /// What a descriptor gets in place of a view that the table says `found` of; the view itself if nothing stands in for it.
    fn stands_in(found: u64, view: u64) -> u64 {
        match found {
            0 | LOST | OWN => view,
            NOTHING => 0,
            alias => alias,
        }
    }

    /// Says what there is to be said of a view that the table says `found` of, and that is written to a binding, if it is known to which.
    #[inline(always)]
    fn shown_at(&self, ground: &Ground, images: &Images, found: u64, view: u64, binding: Option<u32>, shown: StandIn) {
        match (found, shown) {
            (0 | NOTHING, _) => {}
            (_, StandIn::Read) if !self.aspects.shows_less(view) => {}
            (_, StandIn::Read) => images.record_aspect(ground, view, vk::ImageAspectFlags::DEPTH),
            (LOST, _) => self.storage.first_stored_to(ground, images, LOST, view),
            (_, StandIn::Stored) => self.storage.stored_at(ground, images, ground.hot.class_of(view), binding),
            (_, StandIn::Buffer) => self.storage.stored_at(ground, images, 0, binding),
        }
    }

    /// Calls `with` with the writes, or copies with the views that their descriptors show.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    pub unsafe fn with_shown<'a>(
        &self,
        ground: &Ground,
        images: &Images,
        writes: &[WriteDescriptorSet<'a>],
        with: impl FnOnce(&[WriteDescriptorSet<'a>]),
    ) {
        if !ground.hot.exchanges_views() {
            return with(writes);
        }
        let mut room = Room::new();
        // SAFETY: valid writes by this function's contract; what comes back are as many, here or in the room.
        with(unsafe {
            let shown = self.aliased_writes(ground, images, writes.len() as u32, writes.as_ptr(), &mut room);
            std::slice::from_raw_parts(shown, writes.len())
        });
    }

    /// The writes, or copies with other views, if one needs another one and there is memory for copies.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(never)]
    pub(in crate::device) unsafe fn aliased_writes<'a>(
        &self,
        ground: &Ground,
        images: &Images,
        count: u32,
        writes: *const WriteDescriptorSet<'a>,
        room: &mut Room<'a>,
    ) -> *const WriteDescriptorSet<'a> {
        // SAFETY: `count` valid writes by this function's contract.
        let given = unsafe { crate::pnext::slice(writes, count) };
        let watched = ground.hot.exchanged();
        let (mut words, mut is_found) = (0, false);
        for (elements, bytes, of) in given.iter().filter_map(|write| stored(write, watched)) {
            words += words_of(bytes);
            // SAFETY: a valid write has as many infos or views as it says (VUID-VkWriteDescriptorSet-descriptorType-02994 and -02996).
            is_found = is_found || unsafe { self.finds(&[of], elements.cast()) };
        }
        if !is_found {
            return writes;
        }
        let (few, many) = (&mut room.few, &mut room.many);
        let (mut write_to, mut to) = if given.len() <= WRITES && words <= WORDS {
            (few.0.as_mut_ptr().cast(), few.1.as_mut_ptr().cast())
        } else {
            if many.0.try_reserve_exact(given.len()).is_err() || many.1.try_reserve_exact(words).is_err() {
                return writes;
            }
            (many.0.as_mut_ptr(), many.1.as_mut_ptr())
        };
        let (copies, mut differs) = (write_to.cast_const(), false);
        for write in given {
            let mut copy = *write;
            if let Some((elements, bytes, of)) = stored(write, watched) {
                // SAFETY: as many bytes as the write has, for which there is room, and which nobody else has seen.
                unsafe {
                    std::ptr::copy_nonoverlapping(elements, to.cast(), bytes);
                    differs |= self.exchange_stored(ground, images, &[of], elements.cast(), to.cast());
                }
                (copy.p_image_info, copy.p_texel_buffer_view) = (to.cast_const().cast(), to.cast_const().cast());
                to = to.wrapping_add(words_of(bytes));
            }
            // SAFETY: there is room for as many writes as were given.
            unsafe { write_to.write(copy) };
            write_to = write_to.wrapping_add(1);
        }
        if differs { copies } else { writes }
    }

    /// Whether there is anything to do or to say about an element of a template's data.
    ///
    /// # Safety
    ///
    /// `data` has the elements.
    pub(in crate::device) unsafe fn finds(&self, elements: &[ElementsOf], data: *const c_void) -> bool {
        // SAFETY: `data` has the elements by this function's contract.
        unsafe { self.each_element(elements, data, |_, _, _, _| ControlFlow::Break(())) }.is_break()
    }

    /// Puts other views into a copy of a template's data, if there is one, and says what there is to be said of them. Whether any differs.
    ///
    /// # Safety
    ///
    /// `data` has the elements, and so has the copy, which may be written, if it is not null.
    #[inline(never)]
    pub(in crate::device) unsafe fn exchange_stored(
        &self,
        ground: &Ground,
        images: &Images,
        elements: &[ElementsOf],
        data: *const c_void,
        copy: *mut u8,
    ) -> bool {
        let mut differs = false;
        let exchange = |of: &ElementsOf, at, view, found| {
            let other = Self::stands_in(found, view);
            self.shown_at(ground, images, found, view, Some(of.binding), of.shown);
            if other != view {
                differs = true;
                if !copy.is_null() {
                    // SAFETY: the copy has the elements by this function's contract, each of which is a handle of 64 bits.
                    unsafe { copy.wrapping_add(at).cast::<u64>().write_unaligned(other) };
                }
            }
            ControlFlow::Continue(())
        };
        // SAFETY: `data` has the elements by this function's contract.
        _ = unsafe { self.each_element(elements, data, exchange) };
        differs
    }

    /// Calls `with` for each handle that its table says something of: where it is, and what.
    ///
    /// # Safety
    ///
    /// `data` has the elements.
    unsafe fn each_element(
        &self,
        elements: &[ElementsOf],
        data: *const c_void,
        mut with: impl FnMut(&ElementsOf, usize, u64, u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for of in elements {
            let (offset, stride, count) = of.at;
            let (inside, table) = match of.shown {
                StandIn::Stored => (std::mem::offset_of!(DescriptorImageInfo, image_view), &self.storage.views),
                StandIn::Buffer => (0, &self.storage.buffer_views),
                StandIn::Read => (std::mem::offset_of!(DescriptorImageInfo, image_view), &self.aspects.depths),
            };
            for index in 0..count {
                let at = offset.wrapping_add(index.wrapping_mul(stride)).wrapping_add(inside);
                // SAFETY: `data` has an element there; alignment is not promised. Handles that are not dispatchable have 64 bits.
                let view = unsafe { data.cast::<u8>().wrapping_add(at).cast::<u64>().read_unaligned() };
                let found = table.get(view);
                if found != 0 {
                    with(of, at, view, found)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The view that a descriptor of an image shows.
    pub fn shown_view(
        &self,
        ground: &Ground,
        images: &Images,
        ty: vk::DescriptorType,
        view: vk::ImageView,
    ) -> vk::ImageView {
        let Some(shown) = StandIn::of(ty).filter(|_| ground.hot.exchanged() & type_bit(ty) != 0) else {
            return view;
        };
        let table = if shown == StandIn::Read { &self.aspects.depths } else { &self.storage.views };
        let (view, found) = (view.as_raw(), table.get_in_line(view.as_raw()));
        self.shown_at(ground, images, found, view, None, shown);
        vk::ImageView::from_raw(Self::stands_in(found, view))
    }
}

impl Storage {
    /// Says of the class of a view that one is stored to which cannot be, if it is `LOST`; else that a view is written to a binding for
    /// the first time, with the key of both.
    #[cold]
    #[inline(never)]
    pub(super) fn first_stored_to(&self, ground: &Ground, images: &Images, found: u64, what: u64) {
        ground.guard(
            || {
                if found == LOST {
                    self.record_lost_view(&ground.hot, &ground.journal, images, what)
                } else {
                    self.first_stored_at(&ground.journal, images, what)
                }
            },
            || (),
        );
    }

    fn record_lost_view(&self, hot: &Hot, journal: &Journal, images: &Images, view: u64) {
        let number = hot.class_of(view);
        if let Some(class) = images.class((number as u32).wrapping_sub(1)) {
            self.lost_classes.insert(number, 1);
            let (rule, members) = (Some(Rule::ViewUsage), of_view(&class.traits));
            journal.unresolved(Cause::StoredByDescriptor, rule, members, (number, 1));
        }
        self.leave_table(hot, &self.views, vk::DescriptorType::STORAGE_IMAGE, view);
    }

    /// The format that a descriptor of a storage texel buffer gets, which has no view.
    pub fn stored_format(&self, ground: &Ground, images: &Images, format: vk::Format) -> vk::Format {
        if !lowers(self.lowered.buffers, format) {
            return format;
        }
        self.stored_at(ground, images, 0, None);
        samplin_core::storage::alias(format).unwrap_or(format)
    }
}

impl Ground {
    /// Says of a template that its data cannot be copied, so that views in it are the application's.
    pub(in crate::device) fn template_unresolved(&self) {
        self.guard(
            || {
                self.journal.unresolved(Left::StorageTemplate, Some(Rule::StorageFormat), Json::Null, (0, 0));
            },
            || (),
        );
    }
}
