//! The driver below the layer: every command that the layer intercepts or calls, written down as it arrives.
//!
//! A command is a plain function that finds its device behind the handle it is given, so that any number of instances and devices
//! can live at once. What it was called with is kept as [`Args`]: raw addresses, and deep copies of what they led to at that
//! moment. What a driver may not be asked to do (destroy what does not live, destroy with another allocator …) is
//! noted in [`DeviceState::errors`] and never asserted here, because a panic must not leave an `extern` function.

/// Commands as functions of the driver: what they are called with is valid by the command's usage, and by the loader's interface. One
/// that returns `VkResult` answers with success at its end, and with what `?` finds before.
macro_rules! answers {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident $arguments:tt $(-> $out:tt)? $body:block)+) => {
        $(answers! { @one [$(#[$doc])*] $vis $name $arguments [$($out)?] $body })+
    };
    (@one [$($doc:tt)*] $vis:vis $name:ident ($($argument:ident: $type:ty),* $(,)?) [VkResult] $body:block) => {
        $($doc)* $vis unsafe extern "system" fn $name($($argument: $type),*) -> vk::Result {
            #[allow(unreachable_code, reason = "some always end early")]
            let answer = || -> Result<(), vk::Result> {
                // SAFETY: see above.
                let () = unsafe { $body };
                Ok(())
            };
            answer().err().unwrap_or(vk::Result::SUCCESS)
        }
    };
    (@one [$($doc:tt)*] $vis:vis $name:ident ($($argument:ident: $type:ty),* $(,)?) [$($out:path)?] $body:block) => {
        $($doc)* $vis unsafe extern "system" fn $name($($argument: $type),*) $(-> $out)? {
            // SAFETY: see above.
            unsafe { $body }
        }
    };
}

/// Commands that create an object, and what the driver notes of it then.
macro_rules! created {
    ($($create:ident $info:ident $handle:ident $kind:ident $name:literal $note:expr;)+) => { answers! { $(
        pub(super) fn $create(
            device: vk::Device, info: *const vk::$info<'_>, allocator: Callbacks<'_>, out: *mut vk::$handle,
        ) -> VkResult {
            let _outside = Outside::new();
            let (state, name, allocator) = (dev(device), $name, allocator as usize);
            state.arrive(name, Args::Create { info: info as usize, allocator, out: out as usize });
            state.fails_by(name, allocator)?;
            let handle = state.make(Kind::$kind, allocator, Data::None);
            let note: unsafe fn(&DeviceState, u64, &vk::$info<'_>) = $note;
            note(state, handle, &*info);
            out.write(vk::$handle::from_raw(handle));
        }
    )+ } };
}

/// Commands that destroy one, and what the machine forgets.
macro_rules! destroyed {
    ($($destroy:ident $handle:ident $kind:ident $name:literal $forget:expr;)+) => { answers! { $(
        pub(super) fn $destroy(device: vk::Device, handle: vk::$handle, allocator: Callbacks<'_>) {
            let (state, forget): (_, fn(&mut Machine, u64)) = (dev(device), $forget);
            state.follow(|machine| forget(machine, handle.as_raw()));
            state.destroy($name, Kind::$kind, handle.as_raw(), allocator as usize);
        }
    )+ } };
}

/// Fills the structures of a chain that are of these types.
macro_rules! fill {
    ($first:expr; $($type:ty: |$own:ident| $body:expr)+) => {{
        let mut next: *mut c_void = $first;
        while !next.is_null() {
            let base = next.cast::<vk::BaseOutStructure<'_>>();
            match (*base).s_type {
                $(<$type>::STRUCTURE_TYPE => {
                    let $own = &mut *next.cast::<$type>();
                    $body
                })+
                _ => {}
            }
            next = (*base).p_next.cast();
        }
    }};
}

/// The loader's node with the link in a chain, or null.
macro_rules! link {
    ($first:expr, $type:ty, $s_type:ident) => {{
        let mut next = $first.cast::<$type>();
        let is_link =
            |node: &$type| node.s_type == vk::StructureType::$s_type && node.function == LayerFunction::LINK_INFO;
        while next.as_ref().is_some_and(|node| !is_link(node)) {
            next = (*next).p_next.cast();
        }
        next.cast_mut()
    }};
}

/// The list of modifiers, if the caller has room for it.
macro_rules! modifiers {
    ($own:ident, $support:ident, $type:ident, $features:expr) => {
        $own.drm_format_modifier_count = $support.modifiers.len() as u32;
        let items = $own.p_drm_format_modifier_properties;
        for (index, (modifier, features)) in $support.modifiers.iter().enumerate().filter(|_| !items.is_null()) {
            items.add(index).write(vk::$type {
                drm_format_modifier: *modifier,
                drm_format_modifier_plane_count: 1,
                drm_format_modifier_tiling_features: $features(*features),
            });
        }
    };
}

mod followed;
mod heaps;
pub(crate) mod machine;

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use ash::vk::{self, Handle, TaggedStructure};
use samplin::memory::faults::Outside;
use vk_layer_sys::{LayerDeviceCreateInfo, LayerFunction, LayerInstanceCreateInfo, PipelineCreateInfoKHR};

use crate::driver as here;
use machine::Machine;

pub(crate) type Feature = vk::FormatFeatureFlags2;
type Callbacks<'a> = *const vk::AllocationCallbacks<'a>;
type Resolved = vk::PFN_vkVoidFunction;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// ---- what the driver can do ----

/// Features of one format.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormatSupport {
    pub(crate) optimal: Feature,
    pub(crate) linear: Feature,
    pub(crate) buffer: Feature,
    pub(crate) modifiers: Vec<(u64, Feature)>,
}

/// When the value of a destroyed handle is handed out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reuse {
    #[default]
    Never,
    /// By the very next creation of that kind.
    AtOnce,
}

/// What the driver is like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// `VkPhysicalDeviceProperties::apiVersion`.
    pub(crate) api_version: u32,
    /// `driverInfo` of lavapipe, whose `driverVersion` is always 1; nothing if it says nothing of itself.
    pub(crate) lavapipe: Option<&'static CStr>,
    /// Device extensions that it supports.
    pub(crate) extensions: Vec<&'static CStr>,
    pub(crate) max_anisotropy: f32,
    pub(crate) max_lod_bias: f32,
    pub(crate) max_samplers: u32,
    pub(crate) max_custom_borders: u32,
    /// Samplers for which there is room in the driver's own part of a heap of samplers, where shaders embed some.
    pub(crate) embedded_places: u32,
    pub(crate) max_sample_mask_words: u32,
    /// `maxPerStageDescriptorStorageBuffers`.
    pub(crate) storage_buffers: u32,
    pub(crate) filter_minmax_component_mapping: bool,
    pub(crate) max_block_match_window: [u32; 2],
    pub(crate) formats: Vec<(vk::Format, FormatSupport)>,
    pub(crate) reuse: Reuse,
    /// Samplers of equal state are one object with one handle.
    pub(crate) share_samplers: bool,
    /// Commands that resolve to null whatever is enabled.
    pub(crate) hidden: Vec<&'static CStr>,
    /// `vkGetDeviceProcAddr` answers instance commands too, as some drivers did.
    pub(crate) careless: bool,
    /// Modifier of every image with modifier tiling.
    pub(crate) modifier: u64,
    /// What the image format queries with a view type answer in turn: a result, `filterCubic` and `filterCubicMinmax`; that all
    /// is there when no answer is left.
    pub(crate) cubic: Arc<Mutex<VecDeque<(vk::Result, bool, bool)>>>,
    /// What those queries asked.
    pub(crate) asked: Arc<Mutex<Vec<Chained<vk::PhysicalDeviceImageFormatInfo2<'static>>>>>,
    /// Images of each swapchain.
    pub(crate) swapchain_images: u32,
    /// `vkGetPhysicalDeviceFeatures2` exists and says that everything is supported; without it nothing can be augmented.
    pub(crate) tells_features: bool,
    /// It has the features that only make something about sampling legal.
    pub(crate) permits: bool,
    /// Version of which instance commands exist, if that is more than the device's: a loader and another device may have it.
    pub(crate) instance_version: u32,
    /// `maxBoundDescriptorSets`, `maxPerStageDescriptorSamplers` and `maxDescriptorSetSamplers`.
    pub(crate) set_limits: [u32; 3],
    /// Samplers, and as many of all else, that sets may have which may be updated after they were bound; 0 if there are no such sets.
    pub(crate) after_bind: u32,
    /// `maxPerStageDescriptorUniformBuffers`, `maxDescriptorSetUniformBuffers` and `maxPerStageResources`.
    pub(crate) block_limits: [u32; 3],
    /// It keeps what is bound in each command buffer, in [`DeviceState::machine`].
    pub(crate) follows: bool,
    /// Queries with a chain that the physical device was asked, in order.
    pub(crate) queries: Arc<Mutex<Vec<&'static CStr>>>,
}

const SAMPLED: Feature = Feature::SAMPLED_IMAGE;

impl Config {
    /// What the tests take for granted: RGBA8 filters, R32_UINT and D32 do not, RGBA8 does not with linear tiling.
    pub(crate) fn new() -> Self {
        let linear = Feature::SAMPLED_IMAGE_FILTER_LINEAR;
        let of = |optimal: Feature, linear: Feature| FormatSupport { optimal, linear, ..FormatSupport::default() };
        let depth = SAMPLED | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON;
        Self {
            api_version: vk::API_VERSION_1_3,
            extensions: EXTENSIONS.to_vec(),
            max_anisotropy: 16.0,
            max_lod_bias: 4.0,
            max_samplers: 4000,
            max_custom_borders: 4096,
            storage_buffers: 4,
            filter_minmax_component_mapping: true,
            max_block_match_window: [64, 64],
            formats: vec![
                (vk::Format::R8G8B8A8_UNORM, of(SAMPLED | linear | Feature::SAMPLED_IMAGE_FILTER_MINMAX, SAMPLED)),
                (vk::Format::B8G8R8A8_UNORM, of(SAMPLED | linear, SAMPLED)),
                (vk::Format::B8G8R8A8_SRGB, of(SAMPLED, SAMPLED)),
                (vk::Format::R32_UINT, FormatSupport { modifiers: vec![(9, SAMPLED)], ..of(SAMPLED, SAMPLED) }),
                (vk::Format::R32_SFLOAT, of(SAMPLED, SAMPLED)),
                (vk::Format::D32_SFLOAT, of(depth, Feature::empty())),
                (
                    vk::Format::G8_B8R8_2PLANE_420_UNORM,
                    of(SAMPLED | linear | Feature::MIDPOINT_CHROMA_SAMPLES, Feature::empty()),
                ),
                (
                    vk::Format::A2R10G10B10_UNORM_PACK32,
                    FormatSupport {
                        optimal: SAMPLED | linear,
                        linear: SAMPLED,
                        modifiers: vec![(7, SAMPLED | linear), (9, SAMPLED)],
                        ..FormatSupport::default()
                    },
                ),
            ],
            modifier: 9,
            swapchain_images: 3,
            instance_version: vk::API_VERSION_1_0,
            set_limits: [8, 16, 96],
            // The least that every device has.
            block_limits: [12, 72, 128],
            ..Self::default()
        }
    }

    /// What it can do with a format that it has.
    pub(crate) fn of_format(&mut self, format: vk::Format) -> &mut FormatSupport {
        &mut self.formats.iter_mut().find(|(other, _)| *other == format).expect("the driver has it").1
    }

    fn format(&self, format: vk::Format) -> FormatSupport {
        self.formats.iter().find(|(other, _)| *other == format).map_or_else(FormatSupport::default, |(_, f)| f.clone())
    }
}

/// An extension that is younger than the bindings.
const PIPELINE_BINARY: &CStr = c"VK_KHR_pipeline_binary";

const EXTENSIONS: &[&CStr] = &[
    ash::khr::push_descriptor::NAME,
    ash::khr::descriptor_update_template::NAME,
    ash::khr::maintenance6::NAME,
    ash::khr::copy_commands2::NAME,
    ash::khr::sampler_ycbcr_conversion::NAME,
    ash::khr::sampler_mirror_clamp_to_edge::NAME,
    ash::khr::swapchain::NAME,
    ash::khr::display_swapchain::NAME,
    ash::khr::portability_subset::NAME,
    ash::khr::format_feature_flags2::NAME,
    ash::ext::descriptor_buffer::NAME,
    ash::ext::image_drm_format_modifier::NAME,
    ash::ext::custom_border_color::NAME,
    ash::ext::border_color_swizzle::NAME,
    ash::ext::sampler_filter_minmax::NAME,
    ash::ext::filter_cubic::NAME,
    ash::ext::non_seamless_cube_map::NAME,
    ash::ext::fragment_density_map::NAME,
    ash::ext::shader_object::NAME,
    ash::nv::device_generated_commands::NAME,
    c"VK_EXT_device_generated_commands",
    ash::ext::transform_feedback::NAME,
    ash::khr::ray_tracing_pipeline::NAME,
    ash::khr::deferred_host_operations::NAME,
    ash::ext::debug_marker::NAME,
    ash::ext::frame_boundary::NAME,
    ash::nvx::image_view_handle::NAME,
    ash::qcom::image_processing::NAME,
    ash::qcom::image_processing2::NAME,
    ash::qcom::filter_cubic_weights::NAME,
    ash::qcom::filter_cubic_clamp::NAME,
    ash::valve::descriptor_set_host_mapping::NAME,
    PIPELINE_BINARY,
    ash::ext::shader_module_identifier::NAME,
];

// ---- what it was called with ----

/// A node of a `pNext` chain as it was at the call.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) s_type: vk::StructureType,
    /// The whole structure, for the types that the mock knows; else the 16 bytes that every node has. Padding is not
    /// initialised.
    pub(crate) bytes: Vec<MaybeUninit<u8>>,
}

