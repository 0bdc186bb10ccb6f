//! The hooks that engines call tens of thousands of times a frame, and the record of a device that they find.
//!
//! Each has the same shape: find the device, look through the descriptors, count, and jump to the next layer with the
//! application's own arguments. Everything else is behind a jump at the end that hands over all arguments (to an `extern` function,
//! because one that could unwind would not be jumped to), so that the usual way needs no stack. What only the rest of the layer
//! knows (templates of odd shape, pairs without a choice, what is written down) goes to the functions in [`Rest`].

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};

use crate::choices::{Choices, KEEP, UNDECIDED};
use crate::counters::{Counters, Path};
use crate::gate::{Gate, Pair};
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
    /// Chooses for a pair without a choice. The first argument is the device record given to [`insert`].
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
    next: Next,
    rest: Rest,
    /// The whole record, as given to [`insert`]: a reference to this part of it must not be made into one.
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
}

// ---- devices by dispatch key ----

const NEAR: usize = 8;

struct Place {
    key: AtomicU64,
    device: AtomicPtr<c_void>,
}

/// The first few devices are found by comparing a handful of words in a row, which is what almost every process needs; further
/// ones are in a table.
static NEAR_DEVICES: [Place; NEAR] =
    [const { Place { key: AtomicU64::new(0), device: AtomicPtr::new(std::ptr::null_mut()) } }; NEAR];

/// What the table of further devices holds: a pointer that keeps its provenance.
struct Far(*const c_void);

// SAFETY: the pointer is only handed out again; what it points to is shared between threads by the contract of `insert`.
unsafe impl Send for Far {}
// SAFETY: as for `Send`.
unsafe impl Sync for Far {}

fn far_devices() -> &'static HandleMap<Far> {
    static FAR: std::sync::OnceLock<HandleMap<Far>> = std::sync::OnceLock::new();
    FAR.get_or_init(HandleMap::new)
}

/// Makes a device record known by its dispatch key.
///
/// # Safety
///
/// `device` points to a record that starts with a [`Hot`], may be used by every thread, and stays valid until [`remove`] has
/// returned.
pub unsafe fn insert(key: u64, device: *const c_void) {
    // SAFETY: forwarded from the caller.
    unsafe { &*device.cast::<Hot>() }.record.store(device.cast_mut(), Ordering::Release);
    for place in &NEAR_DEVICES {
        // The pointer is the claim: it goes from null to a device once, and readers look at the key first.
        let claim =
            place.device.compare_exchange(std::ptr::null_mut(), device.cast_mut(), Ordering::AcqRel, Ordering::Relaxed);
        if claim.is_ok() {
            place.key.store(key, Ordering::Release);
            return;
        }
    }
    far_devices().insert(key, Arc::new(Far(device)));
}

/// Forgets the device with this dispatch key and returns its record, null if there was none.
///
/// # Safety
///
/// No call that names the device is under way (vkDestroyDevice, "Host Synchronization").
pub unsafe fn remove(key: u64) -> *const c_void {
    for place in &NEAR_DEVICES {
        if place.key.compare_exchange(key, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return place.device.swap(std::ptr::null_mut(), Ordering::AcqRel);
        }
    }
    // SAFETY: forwarded from the caller.
    let device = unsafe { get(key) };
    far_devices().remove(key);
    device
}

/// The record of the device with this dispatch key, null if there is none.
///
/// # Safety
///
/// The device is not removed meanwhile.
#[inline(always)]
pub unsafe fn get(key: u64) -> *const c_void {
    for place in &NEAR_DEVICES {
        if place.key.load(Ordering::Acquire) == key {
            return place.device.load(Ordering::Acquire);
        }
    }
    // SAFETY: forwarded from the caller.
    unsafe { far(key) }
}

/// # Safety
///
/// As for [`get`].
#[cold]
#[inline(never)]
unsafe fn far(key: u64) -> *const c_void {
    // SAFETY: forwarded from the caller.
    unsafe { far_devices().get(key) }.map_or(std::ptr::null(), |far| far.0)
}

