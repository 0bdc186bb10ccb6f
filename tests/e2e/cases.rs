//! The table of illegal samplers and pairs, each with what validation says, what samplin does, and its legal twin.

use crate::scene::{Scene, Shape};
use ash::vk;
use samplin_testkit::{BorderValue, Capability, SamplerDesc};
use serde_json::Value as Json;
use std::ffi::CStr;
use std::fmt;

/// What the validation layer says of the illegal state when samplin is not there. Ids are given by suffix; alternatives of
/// older and newer layers are separated by `|`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Oracle {
    /// Exactly these.
    Reports(&'static [&'static str]),
    /// Some of these and no others: the first of the layer's parts that finds something ends the search.
    ReportsSome(&'static [&'static str]),
    /// These or nothing: not every version of the layer looks.
    MayReport(&'static [&'static str]),
    /// Nothing, although the state is wrong: no valid usage id says so, or the layer does not look.
    Blind,
}

/// An expected change of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    rule: &'static str,
    catalog: &'static str,
    vuid: &'static str,
    field: &'static str,
    from: String,
    /// `$name` and `$-name` stand for the device's limit of that name.
    to: String,
}

impl Expected {
    /// Puts the device's limits in.
    pub(crate) fn on_device(&self, device: &Json) -> Self {
        let to = match self.to.strip_prefix('$') {
            // JSON writes a negative number as the minus sign and the number.
            Some(limit) => match limit.strip_prefix('-') {
                Some(limit) => format!("-{}", device["limits"][limit]),
                None => device["limits"][limit].to_string(),
            },
            None => self.to.clone(),
        };
        Self { to, ..self.clone() }
    }
}

impl PartialEq<Expected> for samplin_testkit::trace::Change {
    fn eq(&self, expected: &Expected) -> bool {
        let vuid = if expected.vuid.is_empty() { self.vuid.is_empty() } else { self.vuid.ends_with(expected.vuid) };
        vuid && (self.rule.as_str(), self.catalog.as_str(), self.field.as_str())
            == (expected.rule, expected.catalog, expected.field)
            && (&self.from, &self.to) == (&expected.from, &expected.to)
            && !self.because.is_empty()
    }
}

/// A change of `field` by a catalogue row.
pub(crate) fn change(
    (rule, catalog, vuid): (&'static str, &'static str, &'static str),
    field: &'static str,
    from: impl fmt::Display,
    to: impl fmt::Display,
) -> Expected {
    Expected { rule, catalog, vuid, field, from: from.to_string(), to: to.to_string() }
}

/// One row.
pub(crate) struct Case {
    /// Name of the test.
    pub(crate) name: &'static str,
    /// What is sampled.
    pub(crate) scene: Scene,
    /// What the application asks for.
    pub(crate) illegal: SamplerDesc,
    /// What it must get.
    pub(crate) legal: SamplerDesc,
    /// What validation says without samplin.
    pub(crate) oracle: Oracle,
    /// The sampler alone is illegal, whatever it is used with.
    pub(crate) alone: bool,
    /// The changes when the sampler is created, in order.
    pub(crate) at_creation: Vec<Expected>,
    /// The changes when the sampler meets the view, in order.
    pub(crate) at_pair: Vec<Expected>,
    /// The legal neighbour.
    pub(crate) twin: (Scene, SamplerDesc),
    /// Abilities that the case needs.
    pub(crate) needs: Vec<Capability>,
    /// Abilities that are left off.
    pub(crate) without: Vec<Capability>,
    /// Extensions that are enabled without their features.
    pub(crate) extensions: Vec<&'static CStr>,
    /// Format features without which the pair is illegal.
    pub(crate) lacks: vk::FormatFeatureFlags,
}

impl Case {
    /// An illegal sampler, made legal when it is created. The twin is the legal state.
    fn alone(name: &'static str, illegal: SamplerDesc, legal: SamplerDesc, oracle: Oracle) -> Self {
        let scene = if legal.unnormalized { RGBA8.flat() } else { RGBA8 };
        Self {
            name,
            scene,
            twin: (scene, legal.clone()),
            illegal,
            legal,
            oracle,
            alone: true,
            at_creation: Vec::new(),
            at_pair: Vec::new(),
            needs: Vec::new(),
            without: Vec::new(),
            extensions: Vec::new(),
            lacks: vk::FormatFeatureFlags::empty(),
        }
    }

    /// A legal sampler that does not go with the view. The twin is the same sampler with a view of `R8G8B8A8_UNORM`.
    fn pair(name: &'static str, scene: Scene, illegal: SamplerDesc, legal: SamplerDesc, oracle: Oracle) -> Self {
        Self { scene, twin: (RGBA8, illegal.clone()), alone: false, ..Self::alone(name, illegal, legal, oracle) }
    }

    fn scene(self, scene: Scene) -> Self {
        Self { scene, twin: (scene, self.twin.1), ..self }
    }

    fn at_creation(mut self, changes: impl IntoIterator<Item = Expected>) -> Self {
        self.at_creation.extend(changes);
        self
    }

    fn at_pair(mut self, changes: impl IntoIterator<Item = Expected>) -> Self {
        self.at_pair.extend(changes);
        self
    }

    fn twin(self, scene: Scene, sampler: SamplerDesc) -> Self {
        Self { twin: (scene, sampler), ..self }
    }

    /// Changes a member of the illegal sampler.
    fn map_illegal(mut self, change: impl Fn(&mut SamplerDesc)) -> Self {
        change(&mut self.illegal);
        self
    }

    /// Changes a member of both samplers.
    fn map_samplers(self, change: impl Fn(&mut SamplerDesc)) -> Self {
        let mut case = self.map_illegal(&change);
        change(&mut case.legal);
        case
    }

    fn needs(mut self, capability: Capability) -> Self {
        self.needs.push(capability);
        self
    }

    fn without(mut self, capability: Capability) -> Self {
        self.without.push(capability);
        self
    }

    fn extension(mut self, name: &'static CStr) -> Self {
        self.extensions.push(name);
        self
    }

    fn lacking(mut self, features: vk::FormatFeatureFlags) -> Self {
        self.lacks |= features;
        self
    }
}

// --- words for the tables -------------------------------------------------------------------------------------------

const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);
const D32: Scene = Scene::depth(vk::Format::D32_SFLOAT);

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
const FLOAT_BLACK: &str = "VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK";
const FLOAT_WHITE: &str = "VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE";
const INT_CLEAR: &str = "VK_BORDER_COLOR_INT_TRANSPARENT_BLACK";
const INT_BLACK: &str = "VK_BORDER_COLOR_INT_OPAQUE_BLACK";
const INT_WHITE: &str = "VK_BORDER_COLOR_INT_OPAQUE_WHITE";
const FLOAT_CUSTOM: &str = "VK_BORDER_COLOR_FLOAT_CUSTOM_EXT";
const INT_CUSTOM: &str = "VK_BORDER_COLOR_INT_CUSTOM_EXT";