impl Node {
    /// The structure, if the node is of its type.
    pub(crate) fn get<T: TaggedStructure + Copy>(&self) -> Option<T> {
        if self.s_type != T::STRUCTURE_TYPE || self.bytes.len() < size_of::<T>() {
            return None;
        }
        // SAFETY: the bytes are a copy of a whole structure of that type.
        Some(unsafe { self.bytes.as_ptr().cast::<T>().read_unaligned() })
    }
}

/// A structure with its chain.
#[derive(Clone, Debug)]
pub(crate) struct Chained<T> {
    pub(crate) at: usize,
    pub(crate) value: T,
    pub(crate) chain: Vec<Node>,
}

impl<T> Chained<T> {
    /// The first chained structure of a type.
    pub(crate) fn find<S: TaggedStructure + Copy>(&self) -> Option<S> {
        self.chain.iter().find_map(Node::get)
    }

    /// The types of the chain, in order.
    pub(crate) fn types(&self) -> Vec<vk::StructureType> {
        self.chain.iter().map(|node| node.s_type).collect()
    }
}

/// An array and where it was.
#[derive(Clone, Debug)]
pub(crate) struct Array<T> {
    pub(crate) at: usize,
    pub(crate) items: Vec<T>,
}

/// A descriptor write; `images` is filled for combined image samplers only, because other types need not have any.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) raw: vk::WriteDescriptorSet<'static>,
    pub(crate) images: Vec<vk::DescriptorImageInfo>,
}

/// One element of a template's data.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) entry: usize,
    pub(crate) index: usize,
    /// Its address.
    pub(crate) at: usize,
    /// For the types that have one; such an element has no bytes.
    pub(crate) image: Option<vk::DescriptorImageInfo>,
    pub(crate) bytes: Vec<u8>,
}

/// What a pointer of the call led to, and where that was.
pub(crate) type At<T> = Option<(usize, T)>;
type Image = vk::DescriptorImageInfo;
/// A storage texel buffer.
type Texels = vk::DescriptorAddressInfoEXT<'static>;

