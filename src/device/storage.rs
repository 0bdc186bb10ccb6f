//! Storage images and storage texel buffers of formats that the device cannot store: images that may be viewed as unsigned integers of
//! the same size, and the views that shaders store through.
//!
//! Shaders do not say which tiling their images have, so what optimal tiling lacks is lowered for every image of that format. A view of
//! integers is made together with the application's view and dies with it: the chain of the create info is there then and at no
//! other time, and updates of descriptors call nothing and cannot fail.

mod buffers;
mod described;
mod descriptors;
mod formatless;

pub use self::described::HeapView;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, FormatFeatureFlags2 as Feature, Handle, TaggedStructure};
use samplin_core::left::Cause;
use samplin_core::storage::{self, StorableFormats, lowers};
use samplin_hot::lock::Lock;
use samplin_spirv::image_formats;

pub(super) use self::descriptors::Room;
use self::formatless::Meetings;
use super::classes::ImageTraits;
use super::driver::Driver;
use super::ground::Ground;
use super::hot::Hot;
use super::journal::Journal;
use super::shown::{LOST, NOTHING, OWN};
use super::types::type_bit;
use super::usage::{CAPTURED, listed, tiling_of, wide_flags, wide_usage};
use crate::caps::{Enabled, Formats};
use crate::decide::{self, Change, Rule};
use crate::dispatch::InstanceFns;
use crate::lowered;
use crate::names;
use crate::pnext;
use crate::record;
use crate::settings::Settings;
use crate::table::FlatTable;

/// What is done about storage images and buffers of one device.
pub struct Storage {
    /// The image formats that shaders do without; none without `storage=emulate`.
    pub lowered: image_formats::Options,
    /// Draws look at what shaders meet that declare no format, where it is known which descriptor that is.
    pub(super) draws_look: bool,
    /// Whether samplin is on.
    is_on: bool,
    /// The list of formats of an image may be given.
    lists: bool,
    /// Descriptors may have no view.
    null_descriptor: bool,
    /// Views of buffers may say what they are used for.
    buffer_usage: bool,
    /// Held while views enter a table or leave it: with the first one descriptors begin to be looked at, with the last one that ends.
    entering: Lock<()>,
    /// The classes of which it was said that nothing stands in for a view of theirs, by their numbers and 1.
    lost_classes: FlatTable,
    /// Shaders that declare no format, and views of integers that may be what they find.
    meetings: Meetings,
    /// Whether any view was ever entered.
    is_used: AtomicBool,
    /// What descriptors get in place of views of images, and of buffers: a view, [`NOTHING`], [`LOST`] or [`OWN`].
    views: FlatTable,
    buffer_views: FlatTable,
    /// Buffers with `STORAGE_TEXEL_BUFFER`: their usage.
    buffers: FlatTable,
}

impl Storage {
    /// What settings ask for and the device needs; with `emulate` all formats are asked about.
    ///
    /// # Safety
    ///
    /// `fns` are those that `formats` was made with, and their instance is alive.
    pub(super) unsafe fn new(
        settings: &Settings,
        formats: &Formats,
        fns: &InstanceFns,
        enabled: &Enabled,
        is_on: bool,
    ) -> Self {
        let emulates = is_on && settings.storage.emulates();
        Self {
            // SAFETY: `formats` and `fns` belong together, by this function's contract.
            lowered: if emulates { unsafe { lowered::formats(settings, formats, fns) } } else { Default::default() },
            draws_look: false,
            is_on,
            lists: enabled.format_lists,
            null_descriptor: enabled.null_descriptor,
            buffer_usage: enabled.extension(ash::khr::maintenance5::NAME),
            entering: Lock::new(()),
            lost_classes: FlatTable::new(8),
            meetings: Meetings::new(),
            is_used: AtomicBool::new(false),
            views: FlatTable::new(8),
            buffer_views: FlatTable::new(8),
            buffers: FlatTable::new(8),
        }
    }

    /// Whether buffers and their views are looked at.
    pub fn watches_buffers(&self) -> bool {
        self.lowered.buffers != 0
    }

    /// Whether views may be stored to through others.
    pub fn is_lowering(&self) -> bool {
        self.lowered != image_formats::Options::default()
    }

    /// Whether descriptors may get other views than those that they are written with.
    pub fn is_used(&self) -> bool {
        self.is_lowering() || self.is_used.load(Ordering::Relaxed)
    }

