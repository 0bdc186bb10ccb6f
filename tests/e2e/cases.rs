//! The table of illegal samplers and pairs, each with what validation says, what samplin does, and its legal twin.

use crate::scene::{Scene, Shape};
use ash::vk;
use samplin_suite::case::rows::*;
use samplin_suite::case::*;
use samplin_suite::rows;
use samplin_testkit::{Capability, SamplerDesc};
use vk::SamplerCreateFlags as Flags;

// --- words for the tables -------------------------------------------------------------------------------------------

const RGBA8: Scene = Scene::RGBA8;
const D32: Scene = Scene::D32;
const MINMAX_BIT: vk::FormatFeatureFlags = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX;

const LINEAR: &str = "VK_FILTER_LINEAR";
const NEAREST: &str = "VK_FILTER_NEAREST";
const LINEAR_MIP: &str = "VK_SAMPLER_MIPMAP_MODE_LINEAR";
const NEAREST_MIP: &str = "VK_SAMPLER_MIPMAP_MODE_NEAREST";
const REPEAT: &str = "VK_SAMPLER_ADDRESS_MODE_REPEAT";
const EDGE: &str = "VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE";
const AVERAGE: &str = "VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE";
const MIN: &str = "VK_SAMPLER_REDUCTION_MODE_MIN";
const MAX: &str = "VK_SAMPLER_REDUCTION_MODE_MAX";
const FLOAT_CLEAR: &str = "VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK";

/// Validation reports a filter on a view without the LINEAR bit.
const FILTER: Oracle = Oracle::Reports(&["magFilter-04553"]);
/// Validation reports a mipmap mode on a view without the LINEAR bit; only if the filters are NEAREST (H6).
const MIPMAP: Oracle = Oracle::Reports(&["mipmapMode-04770"]);

/// Both filters from LINEAR to NEAREST.
fn demote(row: Row) -> [Expected; 2] {
    ["magFilter", "minFilter"].map(|field| change(row, field, LINEAR, NEAREST))
}

/// The mipmap mode from LINEAR to NEAREST.
fn demote_mip(row: Row) -> Expected {
    change(row, "mipmapMode", LINEAR_MIP, NEAREST_MIP)
}

/// A switch that goes off.
fn off(row: Row, field: &'static str) -> Expected {
    change(row, field, true, false)
}

fn addresses(row: Row, fields: &'static [&'static str], from: &str, to: &str) -> Vec<Expected> {
    fields.iter().map(|field| change(row, field, from, to)).collect()
}

/// The same sampler where no address mode reaches the border.
fn unseen(sampler: SamplerDesc) -> SamplerDesc {
    SamplerDesc { address: [vk::SamplerAddressMode::REPEAT; 3], ..sampler }
}

fn mip_linear() -> SamplerDesc {
    SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..nearest() }
}

fn texels() -> SamplerDesc {
    SamplerDesc::unnormalized(vk::Filter::NEAREST)
}

/// Every case.
pub(crate) fn all() -> Vec<Case> {
    let mut all = samplers();
    all.extend(pairs());
    all
}

// --- samplers alone -------------------------------------------------------------------------------------------------

