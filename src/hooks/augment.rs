//! What `vkCreateDevice` hands down instead of the application's create info: without the layer's own extensions, and with the
//! extensions and features that repairs can use (`augment=on`).
//!
//! Only things that change no result by themselves are added. Structures that the application chained are never written to: where
//! one has to differ, it and everything before it in the chain are copied, which needs their sizes to be known.

use std::ffi::{CStr, c_char, c_void};

use crate::ability::Ability;
use crate::caps;
use crate::dispatch::InstanceFns;
use crate::pnext::{self, Copied};
use crate::simulate::Simulation;
use ash::vk::{self, TaggedStructure};

/// A device extension of the layer's own: `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT` as address modes.
pub const GL_ADDRESS_MODES: &CStr = c"VK_SAMPLIN_gl_address_modes";
/// A device extension of the layer's own: shaders in SPIR-V for OpenGL, atomic counters among it.
pub const GL_SHADERS: &CStr = c"VK_SAMPLIN_gl_shaders";
/// The layer's own device extensions, each of version 1, which never reach the layer below.
pub const OWN_EXTENSIONS: [&CStr; 2] = [GL_ADDRESS_MODES, GL_SHADERS];

/// A create info of the layer's own, with everything it points to.
pub(super) struct Augmented {
    names: Vec<*const c_char>,
    core: vk::PhysicalDeviceFeatures,
    custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'static>,
    /// The application's nodes up to the last one that differs.
    copies: Vec<Copied>,
    /// What follows them in the application's chain.
    rest: *const c_void,
    /// Extensions and features that the application did not ask for.
    pub(super) added: Vec<&'static str>,
    /// The application asked for the layer's own extensions.
    pub(super) gl_address_modes: bool,
    pub(super) gl_shaders: bool,
    use_core: bool,
    use_custom: bool,
    use_swizzle: bool,
}

/// Copies the chain up to and with the first node of type `last`; with it what follows in the chain. `None` if there is no such node
/// or one of unknown size stands before it.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
unsafe fn copy_chain(p_next: *const c_void, last: vk::StructureType) -> Option<(Vec<Copied>, *const c_void)> {
    let mut out = Vec::new();
    // SAFETY: `p_next` is the chain of a valid create info by this function's contract.
    for node in unsafe { pnext::chain(p_next) } {
        // SAFETY: a node of the chain of a `VkDeviceCreateInfo`.
        out.push(unsafe { Copied::new(node) }?);
        // SAFETY: at least the base of `node` can be read, as of all that `pnext::chain` yields.
        let base = unsafe { *node };
        if base.s_type == last {
            return Some((out, base.p_next));
        }
    }
    None
}

/// What is wanted beyond what costs nothing.
#[derive(Clone, Copy)]
pub(super) struct FeatureWishes<'a> {
    /// A rule makes samplers anisotropic.
    pub(super) anisotropy: bool,
    /// Formats of storage images may become Unknown.
    pub(super) relax: bool,
    /// A setting allows shaders with atomic counters, which become buffers that every stage may write.
    pub(super) counters: bool,
    /// The device that the application is to have: what it lacks is not added.
    pub(super) simulation: Option<&'a Simulation>,
}

