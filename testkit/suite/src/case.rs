//! What the suites share to say a case: a [`Case`] is a view and a sampler that do or do not go together, what validation says of them,
//! the changes that samplin must list, and the sampler whose values must come out. Suites run it each in their own way.

use crate::run::{Outcome, Skip, assert_silent, skip_if, without_layer};
use crate::scene::{Scene, Shape};
use ash::vk;
use samplin_testkit::trace::RecordedChange;
use samplin_testkit::{
    BorderValue, Capability, Context, ContextBuilder, Message, Pair, SamplerDesc, Value, reference, sample,
};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fmt;

pub use vk::BorderColor as B;
pub use vk::Format as F;

/// A table: rows that rustfmt leaves as they are, because each takes a line or a few.
#[macro_export]
macro_rules! rows {
    ($($row:expr),* $(,)?) => { vec![$($row),*] };
}

// --- what validation says -------------------------------------------------------------------------------------------

/// What the validation layer says of the illegal state when samplin is not there. Ids are given by suffix; alternatives of
/// older and newer layers are separated by `|`.
#[derive(Clone, Copy, Debug)]
pub enum Oracle {
    /// Exactly these.
    Reports(&'static [&'static str]),
    /// Some of these and no others: the first of the layer's parts that finds something ends the search.
    ReportsSome(&'static [&'static str]),
    /// These or nothing: not every version of the layer looks.
    MayReport(&'static [&'static str]),
    /// Nothing, although the state is wrong: no valid usage id says so, or the layer does not look.
    Blind,
}

impl Oracle {
    /// What it says where not every version pairs image and sampler: in different sets, in functions, and in arrays.
    pub fn where_seen(self) -> Self {
        match self {
            Self::Reports(ids) => Self::MayReport(ids),
            other => other,
        }
    }

    /// Panics if the errors are others.
    pub fn assert(self, errors: &[Message], what: &str) {
        match self {
            Self::Reports(expected) => assert_reported(errors, expected, what),
            Self::ReportsSome(expected) => {
                assert!(!errors.is_empty(), "{what}: expected some of {expected:?}");
                assert_known(errors, expected, what);
            }
            Self::MayReport(expected) if !errors.is_empty() => assert_reported(errors, expected, what),
            Self::MayReport(_) => {}
            Self::Blind => assert_silent(errors, what),
        }
    }
}

/// The distinct ids of errors.
fn ids(errors: &[Message]) -> BTreeSet<&str> {
    errors.iter().map(|message| message.id.as_str()).collect()
}

/// Whether an id is one of the alternatives in `suffixes`, which are separated by `|`.
fn is_one_of(id: &str, suffixes: &str) -> bool {
    suffixes.split('|').any(|suffix| id.ends_with(suffix))
}

/// Asserts that no error is another than the given ones.
fn assert_known(errors: &[Message], known: &[&str], what: &str) {
    let ids = ids(errors);
    let is_known = |id: &&str| known.iter().any(|suffixes| is_one_of(id, suffixes));
    assert!(ids.iter().all(is_known), "{what}: reported {ids:?}, expected only {known:?}: {errors:#?}");
}

/// Asserts that the errors are the expected ones, all of them and no others.
pub fn assert_reported(errors: &[Message], expected: &[&str], what: &str) {
    assert_known(errors, expected, what);
    let ids = ids(errors);
    let all = expected.iter().all(|suffixes| ids.iter().any(|id| is_one_of(id, suffixes)));
    assert!(all, "{what}: reported {ids:?}, expected all of {expected:?}: {errors:#?}");
}

/// Runs `body` without samplin, where the validation layer has to report exactly these; see [`without_layer`].
pub fn reported<R>(
    builder: ContextBuilder,
    ids: &[&str],
    body: impl FnOnce(&Context) -> Result<R, Skip>,
) -> Result<R, Skip> {
    let (result, errors) = without_layer(builder, body)?;
    assert_reported(&errors, ids, "without samplin");
    Ok(result)
}

// --- what is changed ------------------------------------------------------------------------------------------------

/// Rule, catalogue row, valid usage id by suffix.
pub type Row = (&'static str, &'static str, &'static str);

/// An expected change of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    row: Row,
    field: &'static str,
    from: String,
    /// `$name` and `$-name` stand for the device's limit of that name.
    to: String,
}

