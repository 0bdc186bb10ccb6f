//! What decisions are taken against: [`ViewTraits`], [`DeviceCaps`] and [`Policy`].

use alloc::vec::Vec;

use ash::vk;

use crate::ability::ABILITIES;
use crate::format::{self, NumericClass};

/// The one aspect of an image that a view reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// Colour, or a plane of a multi-planar image.
    Color,
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
}

/// Which axes of a view the address modes act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimensions {
    /// U only.
    One,
    /// U and V.
    Two,
    /// U, V and W.
    Three,
    /// Cube faces: no address mode acts, unless the sampler is non-seamless (then U and V do).
    Cube,
}

/// What is known of the instructions that read a view through a sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reads {
    /// Nothing: not which shader reads, nor whether one does.
    #[default]
    Unknown,
    /// They sample, and none of them compares.
    Plain,
    /// One of them compares (`OpImage*Dref*`).
    Compared,
}

/// Whether the shader can divide coordinates in texels by the size of the level, and what its instructions ask for that unnormalized
/// coordinates exclude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Divide {
    /// It cannot, or nothing is known of it.
    #[default]
    Never,
    /// It can. Its instructions suit unnormalized coordinates.
    Suited,
    /// It can. An instruction has an implicit level of detail or a projection (VUID-vkCmdDraw-None-08610).
    Lookup,
    /// It can. An instruction has a bias or an offset (VUID-vkCmdDraw-None-08611).
    Offset,
    /// It can. An instruction that gathers has an offset, of which that valid-usage id does not speak ("The functions must not use
    /// offsets", `VkSamplerCreateInfo`).
    Gather,
}

/// What matters of a `VkImageView` and its image for the legality of a sampler, and of how it is read.
///
/// Views with equal traits form a *view class*: one decision per (sampler, class) is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewTraits {
    /// Format of the view (not of the image).
    pub format: vk::Format,
    /// Aspect read through the view.
    pub aspect: Aspect,
    /// `viewType`.
    pub view_type: vk::ImageViewType,
    /// Type of the image.
    pub image_type: vk::ImageType,
    /// Component mapping in the order R, G, B, A, with components that name themselves replaced by `IDENTITY`.
    pub components: [vk::ComponentSwizzle; 4],
    /// Format features of the view's format with the image's tiling; `None` when they are not known,
    /// which means that nothing is downgraded because of them.
    pub features: Option<vk::FormatFeatureFlags2>,
    /// `levelCount`, resolved; 0 unless an override looks at it, so that it does not split classes for nothing.
    pub levels: u32,
    /// `levelCount` is 1 (after resolving `VK_REMAINING_MIP_LEVELS`).
    pub single_level: bool,
    /// `layerCount` is 1 (after resolving `VK_REMAINING_ARRAY_LAYERS`).
    pub single_layer: bool,
    /// The image has `VK_IMAGE_CREATE_CORNER_SAMPLED_BIT_NV`.
    pub corner_sampled: bool,
    /// The image has `VK_IMAGE_CREATE_SUBSAMPLED_BIT_EXT`.
    pub subsampled: bool,
    /// The view's usage holds a colour or depth/stencil attachment bit.
    pub attachment: bool,
    /// The view has a Y′CbCr conversion chained: its pair must be immutable and is left alone.
    pub ycbcr: bool,
    /// `filterCubic` of this image's parameters (VUID-vkCmdDraw-filterCubic-02694); true when not queried.
    pub filter_cubic: bool,
    /// `filterCubicMinmax` (VUID-vkCmdDraw-filterCubicMinmax-02695); true when not queried.
    pub filter_cubic_minmax: bool,
    /// How shaders read it, where a bind says that; [`Reads::Unknown`] for a descriptor by itself.
    pub reads: Reads,
    /// What shaders do with coordinates in texels, where a bind says that.
    pub divide: Divide,
    /// Shaders do nothing with it but sample, whatever settings ask of them.
    pub by_itself: bool,
}

impl ViewTraits {
    /// A 2D, single-level, identity view of `format` with the given optimal-tiling features.
    pub fn new_2d(format: vk::Format, features: vk::FormatFeatureFlags2) -> Self {
        let aspects = format::aspects(format);
        Self {
            format,
            aspect: if aspects.contains(vk::ImageAspectFlags::DEPTH) {
                Aspect::Depth
            } else if aspects.contains(vk::ImageAspectFlags::STENCIL) {
                Aspect::Stencil
            } else {
                Aspect::Color
            },
            view_type: vk::ImageViewType::TYPE_2D,
            image_type: vk::ImageType::TYPE_2D,
            components: [vk::ComponentSwizzle::IDENTITY; 4],
            features: Some(features),
            levels: 0,
            single_level: true,
            single_layer: true,
            corner_sampled: false,
            subsampled: false,
            attachment: false,
            ycbcr: false,
            filter_cubic: true,
            filter_cubic_minmax: true,
            reads: Reads::Unknown,
            divide: Divide::Never,
            by_itself: false,
        }
    }

