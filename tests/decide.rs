//! The decision core, held against the Vulkan specification.
//!
//! The tables below read like the specification: one row per statement, with a sampler that must be changed, the
//! changes, the valid-usage id, and the twin that must be left alone. `legality` holds a checker of its own making and
//! the properties that have to be true of every sampler, view and device.
#![allow(non_snake_case, reason = "the library's file name is what the Vulkan loader's manifests expect")]

mod legality;
#[path = "legality/properties.rs"]
mod properties;

use ash::vk;
use legality::{replay::untouched, violations};
use samplin_core::decide::{
    self, BlitSource, BlockMatchWindow, BorderMapping, Catalog, Change, ConversionState, CustomBorder, Decision,
    DeviceCaps, Policy, SamplerState, Source, Value, ViewTraits, YcbcrConversion, normalize_components,
};
use std::collections::BTreeSet;

use vk::ComponentSwizzle as Swizzle;
use vk::FormatFeatureFlags2 as Feature;
use vk::SamplerAddressMode as Mode;

const LINEAR: vk::Filter = vk::Filter::LINEAR;
const NEAREST: vk::Filter = vk::Filter::NEAREST;
const CUBIC: vk::Filter = vk::Filter::CUBIC_EXT;
const MIP_LINEAR: vk::SamplerMipmapMode = vk::SamplerMipmapMode::LINEAR;
const MIN: Option<vk::SamplerReductionMode> = Some(vk::SamplerReductionMode::MIN);
const MAX: Option<vk::SamplerReductionMode> = Some(vk::SamplerReductionMode::MAX);
const RANGE_CLAMP: Option<vk::SamplerReductionMode> = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM);
const SUBSAMPLED: vk::SamplerCreateFlags = vk::SamplerCreateFlags::SUBSAMPLED_EXT;
const PROCESSING: vk::SamplerCreateFlags = vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM;
const NON_SEAMLESS: vk::SamplerCreateFlags = vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT;
const REPLAY: vk::SamplerCreateFlags = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;

/// What a row starts from: the zero-filled sampler, no view, a device that can do everything.
#[derive(Clone, Copy)]
struct Setting {
    s: SamplerState,
    view: Option<ViewTraits>,
    caps: DeviceCaps,
    policy: Policy,
}

impl Setting {
    fn new() -> Self {
        let caps = DeviceCaps {
            sampler_anisotropy: true,
            max_sampler_anisotropy: 16.0,
            max_sampler_lod_bias: 15.0,
            max_sampler_allocation_count: 4000,
            sampler_mirror_clamp_to_edge: true,
            sampler_filter_minmax: true,
            filter_minmax_component_mapping: true,
            filter_cubic_img: true,
            filter_cubic_ext: true,
            filter_linear_2d_img: true,
            custom_border_colors: true,
            custom_border_color_without_format: true,
            max_custom_border_color_samplers: 32,
            border_color_swizzle: true,
            border_color_swizzle_from_image: true,
            non_seamless_cube_map: true,
            cubic_range_clamp: true,
            selectable_cubic_weights: true,
            descriptor_buffer_capture_replay: true,
            max_block_match_window: [64, 64],
            sampler_mip_lod_bias: true,
            mutable_comparison_samplers: true,
            sampler_ycbcr_conversion: true,
            gl_address_modes: false,
            unknown_extension: false,
        };
        Self { s: SamplerState::default(), view: None, caps, policy: Policy::default() }
    }

    /// With a view the sampler is decided as part of a dynamic combined image sampler, else at creation.
    fn decide(&self) -> Decision {
        match &self.view {
            Some(view) => decide::pair(&self.s, view, &self.caps, &self.policy),
            None => decide::create(&self.s, &self.caps, &self.policy),
        }
    }

    fn violations(&self) -> Vec<&'static str> {
        violations(&self.s, self.view.as_ref(), self.view.is_some(), &self.caps, &self.policy)
    }

    /// A 2D view of a format with these features and no other.
    fn sees(&mut self, format: vk::Format, features: Feature) -> &mut ViewTraits {
        self.view.insert(ViewTraits::new_2d(format, Feature::SAMPLED_IMAGE | features))
    }

    fn seen(&mut self) -> &mut ViewTraits {
        self.view.as_mut().expect("the row has a view")
    }

    fn filters(&mut self, filter: vk::Filter) {
        (self.s.mag_filter, self.s.min_filter) = (filter, filter);
    }

    fn float_border(&mut self, color: [f32; 4], format: vk::Format) {
        self.s.address_mode = [Mode::CLAMP_TO_BORDER; 3];
        self.s.border_color = vk::BorderColor::FLOAT_CUSTOM_EXT;
        self.s.custom_border = Some(CustomBorder { color: color.map(f32::to_bits), format });
    }

    fn int_border(&mut self, color: [i32; 4], format: vk::Format) {
        self.s.address_mode = [Mode::CLAMP_TO_BORDER; 3];
        self.s.border_color = vk::BorderColor::INT_CUSTOM_EXT;
        self.s.custom_border = Some(CustomBorder { color: color.map(|word| word as u32), format });
    }

    fn border(&mut self, color: vk::BorderColor) {
        self.s.address_mode = [Mode::CLAMP_TO_BORDER; 3];
        self.s.border_color = color;
    }

    /// A legal sampler with unnormalized coordinates.
    fn texels(&mut self) {
        self.s.unnormalized_coordinates = true;
        self.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
    }

    /// A legal sampler with a LINEAR conversion.
    fn converts(&mut self) {
        self.filters(LINEAR);
        self.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
        self.s.ycbcr =
            Some(YcbcrConversion { handle: 7, chroma_filter: LINEAR, separate_reconstruction: false, fingerprint: 1 });
    }

    /// A legal sampler of the flag's family.
    fn flagged(&mut self, flag: vk::SamplerCreateFlags) {
        self.s.flags = flag;
        self.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
    }
}

/// Human form of a value: Vulkan's name without prefix, floats as numbers.
fn show(value: Value) -> String {
    match value {
        Value::Filter(v) => format!("{v:?}"),
        Value::MipmapMode(v) => format!("{v:?}"),
        Value::AddressMode(v) => format!("{v:?}"),
        Value::CompareOp(v) => format!("{v:?}"),
        Value::BorderColor(v) => format!("{v:?}"),
        Value::ReductionMode(v) => format!("{v:?}"),
        Value::SamplerFlags(v) if v.is_empty() => "0".into(),
        Value::SamplerFlags(v) => format!("{v:?}"),
        Value::ChromaLocation(v) => format!("{v:?}"),
        Value::Format(v) => format!("{v:?}"),
        Value::Bool(v) => format!("{v}"),
        Value::Float(v) => format!("{v}"),
        Value::FloatColor(v) => format!("{:?}", v.map(f32::from_bits)),
        Value::IntColor(v) => format!("{:?}", v.map(|word| word as i32)),
        Value::Extent([w, h]) => format!("{w}x{h}"),
        Value::Mapping(v) => format!("{:?} srgb={}", v.components, v.srgb),
        Value::Raw(v) => format!("{v}"),
        Value::Present => "present".into(),
        Value::Absent => "absent".into(),
    }
}

fn line(change: &Change) -> String {
    format!("{} {} {} -> {}", change.catalog.id(), change.field.name(), show(change.from), show(change.to))
}

/// One statement of the catalogue.
struct Row {
    id: &'static str,
    /// Valid-usage id as the specification has it, for `vkCmdDraw`; `None` where the rule stands in the text alone.
    vuid: Option<&'static str>,
    /// What is wrong, in words.
    what: &'static str,
    /// Makes the sampler that must change.
    illegal: fn(&mut Setting),
    /// Every change, in order.
    changes: &'static [&'static str],
    /// On top of `illegal`: makes the sampler that must be left alone.
    legal: fn(&mut Setting),
}