impl Expected {
    /// Puts the device's limits in.
    pub fn on_device(&self, device: &Json) -> Self {
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

impl PartialEq<Expected> for RecordedChange {
    fn eq(&self, expected: &Expected) -> bool {
        let (rule, catalog, vuid) = expected.row;
        let vuid = if vuid.is_empty() { self.vuid.is_empty() } else { self.vuid.ends_with(vuid) };
        vuid && (self.rule.as_str(), self.catalog.as_str(), self.field.as_str()) == (rule, catalog, expected.field)
            && (&self.from, &self.to) == (&expected.from, &expected.to)
            && !self.because.is_empty()
    }
}

/// A change of `field` by a catalogue row.
pub fn change(row: Row, field: &'static str, from: impl fmt::Display, to: impl fmt::Display) -> Expected {
    Expected { row, field, from: from.to_string(), to: to.to_string() }
}

/// A border colour that becomes another one.
pub fn colour(row: Row, from: vk::BorderColor, to: vk::BorderColor) -> Expected {
    let name = |color| format!("VK_BORDER_COLOR_{color:?}");
    change(row, "borderColor", name(from), name(to))
}

/// The value of a custom border colour that becomes another one.
pub fn value(row: Row, from: impl Into<Json>, to: impl Into<Json>) -> Expected {
    change(row, "customBorderColor", from.into(), to.into())
}

/// The format of a custom border colour that becomes another one; names without prefix.
pub fn format(row: Row, from: &str, to: &str) -> Expected {
    change(row, "format", format!("VK_FORMAT_{from}"), format!("VK_FORMAT_{to}"))
}

// --- samplers -------------------------------------------------------------------------------------------------------

/// The sampler that most tables start from.
pub fn nearest() -> SamplerDesc {
    SamplerDesc::nearest()
}

/// One with LINEAR filters.
pub fn linear() -> SamplerDesc {
    SamplerDesc::linear()
}

/// One with a predefined border colour on every axis.
pub fn border(color: vk::BorderColor) -> SamplerDesc {
    nearest().border(color)
}

/// One with a custom border colour of floats.
pub fn custom_float(value: [f32; 4], format: vk::Format) -> SamplerDesc {
    nearest().custom_border(BorderValue::Float(value), format)
}

/// One with a custom border colour of integers.
pub fn custom_int(value: [i32; 4], format: vk::Format) -> SamplerDesc {
    nearest().custom_border(BorderValue::Int(value), format)
}

/// The same of unsigned ones.
pub fn custom_uint(value: [u32; 4], format: vk::Format) -> SamplerDesc {
    nearest().custom_border(BorderValue::Uint(value), format)
}

// --- a case ---------------------------------------------------------------------------------------------------------

/// A view and a sampler.
#[derive(Clone)]
pub struct Case {
    /// Name of the test.
    pub name: Cow<'static, str>,
    /// What is sampled.
    pub scene: Scene,
    /// What the application asks for.
    pub sampler: SamplerDesc,
    /// The sampler whose values must come out.
    pub legal: SamplerDesc,
    /// The legal neighbour.
    pub twin: (Scene, SamplerDesc),
    /// What validation says without samplin.
    pub oracle: Oracle,
    /// The sampler alone is illegal, whatever it is used with.
    pub alone: bool,
    /// The changes when the sampler is created, in order.
    pub at_creation: Vec<Expected>,
    /// The changes when the sampler meets the view, in order.
    pub at_pair: Vec<Expected>,
    /// The rule that stays broken.
    pub left: Option<&'static str>,
    /// Abilities that the case needs.
    pub needs: Vec<Capability>,
    /// Abilities that are left off.
    pub without: Vec<Capability>,
    /// Extensions that are enabled without their features.
    pub extensions: Vec<&'static CStr>,
    /// Settings of the layer.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Format features without which the pair is illegal.
    pub lacks: vk::FormatFeatureFlags,
    /// Format features without which it is not legal.
    pub wants: vk::FormatFeatureFlags,
    /// The reference knows what comes out; else only the driver does.
    pub referenced: bool,
    /// Mesa's software driver returns something else without samplin.
    pub visible: bool,
    /// A part of the name of a driver that crashes here, without samplin; empty for none.
    pub crashes: &'static str,
}

macro_rules! adds {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        $($(#[$doc])* pub fn $name(mut self, all: impl IntoIterator<Item = $type>) -> Self {
            self.$name.extend(all);
            self
        })*
    };
}

impl Case {
    /// A sampler that is legal with this view. Cubes and anisotropy are beyond the reference.
    pub fn legal(name: impl Into<Cow<'static, str>>, scene: Scene, sampler: SamplerDesc) -> Self {
        Self {
            name: name.into(),
            scene,
            legal: sampler.clone(),
            twin: (scene, sampler.clone()),
            referenced: scene.shape != Shape::Cube && !sampler.anisotropy_enable,
            sampler,
            oracle: Oracle::Blind,
            alone: false,
            at_creation: Vec::new(),
            at_pair: Vec::new(),
            left: None,
            needs: Vec::new(),
            without: Vec::new(),
            extensions: Vec::new(),
            settings: Vec::new(),
            lacks: vk::FormatFeatureFlags::empty(),
            wants: vk::FormatFeatureFlags::empty(),
            visible: false,
            crashes: "",
        }
    }

