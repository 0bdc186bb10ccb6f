//! The optional abilities that decide what a sampler may be, and how a device is created with or without them.

use ash::vk;
use std::collections::BTreeSet;
use std::ffi::CStr;
use vk_layer_sys::{EXT_DESCRIPTOR_HEAP_NAME, PhysicalDeviceDescriptorHeapFeaturesEXT};

/// Defines the abilities: one a row, with the Vulkan name of the feature or extension.
macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident $of:literal)+) => {
        /// One optional ability of a device, an extension or a feature bit, that the harness enables when present.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "its name says what it is")]
        pub enum Capability {
            $($(#[$doc])* $name,)+
        }

        impl Capability {
            /// Every capability, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            fn of(self) -> &'static CStr {
                match self {
                    $(Self::$name => $of,)+
                }
            }
        }
    };
}

capabilities! {
    SamplerAnisotropy c"samplerAnisotropy"
    SampleRateShading c"sampleRateShading"
    ImageCubeArray c"imageCubeArray"
    /// Or `VK_KHR_sampler_mirror_clamp_to_edge` below 1.2.
    SamplerMirrorClampToEdge c"samplerMirrorClampToEdge"
    /// Or `VK_EXT_sampler_filter_minmax` below 1.2.
    SamplerFilterMinmax c"samplerFilterMinmax"
    SamplerYcbcrConversion c"samplerYcbcrConversion"
    CustomBorderColor c"customBorderColors"
    CustomBorderColorWithoutFormat c"customBorderColorWithoutFormat"
    BorderColorSwizzle c"borderColorSwizzle"
    BorderColorSwizzleFromImage c"borderColorSwizzleFromImage"
    NonSeamlessCubeMap c"VK_EXT_non_seamless_cube_map"
    FilterCubic c"VK_EXT_filter_cubic"
    FilterCubicImg c"VK_IMG_filter_cubic"
    PushDescriptor c"VK_KHR_push_descriptor"
    /// By its core name.
    UpdateTemplate c"descriptor update templates (Vulkan 1.1)"
    /// The `KHR` names.
    UpdateTemplateKhr c"VK_KHR_descriptor_update_template"
    Maintenance6 c"VK_KHR_maintenance6"
    /// With buffer device addresses.
    DescriptorBuffer c"VK_EXT_descriptor_buffer"
    NullDescriptor c"nullDescriptor"
    MutableDescriptorType c"VK_EXT_mutable_descriptor_type"
    /// Update-after-bind for sampled images, partially bound, written where unused, and variable counts.
    DescriptorIndexing c"descriptor indexing (Vulkan 1.2)"
    /// By its core name.
    Copy2 c"vkCmdBlitImage2 (Vulkan 1.3)"
    /// The `KHR` names.
    Copy2Khr c"VK_KHR_copy_commands2"
    /// Or version 1.3.
    FormatFeatureFlags2 c"VK_KHR_format_feature_flags2"
    Formats4444 c"VK_EXT_4444_formats"
    Maintenance5 c"VK_KHR_maintenance5"
    ImageViewMinLod c"VK_EXT_image_view_min_lod"
    FragmentStores c"fragmentStoresAndAtomics"
    ImageArrayIndexing c"shaderSampledImageArrayDynamicIndexing"
    NonUniformIndexing c"shaderSampledImageArrayNonUniformIndexing (Vulkan 1.2)"
    ImageGatherExtended c"shaderImageGatherExtended"
    ResourceMinLod c"shaderResourceMinLod"
    /// With dynamic rendering.
    ShaderObject c"VK_EXT_shader_object"
    GraphicsPipelineLibrary c"VK_EXT_graphics_pipeline_library"
    StorageMultisample c"shaderStorageImageMultisample"
    RobustImageAccess c"robustImageAccess (Vulkan 1.3)"
    DynamicRendering c"dynamicRendering (Vulkan 1.3)"
    StorageUpdateAfterBind c"descriptorBindingStorageImageUpdateAfterBind (Vulkan 1.2)"
    /// Framebuffers may get their attachments when a render pass begins. Off unless [`asked for`](crate::ContextBuilder::with), as flags and
    /// usages of images count then.
    ImagelessFramebuffer c"imagelessFramebuffer (Vulkan 1.2)"
    /// Off unless [`asked for`](crate::ContextBuilder::with).
    DescriptorHeap c"VK_EXT_descriptor_heap"
}