fn samplers() -> Vec<Case> {
    use Oracle::{Blind, MayReport, Reports, ReportsSome};
    use vk::SamplerAddressMode as Address;
    let bias = |lod_bias| SamplerDesc { lod_bias, ..SamplerDesc::trilinear() };
    rows! {
        Case::alone("lod-bias-above-the-limit", bias(40.0), bias(40.0), Reports(&["mipLodBias-01069"]))
            .at_creation([change(A2, "mipLodBias", "40.0", "$maxSamplerLodBias")]).twin(RGBA8, bias(1.0)),
        // H1: the older layers compare without taking the absolute value.
        Case::alone("lod-bias-below-the-limit", bias(-40.0), bias(-40.0), MayReport(&["mipLodBias-01069"]))
            .at_creation([change(A2, "mipLodBias", "-40.0", "$-maxSamplerLodBias")]).twin(RGBA8, bias(-1.0)),
        // No comparison holds for NaN, those of the validation layer included.
        Case::alone("lod-bias-nan", bias(f32::NAN), bias(0.0), MayReport(&["mipLodBias-01069"]))
            .at_creation([change(A2, "mipLodBias", "NaN", "0.0")]),
        Case::alone("lod-range", nearest().lod(2.0, 0.75), nearest().lod(0.75, 2.0), Reports(&["maxLod-01973"]))
            .at_creation([change(A4, "minLod", "2.0", "0.75"), change(A4, "maxLod", "0.75", "2.0")]),
        Case::alone("lod-range-nan", nearest().lod(f32::NAN, f32::NAN), nearest().lod(0.0, vk::LOD_CLAMP_NONE),
            MayReport(&["maxLod-01973"]))
            .at_creation([change(A4, "minLod", "NaN", "0.0"), change(A4, "maxLod", "NaN", "1000.0")]),
        Case::alone("anisotropy-without-feature", linear().anisotropy(4.0), linear(),
            Reports(&["anisotropyEnable-01070"]))
            .without([Capability::SamplerAnisotropy]).at_creation([off(A5, "anisotropyEnable")]),
        Case::alone("anisotropy-below-one", linear().anisotropy(0.5), linear(), Reports(&["anisotropyEnable-01071"]))
            .needs([Capability::SamplerAnisotropy]).at_creation([off(A6, "anisotropyEnable")]),
        Case::alone("anisotropy-nan", linear().anisotropy(f32::NAN), linear(), MayReport(&["anisotropyEnable-01071"]))
            .needs([Capability::SamplerAnisotropy]).at_creation([off(A6, "anisotropyEnable")]),
        Case::alone("anisotropy-above-the-limit", linear().anisotropy(64.0), linear().anisotropy(64.0),
            Reports(&["anisotropyEnable-01071"]))
            .needs([Capability::SamplerAnisotropy])
            .at_creation([change(A6, "maxAnisotropy", "64.0", "$maxSamplerAnisotropy")])
            .twin(RGBA8, linear().anisotropy(2.0)),
        Case::alone("unnormalized-filters", SamplerDesc { mag_filter: vk::Filter::LINEAR, ..texels() }, texels(),
            Reports(&["unnormalizedCoordinates-01072"]))
            .at_creation([change(A10, "magFilter", LINEAR, NEAREST)]),
        Case::alone("unnormalized-mipmap", SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..texels() },
            texels(), Reports(&["unnormalizedCoordinates-01073"]))
            .at_creation([demote_mip(A11)]),
        Case::alone("unnormalized-lod", texels().lod(0.5, 4.0), texels(), Reports(&["unnormalizedCoordinates-01074"]))
            .at_creation([change(A12, "minLod", "0.5", "0.0"), change(A12, "maxLod", "4.0", "0.0")]),
        // The third axis is free.
        Case::alone("unnormalized-address", texels().address(Address::REPEAT),
            SamplerDesc { address: [Address::CLAMP_TO_EDGE, Address::CLAMP_TO_EDGE, Address::REPEAT], ..texels() },
            Reports(&["unnormalizedCoordinates-01075"]))
            .at_creation(addresses(A13, &["addressModeU", "addressModeV"], REPEAT, EDGE)),
        Case::alone("unnormalized-anisotropy", texels().anisotropy(4.0), texels(),
            Reports(&["unnormalizedCoordinates-01076"]))
            .needs([Capability::SamplerAnisotropy]).at_creation([off(A14, "anisotropyEnable")]),
        Case::alone("unnormalized-compare", texels().compare(vk::CompareOp::LESS), texels(),
            Reports(&["unnormalizedCoordinates-01077"]))
            .at_creation([off(A15, "compareEnable")]),
        Case::alone("mirror-clamp-without-feature", linear().address(Address::MIRROR_CLAMP_TO_EDGE),
            linear().address(Address::MIRRORED_REPEAT), Reports(&["addressModeU-01079"]))
            .without([Capability::SamplerMirrorClampToEdge])
            .at_creation(addresses(A21, &["addressModeU", "addressModeV", "addressModeW"],
                "VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE", "VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT")),
        Case::alone("address-modes-unknown", SamplerDesc { address: [77, 78, -3].map(Address::from_raw), ..nearest() },
            nearest(), Reports(&["addressModeU-parameter", "addressModeV-parameter", "addressModeW-parameter"]))
            .at_creation([change(A20_U, "addressModeU", 77, EDGE), change(A20_V, "addressModeV", 78, EDGE),
                change(A20_W, "addressModeW", -3, EDGE)]),
        Case::alone("filters-unknown", SamplerDesc { mag_filter: vk::Filter::from_raw(77),
            min_filter: vk::Filter::from_raw(-1), mipmap_mode: vk::SamplerMipmapMode::from_raw(9), ..nearest() },
            nearest(), Reports(&["magFilter-parameter", "minFilter-parameter", "mipmapMode-parameter"]))
            .at_creation([change(A1_MAG, "magFilter", 77, NEAREST), change(A1_MIN, "minFilter", -1, NEAREST),
                change(A1_MIP, "mipmapMode", 9, NEAREST_MIP)]),
        // The older layers take every enumerant that any extension has added.
        Case::alone("cubic-without-extension",
            SamplerDesc { mag_filter: vk::Filter::CUBIC_EXT, min_filter: vk::Filter::CUBIC_EXT, ..nearest() }, linear(),
            MayReport(&["magFilter-parameter", "minFilter-parameter"]))
            .without([Capability::FilterCubic]).without([Capability::FilterCubicImg])
            .at_creation([change(A1_MAG, "magFilter", "VK_FILTER_CUBIC_EXT", LINEAR),
                change(A1_MIN, "minFilter", "VK_FILTER_CUBIC_EXT", LINEAR)]),
        Case::alone("compare-op-unknown", nearest().compare(vk::CompareOp::from_raw(99)),
            nearest().compare(vk::CompareOp::ALWAYS), Reports(&["compareEnable-01080"]))
            .scene(D32).at_creation([change(A25, "compareOp", 99, "VK_COMPARE_OP_ALWAYS")]),
        Case::alone("compare-with-reduction",
            nearest().compare(vk::CompareOp::LESS).reduction(vk::SamplerReductionMode::MIN),
            nearest().compare(vk::CompareOp::LESS), Reports(&["compareEnable-01423"]))
            .scene(D32).needs([Capability::SamplerFilterMinmax])
            .at_creation([change(A26, "reductionMode", MIN, AVERAGE)]),
        Case::alone("reduction-without-feature", linear().reduction(vk::SamplerReductionMode::MAX), linear(),
            Reports(&["pNext-06726"]))
            .without([Capability::SamplerFilterMinmax]).at_creation([change(A27, "reductionMode", MAX, AVERAGE)]),
        Case::alone("reduction-unknown", linear().reduction(vk::SamplerReductionMode::from_raw(55)), linear(),
            Reports(&["reductionMode-parameter"]))
            .needs([Capability::SamplerFilterMinmax]).at_creation([change(A59, "reductionMode", 55, AVERAGE)]),
        Case::alone("border-colour-unknown", border(B::from_raw(99)), border(B::FLOAT_TRANSPARENT_BLACK),
            Reports(&["addressModeU-01078"]))
            .at_creation([change(A22, "borderColor", 99, FLOAT_CLEAR)]),
        Case::alone("custom-border-without-feature", custom_float([0.9, 0.8, 1.0, 1.0], F::R8G8B8A8_UNORM),
            border(B::FLOAT_OPAQUE_WHITE), Reports(&["customBorderColors-04085"]))
            .without([Capability::CustomBorderColor]).extensions([ash::ext::custom_border_color::NAME])
            .at_creation([colour(A30, B::FLOAT_CUSTOM_EXT, B::FLOAT_OPAQUE_WHITE)]),
        // Creation knows no format yet and takes the nearest predefined colour; the view brings its format and the colour back.
        Case::alone("custom-border-without-format-feature", custom_float([0.2, 0.4, 0.8, 1.0], F::UNDEFINED),
            custom_float([0.2, 0.4, 0.8, 1.0], F::R8G8B8A8_UNORM), Reports(&["format-04014"]))
            .needs([Capability::CustomBorderColor]).without([Capability::CustomBorderColorWithoutFormat])
            .at_creation([colour(A32, B::FLOAT_CUSTOM_EXT, B::FLOAT_OPAQUE_BLACK)])
            .at_pair([format(A32, "UNDEFINED", "R8G8B8A8_UNORM")]),
        Case::alone("custom-border-without-value", border(B::FLOAT_CUSTOM_EXT), border(B::FLOAT_TRANSPARENT_BLACK),
            Reports(&["borderColor-04011"]))
            .needs([Capability::CustomBorderColor])
            .at_creation([colour(A31, B::FLOAT_CUSTOM_EXT, B::FLOAT_TRANSPARENT_BLACK)]),
        Case::alone("custom-border-of-the-wrong-kind", custom_int([1, 0, 0, 1], F::R8G8B8A8_UNORM),
            custom_float([1.0, 0.0, 0.0, 1.0], F::R8G8B8A8_UNORM), MayReport(&["format-07605"]))
            .needs([Capability::CustomBorderColor])
            .at_creation([colour(A33, B::INT_CUSTOM_EXT, B::FLOAT_CUSTOM_EXT),
                change(A33, "customBorderColor", "[1,0,0,1]", "[1.0,0.0,0.0,1.0]")]),
        // Listed as one that no layer can check.
        Case::alone("custom-border-out-of-range", custom_float([2.0, -1.0, 0.0, 1.0], F::R8G8B8A8_UNORM),
            custom_float([1.0, 0.0, 0.0, 1.0], F::R8G8B8A8_UNORM), Blind)
            .needs([Capability::CustomBorderColor])
            .at_creation([change(A34, "customBorderColor", "[2.0,-1.0,0.0,1.0]", "[1.0,0.0,0.0,1.0]")]),
        Case::alone("border-mapping-without-feature",
            SamplerDesc { border_mapping: Some((vk::ComponentMapping::default(), false)),
            ..border(B::FLOAT_OPAQUE_BLACK) }, border(B::FLOAT_OPAQUE_BLACK), Reports(&["borderColorSwizzle-06437"]))
            .without([Capability::BorderColorSwizzle]).extensions([ash::ext::border_color_swizzle::NAME])
            .at_creation([change(A36, "components", "present", "")]),
        Case::alone("non-seamless-without-feature",
            SamplerDesc { flags: Flags::NON_SEAMLESS_CUBE_MAP_EXT, ..nearest() }, nearest(),
            Reports(&["nonSeamlessCubeMap-06788|flags-parameter"]))
            .without([Capability::NonSeamlessCubeMap]).extensions([ash::ext::non_seamless_cube_map::NAME])
            .at_creation([change(A52, "flags", "[\"VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT\"]", "[]")]),
        Case::alone("capture-replay-without-feature",
            SamplerDesc { flags: Flags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT, ..nearest() }, nearest(),
            Reports(&["flags-08110|flags-parameter"]))
            .at_creation([change(A56, "flags", "[\"VK_SAMPLER_CREATE_DESCRIPTOR_BUFFER_CAPTURE_REPLAY_BIT_EXT\"]",
                "[]")]),
        Case::alone("much-at-once", SamplerDesc { mag_filter: vk::Filter::from_raw(77), lod_bias: f32::INFINITY,
            ..linear().anisotropy(-3.0).lod(3.0, 1.0).address(Address::from_raw(i32::MAX)) },
            SamplerDesc { mag_filter: vk::Filter::NEAREST, lod_bias: 40.0, ..linear().lod(1.0, 3.0) },
            ReportsSome(&["magFilter-parameter", "mipLodBias-01069", "anisotropyEnable-01071", "maxLod-01973",
            "addressModeU-parameter", "addressModeV-parameter", "addressModeW-parameter"]))
            .needs([Capability::SamplerAnisotropy]).twin(RGBA8, linear().lod(1.0, 3.0))
            .at_creation([change(A1_MAG, "magFilter", 77, NEAREST), change(A20_U, "addressModeU", i32::MAX, EDGE),
                change(A20_V, "addressModeV", i32::MAX, EDGE), change(A20_W, "addressModeW", i32::MAX, EDGE),
                off(A6, "anisotropyEnable"), change(A2, "mipLodBias", "Infinity", "$maxSamplerLodBias"),
                change(A4, "minLod", "3.0", "1.0"), change(A4, "maxLod", "1.0", "3.0")]),
    }
}