    /// Class of the values that sampling this view returns.
    pub fn numeric_class(&self) -> NumericClass {
        match self.aspect {
            Aspect::Stencil => NumericClass::Uint,
            Aspect::Depth => NumericClass::Float,
            Aspect::Color => format::numeric_class(self.format),
        }
    }

    /// Whether [`numeric_class`](Self::numeric_class) is a fact; for a colour format that the tables do not know it is
    /// a guess.
    pub fn class_is_known(&self) -> bool {
        self.aspect != Aspect::Color || format::is_known(self.format)
    }

    /// Whether sampling this view returns integers.
    pub fn is_integer(&self) -> bool {
        self.numeric_class().is_integer()
    }

    /// Whether the features are unknown or hold `bit`.
    pub fn may(&self, bit: vk::FormatFeatureFlags2) -> bool {
        self.features.is_none_or(|features| features.contains(bit))
    }

    /// Whether the format may be sampled at all. Of one that cannot no other feature says anything: whatever a sampler does with
    /// such a view is undefined.
    pub fn can_be_sampled(&self) -> bool {
        self.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE)
    }

    /// Which axes the address modes act on.
    pub fn dimensions(&self) -> Dimensions {
        match self.view_type {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => Dimensions::One,
            vk::ImageViewType::TYPE_3D => Dimensions::Three,
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => Dimensions::Cube,
            _ => Dimensions::Two,
        }
    }

    /// Whether component `index` (R, G, B, A) is passed through unchanged.
    pub fn is_identity(&self, index: usize) -> bool {
        self.components.get(index).is_none_or(|c| *c == vk::ComponentSwizzle::IDENTITY)
    }
}

/// Replaces every component that names itself by `IDENTITY`, so that equal mappings compare equal.
pub fn normalize_components(mapping: vk::ComponentMapping) -> [vk::ComponentSwizzle; 4] {
    use vk::ComponentSwizzle as C;
    let of = |given: C, own: C| if given == own { C::IDENTITY } else { given };
    [of(mapping.r, C::R), of(mapping.g, C::G), of(mapping.b, C::B), of(mapping.a, C::A)]
}

/// Features **enabled** on the device (not merely supported), extensions enabled, and limits: everything of a device
/// that the rules name, except format features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceCaps {
    /// Feature `samplerAnisotropy`.
    pub sampler_anisotropy: bool,
    /// Limit `maxSamplerAnisotropy`.
    pub max_sampler_anisotropy: f32,
    /// Limit `maxSamplerLodBias`, in mip levels.
    pub max_sampler_lod_bias: f32,
    /// `maxSampleMaskWords`; 0 if not known.
    pub max_sample_mask_words: u32,
    /// Limit `maxSamplerAllocationCount`.
    pub max_sampler_allocation_count: u32,
    /// Feature `samplerMirrorClampToEdge` or extension `VK_KHR_sampler_mirror_clamp_to_edge`.
    pub sampler_mirror_clamp_to_edge: bool,
    /// Feature `samplerFilterMinmax` or extension `VK_EXT_sampler_filter_minmax`.
    pub sampler_filter_minmax: bool,
    /// Property `filterMinmaxImageComponentMapping`.
    pub filter_minmax_component_mapping: bool,
    /// Extension `VK_IMG_filter_cubic`.
    pub filter_cubic_img: bool,
    /// Extension `VK_EXT_filter_cubic`.
    pub filter_cubic_ext: bool,
    /// Extension `VK_IMG_filter_linear_2d`.
    pub filter_linear_2d_img: bool,
    /// Feature `customBorderColors`.
    pub custom_border_colors: bool,
    /// Feature `customBorderColorWithoutFormat`.
    pub custom_border_color_without_format: bool,
    /// Limit `maxCustomBorderColorSamplers`.
    pub max_custom_border_color_samplers: u32,
    /// Feature `borderColorSwizzle`.
    pub border_color_swizzle: bool,
    /// Feature `borderColorSwizzleFromImage`.
    pub border_color_swizzle_from_image: bool,
    /// Feature `nonSeamlessCubeMap`.
    pub non_seamless_cube_map: bool,
    /// Feature `cubicRangeClamp`.
    pub cubic_range_clamp: bool,
    /// Feature `selectableCubicWeights`.
    pub selectable_cubic_weights: bool,
    /// Feature `descriptorBufferCaptureReplay`.
    pub descriptor_buffer_capture_replay: bool,
    /// Limit `maxBlockMatchWindow` in texels; zero when not reported.
    pub max_block_match_window: [u32; 2],
    /// False when `VK_KHR_portability_subset` is enabled and `samplerMipLodBias` is not.
    pub sampler_mip_lod_bias: bool,
    /// False when `VK_KHR_portability_subset` is enabled and `mutableComparisonSamplers` is not.
    pub mutable_comparison_samplers: bool,
    /// Feature `samplerYcbcrConversion`.
    pub sampler_ycbcr_conversion: bool,
    /// `VkImageViewUsageCreateInfo` and extended usage exist: version 1.1 or extension `VK_KHR_maintenance2`.
    pub view_usage: bool,
    /// Feature `imagelessFramebuffer`.
    pub imageless_framebuffer: bool,
    /// Feature `sampleRateShading`.
    pub sample_rate_shading: bool,
    /// Feature `shaderStorageImageReadWithoutFormat`.
    pub storage_read_without_format: bool,
    /// Feature `shaderStorageImageWriteWithoutFormat`.
    pub storage_write_without_format: bool,
    /// Shaders may declare storage images without a format whatever the two features are: version 1.3 or extension
    /// `VK_KHR_format_feature_flags2`.
    pub format_feature_flags2: bool,
    /// Feature `shaderDrawParameters`.
    pub shader_draw_parameters: bool,
    /// Feature `fragmentStoresAndAtomics`.
    pub fragment_stores: bool,
    /// Feature `vertexPipelineStoresAndAtomics`.
    pub vertex_stores: bool,
    /// The layer's own extension `VK_SAMPLIN_gl_address_modes`, or an override that uses its modes.
    pub gl_address_modes: bool,
    /// The layer's own extension `VK_SAMPLIN_gl_shaders`.
    pub gl_shaders: bool,
    /// An extension is enabled, or a core version is supported, that is younger than the layer, so that values of the
    /// extension range may be enumerants.
    pub unknown_extension: bool,
}

