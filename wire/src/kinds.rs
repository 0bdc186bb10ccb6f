//! Whole records: what the members of each kind are that is not made of decisions alone. Read with serde, as they are written.

mod pulse;
mod rules;

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

pub use self::pulse::Pulse;
pub use self::rules::{Observed, Retune, Scale};
use crate::record::{Joined, ViewMembers};

/// Members of an object whose names are data, in the order in which they are written. No map: the layer looks nothing up in them, and
/// each kind of map is kilobytes of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members<T>(pub Vec<(String, T)>);

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Members<T> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for Members<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Members<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Each<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Each(PhantomData)).map(Members)
    }
}

/// A line of a trace: what each has, and the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<T> {
    /// Number of the record in its trace.
    pub seq: u64,
    /// Nanoseconds since the layer was loaded.
    pub t_ns: u64,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u64,
    /// Which kind of record it is.
    pub event: String,
    /// The record.
    #[serde(flatten)]
    pub record: T,
}

/// A `layer` record: an instance was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The version of the layer.
    pub version: String,
    /// The commit that it was built from, if that was known then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When the instance was created, in UTC, as RFC 3339 has it; older traces do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The arguments of the program: the first, or as the setting `trace_identity` says all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The name of the host, if the setting `trace_identity` asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The file name of the program.
    pub exe: String,
    /// What the application calls itself.
    pub app: Option<String>,
    /// What it calls its engine.
    pub engine: Option<String>,
    /// The version of Vulkan that it asks for.
    pub api_version: Option<String>,
    /// Each setting's value and where it is from; [`settings`](crate::read::settings) reads it.
    pub settings: Json,
}

/// What a driver says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// `VkPhysicalDeviceProperties::vendorID`.
    pub vendor_id: u32,
    /// `deviceID`.
    pub device_id: u32,
    /// `driverVersion`, which each vendor reads in its own way.
    pub driver_version: u32,
    /// `apiVersion` as `major.minor.patch`.
    pub api_version: String,
    /// `VkPhysicalDeviceDriverProperties::driverName`, if the device has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `driverInfo`, if the device has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<String>,
}

/// A `device` record: a device was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The name of the physical device.
    pub device: String,
    /// The driver; `None` if it could not be asked.
    pub driver: Option<Driver>,
    /// As [`limits`](crate::record::limits) has them.
    pub limits: Json,
    /// Vulkan's names of features, and whether each is enabled.
    pub features: Members<bool>,
    /// What the layer enabled.
    pub augmented: Vec<String>,
    /// What each of these was enabled for.
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    pub augmented_for: Members<String>,
    /// What its driver is known to do where Vulkan leaves it open; older traces do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quirks: Vec<String>,
    /// The name of the capability file that the device is reduced to.
    pub simulated: Option<String>,
    /// What it can do with formats that are stored, in words ([`words`](crate::words)); at the level all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<u64>,
    /// The names of the commands that the layer intercepts.
    pub intercepts: Vec<String>,
}

/// A `sampler` record: a sampler was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    /// Its handle.
    pub sampler: String,
    /// The application's name for it.
    pub name: Option<String>,
    /// 16 hexadecimal digits, equal for equal states.
    pub fingerprint: String,
    /// As [`state`](crate::record::state) has it.
    pub state: Json,
    /// As [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
    /// What the application may not have meant, at the level all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where it is described, if it has no handle: `heap_write` or `embedded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The overrides that took part, of one without a handle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

/// The application's names for both sides of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The sampler's.
    pub sampler: Option<String>,
    /// The view's.
    pub view: Option<String>,
}

/// A `pair` record: a sampler met a view that it may not be used with as it is; at the level all, any view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Handle of the sampler.
    pub sampler: String,
    /// Handle of the view.
    pub view: String,
    /// What the application calls them.
    pub names: Names,
    /// Of the sampler's state, as in its own record.
    pub fingerprint: String,
    /// What the view is.
    #[serde(flatten)]
    pub class: ViewMembers,
    /// On which way they met.
    pub path: String,
    /// As [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
    /// Axes (`u`, `v`, `w`) whose coordinates GL_CLAMP has clamped before sampling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saturate: Vec<String>,
    /// Names of the overrides that changed something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The layer's sampler that is used instead.
    pub variant: Option<String>,
    /// Where a shader joins them, for the path `draw`.
    #[serde(flatten)]
    pub joined: Option<Joined>,
}