    /// Whether anything ever stood in for a view.
    #[inline(always)]
    pub(super) fn has_stand_ins(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Whether shaders that store to a view find unsigned integers instead; none if there is nothing to find.
    pub(super) fn is_stood_in_for(&self, view: u64, is_buffer: bool) -> Option<bool> {
        let table = if is_buffer { &self.buffer_views } else { &self.views };
        match table.get(view) {
            0 | LOST => Some(false),
            NOTHING => None,
            _ => Some(true),
        }
    }

    /// Whether a view of this format may have to reach the driver in another way than it came, or something be said of it.
    pub fn looks_at_views_of(&self, image: &ImageTraits, format: vk::Format) -> bool {
        image.may_lack_usage(format) || self.lowers(format)
    }

    pub(super) fn lowers(&self, format: vk::Format) -> bool {
        lowers(self.lowered.images, format)
    }

    pub(super) fn lowers_buffers(&self, format: vk::Format) -> bool {
        lowers(self.lowered.buffers, format)
    }
}

/// What an image reaches the driver as.
pub struct ImageCopy {
    flags: vk::ImageCreateFlags,
    /// The formats that views may have, in place of the application's chain; if there are any.
    formats: Vec<vk::Format>,
    /// Why.
    pub change: Change,
    /// Whether it may be viewed as integers.
    pub is_aliased: bool,
}

impl ImageCopy {
    /// Calls `with` for the image as it reaches the driver.
    pub fn with<T>(&self, info: &vk::ImageCreateInfo<'_>, with: impl FnOnce(*const vk::ImageCreateInfo<'_>) -> T) -> T {
        let list = vk::ImageFormatListCreateInfo::default().view_formats(&self.formats);
        let mut copy = vk::ImageCreateInfo { flags: self.flags, ..*info };
        if !self.formats.is_empty() {
            copy.p_next = (&raw const list).cast();
        }
        with(&copy)
    }

    /// The create flags that it has more.
    pub fn flags(&self) -> u64 {
        self.flags.as_raw().into()
    }
}

/// What a view reaches the driver as, and what shaders store through.
pub struct ViewCopy {
    /// The application's nodes up to the last that says what the view is used for, without those that do.
    chain: Vec<pnext::Copied>,
    /// What follows.
    rest: *const c_void,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    /// The format of a second view, if the first is not for storing.
    alias: Option<vk::Format>,
    /// The format of integers, in either case.
    pub alias_format: vk::Format,
    /// What changes of the view.
    pub change: Change,
}

const STORAGE: u64 = vk::ImageUsageFlags::STORAGE.as_raw() as u64;

impl Driver {
    /// What the device can do with the formats of storage images and storage texel buffers.
    pub(super) fn known_formats(&self) -> [StorableFormats; 2] {
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        unsafe { lowered::known(&self.formats, &self.instance_fns) }
    }
}