/// Arguments of a call.
#[derive(Clone, Debug)]
pub(crate) enum Args {
    CreateSampler { info: Chained<vk::SamplerCreateInfo<'static>>, allocator: usize, out: usize },
    CreateConversion { info: Chained<vk::SamplerYcbcrConversionCreateInfo<'static>>, allocator: usize },
    Create { info: usize, allocator: usize, out: usize },
    Destroy { handle: u64, allocator: usize },
    Update { writes: Array<Write>, copies: Array<vk::CopyDescriptorSet<'static>> },
    Push { layout: u64, set: u32, writes: Array<Write> },
    Push2 { info: Chained<vk::PushDescriptorSetInfoKHR<'static>>, writes: Array<Write> },
    Template { target: u64, template: u64, data: usize, elements: Vec<Element> },
    Template2 { info: Chained<vk::PushDescriptorSetWithTemplateInfoKHR<'static>>, elements: Vec<Element> },
    GetDescriptor { info: Chained<vk::DescriptorGetInfoEXT<'static>>, image: At<Image>, texels: At<Texels> },
    HeapSamplers { at: usize, infos: Vec<Chained<vk::SamplerCreateInfo<'static>>> },
    HeapResources { at: usize, views: Vec<Option<Chained<vk::ImageViewCreateInfo<'static>>>> },
    ViewHandle { info: Chained<vk::ImageViewHandleInfoNVX<'static>> },
    Blit { source: u64, filter: vk::Filter, regions: usize },
    Blit2 { info: Chained<vk::BlitImageInfo2<'static>> },
    Other(Vec<u64>),
}

impl Args {
    /// Where the structure or the array is that the call is about, or its first argument.
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::CreateSampler { info, .. } => info.at,
            Self::CreateConversion { info, .. } => info.at,
            Self::Create { info, .. } => *info,
            Self::Update { writes, .. } | Self::Push { writes, .. } => writes.at,
            Self::Push2 { info, .. } => info.at,
            Self::Template { data, .. } => *data,
            Self::Template2 { info, .. } => info.at,
            Self::GetDescriptor { info, .. } => info.at,
            Self::HeapSamplers { at, .. } | Self::HeapResources { at, .. } => *at,
            Self::ViewHandle { info } => info.at,
            Self::Blit { regions, .. } => *regions,
            Self::Blit2 { info } => info.at,
            Self::Destroy { handle, .. } => *handle as usize,
            Self::Other(words) => words[0] as usize,
        }
    }
}

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) command: &'static CStr,
    pub(crate) thread: ThreadId,
    pub(crate) args: Args,
}

/// Copies a structure and what is chained to it.
///
/// # Safety
///
/// `info` is valid, as is its chain.
unsafe fn copy<T, S>(info: *const T) -> Chained<S> {
    assert!(size_of::<T>() == size_of::<S>());
    // SAFETY: `S` is `T` with another lifetime; every structure of Vulkan that is copied here starts with sType and pNext.
    unsafe {
        let next = info.cast::<vk::BaseInStructure<'_>>().read().p_next;
        Chained { at: info as usize, value: info.cast::<S>().read(), chain: nodes(next.cast()) }
    }
}

/// # Safety
///
/// The chain is valid.
unsafe fn nodes(mut next: *const c_void) -> Vec<Node> {
    let mut out = Vec::new();
    while !next.is_null() && out.len() < 300 {
        // SAFETY: every node is at least 16 bytes; known types are whole.
        unsafe {
            let base = next.cast::<vk::BaseInStructure<'_>>().read();
            let bytes = next.cast::<MaybeUninit<u8>>();
            let bytes = std::slice::from_raw_parts(bytes, size_of_node(base.s_type)).to_vec();
            out.push(Node { at: next as usize, s_type: base.s_type, bytes });
            next = base.p_next.cast();
        }
    }
    out
}

macro_rules! known_nodes {
    ($($type:ident: $($member:ident)+;)+) => {
        fn size_of_node(s_type: vk::StructureType) -> usize {
            match s_type {
                $(vk::$type::STRUCTURE_TYPE => size_of::<vk::$type<'_>>(),)+
                other => vk_layer_sys::sizes::of(other).unwrap_or(size_of::<vk::BaseInStructure<'_>>()),
            }
        }

        impl Node {
            /// Type and members, without addresses and padding.
            fn text(&self) -> String {
                match self.s_type {
                    $(vk::$type::STRUCTURE_TYPE => self.get::<vk::$type<'_>>().map_or_else(String::new, |node| {
                        format!(concat!(stringify!($type), $(" ", stringify!($member), "={:?}"),+), $(node.$member),+)
                    }),)+
                    other => format!("{other:?}"),
                }
            }
        }
    };
}

known_nodes! {
    SamplerReductionModeCreateInfo: reduction_mode;
    SamplerYcbcrConversionInfo: conversion;
    SamplerCustomBorderColorCreateInfoEXT: format;
    SamplerBorderColorComponentMappingCreateInfoEXT: components srgb;
    SamplerCubicWeightsCreateInfoQCOM: cubic_weights;
    SamplerBlockMatchWindowCreateInfoQCOM: window_extent window_compare_mode;
    OpaqueCaptureDescriptorDataCreateInfoEXT: opaque_capture_descriptor_data;
    DebugUtilsObjectNameInfoEXT: object_type object_handle p_object_name;
    PipelineLayoutCreateInfo: set_layout_count;
    ImageViewUsageCreateInfo: usage;
    PhysicalDeviceFeatures2: features;
    PhysicalDeviceVulkan12Features: sampler_mirror_clamp_to_edge sampler_filter_minmax;
    PhysicalDeviceCustomBorderColorFeaturesEXT: custom_border_colors custom_border_color_without_format;
    PhysicalDeviceBorderColorSwizzleFeaturesEXT: border_color_swizzle border_color_swizzle_from_image;
}

/// A (pointer, count) pair; empty for count 0, whatever the pointer.
///
/// # Safety
///
/// `first` leads to `count` elements unless `count` is 0.
unsafe fn array<T: Copy>(first: *const T, count: u32) -> Vec<T> {
    // SAFETY: forwarded from the caller.
    (0..count as usize).map(|index| unsafe { first.add(index).read() }).collect()
}

/// Both calls of the idiom: how many there are, and as many as there is room for.
///
/// # Safety
///
/// `count` is valid, and `out` null or with room for so many.
unsafe fn enumerate<T: Copy>(count: *mut u32, out: *mut T, items: &[T]) -> Result<(), vk::Result> {
    // SAFETY: forwarded from the caller.
    unsafe {
        let room = if out.is_null() { items.len() } else { items.len().min(*count as usize) };
        if !out.is_null() {
            ptr::copy_nonoverlapping(items.as_ptr(), out, room);
        }
        count.write(room as u32);
        if room < items.len() { Err(vk::Result::INCOMPLETE) } else { Ok(()) }
    }
}

/// # Safety
///
/// The writes are valid.
unsafe fn writes(first: *const vk::WriteDescriptorSet<'_>, count: u32) -> Array<Write> {
    // SAFETY: only the lifetime is another.
    let items = unsafe { array(first.cast::<vk::WriteDescriptorSet<'static>>(), count) };
    let items = items.into_iter().map(|raw| {
        let combined = raw.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        // SAFETY: `descriptorCount` elements for this type.
        let images = if combined { unsafe { array(raw.p_image_info, raw.descriptor_count) } } else { Vec::new() };
        Write { raw, images }
    });
    Array { at: first as usize, items: items.collect() }
}

// ---- objects ----

macro_rules! kinds {
    ($($kind:ident)+) => {
        /// Kinds of handles.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Kind { $($kind,)+ }

        impl Kind {
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)+];
        }
    };
}

kinds! {
    Sampler Conversion Image View Layout PipelineLayout Pool Set Template Swapchain
    Module Pipeline Shader RenderPass CommandPool Buffer Memory
}

#[derive(Clone, Debug, Default)]
enum Data {
    #[default]
    None,
    Sampler(Box<SamplerModel>),
    Template(Vec<vk::DescriptorUpdateTemplateEntry>),
    Sets(Vec<u64>),
    Images(Vec<u64>),
}

/// What a sampler was created with.
#[derive(Clone, Debug)]
pub(crate) struct SamplerModel {
    pub(crate) info: vk::SamplerCreateInfo<'static>,
    pub(crate) chain: Vec<Node>,
    /// Made without an allocator, as the layer does and the tests' application never.
    pub(crate) by_layer: bool,
}

struct Object {
    /// Creations that were answered with this handle and not yet undone.
    count: u32,
    allocator: usize,
    data: Data,
}

#[derive(Default)]
struct Objects {
    live: HashMap<(Kind, u64), Object>,
    free: HashMap<Kind, Vec<u64>>,
    next: u64,
    samplers: u32,
    custom: u32,
    peak: u32,
    freed_early: Vec<(Kind, u64)>,
}

impl Objects {
    /// An object is gone, and its handle free.
    fn remove(&mut self, reuse: Reuse, kind: Kind, handle: u64) -> Option<Object> {
        let object = self.live.remove(&(kind, handle))?;
        if let Data::Sampler(model) = &object.data {
            self.samplers -= 1;
            self.custom -= u32::from(is_custom(model));
        }
        if reuse == Reuse::AtOnce {
            self.free.entry(kind).or_default().push(handle);
        }
        Some(object)
    }

    /// Whether the driver has let go of an object before, so that the handle may be another's by now.
    fn was_freed_early(&mut self, kind: Kind, handle: u64) -> bool {
        let index = self.freed_early.iter().position(|freed| *freed == (kind, handle));
        index.map(|index| self.freed_early.swap_remove(index)).is_some()
    }

    /// The sets of a pool.
    fn sets(&mut self, pool: vk::DescriptorPool) -> Option<&mut Vec<u64>> {
        match &mut self.live.get_mut(&(Kind::Pool, pool.as_raw()))?.data {
            Data::Sets(sets) => Some(sets),
            _ => None,
        }
    }
}

/// Called as each call arrives, before it has any effect. No lock is held.
type Observer = Arc<dyn Fn(&DeviceState, &Call) + Send + Sync>;

/// Calls of the layer's own that fail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnFailure {
    pub(crate) command: &'static CStr,
    pub(crate) result: vk::Result,
    /// How many are still to fail.
    pub(crate) left: u64,
    /// How many have failed.
    pub(crate) hit: u64,
}

/// One device.
#[derive(Default)]
pub(crate) struct DeviceState {
    pub(crate) config: Arc<Config>,
    pub(crate) enabled: Vec<String>,
    /// `min` of what the application asked for and what the driver has.
    api_version: u32,
    instance_extensions: Vec<String>,
    calls: Mutex<Vec<Call>>,
    pub(crate) recording: AtomicBool,
    objects: Mutex<Objects>,
    observer: Mutex<Option<Observer>>,
    observed: AtomicBool,
    failures: Mutex<HashMap<&'static CStr, VecDeque<vk::Result>>>,
    /// Which calls fail that the layer makes on its own.
    pub(crate) own_failure: Mutex<Option<OwnFailure>>,
    /// Fallible calls so far.
    fallible: AtomicU64,
    /// Number of the fallible call that fails, counted from 1; 0 for none.
    pub(crate) fail_nth: AtomicU64,
    /// What that call returns.
    pub(crate) fail_with: Mutex<vk::Result>,
    /// What no driver may be asked.
    pub(crate) errors: Mutex<Vec<String>>,
    /// What was named, in order.
    pub(crate) names: Mutex<Vec<(vk::ObjectType, u64, String)>>,
    /// What is bound in truth.
    pub(crate) machine: Mutex<Machine>,
    /// The words of memory, where the host has them mapped.
    pub(crate) mapped: Mutex<HashMap<u64, machine::Words>>,
    /// Pipelines that a deferred operation makes, and where their handles go when it is joined.
    deferred: Mutex<Option<(usize, Vec<u64>)>>,
    /// Samplers that stages embed, as they arrived.
    pub(crate) embedded: Mutex<Vec<heaps::Embedded>>,
    /// The index of the next border colour that is registered.
    colours: Mutex<u32>,
}

impl DeviceState {
    /// Removes and returns the calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut lock(&self.calls))
    }

    /// Removes the calls so far and returns those of one command.
    pub(crate) fn calls_of(&self, command: &CStr) -> Vec<Args> {
        self.calls().into_iter().filter(|call| call.command == command).map(|call| call.args).collect()
    }

    /// Sets what is called as each call arrives.
    pub(crate) fn observe(&self, observer: impl Fn(&DeviceState, &Call) + Send + Sync + 'static) {
        *lock(&self.observer) = Some(Arc::new(observer));
        self.observed.store(true, Ordering::Release);
    }

    /// Makes the next calls of `command` fail, one by each result.
    pub(crate) fn fail(&self, command: &'static CStr, results: impl IntoIterator<Item = vk::Result>) {
        lock(&self.failures).entry(command).or_default().extend(results);
    }

    /// Number of calls so far that may fail.
    pub(crate) fn fallible(&self) -> u64 {
        self.fallible.load(Ordering::Relaxed)
    }

    pub(crate) fn error(&self, text: String) {
        lock(&self.errors).push(text);
    }

    /// Fails the test if the driver was misused.
    #[track_caller]
    pub(crate) fn check(&self) {
        let errors = lock(&self.errors);
        assert!(errors.is_empty(), "the driver was misused: {errors:#?}");
    }

    /// Live handles of a kind.
    pub(crate) fn live(&self, kind: Kind) -> Vec<u64> {
        let objects = lock(&self.objects);
        let mut handles: Vec<u64> =
            objects.live.keys().filter(|(k, _)| *k == kind).map(|(_, handle)| *handle).collect();
        handles.sort_unstable();
        handles
    }

    /// Makes room for so many live objects: a hash table doubles at a moment that its seed decides, and a test of memory would take the
    /// driver's growth for the layer's.
    pub(crate) fn reserve(&self, objects: usize) {
        lock(&self.objects).live.reserve(objects);
    }

    /// What a live sampler was created with.
    pub(crate) fn sampler(&self, handle: u64) -> Option<SamplerModel> {
        match &lock(&self.objects).live.get(&(Kind::Sampler, handle))?.data {
            Data::Sampler(model) => Some((**model).clone()),
            _ => None,
        }
    }

    /// Live samplers that the layer made.
    pub(crate) fn variants(&self) -> Vec<u64> {
        let all = self.live(Kind::Sampler);
        all.into_iter().filter(|handle| self.sampler(*handle).is_some_and(|model| model.by_layer)).collect()
    }

    /// Most samplers that ever lived at once.
    pub(crate) fn sampler_peak(&self) -> u32 {
        lock(&self.objects).peak
    }

    fn arrive(&self, command: &'static CStr, args: Args) {
        let _outside = Outside::new();
        let recording = self.recording.load(Ordering::Relaxed);
        let observed = self.observed.load(Ordering::Acquire);
        if !recording && !observed {
            return;
        }
        let call = Call { command, thread: std::thread::current().id(), args };
        if observed {
            let observer = lock(&self.observer).clone();
            if let Some(observer) = observer {
                observer(self, &call);
            }
        }
        if recording {
            lock(&self.calls).push(call);
        }
    }

    /// Fails as this call was armed to.
    fn fails(&self, command: &'static CStr) -> Result<(), vk::Result> {
        let number = self.fallible.fetch_add(1, Ordering::Relaxed) + 1;
        if number == self.fail_nth.load(Ordering::Relaxed) {
            return Err(*lock(&self.fail_with));
        }
        lock(&self.failures).get_mut(command).and_then(VecDeque::pop_front).map_or(Ok(()), Err)
    }

    /// The same of a call that the layer makes on its own if there is no allocator.
    fn fails_by(&self, command: &'static CStr, allocator: usize) -> Result<(), vk::Result> {
        self.fails(command)?;
        let mut own = lock(&self.own_failure);
        match own.as_mut().filter(|armed| allocator == 0 && armed.command == command && armed.left > 0) {
            Some(armed) => {
                armed.left -= 1;
                armed.hit += 1;
                Err(armed.result)
            }
            None => Ok(()),
        }
    }

    /// Keeps something with a new object.
    fn note(&self, kind: Kind, handle: u64, data: Data) {
        lock(&self.objects).live.entry((kind, handle)).and_modify(|object| object.data = data);
    }

    /// Images for a new swapchain.
    fn show(&self, swapchain: u64) {
        let images = (0..self.config.swapchain_images).map(|_| self.make(Kind::Image, 0, Data::None)).collect();
        self.note(Kind::Swapchain, swapchain, Data::Images(images));
    }

    fn make(&self, kind: Kind, allocator: usize, data: Data) -> u64 {
        let _outside = Outside::new();
        let mut objects = lock(&self.objects);
        if let Data::Sampler(model) = &data {
            objects.samplers += 1;
            objects.peak = objects.peak.max(objects.samplers);
            objects.custom += u32::from(is_custom(model));
        }
        let reused = match self.config.reuse {
            Reuse::Never => None,
            Reuse::AtOnce => objects.free.entry(kind).or_default().pop(),
        };
        let handle = reused.unwrap_or_else(|| {
            objects.next += 1;
            // Strided as a driver's pool hands them out, and no two kinds alike.
            0x5500_0000_0000 + objects.next * 0x140
        });
        objects.live.insert((kind, handle), Object { count: 1, allocator, data });
        handle
    }

    fn destroy(&self, command: &'static CStr, kind: Kind, handle: u64, allocator: usize) {
        let _outside = Outside::new();
        self.arrive(command, Args::Destroy { handle, allocator });
        if handle == 0 {
            return;
        }
        let mut objects = lock(&self.objects);
        if objects.was_freed_early(kind, handle) {
            return;
        }
        let Some(object) = objects.live.get_mut(&(kind, handle)) else {
            drop(objects);
            return self.error(format!("{command:?} of {handle:#x}, which does not live"));
        };
        // One handle that stands for several creations may have had several allocators.
        if object.allocator != allocator && object.count == 1 && !self.config.share_samplers {
            let before = object.allocator;
            self.error(format!("{command:?} of {handle:#x} with allocator {allocator:#x}, made with {before:#x}"));
        }
        object.count -= 1;
        if object.count > 0 {
            return;
        }
        let reuse = self.config.reuse;
        match objects.remove(reuse, kind, handle).map(|object| object.data) {
            Some(Data::Sets(sets)) => sets.iter().for_each(|set| _ = objects.remove(reuse, Kind::Set, *set)),
            Some(Data::Images(images)) => images.into_iter().for_each(|image| {
                if !objects.was_freed_early(Kind::Image, image) {
                    objects.remove(reuse, Kind::Image, image);
                }
            }),
            _ => {}
        }
    }

    /// Frees a handle while its destroy call has only arrived: the call itself then finds it gone, or alive again as
    /// another thread's object, and must leave that alone.
    pub(crate) fn free_early(&self, kind: Kind, handle: u64) {
        let mut objects = lock(&self.objects);
        if objects.remove(self.config.reuse, kind, handle).is_some() {
            objects.freed_early.push((kind, handle));
        }
    }

    fn template(&self, handle: u64) -> Vec<vk::DescriptorUpdateTemplateEntry> {
        match lock(&self.objects).live.get(&(Kind::Template, handle)).map(|object| &object.data) {
            Some(Data::Template(entries)) => entries.clone(),
            _ => {
                self.error(format!("template {handle:#x} does not live"));
                Vec::new()
            }
        }
    }

    /// Reads the data of a template as a driver does: the described elements, nothing else.
    ///
    /// # Safety
    ///
    /// The data is valid for the template.
    unsafe fn elements(&self, template: u64, data: *const c_void) -> Vec<Element> {
        let mut out = Vec::new();
        for (number, entry) in self.template(template).iter().enumerate() {
            let inline = entry.descriptor_type == vk::DescriptorType::INLINE_UNIFORM_BLOCK;
            let (count, size) = if inline {
                (usize::from(entry.descriptor_count > 0), entry.descriptor_count as usize)
            } else {
                (entry.descriptor_count as usize, size_of_element(entry.descriptor_type))
            };
            for index in 0..count {
                let at = data.cast::<u8>().wrapping_add(entry.offset + index * entry.stride);
                // SAFETY: the template describes these bytes.
                let (image, bytes) = unsafe {
                    if has_image(entry.descriptor_type) {
                        (Some(at.cast::<vk::DescriptorImageInfo>().read_unaligned()), Vec::new())
                    } else {
                        (None, (0..size).map(|byte| at.wrapping_add(byte).read()).collect())
                    }
                };
                out.push(Element { entry: number, index, at: at as usize, image, bytes });
            }
        }
        out
    }

    fn has(&self, name: &CStr) -> bool {
        self.enabled.iter().any(|e| e.as_bytes() == name.to_bytes())
    }
}

fn is_custom(model: &SamplerModel) -> bool {
    matches!(model.info.border_color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT)
}

fn has_image(ty: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    matches!(
        ty,
        T::SAMPLER
            | T::COMBINED_IMAGE_SAMPLER
            | T::SAMPLED_IMAGE
            | T::STORAGE_IMAGE
            | T::INPUT_ATTACHMENT
            | T::SAMPLE_WEIGHT_IMAGE_QCOM
            | T::BLOCK_MATCH_IMAGE_QCOM
    )
}

/// Size of an element that is no image.
fn size_of_element(ty: vk::DescriptorType) -> usize {
    use vk::DescriptorType as T;
    match ty {
        T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC => {
            size_of::<vk::DescriptorBufferInfo>()
        }
        // The descriptor type that nobody knows has 40 bytes here.
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER | T::ACCELERATION_STRUCTURE_KHR => 8,
        _ => 40,
    }
}

// ---- dispatchable objects: the first word is the dispatch key ----

#[repr(C)]
pub(crate) struct InstanceObject {
    key: usize,
    config: Arc<Config>,
    api_version: u32,
    extensions: Vec<String>,
    physical: *mut PhysicalObject,
    pub(crate) destroyed: Arc<AtomicBool>,
}

#[repr(C)]
struct PhysicalObject {
    key: usize,
    instance: *const InstanceObject,
}

#[repr(C)]
#[derive(Default)]
struct DeviceObject {
    key: usize,
    state: Arc<DeviceState>,
    /// Command buffers, freed with the device.
    children: Mutex<Vec<*mut ChildObject>>,
    /// Those of them that were freed.
    unused: Mutex<Vec<*mut ChildObject>>,
    destroyed: Arc<AtomicBool>,
}

#[repr(C)]
struct ChildObject {
    key: usize,
    device: *const DeviceObject,
}

static KEYS: AtomicUsize = AtomicUsize::new(0x6000_0000);

fn new_key() -> usize {
    KEYS.fetch_add(64, Ordering::Relaxed)
}

/// # Safety
///
/// `handle` is a live instance of this driver.
unsafe fn instance_object<'a>(handle: vk::Instance) -> &'a InstanceObject {
    // SAFETY: forwarded from the caller.
    unsafe { &*(handle.as_raw() as usize as *const InstanceObject) }
}

/// # Safety
///
/// `handle` is a live physical device of this driver.
unsafe fn physical_object<'a>(handle: vk::PhysicalDevice) -> &'a InstanceObject {
    // SAFETY: forwarded from the caller; the instance outlives its physical device.
    unsafe { &*(*(handle.as_raw() as usize as *const PhysicalObject)).instance }
}

/// # Safety
///
/// `handle` is a live device of this driver.
unsafe fn device_object<'a>(handle: vk::Device) -> &'a DeviceObject {
    // SAFETY: forwarded from the caller.
    unsafe { &*(handle.as_raw() as usize as *const DeviceObject) }
}

/// # Safety
///
/// As for [`device_object`].
unsafe fn dev<'a>(handle: vk::Device) -> &'a DeviceState {
    // SAFETY: forwarded from the caller.
    unsafe { &device_object(handle).state }
}

/// # Safety
///
/// `handle` is a command buffer of a live device.
unsafe fn cmd<'a>(handle: vk::CommandBuffer) -> &'a DeviceState {
    // SAFETY: forwarded from the caller; a device outlives its command buffers.
    unsafe { &(*(*(handle.as_raw() as usize as *const ChildObject)).device).state }
}

/// The state behind a device handle, for tests.
pub(crate) fn state_of(handle: vk::Device) -> Arc<DeviceState> {
    // SAFETY: tests ask for devices that they have just created.
    unsafe { Arc::clone(&device_object(handle).state) }
}

// ---- resolving commands ----

/// What has to be there for a command to exist.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    Since(u32),
    Of(&'static CStr),
    OfInstance(&'static CStr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Global,
    Instance,
    Device,
}

macro_rules! commands {
    ($($level:ident $module:ident $function:ident: $type:ty = $($name:literal $need:expr),+;)+) => {
        /// Every command of the driver.
        pub(crate) const COMMANDS: &[(&CStr, Level, Need)] = &[$($(($name, Level::$level, $need),)+)+];

        fn find(name: &CStr) -> Option<(Level, Need, unsafe extern "system" fn())> {
            $($(if name == $name {
                let function: $type = $module::$function;
                // SAFETY: the caller casts it back by the command's name.
                let function = unsafe { std::mem::transmute::<$type, unsafe extern "system" fn()>(function) };
                return Some((Level::$level, $need, function));
            })+)+
            None
        }
    };
}

const V10: Need = Need::Since(vk::API_VERSION_1_0);
const V11: Need = Need::Since(vk::API_VERSION_1_1);
const V13: Need = Need::Since(vk::API_VERSION_1_3);
const V14: Need = Need::Since(vk::make_api_version(0, 1, 4, 0));
const HEAP: Need = Need::Of(vk_layer_sys::EXT_DESCRIPTOR_HEAP_NAME);
const PUSH: Need = Need::Of(ash::khr::push_descriptor::NAME);
const TEMPLATE: Need = Need::Of(ash::khr::descriptor_update_template::NAME);
const MAINTENANCE6: Need = Need::Of(ash::khr::maintenance6::NAME);
const YCBCR: Need = Need::Of(ash::khr::sampler_ycbcr_conversion::NAME);
const PROPERTIES2: Need = Need::OfInstance(ash::khr::get_physical_device_properties2::NAME);
const SWAPCHAIN: Need = Need::Of(ash::khr::swapchain::NAME);

/// Every command of the driver, given to another macro: level, module and name of the function, type, and each spelling with what it takes.
macro_rules! every_command {
    ($with:ident) => { $with! {
            Global here create_instance: vk::PFN_vkCreateInstance = c"vkCreateInstance" V10;
            Global here get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr = c"vkGetInstanceProcAddr" V10;
            Instance here destroy_instance: vk::PFN_vkDestroyInstance = c"vkDestroyInstance" V10;
            Instance here enumerate_physical_devices: vk::PFN_vkEnumeratePhysicalDevices = c"vkEnumeratePhysicalDevices" V10;
            Instance here enumerate_device_extension_properties: vk::PFN_vkEnumerateDeviceExtensionProperties = c"vkEnumerateDeviceExtensionProperties" V10;
            Instance here get_properties: vk::PFN_vkGetPhysicalDeviceProperties = c"vkGetPhysicalDeviceProperties" V10;
            Instance here get_properties2: vk::PFN_vkGetPhysicalDeviceProperties2 = c"vkGetPhysicalDeviceProperties2" V11, c"vkGetPhysicalDeviceProperties2KHR" PROPERTIES2;
            Instance here get_features2: vk::PFN_vkGetPhysicalDeviceFeatures2 = c"vkGetPhysicalDeviceFeatures2" V11, c"vkGetPhysicalDeviceFeatures2KHR" PROPERTIES2;
            Instance here get_memory_properties: vk::PFN_vkGetPhysicalDeviceMemoryProperties = c"vkGetPhysicalDeviceMemoryProperties" V10;
            Instance here get_format_properties: vk::PFN_vkGetPhysicalDeviceFormatProperties = c"vkGetPhysicalDeviceFormatProperties" V10;
            Instance here get_format_properties2: vk::PFN_vkGetPhysicalDeviceFormatProperties2 = c"vkGetPhysicalDeviceFormatProperties2" V11, c"vkGetPhysicalDeviceFormatProperties2KHR" PROPERTIES2;
            Instance here get_image_format_properties2: vk::PFN_vkGetPhysicalDeviceImageFormatProperties2 = c"vkGetPhysicalDeviceImageFormatProperties2" V11, c"vkGetPhysicalDeviceImageFormatProperties2KHR" PROPERTIES2;
            Instance here get_image_format_properties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties = c"vkGetPhysicalDeviceImageFormatProperties" V10;
            Instance here get_sparse_properties: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties = c"vkGetPhysicalDeviceSparseImageFormatProperties" V10;
            Instance here get_sparse_properties2: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2 = c"vkGetPhysicalDeviceSparseImageFormatProperties2" V11, c"vkGetPhysicalDeviceSparseImageFormatProperties2KHR" PROPERTIES2;
            Instance here create_device: vk::PFN_vkCreateDevice = c"vkCreateDevice" V10;
            Device here get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr = c"vkGetDeviceProcAddr" V10;
            Device here destroy_device: vk::PFN_vkDestroyDevice = c"vkDestroyDevice" V10;
            Device here device_wait_idle: vk::PFN_vkDeviceWaitIdle = c"vkDeviceWaitIdle" V10;
            Device here allocate_command_buffers: vk::PFN_vkAllocateCommandBuffers = c"vkAllocateCommandBuffers" V10;
            Device here create_sampler: vk::PFN_vkCreateSampler = c"vkCreateSampler" V10;
            Device here destroy_sampler: vk::PFN_vkDestroySampler = c"vkDestroySampler" V10;
            Device here create_conversion: vk::PFN_vkCreateSamplerYcbcrConversion = c"vkCreateSamplerYcbcrConversion" V11, c"vkCreateSamplerYcbcrConversionKHR" YCBCR;
            Device here destroy_conversion: vk::PFN_vkDestroySamplerYcbcrConversion = c"vkDestroySamplerYcbcrConversion" V11, c"vkDestroySamplerYcbcrConversionKHR" YCBCR;
            Device here create_image: vk::PFN_vkCreateImage = c"vkCreateImage" V10;
            Device here destroy_image: vk::PFN_vkDestroyImage = c"vkDestroyImage" V10;
            Device here get_modifier: vk::PFN_vkGetImageDrmFormatModifierPropertiesEXT = c"vkGetImageDrmFormatModifierPropertiesEXT" Need::Of(ash::ext::image_drm_format_modifier::NAME);
            Device here create_view: vk::PFN_vkCreateImageView = c"vkCreateImageView" V10;
            Device here destroy_view: vk::PFN_vkDestroyImageView = c"vkDestroyImageView" V10;
            Device here create_swapchain: vk::PFN_vkCreateSwapchainKHR = c"vkCreateSwapchainKHR" SWAPCHAIN;
            Device here create_shared_swapchains: vk::PFN_vkCreateSharedSwapchainsKHR = c"vkCreateSharedSwapchainsKHR" Need::Of(ash::khr::display_swapchain::NAME);
            Device here get_swapchain_images: vk::PFN_vkGetSwapchainImagesKHR = c"vkGetSwapchainImagesKHR" SWAPCHAIN;
            Device here destroy_swapchain: vk::PFN_vkDestroySwapchainKHR = c"vkDestroySwapchainKHR" SWAPCHAIN;
            Device here create_layout: vk::PFN_vkCreateDescriptorSetLayout = c"vkCreateDescriptorSetLayout" V10;
            Device here destroy_layout: vk::PFN_vkDestroyDescriptorSetLayout = c"vkDestroyDescriptorSetLayout" V10;
            Device here create_pipeline_layout: vk::PFN_vkCreatePipelineLayout = c"vkCreatePipelineLayout" V10;
            Device here destroy_pipeline_layout: vk::PFN_vkDestroyPipelineLayout = c"vkDestroyPipelineLayout" V10;
            Device here create_pool: vk::PFN_vkCreateDescriptorPool = c"vkCreateDescriptorPool" V10;
            Device here destroy_pool: vk::PFN_vkDestroyDescriptorPool = c"vkDestroyDescriptorPool" V10;
            Device here reset_pool: vk::PFN_vkResetDescriptorPool = c"vkResetDescriptorPool" V10;
            Device here allocate_sets: vk::PFN_vkAllocateDescriptorSets = c"vkAllocateDescriptorSets" V10;
            Device here free_sets: vk::PFN_vkFreeDescriptorSets = c"vkFreeDescriptorSets" V10;
            Device here update: vk::PFN_vkUpdateDescriptorSets = c"vkUpdateDescriptorSets" V10;
            Device here create_template: vk::PFN_vkCreateDescriptorUpdateTemplate = c"vkCreateDescriptorUpdateTemplate" V11, c"vkCreateDescriptorUpdateTemplateKHR" TEMPLATE;
            Device here destroy_template: vk::PFN_vkDestroyDescriptorUpdateTemplate = c"vkDestroyDescriptorUpdateTemplate" V11, c"vkDestroyDescriptorUpdateTemplateKHR" TEMPLATE;
            Device here update_with_template: vk::PFN_vkUpdateDescriptorSetWithTemplate = c"vkUpdateDescriptorSetWithTemplate" V11, c"vkUpdateDescriptorSetWithTemplateKHR" TEMPLATE;
            Device here push: vk::PFN_vkCmdPushDescriptorSetKHR = c"vkCmdPushDescriptorSet" V14, c"vkCmdPushDescriptorSetKHR" PUSH;
            Device here push2: vk::PFN_vkCmdPushDescriptorSet2KHR = c"vkCmdPushDescriptorSet2" V14, c"vkCmdPushDescriptorSet2KHR" MAINTENANCE6;
            Device here push_with_template: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR = c"vkCmdPushDescriptorSetWithTemplate" V14, c"vkCmdPushDescriptorSetWithTemplateKHR" PUSH;
            Device here push_with_template2: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR = c"vkCmdPushDescriptorSetWithTemplate2" V14, c"vkCmdPushDescriptorSetWithTemplate2KHR" MAINTENANCE6;
            Device followed create_buffer: vk::PFN_vkCreateBuffer = c"vkCreateBuffer" V10;
            Device followed destroy_buffer: vk::PFN_vkDestroyBuffer = c"vkDestroyBuffer" V10;
            Device followed get_buffer_memory_requirements: vk::PFN_vkGetBufferMemoryRequirements = c"vkGetBufferMemoryRequirements" V10;
            Device followed allocate_memory: vk::PFN_vkAllocateMemory = c"vkAllocateMemory" V10;
            Device followed free_memory: vk::PFN_vkFreeMemory = c"vkFreeMemory" V10;
            Device followed bind_buffer_memory: vk::PFN_vkBindBufferMemory = c"vkBindBufferMemory" V10;
            Device followed map_memory: vk::PFN_vkMapMemory = c"vkMapMemory" V10;
            Device followed create_module: vk::PFN_vkCreateShaderModule = c"vkCreateShaderModule" V10;
            Device followed destroy_module: vk::PFN_vkDestroyShaderModule = c"vkDestroyShaderModule" V10;
            Device followed create_graphics_pipelines: vk::PFN_vkCreateGraphicsPipelines = c"vkCreateGraphicsPipelines" V10;
            Device followed create_compute_pipelines: vk::PFN_vkCreateComputePipelines = c"vkCreateComputePipelines" V10;
            Device followed destroy_pipeline: vk::PFN_vkDestroyPipeline = c"vkDestroyPipeline" V10;
            Device followed create_render_pass: vk::PFN_vkCreateRenderPass = c"vkCreateRenderPass" V10;
            Device followed create_shaders: vk::PFN_vkCreateShadersEXT = c"vkCreateShadersEXT" Need::Of(ash::ext::shader_object::NAME);
            Device followed destroy_shader: vk::PFN_vkDestroyShaderEXT = c"vkDestroyShaderEXT" Need::Of(ash::ext::shader_object::NAME);
            Device followed bind_shaders: vk::PFN_vkCmdBindShadersEXT = c"vkCmdBindShadersEXT" Need::Of(ash::ext::shader_object::NAME);
            Device followed create_ray_tracing_pipelines: vk::PFN_vkCreateRayTracingPipelinesKHR = c"vkCreateRayTracingPipelinesKHR" Need::Of(ash::khr::ray_tracing_pipeline::NAME);
            Device followed join: vk::PFN_vkDeferredOperationJoinKHR = c"vkDeferredOperationJoinKHR" Need::Of(ash::khr::deferred_host_operations::NAME);
            Device followed begin_feedback: vk::PFN_vkCmdBeginTransformFeedbackEXT = c"vkCmdBeginTransformFeedbackEXT" Need::Of(ash::ext::transform_feedback::NAME);
            Device followed end_feedback: vk::PFN_vkCmdEndTransformFeedbackEXT = c"vkCmdEndTransformFeedbackEXT" Need::Of(ash::ext::transform_feedback::NAME);
            Device followed create_render_pass2: vk::PFN_vkCreateRenderPass2 = c"vkCreateRenderPass2" Need::Since(vk::API_VERSION_1_2);
            Device followed destroy_render_pass: vk::PFN_vkDestroyRenderPass = c"vkDestroyRenderPass" V10;
            Device followed create_command_pool: vk::PFN_vkCreateCommandPool = c"vkCreateCommandPool" V10;
            Device followed destroy_command_pool: vk::PFN_vkDestroyCommandPool = c"vkDestroyCommandPool" V10;
            Device followed free_command_buffers: vk::PFN_vkFreeCommandBuffers = c"vkFreeCommandBuffers" V10;
            Device followed begin_command_buffer: vk::PFN_vkBeginCommandBuffer = c"vkBeginCommandBuffer" V10;
            Device followed reset_command_buffer: vk::PFN_vkResetCommandBuffer = c"vkResetCommandBuffer" V10;
            Device followed reset_command_pool: vk::PFN_vkResetCommandPool = c"vkResetCommandPool" V10;
            Device followed execute_commands: vk::PFN_vkCmdExecuteCommands = c"vkCmdExecuteCommands" V10;
            Device followed bind_pipeline: vk::PFN_vkCmdBindPipeline = c"vkCmdBindPipeline" V10;
            Device followed bind_pipeline_shader_group: vk::PFN_vkCmdBindPipelineShaderGroupNV = c"vkCmdBindPipelineShaderGroupNV" Need::Of(ash::nv::device_generated_commands::NAME);
            Device followed execute_generated_commands_nv: vk::PFN_vkCmdExecuteGeneratedCommandsNV = c"vkCmdExecuteGeneratedCommandsNV" Need::Of(ash::nv::device_generated_commands::NAME);
            Device followed execute_generated_commands: vk_layer_sys::PfnCmdExecuteGeneratedCommands = c"vkCmdExecuteGeneratedCommandsEXT" Need::Of(c"VK_EXT_device_generated_commands");
            Device followed set_line_width: vk::PFN_vkCmdSetLineWidth = c"vkCmdSetLineWidth" V10;
            Device followed draw: vk::PFN_vkCmdDraw = c"vkCmdDraw" V10;
            Device followed dispatch: vk::PFN_vkCmdDispatch = c"vkCmdDispatch" V10;
            Device followed trace_rays: vk::PFN_vkCmdTraceRaysKHR = c"vkCmdTraceRaysKHR" Need::Of(ash::khr::ray_tracing_pipeline::NAME);
            Device followed preprocess_generated_commands_nv: vk::PFN_vkCmdPreprocessGeneratedCommandsNV = c"vkCmdPreprocessGeneratedCommandsNV" Need::Of(ash::nv::device_generated_commands::NAME);
            Device followed preprocess_generated_commands: vk_layer_sys::PfnCmdPreprocessGeneratedCommands = c"vkCmdPreprocessGeneratedCommandsEXT" Need::Of(c"VK_EXT_device_generated_commands");
            Device followed set_descriptor_buffer_offsets: vk::PFN_vkCmdSetDescriptorBufferOffsetsEXT = c"vkCmdSetDescriptorBufferOffsetsEXT" Need::Of(ash::ext::descriptor_buffer::NAME);
            Device followed bind_sets: vk::PFN_vkCmdBindDescriptorSets = c"vkCmdBindDescriptorSets" V10;
            Device followed bind_sets2: vk::PFN_vkCmdBindDescriptorSets2KHR = c"vkCmdBindDescriptorSets2" V14, c"vkCmdBindDescriptorSets2KHR" MAINTENANCE6;
            Device here get_descriptor: vk::PFN_vkGetDescriptorEXT = c"vkGetDescriptorEXT" Need::Of(ash::ext::descriptor_buffer::NAME);
            Device here get_view_handle: vk::PFN_vkGetImageViewHandleNVX = c"vkGetImageViewHandleNVX" Need::Of(ash::nvx::image_view_handle::NAME);
            Device here get_pipeline_key: vk_layer_sys::PfnGetPipelineKey = c"vkGetPipelineKeyKHR" Need::Of(PIPELINE_BINARY);
            Device here get_identifier: vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT = c"vkGetShaderModuleCreateInfoIdentifierEXT" Need::Of(ash::ext::shader_module_identifier::NAME);
            Device here image_requirements: vk::PFN_vkGetDeviceImageMemoryRequirements = c"vkGetDeviceImageMemoryRequirements" V13;
            Device here sparse_requirements: vk::PFN_vkGetDeviceImageSparseMemoryRequirements = c"vkGetDeviceImageSparseMemoryRequirements" V13;
            Device here subresource_layout: vk::PFN_vkGetDeviceImageSubresourceLayoutKHR = c"vkGetDeviceImageSubresourceLayoutKHR" Need::Of(ash::khr::maintenance5::NAME);
            Device heaps write_samplers: vk_layer_sys::PfnWriteSamplerDescriptors = c"vkWriteSamplerDescriptorsEXT" HEAP;
            Device heaps write_resources: vk_layer_sys::PfnWriteResourceDescriptors = c"vkWriteResourceDescriptorsEXT" HEAP;
            Device heaps register: vk_layer_sys::PfnRegisterCustomBorderColor = c"vkRegisterCustomBorderColorEXT" HEAP;
            Device heaps unregister: vk_layer_sys::PfnUnregisterCustomBorderColor = c"vkUnregisterCustomBorderColorEXT" HEAP;
            Device here get_view_handle64: vk_layer_sys::PfnGetImageViewHandle64Nvx = c"vkGetImageViewHandle64NVX" Need::Of(ash::nvx::image_view_handle::NAME);
            Device here get_host_mapping: vk::PFN_vkGetDescriptorSetHostMappingVALVE = c"vkGetDescriptorSetHostMappingVALVE" Need::Of(ash::valve::descriptor_set_host_mapping::NAME);
            Device here blit: vk::PFN_vkCmdBlitImage = c"vkCmdBlitImage" V10;
            Device here blit2: vk::PFN_vkCmdBlitImage2 = c"vkCmdBlitImage2" V13, c"vkCmdBlitImage2KHR" Need::Of(ash::khr::copy_commands2::NAME);
            Device followed begin_label: vk::PFN_vkCmdBeginDebugUtilsLabelEXT = c"vkCmdBeginDebugUtilsLabelEXT" Need::OfInstance(ash::ext::debug_utils::NAME);
            Device followed insert_label: vk::PFN_vkCmdInsertDebugUtilsLabelEXT = c"vkCmdInsertDebugUtilsLabelEXT" Need::OfInstance(ash::ext::debug_utils::NAME);
            Device followed end_label: vk::PFN_vkCmdEndDebugUtilsLabelEXT = c"vkCmdEndDebugUtilsLabelEXT" Need::OfInstance(ash::ext::debug_utils::NAME);
            Device followed begin_marker: vk::PFN_vkCmdDebugMarkerBeginEXT = c"vkCmdDebugMarkerBeginEXT" Need::Of(ash::ext::debug_marker::NAME);
            Device followed insert_marker: vk::PFN_vkCmdDebugMarkerInsertEXT = c"vkCmdDebugMarkerInsertEXT" Need::Of(ash::ext::debug_marker::NAME);
            Device followed end_marker: vk::PFN_vkCmdDebugMarkerEndEXT = c"vkCmdDebugMarkerEndEXT" Need::Of(ash::ext::debug_marker::NAME);
            Device followed present: vk::PFN_vkQueuePresentKHR = c"vkQueuePresentKHR" SWAPCHAIN;
            Device followed submit: vk::PFN_vkQueueSubmit = c"vkQueueSubmit" V10;
            Device followed submit2: vk::PFN_vkQueueSubmit2 = c"vkQueueSubmit2" V13;
            Device followed bind_sparse: vk::PFN_vkQueueBindSparse = c"vkQueueBindSparse" V10;
            Device here set_name: vk::PFN_vkSetDebugUtilsObjectNameEXT = c"vkSetDebugUtilsObjectNameEXT" Need::OfInstance(ash::ext::debug_utils::NAME);
            Device here set_marker_name: vk::PFN_vkDebugMarkerSetObjectNameEXT = c"vkDebugMarkerSetObjectNameEXT" Need::Of(ash::ext::debug_marker::NAME);
    } };
}
pub(crate) use every_command;

every_command!(commands);

macro_rules! infos_of_images {
    ($($name:ident $command:literal ($info:ident $(, $argument:ident: $type:ty)+);)+) => { answers! { $(
        fn $name(device: vk::Device, info: *const vk::$info<'_> $(, $argument: $type)+) {
            dev(device).arrive($command, Args::Other(vec![(*info).p_create_info as usize as u64]));
        }
    )+ } };
}

// These take down where the create info of the image is.
infos_of_images! {
    image_requirements c"vkGetDeviceImageMemoryRequirements" (DeviceImageMemoryRequirements, _out: *mut vk::MemoryRequirements2<'_>);
    sparse_requirements c"vkGetDeviceImageSparseMemoryRequirements" (DeviceImageMemoryRequirements, _count: *mut u32, _out: *mut vk::SparseImageMemoryRequirements2<'_>);
    subresource_layout c"vkGetDeviceImageSubresourceLayoutKHR" (DeviceImageSubresourceInfoKHR, _out: *mut vk::SubresourceLayout2KHR<'_>);
}

fn contains(list: &[String], name: &CStr) -> bool {
    list.iter().any(|e| e.as_bytes() == name.to_bytes())
}

answers! {
    /// The driver's `vkGetInstanceProcAddr`: a device command exists if the physical device could have it.
    pub(crate) fn get_instance_proc_addr(instance: vk::Instance, name: *const c_char) -> Resolved {
        let (level, need, function) = find(CStr::from_ptr(name))?;
        if level == Level::Global {
            return Some(function);
        }
        if instance == vk::Instance::null() {
            return None;
        }
        let object = instance_object(instance);
        let name = CStr::from_ptr(name);
        let about_features = name.to_bytes().starts_with(b"vkGetPhysicalDeviceFeatures2");
        if object.config.hidden.contains(&name) || (about_features && !object.config.tells_features) {
            return None;
        }
        let there = match need {
            Need::Since(version) => version <= object.config.api_version.max(object.config.instance_version),
            Need::Of(extension) => object.config.extensions.contains(&extension),
            Need::OfInstance(extension) => contains(&object.extensions, extension),
        };
        there.then_some(function)
    }

    fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> Resolved {
        let name = CStr::from_ptr(name);
        let (level, need, function) = find(name)?;
        let state = dev(device);
        if state.config.hidden.contains(&name) || (level != Level::Device && !state.config.careless) {
            return None;
        }
        let there = match need {
            Need::Since(version) => version <= state.api_version,
            Need::Of(extension) => state.has(extension),
            Need::OfInstance(extension) => contains(&state.instance_extensions, extension),
        };
        there.then_some(function)
    }
}

// ---- instances and physical devices ----

thread_local! {
    /// What the instance that this thread creates next is like: the loader sets it.
    pub(crate) static NEXT_CONFIG: RefCell<Option<Arc<Config>>> = const { RefCell::new(None) };
    /// The links that creation must find in the chain: each layer has to advance its own before it calls down.
    pub(crate) static EXPECTED_LINK: RefCell<usize> = const { RefCell::new(0) };
    /// What the driver found wrong with the chain.
    pub(crate) static CHAIN_ERROR: RefCell<Option<String>> = const { RefCell::new(None) };
    /// What creating the next instances or devices of this thread returns, instead of success.
    pub(crate) static NEXT_RESULTS: RefCell<VecDeque<vk::Result>> = const { RefCell::new(VecDeque::new()) };
    /// The attempts of this thread to create a device.
    pub(crate) static ATTEMPTS: RefCell<Vec<Attempt>> = const { RefCell::new(Vec::new()) };
}

/// What a device was to be created with.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Address of the create info.
    pub(crate) info: usize,
    pub(crate) extensions: Vec<String>,
    pub(crate) features: Option<vk::PhysicalDeviceFeatures>,
    pub(crate) chain: Vec<Node>,
    /// What `pDevice` led to.
    pub(crate) device: u64,
}

/// What a failed `vkCreateDevice` leaves behind `pDevice`.
pub(crate) const LEFT_BEHIND: u64 = 0xbad0_bad0;

fn check_link(found: Option<usize>) {
    let expected = EXPECTED_LINK.with_borrow(|link| *link);
    if found != Some(expected) {
        let text = format!("the chain's link is {found:x?}, not advanced to {expected:#x}");
        CHAIN_ERROR.with_borrow_mut(|error| *error = Some(text));
    }
}

/// # Safety
///
/// `names` leads to `count` null-terminated strings.
unsafe fn strings(names: *const *const c_char, count: u32) -> Vec<String> {
    // SAFETY: forwarded from the caller.
    unsafe { array(names, count).into_iter().map(|name| CStr::from_ptr(name).to_string_lossy().into_owned()).collect() }
}

answers! {
    fn create_instance(
        info: *const vk::InstanceCreateInfo<'_>, _allocator: Callbacks<'_>, out: *mut vk::Instance,
    ) -> VkResult {
        let link = link!((*info).p_next, LayerInstanceCreateInfo, LOADER_INSTANCE_CREATE_INFO);
        check_link(link.as_ref().map(|link| link.u.p_layer_info as usize));
        NEXT_RESULTS.with_borrow_mut(VecDeque::pop_front).map_or(Ok(()), Err)?;
        let Some(config) = NEXT_CONFIG.take() else { return Err(vk::Result::ERROR_INITIALIZATION_FAILED) };
        let asked = (*info).p_application_info.as_ref().map_or(0, |app| app.api_version);
        let key = new_key();
        let physical = Box::into_raw(Box::new(PhysicalObject { key, instance: ptr::null() }));
        let object = Box::into_raw(Box::new(InstanceObject {
            key,
            config,
            api_version: asked.max(vk::API_VERSION_1_0),
            extensions: strings((*info).pp_enabled_extension_names, (*info).enabled_extension_count),
            physical,
            destroyed: Arc::default(),
        }));
        (*physical).instance = object;
        out.write(vk::Instance::from_raw(object as usize as u64));
    }
}

/// Set when the instance is destroyed.
pub(crate) fn instance_destroyed(instance: vk::Instance) -> Arc<AtomicBool> {
    // SAFETY: tests ask for instances that they have just created.
    unsafe { Arc::clone(&instance_object(instance).destroyed) }
}

/// Set when the device is destroyed.
pub(crate) fn device_destroyed(device: vk::Device) -> Arc<AtomicBool> {
    // SAFETY: tests ask for devices that they have just created.
    unsafe { Arc::clone(&device_object(device).destroyed) }
}

answers! {
    fn destroy_instance(instance: vk::Instance, _allocator: Callbacks<'_>) {
        let object = Box::from_raw(instance.as_raw() as usize as *mut InstanceObject);
        drop(Box::from_raw(object.physical));
        object.destroyed.store(true, Ordering::Release);
    }

    fn enumerate_physical_devices(instance: vk::Instance, count: *mut u32, out: *mut vk::PhysicalDevice) -> VkResult {
        if !out.is_null() && *count > 0 {
            out.write(vk::PhysicalDevice::from_raw(instance_object(instance).physical as usize as u64));
        }
        count.write(1);
    }

    fn enumerate_device_extension_properties(
        physical: vk::PhysicalDevice, _layer: *const c_char, count: *mut u32, out: *mut vk::ExtensionProperties,
    ) -> VkResult {
        let _outside = Outside::new();
        let of = |name: &&CStr| vk::ExtensionProperties::default().extension_name(name).expect("it is short enough");
        enumerate(count, out, &physical_object(physical).config.extensions.iter().map(of).collect::<Vec<_>>())?;
    }
}

fn properties(config: &Config) -> vk::PhysicalDeviceProperties {
    let (api_version, driver_version) = (config.api_version, u32::from(config.lavapipe.is_some()));
    let mut out = vk::PhysicalDeviceProperties { api_version, driver_version, ..Default::default() };
    out.limits.max_sampler_anisotropy = config.max_anisotropy;
    out.limits.max_sampler_lod_bias = config.max_lod_bias;
    out.limits.max_sample_mask_words = config.max_sample_mask_words;
    out.limits.max_sampler_allocation_count = config.max_samplers;
    [
        out.limits.max_bound_descriptor_sets,
        out.limits.max_per_stage_descriptor_samplers,
        out.limits.max_descriptor_set_samplers,
    ] = config.set_limits;
    [
        out.limits.max_per_stage_descriptor_uniform_buffers,
        out.limits.max_descriptor_set_uniform_buffers,
        out.limits.max_per_stage_resources,
    ] = config.block_limits;
    out.limits.max_color_attachments = 4;
    out.limits.max_per_stage_descriptor_storage_buffers = config.storage_buffers;
    out.limits.max_descriptor_set_storage_buffers = 24;
    out.limits.max_storage_buffer_range = 1 << 27;
    out.limits.min_storage_buffer_offset_alignment = 64;
    out.limits.min_uniform_buffer_offset_alignment = 64;
    for (to, from) in out.device_name.iter_mut().zip(b"mock") {
        *to = *from as c_char;
    }
    out
}

answers! {
    /// Memory of two types, of which the host may write the second.
    fn get_memory_properties(_physical: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceMemoryProperties) {
        use vk::MemoryPropertyFlags as M;
        let mut memory =
            vk::PhysicalDeviceMemoryProperties { memory_type_count: 2, memory_heap_count: 1, ..Default::default() };
        memory.memory_types[0].property_flags = M::DEVICE_LOCAL;
        memory.memory_types[1].property_flags = M::HOST_VISIBLE | M::HOST_COHERENT;
        out.write(memory);
    }

    fn get_properties(physical: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
        out.write(properties(&physical_object(physical).config));
    }
}

/// Notes a query that takes a chain.
///
/// # Safety
///
/// `physical` is valid.
unsafe fn asked(physical: vk::PhysicalDevice, command: &'static CStr) {
    let _outside = Outside::new();
    // SAFETY: forwarded from the caller.
    lock(&unsafe { physical_object(physical) }.config.queries).push(command);
}

answers! {
    fn get_properties2(physical: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties2<'_>) {
        asked(physical, c"vkGetPhysicalDeviceProperties2");
        let config = &physical_object(physical).config;
        (*out).properties = properties(config);
        fill! { (*out).p_next;
            vk::PhysicalDeviceCustomBorderColorPropertiesEXT<'_>: |own| {
                own.max_custom_border_color_samplers = config.max_custom_borders;
            }
            vk::PhysicalDeviceDriverProperties<'_>: |own| if let Some(info) = config.lavapipe {
                own.driver_id = vk::DriverId::MESA_LLVMPIPE;
                for (to, from) in own.driver_info.iter_mut().zip(info.to_bytes()) {
                    *to = *from as c_char;
                }
            }
            vk::PhysicalDeviceDescriptorIndexingProperties<'_>: |own| {
                let most = config.after_bind;
                own.max_update_after_bind_descriptors_in_all_pools = most;
                own.max_per_stage_descriptor_update_after_bind_samplers = most;
                own.max_descriptor_set_update_after_bind_samplers = most;
                own.max_per_stage_descriptor_update_after_bind_storage_buffers = most;
                own.max_descriptor_set_update_after_bind_storage_buffers = most;
                own.max_per_stage_update_after_bind_resources = most;
            }
            vk::PhysicalDeviceSamplerFilterMinmaxProperties<'_>: |own| {
                own.filter_minmax_image_component_mapping = u32::from(config.filter_minmax_component_mapping);
            }
            vk::PhysicalDeviceImageProcessing2PropertiesQCOM<'_>: |own| {
                let [width, height] = config.max_block_match_window;
                own.max_block_match_window = vk::Extent2D { width, height };
            }
            vk_layer_sys::PhysicalDeviceDescriptorHeapPropertiesEXT: |own| {
                own.sampler_descriptor_size = 32;
                own.min_sampler_heap_reserved_range_with_embedded = 32 * u64::from(config.embedded_places);
            }
        }
    }

    fn get_features2(physical: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures2<'_>) {
        asked(physical, c"vkGetPhysicalDeviceFeatures2");
        (*out).features.sampler_anisotropy = 1;
        let permits = u32::from(physical_object(physical).config.permits);
        (*out).features.image_cube_array = permits;
        (*out).features.shader_image_gather_extended = permits;
        (*out).features.shader_sampled_image_array_dynamic_indexing = permits;
        (*out).features.shader_resource_min_lod = permits;
        fill! { (*out).p_next;
            vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_>: |own| {
                (own.custom_border_colors, own.custom_border_color_without_format) = (1, 1);
            }
            vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'_>: |own| {
                (own.border_color_swizzle, own.border_color_swizzle_from_image) = (1, 1);
            }
            vk::PhysicalDeviceVulkan12Features<'_>: |own| {
                (own.sampler_mirror_clamp_to_edge, own.sampler_filter_minmax) = (1, 1);
            }
        }
    }
}