/// The record of a dispatchable handle if it belongs to the device that came first, which is the only one of almost every
/// process. No call, so that the hooks need no stack.
///
/// # Safety
///
/// `of` is a valid device or command buffer.
#[inline(always)]
unsafe fn find_first<'a>(of: impl Handle) -> Option<&'a Hot> {
    let [place, ..] = &NEAR_DEVICES;
    // SAFETY: as in `find`.
    unsafe {
        let key = *(of.as_raw() as usize as *const usize) as u64;
        if place.key.load(Ordering::Acquire) == key {
            place.device.load(Ordering::Acquire).cast::<Hot>().as_ref()
        } else {
            None
        }
    }
}

/// The record of a dispatchable handle: its first word is its dispatch key (Loader and Layer Interface, "Dispatch key").
///
/// # Safety
///
/// `of` is a valid device or command buffer.
#[inline(always)]
unsafe fn find<'a>(of: impl Handle) -> Option<&'a Hot> {
    // SAFETY: every dispatchable object starts with its dispatch key; the record lives as long as the device, which is not
    // destroyed while a command names it (VUID-vkDestroyDevice-device-05137).
    unsafe { get(*(of.as_raw() as usize as *const usize) as u64).cast::<Hot>().as_ref() }
}

// ---- looking ----

/// Where the set layouts of writes come from.
#[derive(Clone, Copy)]
pub enum Layouts<'a> {
    /// `dstSet` of the write, which is a valid set (VUID-VkWriteDescriptorSet-dstSet-00320).
    OfSets,
    /// Push descriptors: `dstSet` is ignored, and this is the layout, if it has immutable samplers.
    Given(Option<&'a SetLayout>),
}

