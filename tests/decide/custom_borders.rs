//! Catalogue A.5: custom border colours.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "A-30",
        vuid: Some("VUID-VkSamplerCreateInfo-customBorderColors-04085"),
        what: "a custom colour without the feature becomes the nearest predefined one",
        illegal: |t| {
            t.float_border([0.9, 0.8, 0.7, 1.0], vk::Format::UNDEFINED);
            t.caps.custom_border_colors = false;
        },
        changes: &["A-30 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.caps.custom_border_colors = true,
    },
    Row {
        id: "A-30",
        vuid: Some("VUID-VkSamplerCreateInfo-customBorderColors-04085"),
        what: "the rule holds where no axis shows the border, too",
        illegal: |t| {
            t.int_border([0, 0, 0, 255], vk::Format::UNDEFINED);
            t.s.address_mode = [Mode::REPEAT; 3];
            t.caps.custom_border_colors = false;
        },
        changes: &["A-30 borderColor INT_CUSTOM_EXT -> INT_OPAQUE_BLACK"],
        // A chained colour that `borderColor` does not ask for is not read.
        legal: |t| t.s.border_color = vk::BorderColor::INT_OPAQUE_WHITE,
    },
    Row {
        id: "A-30",
        vuid: Some("VUID-VkSamplerCreateInfo-customBorderColors-04085"),
        what: "a custom colour that a predefined one says as well",
        illegal: |t| {
            t.int_border([0, 0, 0, 1], vk::Format::UNDEFINED);
            t.caps.custom_border_colors = false;
        },
        changes: &["A-30 borderColor INT_CUSTOM_EXT -> INT_OPAQUE_BLACK"],
        legal: |t| t.caps.custom_border_colors = true,
    },
    Row {
        id: "A-30",
        vuid: Some("VUID-VkSamplerCreateInfo-customBorderColors-04085"),
        what: "the view has red alone, so red is all that counts",
        illegal: |t| {
            t.float_border([1.0, 0.0, 0.0, 0.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8_UNORM, Feature::empty());
            t.caps.custom_border_colors = false;
        },
        changes: &["A-30 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.caps.custom_border_colors = true,
    },
    Row {
        id: "A-30",
        vuid: Some("VUID-VkSamplerCreateInfo-customBorderColors-04085"),
        what: "the format that is given for the colour has red alone",
        illegal: |t| {
            t.float_border([0.75, 0.0, 0.0, 0.0], vk::Format::R16_SFLOAT);
            t.caps.custom_border_colors = false;
        },
        changes: &["A-30 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.caps.custom_border_colors = true,
    },
    Row {
        id: "A-30",
        vuid: Some("VUID-VkSamplerCreateInfo-customBorderColors-04085"),
        what: "nearest is what the view's mapping shows, of colours that it leaves no doubt about",
        illegal: |t| {
            t.int_border([0, 0, 0, 1], vk::Format::UNDEFINED);
            t.untold(vk::Format::R8G8B8A8_UINT, [Swizzle::A, Swizzle::A, Swizzle::A, Swizzle::A]);
            t.caps.custom_border_colors = false;
        },
        changes: &["A-30 borderColor INT_CUSTOM_EXT -> INT_OPAQUE_WHITE"],
        legal: |t| t.s.border_color = vk::BorderColor::INT_OPAQUE_WHITE,
    },
    Row {
        id: "A-31",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04011"),
        what: "a custom colour that is not chained",
        illegal: |t| t.border(vk::BorderColor::INT_CUSTOM_EXT),
        changes: &["A-31 borderColor INT_CUSTOM_EXT -> INT_TRANSPARENT_BLACK"],
        legal: |t| t.int_border([1, 2, 3, 4], vk::Format::UNDEFINED),
    },
    Row {
        id: "A-32",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014"),
        what: "no format where the device wants one, and no view yet",
        illegal: |t| {
            t.float_border([0.1, 0.0, 0.0, 0.1], vk::Format::UNDEFINED);
            t.caps.custom_border_color_without_format = false;
        },
        changes: &["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_TRANSPARENT_BLACK"],
        legal: |t| t.float_border([0.1, 0.0, 0.0, 0.1], vk::Format::R8G8B8A8_UNORM),
    },
    Row {
        id: "A-32",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014"),
        what: "no format where the device wants one: the view that shows the border has it",
        illegal: |t| {
            t.float_border([0.5, 2.0, 0.0, 1.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8G8_UNORM, Feature::empty());
            t.caps.custom_border_color_without_format = false;
        },
        changes: &[
            "A-32 format UNDEFINED -> R8G8_UNORM",
            "A-34 customBorderColor [0.5, 2.0, 0.0, 1.0] -> [0.5, 1.0, 0.0, 1.0]",
        ],
        legal: |t| {
            t.float_border([0.5, 1.0, 9.0, 9.0], vk::Format::UNDEFINED);
            t.caps.custom_border_color_without_format = true;
        },
    },
    Row {
        id: "A-32",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014"),
        what: "a view that cannot show the border is not worth a custom colour",
        illegal: |t| {
            t.float_border([0.5, 0.5, 0.5, 1.0], vk::Format::UNDEFINED);
            t.s.address_mode = [Mode::REPEAT, Mode::REPEAT, Mode::CLAMP_TO_BORDER];
            t.sees(vk::Format::R8G8_UNORM, Feature::empty());
            t.caps.custom_border_color_without_format = false;
        },
        changes: &["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.caps.custom_border_color_without_format = true,
    },
    Row {
        id: "A-32",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014"),
        what: "no format is needed for what a predefined colour says as well",
        illegal: |t| {
            t.float_border([1.0; 4], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8G8_UNORM, Feature::empty());
            t.caps.custom_border_color_without_format = false;
        },
        changes: &["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.float_border([1.0; 4], vk::Format::R8G8_UNORM),
    },
    Row {
        id: "A-33",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605"),
        what: "an integer format for a float colour",
        illegal: |t| t.float_border([0.4, 0.6, -3.0, 1000.0], vk::Format::R8G8B8A8_UINT),
        changes: &[
            "A-33 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
            "A-33 customBorderColor [0.4, 0.6, -3.0, 1000.0] -> [0, 1, 0, 255]",
        ],
        legal: |t| t.s.custom_border = Some(CustomBorder { color: [0; 4], format: vk::Format::R8G8B8A8_SRGB }),
    },
    Row {
        id: "A-33",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605"),
        what: "a float format for an integer colour",
        illegal: |t| t.int_border([-1, 0, 1, 2], vk::Format::R16G16B16A16_SNORM),
        changes: &[
            "A-33 borderColor INT_CUSTOM_EXT -> FLOAT_CUSTOM_EXT",
            "A-33 customBorderColor [-1, 0, 1, 2] -> [-1.0, 0.0, 1.0, 1.0]",
        ],
        // Depth/stencil formats take either kind: INT stands for stencil.
        legal: |t| t.int_border([255, 0, 0, 0], vk::Format::D24_UNORM_S8_UINT),
    },
    Row {
        id: "A-33",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605"),
        what: "where the view shows the border in the kind that is given, the format goes",
        illegal: |t| {
            t.int_border([5, 6, 7, 300], vk::Format::R8G8B8A8_UNORM);
            t.sees(vk::Format::R8G8B8A8_UINT, Feature::empty());
        },
        changes: &[
            "A-33 format R8G8B8A8_UNORM -> R8G8B8A8_UINT",
            "A-34 customBorderColor [5, 6, 7, 300] -> [5, 6, 7, 255]",
        ],
        legal: |t| t.int_border([5, 6, 7, 8], vk::Format::R8G8B8A8_UINT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside UNORM",
        illegal: |t| t.float_border([-0.5, 1.5, f32::NAN, 0.5], vk::Format::R8G8B8A8_UNORM),
        changes: &["A-34 customBorderColor [-0.5, 1.5, NaN, 0.5] -> [0.0, 1.0, 0.0, 0.5]"],
        // Components that the format does not have may hold anything.
        legal: |t| t.float_border([0.5, 1.5, f32::NAN, -7.0], vk::Format::R8_UNORM),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside SNORM",
        illegal: |t| t.float_border([-2.0, 2.0, 0.0, 0.0], vk::Format::R8G8_SNORM),
        changes: &["A-34 customBorderColor [-2.0, 2.0, 0.0, 0.0] -> [-1.0, 1.0, 0.0, 0.0]"],
        legal: |t| t.float_border([f32::INFINITY, -1e30, 0.0, 0.0], vk::Format::R16G16_SFLOAT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside unsigned 10 and 2 bits",
        illegal: |t| t.int_border([1023, 1024, -1, 4], vk::Format::A2B10G10R10_UINT_PACK32),
        changes: &["A-34 customBorderColor [1023, 1024, -1, 4] -> [1023, 1023, 1023, 3]"],
        legal: |t| t.int_border([-1, 7, 7, 7], vk::Format::R32_UINT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside signed 8 bits",
        illegal: |t| t.int_border([-129, 128, 127, -128], vk::Format::R8G8B8A8_SINT),
        changes: &["A-34 customBorderColor [-129, 128, 127, -128] -> [-128, 127, 127, -128]"],
        legal: |t| t.int_border([-128, 127, 0, 0], vk::Format::R8G8B8A8_SINT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside stencil, which is R",
        illegal: |t| t.int_border([256, 511, 1000, 1000], vk::Format::D32_SFLOAT_S8_UINT),
        changes: &["A-34 customBorderColor [256, 511, 1000, 1000] -> [255, 511, 1000, 1000]"],
        // The other components are not read.
        legal: |t| t.int_border([255, 511, -1, 1000], vk::Format::D32_SFLOAT_S8_UINT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside stencil in a format of its own",
        illegal: |t| t.int_border([-1, 511, 0, 0], vk::Format::S8_UINT),
        changes: &["A-34 customBorderColor [-1, 511, 0, 0] -> [255, 511, 0, 0]"],
        legal: |t| t.int_border([0, 511, 0, 0], vk::Format::S8_UINT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "outside 16 bits of depth",
        illegal: |t| t.float_border([-3.0, 9.0, 9.0, 9.0], vk::Format::D16_UNORM),
        changes: &["A-34 customBorderColor [-3.0, 9.0, 9.0, 9.0] -> [0.0, 9.0, 9.0, 9.0]"],
        // 32 bits of float do not confine depth, and of a format with both aspects a float colour means depth.
        legal: |t| t.float_border([-3.0, 9.0, 9.0, 9.0], vk::Format::D32_SFLOAT_S8_UINT),
    },
    Row {
        id: "A-34",
        vuid: Some("VUID-VkSamplerCreateInfo-borderColor-04442"),
        what: "a shared exponent reaches 65408 and has no infinity",
        illegal: |t| t.float_border([1e9, f32::INFINITY, f32::NAN, 1e9], vk::Format::E5B9G9R9_UFLOAT_PACK32),
        changes: &["A-34 customBorderColor [1000000000.0, inf, NaN, 1000000000.0] -> \
             [65408.0, 65408.0, 0.0, 1000000000.0]"],
        legal: |t| t.float_border([f32::INFINITY, 1e9, 0.0, -1.0], vk::Format::B10G11R11_UFLOAT_PACK32),
    },
    Row {
        id: "A-36",
        vuid: Some("VUID-VkSamplerBorderColorComponentMappingCreateInfoEXT-borderColorSwizzle-06437"),
        what: "a border swizzle without the feature",
        illegal: |t| {
            t.s.border_mapping = Some(BorderMapping { components: [Swizzle::ONE; 4], srgb: false });
            t.caps.border_color_swizzle = false;
        },
        changes: &["A-36 components present -> absent"],
        legal: |t| t.caps.border_color_swizzle = true,
    },
];