    /// A sampler that does not go with the view. The twin is the same sampler with a view of `R8G8B8A8_UNORM`.
    pub fn pair(
        name: impl Into<Cow<'static, str>>,
        scene: Scene,
        illegal: SamplerDesc,
        legal: SamplerDesc,
        oracle: Oracle,
    ) -> Self {
        let twin = (Scene::RGBA8, illegal.clone());
        let referenced = scene.shape != Shape::Cube && !legal.anisotropy_enable;
        Self { legal, oracle, twin, referenced, ..Self::legal(name, scene, illegal) }
    }

    /// An illegal sampler, made legal when it is created. The twin is the legal state.
    pub fn alone(name: &'static str, illegal: SamplerDesc, legal: SamplerDesc, oracle: Oracle) -> Self {
        let scene = if legal.unnormalized { Scene::RGBA8.flat() } else { Scene::RGBA8 };
        Self { alone: true, twin: (scene, legal.clone()), ..Self::pair(name, scene, illegal, legal, oracle) }
    }

    /// With another view, that of the twin as well.
    pub fn scene(self, scene: Scene) -> Self {
        Self { scene, twin: (scene, self.twin.1), ..self }
    }

    /// With another twin.
    pub fn twin(self, scene: Scene, sampler: SamplerDesc) -> Self {
        Self { twin: (scene, sampler), ..self }
    }

    /// Changes a member of the illegal sampler.
    pub fn map_illegal(mut self, change: impl Fn(&mut SamplerDesc)) -> Self {
        change(&mut self.sampler);
        self
    }

    /// Changes a member of both samplers.
    pub fn map_samplers(self, change: impl Fn(&mut SamplerDesc)) -> Self {
        let mut case = self.map_illegal(&change);
        change(&mut case.legal);
        case
    }

    adds! {
        /// Changes when the sampler is created.
        at_creation: Expected;
        /// Changes when the sampler meets the view.
        at_pair: Expected;
        /// What the device must have.
        needs: Capability;
        /// What is left off.
        without: Capability;
        /// Extensions that are enabled without their features.
        extensions: &'static CStr;
        /// Settings of the layer.
        settings: (&'static str, &'static str);
    }

    /// On devices whose format lacks these features.
    pub fn lacking(self, features: vk::FormatFeatureFlags) -> Self {
        Self { lacks: self.lacks | features, ..self }
    }

    /// Validation objects all the same, in error.
    pub fn alarms(self, ids: &'static [&'static str]) -> Self {
        Self { oracle: Oracle::MayReport(ids), ..self }
    }

    /// On devices whose format has these features.
    pub fn wanting(self, features: vk::FormatFeatureFlags) -> Self {
        Self { wants: self.wants | features, ..self }
    }

    /// What comes out is the driver's matter.
    pub fn unreferenced(self) -> Self {
        Self { referenced: false, ..self }
    }

    /// This driver crashes, without samplin.
    pub fn crashes(self, driver: &'static str) -> Self {
        Self { crashes: driver, ..self }
    }