/// A core feature that may be added.
struct CoreFeature {
    name: &'static str,
    bit: fn(&mut vk::PhysicalDeviceFeatures) -> &mut vk::Bool32,
    /// Whether it is of use; with it whether shaders may declare images without a format all the same.
    is_wanted: fn(&FeatureWishes<'_>, bool) -> bool,
}

/// Core features that may be added; see docs/internals/additions.md.
const CORE: [CoreFeature; 10] = [
    CoreFeature {
        name: "samplerAnisotropy",
        bit: |features| &mut features.sampler_anisotropy,
        is_wanted: |wants, _| wants.anisotropy,
    },
    CoreFeature {
        name: "sampleRateShading",
        bit: |features| &mut features.sample_rate_shading,
        is_wanted: |_, _| true,
    },
    CoreFeature {
        name: "shaderStorageImageReadWithoutFormat",
        bit: |features| &mut features.shader_storage_image_read_without_format,
        is_wanted: |wants, may_declare| wants.relax || !may_declare,
    },
    CoreFeature {
        name: "shaderStorageImageWriteWithoutFormat",
        bit: |features| &mut features.shader_storage_image_write_without_format,
        is_wanted: |wants, may_declare| wants.relax || !may_declare,
    },
    CoreFeature {
        name: "fragmentStoresAndAtomics",
        bit: |features| &mut features.fragment_stores_and_atomics,
        is_wanted: |wants, _| wants.counters,
    },
    CoreFeature {
        name: "vertexPipelineStoresAndAtomics",
        bit: |features| &mut features.vertex_pipeline_stores_and_atomics,
        is_wanted: |wants, _| wants.counters,
    },
    CoreFeature { name: "imageCubeArray", bit: |features| &mut features.image_cube_array, is_wanted: |_, _| true },
    CoreFeature {
        name: "shaderImageGatherExtended",
        bit: |features| &mut features.shader_image_gather_extended,
        is_wanted: |_, _| true,
    },
    CoreFeature {
        name: "shaderSampledImageArrayDynamicIndexing",
        bit: |features| &mut features.shader_sampled_image_array_dynamic_indexing,
        is_wanted: |_, _| true,
    },
    CoreFeature {
        name: "shaderResourceMinLod",
        bit: |features| &mut features.shader_resource_min_lod,
        is_wanted: |_, _| true,
    },
];

/// What is supported, as far as the additions go.
struct Supported {
    names: Vec<String>,
    core: vk::PhysicalDeviceFeatures,
    custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'static>,
    mirror_clamp: bool,
    minmax: bool,
}

/// # Safety
///
/// `physical` belongs to the instance that `fns` were loaded for.
unsafe fn query(fns: &InstanceFns, physical: vk::PhysicalDevice, api_version: u32) -> Option<Supported> {
    let enumerate = fns.enumerate_device_extension_properties?;
    let mut count = 0;
    let mut list = Vec::new();
    // SAFETY: two-call idiom on a valid physical device; the second call writes at most `count` elements.
    unsafe {
        if enumerate(physical, std::ptr::null(), &mut count, std::ptr::null_mut()) != vk::Result::SUCCESS {
            return None;
        }
        list.resize(count as usize, vk::ExtensionProperties::default());
        let _ = enumerate(physical, std::ptr::null(), &mut count, list.as_mut_ptr());
        list.truncate(count as usize);
    }
    let names: Vec<String> = list
        .iter()
        .filter_map(|p| p.extension_name_as_c_str().ok())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let mut out = Supported {
        core: vk::PhysicalDeviceFeatures::default(),
        custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default(),
        swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::default(),
        mirror_clamp: false,
        minmax: false,
        names,
    };
    let Some(get) = fns.get_physical_device_features2 else {
        not_added("anything that has a feature", "the device does not tell its features");
        out.names.retain(|name| name.as_bytes() == ALONE.to_bytes());
        return Some(out);
    };
    let has = |name: &CStr| out.names.iter().any(|n| n.as_bytes() == name.to_bytes());
    let (has_custom, has_swizzle) =
        (has(ash::ext::custom_border_color::NAME), has(ash::ext::border_color_swizzle::NAME));
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default();
    let mut chain: *mut c_void = std::ptr::null_mut();
    if has_custom {
        chain = (&raw mut out.custom).cast();
    }
    if has_swizzle {
        out.swizzle.p_next = chain;
        chain = (&raw mut out.swizzle).cast();
    }
    if api_version >= vk::API_VERSION_1_2 {
        twelve.p_next = chain;
        chain = (&raw mut twelve).cast();
    }
    features.p_next = chain;
    // SAFETY: valid physical device; the chain is made of live locals.
    unsafe { get(physical, &mut features) };
    out.core = features.features;
    out.custom.p_next = std::ptr::null_mut();
    out.swizzle.p_next = std::ptr::null_mut();
    out.mirror_clamp = twelve.sampler_mirror_clamp_to_edge != 0;
    out.minmax = twelve.sampler_filter_minmax != 0;
    Some(out)
}

/// It has no feature and needs no other extension, not even to be asked about.
const ALONE: &CStr = ash::khr::maintenance2::NAME;

const LACKING: &str = "the device lacks it";
const CHAINED: &str = "the application chains its features, which is its own decision";
const UNKNOWN_SIZE: &str = "a structure of unknown size is in the way in the application's chain";

fn not_added(what: &str, why: &str) {
    tracing::debug!(what, why, "not added");
}

/// The names that are not the layer's own.
fn without_own(given: &[&CStr]) -> Vec<*const c_char> {
    given.iter().filter(|name| !OWN_EXTENSIONS.contains(name)).map(|name| name.as_ptr()).collect()
}

/// Plans what to hand down; `None` when the application's create info can reach the driver unchanged.
///
/// # Safety
///
/// `info` is the valid create info of a device of `physical`, which belongs to the instance of `fns`.
pub(super) unsafe fn plan(
    fns: &InstanceFns,
    physical: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    api_version: u32,
    augment: bool,
    wants: &FeatureWishes<'_>,
) -> Option<Augmented> {
    // SAFETY: VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-parameter.
    let given = unsafe { caps::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
    let asked = |name: &CStr| given.contains(&name);
    // SAFETY: `info` is valid by this function's contract, so its chain is, of which only the bases are read.
    let chained = |s_type| unsafe { pnext::chain(info.p_next) }.any(|node| unsafe { (*node).s_type } == s_type);
    let mut out = Augmented {
        names: without_own(&given),
        core: vk::PhysicalDeviceFeatures::default(),
        custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default(),
        swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::default(),
        copies: Vec::new(),
        rest: info.p_next,
        added: Vec::new(),
        gl_address_modes: asked(GL_ADDRESS_MODES),
        gl_shaders: asked(GL_SHADERS),
        use_core: false,
        use_custom: false,
        use_swizzle: false,
    };
    let wants = &FeatureWishes { counters: wants.counters || out.gl_shaders, ..*wants };
    // SAFETY: `physical` is of the instance of `fns`, by this function's contract.
    let supported = if augment { unsafe { query(fns, physical, api_version) } } else { None };
    if augment && supported.is_none() {
        not_added("anything", "the device does not tell its extensions");
    }
    if let Some(supported) = supported {
        let can = |name: &CStr| supported.names.iter().any(|n| n.as_bytes() == name.to_bytes());
        let mut enable = |names: &mut Vec<*const c_char>, name: &'static CStr| {
            let text = name.to_str().unwrap_or_default();
            if asked(name) {
                not_added(text, "the application enables it");
            } else if !out.added.contains(&text) {
                names.push(name.as_ptr());
                out.added.push(text);
            }
        };
        // Border swizzles need the extension for custom borders. What the application chained itself is its own decision.
        let border = can(ash::ext::custom_border_color::NAME) && can(ash::ext::border_color_swizzle::NAME);
        if !border {
            not_added("VK_EXT_border_color_swizzle", "the device lacks it or VK_EXT_custom_border_color");
        } else if chained(vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::STRUCTURE_TYPE) {
            not_added("VK_EXT_border_color_swizzle", CHAINED);
        } else {
            enable(&mut out.names, ash::ext::custom_border_color::NAME);
            enable(&mut out.names, ash::ext::border_color_swizzle::NAME);
            out.swizzle = supported.swizzle;
            out.use_swizzle = true;
        }
        if !can(ash::ext::custom_border_color::NAME) {
            not_added("VK_EXT_custom_border_color", LACKING);
        } else if chained(vk::PhysicalDeviceCustomBorderColorFeaturesEXT::STRUCTURE_TYPE) {
            not_added("VK_EXT_custom_border_color", CHAINED);
        } else {
            enable(&mut out.names, ash::ext::custom_border_color::NAME);
            // Not `customBorderColorWithoutFormat`: see docs/internals/additions.md.
            out.custom.custom_border_colors = supported.custom.custom_border_colors;
            out.use_custom = true;
        }
        // `VkImageViewUsageCreateInfo`, and images with VK_IMAGE_CREATE_EXTENDED_USAGE_BIT.
        if api_version >= vk::API_VERSION_1_1 {
            not_added("VK_KHR_maintenance2", "version 1.1 has what it brings");
        } else if can(ALONE) {
            enable(&mut out.names, ALONE);
        } else {
            not_added("VK_KHR_maintenance2", LACKING);
        }
        // Extensions and features of version 1.2 must agree (VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-02831), and a
        // chained VkPhysicalDeviceVulkan12Features would have to be copied, so there the features are set instead.
        let twelve = vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE;
        if !chained(twelve) {
            for name in [ash::khr::sampler_mirror_clamp_to_edge::NAME, ash::ext::sampler_filter_minmax::NAME] {
                if can(name) {
                    enable(&mut out.names, name);
                } else {
                    not_added(name.to_str().unwrap_or_default(), LACKING);
                }
            }
        // SAFETY: `info` is valid by this function's contract, so all structures of its chain are whole.
        } else if let Some((mut copies, rest)) = unsafe { copy_chain(info.p_next, twelve) }
            && let Some(features) =
                copies.last_mut().and_then(Copied::get_mut::<vk::PhysicalDeviceVulkan12Features<'_>>)
        {
            let before = out.added.len();
            for (feature, supported, name) in [
                (&mut features.sampler_mirror_clamp_to_edge, supported.mirror_clamp, "samplerMirrorClampToEdge"),
                (&mut features.sampler_filter_minmax, supported.minmax, "samplerFilterMinmax"),
            ] {
                if *feature != 0 {
                    not_added(name, "the application enables it");
                } else if !supported {
                    not_added(name, LACKING);
                } else {
                    *feature = 1;
                    out.added.push(name);
                }
            }
            if out.added.len() > before {
                (out.copies, out.rest) = (copies, rest);
            }
        } else {
            not_added("samplerMirrorClampToEdge, samplerFilterMinmax", UNKNOWN_SIZE);
        }
        // Images without a format need no feature where VK_KHR_format_feature_flags2 is or has become core.
        let may_declare = api_version >= vk::API_VERSION_1_3 || asked(ash::khr::format_feature_flags2::NAME);
        let mut core = supported.core;
        let mut bits: Vec<&CoreFeature> = Vec::new();
        for feature in &CORE {
            let hidden = || {
                let hides = |of: &Simulation| Ability::by_name(feature.name).is_some_and(|ability| of.hides(ability));
                wants.simulation.is_some_and(|of| hides(of) || of.denies(feature.name))
            };
            if !(feature.is_wanted)(wants, may_declare) {
                not_added(feature.name, "nothing wants it");
            } else if *(feature.bit)(&mut core) == 0 {
                not_added(feature.name, LACKING);
            } else if hidden() {
                not_added(feature.name, "the simulated device lacks it");
            } else {
                bits.push(feature);
            }
        }
        // SAFETY: `info` is valid by this function's contract, so all structures of its chain are whole, and `bits` are of this physical
        // device.
        unsafe { out.enable_core(info, &bits) };
    }
    let changed = out.gl_address_modes || out.gl_shaders || !out.added.is_empty();
    changed.then_some(out)
}

impl Augmented {
    /// Sets core features in whichever structure the application used.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    unsafe fn enable_core(&mut self, info: &vk::DeviceCreateInfo<'_>, wanted: &[&CoreFeature]) {
        // SAFETY: null or valid by VUID-VkDeviceCreateInfo-pEnabledFeatures-parameter.
        let plain = unsafe { info.p_enabled_features.as_ref() };
        let two = vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE;
        // SAFETY: `info` is valid by this function's contract, so a features structure in its chain is whole.
        let chained = unsafe { pnext::find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next) };
        let mut features = chained.map(|two| two.features).or_else(|| plain.copied()).unwrap_or_default();
        let mut added = Vec::new();
        for feature in wanted {
            let bit = (feature.bit)(&mut features);
            if *bit == 0 {
                *bit = 1;
                added.push(feature.name);
            }
        }
        if added.is_empty() {
            return;
        }
        if chained.is_none() {
            self.core = features;
            self.use_core = true;
            return self.added.extend(added);
        }
        if !self.copies.iter().any(|copy| copy.s_type() == two) {
            // SAFETY: `info` is valid by this function's contract, so all structures before the features are whole.
            let Some((mut copies, rest)) = (unsafe { copy_chain(info.p_next, two) }) else {
                return added.iter().for_each(|name| not_added(name, UNKNOWN_SIZE));
            };
            // Those made before hold changes, which must not be lost.
            let kept = self.copies.len();
            self.copies.extend(copies.drain(kept.min(copies.len())..));
            self.rest = rest;
        }
        if let Some(two) = self.copies.iter_mut().find_map(Copied::get_mut::<vk::PhysicalDeviceFeatures2<'_>>) {
            two.features = features;
            self.added.extend(added);
        }
    }

    /// Takes every addition back; only the layer's own extensions stay out.
    pub(super) fn withdraw(&mut self, info: &vk::DeviceCreateInfo<'_>) {
        // SAFETY: valid by VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-parameter.
        let given = unsafe { caps::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
        self.names = without_own(&given);
        self.copies.clear();
        self.rest = info.p_next;
        self.added.clear();
        (self.use_core, self.use_custom, self.use_swizzle) = (false, false, false);
    }

    /// The create info to hand down. It points into `self` and into the application's chain.
    pub(super) fn link<'a>(&mut self, info: &vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        let mut out = *info;
        out.enabled_extension_count = self.names.len() as u32;
        out.pp_enabled_extension_names = self.names.as_ptr();
        if self.use_core {
            out.p_enabled_features = &self.core;
        }
        let mut next = self.copies.iter_mut().rev().fold(self.rest, |next, copy| copy.link(next));
        if self.use_custom {
            self.custom.p_next = next.cast_mut();
            next = (&raw const self.custom).cast();
        }
        if self.use_swizzle {
            self.swizzle.p_next = next.cast_mut();
            next = (&raw const self.swizzle).cast();
        }
        out.p_next = next;
        out
    }
}