/// Validation reports a filter on a view without the LINEAR bit.
const FILTER: Oracle = Oracle::Reports(&["magFilter-04553"]);
/// Validation reports a mipmap mode on a view without the LINEAR bit; only if the filters are NEAREST (H6).
const MIPMAP: Oracle = Oracle::Reports(&["mipmapMode-04770"]);

/// Rule, catalogue row, valid usage id by suffix.
type Row = (&'static str, &'static str, &'static str);
const A1_MAG: Row = ("cubic", "A-1", "magFilter-parameter");
const A1_MIN: Row = ("cubic", "A-1", "minFilter-parameter");
const A1_MIP: Row = ("cubic", "A-1", "mipmapMode-parameter");
const A2: Row = ("lod-bias", "A-2", "mipLodBias-01069");
const A4: Row = ("lod-range", "A-4", "maxLod-01973");
const A5: Row = ("anisotropy", "A-5", "anisotropyEnable-01070");
const A6: Row = ("anisotropy", "A-6", "anisotropyEnable-01071");
const A10: Row = ("unnormalized", "A-10", "unnormalizedCoordinates-01072");
const A11: Row = ("unnormalized", "A-11", "unnormalizedCoordinates-01073");
const A12: Row = ("unnormalized", "A-12", "unnormalizedCoordinates-01074");
const A13: Row = ("unnormalized", "A-13", "unnormalizedCoordinates-01075");
const A14: Row = ("unnormalized", "A-14", "unnormalizedCoordinates-01076");
const A15: Row = ("unnormalized", "A-15", "unnormalizedCoordinates-01077");
const A20_U: Row = ("address-mode", "A-20", "addressModeU-parameter");
const A20_V: Row = ("address-mode", "A-20", "addressModeV-parameter");
const A20_W: Row = ("address-mode", "A-20", "addressModeW-parameter");
const A21: Row = ("mirror-clamp", "A-21", "addressModeU-01079");
const A22: Row = ("border-type", "A-22", "addressModeU-01078");
const A25: Row = ("compare", "A-25", "compareEnable-01080");
const A26: Row = ("reduction", "A-26", "compareEnable-01423");
const A27: Row = ("reduction", "A-27", "pNext-06726");
const A30: Row = ("border-custom", "A-30", "customBorderColors-04085");
const A31: Row = ("border-custom", "A-31", "borderColor-04011");
const A32: Row = ("border-format", "A-32", "format-04014");
const A33: Row = ("border-value", "A-33", "format-07605");
const A34: Row = ("border-value", "A-34", "borderColor-04442");
const A36: Row = ("border-custom", "A-36", "borderColorSwizzle-06437");
const A52: Row = ("flags", "A-52", "nonSeamlessCubeMap-06788");
const A56: Row = ("flags", "A-56", "flags-08110");
const A59: Row = ("reduction", "A-59", "reductionMode-parameter");
const B1: Row = ("linear-filter", "B-1", "magFilter-04553");
const B2: Row = ("linear-mipmap", "B-2", "mipmapMode-04770");
const B3: Row = ("minmax", "B-3", "magFilter-09598");
const B4: Row = ("minmax", "B-4", "mipmapMode-09599");
const B9: Row = ("anisotropy", "B-9", "");
const B15: Row = ("stencil", "B-15", "");
const B16: Row = ("linear-filter", "B-16", "magFilter-04553");
const B50: Row = ("border-type", "B-50", "");
const B51: Row = ("border-type", "B-51", "");
const B52: Row = ("border-swizzle", "B-52", "");
const B53: Row = ("border-swizzle", "B-53", "");
const B54: Row = ("border-swizzle", "B-54", "");
const B55: Row = ("border-swizzle", "B-55", "");
const B56: Row = ("border-format", "B-56", "format-04015");
const B57: Row = ("border-format", "B-57", "");
const B58: Row = ("border-value", "B-58", "");

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

fn nearest() -> SamplerDesc {
    SamplerDesc::nearest()
}

fn linear() -> SamplerDesc {
    SamplerDesc::linear()
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
    vec![
        Case::alone("lod-bias-above-the-limit", bias(40.0), bias(40.0), Reports(&["mipLodBias-01069"]))
            .at_creation([change(A2, "mipLodBias", "40.0", "$maxSamplerLodBias")])
            .twin(RGBA8, bias(1.0)),
        // H1: the older layers compare without taking the absolute value.
        Case::alone("lod-bias-below-the-limit", bias(-40.0), bias(-40.0), MayReport(&["mipLodBias-01069"]))
            .at_creation([change(A2, "mipLodBias", "-40.0", "$-maxSamplerLodBias")])
            .twin(RGBA8, bias(-1.0)),
        // No comparison holds for NaN, those of the validation layer included.
        Case::alone("lod-bias-nan", bias(f32::NAN), bias(0.0), MayReport(&["mipLodBias-01069"])).at_creation([change(
            A2,
            "mipLodBias",
            "NaN",
            "0.0",
        )]),
        Case::alone("lod-range", nearest().lod(2.0, 0.75), nearest().lod(0.75, 2.0), Reports(&["maxLod-01973"]))
            .at_creation([change(A4, "minLod", "2.0", "0.75"), change(A4, "maxLod", "0.75", "2.0")]),
        Case::alone(
            "lod-range-nan",
            nearest().lod(f32::NAN, f32::NAN),
            nearest().lod(0.0, vk::LOD_CLAMP_NONE),
            MayReport(&["maxLod-01973"]),
        )
        .at_creation([change(A4, "minLod", "NaN", "0.0"), change(A4, "maxLod", "NaN", "1000.0")]),
        Case::alone(
            "anisotropy-without-feature",
            linear().anisotropy(4.0),
            linear(),
            Reports(&["anisotropyEnable-01070"]),
        )
        .without(Capability::SamplerAnisotropy)
        .at_creation([off(A5, "anisotropyEnable")]),
        Case::alone("anisotropy-below-one", linear().anisotropy(0.5), linear(), Reports(&["anisotropyEnable-01071"]))
            .needs(Capability::SamplerAnisotropy)
            .at_creation([off(A6, "anisotropyEnable")]),
        Case::alone("anisotropy-nan", linear().anisotropy(f32::NAN), linear(), MayReport(&["anisotropyEnable-01071"]))
            .needs(Capability::SamplerAnisotropy)
            .at_creation([off(A6, "anisotropyEnable")]),
        Case::alone(
            "anisotropy-above-the-limit",
            linear().anisotropy(64.0),
            linear().anisotropy(64.0),
            Reports(&["anisotropyEnable-01071"]),
        )
        .needs(Capability::SamplerAnisotropy)
        .at_creation([change(A6, "maxAnisotropy", "64.0", "$maxSamplerAnisotropy")])
        .twin(RGBA8, linear().anisotropy(2.0)),
        Case::alone(
            "unnormalized-filters",
            SamplerDesc { mag_filter: vk::Filter::LINEAR, ..texels() },
            texels(),
            Reports(&["unnormalizedCoordinates-01072"]),
        )
        .at_creation([change(A10, "magFilter", LINEAR, NEAREST)]),
        Case::alone(
            "unnormalized-mipmap",
            SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..texels() },
            texels(),
            Reports(&["unnormalizedCoordinates-01073"]),
        )
        .at_creation([demote_mip(A11)]),
        Case::alone("unnormalized-lod", texels().lod(0.5, 4.0), texels(), Reports(&["unnormalizedCoordinates-01074"]))
            .at_creation([change(A12, "minLod", "0.5", "0.0"), change(A12, "maxLod", "4.0", "0.0")]),
        Case::alone(
            "unnormalized-address",
            texels().address(Address::REPEAT),
            // The third axis is free.
            SamplerDesc { address: [Address::CLAMP_TO_EDGE, Address::CLAMP_TO_EDGE, Address::REPEAT], ..texels() },
            Reports(&["unnormalizedCoordinates-01075"]),
        )
        .at_creation(addresses(A13, &["addressModeU", "addressModeV"], REPEAT, EDGE)),
        Case::alone(
            "unnormalized-anisotropy",
            texels().anisotropy(4.0),
            texels(),
            Reports(&["unnormalizedCoordinates-01076"]),
        )
        .needs(Capability::SamplerAnisotropy)
        .at_creation([off(A14, "anisotropyEnable")]),
        Case::alone(
            "unnormalized-compare",
            texels().compare(vk::CompareOp::LESS),
            texels(),
            Reports(&["unnormalizedCoordinates-01077"]),
        )
        .at_creation([off(A15, "compareEnable")]),
        Case::alone(
            "mirror-clamp-without-feature",
            linear().address(Address::MIRROR_CLAMP_TO_EDGE),
            linear().address(Address::MIRRORED_REPEAT),
            Reports(&["addressModeU-01079"]),
        )
        .without(Capability::SamplerMirrorClampToEdge)
        .at_creation(addresses(
            A21,
            &["addressModeU", "addressModeV", "addressModeW"],
            "VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE",
            "VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT",
        )),
        Case::alone(
            "address-modes-unknown",
            SamplerDesc { address: [77, 78, -3].map(Address::from_raw), ..nearest() },
            nearest(),
            Reports(&["addressModeU-parameter", "addressModeV-parameter", "addressModeW-parameter"]),
        )
        .at_creation([
            change(A20_U, "addressModeU", 77, EDGE),
            change(A20_V, "addressModeV", 78, EDGE),
            change(A20_W, "addressModeW", -3, EDGE),
        ]),
        Case::alone(
            "filters-unknown",
            SamplerDesc {
                mag_filter: vk::Filter::from_raw(77),
                min_filter: vk::Filter::from_raw(-1),
                mipmap_mode: vk::SamplerMipmapMode::from_raw(9),
                ..nearest()
            },
            nearest(),
            Reports(&["magFilter-parameter", "minFilter-parameter", "mipmapMode-parameter"]),
        )
        .at_creation([
            change(A1_MAG, "magFilter", 77, NEAREST),
            change(A1_MIN, "minFilter", -1, NEAREST),
            change(A1_MIP, "mipmapMode", 9, NEAREST_MIP),
        ]),
        Case::alone(
            "cubic-without-extension",
            SamplerDesc { mag_filter: vk::Filter::CUBIC_EXT, min_filter: vk::Filter::CUBIC_EXT, ..nearest() },
            linear(),
            // The older layers take every enumerant that any extension has added.
            MayReport(&["magFilter-parameter", "minFilter-parameter"]),
        )
        .without(Capability::FilterCubic)
        .without(Capability::FilterCubicImg)
        .at_creation([
            change(A1_MAG, "magFilter", "VK_FILTER_CUBIC_EXT", LINEAR),
            change(A1_MIN, "minFilter", "VK_FILTER_CUBIC_EXT", LINEAR),
        ]),
        Case::alone(
            "compare-op-unknown",
            nearest().compare(vk::CompareOp::from_raw(99)),
            nearest().compare(vk::CompareOp::ALWAYS),
            Reports(&["compareEnable-01080"]),
        )
        .scene(D32)
        .at_creation([change(A25, "compareOp", 99, "VK_COMPARE_OP_ALWAYS")]),
        Case::alone(
            "compare-with-reduction",
            nearest().compare(vk::CompareOp::LESS).reduction(vk::SamplerReductionMode::MIN),
            nearest().compare(vk::CompareOp::LESS),
            Reports(&["compareEnable-01423"]),
        )
        .scene(D32)
        .needs(Capability::SamplerFilterMinmax)
        .at_creation([change(A26, "reductionMode", MIN, AVERAGE)]),
        Case::alone(
            "reduction-without-feature",
            linear().reduction(vk::SamplerReductionMode::MAX),
            linear(),
            Reports(&["pNext-06726"]),
        )
        .without(Capability::SamplerFilterMinmax)
        .at_creation([change(A27, "reductionMode", MAX, AVERAGE)]),
        Case::alone(
            "reduction-unknown",
            linear().reduction(vk::SamplerReductionMode::from_raw(55)),
            linear(),
            Reports(&["reductionMode-parameter"]),
        )
        .needs(Capability::SamplerFilterMinmax)
        .at_creation([change(A59, "reductionMode", 55, AVERAGE)]),
        Case::alone(
            "border-colour-unknown",
            nearest().border(vk::BorderColor::from_raw(99)),
            nearest().border(vk::BorderColor::FLOAT_TRANSPARENT_BLACK),
            Reports(&["addressModeU-01078"]),
        )
        .at_creation([change(A22, "borderColor", 99, FLOAT_CLEAR)]),
        Case::alone(
            "custom-border-without-feature",
            nearest().custom_border(BorderValue::Float([0.9, 0.8, 1.0, 1.0]), vk::Format::R8G8B8A8_UNORM),
            nearest().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
            Reports(&["customBorderColors-04085"]),
        )
        .without(Capability::CustomBorderColor)
        .extension(ash::ext::custom_border_color::NAME)
        .at_creation([change(A30, "borderColor", FLOAT_CUSTOM, FLOAT_WHITE)]),
        // Creation knows no format yet and takes the nearest predefined colour; the view brings its format and the colour back.
        Case::alone(
            "custom-border-without-format-feature",
            nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.8, 1.0]), vk::Format::UNDEFINED),
            nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.8, 1.0]), vk::Format::R8G8B8A8_UNORM),
            Reports(&["format-04014"]),
        )
        .needs(Capability::CustomBorderColor)
        .without(Capability::CustomBorderColorWithoutFormat)
        .at_creation([change(A32, "borderColor", FLOAT_CUSTOM, FLOAT_BLACK)])
        .at_pair([change(A32, "format", "VK_FORMAT_UNDEFINED", "VK_FORMAT_R8G8B8A8_UNORM")]),
        Case::alone(
            "custom-border-without-value",
            nearest().border(vk::BorderColor::FLOAT_CUSTOM_EXT),
            nearest().border(vk::BorderColor::FLOAT_TRANSPARENT_BLACK),
            Reports(&["borderColor-04011"]),
        )
        .needs(Capability::CustomBorderColor)
        .at_creation([change(A31, "borderColor", FLOAT_CUSTOM, FLOAT_CLEAR)]),
        Case::alone(
            "custom-border-of-the-wrong-kind",
            nearest().custom_border(BorderValue::Int([1, 0, 0, 1]), vk::Format::R8G8B8A8_UNORM),
            nearest().custom_border(BorderValue::Float([1.0, 0.0, 0.0, 1.0]), vk::Format::R8G8B8A8_UNORM),
            MayReport(&["format-07605"]),
        )
        .needs(Capability::CustomBorderColor)
        .at_creation([
            change(A33, "borderColor", INT_CUSTOM, FLOAT_CUSTOM),
            change(A33, "customBorderColor", "[1,0,0,1]", "[1.0,0.0,0.0,1.0]"),
        ]),
        // Listed as one that no layer can check.
        Case::alone(
            "custom-border-out-of-range",
            nearest().custom_border(BorderValue::Float([2.0, -1.0, 0.0, 1.0]), vk::Format::R8G8B8A8_UNORM),
            nearest().custom_border(BorderValue::Float([1.0, 0.0, 0.0, 1.0]), vk::Format::R8G8B8A8_UNORM),
            Blind,
        )
        .needs(Capability::CustomBorderColor)
        .at_creation([change(A34, "customBorderColor", "[2.0,-1.0,0.0,1.0]", "[1.0,0.0,0.0,1.0]")]),
        Case::alone(
            "border-mapping-without-feature",
            SamplerDesc {
                border_mapping: Some((vk::ComponentMapping::default(), false)),
                ..nearest().border(vk::BorderColor::FLOAT_OPAQUE_BLACK)
            },
            nearest().border(vk::BorderColor::FLOAT_OPAQUE_BLACK),
            Reports(&["borderColorSwizzle-06437"]),
        )
        .without(Capability::BorderColorSwizzle)
        .extension(ash::ext::border_color_swizzle::NAME)
        .at_creation([change(A36, "components", "present", "")]),
        Case::alone(
            "non-seamless-without-feature",
            SamplerDesc { flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT, ..nearest() },
            nearest(),
            Reports(&["nonSeamlessCubeMap-06788|flags-parameter"]),
        )
        .without(Capability::NonSeamlessCubeMap)
        .extension(ash::ext::non_seamless_cube_map::NAME)
        .at_creation([change(A52, "flags", "[\"VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT\"]", "[]")]),
        Case::alone(
            "capture-replay-without-feature",
            SamplerDesc { flags: vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT, ..nearest() },
            nearest(),
            Reports(&["flags-08110|flags-parameter"]),
        )
        .at_creation([change(
            A56,
            "flags",
            "[\"VK_SAMPLER_CREATE_DESCRIPTOR_BUFFER_CAPTURE_REPLAY_BIT_EXT\"]",
            "[]",
        )]),
        Case::alone(
            "much-at-once",
            SamplerDesc {
                mag_filter: vk::Filter::from_raw(77),
                lod_bias: f32::INFINITY,
                ..linear().anisotropy(-3.0).lod(3.0, 1.0).address(Address::from_raw(i32::MAX))
            },
            SamplerDesc { mag_filter: vk::Filter::NEAREST, lod_bias: 40.0, ..linear().lod(1.0, 3.0) },
            ReportsSome(&[
                "magFilter-parameter",
                "mipLodBias-01069",
                "anisotropyEnable-01071",
                "maxLod-01973",
                "addressModeU-parameter",
                "addressModeV-parameter",
                "addressModeW-parameter",
            ]),
        )
        .needs(Capability::SamplerAnisotropy)
        .twin(RGBA8, linear().lod(1.0, 3.0))
        .at_creation([
            change(A1_MAG, "magFilter", 77, NEAREST),
            change(A20_U, "addressModeU", i32::MAX, EDGE),
            change(A20_V, "addressModeV", i32::MAX, EDGE),
            change(A20_W, "addressModeW", i32::MAX, EDGE),
            off(A6, "anisotropyEnable"),
            change(A2, "mipLodBias", "Infinity", "$maxSamplerLodBias"),
            change(A4, "minLod", "3.0", "1.0"),
            change(A4, "maxLod", "1.0", "3.0"),
        ]),
    ]
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
    use vk::Format as F;
    const LINEAR_BIT: vk::FormatFeatureFlags = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
    let mag = || SamplerDesc { mag_filter: vk::Filter::LINEAR, ..nearest() };
    let min = || SamplerDesc { min_filter: vk::Filter::LINEAR, ..nearest() };
    let trilinear = SamplerDesc::trilinear;
    vec![
        Case::pair("linear-r32-uint", Scene::colour(F::R32_UINT), linear(), nearest(), FILTER).at_pair(demote(B16)),
        Case::pair("mag-linear-r8-sint", Scene::colour(F::R8_SINT), mag(), nearest(), FILTER).at_pair([change(
            B16,
            "magFilter",
            LINEAR,
            NEAREST,
        )]),
        Case::pair("min-linear-rgba16-uint", Scene::colour(F::R16G16B16A16_UINT), min(), nearest(), FILTER)
            .at_pair([change(B16, "minFilter", LINEAR, NEAREST)]),
        Case::pair("mip-linear-rgba8-uint", Scene::colour(F::R8G8B8A8_UINT), mip_linear(), nearest(), MIPMAP)
            .at_pair([demote_mip(B2)]),
        Case::pair("trilinear-rg16-sint", Scene::colour(F::R16G16_SINT), trilinear(), nearest(), FILTER)
            .at_pair(demote(B16))
            .at_pair([demote_mip(B2)]),
        Case::pair("linear-d16", Scene::depth(F::D16_UNORM), linear(), nearest(), FILTER)
            .lacking(LINEAR_BIT)
            .at_pair(demote(B1)),
        Case::pair("mip-linear-d16", Scene::depth(F::D16_UNORM), mip_linear(), nearest(), MIPMAP)
            .lacking(LINEAR_BIT)
            .at_pair([demote_mip(B2)]),
        Case::pair("linear-d32", D32, linear(), nearest(), FILTER).lacking(LINEAR_BIT).at_pair(demote(B1)),
        Case::pair("trilinear-d32-s8-depth", Scene::depth(F::D32_SFLOAT_S8_UINT), trilinear(), nearest(), FILTER)
            .lacking(LINEAR_BIT)
            .at_pair(demote(B1))
            .at_pair([demote_mip(B2)]),
        Case::pair("linear-d24-s8-depth", Scene::depth(F::D24_UNORM_S8_UINT), linear(), nearest(), FILTER)
            .lacking(LINEAR_BIT)
            .at_pair(demote(B1)),
        // H8: the layer judges stencil by the bits of the whole format, which are about depth.
        Case::pair(
            "linear-d32-s8-stencil",
            Scene::stencil(F::D32_SFLOAT_S8_UINT),
            linear(),
            nearest(),
            Oracle::MayReport(&["magFilter-04553"]),
        )
        .at_pair(demote(B15)),
        Case::pair(
            "trilinear-s8",
            Scene::stencil(F::S8_UINT),
            trilinear(),
            nearest(),
            Oracle::MayReport(&["magFilter-04553"]),
        )
        .at_pair(demote(B15))
        .at_pair([demote_mip(B15)]),
        Case::pair(
            "linear-r32-uint-linear-tiling",
            Scene::colour(F::R32_UINT).linear_tiling(),
            linear(),
            nearest(),
            FILTER,
        )
        .twin(RGBA8.linear_tiling(), linear())
        .at_pair(demote(B16)),
        Case::pair("linear-d32-linear-tiling", D32.linear_tiling(), linear(), nearest(), FILTER)
            .lacking(LINEAR_BIT)
            .at_pair(demote(B1)),
        Case::pair("linear-r32-uint-1d", Scene::colour(F::R32_UINT).shape(Shape::D1), linear(), nearest(), FILTER)
            .twin(RGBA8.shape(Shape::D1), linear())
            .at_pair(demote(B16)),
        Case::pair(
            "linear-r16-sint-array",
            Scene::colour(F::R16_SINT).shape(Shape::D2Array),
            linear(),
            nearest(),
            FILTER,
        )
        .twin(RGBA8.shape(Shape::D2Array), linear())
        .at_pair(demote(B16)),
        Case::pair(
            "trilinear-rgba8-uint-3d",
            Scene::colour(F::R8G8B8A8_UINT).shape(Shape::D3),
            trilinear(),
            nearest(),
            FILTER,
        )
        .twin(RGBA8.shape(Shape::D3), trilinear())
        .at_pair(demote(B16))
        .at_pair([demote_mip(B2)]),
        // A seamless cube ignores its address modes, so a border of the wrong kind is no reason to change anything.
        Case::pair(
            "linear-r32-uint-cube",
            Scene::colour(F::R32_UINT).shape(Shape::Cube),
            linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
            nearest(),
            FILTER,
        )
        .twin(RGBA8.shape(Shape::Cube), linear().border(vk::BorderColor::INT_OPAQUE_WHITE))
        .at_pair(demote(B16)),
        // A filter that becomes NEAREST takes the anisotropy with it, which is not defined with NEAREST.
        Case::pair("anisotropic-r32-uint", Scene::colour(F::R32_UINT), linear().anisotropy(4.0), nearest(), FILTER)
            .needs(Capability::SamplerAnisotropy)
            .at_pair(demote(B16))
            .at_pair([off(B9, "anisotropyEnable")]),
        Case::pair(
            "linear-r32-uint-unnormalized",
            Scene::colour(F::R32_UINT).flat(),
            SamplerDesc::unnormalized(vk::Filter::LINEAR),
            texels(),
            FILTER,
        )
        .twin(RGBA8.flat(), SamplerDesc::unnormalized(vk::Filter::LINEAR))
        .at_pair(demote(B16)),
        Case::pair(
            "linear-r32-uint-repeat-and-bias",
            Scene::colour(F::R32_UINT),
            SamplerDesc { lod_bias: 0.75, ..linear().address(vk::SamplerAddressMode::MIRRORED_REPEAT).lod(0.25, 1.75) },
            SamplerDesc {
                lod_bias: 0.75,
                ..nearest().address(vk::SamplerAddressMode::MIRRORED_REPEAT).lod(0.25, 1.75)
            },
            FILTER,
        )
        .at_pair(demote(B16)),
        // What was changed at creation is not told again with the view.
        Case {
            alone: true,
            ..Case::pair(
                "linear-r32-uint-and-lod-range",
                Scene::colour(F::R32_UINT),
                linear().lod(2.0, 0.75),
                nearest().lod(0.75, 2.0),
                Oracle::Reports(&["maxLod-01973"]),
            )
        }
        .twin(RGBA8, linear().lod(0.75, 2.0))
        .at_creation([change(A4, "minLod", "2.0", "0.75"), change(A4, "maxLod", "0.75", "2.0")])
        .at_pair(demote(B16)),
    ]
}