    /// The sampler alone is illegal as well.
    pub fn alone_too(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Mesa's software driver shows the difference.
    pub fn visible(self) -> Self {
        Self { visible: true, ..self }
    }

    /// The same view with the sampler that suits it.
    pub fn repaired(&self) -> Self {
        Self { sampler: self.legal.clone(), ..self.clone() }
    }

    /// The same sampler with the view of the twin, which it suits.
    pub fn good(&self) -> Self {
        Self { scene: self.twin.0, legal: self.sampler.clone(), ..self.clone() }
    }

    /// The context that it asks for.
    pub fn builder(&self) -> ContextBuilder {
        let builder = self.without.iter().fold(Context::builder(), |builder, capability| builder.without(*capability));
        let builder = self.extensions.iter().fold(builder, |builder, name| builder.extension(name));
        self.settings.iter().fold(builder, |builder, (key, value)| builder.setting(key, value))
    }

    /// Skips where the device lacks what is needed, and where it makes what is illegal legal or the other way round.
    pub fn check(&self, context: &Context) -> Outcome {
        skip_if(context.missing(&self.needs))?;
        let (device, format, features) = (context.device_name(), self.scene.format, self.scene.features(context));
        if !self.crashes.is_empty() && device.contains(self.crashes) {
            return Err(Skip(format!("{device} crashes by itself")));
        }
        let (present, missing) = (features & self.lacks, self.wants & !features);
        if !present.is_empty() {
            return Err(Skip(format!("{device} has {present:?} for {format:?}, so the pair is legal")));
        }
        if !missing.is_empty() {
            return Err(Skip(format!("{device} lacks {missing:?} for {format:?}, so the pair is not legal")));
        }
        Ok(())
    }

    /// Samples its view with its sampler.
    pub fn look(&self, context: &Context) -> Result<Look, Skip> {
        self.check(context)?;
        look(context, &self.scene, &self.sampler, &self.legal)
    }

    /// Asserts that the trace lists its changes and no others.
    pub fn assert_changes(&self, judged: &crate::run::Judged) {
        let device = judged.trace.first("device");
        for (event, expected) in [("sampler", &self.at_creation), ("pair", &self.at_pair)] {
            let expected: Vec<Expected> = expected.iter().map(|change| change.on_device(device)).collect();
            assert_eq!(judged.changes(event), expected, "{event} changes: left the trace, right the expected ones");
            assert_eq!(judged.trace.events(event).count(), usize::from(!expected.is_empty()), "{event} records");
        }
        let unresolved: Vec<_> = judged.trace.events("unresolved").collect();
        let rules: Vec<_> = unresolved.iter().map(|record| record["rule"].as_str().expect("a rule")).collect();
        assert_eq!(rules, Vec::from_iter(self.left), "{unresolved:#?}");
    }
}

/// Whether the reference cannot tell the result (of cubes, and with anisotropy, which even explicit LODs get on some drivers), so
/// that the driver's own result with the legal sampler takes its place.
pub fn is_beyond_reference(scene: &Scene, legal: &SamplerDesc) -> bool {
    scene.shape == Shape::Cube || legal.anisotropy_enable
}

/// How many pairs [`look`] writes.
pub fn looks(scene: &Scene, legal: &SamplerDesc) -> u32 {
    1 + u32::from(is_beyond_reference(scene, legal))
}

/// What sampling gave, and what it had to give.
pub struct Look {
    /// By the sampler.
    pub got: Vec<Value>,
    /// By the legal one: of the reference, or of the driver.
    pub wanted: Vec<Value>,
}

/// Samples a scene with `sampler`, by the kind of lookup that goes with `legal`.
pub fn look(context: &Context, scene: &Scene, sampler: &SamplerDesc, legal: &SamplerDesc) -> Result<Look, Skip> {
    let image = scene.image(context)?;
    let view = scene.view(&image);
    let made = sampler.create(context);
    let mut pair = Pair::new(&view, &made);
    if legal.compare_enable {
        pair = pair.shadow();
    }
    let points = scene.points(legal.unnormalized);
    let got = sample(context, pair, &points);
    let legal = on_device(legal, context);
    let wanted = if is_beyond_reference(scene, &legal) {
        let made = legal.create(context);
        sample(context, Pair { sampler: &made, ..pair }, &points)
    } else {
        let texture = reference::Texture::read(&image, &view);
        let limit = context.limits().max_sampler_lod_bias;
        points.iter().map(|point| reference::sample(&texture, &legal, point, limit)).collect()
    };
    Ok(Look { got, wanted })
}

/// A sampler within the device's limits.
fn on_device(sampler: &SamplerDesc, context: &Context) -> SamplerDesc {
    let (limits, mut sampler) = (context.limits(), sampler.clone());
    if sampler.anisotropy_enable {
        sampler.max_anisotropy = sampler.max_anisotropy.min(limits.max_sampler_anisotropy);
    }
    sampler.lod_bias = sampler.lod_bias.clamp(-limits.max_sampler_lod_bias, limits.max_sampler_lod_bias);
    sampler
}

pub use samplin_testkit::scene::first_difference;

/// Whether two results agree: exactly for integers, else within what drivers may round.
pub fn assert_same(got: &[Value], wanted: &[Value], legal: &SamplerDesc, scene: &Scene, what: &str) {
    assert_within(got, wanted, scene.tolerance(legal), (scene, legal.unnormalized), what);
}

/// Whether two results agree within `tolerance`; whether coordinates were texels.
pub fn assert_within(got: &[Value], wanted: &[Value], tolerance: f64, (scene, texels): (&Scene, bool), what: &str) {
    if let Some(index) = first_difference(got, wanted, scene, tolerance) {
        let point = scene.points(texels)[index];
        panic!("{what}: {:?} is not {:?} at {point:?}", got[index], wanted[index]);
    }
}

// --- rows of the catalogue, as the specification and not the code has them -------------------------------------------

#[allow(missing_docs, reason = "each says its rule, its row and its valid usage")]
pub mod rows {
    use super::Row;