impl Capability {
    /// The Vulkan name of the feature or extension, for skip messages.
    pub fn name(self) -> &'static str {
        self.of().to_str().expect("names are ASCII")
    }
}

/// Feature structures the harness knows, queried and enabled through one chain.
#[derive(Default)]
struct Structures {
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    ycbcr: vk::PhysicalDeviceSamplerYcbcrConversionFeatures<'static>,
    border: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'static>,
    seamless: vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT<'static>,
    maintenance5: vk::PhysicalDeviceMaintenance5FeaturesKHR<'static>,
    maintenance6: vk::PhysicalDeviceMaintenance6FeaturesKHR<'static>,
    buffer: vk::PhysicalDeviceDescriptorBufferFeaturesEXT<'static>,
    robustness: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    mutable: vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT<'static>,
    formats: vk::PhysicalDevice4444FormatsFeaturesEXT<'static>,
    min_lod: vk::PhysicalDeviceImageViewMinLodFeaturesEXT<'static>,
    objects: vk::PhysicalDeviceShaderObjectFeaturesEXT<'static>,
    libraries: vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT<'static>,
    heap: HeapFeatures,
}

/// The features of heaps, which the bindings do not have.
struct HeapFeatures(PhysicalDeviceDescriptorHeapFeaturesEXT);

impl Default for HeapFeatures {
    fn default() -> Self {
        Self(PhysicalDeviceDescriptorHeapFeaturesEXT {
            s_type: PhysicalDeviceDescriptorHeapFeaturesEXT::STRUCTURE_TYPE,
            p_next: std::ptr::null_mut(),
            descriptor_heap: vk::FALSE,
            descriptor_heap_capture_replay: vk::FALSE,
        })
    }
}

impl Structures {
    /// Links the structures that `has` (extensions) and `version` (effective) allow to `head`.
    fn chain<'a>(
        &'a mut self,
        version: u32,
        has: &dyn Fn(&CStr) -> bool,
        mut head: vk::PhysicalDeviceFeatures2<'a>,
    ) -> vk::PhysicalDeviceFeatures2<'a> {
        if version >= vk::API_VERSION_1_2 {
            head = head.push_next(&mut self.v11).push_next(&mut self.v12);
        } else if version >= vk::API_VERSION_1_1 || has(ash::khr::sampler_ycbcr_conversion::NAME) {
            head = head.push_next(&mut self.ycbcr);
        }
        if version >= vk::API_VERSION_1_3 {
            head = head.push_next(&mut self.v13);
        }
        macro_rules! extensions {
            ($($name:path: $structure:ident),+ $(,)?) => {
                $(if has($name) {
                    head = head.push_next(&mut self.$structure);
                })+
            };
        }
        extensions! {
            ash::ext::custom_border_color::NAME: border,
            ash::ext::border_color_swizzle::NAME: swizzle,
            ash::ext::non_seamless_cube_map::NAME: seamless,
            ash::khr::maintenance5::NAME: maintenance5,
            ash::khr::maintenance6::NAME: maintenance6,
            ash::ext::descriptor_buffer::NAME: buffer,
            ash::ext::robustness2::NAME: robustness,
            ash::ext::mutable_descriptor_type::NAME: mutable,
            ash::ext::_4444_formats::NAME: formats,
            ash::ext::image_view_min_lod::NAME: min_lod,
            ash::ext::shader_object::NAME: objects,
            ash::ext::graphics_pipeline_library::NAME: libraries,
        }
        if has(EXT_DESCRIPTOR_HEAP_NAME) {
            self.heap.0.p_next = head.p_next;
            head.p_next = (&raw mut self.heap.0).cast();
        }
        head
    }
}

/// What a device offers and what a new device shall enable.
pub(crate) struct Plan {
    /// Abilities the physical device has at the effective version.
    pub(crate) offered: BTreeSet<Capability>,
    /// Abilities to enable: offered, minus the opt-outs and what depends on them.
    pub(crate) enabled: BTreeSet<Capability>,
    /// Extension names to enable.
    pub(crate) extensions: Vec<&'static CStr>,
    version: u32,
}