// --- pairs ----------------------------------------------------------------------------------------------------------

fn pairs() -> Vec<Case> {
    let mut all = filters();
    all.extend(reductions());
    all.extend(borders());
    all.extend(swizzled_borders());
    all
}

fn filters() -> Vec<Case> {
    const LINEAR_BIT: vk::FormatFeatureFlags = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
    let mag = || SamplerDesc { mag_filter: vk::Filter::LINEAR, ..nearest() };
    let min = || SamplerDesc { min_filter: vk::Filter::LINEAR, ..nearest() };
    let trilinear = SamplerDesc::trilinear;
    rows! {
        Case::pair("linear-r32-uint", Scene::colour(F::R32_UINT), linear(), nearest(), FILTER).at_pair(demote(B16)),
        Case::pair("mag-linear-r8-sint", Scene::colour(F::R8_SINT), mag(), nearest(), FILTER)
            .at_pair([change(B16, "magFilter", LINEAR, NEAREST)]),
        Case::pair("min-linear-rgba16-uint", Scene::colour(F::R16G16B16A16_UINT), min(), nearest(), FILTER)
            .at_pair([change(B16, "minFilter", LINEAR, NEAREST)]),
        Case::pair("mip-linear-rgba8-uint", Scene::colour(F::R8G8B8A8_UINT), mip_linear(), nearest(), MIPMAP)
            .at_pair([demote_mip(B2)]),
        Case::pair("trilinear-rg16-sint", Scene::colour(F::R16G16_SINT), trilinear(), nearest(), FILTER)
            .at_pair(demote(B16)).at_pair([demote_mip(B2)]),
        Case::pair("linear-d16", Scene::depth(F::D16_UNORM), linear(), nearest(), FILTER)
            .lacking(LINEAR_BIT).at_pair(demote(B1)),
        Case::pair("mip-linear-d16", Scene::depth(F::D16_UNORM), mip_linear(), nearest(), MIPMAP)
            .lacking(LINEAR_BIT).at_pair([demote_mip(B2)]),
        Case::pair("linear-d32", D32, linear(), nearest(), FILTER).lacking(LINEAR_BIT).at_pair(demote(B1)),
        Case::pair("trilinear-d32-s8-depth", Scene::depth(F::D32_SFLOAT_S8_UINT), trilinear(), nearest(), FILTER)
            .lacking(LINEAR_BIT).at_pair(demote(B1)).at_pair([demote_mip(B2)]),
        Case::pair("linear-d24-s8-depth", Scene::depth(F::D24_UNORM_S8_UINT), linear(), nearest(), FILTER)
            .lacking(LINEAR_BIT).at_pair(demote(B1)),
        // H8: the layer judges stencil by the bits of the whole format, which are about depth.
        Case::pair("linear-d32-s8-stencil", Scene::stencil(F::D32_SFLOAT_S8_UINT), linear(), nearest(),
            Oracle::MayReport(&["magFilter-04553"]))
            .at_pair(demote(B15)),
        Case::pair("trilinear-s8", Scene::stencil(F::S8_UINT), trilinear(), nearest(),
            Oracle::MayReport(&["magFilter-04553"]))
            .at_pair(demote(B15)).at_pair([demote_mip(B15)]),
        Case::pair("linear-r32-uint-linear-tiling", Scene::colour(F::R32_UINT).linear_tiling(), linear(), nearest(),
            FILTER)
            .twin(RGBA8.linear_tiling(), linear()).at_pair(demote(B16)),
        Case::pair("linear-d32-linear-tiling", D32.linear_tiling(), linear(), nearest(), FILTER)
            .lacking(LINEAR_BIT).at_pair(demote(B1)),
        Case::pair("linear-r32-uint-1d", Scene::colour(F::R32_UINT).shape(Shape::D1), linear(), nearest(), FILTER)
            .twin(RGBA8.shape(Shape::D1), linear()).at_pair(demote(B16)),
        Case::pair("linear-r16-sint-array", Scene::colour(F::R16_SINT).shape(Shape::D2Array), linear(), nearest(),
            FILTER)
            .twin(RGBA8.shape(Shape::D2Array), linear()).at_pair(demote(B16)),
        Case::pair("trilinear-rgba8-uint-3d", Scene::colour(F::R8G8B8A8_UINT).shape(Shape::D3), trilinear(), nearest(),
            FILTER)
            .twin(RGBA8.shape(Shape::D3), trilinear()).at_pair(demote(B16)).at_pair([demote_mip(B2)]),
        // A seamless cube ignores its address modes, so a border of the wrong kind is no reason to change anything.
        Case::pair("linear-r32-uint-cube", Scene::colour(F::R32_UINT).shape(Shape::Cube),
            linear().border(B::FLOAT_OPAQUE_WHITE), nearest(), FILTER)
            .twin(RGBA8.shape(Shape::Cube), linear().border(B::INT_OPAQUE_WHITE)).at_pair(demote(B16)),
        // A filter that becomes NEAREST takes the anisotropy with it, which is not defined with NEAREST.
        Case::pair("anisotropic-r32-uint", Scene::colour(F::R32_UINT), linear().anisotropy(4.0), nearest(), FILTER)
            .needs([Capability::SamplerAnisotropy]).at_pair(demote(B16)).at_pair([off(B9, "anisotropyEnable")]),
        Case::pair("linear-r32-uint-unnormalized", Scene::colour(F::R32_UINT).flat(),
            SamplerDesc::unnormalized(vk::Filter::LINEAR), texels(), FILTER)
            .twin(RGBA8.flat(), SamplerDesc::unnormalized(vk::Filter::LINEAR)).at_pair(demote(B16)),
        Case::pair("linear-r32-uint-repeat-and-bias", Scene::colour(F::R32_UINT),
            SamplerDesc { lod_bias: 0.75, ..linear().address(vk::SamplerAddressMode::MIRRORED_REPEAT).lod(0.25, 1.75) },
            SamplerDesc { lod_bias: 0.75, ..nearest().address(vk::SamplerAddressMode::MIRRORED_REPEAT).lod(0.25,
            1.75) }, FILTER)
            .at_pair(demote(B16)),
        // What was changed at creation is not told again with the view.
        Case::pair("linear-r32-uint-and-lod-range", Scene::colour(F::R32_UINT), linear().lod(2.0, 0.75),
            nearest().lod(0.75, 2.0), Oracle::Reports(&["maxLod-01973"]))
            .alone_too().twin(RGBA8, linear().lod(0.75, 2.0))
            .at_creation([change(A4, "minLod", "2.0", "0.75"), change(A4, "maxLod", "0.75", "2.0")])
            .at_pair(demote(B16)),
    }
}

