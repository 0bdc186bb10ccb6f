//! Catalogue B.4 and B.5: borders against the view.

use crate::setting::*;

/// Red and blue change places.
const EXCHANGED: [Swizzle; 4] = [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::IDENTITY];

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "B-50",
        vuid: None,
        what: "an integer border on a float view",
        illegal: |t| {
            t.border(vk::BorderColor::INT_OPAQUE_WHITE);
            t.sees(vk::Format::R8G8B8A8_SRGB, Feature::empty());
        },
        changes: &["B-50 borderColor INT_OPAQUE_WHITE -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_EDGE; 3],
    },
    Row {
        id: "B-50",
        vuid: None,
        what: "an integer border on depth",
        illegal: |t| {
            t.border(vk::BorderColor::INT_OPAQUE_BLACK);
            t.sees(vk::Format::D32_SFLOAT_S8_UINT, Feature::empty());
        },
        changes: &["B-50 borderColor INT_OPAQUE_BLACK -> FLOAT_OPAQUE_BLACK"],
        legal: |t| t.seen().aspect = decide::Aspect::Stencil,
    },
    Row {
        id: "B-50",
        vuid: None,
        what: "a custom integer border on a float view: 1 is 1.0, and the view's format replaces one of integers",
        illegal: |t| {
            t.int_border([1, 0, -1, 255], vk::Format::R8G8B8A8_SINT);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty());
        },
        changes: &[
            "B-50 borderColor INT_CUSTOM_EXT -> FLOAT_CUSTOM_EXT",
            "B-50 customBorderColor [1, 0, -1, 255] -> [1.0, 0.0, 0.0, 1.0]",
            "B-50 format R8G8B8A8_SINT -> R8G8B8A8_UNORM",
        ],
        legal: |t| {
            t.int_border([1, 0, -1, 127], vk::Format::R8G8B8A8_SINT);
            t.seen().format = vk::Format::R8G8B8A8_SINT;
        },
    },
    Row {
        id: "B-50",
        vuid: None,
        what: "the format of floats that an integer colour stated (A-33) gives way to the view's, and the value follows",
        illegal: |t| {
            t.int_border([2, 0, 0, 1], vk::Format::R16G16B16A16_SFLOAT);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty());
        },
        changes: &[
            "B-50 borderColor INT_CUSTOM_EXT -> FLOAT_CUSTOM_EXT",
            "B-50 customBorderColor [2, 0, 0, 1] -> [1.0, 0.0, 0.0, 1.0]",
            "B-50 format R16G16B16A16_SFLOAT -> R8G8B8A8_UNORM",
        ],
        legal: |t| t.float_border([1.0, 0.0, 0.0, 1.0], vk::Format::R8G8B8A8_UNORM),
    },
    Row {
        id: "B-50",
        vuid: None,
        what: "W counts in three dimensions",
        illegal: |t| {
            t.s.address_mode = [Mode::REPEAT, Mode::REPEAT, Mode::CLAMP_TO_BORDER];
            t.s.border_color = vk::BorderColor::INT_TRANSPARENT_BLACK;
            t.sees(vk::Format::R8_UNORM, Feature::empty()).view_type = vk::ImageViewType::TYPE_3D;
        },
        changes: &["B-50 borderColor INT_TRANSPARENT_BLACK -> FLOAT_TRANSPARENT_BLACK"],
        legal: |t| t.seen().view_type = vk::ImageViewType::TYPE_2D_ARRAY,
    },
    Row {
        id: "B-50",
        vuid: None,
        what: "U alone counts in one",
        illegal: |t| {
            t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::REPEAT, Mode::REPEAT];
            t.s.border_color = vk::BorderColor::INT_OPAQUE_BLACK;
            t.sees(vk::Format::R8_UNORM, Feature::empty()).view_type = vk::ImageViewType::TYPE_1D_ARRAY;
        },
        changes: &["B-50 borderColor INT_OPAQUE_BLACK -> FLOAT_OPAQUE_BLACK"],
        legal: |t| t.s.address_mode = [Mode::REPEAT, Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER],
    },
    Row {
        id: "B-50",
        vuid: None,
        what: "border=strict holds where no axis shows the border",
        illegal: |t| {
            t.s.border_color = vk::BorderColor::INT_OPAQUE_BLACK;
            t.policy.strict_border = true;
            t.sees(vk::Format::R8_UNORM, Feature::empty());
        },
        changes: &["B-50 borderColor INT_OPAQUE_BLACK -> FLOAT_OPAQUE_BLACK"],
        // Garbage has no kind.
        legal: |t| t.s.border_color = vk::BorderColor::from_raw(0x4b1d),
    },
    Row {
        id: "B-51",
        vuid: None,
        what: "a float border on an integer view: white is 1, not the maximum",
        illegal: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
            t.sees(vk::Format::R32_UINT, Feature::empty());
        },
        changes: &["B-51 borderColor FLOAT_OPAQUE_WHITE -> INT_OPAQUE_WHITE"],
        // The zero-filled sampler: only border texels count.
        legal: |t| {
            t.s.address_mode = [Mode::REPEAT; 3];
            t.s.border_color = vk::BorderColor::FLOAT_TRANSPARENT_BLACK;
        },
    },
    Row {
        id: "B-51",
        vuid: None,
        what: "a custom float border on an integer view is rounded and clamped",
        illegal: |t| {
            t.float_border([0.5, -1.0, 300.0, f32::NAN], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8G8B8A8_UINT, Feature::empty());
        },
        changes: &[
            "B-51 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
            "B-51 customBorderColor [0.5, -1.0, 300.0, NaN] -> [1, 0, 255, 0]",
        ],
        legal: |t| t.seen().format = vk::Format::R16G16B16A16_SFLOAT,
    },
    Row {
        id: "B-51",
        vuid: None,
        what: "a custom float border on stencil: whichever of R and G is read holds the value",
        illegal: |t| {
            t.float_border([3.0, 9.0, 0.0, 0.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::S8_UINT, Feature::empty());
        },
        changes: &[
            "B-51 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
            "B-51 customBorderColor [3.0, 9.0, 0.0, 0.0] -> [3, 3, 0, 0]",
        ],
        legal: |t| t.int_border([3, 3, 0, 0], vk::Format::UNDEFINED),
    },
    Row {
        id: "B-51",
        vuid: None,
        what: "a custom float border on stencil, with a format: R holds the value",
        illegal: |t| {
            t.float_border([1.0, 9.0, 0.0, 0.0], vk::Format::D24_UNORM_S8_UINT);
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::empty()).aspect = decide::Aspect::Stencil;
        },
        changes: &[
            "B-51 borderColor FLOAT_CUSTOM_EXT -> INT_CUSTOM_EXT",
            "B-51 customBorderColor [1.0, 9.0, 0.0, 0.0] -> [1, 9, 0, 0]",
        ],
        legal: |t| t.int_border([1, 9, 0, 0], vk::Format::D24_UNORM_S8_UINT),
    },
    Row {
        id: "B-51",
        vuid: None,
        what: "non-seamless cubes have borders (B-71)",
        illegal: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
            t.s.flags = NON_SEAMLESS;
            t.sees(vk::Format::R16_SINT, Feature::empty()).view_type = vk::ImageViewType::CUBE;
        },
        changes: &["B-51 borderColor FLOAT_OPAQUE_BLACK -> INT_OPAQUE_BLACK"],
        // B-70: seamless ones ignore the address modes.
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "B-52",
        vuid: None,
        what: "opaque black through a swizzled view: the device is told the swizzle",
        illegal: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
            t.sees(vk::Format::B8G8R8A8_SRGB, Feature::empty()).components[3] = Swizzle::ONE;
            t.caps.border_color_swizzle_from_image = false;
        },
        changes: &["B-52 components absent -> [IDENTITY, IDENTITY, IDENTITY, ONE] srgb=true"],
        legal: |t| t.caps.border_color_swizzle_from_image = true,
    },
    Row {
        id: "B-52",
        vuid: None,
        what: "opaque black through a view of alpha's place: the alpha that is read from red is 0, which is transparent black",
        illegal: |t| {
            t.border(vk::BorderColor::INT_OPAQUE_BLACK);
            t.untold(vk::Format::R8_UINT, [Swizzle::ZERO, Swizzle::ZERO, Swizzle::ZERO, Swizzle::R]);
        },
        changes: &["B-52 borderColor INT_OPAQUE_BLACK -> INT_TRANSPARENT_BLACK"],
        // Read as luminance it is black without alpha, however it is swizzled.
        legal: |t| t.seen().components = [Swizzle::R, Swizzle::R, Swizzle::R, Swizzle::ONE],
    },
    Row {
        id: "B-52",
        vuid: None,
        what: "opaque black of which alpha takes red's place, and no predefined colour is the same",
        illegal: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
            t.untold(vk::Format::R8G8B8A8_UNORM, [Swizzle::A, Swizzle::IDENTITY, Swizzle::IDENTITY, Swizzle::R]);
        },
        changes: &["B-52 borderColor FLOAT_OPAQUE_BLACK -> FLOAT_TRANSPARENT_BLACK"],
        // Red and blue are both 0.
        legal: |t| t.seen().components = EXCHANGED,
    },
    Row {
        id: "B-52",
        vuid: None,
        what: "border=strict: opaque black through any mapping that the device is not told of",
        illegal: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
            t.untold(vk::Format::B8G8R8A8_UNORM, EXCHANGED);
            t.policy.strict_border = true;
        },
        changes: &["B-52 borderColor FLOAT_OPAQUE_BLACK -> FLOAT_TRANSPARENT_BLACK"],
        legal: |t| t.policy.strict_border = false,
    },
    Row {
        id: "B-53",
        vuid: None,
        what: "a custom colour through a swizzled view: the device is told the swizzle",
        illegal: |t| {
            t.float_border([0.5, 0.25, 0.0, 1.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty()).components =
                [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::IDENTITY];
            t.caps.border_color_swizzle_from_image = false;
        },
        changes: &["B-53 components absent -> [B, IDENTITY, R, IDENTITY] srgb=false"],
        legal: |t| t.seen().components = [Swizzle::IDENTITY; 4],
    },
    Row {
        id: "B-53",
        vuid: None,
        what: "red that a view shows as blue, on a device that cannot be told: black is nearer than red",
        illegal: |t| {
            t.float_border([1.0, 0.0, 0.0, 1.0], vk::Format::UNDEFINED);
            t.untold(vk::Format::R8G8B8A8_UNORM, EXCHANGED);
        },
        changes: &["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"],
        legal: |t| t.seen().view_type = vk::ImageViewType::CUBE,
    },
    Row {
        id: "B-53",
        vuid: None,
        what: "white as red alone shows it is white, of a mapping that reads red alone",
        illegal: |t| {
            t.float_border([1.0, 0.0, 0.0, 0.0], vk::Format::UNDEFINED);
            t.untold(vk::Format::R8_UNORM, [Swizzle::R, Swizzle::R, Swizzle::R, Swizzle::ONE]);
        },
        changes: &["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        // The components that the format lacks are 0, 0 and 1 for everyone.
        legal: |t| t.seen().components = [Swizzle::R, Swizzle::ZERO, Swizzle::ZERO, Swizzle::ONE],
    },
    Row {
        id: "B-53",
        vuid: None,
        what: "border=strict: grey becomes the nearest colour that no mapping makes undefined",
        illegal: |t| {
            t.float_border([0.75, 0.75, 0.75, 1.0], vk::Format::UNDEFINED);
            t.untold(vk::Format::R8G8B8A8_UNORM, EXCHANGED);
            t.policy.strict_border = true;
        },
        changes: &["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        // It is grey in whichever order.
        legal: |t| t.policy.strict_border = false,
    },
    Row {
        id: "B-54",
        vuid: None,
        what: "a border swizzle that is not the view's",
        illegal: |t| {
            t.float_border([0.5; 4], vk::Format::UNDEFINED);
            t.s.border_mapping = Some(BorderMapping { components: [Swizzle::IDENTITY; 4], srgb: false });
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty()).components[1] = Swizzle::ZERO;
        },
        changes: &["B-54 components [IDENTITY, IDENTITY, IDENTITY, IDENTITY] srgb=false -> \
             [IDENTITY, ZERO, IDENTITY, IDENTITY] srgb=false"],
        legal: |t| {
            // Either form of identity matches the other.
            t.s.border_mapping =
                Some(BorderMapping { components: [Swizzle::R, Swizzle::ZERO, Swizzle::B, Swizzle::A], srgb: false });
        },
    },
    Row {
        id: "B-55",
        vuid: None,
        what: "a border swizzle for sRGB on a view that is not",
        illegal: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
            t.s.border_mapping = Some(BorderMapping { components: [Swizzle::IDENTITY; 4], srgb: true });
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty());
        },
        changes: &["B-55 components [IDENTITY, IDENTITY, IDENTITY, IDENTITY] srgb=true -> \
             [IDENTITY, IDENTITY, IDENTITY, IDENTITY] srgb=false"],
        legal: |t| t.seen().format = vk::Format::R8G8B8A8_SRGB,
    },
    Row {
        id: "B-56",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015"),
        what: "no format on a view of packed 4444",
        illegal: |t| {
            t.float_border([0.5, 0.25, 0.0, 1.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::B4G4R4A4_UNORM_PACK16, Feature::empty());
        },
        changes: &["B-56 format UNDEFINED -> B4G4R4A4_UNORM_PACK16"],
        legal: |t| t.seen().format = vk::Format::R4G4B4A4_UNORM_PACK16,
    },
    Row {
        id: "B-56",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015"),
        what: "no format on a view of packed 565, for what a predefined colour says as well",
        illegal: |t| {
            t.float_border([0.0, 0.0, -0.0, 1.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::B5G6R5_UNORM_PACK16, Feature::empty());
        },
        changes: &["B-56 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"],
        legal: |t| t.s.custom_border = Some(CustomBorder { color: [0; 4], format: vk::Format::B5G6R5_UNORM_PACK16 }),
    },
    Row {
        id: "B-56",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015"),
        what: "no format on a view of packed 4444: the predefined opaque black may be another colour there",
        illegal: |t| {
            t.float_border([0.0, 0.0, 0.0, 1.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::B4G4R4A4_UNORM_PACK16, Feature::empty());
        },
        changes: &["B-56 format UNDEFINED -> B4G4R4A4_UNORM_PACK16"],
        // Who asks for that one has what it is.
        legal: |t| t.s.border_color = vk::BorderColor::FLOAT_OPAQUE_BLACK,
    },
    Row {
        id: "B-56",
        vuid: Some("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015"),
        what: "no format on a view of packed 5551, also where no address mode reaches the border",
        illegal: |t| {
            t.float_border([0.5, 0.25, 0.25, 1.0], vk::Format::UNDEFINED);
            t.s.address_mode = [Mode::REPEAT; 3];
            t.sees(vk::Format::B5G5R5A1_UNORM_PACK16, Feature::empty());
        },
        // Nobody sees it, so it is not worth a place among the custom ones.
        changes: &["B-56 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"],
        legal: |t| t.seen().format = vk::Format::A1R5G5B5_UNORM_PACK16,
    },
    Row {
        id: "B-57",
        vuid: None,
        what: "a format that is not the view's",
        illegal: |t| {
            t.float_border([0.5; 4], vk::Format::R8G8B8A8_UNORM);
            t.sees(vk::Format::R8G8B8A8_SRGB, Feature::empty());
        },
        changes: &["B-57 format R8G8B8A8_UNORM -> R8G8B8A8_SRGB"],
        // Nobody sees it.
        legal: |t| t.s.address_mode = [Mode::MIRRORED_REPEAT; 3],
    },
    Row {
        id: "B-58",
        vuid: None,
        what: "a value that the view's format cannot hold",
        illegal: |t| {
            t.float_border([-1.0, 2.0, 0.5, 1.0], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty());
        },
        changes: &["B-58 customBorderColor [-1.0, 2.0, 0.5, 1.0] -> [0.0, 1.0, 0.5, 1.0]"],
        legal: |t| t.seen().format = vk::Format::R16G16B16A16_SFLOAT,
    },
    Row {
        id: "B-58",
        vuid: None,
        what: "without a format stencil may be taken from R or from G, so both have to fit",
        illegal: |t| {
            t.int_border([300, 511, 1000, 0], vk::Format::UNDEFINED);
            t.sees(vk::Format::S8_UINT, Feature::empty());
        },
        changes: &["B-58 customBorderColor [300, 511, 1000, 0] -> [255, 255, 1000, 0]"],
        // Which of the two is read depends on the implementation. That is legal, also where they differ.
        legal: |t| t.int_border([7, 9, 1000, 0], vk::Format::UNDEFINED),
    },
    Row {
        id: "B-58",
        vuid: None,
        what: "with a format stencil is R",
        illegal: |t| {
            t.int_border([7, 511, 0, 0], vk::Format::UNDEFINED);
            t.sees(vk::Format::S8_UINT, Feature::empty());
        },
        changes: &["B-58 customBorderColor [7, 511, 0, 0] -> [7, 255, 0, 0]"],
        legal: |t| t.int_border([7, 511, 0, 0], vk::Format::S8_UINT),
    },
    Row {
        id: "B-64",
        vuid: Some("VUID-vkCmdDraw-flags-02696"),
        what: "any other address mode on a corner-sampled image",
        illegal: |t| {
            t.s.address_mode = [Mode::REPEAT, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER];
            t.sees(vk::Format::R8_UNORM, Feature::empty()).corner_sampled = true;
        },
        changes: &["B-64 addressModeU REPEAT -> CLAMP_TO_EDGE", "B-64 addressModeW CLAMP_TO_BORDER -> CLAMP_TO_EDGE"],
        legal: |t| t.seen().corner_sampled = false,
    },
];