/// Rows seen so far, by the variants of [`Catalog`] that their changes name.
fn check(rows: &[Row]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for Row { id, vuid, what, illegal, changes, legal } in rows {
        let mut setting = Setting::new();
        illegal(&mut setting);
        assert!(setting.violations().contains(id), "{id} {what}: not a violation, {:?} are", setting.violations());
        let decision = setting.decide();
        let lines: Vec<_> = decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{id} {what}");
        for change in decision.changes.iter() {
            if change.catalog.id() == *id {
                assert_eq!(change.catalog.vuid(), *vuid, "{id} {what}: {change:?}");
            }
            assert!(!change.catalog.lost().is_empty(), "{id} {what}: {change:?} does not say what is lost");
            seen.insert(format!("{:?}", change.catalog));
        }

        legal(&mut setting);
        assert_eq!(setting.violations(), [""; 0], "{id} {what}: the twin is illegal");
        let decision = setting.decide();
        assert!(decision.changes.is_empty(), "{id} {what}: the twin was changed: {:?}", decision.changes);
        assert!(untouched(&setting.s, &decision.state), "{id} {what}: the twin was touched");
        assert_eq!(decision.unresolved, None, "{id} {what}: the twin has something unresolved");
    }
    seen
}

// --- A.1 filters, LOD, anisotropy ----------------------------------------------------------------------------------

const FILTERS_AND_LOD: &[Row] = &[
    Row {
        id: "A-1",
        vuid: Some("VUID-VkSamplerCreateInfo-magFilter-parameter"),
        what: "CUBIC without an extension that has it",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.caps.filter_cubic_img = false;
            t.caps.filter_cubic_ext = false;
        },
        changes: &["A-1 magFilter CUBIC_EXT -> LINEAR"],
        legal: |t| t.caps.filter_cubic_img = true,
    },
    Row {
        id: "A-1",
        vuid: Some("VUID-VkSamplerCreateInfo-minFilter-parameter"),
        what: "a minification filter that is none",
        illegal: |t| t.s.min_filter = vk::Filter::from_raw(77),
        changes: &["A-1 minFilter 77 -> NEAREST"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "A-1",
        vuid: Some("VUID-VkSamplerCreateInfo-mipmapMode-parameter"),
        what: "a mipmap mode that is none",
        illegal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::from_raw(2),
        changes: &["A-1 mipmapMode 2 -> NEAREST"],
        legal: |t| t.s.mipmap_mode = MIP_LINEAR,
    },
    Row {
        id: "A-2",
        vuid: Some("VUID-VkSamplerCreateInfo-mipLodBias-01069"),
        what: "bias above the limit",
        illegal: |t| t.s.mip_lod_bias = 15.5,
        changes: &["A-2 mipLodBias 15.5 -> 15"],
        legal: |t| t.s.mip_lod_bias = 15.0,
    },
    Row {
        id: "A-2",
        vuid: Some("VUID-VkSamplerCreateInfo-mipLodBias-01069"),
        what: "bias below the negative limit, where the validation layer looks away",
        illegal: |t| t.s.mip_lod_bias = f32::NEG_INFINITY,
        changes: &["A-2 mipLodBias -inf -> -15"],
        legal: |t| t.s.mip_lod_bias = -15.0,
    },
    Row {
        id: "A-2",
        vuid: Some("VUID-VkSamplerCreateInfo-mipLodBias-01069"),
        what: "bias is not a number",
        illegal: |t| t.s.mip_lod_bias = f32::NAN,
        changes: &["A-2 mipLodBias NaN -> 0"],
        legal: |t| t.s.mip_lod_bias = -0.0,
    },
    Row {
        id: "A-3",
        vuid: Some("VUID-VkSamplerCreateInfo-samplerMipLodBias-04467"),
        what: "any bias on a portability device without the feature",
        illegal: |t| {
            t.s.mip_lod_bias = 0.5;
            t.caps.sampler_mip_lod_bias = false;
        },
        changes: &["A-3 mipLodBias 0.5 -> 0"],
        legal: |t| t.s.mip_lod_bias = 0.0,
    },
    Row {
        id: "A-4",
        vuid: Some("VUID-VkSamplerCreateInfo-maxLod-01973"),
        what: "the range is upside down",
        illegal: |t| (t.s.min_lod, t.s.max_lod) = (4.0, 1.0),
        changes: &["A-4 minLod 4 -> 1", "A-4 maxLod 1 -> 4"],
        legal: |t| t.s.max_lod = 4.0,
    },
    Row {
        id: "A-4",
        vuid: Some("VUID-VkSamplerCreateInfo-maxLod-01973"),
        what: "ends that are not numbers",
        illegal: |t| (t.s.min_lod, t.s.max_lod) = (f32::NAN, f32::NAN),
        changes: &["A-4 minLod NaN -> 0", "A-4 maxLod NaN -> 1000"],
        // negative values are legal, and 0.25 is the OpenGL idiom for "no mipmap", never to be rounded.
        legal: |t| (t.s.min_lod, t.s.max_lod) = (-1e9, 0.25),
    },
    Row {
        id: "A-5",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01070"),
        what: "anisotropy without the feature",
        illegal: |t| {
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
            t.caps.sampler_anisotropy = false;
        },
        changes: &["A-5 anisotropyEnable true -> false"],
        legal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (false, 999.0),
    },
    Row {
        id: "A-6",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"),
        what: "more anisotropy than the limit",
        illegal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, f32::INFINITY),
        changes: &["A-6 maxAnisotropy inf -> 16"],
        legal: |t| t.s.max_anisotropy = 16.0,
    },
    Row {
        id: "A-6",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"),
        what: "less anisotropy than 1",
        illegal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 0.0),
        changes: &["A-6 anisotropyEnable true -> false"],
        legal: |t| t.s.max_anisotropy = 1.0,
    },
    Row {
        id: "A-6",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"),
        what: "anisotropy is not a number",
        illegal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, f32::NAN),
        changes: &["A-6 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-7",
        vuid: Some("VUID-VkSamplerCreateInfo-magFilter-01081"),
        what: "CUBIC with anisotropy; CUBIC wins",
        illegal: |t| {
            t.s.min_filter = CUBIC;
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
        },
        changes: &["A-7 anisotropyEnable true -> false"],
        legal: |t| t.s.min_filter = LINEAR,
    },
];

// --- A.2 unnormalized coordinates ----------------------------------------------------------------------------------