fn reductions() -> Vec<Case> {
    let (min, max) = (vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX);
    let minmax = |case: Case| case.needs([Capability::SamplerFilterMinmax]).lacking(MINMAX_BIT);
    // Averaging is not what was asked for, so the texel itself, its own minimum and maximum, takes the footprint's place.
    rows! {
        minmax(Case::pair("min-linear-rgba8", RGBA8, linear().reduction(min), nearest(),
            Oracle::MayReport(&["magFilter-09598"])))
            .twin(Scene::colour(F::R32_SFLOAT), linear().reduction(min)).at_pair(demote(B3))
            .at_pair([change(B3, "reductionMode", MIN, AVERAGE)]),
        minmax(Case::pair("max-mip-linear-rgba8", RGBA8, mip_linear().reduction(max), nearest(),
            Oracle::MayReport(&["mipmapMode-09599"])))
            .twin(Scene::colour(F::R8_UNORM), linear().reduction(max))
            .at_pair([demote_mip(B4), change(B4, "reductionMode", MAX, AVERAGE)]),
        // The older layers ask for the bit of averaging.
        minmax(Case::pair("max-trilinear-r32-uint", Scene::colour(F::R32_UINT), SamplerDesc::trilinear().reduction(max),
            nearest(), Oracle::Reports(&["magFilter-09598|magFilter-04553"])))
            .twin(Scene::colour(F::R16_UNORM), linear().reduction(min)).at_pair(demote(B3))
            .at_pair([demote_mip(B4), change(B3, "reductionMode", MAX, AVERAGE)]),
    }
}