fn reductions() -> Vec<Case> {
    use vk::Format as F;
    const MINMAX_BIT: vk::FormatFeatureFlags = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX;
    let (min, max) = (vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX);
    let minmax = |case: Case| case.needs(Capability::SamplerFilterMinmax).lacking(MINMAX_BIT);
    // Averaging is not what was asked for, so the texel itself, its own minimum and maximum, takes the footprint's place.
    vec![
        minmax(Case::pair(
            "min-linear-rgba8",
            RGBA8,
            linear().reduction(min),
            nearest(),
            Oracle::MayReport(&["magFilter-09598"]),
        ))
        .twin(Scene::colour(F::R32_SFLOAT), linear().reduction(min))
        .at_pair(demote(B3))
        .at_pair([change(B3, "reductionMode", MIN, AVERAGE)]),
        minmax(Case::pair(
            "max-mip-linear-rgba8",
            RGBA8,
            mip_linear().reduction(max),
            nearest(),
            Oracle::MayReport(&["mipmapMode-09599"]),
        ))
        .twin(Scene::colour(F::R8_UNORM), linear().reduction(max))
        .at_pair([demote_mip(B4), change(B4, "reductionMode", MAX, AVERAGE)]),
        minmax(Case::pair(
            "max-trilinear-r32-uint",
            Scene::colour(F::R32_UINT),
            SamplerDesc::trilinear().reduction(max),
            nearest(),
            // The older layers ask for the bit of averaging.
            Oracle::Reports(&["magFilter-09598|magFilter-04553"]),
        ))
        .twin(Scene::colour(F::R16_UNORM), linear().reduction(min))
        .at_pair(demote(B3))
        .at_pair([demote_mip(B4), change(B3, "reductionMode", MAX, AVERAGE)]),
    ]
}