/// An `unresolved` record: something is left as it is although it may be wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unresolved {
    /// A stable name.
    pub what: String,
    /// What was met and why it is left.
    pub why: String,
    /// The rule that it is about.
    pub rule: Option<String>,
    /// Further members, by what it is about.
    #[serde(flatten)]
    pub about: Map<String, Json>,
}

/// A rule of a rules file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleAt {
    /// Its name.
    pub name: String,
    /// The file.
    pub file: String,
    /// The line of its `[[rule]]`.
    pub line: u32,
}

/// What a rules file leaves alone, as the `what` of an `exempt` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the one of its name")]
pub enum Exempted {
    Sampler,
    Pair,
    ImmutableSampler,
    Blit,
    Conversion,
}

impl Exempted {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Exempted::Sampler => "sampler",
            Exempted::Pair => "pair",
            Exempted::ImmutableSampler => "immutable sampler",
            Exempted::Blit => "blit",
            Exempted::Conversion => "conversion",
        }
    }
}

/// An `exempt` record: something stays as the application asked for it, because a rules file switches its repair off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exempt {
    /// The name of an [`Exempted`].
    pub what: String,
    /// The rules that switch it off.
    pub rules: Vec<RuleAt>,
    /// What it is about: handles, names, fingerprint and format, as the record of such a repair has them.
    #[serde(flatten)]
    pub about: Map<String, Json>,
    /// What would have been changed, as [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
}

/// A `conversion` record: a Y′CbCr conversion was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    /// Its handle.
    pub conversion: String,
    /// Vulkan name of its format.
    pub format: String,
    /// As [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
}

/// A `view` record: a view was created with another usage, or as another format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its handle.
    pub view: String,
    /// The application's name for it.
    pub name: Option<String>,
    /// Vulkan name of its format.
    pub format: String,
    /// Vulkan name of the format that shaders store as, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_format: Option<String>,
    /// Where descriptors show another view than they are written with: whether that is so of the descriptor or for a draw; none of the
    /// view itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// As [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
    /// What else decisions look at, for predictions, in words ([`words`](crate::words)); at the level all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class: Vec<u64>,
}

/// An `image` record: an image was created with other flags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// Its handle.
    pub image: String,
    /// The application's name for it.
    pub name: Option<String>,
    /// Vulkan name of its format.
    pub format: String,
    /// As [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
    /// What else decisions look at, for predictions, in words ([`words`](crate::words)); at the level all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class: Vec<u64>,
}

/// A binding of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The number of the set.
    pub set: u32,
    /// The number of the binding.
    pub binding: u32,
}

/// A `shader` record: a shader was rewritten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shader {
    /// Vulkan name of its stage.
    pub stage: String,
    /// Identifies the words that it was made of, as for modules.
    pub module: String,
    /// The name of the pass.
    pub pass: String,
    /// The application's pipeline.
    pub pipeline: String,
    /// The bindings that it is about.
    pub bindings: Vec<Binding>,
    /// As [`change`](crate::record::change) has each.
    pub changes: Vec<Json>,
    /// Words before and after.
    pub words: [usize; 2],
    /// Milliseconds that it took to make the pipeline.
    pub ms: f64,
    /// It was made together with the application's pipeline.
    pub learned: bool,
}

/// How many there are, and the most there were at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alive {
    /// Now.
    pub live: u64,
    /// At a time.
    pub peak: u64,
}

/// Samplers of the application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samplers {
    /// Ever.
    pub created: u64,
    /// Now.
    pub live: u64,
    /// At a time.
    pub peak: u64,
    /// Created with another state.
    pub changed: u64,
    /// Samplers that ask for the same were one sampler of the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Sharing>,
}

/// That, and why, samplers of the application were one sampler of the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharing {
    /// How often one that was there was handed out again.
    pub given: u64,
    /// Why.
    pub because: String,
}

/// A `sharing` record: from here on samplers of the application that ask for the same are one sampler of the driver, because so many are
/// alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingBegins {
    /// Samplers that are alive.
    pub count: u32,
    /// `maxSamplerAllocationCount`.
    pub max: u32,
}