fn narrow(features: Feature) -> vk::FormatFeatureFlags {
    vk::FormatFeatureFlags::from_raw(features.as_raw() as u32 & 0x7fff_ffff)
}

answers! {
    fn get_format_properties(physical: vk::PhysicalDevice, format: vk::Format, out: *mut vk::FormatProperties) {
        let support = physical_object(physical).config.format(format);
        out.write(vk::FormatProperties {
            optimal_tiling_features: narrow(support.optimal),
            linear_tiling_features: narrow(support.linear),
            buffer_features: narrow(support.buffer),
        });
    }

    fn get_image_format_properties2(
        physical: vk::PhysicalDevice, info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        out: *mut vk::ImageFormatProperties2<'_>,
    ) -> VkResult {
        let config = &physical_object(physical).config;
        (*out).image_format_properties = vk::ImageFormatProperties {
            max_extent: vk::Extent3D { width: 4096, height: 4096, depth: 1 },
            max_mip_levels: 1,
            max_array_layers: 256,
            sample_counts: vk::SampleCountFlags::TYPE_1,
            ..Default::default()
        };
        if (*out).p_next.is_null() {
            return Ok(());
        }
        lock(&config.asked).push(copy(info));
        let asked = (*info).p_next.cast::<vk::PhysicalDeviceImageViewImageFormatInfoEXT<'_>>();
        let answer = (*out).p_next.cast::<vk::FilterCubicImageViewImageFormatPropertiesEXT<'_>>();
        assert_eq!((*asked).s_type, vk::PhysicalDeviceImageViewImageFormatInfoEXT::STRUCTURE_TYPE);
        assert_eq!((*answer).s_type, vk::FilterCubicImageViewImageFormatPropertiesEXT::STRUCTURE_TYPE);
        let mut answers = lock(&config.cubic);
        let (result, cubic, minmax) = answers.pop_front().unwrap_or((vk::Result::SUCCESS, true, true));
        (*answer).filter_cubic = cubic.into();
        (*answer).filter_cubic_minmax = minmax.into();
        result.result()?;
    }

    fn get_image_format_properties(
        _physical: vk::PhysicalDevice, _format: vk::Format, _type: vk::ImageType, _tiling: vk::ImageTiling,
        _usage: vk::ImageUsageFlags, _flags: vk::ImageCreateFlags, out: *mut vk::ImageFormatProperties,
    ) -> VkResult {
        out.write(vk::ImageFormatProperties { max_mip_levels: 1, ..Default::default() });
    }

    /// Every image has one sparse aspect.
    fn get_sparse_properties(
        _physical: vk::PhysicalDevice, _format: vk::Format, _type: vk::ImageType, _samples: vk::SampleCountFlags,
        _usage: vk::ImageUsageFlags, _tiling: vk::ImageTiling, count: *mut u32,
        _out: *mut vk::SparseImageFormatProperties,
    ) {
        count.write(1);
    }

    fn get_sparse_properties2(
        _physical: vk::PhysicalDevice, _info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>, count: *mut u32,
        _out: *mut vk::SparseImageFormatProperties2<'_>,
    ) {
        count.write(1);
    }

    fn get_format_properties2(physical: vk::PhysicalDevice, format: vk::Format, out: *mut vk::FormatProperties2<'_>) {
        asked(physical, c"vkGetPhysicalDeviceFormatProperties2");
        let support = physical_object(physical).config.format(format);
        get_format_properties(physical, format, &raw mut (*out).format_properties);
        fill! { (*out).p_next;
            vk::FormatProperties3<'_>: |own| {
                (own.optimal_tiling_features, own.linear_tiling_features) = (support.optimal, support.linear);
                own.buffer_features = support.buffer;
            }
            vk::DrmFormatModifierPropertiesListEXT<'_>: |own| {
                modifiers!(own, support, DrmFormatModifierPropertiesEXT, narrow);
            }
            vk::DrmFormatModifierPropertiesList2EXT<'_>: |own| {
                modifiers!(own, support, DrmFormatModifierProperties2EXT, std::convert::identity);
            }
        }
    }

    fn create_device(
        physical: vk::PhysicalDevice, info: *const vk::DeviceCreateInfo<'_>, _allocator: Callbacks<'_>,
        out: *mut vk::Device,
    ) -> VkResult {
        let link = link!((*info).p_next, LayerDeviceCreateInfo, LOADER_DEVICE_CREATE_INFO);
        check_link(link.as_ref().map(|link| link.u.p_layer_info as usize));
        if let Some(link) = link.as_mut() {
            // As every layer does, for the one below it.
            link.u.p_layer_info = ptr::null_mut();
        }
        let attempt = Attempt {
            info: info as usize,
            extensions: strings((*info).pp_enabled_extension_names, (*info).enabled_extension_count),
            features: (*info).p_enabled_features.as_ref().copied(),
            chain: nodes((*info).p_next),
            device: (*out).as_raw(),
        };
        ATTEMPTS.with_borrow_mut(|attempts| {
            // A soak makes any number of devices, and looks at none.
            attempts.truncate(63);
            attempts.push(attempt);
        });
        if let Some(result) = NEXT_RESULTS.with_borrow_mut(VecDeque::pop_front) {
            out.write(vk::Device::from_raw(LEFT_BEHIND));
            return Err(result);
        }
        let instance = physical_object(physical);
        let state = DeviceState {
            config: Arc::clone(&instance.config),
            enabled: strings((*info).pp_enabled_extension_names, (*info).enabled_extension_count),
            api_version: instance.config.api_version.min(instance.api_version),
            instance_extensions: instance.extensions.clone(),
            recording: AtomicBool::new(true),
            fail_with: Mutex::new(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
            ..Default::default()
        };
        let object = Box::new(DeviceObject { key: new_key(), state: Arc::new(state), ..Default::default() });
        out.write(vk::Device::from_raw(Box::into_raw(object) as usize as u64));
    }

    fn destroy_device(device: vk::Device, allocator: Callbacks<'_>) {
        let args = Args::Destroy { handle: device.as_raw(), allocator: allocator as usize };
        dev(device).arrive(c"vkDestroyDevice", args);
        let object = Box::from_raw(device.as_raw() as usize as *mut DeviceObject);
        for child in lock(&object.children).drain(..) {
            drop(Box::from_raw(child));
        }
        object.destroyed.store(true, Ordering::Release);
    }

    fn device_wait_idle(device: vk::Device) -> VkResult {
        dev(device).arrive(c"vkDeviceWaitIdle", Args::Other(Vec::new()));
    }

    fn allocate_command_buffers(
        device: vk::Device, info: *const vk::CommandBufferAllocateInfo<'_>, out: *mut vk::CommandBuffer,
    ) -> VkResult {
        let object = device_object(device);
        for index in 0..(*info).command_buffer_count as usize {
            let unused = lock(&object.unused).pop();
            let child = unused.unwrap_or_else(|| {
                let child = Box::into_raw(Box::new(ChildObject { key: object.key, device: object }));
                lock(&object.children).push(child);
                child
            });
            out.add(index).write(vk::CommandBuffer::from_raw(child as usize as u64));
        }
    }
}