fn borders() -> Vec<Case> {
    use Oracle::Blind;
    use vk::BorderColor as B;
    use vk::Format as F;
    // No valid usage id: the specification says that the texels are undefined.
    let wrong =
        |name, scene, from: B, to: B| Case::pair(name, scene, nearest().border(from), nearest().border(to), Blind);
    let uint = Scene::colour(F::R8G8B8A8_UINT);
    let stencil = Scene::stencil(F::S8_UINT);
    vec![
        wrong("int-white-border-rgba8", RGBA8, B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)
            .twin(uint, nearest().border(B::INT_OPAQUE_WHITE))
            .at_pair([change(B50, "borderColor", INT_WHITE, FLOAT_WHITE)]),
        wrong("int-black-border-d32", D32, B::INT_OPAQUE_BLACK, B::FLOAT_OPAQUE_BLACK)
            .twin(stencil, nearest().border(B::INT_OPAQUE_BLACK))
            .at_pair([change(B50, "borderColor", INT_BLACK, FLOAT_BLACK)]),
        // White is 1, not the largest integer.
        wrong("float-white-border-rgba8-uint", uint, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)
            .twin(RGBA8, nearest().border(B::FLOAT_OPAQUE_WHITE))
            .at_pair([change(B51, "borderColor", FLOAT_WHITE, INT_WHITE)]),
        wrong(
            "float-clear-border-r8-sint",
            Scene::colour(F::R8_SINT),
            B::FLOAT_TRANSPARENT_BLACK,
            B::INT_TRANSPARENT_BLACK,
        )
        .twin(RGBA8, nearest().border(B::FLOAT_TRANSPARENT_BLACK))
        .at_pair([change(B51, "borderColor", FLOAT_CLEAR, INT_CLEAR)]),
        wrong("float-white-border-s8", stencil, B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE)
            .twin(D32, nearest().border(B::FLOAT_OPAQUE_WHITE))
            .at_pair([change(B51, "borderColor", FLOAT_WHITE, INT_WHITE)]),
        wrong("int-white-border-rgba8-3d", RGBA8.shape(Shape::D3), B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)
            .twin(uint.shape(Shape::D3), nearest().border(B::INT_OPAQUE_WHITE))
            .at_pair([change(B50, "borderColor", INT_WHITE, FLOAT_WHITE)]),
        Case::pair(
            "float-white-border-and-linear-r32-uint",
            Scene::colour(F::R32_UINT),
            linear().border(B::FLOAT_OPAQUE_WHITE),
            nearest().border(B::INT_OPAQUE_WHITE),
            FILTER,
        )
        .at_pair(demote(B16))
        .at_pair([change(B51, "borderColor", FLOAT_WHITE, INT_WHITE)]),
        Case::pair(
            "custom-int-border-rgba8",
            RGBA8,
            nearest().custom_border(BorderValue::Int([1, 0, 1, 0]), F::UNDEFINED),
            nearest().custom_border(BorderValue::Float([1.0, 0.0, 1.0, 0.0]), F::UNDEFINED),
            Blind,
        )
        .needs(Capability::CustomBorderColorWithoutFormat)
        .twin(uint, nearest().custom_border(BorderValue::Int([1, 0, 7, 0]), F::UNDEFINED))
        .at_pair([
            change(B50, "borderColor", INT_CUSTOM, FLOAT_CUSTOM),
            change(B50, "customBorderColor", "[1,0,1,0]", "[1.0,0.0,1.0,0.0]"),
        ]),
        // Address modes count on the faces of a cube that is not seamless.
        wrong(
            "int-white-border-non-seamless-cube",
            RGBA8.shape(Shape::Cube),
            B::INT_OPAQUE_WHITE,
            B::FLOAT_OPAQUE_WHITE,
        )
        .map_samplers(|sampler| sampler.flags = vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT)
        .needs(Capability::NonSeamlessCubeMap)
        .twin(RGBA8.shape(Shape::Cube), nearest().border(B::INT_OPAQUE_WHITE))
        .at_pair([change(B50, "borderColor", INT_WHITE, FLOAT_WHITE)]),
        Case::pair(
            "custom-border-without-format-b4g4r4a4",
            Scene::colour(F::B4G4R4A4_UNORM_PACK16),
            nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.6, 0.8]), F::UNDEFINED),
            nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.6, 0.8]), F::B4G4R4A4_UNORM_PACK16),
            Oracle::Reports(&["format-04015"]),
        )
        .needs(Capability::CustomBorderColorWithoutFormat)
        .at_pair([change(B56, "format", "VK_FORMAT_UNDEFINED", "VK_FORMAT_B4G4R4A4_UNORM_PACK16")]),
        // The statement does not ask whether the border is ever seen; one that is not is worth no custom colour.
        Case::pair(
            "custom-border-without-format-unseen",
            Scene::colour(F::B4G4R4A4_UNORM_PACK16),
            unseen(nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.6, 0.8]), F::UNDEFINED)),
            unseen(nearest().border(B::FLOAT_OPAQUE_BLACK)),
            Oracle::Reports(&["format-04015"]),
        )
        .needs(Capability::CustomBorderColorWithoutFormat)
        .at_pair([change(B56, "borderColor", FLOAT_CUSTOM, "VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK")]),
        Case::pair(
            "custom-border-of-another-format",
            Scene::colour(F::R32_SFLOAT),
            nearest().custom_border(BorderValue::Float([0.6, 0.0, 0.0, 1.0]), F::R8G8B8A8_UNORM),
            nearest().custom_border(BorderValue::Float([0.6, 0.0, 0.0, 1.0]), F::R32_SFLOAT),
            Blind,
        )
        .needs(Capability::CustomBorderColor)
        .at_pair([change(B57, "format", "VK_FORMAT_R8G8B8A8_UNORM", "VK_FORMAT_R32_SFLOAT")]),
        Case::pair(
            "custom-border-beyond-the-view",
            RGBA8,
            nearest().custom_border(BorderValue::Float([2.0, -1.0, 0.0, 1.0]), F::UNDEFINED),
            nearest().custom_border(BorderValue::Float([1.0, 0.0, 0.0, 1.0]), F::UNDEFINED),
            Blind,
        )
        .needs(Capability::CustomBorderColorWithoutFormat)
        .twin(
            Scene::colour(F::R32_SFLOAT),
            nearest().custom_border(BorderValue::Float([2.0, 0.0, 0.0, 1.0]), F::UNDEFINED),
        )
        .at_pair([change(B58, "customBorderColor", "[2.0,-1.0,0.0,1.0]", "[1.0,0.0,0.0,1.0]")]),
        Case::pair(
            "custom-border-of-stencil",
            stencil,
            nearest().custom_border(BorderValue::Uint([300, 9, 0, 0]), F::UNDEFINED),
            nearest().custom_border(BorderValue::Uint([255, 9, 0, 0]), F::UNDEFINED),
            Blind,
        )
        .needs(Capability::CustomBorderColorWithoutFormat)
        // R and G may differ: which is read depends on the implementation.
        .twin(stencil, nearest().custom_border(BorderValue::Uint([7, 9, 0, 0]), F::UNDEFINED))
        .at_pair([change(B58, "customBorderColor", "[300,9,0,0]", "[255,9,0,0]")]),
    ]
}