/// Image views of the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Views {
    /// Ever.
    pub created: u64,
    /// Now.
    pub live: u64,
    /// Different ones, as decisions see them.
    pub classes: u64,
}

/// Descriptors of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writes {
    /// With an image and a sampler.
    pub seen: u64,
    /// That got another sampler.
    pub rewritten: u64,
}

/// Samplers of the layer's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variants {
    /// Now.
    pub live: u64,
    /// At a time.
    pub peak: u64,
    /// Ever.
    pub created: u64,
}

/// What is left of the limits at the peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headroom {
    /// Of `maxSamplerAllocationCount`.
    #[serde(rename = "maxSamplerAllocationCount")]
    pub samplers: u32,
    /// Of `maxCustomBorderColorSamplers`.
    #[serde(rename = "maxCustomBorderColorSamplers")]
    pub custom_borders: u32,
}

/// What the application asked for of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedLimit {
    /// The most at a time, which may be more than the limit.
    pub asked: u32,
    /// The limit.
    pub limit: u32,
}

/// What the application asked for of each limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Of `maxSamplerAllocationCount`.
    #[serde(rename = "maxSamplerAllocationCount")]
    pub samplers: RequestedLimit,
    /// Of `maxCustomBorderColorSamplers`.
    #[serde(rename = "maxCustomBorderColorSamplers")]
    pub custom_borders: RequestedLimit,
}

/// What a program uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Different sampler states.
    pub unique_states: Alive,
    /// What is left.
    pub headroom: Headroom,
    /// What it asked for; `None` in traces from before this was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Kinds of views in arrays, by what samplers become for them; `None` where there are none, or the level is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
    /// What was written to descriptor heaps and embedded in shaders; `None` where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heaps: Option<Heaps>,
}

/// What was described in descriptor heaps, and in shaders for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heaps {
    /// Samplers written.
    pub samplers: u64,
    /// Their states.
    pub states: u64,
    /// Images written that shaders can sample.
    pub views: u64,
    /// Their classes.
    pub classes: u64,
    /// Embedded samplers, by state and by the type of the images that are read through them.
    pub embedded: u64,
    /// States and classes that may not be used together, of types that shaders read through samplers in heaps.
    pub pairs: u64,
}

/// Samplers and images that only shaders join.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Separate {
    /// Pairs of such descriptors in all pipelines.
    pub links: u64,
    /// Sets that are followed at the end.
    pub sets: u64,
    /// Copies of sets with other samplers.
    pub shadows: Alive,
    /// Sets of split pipelines at the end.
    pub hidden_sets: u64,
    /// Pipelines that were made again.
    pub splits: u64,
    /// Milliseconds that it took to make them.
    pub compile_ms: f64,
    /// Links that are known to need samplers of their own.
    pub learned: u64,
    /// Repairs of links for which there is no record, because an earlier pipeline has one of the same link, state and class.
    #[serde(default)]
    pub repeated: u64,
    /// What was left, by name, with the number of its records.
    pub unresolved: Members<u64>,
}

/// Records that are not in a trace because it was as large as it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// How many.
    pub records: u64,
    /// What they would have taken; those that were not even made add none.
    pub bytes: u64,
}

/// The `summary` record of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Its handle.
    pub device: String,
    /// The application's samplers.
    pub samplers: Samplers,
    /// Its views.
    pub views: Views,
    /// Descriptors by their path.
    pub writes: Members<Writes>,
    /// Blits that got another filter.
    pub blits_rewritten: u64,
    /// Changes by rule, as often as records have them.
    pub changes: Members<u64>,
    /// The layer's samplers.
    pub variants: Variants,
    /// What the program uses.
    pub census: Census,
    /// `None` with `separate=base`, and in traces from before there was such a setting.
    pub separate: Option<Separate>,
    /// The layer only forwarded in the end.
    pub passed_through: bool,
    /// Records that could not be written.
    pub dropped: u64,
    /// Records that the trace had no room for.
    pub left_out: LeftOut,
}

/// A `summary` record: a device or an instance is destroyed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scope", rename_all = "lowercase")]
pub enum Summary {
    /// A device.
    Device(Box<DeviceSummary>),
    /// An instance.
    Instance {
        /// Records that could not be written.
        dropped: u64,
        /// Records that the trace had no room for.
        left_out: LeftOut,
    },
}