impl Hot {
    /// Looks through writes of single descriptors and counts them. An error is the first write that needs a closer look: it may
    /// conflict, has several descriptors, or is the first separate sampler; `u32::MAX` if only counting takes longer.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    unsafe fn pass(&self, count: u32, writes: *const WriteDescriptorSet<'_>, path: Path) -> Result<(), u32> {
        // Two loops, each with as little as it needs.
        let seen = if self.gate.must_look() {
            if self.has_immutables.load(Ordering::Acquire) {
                return Err(0);
            }
            // SAFETY: forwarded from the caller.
            unsafe { self.pass_each(count, writes)? }
        } else {
            // SAFETY: forwarded from the caller.
            unsafe { self.pass_all(count, writes) }.ok_or(0_u32)?
        };
        if seen == 0 || self.counters.add_here(path, seen) { Ok(()) } else { Err(u32::MAX) }
    }

    /// [`Hot::pass`] where nothing can conflict: only counts, unless a separate sampler is to be spoken of.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    unsafe fn pass_all(&self, count: u32, writes: *const WriteDescriptorSet<'_>) -> Option<u64> {
        let mut seen = 0;
        let mut separate = false;
        for index in 0..count as usize {
            // SAFETY: below the count.
            let write = unsafe { &*writes.add(index) };
            // Without a branch: types alternate in ways of their own.
            let is_combined = write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            seen += u64::from(write.descriptor_count & 0_u32.wrapping_sub(u32::from(is_combined)));
            separate |= write.descriptor_type == vk::DescriptorType::SAMPLER;
        }
        (!separate || self.separate_said.load(Ordering::Relaxed)).then_some(seen)
    }

    /// [`Hot::pass`] where something can conflict.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    unsafe fn pass_each(&self, count: u32, writes: *const WriteDescriptorSet<'_>) -> Result<u64, u32> {
        let mut seen = 0;
        for index in 0..count {
            // SAFETY: below the count.
            let write = unsafe { &*writes.add(index as usize) };
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                if write.descriptor_count != 1 {
                    return Err(index);
                }
                // SAFETY: one element (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493), which the driver reads as well.
                let info = unsafe { &*write.p_image_info };
                if self.gate.candidate(info.sampler, info.image_view) != 0 {
                    return Err(index);
                }
                seen += 1;
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER
                && !self.separate_said.load(Ordering::Relaxed)
            {
                return Err(index);
            }
        }
        Ok(seen)
    }

    /// The closer look, from write `first` on: the first write in which another sampler has to go down. What there is to be said
    /// of immutable and of separate samplers is said here.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    #[inline(always)]
    unsafe fn look(&self, writes: &[WriteDescriptorSet<'_>], first: usize, layouts: Layouts<'_>) -> Option<usize> {
        let look = self.gate.must_look();
        if look && self.has_immutables.load(Ordering::Acquire) {
            // SAFETY: forwarded from the caller.
            return unsafe { self.look_among_immutables(writes, first, layouts) };
        }
        let mut out = None;
        for (index, write) in writes.iter().enumerate().skip(first) {
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                // SAFETY: valid by the caller's promise.
                if look && out.is_none() && unsafe { self.conflicts(write) } {
                    out = Some(index);
                }
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                self.separate_seen();
            }
        }
        out
    }

    /// [`Hot::look`] on a device that has seen immutable samplers.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    #[inline(never)]
    unsafe fn look_among_immutables(
        &self,
        writes: &[WriteDescriptorSet<'_>],
        first: usize,
        layouts: Layouts<'_>,
    ) -> Option<usize> {
        let mut out = None;
        for (index, write) in writes.iter().enumerate().skip(first) {
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                // SAFETY: valid by the caller's promise.
                unsafe {
                    if let Some(layout) = self.ignoring(write, layouts) {
                        let target = (write.dst_binding, write.dst_array_element);
                        self.note_immutables(layout, target, infos(write).iter().copied());
                    } else if out.is_none() && self.conflicts(write) {
                        out = Some(index);
                    }
                }
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                self.separate_seen();
            }
        }
        out
    }

    /// The layout by which the samplers of a write are ignored, because the binding has immutable ones.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(always)]
    unsafe fn ignoring<'a>(&'a self, write: &WriteDescriptorSet<'_>, layouts: Layouts<'a>) -> Option<&'a SetLayout> {
        let layout = match layouts {
            // SAFETY: a set that a command names is not freed meanwhile.
            Layouts::OfSets => unsafe { self.sets.get(write.dst_set.as_raw()) },
            Layouts::Given(layout) => layout,
        };
        layout.filter(|layout| layout.is_immutable(write.dst_binding))
    }

    /// [`Hot::ignoring`], where it is rarely asked.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(never)]
    unsafe fn is_ignored(&self, write: &WriteDescriptorSet<'_>, layouts: Layouts<'_>) -> bool {
        // SAFETY: forwarded from the caller.
        unsafe { self.ignoring(write, layouts) }.is_some()
    }

    /// Takes note of immutable samplers that conflict with the views written to `target` (binding and element) and on, unless it
    /// was done for that state and class before.
    #[inline(always)]
    fn note_immutables(
        &self,
        layout: &SetLayout,
        target: (u32, u32),
        infos: impl Iterator<Item = DescriptorImageInfo>,
    ) {
        layout.for_each(target, infos, |sampler, view| {
            if self.gate.candidate(sampler, view) != 0
                && let Some(pair) = self.gate.look_up(sampler, view)
                && !self.choices.is_settled(pair.state, pair.class)
            {
                // SAFETY: this part of the record was borrowed from the whole one, which is therefore alive.
                unsafe { (self.rest.immutable)(self.record(), pair) };
            }
        });
    }

    /// Says once that separate samplers meet their images in the shader only.
    #[inline(always)]
    pub fn separate_seen(&self) {
        if !self.separate_said.load(Ordering::Relaxed) && !self.separate_said.swap(true, Ordering::Relaxed) {
            // SAFETY: as in `note_immutables`.
            unsafe { (self.rest.separate)(self.record()) };
        }
    }

    /// The layout with immutable samplers of set number `set` of a pipeline layout, for push descriptors.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid.
    #[inline(always)]
    pub unsafe fn push_layout(&self, layout: vk::PipelineLayout, set: u32) -> Option<&SetLayout> {
        if !self.has_immutables.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: forwarded from the caller.
        let sets = unsafe { self.pipeline_layouts.get(layout.as_raw()) }?;
        sets.get(set as usize)?.as_deref()
    }

    /// The whole record, null before [`insert`].
    fn record(&self) -> *const c_void {
        self.record.load(Ordering::Acquire).cast_const()
    }

    /// # Safety
    ///
    /// The write is valid, of combined image samplers.
    #[inline(always)]
    unsafe fn conflicts(&self, write: &WriteDescriptorSet<'_>) -> bool {
        // SAFETY: valid by the caller's promise.
        match unsafe { infos(write) } {
            [info] => self.gate.conflict(info.sampler, info.image_view).is_some(),
            infos => self.gate.first_conflict(infos).is_some(),
        }
    }
}