impl Storage {
    /// What an image reaches the driver as instead of as it came, if its usage is one that its format cannot have. Records what is left.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    #[inline(never)]
    pub unsafe fn image_copy(
        &self,
        driver: &Driver,
        journal: &Journal,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Option<ImageCopy> {
        // SAFETY: `info` is valid by this function's contract.
        let (flags, usage) = unsafe { (wide_flags(info.p_next, info.flags), wide_usage(info.p_next, info.usage)) };
        // Of 64 bits the upper ones ask for nothing here, and with such structures in its chain no image changes.
        let (flags, usage) =
            (vk::ImageCreateFlags::from_raw(flags as u32), vk::ImageUsageFlags::from_raw(usage as u32));
        let info = &vk::ImageCreateInfo { flags, usage, ..*info };
        let mut is_recorded = false;
        if self.lowered.images != 0 {
            // SAFETY: `info` is valid by this function's contract; `lowered_image` reads its chain and nothing else that is pointed to.
            match unsafe { self.lowered_image(driver, journal, info) } {
                Ok(copy) => return Some(copy),
                Err(left_here) => is_recorded = left_here,
            }
        }
        // SAFETY: `info` is valid by this function's contract; `wider_flags` reads its chain and nothing else that is pointed to.
        match unsafe { driver.wider_flags(journal, info) } {
            Ok((flags, change)) => Some(ImageCopy { flags, formats: Vec::new(), change, is_aliased: false }),
            Err(left_here) => {
                if self.is_on && usage.contains(vk::ImageUsageFlags::STORAGE) && !is_recorded && !left_here {
                    journal.record_unstored(driver, info);
                }
                None
            }
        }
    }

    /// An image of which some format has to be viewed as integers.
    ///
    /// # Errors
    /// It is none; whether that was recorded.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    #[inline(never)]
    unsafe fn lowered_image(
        &self,
        driver: &Driver,
        journal: &Journal,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<ImageCopy, bool> {
        if !info.usage.contains(vk::ImageUsageFlags::STORAGE) {
            return Err(false);
        }
        // SAFETY: `info` is valid by this function's contract, so a list of formats in its chain is whole.
        let given = unsafe { listed(info.p_next) };
        let mutable = info.flags.contains(vk::ImageCreateFlags::MUTABLE_FORMAT);
        let own = self.lowers(info.format);
        let listed = mutable && given.is_some_and(|list| list.iter().any(|format| self.lowers(*format)));
        let alias = storage::alias(info.format).filter(|_| own || listed).ok_or(false)?;
        let mut formats = Vec::new();
        match given {
            _ if !self.lists && given.is_none() => {}
            Some(list) if list.contains(&alias) => {}
            // What may have views of any format has a list of none.
            None if mutable => {}
            _ => {
                let first = given.unwrap_or(std::slice::from_ref(&info.format));
                formats = samplin_hot::memory::vec(first.len() + 1);
                formats.extend_from_slice(first);
                formats.push(alias);
            }
        }
        let tiling = tiling_of(info.tiling);
        let features = |format| tiling.and_then(|tiling| driver.features_with(tiling, 0, format)).unwrap_or_default();
        let flags = storage::flags_with_alias(info.flags, features(info.format));
        if flags == info.flags && formats.is_empty() {
            // It may be viewed as integers as it is.
            return Err(false);
        }
        let sparse = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY;
        let attachments = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
        let chain = if formats.is_empty() { info.p_next } else { (&raw const list).cast() };
        let why = match () {
            () if !driver.caps.view_usage => Cause::StoredWithoutViewUsage,
            () if info.flags.contains(CAPTURED) => Cause::StoredCapture,
            () if tiling.is_none() => Cause::StoredModifier,
            // SAFETY: `info` is valid by this function's contract, so each node of its chain can be read as a base.
            () if !unsafe { pnext::is_plain_image(info.p_next) } => Cause::StoredChain,
            () if info.flags.intersects(sparse) => Cause::StoredSparse,
            () if driver.caps.imageless_framebuffer && info.usage.intersects(attachments) => Cause::StoredImageless,
            () if !features(alias).contains(Feature::STORAGE_IMAGE) => Cause::IntegersUnstored,
            // SAFETY: `info` is valid, and the chain is what the query takes.
            () if !unsafe { driver.can_make(info, flags, chain) } => Cause::NoIntegerImage,
            () => {
                let change = decide::viewed_as_integers(info.flags.as_raw().into(), flags.as_raw().into());
                return Ok(ImageCopy { flags, formats, change, is_aliased: true });
            }
        };
        journal.storage_unresolved(why, info.format);
        Err(true)
    }

    /// Whether an image that was not made one may be viewed as integers; `formats`: the application's list.
    pub fn may_alias(&self, driver: &Driver, traits: &ImageTraits, formats: Option<&[vk::Format]>) -> bool {
        let mutable = u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw());
        self.lowered.images != 0
            && traits.usage & STORAGE != 0
            && traits.flags & mutable != 0
            && storage::alias(traits.format).is_some_and(|alias| {
                let stores = driver.features(traits, alias).is_some_and(|it| it.contains(Feature::STORAGE_IMAGE));
                stores && formats.is_none_or(|list| list.contains(&alias))
            })
    }

    /// What a view reaches the driver as, if shaders that store through it store integers. `stated`: the usage that its chain states.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    #[inline(never)]
    pub unsafe fn lowered_view(
        &self,
        driver: &Driver,
        journal: &Journal,
        info: &vk::ImageViewCreateInfo<'_>,
        image: &ImageTraits,
        stated: Option<u64>,
        inherited: u64,
    ) -> Option<ViewCopy> {
        let usage = stated.unwrap_or(inherited);
        if !self.lowers(info.format) || usage & STORAGE == 0 {
            return None;
        }
        let left = decide::usage_beside_storage(usage, driver.features(image, info.format)?);
        let alias = storage::alias(info.format)?;
        let attachments = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::INPUT_ATTACHMENT;
        let chain = match stated {
            // SAFETY: `info` is a valid create info of a view by this function's contract, so its chain is one.
            Some(_) => unsafe { without_usage(info.p_next) },
            None => Some((Vec::new(), info.p_next)),
        };
        let capture = vk::ImageViewCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        let why = match chain {
            _ if !image.aliased => Cause::NotAliased,
            _ if usage >> 32 != 0 => Cause::WideUsage,
            _ if info.flags.contains(capture) => Cause::CapturedView,
            _ if driver.caps.imageless_framebuffer && left & u64::from(attachments.as_raw()) != 0 => {
                Cause::StoredViewImageless
            }
            None => Cause::ViewChain,
            Some((chain, rest)) => {
                let is_beside = left != 0;
                let change = decide::stored_elsewhere(info.format, alias, usage, left);
                let usage = if is_beside { left } else { usage & STORAGE };
                return Some(ViewCopy {
                    chain,
                    rest,
                    format: if is_beside { info.format } else { alias },
                    usage: vk::ImageUsageFlags::from_raw(usage as u32),
                    alias: is_beside.then_some(alias),
                    alias_format: alias,
                    change,
                });
            }
        };
        journal.storage_unresolved(why, info.format);
        None
    }

    /// Makes the application's view as it reaches the driver, and the one that shaders store through.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkCreateImageView`, and the copy that was made of its create info.
    #[inline(never)]
    pub unsafe fn make_view(
        &self,
        ground: &Ground,
        create: vk::PFN_vkCreateImageView,
        info: &vk::ImageViewCreateInfo<'_>,
        copy: &mut ViewCopy,
        allocator: *const vk::AllocationCallbacks<'_>,
        view: *mut vk::ImageView,
    ) -> vk::Result {
        let mut chain = copy.rest;
        for node in copy.chain.iter_mut().rev() {
            chain = node.link(chain);
        }
        let mut usage = vk::ImageViewUsageCreateInfo { p_next: chain, usage: copy.usage, ..Default::default() };
        let mut down = vk::ImageViewCreateInfo { p_next: (&raw const usage).cast(), format: copy.format, ..*info };
        // SAFETY: the application's own arguments, but for the format of an image that may have views of it, and a usage that it has.
        let result = unsafe { create(ground.driver.handle, &down, allocator, view) };
        if result != vk::Result::SUCCESS {
            return result;
        }
        // SAFETY: the call set it.
        let given = unsafe { *view }.as_raw();
        let Some(alias) = copy.alias else {
            self.enter_view(ground, &self.views, vk::DescriptorType::STORAGE_IMAGE, given, OWN);
            return result;
        };
        usage.usage = vk::ImageUsageFlags::STORAGE;
        // A storage image has no swizzle (VUID-VkWriteDescriptorSet-descriptorType-00336).
        (down.p_next, down.format, down.components) = ((&raw const usage).cast(), alias, Default::default());
        let mut stored = vk::ImageView::null();
        // SAFETY: the create info that the driver has just accepted, with a format that the image may be viewed as (the list that it was
        // made with) and a usage that it has; the handle is written to a local.
        let made = unsafe { create(ground.driver.handle, &down, std::ptr::null(), &mut stored) };
        let stands_in = if made == vk::Result::SUCCESS { stored.as_raw() } else { self.nothing() };
        self.enter_view(ground, &self.views, vk::DescriptorType::STORAGE_IMAGE, given, stands_in);
        if made != vk::Result::SUCCESS {
            ground.view_unresolved(Cause::ViewUnmade, info.format);
        }
        result
    }

    /// What descriptors get where nothing can stand in.
    fn nothing(&self) -> u64 {
        if self.null_descriptor { NOTHING } else { LOST }
    }

    /// Enters what stands in for a view; descriptors of its type are looked at from then on.
    #[inline(never)]
    fn enter_view(&self, ground: &Ground, table: &FlatTable, ty: vk::DescriptorType, view: u64, stands_in: u64) {
        ground.guard(
            || {
                let _entering = self.entering.lock();
                table.insert(view, stands_in);
                self.is_used.store(true, Ordering::Release);
                ground.hot.exchange(type_bit(ty));
            },
            || (),
        );
    }

    /// Takes a view out of its table, and says what the table said of it. Without views nobody looks at descriptors of its type any more.
    #[inline(never)]
    fn leave_table(&self, hot: &Hot, table: &FlatTable, ty: vk::DescriptorType, view: u64) -> u64 {
        let _entering = self.entering.lock();
        let found = table.remove(view);
        if found != 0 && table.is_empty() {
            hot.exchange_no_more(ty);
        }
        found
    }

    /// Notes a view that storing was taken from and that nothing stands in for. Of each class it is said once, when one is
    /// stored to.
    pub fn view_lost_storage(&self, ground: &Ground, view: vk::ImageView) {
        if self.lost_classes.get(ground.hot.class_of(view.as_raw())) == 0 {
            self.enter_view(ground, &self.views, vk::DescriptorType::STORAGE_IMAGE, view.as_raw(), LOST);
        }
    }

    /// Forgets what stands in for a view, which goes with it.
    pub(super) fn forget_alias(&self, hot: &Hot, driver: &Driver, view: vk::ImageView) {
        if !self.has_stand_ins() {
            return;
        }
        let alias = self.leave_table(hot, &self.views, vk::DescriptorType::STORAGE_IMAGE, view.as_raw());
        if let (1..OWN, Some(destroy)) = (alias, driver.fns.destroy_image_view) {
            // SAFETY: made by `make_view` with a NULL allocator, and used by nothing that does not use the application's view, which
            // is about to be destroyed (VUID-vkDestroyImageView-imageView-01026).
            unsafe { destroy(driver.handle, vk::ImageView::from_raw(alias), std::ptr::null()) };
        }
    }

    /// Destroys what stands in for views that the application did not destroy: for the end of the device.
    pub fn destroy_aliases(&self, driver: &Driver) {
        if let Some(destroy) = driver.fns.destroy_image_view {
            for alias in taken(&self.views) {
                // SAFETY: made by `make_view` with a NULL allocator; the device is being destroyed, so nothing uses it.
                unsafe { destroy(driver.handle, vk::ImageView::from_raw(alias), std::ptr::null()) };
            }
        }
        if let Some(destroy) = driver.fns.destroy_buffer_view {
            for alias in taken(&self.buffer_views) {
                // SAFETY: made by `make_buffer_view` with a NULL allocator; the device is being destroyed, so nothing uses it.
                unsafe { destroy(driver.handle, vk::BufferView::from_raw(alias), std::ptr::null()) };
            }
        }
    }
}

impl Journal {
    /// Says of an image that shaders store to nothing like it.
    fn record_unstored(&self, driver: &Driver, info: &vk::ImageCreateInfo<'_>) {
        let features = tiling_of(info.tiling).and_then(|tiling| driver.features_with(tiling, 0, info.format));
        if let Some(why) = storage::unstored(info.format, info.flags, info.usage, features) {
            self.storage_unresolved(why, info.format);
        }
    }

