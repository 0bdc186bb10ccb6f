//! Catalogue A.5: custom border colours.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "A-30" Some("VUID-VkSamplerCreateInfo-customBorderColors-04085") =>
        "a custom colour without the feature becomes the nearest predefined one"
            { t.float_border([0.9, 0.8, 0.7, 1.0], F::UNDEFINED); t.caps.custom_border_colors = false; }
            => ["A-30 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            but { t.caps.custom_border_colors = true; }
        "the rule holds where no axis shows the border, too"
            { t.int_border([0, 0, 0, 255], F::UNDEFINED); t.s.address_mode = [Mode::REPEAT; 3];
              t.caps.custom_border_colors = false; }
            => ["A-30 borderColor INT_CUSTOM_EXT -> INT_OPAQUE_BLACK"]
            // A chained colour that `borderColor` does not ask for is not read.
            but { t.s.border_color = vk::BorderColor::INT_OPAQUE_WHITE; }
        "a custom colour that a predefined one says as well"
            { t.int_border([0, 0, 0, 1], F::UNDEFINED); t.caps.custom_border_colors = false; }
            => ["A-30 borderColor INT_CUSTOM_EXT -> INT_OPAQUE_BLACK"]
            but { t.caps.custom_border_colors = true; }
        "the view has red alone, so red is all that counts"
            { t.float_border([1.0, 0.0, 0.0, 0.0], F::UNDEFINED); t.sees(F::R8_UNORM, NONE);
              t.caps.custom_border_colors = false; }
            => ["A-30 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            but { t.caps.custom_border_colors = true; }
        "the format that is given for the colour has red alone"
            { t.float_border([0.75, 0.0, 0.0, 0.0], F::R16_SFLOAT); t.caps.custom_border_colors = false; }
            => ["A-30 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            but { t.caps.custom_border_colors = true; }
        "nearest is what the view's mapping shows, of colours that it leaves no doubt about"
            { t.int_border([0, 0, 0, 1], F::UNDEFINED);
              t.untold(F::R8G8B8A8_UINT, [Swizzle::A, Swizzle::A, Swizzle::A, Swizzle::A]);
              t.caps.custom_border_colors = false; }
            => ["A-30 borderColor INT_CUSTOM_EXT -> INT_OPAQUE_WHITE"]
            but { t.s.border_color = vk::BorderColor::INT_OPAQUE_WHITE; };
    "A-31" Some("VUID-VkSamplerCreateInfo-borderColor-04011") =>
        "a custom colour that is not chained"
            { t.border(vk::BorderColor::INT_CUSTOM_EXT); }
            => ["A-31 borderColor INT_CUSTOM_EXT -> INT_TRANSPARENT_BLACK"]
            but { t.int_border([1, 2, 3, 4], F::UNDEFINED); };
    "A-32" Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014") =>
        "no format where the device wants one, and no view yet"
            { t.float_border([0.1, 0.0, 0.0, 0.1], F::UNDEFINED); t.caps.custom_border_color_without_format = false; }
            => ["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_TRANSPARENT_BLACK"]
            but { t.float_border([0.1, 0.0, 0.0, 0.1], F::R8G8B8A8_UNORM); }
        "no format where the device wants one: the view that shows the border has it"
            { t.float_border([0.5, 2.0, 0.0, 1.0], F::UNDEFINED); t.sees(F::R8G8_UNORM, NONE);
              t.caps.custom_border_color_without_format = false; }
            => ["A-32 format UNDEFINED -> R8G8_UNORM",
                "A-34 customBorderColor [0.5, 2.0, 0.0, 1.0] -> [0.5, 1.0, 0.0, 1.0]"]
            but { t.float_border([0.5, 1.0, 9.0, 9.0], F::UNDEFINED);
              t.caps.custom_border_color_without_format = true; }
        "a view that cannot show the border is not worth a custom colour"
            { t.float_border([0.5, 0.5, 0.5, 1.0], F::UNDEFINED);
              t.s.address_mode = [Mode::REPEAT, Mode::REPEAT, Mode::CLAMP_TO_BORDER]; t.sees(F::R8G8_UNORM, NONE);
              t.caps.custom_border_color_without_format = false; }
            => ["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            but { t.caps.custom_border_color_without_format = true; }
        "no format is needed for what a predefined colour says as well"
            { t.float_border([1.0; 4], F::UNDEFINED); t.sees(F::R8G8_UNORM, NONE);
              t.caps.custom_border_color_without_format = false; }
            => ["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"]
            but { t.float_border([1.0; 4], F::R8G8_UNORM); };
    "A-33" Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605") =>
        "an integer format for a float colour"
            { t.float_border([0.4, 0.6, -3.0, 1000.0], F::R8G8B8A8_UINT); }
            => ["A-33 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
                "A-33 customBorderColor [0.4, 0.6, -3.0, 1000.0] -> [0, 1, 0, 255]"]
            but { t.s.custom_border = Some(CustomBorder { color: [0; 4], format: F::R8G8B8A8_SRGB }); }
        "a float format for an integer colour"
            { t.int_border([-1, 0, 1, 2], F::R16G16B16A16_SNORM); }
            => ["A-33 borderColor INT_CUSTOM_EXT -> FLOAT_CUSTOM_EXT",
                "A-33 customBorderColor [-1, 0, 1, 2] -> [-1.0, 0.0, 1.0, 1.0]"]
            // Depth/stencil formats take either kind: INT stands for stencil.
            but { t.int_border([255, 0, 0, 0], F::D24_UNORM_S8_UINT); }
        "where the view shows the border in the kind that is given, the format goes"
            { t.int_border([5, 6, 7, 300], F::R8G8B8A8_UNORM); t.sees(F::R8G8B8A8_UINT, NONE); }
            => ["A-33 format R8G8B8A8_UNORM -> R8G8B8A8_UINT",
                "A-34 customBorderColor [5, 6, 7, 300] -> [5, 6, 7, 255]"]
            but { t.int_border([5, 6, 7, 8], F::R8G8B8A8_UINT); };
    "A-34" Some("VUID-VkSamplerCreateInfo-borderColor-04442") =>
        "outside UNORM"
            { t.float_border([-0.5, 1.5, f32::NAN, 0.5], F::R8G8B8A8_UNORM); }
            => ["A-34 customBorderColor [-0.5, 1.5, NaN, 0.5] -> [0.0, 1.0, 0.0, 0.5]"]
            // Components that the format does not have may hold anything.
            but { t.float_border([0.5, 1.5, f32::NAN, -7.0], F::R8_UNORM); }
        "outside SNORM"
            { t.float_border([-2.0, 2.0, 0.0, 0.0], F::R8G8_SNORM); }
            => ["A-34 customBorderColor [-2.0, 2.0, 0.0, 0.0] -> [-1.0, 1.0, 0.0, 0.0]"]
            but { t.float_border([f32::INFINITY, -1e30, 0.0, 0.0], F::R16G16_SFLOAT); }
        "outside unsigned 10 and 2 bits"
            { t.int_border([1023, 1024, -1, 4], F::A2B10G10R10_UINT_PACK32); }
            => ["A-34 customBorderColor [1023, 1024, -1, 4] -> [1023, 1023, 1023, 3]"]
            but { t.int_border([-1, 7, 7, 7], F::R32_UINT); }
        "outside signed 8 bits"
            { t.int_border([-129, 128, 127, -128], F::R8G8B8A8_SINT); }
            => ["A-34 customBorderColor [-129, 128, 127, -128] -> [-128, 127, 127, -128]"]
            but { t.int_border([-128, 127, 0, 0], F::R8G8B8A8_SINT); }
        "outside stencil, which is R"
            { t.int_border([256, 511, 1000, 1000], F::D32_SFLOAT_S8_UINT); }
            => ["A-34 customBorderColor [256, 511, 1000, 1000] -> [255, 511, 1000, 1000]"]
            // The other components are not read.
            but { t.int_border([255, 511, -1, 1000], F::D32_SFLOAT_S8_UINT); }
        "outside stencil in a format of its own"
            { t.int_border([-1, 511, 0, 0], F::S8_UINT); }
            => ["A-34 customBorderColor [-1, 511, 0, 0] -> [255, 511, 0, 0]"]
            but { t.int_border([0, 511, 0, 0], F::S8_UINT); }
        "outside 16 bits of depth"
            { t.float_border([-3.0, 9.0, 9.0, 9.0], F::D16_UNORM); }
            => ["A-34 customBorderColor [-3.0, 9.0, 9.0, 9.0] -> [0.0, 9.0, 9.0, 9.0]"]
            // 32 bits of float do not confine depth, and of a format with both aspects a float colour means depth.
            but { t.float_border([-3.0, 9.0, 9.0, 9.0], F::D32_SFLOAT_S8_UINT); }
        "a shared exponent reaches 65408 and has no infinity"
            { t.float_border([1e9, f32::INFINITY, f32::NAN, 1e9], F::E5B9G9R9_UFLOAT_PACK32); }
            => [
                "A-34 customBorderColor [1000000000.0, inf, NaN, 1000000000.0] -> [65408.0, 65408.0, 0.0, 1000000000.0]"]
            but { t.float_border([f32::INFINITY, 1e9, 0.0, -1.0], F::B10G11R11_UFLOAT_PACK32); };
    "A-36" Some("VUID-VkSamplerBorderColorComponentMappingCreateInfoEXT-borderColorSwizzle-06437") =>
        "a border swizzle without the feature"
            { t.s.border_mapping = Some(BorderMapping { components: [Swizzle::ONE; 4], srgb: false });
              t.caps.border_color_swizzle = false; }
            => ["A-36 components present -> absent"]
            but { t.caps.border_color_swizzle = true; };
};
