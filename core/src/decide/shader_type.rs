//! What a shader says of every view that it may read, where no view is known.

use ash::vk;

use super::{Decision, DeviceCaps, Exempt, Policy, Reads, SamplerState, SamplerUse, ViewTraits, legalize_except};
use crate::format::NumericClass;

/// What shaders declare of the images that they read through one sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShaderType {
    /// What texels become. A view of another class may not be read so (vkCmdDraw-format-07753), nor a depth as integers.
    pub class: NumericClass,
    /// Dimension and layers, as the view has to have them (vkCmdDraw-viewType-07752).
    pub view_type: vk::ImageViewType,
    /// What its instructions do.
    pub reads: Reads,
    /// The features that any format of integers has on the device.
    pub integers: vk::FormatFeatureFlags2,
}

impl ShaderType {
    /// A view with what is known of all of them. What is not known is such that no rule is broken for it.
    pub fn view(&self) -> ViewTraits {
        let (format, features) = match self.class {
            NumericClass::Uint => (vk::Format::R32_UINT, Some(self.integers | vk::FormatFeatureFlags2::SAMPLED_IMAGE)),
            NumericClass::Sint => (vk::Format::R32_SINT, Some(self.integers | vk::FormatFeatureFlags2::SAMPLED_IMAGE)),
            NumericClass::Float => (vk::Format::R8G8B8A8_UNORM, None),
        };
        let image_type = match self.view_type {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => vk::ImageType::TYPE_1D,
            vk::ImageViewType::TYPE_3D => vk::ImageType::TYPE_3D,
            _ => vk::ImageType::TYPE_2D,
        };
        let (view_type, reads) = (self.view_type, self.reads);
        let view = ViewTraits::new_2d(format, features.unwrap_or_default());
        ViewTraits { features, view_type, image_type, reads, ..view }
    }
}

/// Decides for a sampler that shaders read images of these types through, of which no view is known: rules that every such view breaks
/// or would break.
pub fn shader_type(
    state: &SamplerState,
    ty: &ShaderType,
    exempt: Exempt,
    caps: &DeviceCaps,
    policy: &Policy,
) -> Decision {
    legalize_except(state, SamplerUse { view: Some(&ty.view()), dynamic: false }, exempt, caps, policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Catalog, Rule, create};

    fn of(class: NumericClass, view_type: vk::ImageViewType) -> ShaderType {
        ShaderType { class, view_type, reads: Reads::Plain, integers: vk::FormatFeatureFlags2::empty() }
    }

    fn decide(state: &SamplerState, ty: &ShaderType) -> Decision {
        shader_type(state, ty, Exempt::NONE, &DeviceCaps::default(), &Policy::default())
    }

    #[test]
    fn integers_are_not_filtered_unless_some_format_of_them_can_be() {
        let linear = SamplerState {
            mag_filter: vk::Filter::LINEAR,
            mipmap_mode: vk::SamplerMipmapMode::LINEAR,
            ..SamplerState::default()
        };
        for class in [NumericClass::Uint, NumericClass::Sint] {
            let mut ty = of(class, vk::ImageViewType::TYPE_2D);
            let made = decide(&linear, &ty);
            assert_eq!((made.state.mag_filter, made.state.mipmap_mode), Default::default());
            assert!(made.changes.iter().any(|change| change.catalog == Catalog::B16));
            ty.integers = vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_LINEAR;
            assert!(decide(&linear, &ty).changes.is_empty());
        }
        assert!(decide(&linear, &of(NumericClass::Float, vk::ImageViewType::TYPE_2D)).changes.is_empty());
    }

    #[test]
    fn borders_are_of_the_kind_that_is_read() {
        let border = |color| SamplerState {
            address_mode: [vk::SamplerAddressMode::CLAMP_TO_BORDER; 3],
            border_color: color,
            ..SamplerState::default()
        };
        let (float, int) = (border(vk::BorderColor::FLOAT_OPAQUE_WHITE), border(vk::BorderColor::INT_OPAQUE_WHITE));
        let types = [NumericClass::Float, NumericClass::Uint].map(|class| of(class, vk::ImageViewType::TYPE_2D));
        for (ty, right, wrong) in [(types[0], float, int), (types[1], int, float)] {
            assert!(decide(&right, &ty).changes.is_empty());
            let made = decide(&wrong, &ty);
            assert_eq!(made.state.border_color, right.border_color);
            assert_eq!(made.changes.iter().map(|change| change.catalog.rule()).collect::<Vec<_>>(), [Rule::BorderType]);
        }
        // No address mode acts on a seamless cube.
        assert!(decide(&int, &of(NumericClass::Float, vk::ImageViewType::CUBE)).changes.is_empty());
    }

    #[test]
    fn comparison_is_off_where_no_view_of_the_type_can_compare() {
        let compares = SamplerState { compare_enable: true, ..SamplerState::default() };
        let integer = of(NumericClass::Uint, vk::ImageViewType::TYPE_2D);
        assert!(!decide(&compares, &integer).state.compare_enable);
        // A depth may be read as float, and programs read their shadow maps so.
        assert!(decide(&compares, &of(NumericClass::Float, vk::ImageViewType::TYPE_2D)).changes.is_empty());
        let compared = decide(&compares, &ShaderType { reads: Reads::Compared, ..integer });
        assert!(compared.state.compare_enable && compared.unresolved.is_some());
    }

    #[test]
    fn dimensions_say_what_unnormalized_coordinates_and_cubic_filters_may_read() {
        let raw = SamplerState {
            unnormalized_coordinates: true,
            address_mode: [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3],
            ..SamplerState::default()
        };
        for (view_type, is_broken) in [
            (vk::ImageViewType::TYPE_1D, false),
            (vk::ImageViewType::TYPE_2D, false),
            (vk::ImageViewType::TYPE_2D_ARRAY, true),
            (vk::ImageViewType::TYPE_3D, true),
        ] {
            assert_eq!(decide(&raw, &of(NumericClass::Float, view_type)).unresolved.is_some(), is_broken);
        }
        let cubic = SamplerState { mag_filter: vk::Filter::CUBIC_EXT, ..SamplerState::default() };
        let caps = DeviceCaps { filter_cubic_img: true, ..DeviceCaps::default() };
        assert!(create(&cubic, &caps, &Policy::default()).changes.is_empty());
        for (view_type, becomes) in
            [(vk::ImageViewType::TYPE_2D, vk::Filter::CUBIC_EXT), (vk::ImageViewType::TYPE_3D, vk::Filter::LINEAR)]
        {
            let ty = of(NumericClass::Float, view_type);
            let made = shader_type(&cubic, &ty, Exempt::NONE, &caps, &Policy::default());
            assert_eq!(made.state.mag_filter, becomes);
        }
    }
}