fn borders() -> Vec<Case> {
    use Oracle::Blind;
    // No valid usage id: the specification says that the texels are undefined.
    let wrong = |name, scene, from: B, to: B| Case::pair(name, scene, border(from), border(to), Blind);
    let uint = Scene::colour(F::R8G8B8A8_UINT);
    let stencil = Scene::stencil(F::S8_UINT);
    rows! {
        wrong("int-white-border-rgba8", RGBA8, B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)
            .twin(uint, border(B::INT_OPAQUE_WHITE)).at_pair([colour(B50, B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)]),
        wrong("int-black-border-d32", D32, B::INT_OPAQUE_BLACK, B::FLOAT_OPAQUE_BLACK)
            .twin(stencil, border(B::INT_OPAQUE_BLACK))
            .at_pair([colour(B50, B::INT_OPAQUE_BLACK, B::FLOAT_OPAQUE_BLACK)]),
        // White is 1, not the largest integer.
        wrong("float-white-border-rgba8-uint", uint, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)
            .twin(RGBA8, border(B::FLOAT_OPAQUE_WHITE))
            .at_pair([colour(B51, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)]),
        wrong("float-clear-border-r8-sint", Scene::colour(F::R8_SINT), B::FLOAT_TRANSPARENT_BLACK,
            B::INT_TRANSPARENT_BLACK)
            .twin(RGBA8, border(B::FLOAT_TRANSPARENT_BLACK))
            .at_pair([colour(B51, B::FLOAT_TRANSPARENT_BLACK, B::INT_TRANSPARENT_BLACK)]),
        wrong("float-white-border-s8", stencil, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)
            .twin(D32, border(B::FLOAT_OPAQUE_WHITE))
            .at_pair([colour(B51, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)]),
        wrong("int-white-border-rgba8-3d", RGBA8.shape(Shape::D3), B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)
            .twin(uint.shape(Shape::D3), border(B::INT_OPAQUE_WHITE))
            .at_pair([colour(B50, B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)]),
        Case::pair("float-white-border-and-linear-r32-uint", Scene::colour(F::R32_UINT),
            linear().border(B::FLOAT_OPAQUE_WHITE), border(B::INT_OPAQUE_WHITE), FILTER)
            .at_pair(demote(B16)).at_pair([colour(B51, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)]),
        Case::pair("custom-int-border-rgba8", RGBA8, custom_int([1, 0, 1, 0], F::UNDEFINED),
            custom_float([1.0, 0.0, 1.0, 0.0], F::UNDEFINED), Blind)
            .needs([Capability::CustomBorderColorWithoutFormat]).twin(uint, custom_int([1, 0, 7, 0], F::UNDEFINED))
            .at_pair([colour(B50, B::INT_CUSTOM_EXT, B::FLOAT_CUSTOM_EXT),
                change(B50, "customBorderColor", "[1,0,1,0]", "[1.0,0.0,1.0,0.0]")]),
        // Address modes count on the faces of a cube that is not seamless.
        wrong("int-white-border-non-seamless-cube", RGBA8.shape(Shape::Cube), B::INT_OPAQUE_WHITE,
            B::FLOAT_OPAQUE_WHITE)
            .map_samplers(|sampler| sampler.flags = Flags::NON_SEAMLESS_CUBE_MAP_EXT)
            .needs([Capability::NonSeamlessCubeMap]).twin(RGBA8.shape(Shape::Cube), border(B::INT_OPAQUE_WHITE))
            .at_pair([colour(B50, B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)]),
        Case::pair("custom-border-without-format-b4g4r4a4", Scene::colour(F::B4G4R4A4_UNORM_PACK16),
            custom_float([0.2, 0.4, 0.6, 0.8], F::UNDEFINED),
            custom_float([0.2, 0.4, 0.6, 0.8], F::B4G4R4A4_UNORM_PACK16), Oracle::Reports(&["format-04015"]))
            .needs([Capability::CustomBorderColorWithoutFormat])
            .at_pair([format(B56, "UNDEFINED", "B4G4R4A4_UNORM_PACK16")]),
        // The statement does not ask whether the border is ever seen; one that is not is worth no custom colour.
        Case::pair("custom-border-without-format-unseen", Scene::colour(F::B4G4R4A4_UNORM_PACK16),
            unseen(custom_float([0.2, 0.4, 0.6, 0.8], F::UNDEFINED)), unseen(border(B::FLOAT_OPAQUE_BLACK)),
            Oracle::Reports(&["format-04015"]))
            .needs([Capability::CustomBorderColorWithoutFormat])
            .at_pair([colour(B56, B::FLOAT_CUSTOM_EXT, B::FLOAT_OPAQUE_BLACK)]),
        Case::pair("custom-border-of-another-format", Scene::colour(F::R32_SFLOAT),
            custom_float([0.6, 0.0, 0.0, 1.0], F::R8G8B8A8_UNORM), custom_float([0.6, 0.0, 0.0, 1.0], F::R32_SFLOAT),
            Blind)
            .needs([Capability::CustomBorderColor]).at_pair([format(B57, "R8G8B8A8_UNORM", "R32_SFLOAT")]),
        Case::pair("custom-border-beyond-the-view", RGBA8, custom_float([2.0, -1.0, 0.0, 1.0], F::UNDEFINED),
            custom_float([1.0, 0.0, 0.0, 1.0], F::UNDEFINED), Blind)
            .needs([Capability::CustomBorderColorWithoutFormat])
            .twin(Scene::colour(F::R32_SFLOAT), custom_float([2.0, 0.0, 0.0, 1.0], F::UNDEFINED))
            .at_pair([change(B58, "customBorderColor", "[2.0,-1.0,0.0,1.0]", "[1.0,0.0,0.0,1.0]")]),
        // R and G may differ: which is read depends on the implementation.
        Case::pair("custom-border-of-stencil", stencil, custom_uint([300, 9, 0, 0], F::UNDEFINED),
            custom_uint([255, 9, 0, 0], F::UNDEFINED), Blind)
            .needs([Capability::CustomBorderColorWithoutFormat]).twin(stencil, custom_uint([7, 9, 0, 0], F::UNDEFINED))
            .at_pair([change(B58, "customBorderColor", "[300,9,0,0]", "[255,9,0,0]")]),
    }
}