    /// Says what is left of a format, once for each reason.
    #[inline(never)]
    pub fn storage_unresolved(&self, why: Cause, format: vk::Format) {
        let members = record::object(&mut [("format", names::format(format).into())]);
        let key = (format.as_raw() as u64, why as u64);
        self.unresolved(why, Some(Rule::StorageFormat), members, key);
    }
}

impl Ground {
    #[inline(never)]
    fn view_unresolved(&self, why: Cause, format: vk::Format) {
        self.guard(|| self.journal.storage_unresolved(why, format), || ());
    }
}

impl Hot {
    /// The number of a view's class and 1; 0 for a view that is not known.
    fn class_of(&self, view: u64) -> u64 {
        self.gate.view(view) & u64::from(u32::MAX)
    }
}

/// The views of a table, which is empty then.
fn taken(table: &FlatTable) -> Vec<u64> {
    let mut views = Vec::new();
    table.for_each(&mut |view, alias| views.push((view, alias)));
    views.iter().for_each(|(view, _)| _ = table.remove(*view));
    samplin_hot::memory::collect(views.into_iter().map(|(_, alias)| alias).filter(|alias| (1..OWN).contains(alias)))
}

/// Copies of the nodes of a view's chain up to the last that says what the view is used for, without those that do, and what follows;
/// `None` if one of unknown size is among them.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info of a view.
unsafe fn without_usage(p_next: *const c_void) -> Option<(Vec<pnext::Copied>, *const c_void)> {
    let says = |s_type: vk::StructureType| {
        s_type == vk::ImageViewUsageCreateInfo::STRUCTURE_TYPE
            || s_type == vk_layer_sys::ImageViewUsage2CreateInfoKHR::STRUCTURE_TYPE
    };
    let (mut out, mut kept, mut rest) = (Vec::new(), 0, p_next);
    // SAFETY: `p_next` is a valid chain by this function's contract.
    for node in unsafe { pnext::chain(p_next) } {
        // SAFETY: `chain` yields readable bases.
        let base = unsafe { *node };
        if says(base.s_type) {
            (kept, rest) = (out.len(), base.p_next);
        } else {
            // SAFETY: a node of the chain of a view's create info.
            out.push(unsafe { pnext::Copied::new(node) });
        }
    }
    out.truncate(kept);
    Some((out.into_iter().collect::<Option<Vec<_>>>()?, rest))
}