// ---- samplers ----

answers! {
    fn create_sampler(
        device: vk::Device, info: *const vk::SamplerCreateInfo<'_>, allocator: Callbacks<'_>, out: *mut vk::Sampler,
    ) -> VkResult {
        let _outside = Outside::new();
        let state = dev(device);
        let copied: Chained<vk::SamplerCreateInfo<'static>> = copy(info);
        let model = SamplerModel { info: copied.value, chain: copied.chain.clone(), by_layer: allocator.is_null() };
        let args = Args::CreateSampler { info: copied, allocator: allocator as usize, out: out as usize };
        state.arrive(c"vkCreateSampler", args);
        state.fails_by(c"vkCreateSampler", allocator as usize)?;
        if state.config.share_samplers {
            let mut objects = lock(&state.objects);
            let same = objects.live.iter_mut().find(|(_, object)| match &object.data {
                Data::Sampler(other) => same_sampler(other, &model),
                _ => false,
            });
            if let Some(((_, handle), object)) = same {
                object.count += 1;
                out.write(vk::Sampler::from_raw(*handle));
                return Ok(());
            }
        }
        let (samplers, custom) = {
            let objects = lock(&state.objects);
            (objects.samplers, objects.custom)
        };
        let limits = [(samplers, state.config.max_samplers), (custom, state.config.max_custom_borders)];
        let counted = [true, is_custom(&model)];
        for ((now, limit), counted) in limits.into_iter().zip(counted) {
            if counted && now >= limit {
                if model.by_layer {
                    state.error(format!("a variant was asked for although {now} of {limit} samplers live"));
                }
                return Err(vk::Result::ERROR_TOO_MANY_OBJECTS);
            }
        }
        let handle = state.make(Kind::Sampler, allocator as usize, Data::Sampler(Box::new(model)));
        out.write(vk::Sampler::from_raw(handle));
    }
}