/// Border colours that a swizzle changes.
fn swizzled_borders() -> Vec<Case> {
    use vk::ComponentSwizzle as S;
    const MAPPING: vk::ComponentMapping = vk::ComponentMapping { r: S::A, g: S::A, b: S::IDENTITY, a: S::A };
    const SWIZZLED: Scene = Scene { components: MAPPING, ..RGBA8 };
    let mapped = |sampler: SamplerDesc| SamplerDesc { border_mapping: Some((MAPPING, false)), ..sampler };
    let black = || border(B::FLOAT_OPAQUE_BLACK);
    let custom = || custom_float([0.2, 0.4, 0.6, 0.8], F::R8G8B8A8_UNORM);
    let aaba = "{\"components\":\"aaba\",\"srgb\":false}";
    let with_mapping =
        |case: Case| case.needs([Capability::BorderColorSwizzle]).without([Capability::BorderColorSwizzleFromImage]);
    let without =
        |case: Case| case.without([Capability::BorderColorSwizzle]).without([Capability::BorderColorSwizzleFromImage]);
    rows! {
        with_mapping(Case::pair("opaque-black-border-swizzled", SWIZZLED, black(), mapped(black()), Oracle::Blind))
            .at_pair([change(B52, "components", "", aaba)]),
        with_mapping(Case::pair("custom-border-swizzled", SWIZZLED, custom(), mapped(custom()), Oracle::Blind))
            .at_pair([change(B53, "components", "", aaba)]),
        with_mapping(Case::pair("border-mapping-of-another-view", SWIZZLED, mapped(black()), mapped(black()),
            Oracle::Blind))
            .map_illegal(|sampler| { let other = vk::ComponentMapping { g: S::ZERO,
                ..MAPPING }; sampler.border_mapping = Some((other, false)); })
            .twin(SWIZZLED, mapped(black()))
            .at_pair([change(B54, "components", "{\"components\":\"a0ba\",\"srgb\":false}", aaba)]),
        with_mapping(Case::pair("border-mapping-srgb", SWIZZLED, mapped(black()), mapped(black()), Oracle::Blind))
            .map_illegal(|sampler| sampler.border_mapping = Some((MAPPING, true))).twin(SWIZZLED, mapped(black()))
            .at_pair([change(B55, "components", "{\"components\":\"aaba\",\"srgb\":true}", aaba)]),
        // Without the feature a colour that no swizzle changes has to do: white shows one wrong component, black three.
        without(Case::pair("opaque-black-border-swizzled-without-feature", SWIZZLED, black(),
            border(B::FLOAT_OPAQUE_WHITE), Oracle::Blind))
            .at_pair([colour(B52, B::FLOAT_OPAQUE_BLACK, B::FLOAT_OPAQUE_WHITE)]),
        without(Case::pair("custom-border-swizzled-without-feature", SWIZZLED, custom(), border(B::FLOAT_OPAQUE_WHITE),
            Oracle::Blind))
            .needs([Capability::CustomBorderColor]).at_pair([colour(B53, B::FLOAT_CUSTOM_EXT, B::FLOAT_OPAQUE_WHITE)]),
    }
}