impl Plan {
    /// Decides what to enable.
    ///
    /// `version`: effective version, the lower of application and device. `present`: the device's extensions.
    /// `query`: fills a features chain, or `None` when neither version 1.1 nor the KHR query is there.
    pub(crate) fn new(
        version: u32,
        present: &BTreeSet<String>,
        core: &vk::PhysicalDeviceFeatures,
        query: Option<&dyn Fn(&mut vk::PhysicalDeviceFeatures2<'_>)>,
        without: &BTreeSet<Capability>,
    ) -> Self {
        let has = |name: &CStr| present.contains(&name.to_string_lossy().into_owned());
        let mut found = Structures::default();
        if let Some(query) = query {
            let mut head = found.chain(version, &has, vk::PhysicalDeviceFeatures2::default());
            query(&mut head);
        }
        let on = |bit: vk::Bool32| bit == vk::TRUE;
        let at = |wanted: u32| version >= wanted;
        let v12 = &found.v12;
        let offers = |capability: Capability| match capability {
            Capability::SamplerAnisotropy => on(core.sampler_anisotropy),
            Capability::SampleRateShading => on(core.sample_rate_shading),
            Capability::ImageCubeArray => on(core.image_cube_array),
            Capability::FragmentStores => on(core.fragment_stores_and_atomics),
            Capability::ImageArrayIndexing => on(core.shader_sampled_image_array_dynamic_indexing),
            Capability::ImageGatherExtended => on(core.shader_image_gather_extended),
            Capability::ResourceMinLod => on(core.shader_resource_min_lod),
            Capability::SamplerMirrorClampToEdge if at(vk::API_VERSION_1_2) => on(v12.sampler_mirror_clamp_to_edge),
            Capability::SamplerMirrorClampToEdge => has(ash::khr::sampler_mirror_clamp_to_edge::NAME),
            Capability::SamplerFilterMinmax if at(vk::API_VERSION_1_2) => on(v12.sampler_filter_minmax),
            Capability::SamplerFilterMinmax => has(ash::ext::sampler_filter_minmax::NAME) && query.is_some(),
            Capability::SamplerYcbcrConversion => {
                at(vk::API_VERSION_1_1)
                    && (on(found.ycbcr.sampler_ycbcr_conversion) || on(found.v11.sampler_ycbcr_conversion))
            }
            Capability::CustomBorderColor => on(found.border.custom_border_colors),
            Capability::CustomBorderColorWithoutFormat => on(found.border.custom_border_color_without_format),
            Capability::BorderColorSwizzle => on(found.swizzle.border_color_swizzle),
            Capability::BorderColorSwizzleFromImage => on(found.swizzle.border_color_swizzle_from_image),
            Capability::NonSeamlessCubeMap => on(found.seamless.non_seamless_cube_map),
            Capability::FilterCubic => has(ash::ext::filter_cubic::NAME),
            Capability::FilterCubicImg => has(ash::img::filter_cubic::NAME),
            Capability::PushDescriptor => has(ash::khr::push_descriptor::NAME) && query.is_some(),
            Capability::UpdateTemplate => at(vk::API_VERSION_1_1),
            Capability::UpdateTemplateKhr => has(ash::khr::descriptor_update_template::NAME),
            Capability::Maintenance5 => on(found.maintenance5.maintenance5) && at(vk::API_VERSION_1_3),
            Capability::Maintenance6 => on(found.maintenance6.maintenance6) && at(vk::API_VERSION_1_1),
            Capability::DescriptorBuffer => {
                on(found.buffer.descriptor_buffer) && on(v12.buffer_device_address) && at(vk::API_VERSION_1_3)
            }
            Capability::NullDescriptor => on(found.robustness.null_descriptor),
            Capability::MutableDescriptorType => on(found.mutable.mutable_descriptor_type) && at(vk::API_VERSION_1_1),
            Capability::DescriptorIndexing => {
                on(v12.descriptor_indexing)
                    && on(v12.descriptor_binding_sampled_image_update_after_bind)
                    && on(v12.descriptor_binding_partially_bound)
                    && on(v12.descriptor_binding_update_unused_while_pending)
                    && on(v12.descriptor_binding_variable_descriptor_count)
                    && on(v12.runtime_descriptor_array)
            }
            Capability::StorageUpdateAfterBind => on(v12.descriptor_binding_storage_image_update_after_bind),
            Capability::ImagelessFramebuffer => on(v12.imageless_framebuffer),
            Capability::DescriptorHeap => {
                on(found.heap.0.descriptor_heap)
                    && on(v12.buffer_device_address)
                    && on(found.maintenance5.maintenance5)
                    && at(vk::API_VERSION_1_3)
            }
            Capability::NonUniformIndexing => {
                on(v12.shader_sampled_image_array_non_uniform_indexing)
                    && on(core.shader_sampled_image_array_dynamic_indexing)
            }
            Capability::Copy2 => at(vk::API_VERSION_1_3),
            Capability::Copy2Khr => has(ash::khr::copy_commands2::NAME) && query.is_some(),
            Capability::FormatFeatureFlags2 => {
                at(vk::API_VERSION_1_3) || (has(ash::khr::format_feature_flags2::NAME) && query.is_some())
            }
            Capability::Formats4444 => on(found.formats.format_a4b4g4r4) && on(found.formats.format_a4r4g4b4),
            Capability::ImageViewMinLod => on(found.min_lod.min_lod),
            Capability::ShaderObject => {
                on(found.objects.shader_object) && on(found.v13.dynamic_rendering) && at(vk::API_VERSION_1_3)
            }
            Capability::GraphicsPipelineLibrary => on(found.libraries.graphics_pipeline_library),
            Capability::StorageMultisample => on(core.shader_storage_image_multisample),
            Capability::RobustImageAccess => on(found.v13.robust_image_access) && at(vk::API_VERSION_1_3),
            Capability::DynamicRendering => on(found.v13.dynamic_rendering) && at(vk::API_VERSION_1_3),
        };
        let offered: BTreeSet<Capability> = Capability::ALL.iter().copied().filter(|c| offers(*c)).collect();
        let mut enabled: BTreeSet<Capability> = offered.difference(without).copied().collect();
        for (dependent, base) in [
            (Capability::CustomBorderColorWithoutFormat, Capability::CustomBorderColor),
            (Capability::BorderColorSwizzle, Capability::CustomBorderColor),
            (Capability::BorderColorSwizzleFromImage, Capability::BorderColorSwizzle),
            (Capability::DescriptorHeap, Capability::Maintenance5),
        ] {
            if !enabled.contains(&base) {
                enabled.remove(&dependent);
            }
        }
        let extensions = Self::extensions_for(&enabled, version);
        Self { offered, enabled, extensions, version }
    }

    fn extensions_for(enabled: &BTreeSet<Capability>, version: u32) -> Vec<&'static CStr> {
        let below = |wanted: u32| version < wanted;
        let mut names: Vec<&'static CStr> = Vec::new();
        for capability in enabled {
            names.extend(match capability {
                Capability::SamplerMirrorClampToEdge if below(vk::API_VERSION_1_2) => {
                    Some(ash::khr::sampler_mirror_clamp_to_edge::NAME)
                }
                Capability::SamplerFilterMinmax if below(vk::API_VERSION_1_2) => {
                    Some(ash::ext::sampler_filter_minmax::NAME)
                }
                Capability::CustomBorderColor => Some(ash::ext::custom_border_color::NAME),
                Capability::BorderColorSwizzle => Some(ash::ext::border_color_swizzle::NAME),
                Capability::NullDescriptor => Some(ash::ext::robustness2::NAME),
                Capability::FormatFeatureFlags2 if !below(vk::API_VERSION_1_3) => None,
                other => Some(other.of()).filter(|name| name.to_bytes().starts_with(b"VK_")),
            });
            if *capability == Capability::GraphicsPipelineLibrary {
                names.push(ash::khr::pipeline_library::NAME);
            }
        }
        names
    }

