//! Catalogue B.4 and B.5: borders against the view.

use crate::setting::*;

/// Red and blue change places.
const EXCHANGED: [Swizzle; 4] = [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::IDENTITY];

pub(crate) const ROWS: &[Row] = rows! { t:
    "B-50" None =>
        "an integer border on a float view"
            { t.border(vk::BorderColor::INT_OPAQUE_WHITE); t.sees(F::R8G8B8A8_SRGB, NONE); }
            => ["B-50 borderColor INT_OPAQUE_WHITE -> FLOAT_OPAQUE_WHITE"]
            but { t.s.address_mode = [Mode::CLAMP_TO_EDGE; 3]; }
        "an integer border on depth"
            { t.border(vk::BorderColor::INT_OPAQUE_BLACK); t.sees(F::D32_SFLOAT_S8_UINT, NONE); }
            => ["B-50 borderColor INT_OPAQUE_BLACK -> FLOAT_OPAQUE_BLACK"]
            but { t.seen().aspect = decide::Aspect::Stencil; }
        "a custom integer border on a float view: 1 is 1.0, and the view's format replaces one of integers"
            { t.int_border([1, 0, -1, 255], F::R8G8B8A8_SINT); t.sees(F::R8G8B8A8_UNORM, NONE); }
            => ["B-50 borderColor INT_CUSTOM_EXT -> FLOAT_CUSTOM_EXT",
                "B-50 customBorderColor [1, 0, -1, 255] -> [1.0, 0.0, 0.0, 1.0]",
                "B-50 format R8G8B8A8_SINT -> R8G8B8A8_UNORM"]
            but { t.int_border([1, 0, -1, 127], F::R8G8B8A8_SINT); t.seen().format = F::R8G8B8A8_SINT; }
        "the format of floats that an integer colour stated (A-33) gives way to the view's, and the value follows"
            { t.int_border([2, 0, 0, 1], F::R16G16B16A16_SFLOAT); t.sees(F::R8G8B8A8_UNORM, NONE); }
            => ["B-50 borderColor INT_CUSTOM_EXT -> FLOAT_CUSTOM_EXT",
                "B-50 customBorderColor [2, 0, 0, 1] -> [1.0, 0.0, 0.0, 1.0]",
                "B-50 format R16G16B16A16_SFLOAT -> R8G8B8A8_UNORM"]
            but { t.float_border([1.0, 0.0, 0.0, 1.0], F::R8G8B8A8_UNORM); }
        "W counts in three dimensions"
            { t.s.address_mode = [Mode::REPEAT, Mode::REPEAT, Mode::CLAMP_TO_BORDER];
              t.s.border_color = vk::BorderColor::INT_TRANSPARENT_BLACK;
              t.sees(F::R8_UNORM, NONE).view_type = vk::ImageViewType::TYPE_3D; }
            => ["B-50 borderColor INT_TRANSPARENT_BLACK -> FLOAT_TRANSPARENT_BLACK"]
            but { t.seen().view_type = vk::ImageViewType::TYPE_2D_ARRAY; }
        "U alone counts in one"
            { t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::REPEAT, Mode::REPEAT];
              t.s.border_color = vk::BorderColor::INT_OPAQUE_BLACK;
              t.sees(F::R8_UNORM, NONE).view_type = vk::ImageViewType::TYPE_1D_ARRAY; }
            => ["B-50 borderColor INT_OPAQUE_BLACK -> FLOAT_OPAQUE_BLACK"]
            but { t.s.address_mode = [Mode::REPEAT, Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER]; }
        "border=strict holds where no axis shows the border"
            { t.s.border_color = vk::BorderColor::INT_OPAQUE_BLACK; t.policy.strict_border = true;
              t.sees(F::R8_UNORM, NONE); }
            => ["B-50 borderColor INT_OPAQUE_BLACK -> FLOAT_OPAQUE_BLACK"]
            // Garbage has no kind.
            but { t.s.border_color = vk::BorderColor::from_raw(0x4b1d); };
    "B-51" None =>
        "a float border on an integer view: white is 1, not the maximum"
            { t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE); t.sees(F::R32_UINT, NONE); }
            => ["B-51 borderColor FLOAT_OPAQUE_WHITE -> INT_OPAQUE_WHITE"]
            // The zero-filled sampler: only border texels count.
            but { t.s.address_mode = [Mode::REPEAT; 3]; t.s.border_color = vk::BorderColor::FLOAT_TRANSPARENT_BLACK; }
        "a custom float border on an integer view is rounded and clamped"
            { t.float_border([0.5, -1.0, 300.0, f32::NAN], F::UNDEFINED); t.sees(F::R8G8B8A8_UINT, NONE); }
            => ["B-51 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
                "B-51 customBorderColor [0.5, -1.0, 300.0, NaN] -> [1, 0, 255, 0]"]
            but { t.seen().format = F::R16G16B16A16_SFLOAT; }
        "a custom float border on stencil: whichever of R and G is read holds the value"
            { t.float_border([3.0, 9.0, 0.0, 0.0], F::UNDEFINED); t.sees(F::S8_UINT, NONE); }
            => ["B-51 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
                "B-51 customBorderColor [3.0, 9.0, 0.0, 0.0] -> [3, 3, 0, 0]"]
            but { t.int_border([3, 3, 0, 0], F::UNDEFINED); }
        "a custom float border on stencil, with a format: R holds the value"
            { t.float_border([1.0, 9.0, 0.0, 0.0], F::D24_UNORM_S8_UINT);
              t.sees(F::D24_UNORM_S8_UINT, NONE).aspect = decide::Aspect::Stencil; }
            => ["B-51 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
                "B-51 customBorderColor [1.0, 9.0, 0.0, 0.0] -> [1, 9, 0, 0]"]
            but { t.int_border([1, 9, 0, 0], F::D24_UNORM_S8_UINT); }
        "non-seamless cubes have borders (B-71)"
            { t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK); t.s.flags = NON_SEAMLESS;
              t.sees(F::R16_SINT, NONE).view_type = vk::ImageViewType::CUBE; }
            => ["B-51 borderColor FLOAT_OPAQUE_BLACK -> INT_OPAQUE_BLACK"]
            // B-70: seamless ones ignore the address modes.
            but { t.s.flags = vk::SamplerCreateFlags::empty(); };
    "B-52" None =>
        "opaque black through a swizzled view: the device is told the swizzle"
            { t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
              t.sees(F::B8G8R8A8_SRGB, NONE).components[3] = Swizzle::ONE;
              t.caps.border_color_swizzle_from_image = false; }
            => ["B-52 components absent -> [IDENTITY, IDENTITY, IDENTITY, ONE] srgb=true"]
            but { t.caps.border_color_swizzle_from_image = true; }
        "opaque black through a view of alpha's place: the alpha that is read from red is 0, which is transparent black"
            { t.border(vk::BorderColor::INT_OPAQUE_BLACK);
              t.untold(F::R8_UINT, [Swizzle::ZERO, Swizzle::ZERO, Swizzle::ZERO, Swizzle::R]); }
            => ["B-52 borderColor INT_OPAQUE_BLACK -> INT_TRANSPARENT_BLACK"]
            // Read as luminance it is black without alpha, however it is swizzled.
            but { t.seen().components = [Swizzle::R, Swizzle::R, Swizzle::R, Swizzle::ONE]; }
        "opaque black of which alpha takes red's place, and no predefined colour is the same"
            { t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
              t.untold(F::R8G8B8A8_UNORM, [Swizzle::A, Swizzle::IDENTITY, Swizzle::IDENTITY, Swizzle::R]); }
            => ["B-52 borderColor FLOAT_OPAQUE_BLACK -> FLOAT_TRANSPARENT_BLACK"]
            // Red and blue are both 0.
            but { t.seen().components = EXCHANGED; }
        "border=strict: opaque black through any mapping that the device is not told of"
            { t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK); t.untold(F::B8G8R8A8_UNORM, EXCHANGED);
              t.policy.strict_border = true; }
            => ["B-52 borderColor FLOAT_OPAQUE_BLACK -> FLOAT_TRANSPARENT_BLACK"]
            but { t.policy.strict_border = false; };
    "B-53" None =>
        "a custom colour through a swizzled view: the device is told the swizzle"
            {
                t.float_border([0.5, 0.25, 0.0, 1.0], F::UNDEFINED);
                t.sees(F::R8G8B8A8_UNORM, NONE).components =
                    [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::IDENTITY];
                t.caps.border_color_swizzle_from_image = false;
            }
            => ["B-53 components absent -> [B, IDENTITY, R, IDENTITY] srgb=false"]
            but { t.seen().components = [Swizzle::IDENTITY; 4]; }
        "red that a view shows as blue, on a device that cannot be told: black is nearer than red"
            { t.float_border([1.0, 0.0, 0.0, 1.0], F::UNDEFINED); t.untold(F::R8G8B8A8_UNORM, EXCHANGED); }
            => ["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"]
            but { t.seen().view_type = vk::ImageViewType::CUBE; }
        "white as red alone shows it is white, of a mapping that reads red alone"
            { t.float_border([1.0, 0.0, 0.0, 0.0], F::UNDEFINED);
              t.untold(F::R8_UNORM, [Swizzle::R, Swizzle::R, Swizzle::R, Swizzle::ONE]); }
            => ["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            // The components that the format lacks are 0, 0 and 1 for everyone.
            but { t.seen().components = [Swizzle::R, Swizzle::ZERO, Swizzle::ZERO, Swizzle::ONE]; }
        "border=strict: grey becomes the nearest colour that no mapping makes undefined"
            { t.float_border([0.75, 0.75, 0.75, 1.0], F::UNDEFINED); t.untold(F::R8G8B8A8_UNORM, EXCHANGED);
              t.policy.strict_border = true; }
            => ["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            // It is grey in whichever order.
            but { t.policy.strict_border = false; };
    "B-54" None =>
        "a border swizzle that is not the view's"
            { t.float_border([0.5; 4], F::UNDEFINED);
              t.s.border_mapping = Some(BorderMapping { components: [Swizzle::IDENTITY; 4], srgb: false });
              t.sees(F::R8G8B8A8_UNORM, NONE).components[1] = Swizzle::ZERO; }
            => [
                "B-54 components [IDENTITY, IDENTITY, IDENTITY, IDENTITY] srgb=false -> [IDENTITY, ZERO, IDENTITY, IDENTITY] srgb=false"]
            but {
                // Either form of identity matches the other.
                t.s.border_mapping =
                    Some(BorderMapping { components: [Swizzle::R, Swizzle::ZERO, Swizzle::B, Swizzle::A], srgb: false });
            };
    "B-55" None =>
        "a border swizzle for sRGB on a view that is not"
            { t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
              t.s.border_mapping = Some(BorderMapping { components: [Swizzle::IDENTITY; 4], srgb: true });
              t.sees(F::R8G8B8A8_UNORM, NONE); }
            => [
                "B-55 components [IDENTITY, IDENTITY, IDENTITY, IDENTITY] srgb=true -> [IDENTITY, IDENTITY, IDENTITY, IDENTITY] srgb=false"]
            but { t.seen().format = F::R8G8B8A8_SRGB; };
    "B-56" Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015") =>
        "no format on a view of packed 4444"
            { t.float_border([0.5, 0.25, 0.0, 1.0], F::UNDEFINED); t.sees(F::B4G4R4A4_UNORM_PACK16, NONE); }
            => ["B-56 format UNDEFINED -> B4G4R4A4_UNORM_PACK16"]
            but { t.seen().format = F::R4G4B4A4_UNORM_PACK16; }
        "no format on a view of packed 565, for what a predefined colour says as well"
            { t.float_border([0.0, 0.0, -0.0, 1.0], F::UNDEFINED); t.sees(F::B5G6R5_UNORM_PACK16, NONE); }
            => ["B-56 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"]
            but { t.s.custom_border = Some(CustomBorder { color: [0; 4], format: F::B5G6R5_UNORM_PACK16 }); }
        "no format on a view of packed 4444: the predefined opaque black may be another colour there"
            { t.float_border([0.0, 0.0, 0.0, 1.0], F::UNDEFINED); t.sees(F::B4G4R4A4_UNORM_PACK16, NONE); }
            => ["B-56 format UNDEFINED -> B4G4R4A4_UNORM_PACK16"]
            // Who asks for that one has what it is.
            but { t.s.border_color = vk::BorderColor::FLOAT_OPAQUE_BLACK; }
        // Nobody sees it, so it is not worth a place among the custom ones.
        "no format on a view of packed 5551, also where no address mode reaches the border"
            { t.float_border([0.5, 0.25, 0.25, 1.0], F::UNDEFINED); t.s.address_mode = [Mode::REPEAT; 3];
              t.sees(F::B5G5R5A1_UNORM_PACK16, NONE); }
            => ["B-56 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"]
            but { t.seen().format = F::A1R5G5B5_UNORM_PACK16; };
    "B-57" None =>
        "a format that is not the view's"
            { t.float_border([0.5; 4], F::R8G8B8A8_UNORM); t.sees(F::R8G8B8A8_SRGB, NONE); }
            => ["B-57 format R8G8B8A8_UNORM -> R8G8B8A8_SRGB"]
            // Nobody sees it.
            but { t.s.address_mode = [Mode::MIRRORED_REPEAT; 3]; };
    "B-58" None =>
        "a value that the view's format cannot hold"
            { t.float_border([-1.0, 2.0, 0.5, 1.0], F::UNDEFINED); t.sees(F::R8G8B8A8_UNORM, NONE); }
            => ["B-58 customBorderColor [-1.0, 2.0, 0.5, 1.0] -> [0.0, 1.0, 0.5, 1.0]"]
            but { t.seen().format = F::R16G16B16A16_SFLOAT; }
        "without a format stencil may be taken from R or from G, so both have to fit"
            { t.int_border([300, 511, 1000, 0], F::UNDEFINED); t.sees(F::S8_UINT, NONE); }
            => ["B-58 customBorderColor [300, 511, 1000, 0] -> [255, 255, 1000, 0]"]
            // Which of the two is read depends on the implementation. That is legal, also where they differ.
            but { t.int_border([7, 9, 1000, 0], F::UNDEFINED); }
        "with a format stencil is R"
            { t.int_border([7, 511, 0, 0], F::UNDEFINED); t.sees(F::S8_UINT, NONE); }
            => ["B-58 customBorderColor [7, 511, 0, 0] -> [7, 255, 0, 0]"]
            but { t.int_border([7, 511, 0, 0], F::S8_UINT); };
    "B-64" Some("VUID-vkCmdDraw-flags-02696") =>
        "any other address mode on a corner-sampled image"
            { t.s.address_mode = [Mode::REPEAT, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER];
              t.sees(F::R8_UNORM, NONE).corner_sampled = true; }
            => ["B-64 addressModeU REPEAT -> CLAMP_TO_EDGE", "B-64 addressModeW CLAMP_TO_BORDER -> CLAMP_TO_EDGE"]
            but { t.seen().corner_sampled = false; };
};