impl DeviceCaps {
    /// Features and extensions by their names in records, with whether they are enabled.
    pub fn features(&self) -> Vec<(&'static str, bool)> {
        let mut copy = *self;
        ABILITIES
            .iter()
            .filter_map(|ability| Some((ability.name, *ability.field?(&mut copy))))
            .chain([("filterCubic", self.filter_cubic_img || self.filter_cubic_ext)])
            .collect()
    }
}

impl Default for DeviceCaps {
    /// The least a Vulkan 1.0 implementation has, nothing enabled.
    fn default() -> Self {
        Self {
            sampler_anisotropy: false,
            max_sampler_anisotropy: 1.0,
            max_sampler_lod_bias: 2.0,
            max_sample_mask_words: 0,
            max_sampler_allocation_count: 4000,
            sampler_mirror_clamp_to_edge: false,
            sampler_filter_minmax: false,
            filter_minmax_component_mapping: false,
            filter_cubic_img: false,
            filter_cubic_ext: false,
            filter_linear_2d_img: false,
            custom_border_colors: false,
            custom_border_color_without_format: false,
            max_custom_border_color_samplers: 0,
            border_color_swizzle: false,
            border_color_swizzle_from_image: false,
            non_seamless_cube_map: false,
            cubic_range_clamp: false,
            selectable_cubic_weights: false,
            descriptor_buffer_capture_replay: false,
            max_block_match_window: [0; 2],
            sampler_mip_lod_bias: true,
            mutable_comparison_samplers: true,
            sampler_ycbcr_conversion: false,
            view_usage: false,
            imageless_framebuffer: false,
            sample_rate_shading: false,
            storage_read_without_format: false,
            storage_write_without_format: false,
            format_feature_flags2: false,
            shader_draw_parameters: false,
            fragment_stores: false,
            vertex_stores: false,
            gl_address_modes: false,
            gl_shaders: false,
            unknown_extension: false,
        }
    }
}

/// The settings that decisions depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `border=strict`: B-50 and B-51 hold even if no address mode reaches the border.
    pub strict_border: bool,
    /// `depth_linear=compare`: LINEAR on unfilterable depth becomes comparison with `ALWAYS`.
    pub depth_compare: bool,
    /// `gl_clamp_rule=min`: GL_CLAMP reaches the border if `minFilter` is LINEAR, whatever `magFilter` is, where shaders do not saturate.
    pub gl_clamp_min: bool,
    /// Shaders are made to saturate coordinates ([`Decision::saturate`](super::Decision::saturate)).
    pub saturates: bool,
    /// Shaders are made to filter ([`Decision::emulate`](super::Decision::emulate)).
    pub emulates: bool,
    /// Shaders are made to divide coordinates in texels by the size of the level (`unnormalized=exact`), where a view says
    /// [`Divide`].
    pub divides: bool,
    /// Shaders are made to compare where they are known to ([`Decision::compare`](super::Decision::compare)).
    pub compares: bool,
    /// `aniso_nearest=off`: no anisotropy where both filters are NEAREST.
    pub flat_nearest: bool,
}

impl Policy {
    /// The same where shaders do nothing but sample.
    #[must_use]
    pub fn by_itself(self) -> Self {
        Self { saturates: false, emulates: false, divides: false, compares: false, ..self }
    }
}

/// Where a sampler is about to be used.
#[derive(Clone, Copy, Debug)]
pub struct SamplerUse<'a> {
    /// The view it is paired with; `None` when that is not known.
    pub view: Option<&'a ViewTraits>,
    /// Whether it goes into a descriptor as a dynamic (not immutable) sampler.
    pub dynamic: bool,
}

impl SamplerUse<'_> {
    /// At `vkCreateSampler`: nothing is known but the device.
    pub const CREATE: SamplerUse<'static> = SamplerUse { view: None, dynamic: false };
}
