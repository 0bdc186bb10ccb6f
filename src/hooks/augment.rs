//! What `vkCreateDevice` hands down instead of the application's create info: without the layer's own extension, and with the
//! extensions and features that repairs can use (`augment=on`).
//!
//! Only things that change no result by themselves are added. Structures that the application chained are never written to: where
//! one has to differ, it and everything before it in the chain are copied, which needs their sizes to be known.

use std::ffi::{CStr, c_char, c_void};

use ash::vk::{self, TaggedStructure};
use vk_layer_sys::LayerDeviceCreateInfo;

use crate::caps;
use crate::dispatch::InstanceFns;
use crate::pnext::{self, Base};

/// The layer's own device extension: `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT` as address modes.
pub const GL_ADDRESS_MODES: &CStr = c"VK_SAMPLIN_gl_address_modes";

/// A node of a copied chain, in storage that no pointer into ever moves.
type Node = Box<[u64]>;

/// A create info of the layer's own, with everything it points to.
pub(super) struct Augmented {
    names: Vec<*const c_char>,
    core: vk::PhysicalDeviceFeatures,
    custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'static>,
    copies: Vec<Node>,
    /// Extensions and features that the application did not ask for.
    pub(super) added: Vec<&'static str>,
    /// The application asked for the layer's own extension.
    pub(super) gl_address_modes: bool,
    use_core: bool,
    use_custom: bool,
    use_swizzle: bool,
}