    /// Calls `create` with the chain of enabled features, or with the plain features when `use_chain` is false.
    pub(crate) fn enable<R>(
        &self,
        use_chain: bool,
        create: impl FnOnce(Option<&mut vk::PhysicalDeviceFeatures2<'_>>, &vk::PhysicalDeviceFeatures) -> R,
    ) -> R {
        let bit = |capability: Capability| vk::Bool32::from(self.enabled.contains(&capability));
        let core = vk::PhysicalDeviceFeatures {
            sampler_anisotropy: bit(Capability::SamplerAnisotropy),
            sample_rate_shading: bit(Capability::SampleRateShading),
            image_cube_array: bit(Capability::ImageCubeArray),
            fragment_stores_and_atomics: bit(Capability::FragmentStores),
            shader_sampled_image_array_dynamic_indexing: bit(Capability::ImageArrayIndexing),
            shader_image_gather_extended: bit(Capability::ImageGatherExtended),
            shader_resource_min_lod: bit(Capability::ResourceMinLod),
            shader_storage_image_multisample: bit(Capability::StorageMultisample),
            ..Default::default()
        };
        if !use_chain {
            return create(None, &core);
        }
        let mut wanted = Structures::default();
        wanted.v11.sampler_ycbcr_conversion = bit(Capability::SamplerYcbcrConversion);
        wanted.ycbcr.sampler_ycbcr_conversion = bit(Capability::SamplerYcbcrConversion);
        wanted.v12.sampler_mirror_clamp_to_edge = bit(Capability::SamplerMirrorClampToEdge);
        wanted.v12.sampler_filter_minmax = bit(Capability::SamplerFilterMinmax);
        wanted.v12.buffer_device_address = bit(Capability::DescriptorBuffer) | bit(Capability::DescriptorHeap);
        wanted.heap.0.descriptor_heap = bit(Capability::DescriptorHeap);
        let indexing = bit(Capability::DescriptorIndexing);
        wanted.v12.descriptor_binding_sampled_image_update_after_bind = indexing;
        wanted.v12.descriptor_binding_partially_bound = indexing;
        wanted.v12.descriptor_binding_update_unused_while_pending = indexing;
        // What is written while it is in use takes a submission that waits. Each device of Vulkan 1.2 has them.
        wanted.v12.timeline_semaphore = indexing;
        wanted.v12.descriptor_binding_storage_image_update_after_bind = bit(Capability::StorageUpdateAfterBind);
        wanted.v12.imageless_framebuffer = bit(Capability::ImagelessFramebuffer);
        wanted.v12.descriptor_binding_variable_descriptor_count = indexing;
        wanted.v12.runtime_descriptor_array = indexing;
        wanted.v12.shader_sampled_image_array_non_uniform_indexing = bit(Capability::NonUniformIndexing);
        wanted.border.custom_border_colors = bit(Capability::CustomBorderColor);
        wanted.border.custom_border_color_without_format = bit(Capability::CustomBorderColorWithoutFormat);
        wanted.swizzle.border_color_swizzle = bit(Capability::BorderColorSwizzle);
        wanted.swizzle.border_color_swizzle_from_image = bit(Capability::BorderColorSwizzleFromImage);
        wanted.seamless.non_seamless_cube_map = bit(Capability::NonSeamlessCubeMap);
        wanted.maintenance5.maintenance5 = bit(Capability::Maintenance5);
        wanted.maintenance6.maintenance6 = bit(Capability::Maintenance6);
        wanted.buffer.descriptor_buffer = bit(Capability::DescriptorBuffer);
        wanted.robustness.null_descriptor = bit(Capability::NullDescriptor);
        wanted.mutable.mutable_descriptor_type = bit(Capability::MutableDescriptorType);
        let formats = bit(Capability::Formats4444);
        (wanted.formats.format_a4b4g4r4, wanted.formats.format_a4r4g4b4) = (formats, formats);
        wanted.min_lod.min_lod = bit(Capability::ImageViewMinLod);
        wanted.objects.shader_object = bit(Capability::ShaderObject);
        wanted.libraries.graphics_pipeline_library = bit(Capability::GraphicsPipelineLibrary);
        wanted.v13.dynamic_rendering = bit(Capability::ShaderObject) | bit(Capability::DynamicRendering);
        wanted.v13.robust_image_access = bit(Capability::RobustImageAccess);
        let has = |name: &CStr| self.extensions.contains(&name);
        let mut head = wanted.chain(self.version, &has, vk::PhysicalDeviceFeatures2::default().features(core));
        create(Some(&mut head), &core)
    }
}