/// Whether two samplers have the same state: members and chained structures, wherever those are.
fn same_sampler(a: &SamplerModel, b: &SamplerModel) -> bool {
    let members = |model: &SamplerModel| {
        let max_anisotropy = if model.info.anisotropy_enable == 0 { 0.0 } else { model.info.max_anisotropy };
        format!("{:?}", vk::SamplerCreateInfo { p_next: ptr::null(), max_anisotropy, ..model.info })
    };
    let chain = |model: &SamplerModel| -> Vec<String> { model.chain.iter().map(Node::text).collect() };
    members(a) == members(b) && chain(a) == chain(b)
}

created! {
    create_image ImageCreateInfo Image Image c"vkCreateImage" |_, _, _| {};
    create_view ImageViewCreateInfo ImageView View c"vkCreateImageView" |_, _, _| {};
    create_layout DescriptorSetLayoutCreateInfo DescriptorSetLayout Layout c"vkCreateDescriptorSetLayout" |state, handle, info| {
        state.follow(|machine| machine.layout(handle, info));
    };
    create_pipeline_layout PipelineLayoutCreateInfo PipelineLayout PipelineLayout c"vkCreatePipelineLayout" |state, handle, info| {
        state.follow(|machine| machine.pipeline_layout(handle, info));
    };
    create_pool DescriptorPoolCreateInfo DescriptorPool Pool c"vkCreateDescriptorPool" |state, handle, info| {
        state.note(Kind::Pool, handle, Data::Sets(Vec::new()));
        state.follow(|machine| machine.pool(handle, info));
    };
    create_template DescriptorUpdateTemplateCreateInfo DescriptorUpdateTemplate Template c"vkCreateDescriptorUpdateTemplate" |state, handle, info| {
        let entries = array(info.p_descriptor_update_entries, info.descriptor_update_entry_count);
        state.note(Kind::Template, handle, Data::Template(entries));
    };
    create_swapchain SwapchainCreateInfoKHR SwapchainKHR Swapchain c"vkCreateSwapchainKHR" |state, handle, _| state.show(handle);
}