/// Size of a structure that can stand in the chain of a `VkDeviceCreateInfo`; `None` for one the layer does not know.
fn size_of_node(s_type: vk::StructureType) -> Option<usize> {
    macro_rules! sizes {
        ($($type:ident),+ $(,)?) => {
            match s_type {
                vk::StructureType::LOADER_DEVICE_CREATE_INFO => Some(size_of::<LayerDeviceCreateInfo>()),
                $(vk::$type::STRUCTURE_TYPE => Some(size_of::<vk::$type<'_>>()),)+
                _ => None,
            }
        };
    }
    sizes!(
        PhysicalDeviceFeatures2,
        PhysicalDeviceVulkan11Features,
        PhysicalDeviceVulkan12Features,
        PhysicalDeviceVulkan13Features,
        DeviceGroupDeviceCreateInfo,
        DevicePrivateDataCreateInfo,
        PhysicalDevice16BitStorageFeatures,
        PhysicalDevice4444FormatsFeaturesEXT,
        PhysicalDevice8BitStorageFeatures,
        PhysicalDeviceAccelerationStructureFeaturesKHR,
        PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT,
        PhysicalDeviceBorderColorSwizzleFeaturesEXT,
        PhysicalDeviceBufferDeviceAddressFeatures,
        PhysicalDeviceColorWriteEnableFeaturesEXT,
        PhysicalDeviceConditionalRenderingFeaturesEXT,
        PhysicalDeviceCustomBorderColorFeaturesEXT,
        PhysicalDeviceDepthClampZeroOneFeaturesEXT,
        PhysicalDeviceDepthClipControlFeaturesEXT,
        PhysicalDeviceDepthClipEnableFeaturesEXT,
        PhysicalDeviceDescriptorBufferFeaturesEXT,
        PhysicalDeviceDescriptorIndexingFeatures,
        PhysicalDeviceDynamicRenderingFeatures,
        PhysicalDeviceExtendedDynamicState2FeaturesEXT,
        PhysicalDeviceExtendedDynamicState3FeaturesEXT,
        PhysicalDeviceExtendedDynamicStateFeaturesEXT,
        PhysicalDeviceFragmentShaderInterlockFeaturesEXT,
        PhysicalDeviceFragmentShadingRateFeaturesKHR,
        PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT,
        PhysicalDeviceHostQueryResetFeatures,
        PhysicalDeviceImage2DViewOf3DFeaturesEXT,
        PhysicalDeviceImageRobustnessFeatures,
        PhysicalDeviceImageViewMinLodFeaturesEXT,
        PhysicalDeviceImagelessFramebufferFeatures,
        PhysicalDeviceIndexTypeUint8FeaturesEXT,
        PhysicalDeviceInlineUniformBlockFeatures,
        PhysicalDeviceLineRasterizationFeaturesKHR,
        PhysicalDeviceMaintenance4Features,
        PhysicalDeviceMaintenance5FeaturesKHR,
        PhysicalDeviceMaintenance6FeaturesKHR,
        PhysicalDeviceMemoryPriorityFeaturesEXT,
        PhysicalDeviceMeshShaderFeaturesEXT,
        PhysicalDeviceMultiDrawFeaturesEXT,
        PhysicalDeviceMultiviewFeatures,
        PhysicalDeviceMutableDescriptorTypeFeaturesEXT,
        PhysicalDeviceNonSeamlessCubeMapFeaturesEXT,
        PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT,
        PhysicalDevicePipelineCreationCacheControlFeatures,
        PhysicalDevicePortabilitySubsetFeaturesKHR,
        PhysicalDevicePresentIdFeaturesKHR,
        PhysicalDevicePresentWaitFeaturesKHR,
        PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT,
        PhysicalDevicePrivateDataFeatures,
        PhysicalDeviceProtectedMemoryFeatures,
        PhysicalDeviceProvokingVertexFeaturesEXT,
        PhysicalDeviceRasterizationOrderAttachmentAccessFeaturesEXT,
        PhysicalDeviceRayQueryFeaturesKHR,
        PhysicalDeviceRayTracingPipelineFeaturesKHR,
        PhysicalDeviceRobustness2FeaturesEXT,
        PhysicalDeviceSamplerYcbcrConversionFeatures,
        PhysicalDeviceScalarBlockLayoutFeatures,
        PhysicalDeviceSeparateDepthStencilLayoutsFeatures,
        PhysicalDeviceShaderAtomicFloatFeaturesEXT,
        PhysicalDeviceShaderAtomicInt64Features,
        PhysicalDeviceShaderClockFeaturesKHR,
        PhysicalDeviceShaderDemoteToHelperInvocationFeatures,
        PhysicalDeviceShaderDrawParametersFeatures,
        PhysicalDeviceShaderFloat16Int8Features,
        PhysicalDeviceShaderIntegerDotProductFeatures,
        PhysicalDeviceShaderModuleIdentifierFeaturesEXT,
        PhysicalDeviceShaderObjectFeaturesEXT,
        PhysicalDeviceShaderSubgroupExtendedTypesFeatures,
        PhysicalDeviceShaderTerminateInvocationFeatures,
        PhysicalDeviceSubgroupSizeControlFeatures,
        PhysicalDeviceSynchronization2Features,
        PhysicalDeviceTexelBufferAlignmentFeaturesEXT,
        PhysicalDeviceTextureCompressionASTCHDRFeatures,
        PhysicalDeviceTimelineSemaphoreFeatures,
        PhysicalDeviceTransformFeedbackFeaturesEXT,
        PhysicalDeviceUniformBufferStandardLayoutFeatures,
        PhysicalDeviceVariablePointersFeatures,
        PhysicalDeviceVertexAttributeDivisorFeaturesKHR,
        PhysicalDeviceVertexInputDynamicStateFeaturesEXT,
        PhysicalDeviceVulkanMemoryModelFeatures,
        PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR,
        PhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT,
        PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures,
    )
}

/// Copies the chain up to and with the first node of type `last`, for [`Augmented::link`] to go on from the rest.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
unsafe fn copy_chain(p_next: *const c_void, last: vk::StructureType) -> Option<Vec<Node>> {
    let mut out = Vec::new();
    // SAFETY: forwarded from the caller.
    for node in unsafe { pnext::chain(p_next) } {
        // SAFETY: `chain` yields readable bases.
        let s_type = unsafe { (*node).s_type };
        let size = size_of_node(s_type)?;
        let mut copy = vec![0_u64; size.div_ceil(8)].into_boxed_slice();
        // SAFETY: a valid node of this type has this size, and the copy has at least as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(node.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size) };
        out.push(copy);
        if s_type == last {
            return Some(out);
        }
    }
    None
}

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
    let get = fns.get_physical_device_features2?;
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
    let has = |name: &CStr| names.iter().any(|n| n.as_bytes() == name.to_bytes());
    let mut out = Supported {
        core: vk::PhysicalDeviceFeatures::default(),
        custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default(),
        swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::default(),
        mirror_clamp: false,
        minmax: false,
        names: Vec::new(),
    };
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default();
    let mut chain: *mut c_void = std::ptr::null_mut();
    if has(ash::ext::custom_border_color::NAME) {
        chain = (&raw mut out.custom).cast();
    }
    if has(ash::ext::border_color_swizzle::NAME) {
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
    out.names = names;
    Some(out)
}

/// Plans what to hand down; `None` when the application's create info can go down as it is.
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
    anisotropy: bool,
) -> Option<Augmented> {
    // SAFETY: VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-parameter.
    let given = unsafe { caps::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
    let asked = |name: &CStr| given.contains(&name);
    // SAFETY: the chain of a valid create info.
    let chained = |s_type| unsafe { pnext::chain(info.p_next) }.any(|node| unsafe { (*node).s_type } == s_type);
    let mut out = Augmented {
        names: given.iter().filter(|name| **name != GL_ADDRESS_MODES).map(|name| name.as_ptr()).collect(),
        core: vk::PhysicalDeviceFeatures::default(),
        custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default(),
        swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::default(),
        copies: Vec::new(),
        added: Vec::new(),
        gl_address_modes: asked(GL_ADDRESS_MODES),
        use_core: false,
        use_custom: false,
        use_swizzle: false,
    };
    // SAFETY: forwarded from the caller.
    if augment && let Some(supported) = unsafe { query(fns, physical, api_version) } {
        let can = |name: &CStr| supported.names.iter().any(|n| n.as_bytes() == name.to_bytes());
        let mut enable = |names: &mut Vec<*const c_char>, name: &'static CStr| {
            let text = name.to_str().unwrap_or_default();
            if !asked(name) && !out.added.contains(&text) {
                names.push(name.as_ptr());
                out.added.push(text);
            }
        };
        // Border swizzles need the extension for custom borders. What the application chained itself is its own decision.
        let border = can(ash::ext::custom_border_color::NAME) && can(ash::ext::border_color_swizzle::NAME);
        if border && !chained(vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::STRUCTURE_TYPE) {
            enable(&mut out.names, ash::ext::custom_border_color::NAME);
            enable(&mut out.names, ash::ext::border_color_swizzle::NAME);
            out.swizzle = supported.swizzle;
            out.use_swizzle = true;
        }
        if can(ash::ext::custom_border_color::NAME)
            && !chained(vk::PhysicalDeviceCustomBorderColorFeaturesEXT::STRUCTURE_TYPE)
        {
            enable(&mut out.names, ash::ext::custom_border_color::NAME);
            out.custom = supported.custom;
            out.use_custom = true;
        }
        // Extensions and features of version 1.2 must agree (VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-02831), and a
        // chained VkPhysicalDeviceVulkan12Features would have to be copied, so there the features are set instead.
        let twelve = vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE;
        if !chained(twelve) {
            if can(ash::khr::sampler_mirror_clamp_to_edge::NAME) {
                enable(&mut out.names, ash::khr::sampler_mirror_clamp_to_edge::NAME);
            }
            if can(ash::ext::sampler_filter_minmax::NAME) {
                enable(&mut out.names, ash::ext::sampler_filter_minmax::NAME);
            }
        // SAFETY: the chain of a valid create info.
        } else if let Some(mut copies) = unsafe { copy_chain(info.p_next, twelve) } {
            let last = copies.last_mut().map(|node| node.as_mut_ptr().cast::<vk::PhysicalDeviceVulkan12Features<'_>>());
            // SAFETY: the last node is a copy of that structure, aligned for it.
            if let Some(features) = last.map(|node| unsafe { &mut *node }) {
                let before = (features.sampler_mirror_clamp_to_edge, features.sampler_filter_minmax);
                features.sampler_mirror_clamp_to_edge |= u32::from(supported.mirror_clamp);
                features.sampler_filter_minmax |= u32::from(supported.minmax);
                if before.0 != features.sampler_mirror_clamp_to_edge {
                    out.added.push("samplerMirrorClampToEdge");
                }
                if before.1 != features.sampler_filter_minmax {
                    out.added.push("samplerFilterMinmax");
                }
                if before != (features.sampler_mirror_clamp_to_edge, features.sampler_filter_minmax) {
                    out.copies = copies;
                }
            }
        }
        // Anisotropy costs nothing until a sampler uses it, and only an override makes one that does.
        if anisotropy && supported.core.sampler_anisotropy != 0 {
            // SAFETY: `info` is valid.
            unsafe { out.enable_anisotropy(info) };
        }
    }
    let changed = out.gl_address_modes || !out.added.is_empty();
    changed.then_some(out)
}

impl Augmented {
    /// Sets `samplerAnisotropy` in whichever structure the application used.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    unsafe fn enable_anisotropy(&mut self, info: &vk::DeviceCreateInfo<'_>) {
        // SAFETY: null or valid by VUID-VkDeviceCreateInfo-pEnabledFeatures-parameter.
        let plain = unsafe { info.p_enabled_features.as_ref() };
        let two = vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE;
        let in_copies = |copies: &[Node]| {
            copies.iter().position(|node| {
                // SAFETY: every copy starts with the base of a structure.
                unsafe { (*node.as_ptr().cast::<Base>()).s_type == two }
            })
        };
        // SAFETY: the chain of a valid create info.
        let chained = unsafe { pnext::find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next) };
        match chained {
            Some(features) if features.features.sampler_anisotropy == 0 => {
                if in_copies(&self.copies).is_none() {
                    // SAFETY: as above. A longer copy made before holds changes, which must not be lost.
                    let Some(copies) = (unsafe { copy_chain(info.p_next, two) }) else { return };
                    if copies.len() < self.copies.len() {
                        return;
                    }
                    let kept = std::mem::replace(&mut self.copies, copies);
                    for (to, from) in self.copies.iter_mut().zip(kept) {
                        *to = from;
                    }
                }
                if let Some(node) = in_copies(&self.copies).and_then(|index| self.copies.get_mut(index)) {
                    // SAFETY: the node is a copy of that structure, aligned for it.
                    unsafe {
                        (*node.as_mut_ptr().cast::<vk::PhysicalDeviceFeatures2<'_>>()).features.sampler_anisotropy = 1
                    };
                    self.added.push("samplerAnisotropy");
                }
            }
            Some(_) => {}
            None => {
                let core = plain.copied().unwrap_or_default();
                if core.sampler_anisotropy == 0 {
                    self.core = vk::PhysicalDeviceFeatures { sampler_anisotropy: 1, ..core };
                    self.use_core = true;
                    self.added.push("samplerAnisotropy");
                }
            }
        }
    }

    /// Takes every addition back; only the layer's own extension stays out.
    pub(super) fn withdraw(&mut self, info: &vk::DeviceCreateInfo<'_>) {
        // SAFETY: valid by VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-parameter.
        let given = unsafe { caps::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
        self.names = given.iter().filter(|name| **name != GL_ADDRESS_MODES).map(|name| name.as_ptr()).collect();
        self.copies.clear();
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
        // The last copy already points at the application's node that follows it.
        let mut next: *const c_void = info.p_next;
        for index in (0..self.copies.len()).rev() {
            let last = index + 1 == self.copies.len();
            if let Some(node) = self.copies.get_mut(index) {
                let base = node.as_mut_ptr().cast::<Base>();
                if !last {
                    // SAFETY: every copy starts with the base of a structure.
                    unsafe { (*base).p_next = next };
                }
                next = base.cast();
            }
        }
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