    pub const A1_MAG: Row = ("cubic", "A-1", "magFilter-parameter");
    pub const A1_MIN: Row = ("cubic", "A-1", "minFilter-parameter");
    pub const A1_MIP: Row = ("cubic", "A-1", "mipmapMode-parameter");
    pub const A2: Row = ("lod-bias", "A-2", "mipLodBias-01069");
    pub const A4: Row = ("lod-range", "A-4", "maxLod-01973");
    pub const A5: Row = ("anisotropy", "A-5", "anisotropyEnable-01070");
    pub const A6: Row = ("anisotropy", "A-6", "anisotropyEnable-01071");
    pub const A10: Row = ("unnormalized", "A-10", "unnormalizedCoordinates-01072");
    pub const A11: Row = ("unnormalized", "A-11", "unnormalizedCoordinates-01073");
    pub const A12: Row = ("unnormalized", "A-12", "unnormalizedCoordinates-01074");
    pub const A13: Row = ("unnormalized", "A-13", "unnormalizedCoordinates-01075");
    pub const A14: Row = ("unnormalized", "A-14", "unnormalizedCoordinates-01076");
    pub const A15: Row = ("unnormalized", "A-15", "unnormalizedCoordinates-01077");
    pub const A20_U: Row = ("address-mode", "A-20", "addressModeU-parameter");
    pub const A20_V: Row = ("address-mode", "A-20", "addressModeV-parameter");
    pub const A20_W: Row = ("address-mode", "A-20", "addressModeW-parameter");
    pub const A21: Row = ("mirror-clamp", "A-21", "addressModeU-01079");
    pub const A22: Row = ("border-type", "A-22", "addressModeU-01078");
    pub const A25: Row = ("compare", "A-25", "compareEnable-01080");
    pub const A26: Row = ("reduction", "A-26", "compareEnable-01423");
    pub const A27: Row = ("reduction", "A-27", "pNext-06726");
    pub const A30: Row = ("border-custom", "A-30", "customBorderColors-04085");
    pub const A31: Row = ("border-custom", "A-31", "borderColor-04011");
    pub const A32: Row = ("border-format", "A-32", "format-04014");
    pub const A33: Row = ("border-value", "A-33", "format-07605");
    pub const A34: Row = ("border-value", "A-34", "borderColor-04442");
    pub const A36: Row = ("border-custom", "A-36", "borderColorSwizzle-06437");
    pub const A52: Row = ("flags", "A-52", "nonSeamlessCubeMap-06788");
    pub const A56: Row = ("flags", "A-56", "flags-08110");
    pub const A59: Row = ("reduction", "A-59", "reductionMode-parameter");
    pub const B1: Row = ("linear-filter", "B-1", "magFilter-04553");
    pub const B2: Row = ("linear-mipmap", "B-2", "mipmapMode-04770");
    pub const B3: Row = ("minmax", "B-3", "magFilter-09598");
    pub const B4: Row = ("minmax", "B-4", "mipmapMode-09599");
    pub const B9: Row = ("anisotropy", "B-9", "");
    pub const B15: Row = ("stencil", "B-15", "");
    pub const B16: Row = ("linear-filter", "B-16", "magFilter-04553");
    pub const B50: Row = ("border-type", "B-50", "");
    pub const B51: Row = ("border-type", "B-51", "");
    pub const B52: Row = ("border-swizzle", "B-52", "");
    pub const B53: Row = ("border-swizzle", "B-53", "");
    pub const B54: Row = ("border-swizzle", "B-54", "");
    pub const B55: Row = ("border-swizzle", "B-55", "");
    pub const B56: Row = ("border-format", "B-56", "format-04015");
    pub const B57: Row = ("border-format", "B-57", "");
    pub const B58: Row = ("border-value", "B-58", "");
}