destroyed! {
    destroy_sampler Sampler Sampler c"vkDestroySampler" Machine::gone;
    destroy_conversion SamplerYcbcrConversion Conversion c"vkDestroySamplerYcbcrConversion" |_, _| {};
    destroy_image Image Image c"vkDestroyImage" |_, _| {};
    destroy_view ImageView View c"vkDestroyImageView" Machine::gone;
    destroy_layout DescriptorSetLayout Layout c"vkDestroyDescriptorSetLayout" Machine::destroy_layout;
    destroy_pipeline_layout PipelineLayout PipelineLayout c"vkDestroyPipelineLayout" Machine::destroy_pipeline_layout;
    destroy_pool DescriptorPool Pool c"vkDestroyDescriptorPool" Machine::destroy_pool;
    destroy_template DescriptorUpdateTemplate Template c"vkDestroyDescriptorUpdateTemplate" |_, _| {};
    destroy_swapchain SwapchainKHR Swapchain c"vkDestroySwapchainKHR" |_, _| {};
}

answers! {
    fn create_conversion(
        device: vk::Device, info: *const vk::SamplerYcbcrConversionCreateInfo<'_>, allocator: Callbacks<'_>,
        out: *mut vk::SamplerYcbcrConversion,
    ) -> VkResult {
        let state = dev(device);
        let args = Args::CreateConversion { info: copy(info), allocator: allocator as usize };
        state.arrive(c"vkCreateSamplerYcbcrConversion", args);
        state.fails(c"vkCreateSamplerYcbcrConversion")?;
        out.write(vk::SamplerYcbcrConversion::from_raw(state.make(Kind::Conversion, allocator as usize, Data::None)));
    }

    fn create_shared_swapchains(
        device: vk::Device, count: u32, infos: *const vk::SwapchainCreateInfoKHR<'_>, allocator: Callbacks<'_>,
        out: *mut vk::SwapchainKHR,
    ) -> VkResult {
        let state = dev(device);
        let args = Args::Create { info: infos as usize, allocator: allocator as usize, out: out as usize };
        state.arrive(c"vkCreateSharedSwapchainsKHR", args);
        state.fails(c"vkCreateSharedSwapchainsKHR")?;
        for index in 0..count as usize {
            let handle = state.make(Kind::Swapchain, allocator as usize, Data::None);
            state.show(handle);
            out.add(index).write(vk::SwapchainKHR::from_raw(handle));
        }
    }

    fn get_swapchain_images(
        device: vk::Device, swapchain: vk::SwapchainKHR, count: *mut u32, out: *mut vk::Image,
    ) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkGetSwapchainImagesKHR", Args::Other(vec![swapchain.as_raw(), count as u64, out as u64]));
        state.fails(c"vkGetSwapchainImagesKHR")?;
        let objects = lock(&state.objects);
        let images = match objects.live.get(&(Kind::Swapchain, swapchain.as_raw())).map(|object| &object.data) {
            Some(Data::Images(images)) => images.clone(),
            _ => Vec::new(),
        };
        enumerate(count, out, &images.into_iter().map(vk::Image::from_raw).collect::<Vec<_>>())?;
    }

    fn get_modifier(
        device: vk::Device, image: vk::Image, out: *mut vk::ImageDrmFormatModifierPropertiesEXT<'_>,
    ) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkGetImageDrmFormatModifierPropertiesEXT", Args::Other(vec![image.as_raw()]));
        state.fails(c"vkGetImageDrmFormatModifierPropertiesEXT")?;
        (*out).drm_format_modifier = state.config.modifier;
    }
}

