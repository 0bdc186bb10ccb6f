//! A view, as a program creates it.

use ash::vk;

use crate::decide::{Aspect, Divide, Reads, ViewTraits, normalize_components};
use crate::features::Tiling;
use crate::format;

/// What matters of the image of a [`View`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// `imageType`.
    pub image_type: vk::ImageType,
    /// `tiling`.
    pub tiling: Tiling,
    /// The DRM format modifier, which goes with [`Tiling::Modifier`].
    pub modifier: u64,
    /// `flags`.
    pub flags: vk::ImageCreateFlags,
    /// `mipLevels`.
    pub levels: u32,
    /// `arrayLayers`.
    pub layers: u32,
}

/// An image view, and what matters of its image and of the shaders that read it.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// `format` of the view, which may differ from the image's.
    pub format: vk::Format,
    /// `viewType`.
    pub view_type: vk::ImageViewType,
    /// `components`.
    pub components: vk::ComponentMapping,
    /// `subresourceRange`.
    pub range: vk::ImageSubresourceRange,
    /// The usage of the view, which is the image's unless `VkImageViewUsageCreateInfo` is chained.
    pub usage: vk::ImageUsageFlags,
    /// A `VkSamplerYcbcrConversion` is chained.
    pub has_conversion: bool,
    /// `filterCubic` of `VkFilterCubicImageViewImageFormatPropertiesEXT`; true where nobody asked.
    pub filter_cubic: bool,
    /// `filterCubicMinmax` of the same structure.
    pub filter_cubic_minmax: bool,
    /// How shaders read it, if that is known.
    pub reads: Reads,
    /// Its image.
    pub image: Image,
}

impl View {
    /// A 2D view with one level and one layer of an optimally tiled image of its own format, for sampling. It shows one aspect: depth, if
    /// the format has it.
    pub fn new_2d(format: vk::Format) -> Self {
        let aspects = format::aspects(format);
        let aspect_mask =
            if aspects.contains(vk::ImageAspectFlags::DEPTH) { vk::ImageAspectFlags::DEPTH } else { aspects };
        Self {
            format,
            view_type: vk::ImageViewType::TYPE_2D,
            components: vk::ComponentMapping::default(),
            range: vk::ImageSubresourceRange {
                aspect_mask,
                base_mip_level: 0,
                level_count: 1,
                base_array_layer: 0,
                layer_count: 1,
            },
            usage: vk::ImageUsageFlags::SAMPLED,
            has_conversion: false,
            filter_cubic: true,
            filter_cubic_minmax: true,
            reads: Reads::Unknown,
            image: Image {
                image_type: vk::ImageType::TYPE_2D,
                tiling: Tiling::Optimal,
                modifier: 0,
                flags: vk::ImageCreateFlags::empty(),
                levels: 1,
                layers: 1,
            },
        }
    }

    /// The view that these create infos describe. Their chains are not followed: [`usage`](View::usage),
    /// [`has_conversion`](View::has_conversion) and the modifier are the caller's to correct.
    pub fn new(image: &vk::ImageCreateInfo<'_>, view: &vk::ImageViewCreateInfo<'_>) -> Self {
        Self {
            format: view.format,
            view_type: view.view_type,
            components: view.components,
            range: view.subresource_range,
            usage: image.usage,
            image: Image {
                image_type: image.image_type,
                tiling: Tiling::of(image.tiling),
                modifier: 0,
                flags: image.flags,
                levels: image.mip_levels,
                layers: image.array_layers,
            },
            ..Self::new_2d(view.format)
        }
    }

    /// What decisions look at, where the format has these features for the tiling of the image.
    ///
    /// The layer describes its views so. The number of levels is left out there unless an override asks for it.
    #[doc(hidden)]
    pub fn traits(&self, features: Option<vk::FormatFeatureFlags2>, counts_levels: bool) -> ViewTraits {
        let (range, image) = (self.range, self.image);
        let single =
            |count: u32, first: u32, all: u32| count == 1 || (count == u32::MAX && first.saturating_add(1) >= all);
        let levels = match range.level_count {
            vk::REMAINING_MIP_LEVELS => image.levels.saturating_sub(range.base_mip_level),
            count => count,
        };
        let aspect = if range.aspect_mask.contains(vk::ImageAspectFlags::DEPTH) {
            Aspect::Depth
        } else if range.aspect_mask.contains(vk::ImageAspectFlags::STENCIL) {
            Aspect::Stencil
        } else {
            Aspect::Color
        };
        let of_planes =
            range.aspect_mask.contains(vk::ImageAspectFlags::COLOR) && format::needs_conversion(self.format);
        ViewTraits {
            format: self.format,
            aspect,
            view_type: self.view_type,
            image_type: image.image_type,
            components: normalize_components(self.components),
            features,
            levels: if counts_levels { levels } else { 0 },
            single_level: single(range.level_count, range.base_mip_level, image.levels),
            single_layer: single(range.layer_count, range.base_array_layer, image.layers),
            corner_sampled: image.flags.contains(vk::ImageCreateFlags::CORNER_SAMPLED_NV),
            subsampled: image.flags.contains(vk::ImageCreateFlags::SUBSAMPLED_EXT),
            attachment: self
                .usage
                .intersects(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
            ycbcr: self.has_conversion || of_planes,
            filter_cubic: self.filter_cubic,
            filter_cubic_minmax: self.filter_cubic_minmax,
            reads: self.reads,
            divide: Divide::Never,
            by_itself: false,
        }
    }
}