/// Border colours that a swizzle changes.
fn swizzled_borders() -> Vec<Case> {
    use vk::BorderColor as B;
    use vk::ComponentSwizzle as S;
    const MAPPING: vk::ComponentMapping = vk::ComponentMapping { r: S::A, g: S::A, b: S::IDENTITY, a: S::A };
    const SWIZZLED: Scene = Scene { components: MAPPING, ..RGBA8 };
    let mapped = |sampler: SamplerDesc| SamplerDesc { border_mapping: Some((MAPPING, false)), ..sampler };
    let black = || nearest().border(B::FLOAT_OPAQUE_BLACK);
    let custom = || nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.6, 0.8]), vk::Format::R8G8B8A8_UNORM);
    let aaba = "{\"components\":\"aaba\",\"srgb\":false}";
    let with_mapping =
        |case: Case| case.needs(Capability::BorderColorSwizzle).without(Capability::BorderColorSwizzleFromImage);
    let without =
        |case: Case| case.without(Capability::BorderColorSwizzle).without(Capability::BorderColorSwizzleFromImage);
    vec![
        with_mapping(Case::pair("opaque-black-border-swizzled", SWIZZLED, black(), mapped(black()), Oracle::Blind))
            .at_pair([change(B52, "components", "", aaba)]),
        with_mapping(Case::pair("custom-border-swizzled", SWIZZLED, custom(), mapped(custom()), Oracle::Blind))
            .at_pair([change(B53, "components", "", aaba)]),
        with_mapping(Case::pair(
            "border-mapping-of-another-view",
            SWIZZLED,
            mapped(black()),
            mapped(black()),
            Oracle::Blind,
        ))
        .map_illegal(|sampler| {
            let other = vk::ComponentMapping { g: S::ZERO, ..MAPPING };
            sampler.border_mapping = Some((other, false));
        })
        .twin(SWIZZLED, mapped(black()))
        .at_pair([change(B54, "components", "{\"components\":\"a0ba\",\"srgb\":false}", aaba)]),
        with_mapping(Case::pair("border-mapping-srgb", SWIZZLED, mapped(black()), mapped(black()), Oracle::Blind))
            .map_illegal(|sampler| sampler.border_mapping = Some((MAPPING, true)))
            .twin(SWIZZLED, mapped(black()))
            .at_pair([change(B55, "components", "{\"components\":\"aaba\",\"srgb\":true}", aaba)]),
        // Without the feature a colour that no swizzle changes has to do: white shows one wrong component, black three.
        without(Case::pair(
            "opaque-black-border-swizzled-without-feature",
            SWIZZLED,
            black(),
            nearest().border(B::FLOAT_OPAQUE_WHITE),
            Oracle::Blind,
        ))
        .at_pair([change(B52, "borderColor", FLOAT_BLACK, FLOAT_WHITE)]),
        without(Case::pair(
            "custom-border-swizzled-without-feature",
            SWIZZLED,
            custom(),
            nearest().border(B::FLOAT_OPAQUE_WHITE),
            Oracle::Blind,
        ))
        .needs(Capability::CustomBorderColor)
        .at_pair([change(B53, "borderColor", FLOAT_CUSTOM, FLOAT_WHITE)]),
    ]
}