const UNNORMALIZED: &[Row] = &[
    Row {
        id: "A-10",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072"),
        what: "filters differ",
        illegal: |t| {
            t.texels();
            t.s.mag_filter = LINEAR;
        },
        changes: &["A-10 magFilter LINEAR -> NEAREST"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "A-10",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072"),
        what: "filters differ and neither is NEAREST",
        illegal: |t| {
            t.texels();
            (t.s.mag_filter, t.s.min_filter) = (CUBIC, LINEAR);
        },
        changes: &["A-10 magFilter CUBIC_EXT -> NEAREST", "A-10 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.min_filter = CUBIC,
    },
    Row {
        id: "A-11",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073"),
        what: "LINEAR between mip levels",
        illegal: |t| {
            t.texels();
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-11 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    Row {
        id: "A-12",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01074"),
        what: "a LOD range",
        illegal: |t| {
            t.texels();
            (t.s.min_lod, t.s.max_lod) = (-1.0, 1000.0);
        },
        changes: &["A-12 minLod -1 -> 0", "A-12 maxLod 1000 -> 0"],
        legal: |t| (t.s.min_lod, t.s.max_lod) = (-0.0, 0.0),
    },
    Row {
        id: "A-13",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075"),
        what: "wrapping",
        illegal: |t| {
            t.texels();
            t.s.address_mode = [Mode::REPEAT, Mode::MIRROR_CLAMP_TO_EDGE, Mode::REPEAT];
        },
        changes: &[
            "A-13 addressModeU REPEAT -> CLAMP_TO_EDGE",
            "A-13 addressModeV MIRROR_CLAMP_TO_EDGE -> CLAMP_TO_EDGE",
        ],
        // W is free.
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_EDGE, Mode::REPEAT],
    },
    Row {
        id: "A-14",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076"),
        what: "anisotropy",
        illegal: |t| {
            t.texels();
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
        },
        changes: &["A-14 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-15",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077"),
        what: "comparison",
        illegal: |t| {
            t.texels();
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS);
        },
        changes: &["A-15 compareEnable true -> false"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
];

// --- A.3 and A.4 address modes, comparison, reduction --------------------------------------------------------------

const ADDRESS_AND_COMPARE: &[Row] = &[
    Row {
        id: "A-20",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-parameter"),
        what: "GL_CLAMP on U",
        illegal: |t| t.s.address_mode[0] = Mode::from_raw(0x2900),
        changes: &["A-20 addressModeU 10496 -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[0] = Mode::MIRROR_CLAMP_TO_EDGE,
    },
    Row {
        id: "A-20",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeV-parameter"),
        what: "no mode on V",
        illegal: |t| t.s.address_mode[1] = Mode::from_raw(5),
        changes: &["A-20 addressModeV 5 -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[1] = Mode::CLAMP_TO_BORDER,
    },
    Row {
        id: "A-20",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeW-parameter"),
        what: "no mode on W",
        illegal: |t| t.s.address_mode[2] = Mode::from_raw(-1),
        changes: &["A-20 addressModeW -1 -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[2] = Mode::MIRRORED_REPEAT,
    },
    Row {
        id: "A-21",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-01079"),
        what: "MIRROR_CLAMP_TO_EDGE without feature or extension, on W alone",
        illegal: |t| {
            t.s.address_mode[2] = Mode::MIRROR_CLAMP_TO_EDGE;
            t.caps.sampler_mirror_clamp_to_edge = false;
        },
        changes: &["A-21 addressModeW MIRROR_CLAMP_TO_EDGE -> MIRRORED_REPEAT"],
        legal: |t| t.caps.sampler_mirror_clamp_to_edge = true,
    },
    Row {
        id: "A-22",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-01078"),
        what: "no border colour where an axis asks for one",
        illegal: |t| t.border(vk::BorderColor::from_raw(99)),
        changes: &["A-22 borderColor 99 -> FLOAT_TRANSPARENT_BLACK"],
        // Garbage is legal where it is ignored.
        legal: |t| t.s.address_mode = [Mode::REPEAT; 3],
    },
    Row {
        id: "A-25",
        vuid: Some("VUID-VkSamplerCreateInfo-compareEnable-01080"),
        what: "no operator to compare with",
        illegal: |t| (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::from_raw(8)),
        changes: &["A-25 compareOp 8 -> ALWAYS"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "A-26",
        vuid: Some("VUID-VkSamplerCreateInfo-compareEnable-01423"),
        what: "comparison with a reduction; comparison wins",
        illegal: |t| (t.s.compare_enable, t.s.reduction_mode) = (true, MAX),
        changes: &["A-26 reductionMode MAX -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    },
    Row {
        id: "A-27",
        vuid: Some("VUID-VkSamplerCreateInfo-pNext-06726"),
        what: "a reduction without the feature",
        illegal: |t| {
            t.s.reduction_mode = MIN;
            t.caps.sampler_filter_minmax = false;
        },
        changes: &["A-27 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    },
    Row {
        id: "A-28",
        vuid: Some("VUID-VkSamplerCreateInfo-magFilter-07911"),
        what: "CUBIC with a reduction on VK_IMG_filter_cubic",
        illegal: |t| {
            (t.s.mag_filter, t.s.reduction_mode) = (CUBIC, MAX);
            t.caps.filter_cubic_ext = false;
        },
        changes: &["A-28 reductionMode MAX -> WEIGHTED_AVERAGE"],
        legal: |t| t.caps.filter_cubic_ext = true,
    },
];

// --- A.5 custom border colours -------------------------------------------------------------------------------------

const CUSTOM_BORDERS: &[Row] = &[
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

// --- A.6 conversions -----------------------------------------------------------------------------------------------

const CONVERSIONS: &[Row] = &[
    Row {
        id: "A-40",
        vuid: Some("VUID-VkSamplerCreateInfo-minFilter-01645"),
        what: "filters other than the chroma filter",
        illegal: |t| {
            t.converts();
            t.filters(NEAREST);
        },
        changes: &["A-40 magFilter NEAREST -> LINEAR", "A-40 minFilter NEAREST -> LINEAR"],
        legal: |t| {
            t.s.ycbcr = t.s.ycbcr.map(|conversion| YcbcrConversion { separate_reconstruction: true, ..conversion });
        },
    },
    Row {
        id: "A-41",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-01646"),
        what: "address modes, W too",
        illegal: |t| {
            t.converts();
            t.s.address_mode = [Mode::REPEAT, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER];
        },
        changes: &["A-41 addressModeU REPEAT -> CLAMP_TO_EDGE", "A-41 addressModeW CLAMP_TO_BORDER -> CLAMP_TO_EDGE"],
        legal: |t| t.s.ycbcr = None,
    },
    Row {
        id: "A-41",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-01646"),
        what: "anisotropy and unnormalized coordinates",
        illegal: |t| {
            t.converts();
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 2.0);
            t.s.unnormalized_coordinates = true;
        },
        changes: &["A-41 anisotropyEnable true -> false", "A-41 unnormalizedCoordinates true -> false"],
        legal: |t| (t.s.anisotropy_enable, t.s.unnormalized_coordinates) = (false, false),
    },
    Row {
        id: "A-42",
        vuid: Some("VUID-VkSamplerCreateInfo-None-01647"),
        what: "a reduction",
        illegal: |t| {
            t.converts();
            t.s.reduction_mode = MAX;
        },
        changes: &["A-42 reductionMode MAX -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    },
];

// --- A.7 flags and vendor structures -------------------------------------------------------------------------------

const FLAGS: &[Row] = &[
    Row {
        id: "A-52",
        vuid: Some("VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788"),
        what: "NON_SEAMLESS_CUBE_MAP without the feature",
        illegal: |t| {
            t.s.flags = NON_SEAMLESS;
            t.caps.non_seamless_cube_map = false;
        },
        changes: &["A-52 flags NON_SEAMLESS_CUBE_MAP_EXT -> 0"],
        legal: |t| t.caps.non_seamless_cube_map = true,
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02574"),
        what: "SUBSAMPLED with two filters",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.min_filter = LINEAR;
        },
        changes: &["A-53 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.mag_filter = LINEAR,
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02575"),
        what: "SUBSAMPLED with LINEAR between mip levels",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-53 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02576"),
        what: "SUBSAMPLED with a LOD range",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.max_lod = 1000.0;
        },
        changes: &["A-53 maxLod 1000 -> 0"],
        legal: |t| t.s.max_lod = 0.0,
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02577"),
        what: "SUBSAMPLED with wrapping",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.address_mode = [Mode::REPEAT; 3];
        },
        changes: &["A-53 addressModeU REPEAT -> CLAMP_TO_EDGE", "A-53 addressModeV REPEAT -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER, Mode::REPEAT],
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02578"),
        what: "SUBSAMPLED with anisotropy",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 2.0);
        },
        changes: &["A-53 anisotropyEnable true -> false"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02579"),
        what: "SUBSAMPLED with comparison",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.compare_enable = true;
        },
        changes: &["A-53 compareEnable true -> false"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02580"),
        what: "SUBSAMPLED with unnormalized coordinates; the coordinates are in the shader, so the flag goes",
        illegal: |t| {
            t.texels();
            t.s.flags = SUBSAMPLED;
        },
        changes: &["A-53 flags SUBSAMPLED_EXT -> 0"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06964"),
        what: "IMAGE_PROCESSING with filters",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.filters(LINEAR);
        },
        changes: &["A-54 magFilter LINEAR -> NEAREST", "A-54 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06964"),
        what: "IMAGE_PROCESSING with the filter of a conversion, which A-40 fixes: the flag goes",
        illegal: |t| {
            t.converts();
            t.s.flags = PROCESSING;
        },
        changes: &["A-54 flags IMAGE_PROCESSING_QCOM -> 0"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06965"),
        what: "IMAGE_PROCESSING with LINEAR between mip levels",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-54 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06966"),
        what: "IMAGE_PROCESSING with a LOD range",
        illegal: |t| {
            t.flagged(PROCESSING);
            (t.s.min_lod, t.s.max_lod) = (1.0, 1.0);
        },
        changes: &["A-54 minLod 1 -> 0", "A-54 maxLod 1 -> 0"],
        legal: |t| (t.s.min_lod, t.s.max_lod) = (0.0, 0.0),
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06967"),
        what: "IMAGE_PROCESSING with wrapping",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.s.address_mode[1] = Mode::MIRRORED_REPEAT;
        },
        changes: &["A-54 addressModeV MIRRORED_REPEAT -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER, Mode::REPEAT],
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06968"),
        what: "IMAGE_PROCESSING with another border",
        illegal: |t| {
            t.s.flags = PROCESSING;
            t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        },
        changes: &["A-54 borderColor FLOAT_OPAQUE_WHITE -> FLOAT_TRANSPARENT_BLACK"],
        // Only U and V count.
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER],
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06969"),
        what: "IMAGE_PROCESSING with anisotropy",
        illegal: |t| {
            t.flagged(PROCESSING);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 2.0);
        },
        changes: &["A-54 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06970"),
        what: "IMAGE_PROCESSING with comparison",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.s.compare_enable = true;
        },
        changes: &["A-54 compareEnable true -> false"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "A-55",
        vuid: Some("VUID-VkSamplerBlockMatchWindowCreateInfoQCOM-WindowExtent-09210"),
        what: "a window above the limit",
        illegal: |t| t.s.block_match = Some(BlockMatchWindow { extent: [65, 8], compare_mode: 1 }),
        changes: &["A-55 windowExtent 65x8 -> 64x8"],
        // A limit that is not reported is none.
        legal: |t| t.caps.max_block_match_window = [0, 0],
    },
    Row {
        id: "A-56",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-08110"),
        what: "capture and replay without the feature",
        illegal: |t| {
            t.s.flags = REPLAY;
            t.caps.descriptor_buffer_capture_replay = false;
        },
        changes: &["A-56 flags DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT -> 0"],
        legal: |t| t.caps.descriptor_buffer_capture_replay = true,
    },
    Row {
        id: "A-57",
        vuid: Some("VUID-VkSamplerCreateInfo-pNext-08111"),
        what: "captured data without the flag",
        illegal: |t| t.s.opaque_capture = true,
        changes: &["A-57 opaqueCaptureDescriptorData present -> absent"],
        legal: |t| t.s.flags = REPLAY,
    },
    Row {
        id: "A-59",
        vuid: Some("VUID-VkSamplerCubicWeightsCreateInfoQCOM-cubicWeights-parameter"),
        what: "weights that are none",
        illegal: |t| t.s.cubic_weights = Some(4),
        changes: &["A-59 cubicWeights 4 -> absent"],
        legal: |t| t.s.cubic_weights = Some(3),
    },
    Row {
        id: "A-59",
        vuid: Some("VUID-VkSamplerReductionModeCreateInfo-reductionMode-parameter"),
        what: "a reduction mode that is none",
        illegal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::from_raw(3)),
        changes: &["A-59 reductionMode 3 -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = MAX,
    },
];

// --- B.1 filtering against format features -------------------------------------------------------------------------

const FILTERING: &[Row] = &[
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR on a format that cannot be filtered",
        illegal: |t| {
            t.filters(LINEAR);
            t.sees(vk::Format::R32G32B32A32_SFLOAT, Feature::empty());
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR in one filter is enough",
        illegal: |t| {
            t.s.min_filter = LINEAR;
            t.sees(vk::Format::R16_UNORM, Feature::empty());
        },
        changes: &["B-1 minFilter LINEAR -> NEAREST"],
        // Features that are not known forbid nothing.
        legal: |t| t.seen().features = None,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR on depth without comparison",
        illegal: |t| {
            t.filters(LINEAR);
            t.sees(vk::Format::D16_UNORM, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        // B-34: with comparison LINEAR is legal on any depth format.
        legal: |t| (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "the 2D bit of VK_IMG_filter_linear_2d serves no 3D image",
        illegal: |t| {
            t.filters(LINEAR);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(1 << 45));
            t.seen().view_type = vk::ImageViewType::TYPE_3D;
            t.seen().image_type = vk::ImageType::TYPE_3D;
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        // B-17
        legal: |t| {
            t.seen().view_type = vk::ImageViewType::TYPE_2D;
            t.seen().image_type = vk::ImageType::TYPE_2D;
        },
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "whose anisotropy is implementation-defined on NEAREST (B-9)",
        illegal: |t| {
            t.filters(LINEAR);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 8.0);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
        },
        changes: &[
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
            "B-9 anisotropyEnable true -> false",
        ],
        // The application's own anisotropy with NEAREST is not ours to judge.
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-2",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-04770"),
        what: "LINEAR between mip levels, although both filters are NEAREST",
        illegal: |t| {
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::R32G32_SFLOAT, Feature::empty());
        },
        changes: &["B-2 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
    Row {
        id: "B-3",
        vuid: Some("VUID-vkCmdDraw-magFilter-09598"),
        what: "MAX over LINEAR without the bit; a texel is its own maximum",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = MAX;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &[
            "B-3 magFilter LINEAR -> NEAREST",
            "B-3 minFilter LINEAR -> NEAREST",
            "B-3 reductionMode MAX -> WEIGHTED_AVERAGE",
        ],
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-3",
        vuid: Some("VUID-vkCmdDraw-magFilter-09598"),
        what: "MIN over integers without the bit",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R32_UINT, Feature::empty());
        },
        changes: &[
            "B-3 magFilter LINEAR -> NEAREST",
            "B-3 minFilter LINEAR -> NEAREST",
            "B-3 reductionMode MIN -> WEIGHTED_AVERAGE",
        ],
        // Integers have a minimum.
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_MINMAX),
    },
    Row {
        id: "B-4",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-09599"),
        what: "MIN over mip levels without the bit",
        illegal: |t| {
            t.s.mipmap_mode = MIP_LINEAR;
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["B-4 mipmapMode LINEAR -> NEAREST", "B-4 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_MINMAX),
    },
    Row {
        id: "B-4",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-09599"),
        what: "MAX over mip levels without the bit, where CUBIC itself may reduce",
        illegal: |t| {
            t.filters(CUBIC);
            (t.s.mipmap_mode, t.s.reduction_mode) = (MIP_LINEAR, MAX);
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        },
        changes: &["B-4 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "CUBIC without the bit",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["B-5 magFilter CUBIC_EXT -> LINEAR"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "CUBIC on a format that has not even LINEAR",
        illegal: |t| {
            t.filters(CUBIC);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
        },
        changes: &[
            "B-5 magFilter CUBIC_EXT -> LINEAR",
            "B-5 minFilter CUBIC_EXT -> LINEAR",
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
        ],
        legal: |t| t.seen().features = None,
    },
    Row {
        id: "B-6",
        vuid: Some("VUID-vkCmdDraw-None-02693"),
        what: "CUBIC on a cube with VK_IMG_filter_cubic alone",
        illegal: |t| {
            t.s.min_filter = CUBIC;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().view_type = vk::ImageViewType::CUBE;
            t.caps.filter_cubic_ext = false;
        },
        changes: &["B-6 minFilter CUBIC_EXT -> LINEAR"],
        legal: |t| t.seen().view_type = vk::ImageViewType::TYPE_2D_ARRAY,
    },
    Row {
        id: "B-7",
        vuid: Some("VUID-vkCmdDraw-filterCubic-02694"),
        what: "CUBIC where the image's query says no",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().filter_cubic = false;
        },
        changes: &["B-7 magFilter CUBIC_EXT -> LINEAR"],
        // The query belongs to VK_EXT_filter_cubic.
        legal: |t| t.caps.filter_cubic_ext = false,
    },
    Row {
        id: "B-8",
        vuid: Some("VUID-vkCmdDraw-filterCubicMinmax-02695"),
        what: "CUBIC with MIN where the image's query says no",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().filter_cubic_minmax = false;
        },
        changes: &["B-8 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.filters(LINEAR),
    },
    Row {
        id: "B-10",
        vuid: Some("VUID-vkCmdDraw-cubicRangeClamp-09212"),
        what: "CUBIC with range clamp without the feature",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = RANGE_CLAMP;
            t.caps.cubic_range_clamp = false;
        },
        changes: &["B-10 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"],
        legal: |t| t.caps.cubic_range_clamp = true,
    },
    Row {
        id: "B-11",
        vuid: Some("VUID-vkCmdDraw-reductionMode-09213"),
        what: "range clamp without CUBIC",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = RANGE_CLAMP;
        },
        changes: &["B-11 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.mag_filter = CUBIC,
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "after which range clamp has no CUBIC left (B-11)",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = RANGE_CLAMP;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &[
            "B-5 magFilter CUBIC_EXT -> LINEAR",
            "B-5 minFilter CUBIC_EXT -> LINEAR",
            "B-11 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE",
        ],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    },
    Row {
        id: "B-12",
        vuid: Some("VUID-vkCmdDraw-selectableCubicWeights-09214"),
        what: "CUBIC with weights of one's own without the feature",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.cubic_weights = Some(2);
            t.caps.selectable_cubic_weights = false;
        },
        changes: &["B-12 cubicWeights 2 -> absent"],
        // Nobody reads them.
        legal: |t| t.filters(LINEAR),
    },
    Row {
        id: "B-13",
        vuid: None,
        what: "MAX of a view with another R, on a device that cannot map",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = MAX;
            t.sees(vk::Format::R8G8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().components[0] = Swizzle::G;
            t.caps.filter_minmax_component_mapping = false;
        },
        changes: &[
            "B-13 magFilter LINEAR -> NEAREST",
            "B-13 minFilter LINEAR -> NEAREST",
            "B-13 reductionMode MAX -> WEIGHTED_AVERAGE",
        ],
        // Only R counts, and R that names itself is identity.
        legal: |t| {
            t.seen().components = normalize_components(vk::ComponentMapping {
                r: Swizzle::R,
                g: Swizzle::ZERO,
                b: Swizzle::ONE,
                a: Swizzle::R,
            });
        },
    },
    Row {
        id: "B-13",
        vuid: None,
        what: "CUBIC does not stay to average what was to be reduced",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R8G8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().components[0] = Swizzle::ONE;
            t.caps.filter_minmax_component_mapping = false;
        },
        changes: &[
            "B-13 magFilter CUBIC_EXT -> NEAREST",
            "B-13 minFilter CUBIC_EXT -> NEAREST",
            "B-13 reductionMode MIN -> WEIGHTED_AVERAGE",
        ],
        legal: |t| t.caps.filter_minmax_component_mapping = true,
    },
    Row {
        id: "B-15",
        vuid: None,
        what: "LINEAR on stencil, whatever the format's bits say of depth",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::from_raw(u64::MAX)).aspect = decide::Aspect::Stencil;
        },
        changes: &[
            "B-15 magFilter LINEAR -> NEAREST",
            "B-15 minFilter LINEAR -> NEAREST",
            "B-15 mipmapMode LINEAR -> NEAREST",
        ],
        legal: |t| t.seen().aspect = decide::Aspect::Depth,
    },
    Row {
        id: "B-15",
        vuid: None,
        what: "MIN with a footprint on stencil",
        illegal: |t| {
            (t.s.reduction_mode, t.s.mipmap_mode) = (MIN, MIP_LINEAR);
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX));
        },
        changes: &["B-15 mipmapMode LINEAR -> NEAREST", "B-15 reductionMode MIN -> WEIGHTED_AVERAGE"],
        // The MINMAX bit is only asked of LINEAR (VUID-vkCmdDraw-magFilter-09598, mipmapMode-09599).
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "B-13",
        vuid: None,
        what: "MIN on stencil of which R is swizzled, on a device that cannot do that",
        illegal: |t| {
            t.s.reduction_mode = MIN;
            t.caps.filter_minmax_component_mapping = false;
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX)).components[0] = Swizzle::G;
        },
        changes: &["B-13 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.seen().components[0] = Swizzle::IDENTITY,
    },
    Row {
        id: "B-15",
        vuid: None,
        what: "CUBIC on stencil goes all the way",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX));
        },
        changes: &["B-15 magFilter CUBIC_EXT -> LINEAR", "B-15 magFilter LINEAR -> NEAREST"],
        legal: |t| t.s.mag_filter = NEAREST,
    },
    Row {
        id: "B-16",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR on integers",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::R8G8B8A8_SINT, Feature::empty());
        },
        changes: &[
            "B-16 magFilter LINEAR -> NEAREST",
            "B-16 minFilter LINEAR -> NEAREST",
            "B-2 mipmapMode LINEAR -> NEAREST",
        ],
        // No statement excludes integers: what the device reports is what it can do.
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "CUBIC on integers",
        illegal: |t| {
            t.filters(CUBIC);
            t.sees(vk::Format::A8B8G8R8_UINT_PACK32, Feature::empty());
        },
        changes: &[
            "B-5 magFilter CUBIC_EXT -> LINEAR",
            "B-5 minFilter CUBIC_EXT -> LINEAR",
            "B-16 magFilter LINEAR -> NEAREST",
            "B-16 minFilter LINEAR -> NEAREST",
        ],
        // A PowerVR GE8100 reports it.
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    },
    Row {
        id: "B-2",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-04770"),
        what: "LINEAR between levels of CUBIC; with a range clamp it is not what the statement names",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        },
        changes: &["B-2 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.reduction_mode = RANGE_CLAMP,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR beside CUBIC; with a range clamp it is not what the statement names",
        illegal: |t| {
            (t.s.mag_filter, t.s.min_filter) = (CUBIC, LINEAR);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        },
        changes: &["B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.reduction_mode = RANGE_CLAMP,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare: comparison with ALWAYS in place of NEAREST",
        illegal: |t| {
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["S-2 compareEnable false -> true", "S-2 compareOp NEVER -> ALWAYS"],
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way to unnormalized coordinates (A-15)",
        illegal: |t| {
            t.texels();
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way to SUBSAMPLED (A-53)",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| {
            t.s.flags = vk::SamplerCreateFlags::empty();
            t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way where the format cannot compare (B-31)",
        illegal: |t| {
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D16_UNORM, Feature::empty());
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.seen().features = None,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way where comparison is illegal",
        illegal: |t| {
            t.s.mag_filter = LINEAR;
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
            t.caps.mutable_comparison_samplers = false;
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
];

// --- B.2 comparison ------------------------------------------------------------------------------------------------

const COMPARISON: &[Row] = &[
    Row {
        id: "B-33",
        vuid: None,
        what: "comparison on stencil",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::from_raw(u64::MAX)).aspect = decide::Aspect::Stencil;
        },
        changes: &["B-33 compareEnable true -> false"],
        legal: |t| t.seen().aspect = decide::Aspect::Depth,
    },
    Row {
        id: "B-35",
        vuid: None,
        what: "comparison on a colour format",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::R32_SFLOAT, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["B-35 compareEnable true -> false"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-35",
        vuid: None,
        what: "comparison on an integer format, of which the statement asks the same bit",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::R32_UINT, Feature::empty());
        },
        changes: &["B-35 compareEnable true -> false"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-35",
        vuid: None,
        what: "after which LINEAR needs its bit (B-1, B-2)",
        illegal: |t| {
            t.filters(LINEAR);
            (t.s.mipmap_mode, t.s.compare_enable) = (MIP_LINEAR, true);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
        },
        changes: &[
            "B-35 compareEnable true -> false",
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
            "B-2 mipmapMode LINEAR -> NEAREST",
        ],
        // B-31 is the shader's affair: whether it compares is not known here.
        legal: |t| {
            t.sees(vk::Format::D16_UNORM, Feature::empty());
        },
    },
    Row {
        id: "B-36",
        vuid: Some("VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450"),
        what: "a dynamic comparison sampler on a portability device without the feature",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::D16_UNORM, Feature::from_raw(u64::MAX));
            t.caps.mutable_comparison_samplers = false;
        },
        changes: &["B-36 compareEnable true -> false"],
        // At creation it may yet become immutable.
        legal: |t| t.view = None,
    },
];

// --- B.4 borders, B.5 ----------------------------------------------------------------------------------------------

const BORDERS: &[Row] = &[
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
        what: "opaque black through a swizzled view on a device that cannot be told",
        illegal: |t| {
            t.border(vk::BorderColor::INT_OPAQUE_BLACK);
            t.sees(vk::Format::R8G8B8A8_UINT, Feature::empty()).components[0] = Swizzle::G;
            t.caps.border_color_swizzle_from_image = false;
            t.caps.border_color_swizzle = false;
        },
        changes: &["B-52 borderColor INT_OPAQUE_BLACK -> INT_TRANSPARENT_BLACK"],
        // Transparent black and white look the same however they are swizzled.
        legal: |t| t.s.border_color = vk::BorderColor::INT_OPAQUE_WHITE,
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
        what: "a custom colour through a swizzled view on a device that cannot be told",
        illegal: |t| {
            t.float_border([0.9, 0.9, 0.9, 0.8], vk::Format::UNDEFINED);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::empty()).components[0] = Swizzle::G;
            t.caps.border_color_swizzle_from_image = false;
            t.caps.border_color_swizzle = false;
        },
        changes: &["B-53 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"],
        legal: |t| t.seen().view_type = vk::ImageViewType::CUBE,
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

// --- GL address modes (the layer's own extension) ------------------------------------------------------------------

const GL_CLAMP: &[Row] = &[
    Row {
        id: "S-4",
        vuid: None,
        what: "GL_CLAMP with LINEAR on a view blends with the border",
        illegal: |t| {
            t.caps.gl_address_modes = true;
            t.filters(LINEAR);
            t.s.address_mode = [decide::GL_CLAMP, Mode::REPEAT, Mode::REPEAT];
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["S-4 addressModeU 10496 -> CLAMP_TO_BORDER"],
        legal: |t| t.s.address_mode[0] = Mode::CLAMP_TO_BORDER,
    },
    Row {
        id: "S-4",
        vuid: None,
        what: "GL_CLAMP on a view that cannot filter reads edge texels",
        illegal: |t| {
            t.caps.gl_address_modes = true;
            t.filters(LINEAR);
            t.s.address_mode[0] = decide::GL_CLAMP;
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
        },
        changes: &[
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
            "S-4 addressModeU 10496 -> CLAMP_TO_EDGE",
        ],
        legal: |t| {
            t.filters(NEAREST);
            t.s.address_mode[0] = Mode::CLAMP_TO_EDGE;
        },
    },
    Row {
        id: "S-4",
        vuid: None,
        what: "gl_clamp_rule=min: the minification filter alone decides",
        illegal: |t| {
            t.caps.gl_address_modes = true;
            t.policy.gl_clamp_min = true;
            t.s.min_filter = LINEAR;
            t.s.address_mode[1] = decide::GL_CLAMP;
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["S-4 addressModeV 10496 -> CLAMP_TO_BORDER"],
        legal: |t| t.s.address_mode[1] = Mode::REPEAT,
    },
    Row {
        id: "S-4",
        vuid: None,
        what: "GL_MIRROR_CLAMP at creation, on a device without MIRROR_CLAMP_TO_EDGE (A-21)",
        illegal: |t| {
            t.caps.gl_address_modes = true;
            t.caps.sampler_mirror_clamp_to_edge = false;
            t.s.address_mode[2] = decide::GL_MIRROR_CLAMP;
        },
        changes: &[
            "S-4 addressModeW 34626 -> MIRROR_CLAMP_TO_EDGE",
            "A-21 addressModeW MIRROR_CLAMP_TO_EDGE -> MIRRORED_REPEAT",
        ],
        legal: |t| t.s.address_mode[2] = Mode::MIRRORED_REPEAT,
    },
];

/// The tables, so that none is forgotten by the tests that count.
const TABLES: [&[Row]; 10] = [
    FILTERS_AND_LOD,
    UNNORMALIZED,
    ADDRESS_AND_COMPARE,
    CUSTOM_BORDERS,
    CONVERSIONS,
    FLAGS,
    FILTERING,
    COMPARISON,
    BORDERS,
    GL_CLAMP,
];

#[test]
fn filters_lod_and_anisotropy() {
    check(FILTERS_AND_LOD);
}

#[test]
fn unnormalized_coordinates() {
    check(UNNORMALIZED);
}

#[test]
fn address_modes_comparison_and_reduction() {
    check(ADDRESS_AND_COMPARE);
}

#[test]
fn custom_border_colors() {
    check(CUSTOM_BORDERS);
}

#[test]
fn conversions() {
    check(CONVERSIONS);
}

#[test]
fn flags_and_vendor_structures() {
    check(FLAGS);
}

#[test]
fn filtering_against_format_features() {
    check(FILTERING);
}

#[test]
fn comparison_against_the_view() {
    check(COMPARISON);
}

#[test]
fn borders_against_the_view() {
    check(BORDERS);
}

#[test]
fn gl_address_modes() {
    check(GL_CLAMP);
    // The shader saturates exactly the axes that became CLAMP_TO_BORDER.
    let mut setting = Setting::new();
    (GL_CLAMP[0].illegal)(&mut setting);
    assert_eq!(setting.decide().saturate, [true, false, false]);
    (GL_CLAMP[1].illegal)(&mut setting);
    assert_eq!(setting.decide().saturate, [false; 3]);
}

// --- what no sampler can mend --------------------------------------------------------------------------------------

/// A rule that only another view could satisfy: nothing is changed, and the rule is named.
struct ViewRow {
    catalog: Catalog,
    id: &'static str,
    vuid: Option<&'static str>,
    unmendable: fn(&mut Setting),
    legal: fn(&mut Setting),
}

const VIEW_ROWS: &[ViewRow] = &[
    ViewRow {
        catalog: Catalog::B40,
        id: "B-40",
        vuid: Some("VUID-vkCmdDraw-None-08609"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).view_type = vk::ImageViewType::TYPE_2D_ARRAY;
        },
        legal: |t| t.seen().view_type = vk::ImageViewType::TYPE_1D,
    },
    ViewRow {
        catalog: Catalog::B41,
        id: "B-41",
        vuid: Some("VUID-vkCmdDraw-unnormalizedCoordinates-09635"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).single_level = false;
        },
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    ViewRow {
        catalog: Catalog::B41,
        id: "B-41",
        vuid: Some("VUID-vkCmdDraw-unnormalizedCoordinates-09635"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).single_layer = false;
        },
        legal: |t| t.seen().single_layer = true,
    },
    // A plain sampler on a subsampled image.
    ViewRow {
        catalog: Catalog::B78,
        id: "B-78",
        vuid: None,
        unmendable: |t| t.sees(vk::Format::R8_UNORM, Feature::empty()).subsampled = true,
        legal: |t| t.seen().subsampled = false,
    },
    // A subsampled sampler on a plain image.
    ViewRow {
        catalog: Catalog::B78,
        id: "B-78",
        vuid: None,
        unmendable: |t| {
            t.flagged(SUBSAMPLED);
            t.sees(vk::Format::R8_UNORM, Feature::empty());
        },
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    // A subsampled sampler that is not immutable.
    ViewRow {
        catalog: Catalog::B78,
        id: "B-78",
        vuid: None,
        unmendable: |t| {
            t.flagged(SUBSAMPLED);
            t.sees(vk::Format::R8_UNORM, Feature::empty()).subsampled = true;
        },
        legal: |t| t.view = None,
    },
];

#[test]
fn what_only_another_view_could_mend() {
    for row in VIEW_ROWS {
        let mut setting = Setting::new();
        (row.unmendable)(&mut setting);
        assert_eq!(setting.violations(), [row.id]);
        let decision = setting.decide();
        assert_eq!(decision.unresolved, Some(row.catalog));
        assert_eq!((row.catalog.id(), row.catalog.vuid()), (row.id, row.vuid));
        assert!(decision.changes.is_empty() && untouched(&setting.s, &decision.state), "{}", row.id);

        (row.legal)(&mut setting);
        assert_eq!(setting.violations(), [""; 0]);
        let decision = setting.decide();
        assert_eq!(decision.unresolved, None, "{}", row.id);
        assert!(decision.changes.is_empty(), "{}", row.id);
    }
}

/// Views and samplers with a conversion form pairs by rules of their own (B.6): nothing of section B touches them.
#[test]
fn pairs_with_a_conversion_are_left_alone() {
    let mut setting = Setting::new();
    setting.converts();
    setting.s.compare_enable = true;
    setting.caps.mutable_comparison_samplers = false;
    setting.sees(vk::Format::R8G8B8A8_UINT, Feature::empty()).subsampled = true;
    let decision = setting.decide();
    assert!(decision.changes.is_empty() && decision.unresolved.is_none(), "{decision:?}");

    setting.s.ycbcr = None;
    setting.seen().ycbcr = true;
    let decision = setting.decide();
    assert!(decision.changes.is_empty() && decision.unresolved.is_none(), "{decision:?}");

    setting.seen().ycbcr = false;
    assert!(!setting.decide().changes.is_empty());
}

// --- C blits -------------------------------------------------------------------------------------------------------

/// Rule, valid-usage id, filter, format, image type, features, changes; then the twin's format, image type, features.
type BlitSide = (vk::Format, vk::ImageType, Feature);
type BlitRow = (&'static str, &'static str, vk::Filter, BlitSide, &'static [&'static str], BlitSide);

const D2: vk::ImageType = vk::ImageType::TYPE_2D;
const D3: vk::ImageType = vk::ImageType::TYPE_3D;

const BLITS: &[BlitRow] = &[
    (
        "C-1",
        "VUID-vkCmdBlitImage-filter-02001",
        LINEAR,
        (vk::Format::R32_SFLOAT, D2, Feature::BLIT_SRC),
        &["C-1 filter LINEAR -> NEAREST"],
        (vk::Format::R32_SFLOAT, D2, Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    ),
    (
        "C-2",
        "VUID-vkCmdBlitImage-filter-02002",
        CUBIC,
        (vk::Format::R8_UNORM, D2, Feature::SAMPLED_IMAGE_FILTER_LINEAR),
        &["C-2 filter CUBIC_EXT -> LINEAR"],
        (vk::Format::R8_UNORM, D2, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    ),
    (
        "C-2",
        "VUID-vkCmdBlitImage-filter-02002",
        CUBIC,
        (vk::Format::R32_SFLOAT, D2, Feature::BLIT_SRC),
        &["C-2 filter CUBIC_EXT -> LINEAR", "C-1 filter LINEAR -> NEAREST"],
        (vk::Format::R32_SFLOAT, D2, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    ),
    (
        "C-3",
        "VUID-vkCmdBlitImage-filter-00237",
        CUBIC,
        (vk::Format::R8_UNORM, D3, Feature::from_raw(u64::MAX)),
        &["C-3 filter CUBIC_EXT -> LINEAR"],
        (vk::Format::R8_UNORM, D2, Feature::from_raw(u64::MAX)),
    ),
    (
        "C-4",
        "VUID-vkCmdBlitImage-srcImage-00232",
        LINEAR,
        (vk::Format::D16_UNORM, D2, Feature::from_raw(u64::MAX)),
        &["C-4 filter LINEAR -> NEAREST"],
        (vk::Format::R16_UNORM, D2, Feature::from_raw(u64::MAX)),
    ),
    (
        "C-4",
        "VUID-vkCmdBlitImage-srcImage-00232",
        CUBIC,
        (vk::Format::S8_UINT, D2, Feature::from_raw(u64::MAX)),
        &["C-4 filter CUBIC_EXT -> NEAREST"],
        (vk::Format::R8_UNORM, D2, Feature::from_raw(u64::MAX)),
    ),
    (
        "C-10",
        "VUID-vkCmdBlitImage-filter-02001",
        LINEAR,
        (vk::Format::R8_UINT, D2, Feature::BLIT_SRC),
        &["C-10 filter LINEAR -> NEAREST"],
        // No statement excludes integers: what the device reports is what it can do.
        (vk::Format::R8_UINT, D2, Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    ),
    (
        "C-10",
        "VUID-vkCmdBlitImage-filter-02001",
        CUBIC,
        (vk::Format::A8B8G8R8_UINT_PACK32, D2, Feature::BLIT_SRC),
        &["C-2 filter CUBIC_EXT -> LINEAR", "C-10 filter LINEAR -> NEAREST"],
        (vk::Format::A8B8G8R8_UINT_PACK32, D2, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    ),
];

#[test]
fn blits() {
    let source = |(format, image_type, features): BlitSide| BlitSource { format, image_type, features: Some(features) };
    for (id, vuid, filter, illegal, changes, legal) in BLITS {
        let decision = decide::blit(*filter, &source(*illegal));
        let lines: Vec<_> = decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{id}");
        assert!(decision.changes.iter().any(|c| c.catalog.id() == *id && c.catalog.vuid() == Some(vuid)), "{id}");
        for source in [source(*legal), BlitSource { features: None, ..source(*legal) }] {
            let twin = decide::blit(*filter, &source);
            assert!(twin.changes.is_empty() && twin.filter == *filter, "{id}: {twin:?}");
        }
        assert!(decide::blit(NEAREST, &source(*illegal)).changes.is_empty(), "{id}: NEAREST always may");
    }
}

// --- A.6 vkCreateSamplerYcbcrConversion ----------------------------------------------------------------------------

/// Rule, valid-usage id, illegal state, missing feature, changes. The twin has the feature.
type ConversionRow = (&'static str, &'static str, fn(&mut ConversionState), Feature, &'static [&'static str]);

const CONVERSION_ROWS: &[ConversionRow] = &[
    (
        "A-43",
        "VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657",
        |c| c.chroma_filter = LINEAR,
        Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER,
        &["A-43 chromaFilter LINEAR -> NEAREST"],
    ),
    (
        "A-44",
        "VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01651",
        |c| c.x_chroma_offset = vk::ChromaLocation::COSITED_EVEN,
        Feature::COSITED_CHROMA_SAMPLES,
        &["A-44 xChromaOffset COSITED_EVEN -> MIDPOINT"],
    ),
    (
        "A-44",
        "VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01652",
        |c| {
            c.x_chroma_offset = vk::ChromaLocation::COSITED_EVEN;
            c.y_chroma_offset = vk::ChromaLocation::MIDPOINT;
        },
        Feature::MIDPOINT_CHROMA_SAMPLES,
        &["A-44 yChromaOffset MIDPOINT -> COSITED_EVEN"],
    ),
    (
        "A-45",
        "VUID-VkSamplerYcbcrConversionCreateInfo-forceExplicitReconstruction-01656",
        |c| c.force_explicit_reconstruction = true,
        Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE,
        &["A-45 forceExplicitReconstruction true -> false"],
    ),
];

#[test]
fn conversions_at_creation() {
    let everything = Feature::from_raw(u64::MAX);
    for (id, vuid, illegal, missing, changes) in CONVERSION_ROWS {
        let mut state = ConversionState {
            x_chroma_offset: vk::ChromaLocation::MIDPOINT,
            y_chroma_offset: vk::ChromaLocation::MIDPOINT,
            chroma_filter: NEAREST,
            force_explicit_reconstruction: false,
        };
        illegal(&mut state);
        let decision = decide::conversion(&state, Some(everything & !*missing), [true, true]);
        let lines: Vec<_> = decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{id}");
        assert!(decision.changes.iter().all(|c| c.catalog.vuid() == Some(vuid)), "{id}");
        for (features, subsampled) in [(Some(everything), [true, true]), (None, [true, true])] {
            let twin = decide::conversion(&state, features, subsampled);
            assert!(twin.changes.is_empty() && twin.state == state, "{id}");
        }
    }
    // An offset along an axis that is not subsampled is ignored, and with neither bit there is nothing to swap to.
    let cosited = ConversionState {
        x_chroma_offset: vk::ChromaLocation::COSITED_EVEN,
        y_chroma_offset: vk::ChromaLocation::COSITED_EVEN,
        chroma_filter: NEAREST,
        force_explicit_reconstruction: false,
    };
    let decision = decide::conversion(&cosited, Some(Feature::MIDPOINT_CHROMA_SAMPLES), [true, false]);
    assert_eq!(decision.state.y_chroma_offset, vk::ChromaLocation::COSITED_EVEN);
    assert_eq!(decision.changes.len(), 1);
    assert!(decide::conversion(&cosited, Some(Feature::empty()), [true, true]).changes.is_empty());
}

// --- the catalogue as a whole --------------------------------------------------------------------------------------

#[test]
fn every_row_has_its_test() {
    let mut seen: BTreeSet<String> = TABLES.iter().flat_map(|rows| check(rows)).collect();
    seen.extend(VIEW_ROWS.iter().map(|row| format!("{:?}", row.catalog)));
    // The budget of custom colours and the user's rules are decided elsewhere.
    let foreign = |row: &Catalog| row.id() == "A-35" || row.id().starts_with("O-");
    // Blits and conversions: their tables compare whole lists of changes, so the ids that they name are covered.
    let listed = BLITS.iter().flat_map(|row| row.4).chain(CONVERSION_ROWS.iter().flat_map(|row| row.4));
    let elsewhere: BTreeSet<_> = listed.map(|line| line.split(' ').next().expect("an id")).collect();
    let missed: Vec<_> = Catalog::ALL
        .iter()
        .filter(|row| !seen.contains(&format!("{row:?}")) && !elsewhere.contains(row.id()) && !foreign(row))
        .collect();
    assert!(missed.is_empty(), "rows without a test: {missed:?}");
    let rows =
        TABLES.iter().map(|rows| rows.len()).sum::<usize>() + VIEW_ROWS.len() + BLITS.len() + CONVERSION_ROWS.len();
    assert!(rows >= 150, "only {rows} rows");
}

/// Every rule is Vulkan's, by a valid-usage id or by chapter and heading, or it is one of the layer's own.
#[test]
fn every_row_says_where_it_stands() {
    for row in Catalog::ALL {
        let own = row.id().starts_with("O-") || row.id() == "S-4";
        let stands = match row.source() {
            Source::Vuid(id) => !own && id.starts_with("VUID-Vk") || id.starts_with("VUID-vkCmd"),
            Source::Text(heading) => !own && heading.split(" > ").count() == 2,
            Source::Layer => own,
        };
        assert!(stands, "{} stands at {:?}", row.id(), row.source());
    }
}

/// Names of rules are a stable interface: traces, rules files and gates match on them.
#[test]
fn rule_names_are_stable() {
    const NAMES: &[(&str, &[&str])] = &[
        ("linear-filter", &["B-1", "B-16"]),
        ("linear-mipmap", &["B-2"]),
        ("minmax", &["B-3", "B-4", "B-13"]),
        ("cubic", &["A-1", "B-5", "B-6", "B-7", "B-8"]),
        ("stencil", &["B-15"]),
        ("anisotropy", &["A-5", "A-6", "A-7", "B-9"]),
        ("lod-bias", &["A-2", "A-3"]),
        ("lod-range", &["A-4"]),
        ("unnormalized", &["A-10", "A-11", "A-12", "A-13", "A-14", "A-15", "B-40", "B-41"]),
        ("mirror-clamp", &["A-21"]),
        ("address-mode", &["A-20", "B-64"]),
        ("compare", &["A-25", "B-33", "B-35", "B-36"]),
        ("reduction", &["A-26", "A-27", "A-28", "B-10", "B-11", "B-12"]),
        ("border-type", &["A-22", "B-50", "B-51"]),
        ("border-value", &["A-33", "A-34", "B-58"]),
        ("border-format", &["A-32", "B-56", "B-57"]),
        ("border-swizzle", &["B-52", "B-53", "B-54", "B-55"]),
        ("border-budget", &["A-35"]),
        ("gl-clamp", &["S-4"]),
        ("override", &["O-1", "O-2"]),
        ("border-custom", &["A-30", "A-31", "A-36"]),
        ("ycbcr", &["A-40", "A-41", "A-42", "A-43", "A-44", "A-45"]),
        ("flags", &["A-52", "A-53", "A-54", "A-55", "A-56", "A-57", "B-78"]),
        ("blit-filter", &["C-1", "C-2", "C-3", "C-4", "C-10"]),
        ("depth-compare", &["S-2"]),
    ];
    for row in Catalog::ALL {
        // A-59 covers two structures, one of each family.
        if row.id() == "A-59" {
            assert!(["cubic", "reduction"].contains(&row.rule().name()));
            continue;
        }
        let (name, _) = NAMES.iter().find(|(_, ids)| ids.contains(&row.id())).expect("a family");
        assert_eq!(row.rule().name(), *name, "{}", row.id());
    }
    let unique: BTreeSet<_> = decide::Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(unique.len(), decide::Rule::ALL.len());
}

/// Fingerprints are the same in every run, process and machine, so they can be written down: FNV-1a over the
/// little-endian words of the normalised state. The values were computed from that definition by another program.
#[test]
fn fingerprints_are_stable() {
    let golden = |name: &str, edit: fn(&mut Setting), expected: u64| {
        let mut setting = Setting::new();
        edit(&mut setting);
        let actual = setting.s.fingerprint();
        assert_eq!(actual, expected, "{name}: {actual:#018x}");
    };
    golden("zero-filled", |_| {}, 0xeb4f_6126_0020_abd5);
    golden(
        "trilinear",
        |t| {
            t.filters(LINEAR);
            (t.s.mipmap_mode, t.s.max_lod) = (MIP_LINEAR, 1000.0);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 16.0);
        },
        0xf664_eccb_1d51_d964,
    );
    golden(
        "shadow map",
        |t| {
            t.filters(LINEAR);
            t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS_OR_EQUAL);
        },
        0xa4ed_5d95_6e79_7430,
    );
    golden(
        "every structure chained",
        |t| {
            t.filters(CUBIC);
            t.float_border([0.25, 0.5, 0.75, 1.0], vk::Format::R8G8B8A8_UNORM);
            t.s.reduction_mode = RANGE_CLAMP;
            t.s.border_mapping = Some(BorderMapping {
                components: [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::ONE],
                srgb: true,
            });
            t.s.cubic_weights = Some(1);
            t.s.block_match = Some(BlockMatchWindow { extent: [8, 4], compare_mode: 1 });
            t.s.opaque_capture = true;
            t.s.ycbcr = Some(YcbcrConversion {
                handle: 99,
                chroma_filter: LINEAR,
                separate_reconstruction: true,
                fingerprint: 0x0123_4567_89ab_cdef,
            });
        },
        0xc86a_a79e_8a82_129d,
    );
}