/// The image infos of a write of combined image samplers.
///
/// # Safety
///
/// The write is valid (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493).
#[inline(always)]
unsafe fn infos<'a>(write: &WriteDescriptorSet<'a>) -> &'a [DescriptorImageInfo] {
    if write.descriptor_count == 0 || write.p_image_info.is_null() {
        return &[];
    }
    // SAFETY: forwarded from the caller.
    unsafe { std::slice::from_raw_parts(write.p_image_info, write.descriptor_count as usize) }
}

/// Combined image samplers in writes.
///
/// # Safety
///
/// The writes are valid.
#[inline(always)]
unsafe fn combined<'w, 'a>(
    writes: &'w [WriteDescriptorSet<'a>],
) -> impl Iterator<Item = (usize, &'a [DescriptorImageInfo])> + 'w {
    let are_combined =
        |write: &WriteDescriptorSet<'_>| write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    // SAFETY: forwarded from the caller.
    writes
        .iter()
        .enumerate()
        .filter(move |(_, write)| are_combined(write))
        .map(|(index, write)| (index, unsafe { infos(write) }))
}

// ---- rewriting ----

/// Writes and image infos that are copied on the stack.
const WRITES: usize = 16;
const INFOS: usize = 64;

/// Calls `down` with a copy of the writes in which every pair that conflicts, in write `first` or later, has the sampler chosen for
/// it; with the writes themselves if none changes.
///
/// # Safety
///
/// The writes are valid and `hot` starts the record of its device.
#[inline(always)]
unsafe fn rewrite<'a>(
    hot: &Hot,
    given: &[WriteDescriptorSet<'a>],
    first: usize,
    path: Path,
    layouts: Layouts<'_>,
    down: impl FnOnce(*const WriteDescriptorSet<'a>),
) {
    let mut seen = 0;
    // SAFETY: forwarded from the caller.
    unsafe { combined(given) }.for_each(|(_, infos)| seen += infos.len());
    if given.len() <= WRITES && seen <= INFOS {
        let mut room_writes = [const { MaybeUninit::uninit() }; WRITES];
        let mut room_infos = [const { MaybeUninit::uninit() }; INFOS];
        // SAFETY: forwarded from the caller; there is room.
        let (changed, rewritten) =
            unsafe { rewrite_into(hot, given, (first, path), layouts, &mut room_writes, &mut room_infos) };
        hot.counters.add(path, seen as u64, rewritten);
        down(changed);
    } else {
        let (mut room_writes, mut room_infos) = (Vec::new(), Vec::new());
        if room_writes.try_reserve_exact(given.len()).is_err() || room_infos.try_reserve_exact(seen).is_err() {
            // Without memory for a copy there is only what was given.
            return down(given.as_ptr());
        }
        let (writes, infos) = (room_writes.spare_capacity_mut(), room_infos.spare_capacity_mut());
        // SAFETY: forwarded from the caller; there is room.
        let (changed, rewritten) = unsafe { rewrite_into(hot, given, (first, path), layouts, writes, infos) };
        hot.counters.add(path, seen as u64, rewritten);
        down(changed);
    }
}

/// Returns what has to go down and how many samplers are others.
///
/// # Safety
///
/// As for [`rewrite`]; there is room for the writes and for all their image infos.
#[inline(never)]
unsafe fn rewrite_into<'a>(
    hot: &Hot,
    writes: &[WriteDescriptorSet<'a>],
    (first, path): (usize, Path),
    layouts: Layouts<'_>,
    room_writes: &mut [MaybeUninit<WriteDescriptorSet<'a>>],
    room_infos: &mut [MaybeUninit<DescriptorImageInfo>],
) -> (*const WriteDescriptorSet<'a>, u64) {
    let device = hot.record();
    let immutables = hot.has_immutables.load(Ordering::Acquire);
    // SAFETY: `hot` starts the record of its device.
    let mut undecided = |pair| unsafe { (hot.rest.resolve)(device, pair, path) };
    let mut rewritten = 0;
    let mut used = 0;
    // Single pairs are gathered so that they can be looked at together.
    let mut owners = [0_usize; INFOS];
    let mut gathered = 0;
    // SAFETY: an initialised element is a valid `MaybeUninit` of the same layout.
    let as_uninit = unsafe { &*(std::ptr::from_ref(writes) as *const [MaybeUninit<WriteDescriptorSet<'a>>]) };
    let Some(copies) = room_writes.get_mut(..writes.len()) else { return (writes.as_ptr(), 0) };
    copies.copy_from_slice(as_uninit);
    let copies = copies.as_mut_ptr().cast::<WriteDescriptorSet<'a>>();
    let room = room_infos.as_mut_ptr();
    let flush = |owners: &[usize], used: &mut usize, undecided: &mut dyn FnMut(Pair) -> u64| {
        // SAFETY: `owners.len()` infos were written there.
        let block =
            unsafe { std::slice::from_raw_parts_mut(room.add(*used).cast::<DescriptorImageInfo>(), owners.len()) };
        let changed = hot.gate.substitute_in_place(&hot.choices, block, undecided, |at, info| {
            if let Some(owner) = owners.get(at) {
                // SAFETY: owners are indices of writes, and there are as many copies.
                unsafe { (*copies.add(*owner)).p_image_info = info };
            }
        });
        *used += owners.len();
        changed
    };
    // SAFETY: forwarded from the caller.
    for (index, infos) in unsafe { combined(writes.get(first..).unwrap_or(&[])) } {
        let index = first + index;
        // SAFETY: the write is valid.
        if immutables && writes.get(index).is_some_and(|write| unsafe { hot.is_ignored(write, layouts) }) {
            continue;
        }
        if let [info] = infos {
            // SAFETY: there is room for every info of the writes.
            unsafe { (*room.add(used + gathered)).write(*info) };
            owners[gathered] = index;
            gathered += 1;
            if gathered == INFOS {
                rewritten += flush(&owners, &mut used, &mut undecided);
                gathered = 0;
            }
            continue;
        }
        if gathered > 0 {
            rewritten += flush(&owners[..gathered], &mut used, &mut undecided);
            gathered = 0;
        }
        // SAFETY: there is room for every info of the writes.
        let out = unsafe { std::slice::from_raw_parts_mut(room.add(used), infos.len()) };
        let changed = hot.gate.substitute(&hot.choices, infos, out, &mut undecided);
        if changed > 0 {
            rewritten += changed;
            used += infos.len();
            // SAFETY: below the number of copies.
            unsafe { (*copies.add(index)).p_image_info = out.as_ptr().cast() };
        }
    }
    if gathered > 0 {
        rewritten += flush(&owners[..gathered], &mut used, &mut undecided);
    }
    (if rewritten > 0 { copies } else { writes.as_ptr() }, rewritten)
}

// ---- the hooks ----

/// Passes writes on that need a closer look, from write `first` on.
///
/// # Safety
///
/// `count` valid writes; `hot` starts the record of their device.
#[inline(always)]
unsafe fn forward<'a>(
    hot: &Hot,
    count: u32,
    writes: *const WriteDescriptorSet<'a>,
    (first, path): (u32, Path),
    layouts: Layouts<'_>,
    down: impl FnOnce(*const WriteDescriptorSet<'a>),
) {
    // SAFETY: `count` valid writes.
    let given = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(writes, count as usize) } };
    // SAFETY: forwarded from the caller.
    if let Some(first) = unsafe { hot.look(given, first as usize, layouts) } {
        // SAFETY: forwarded from the caller.
        return unsafe { rewrite(hot, given, first, path, layouts, down) };
    }
    // SAFETY: as above.
    let seen: usize = unsafe { combined(given) }.map(|(_, infos)| infos.len()).sum();
    if seen > 0 {
        hot.counters.add(path, seen as u64, 0);
    }
    down(writes);
}

/// Passes pushed writes on, for a command whose hook is elsewhere.
///
/// # Safety
///
/// `count` valid writes for `layout`, if that has immutable samplers; `hot` starts the record of their device.
pub unsafe fn forward_push<'a>(
    hot: &Hot,
    count: u32,
    writes: *const WriteDescriptorSet<'a>,
    layout: Option<&SetLayout>,
    down: impl FnOnce(*const WriteDescriptorSet<'a>),
) {
    // SAFETY: forwarded from the caller.
    unsafe { forward(hot, count, writes, (0, Path::Push), Layouts::Given(layout), down) };
}

/// `vkUpdateDescriptorSets`.
///
/// # Safety
///
/// The command's valid usage.
pub unsafe extern "system" fn update_descriptor_sets(
    device: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage. A copy carries a pair that was made legal when it was written, so copies go down as
    // they are; so does everything else that is legal.
    unsafe {
        let mut first = 0;
        if let Some(hot) = find_first(device)
            && let Some(next) = hot.next.update_descriptor_sets
        {
            match hot.pass(count, writes, Path::Update) {
                Ok(()) => return next(device, count, writes, copy_count, copies),
                Err(index) => first = index,
            }
        }
        update_slowly(device, count, writes, copy_count, copies, first);
    }
}

/// # Safety
///
/// As for [`update_descriptor_sets`].
#[inline(never)]
unsafe extern "system" fn update_slowly(
    device: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
    first: u32,
) {
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers.
    unsafe {
        let Some(hot) = find(device) else { return };
        let Some(next) = hot.next.update_descriptor_sets else { return };
        let down = |writes| next(device, count, writes, copy_count, copies);
        forward(hot, count, writes, (first, Path::Update), Layouts::OfSets, down);
    }
}

/// `vkCmdPushDescriptorSet`.
///
/// # Safety
///
/// The command's valid usage.
pub unsafe extern "system" fn cmd_push_descriptor_set(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage.
    unsafe {
        if let Some(hot) = find_first(commands)
            && let Some(next) = hot.next.cmd_push_descriptor_set
            && hot.pass(count, writes, Path::Push).is_ok()
        {
            return next(commands, bind_point, layout, set, count, writes);
        }
        push_slowly(commands, bind_point, layout, set, count, writes);
    }
}

/// # Safety
///
/// As for [`cmd_push_descriptor_set`].
#[inline(never)]
unsafe extern "system" fn push_slowly(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers, which are consumed by the call.
    unsafe {
        let Some(hot) = find(commands) else { return };
        let Some(next) = hot.next.cmd_push_descriptor_set else { return };
        let down = |writes| next(commands, bind_point, layout, set, count, writes);
        let layout = hot.push_layout(layout, set);
        forward(hot, count, writes, (0, Path::Push), Layouts::Given(layout), down);
    }
}

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
    /// As for [`Template::may_conflict`].
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

/// The choice for a pair: [`KEEP`] stands for the given sampler.
#[inline(always)]
pub(crate) fn choose(choices: &Choices, pair: Pair, undecided: &mut dyn FnMut(Pair) -> u64) -> u64 {
    let choice = match choices.choice(pair.state, pair.class) {
        UNDECIDED => undecided(pair),
        choice => choice,
    };
    if choice == KEEP { pair.sampler } else { choice }
}