// ---- sets ----

answers! {
    fn allocate_sets(
        device: vk::Device, info: *const vk::DescriptorSetAllocateInfo<'_>, out: *mut vk::DescriptorSet,
    ) -> VkResult {
        let state = dev(device);
        state
            .arrive(c"vkAllocateDescriptorSets", Args::Create { info: info as usize, allocator: 0, out: out as usize });
        let is_own = state.is_layers(Kind::Pool, (*info).descriptor_pool.as_raw());
        state.fails_by(c"vkAllocateDescriptorSets", usize::from(!is_own))?;
        for index in 0..(*info).descriptor_set_count as usize {
            let set = state.make(Kind::Set, 0, Data::None);
            followed::allocated(state, &*info, index, set);
            out.add(index).write(vk::DescriptorSet::from_raw(set));
            lock(&state.objects).sets((*info).descriptor_pool).into_iter().for_each(|sets| sets.push(set));
        }
    }

    fn free_sets(device: vk::Device, pool: vk::DescriptorPool, count: u32, sets: *const vk::DescriptorSet) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkFreeDescriptorSets", Args::Other(vec![pool.as_raw(), u64::from(count), sets as u64]));
        for set in array(sets, count) {
            let set = set.as_raw();
            state.follow(|machine| machine.free(set));
            let mut objects = lock(&state.objects);
            objects.sets(pool).into_iter().for_each(|sets| sets.retain(|other| *other != set));
            objects.remove(state.config.reuse, Kind::Set, set);
        }
    }

    fn reset_pool(device: vk::Device, pool: vk::DescriptorPool, _flags: vk::DescriptorPoolResetFlags) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkResetDescriptorPool", Args::Other(vec![pool.as_raw()]));
        state.follow(|machine| machine.reset_pool(pool.as_raw()));
        let mut objects = lock(&state.objects);
        for set in objects.sets(pool).map(std::mem::take).unwrap_or_default() {
            objects.remove(state.config.reuse, Kind::Set, set);
        }
    }

    fn update(
        device: vk::Device, write_count: u32, first_write: *const vk::WriteDescriptorSet<'_>, copy_count: u32,
        first_copy: *const vk::CopyDescriptorSet<'_>,
    ) {
        let _outside = Outside::new();
        if dev(device).config.follows {
            followed::updated(dev(device), &array(first_write, write_count), &array(first_copy, copy_count));
        }
        let writes = writes(first_write, write_count);
        let items = array(first_copy.cast::<vk::CopyDescriptorSet<'static>>(), copy_count);
        let copies = Array { at: first_copy as usize, items };
        dev(device).arrive(c"vkUpdateDescriptorSets", Args::Update { writes, copies });
    }

    fn update_with_template(
        device: vk::Device, set: vk::DescriptorSet, template: vk::DescriptorUpdateTemplate, data: *const c_void,
    ) {
        let _outside = Outside::new();
        let state = dev(device);
        let elements = state.elements(template.as_raw(), data);
        followed::templated(state, template.as_raw(), (&elements, false), |machine, ty, at, infos| {
            machine.write(set.as_raw(), ty, at, infos);
        });
        followed::templated_others(state, (set.as_raw(), template.as_raw()), &elements);
        let args = Args::Template { target: set.as_raw(), template: template.as_raw(), data: data as usize, elements };
        state.arrive(c"vkUpdateDescriptorSetWithTemplate", args);
    }

    fn push(
        commands: vk::CommandBuffer, bind_point: vk::PipelineBindPoint, layout: vk::PipelineLayout, set: u32,
        count: u32, first: *const vk::WriteDescriptorSet<'_>,
    ) {
        followed::pushed(commands, &[machine::place(bind_point)], (layout, set), &array(first, count));
        let args = Args::Push { layout: layout.as_raw(), set, writes: writes(first, count) };
        cmd(commands).arrive(c"vkCmdPushDescriptorSet", args);
    }

    fn push2(commands: vk::CommandBuffer, info: *const vk::PushDescriptorSetInfoKHR<'_>) {
        let given = array((*info).p_descriptor_writes, (*info).descriptor_write_count);
        followed::pushed(commands, &followed::points((*info).stage_flags), ((*info).layout, (*info).set), &given);
        let writes = writes((*info).p_descriptor_writes, (*info).descriptor_write_count);
        cmd(commands).arrive(c"vkCmdPushDescriptorSet2", Args::Push2 { info: copy(info), writes });
    }

    fn push_with_template(
        commands: vk::CommandBuffer, template: vk::DescriptorUpdateTemplate, layout: vk::PipelineLayout, set: u32,
        data: *const c_void,
    ) {
        let state = cmd(commands);
        let elements = state.elements(template.as_raw(), data);
        // The tests push with templates for dispatches only.
        followed::templated(state, template.as_raw(), (&elements, true), |machine, ty, at, infos| {
            machine.push(commands.as_raw(), 1, (layout.as_raw(), set), ty, at, infos);
        });
        let args =
            Args::Template { target: u64::from(set), template: template.as_raw(), data: data as usize, elements };
        state.arrive(c"vkCmdPushDescriptorSetWithTemplate", args);
    }

    fn push_with_template2(commands: vk::CommandBuffer, info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>) {
        let state = cmd(commands);
        let elements = state.elements((*info).descriptor_update_template.as_raw(), (*info).p_data);
        state.arrive(c"vkCmdPushDescriptorSetWithTemplate2", Args::Template2 { info: copy(info), elements });
    }

    fn get_descriptor(device: vk::Device, info: *const vk::DescriptorGetInfoEXT<'_>, size: usize, out: *mut c_void) {
        let image = match (*info).ty {
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER => Some((*info).data.p_combined_image_sampler),
            vk::DescriptorType::STORAGE_IMAGE => Some((*info).data.p_storage_image),
            _ => None,
        };
        let image = image.filter(|image| !image.is_null()).map(|image| (image as usize, image.read()));
        // The descriptor starts with the sampler that it was made from.
        if let Some((_, image)) = &image
            && size >= 8
        {
            out.cast::<u64>().write_unaligned(image.sampler.as_raw());
        }
        let is_texels = (*info).ty == vk::DescriptorType::STORAGE_TEXEL_BUFFER;
        let texels = is_texels.then(|| (*info).data.p_storage_texel_buffer).filter(|at| !at.is_null());
        let texels = texels.map(|at| (at as usize, at.cast::<Texels>().read()));
        dev(device).arrive(c"vkGetDescriptorEXT", Args::GetDescriptor { info: copy(info), image, texels });
    }

    fn get_view_handle(device: vk::Device, info: *const vk::ImageViewHandleInfoNVX<'_>) -> u32 {
        dev(device).arrive(c"vkGetImageViewHandleNVX", Args::ViewHandle { info: copy(info) });
        (*info).sampler.as_raw() as u32
    }

    /// Takes down its argument and what is first in its chain.
    fn get_pipeline_key(device: vk::Device, info: *const PipelineCreateInfoKHR, _key: *mut c_void) -> VkResult {
        let first = info.as_ref().map_or(0, |info| info.p_next as usize as u64);
        dev(device).arrive(c"vkGetPipelineKeyKHR", Args::Other(vec![info as usize as u64, first]));
    }

    /// Takes down where the create info is that it was given.
    fn get_identifier(
        device: vk::Device, info: *const vk::ShaderModuleCreateInfo<'_>,
        _identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
    ) {
        dev(device).arrive(c"vkGetShaderModuleCreateInfoIdentifierEXT", Args::Other(vec![info as usize as u64]));
    }

    fn get_view_handle64(device: vk::Device, info: *const vk::ImageViewHandleInfoNVX<'_>) -> u64 {
        dev(device).arrive(c"vkGetImageViewHandle64NVX", Args::ViewHandle { info: copy(info) });
        (*info).sampler.as_raw()
    }

    fn get_host_mapping(device: vk::Device, set: vk::DescriptorSet, data: *mut *mut c_void) {
        dev(device)
            .arrive(c"vkGetDescriptorSetHostMappingVALVE", Args::Other(vec![set.as_raw(), data as usize as u64]));
    }
}

// ---- blits and names ----

answers! {
    fn blit(
        commands: vk::CommandBuffer, source: vk::Image, _source_layout: vk::ImageLayout, _target: vk::Image,
        _target_layout: vk::ImageLayout, _count: u32, regions: *const vk::ImageBlit, filter: vk::Filter,
    ) {
        cmd(commands)
            .arrive(c"vkCmdBlitImage", Args::Blit { source: source.as_raw(), filter, regions: regions as usize });
    }

    fn blit2(commands: vk::CommandBuffer, info: *const vk::BlitImageInfo2<'_>) {
        cmd(commands).arrive(c"vkCmdBlitImage2", Args::Blit2 { info: copy(info) });
    }

    fn set_name(device: vk::Device, info: *const vk::DebugUtilsObjectNameInfoEXT<'_>) -> VkResult {
        let device = dev(device);
        device.arrive(c"vkSetDebugUtilsObjectNameEXT", Args::Other(vec![info as usize as u64]));
        if let (info, Some(name)) = (&*info, (*info).object_name_as_c_str()) {
            let name = name.to_string_lossy().into_owned();
            lock(&device.names).push((info.object_type, info.object_handle, name));
        }
    }

    fn set_marker_name(device: vk::Device, info: *const vk::DebugMarkerObjectNameInfoEXT<'_>) -> VkResult {
        dev(device).arrive(c"vkDebugMarkerSetObjectNameEXT", Args::Other(vec![info as usize as u64]));
    }
}
