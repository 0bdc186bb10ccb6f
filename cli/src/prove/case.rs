//! One case: a sampler, a view and the way on which they met, as a trace tells of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use ash::vk;
use samplin_core::decide::{Aspect, Repairer, SamplerState, ViewTraits, is_int_border};
use samplin_core::features::Tiling;
use samplin_testkit::lookup::Op;
use samplin_testkit::reference::{self, Texture};
use samplin_testkit::scene::{Scene, Shape};
use samplin_testkit::{
    BorderValue, Capability, NumericKind, Path, SamplePoint, SamplerDesc, sampler::CustomBorder, texel,
};
use samplin_wire::read;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decided::{Judged, Recorders};
use super::quirks::Driver;
use super::stored::{Format, Formats};
use crate::trace::reader::{Event, Record};
use crate::trace::record::RecordedChange;
use crate::trace::scan::Damage;

/// What of a recorded layer's settings is not for another run: where its trace went, whom it took for whom, and what it simulated.
const NOT_REPEATED: [&str; 7] = ["trace", "trace_level", "trace_limit", "trace_identity", "config", "log", "learned"];

/// The abilities of a recorded device that an application turns on or leaves off, and decisions look at.
const ABILITIES: [(&str, Capability); 8] = [
    ("samplerAnisotropy", Capability::SamplerAnisotropy),
    ("samplerMirrorClampToEdge", Capability::SamplerMirrorClampToEdge),
    ("samplerFilterMinmax", Capability::SamplerFilterMinmax),
    ("customBorderColors", Capability::CustomBorderColor),
    ("customBorderColorWithoutFormat", Capability::CustomBorderColorWithoutFormat),
    ("borderColorSwizzle", Capability::BorderColorSwizzle),
    ("borderColorSwizzleFromImage", Capability::BorderColorSwizzleFromImage),
    ("nonSeamlessCubeMap", Capability::NonSeamlessCubeMap),
];

/// The words of records for instructions that sample.
const SAMPLES: [&str; 6] = ["lod", "lod0", "implicit", "grad", "bias", "proj"];

/// The words of records that say how a pair met, with the way that a test takes.
const WAYS: [(&str, Path); 7] = [
    ("update", Path::Update),
    ("template", Path::Template),
    ("push", Path::Push),
    ("push_template", Path::PushTemplate),
    ("get_descriptor", Path::DescriptorBuffer),
    ("layout", Path::Immutable),
    ("draw", Path::Separate),
];

/// A distinct pair of a trace. Its parts are kept as the trace has them, which is also how they reach the process that tries it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Where the trace has it first.
    pub line: u64,
    /// The sampler's fingerprint.
    pub fingerprint: String,
    /// The sampler as the application asked for it.
    pub state: Value,
    /// The members of the pair's record that describe the view.
    pub view: Map<String, Value>,
    /// How the pair met.
    pub path: String,
    /// The instructions that read it, if they are known.
    pub uses: Option<Vec<String>>,
    /// Settings of the layer that recorded it.
    pub settings: Vec<(String, String)>,
    /// Abilities that the application left off.
    pub off: Vec<String>,
    /// What the layer changed.
    pub changes: Vec<RecordedChange>,
    /// Whether the application had OpenGL's address modes.
    pub gl_clamp: bool,
    /// Whether the view shows depth and stencil, of which the shader reads one.
    pub both_aspects: bool,
    /// The handles of sampler and view.
    pub handles: [String; 2],
    /// The names of sampler and view, if there are any.
    pub names: [Option<String>; 2],
    /// Who recorded it, if its decision can be made again.
    #[serde(skip)]
    pub judged: Option<Judged>,
    #[serde(skip)]
    process: u32,
}

/// What a sampler is tried with.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub scene: Scene,
    pub asked: SamplerDesc,
    pub way: Path,
    /// The instruction.
    pub op: Op,
    /// Whether the instruction compares.
    pub compares: bool,
    /// Whether the view shows depth and stencil.
    pub both_aspects: bool,
    /// Whether the view suits the sampler: coordinates in texels need one of a single level and layer.
    pub view_suits: bool,
}

impl Trial {
    /// The sampler as a lookup of this trial reads through it: comparison is ignored by instructions without one, and a border of
    /// integers is of the view's.
    pub(crate) fn read_through(&self, sampler: &SamplerDesc) -> SamplerDesc {
        let mut sampler = sampler.clone();
        sampler.compare_enable &= self.compares;
        if let Some(CustomBorder { value, .. }) = &mut sampler.custom_border
            && let (BorderValue::Uint(words), NumericKind::Int) = (*value, self.numbers())
        {
            *value = BorderValue::Int(words.map(u32::cast_signed));
        }
        sampler
    }

    /// What its instruction gives at a point, through such a sampler; `None` where drivers may differ, or the reference knows nothing.
    pub(crate) fn expected(
        &self,
        texture: &Texture,
        sampler: &SamplerDesc,
        point: &SamplePoint,
        max_lod_bias: f32,
    ) -> Option<texel::Value> {
        match self.op {
            Op::Gather => reference::try_gather(texture, sampler, point),
            _ if reference::is_tied(texture, sampler, point, max_lod_bias) => None,
            _ => reference::try_sample(texture, sampler, point, max_lod_bias),
        }
    }

    /// What a lookup returns, unless it compares.
    pub(crate) fn numbers(&self) -> NumericKind {
        texel::numeric_kind(self.scene.format, self.scene.aspect)
    }
}

impl Case {
    /// What makes it another case than one before it.
    fn key(&self) -> String {
        let mut view = self.view.clone();
        if let Some(class) = view.get_mut("view_class").and_then(Value::as_object_mut) {
            // The driver that tries it has its own.
            class.remove("features");
        }
        let Self { fingerprint, path, uses, settings, off, gl_clamp, both_aspects, .. } = self;
        serde_json::json!([fingerprint, view, path, uses, settings, off, gl_clamp, both_aspects]).to_string()
    }

    /// Whether it has an object of this handle, name or fingerprint.
    pub(crate) fn is(&self, object: &str) -> bool {
        let has = |name: &Option<String>| name.as_deref() == Some(object);
        self.fingerprint == object || self.handles.iter().any(|handle| handle == object) || self.names.iter().any(has)
    }

    /// The state that was asked for.
    fn state(&self) -> Result<SamplerState, String> {
        read::state(&self.state).ok_or_else(|| "the sampler's state cannot be read back".to_owned())
    }

    fn traits(&self) -> Result<(ViewTraits, Tiling), String> {
        read::view(&Value::Object(self.view.clone())).ok_or_else(|| "the view cannot be read back".to_owned())
    }

    /// How its recorded decision differs from that of the rules on this driver, of which `answer` has the features of formats.
    pub(super) fn differs(
        &self,
        driver: &Driver,
        answer: impl FnOnce(vk::Format, bool) -> Option<vk::FormatFeatureFlags2>,
    ) -> Option<String> {
        let about = [self.fingerprint.as_str(), self.path.as_str()];
        let (view, tiling) = self.traits().ok()?;
        self.judged.as_ref()?.differs(&self.state().ok()?, view, tiling, about, driver, answer)
    }

    /// How it is tried; why it cannot be.
    pub(crate) fn trial(&self) -> Result<Trial, String> {
        let (view, tiling) = self.traits()?;
        let asked = desc(&self.state()?)?;
        let mut scene = Scene::colour(view.format);
        scene.aspect = match view.aspect {
            Aspect::Color => vk::ImageAspectFlags::COLOR,
            Aspect::Depth => vk::ImageAspectFlags::DEPTH,
            Aspect::Stencil => vk::ImageAspectFlags::STENCIL,
        };
        if !texel::is_known(view.format) {
            return Err(format!("no texels are made of {}", samplin_core::names::format(view.format)));
        }
        if view.ycbcr || view.subsampled || view.corner_sampled {
            return Err("the view is of a kind that has no reference".to_owned());
        }
        scene.shape = Shape::of(view.view_type);
        if view.image_type == vk::ImageType::TYPE_3D && view.view_type != vk::ImageViewType::TYPE_3D {
            return Err("slices of a 3D image are not made".to_owned());
        }
        scene.linear_tiling = match tiling {
            Tiling::Optimal => false,
            Tiling::Linear => true,
            Tiling::Modifier => return Err("images with modifiers are not made".to_owned()),
        };
        if asked.unnormalized && matches!(scene.shape, Shape::D3 | Shape::Cube | Shape::CubeArray) {
            return Err("coordinates in texels of such a view have no reference".to_owned());
        }
        if view.single_level || scene.linear_tiling {
            scene = scene.flat();
        }
        let [r, g, b, a] = view.components;
        scene.components = vk::ComponentMapping { r, g, b, a };
        let way = self.way()?;
        let is_link = self.uses.is_some();
        let uses = |word: &str| self.uses.iter().flatten().any(|use_| use_ == word);
        // Shaders that nobody knows compare where the sampler does, or where they do so themselves.
        let compared_off = |change: &&RecordedChange| change.field == "compareEnable" && change.to == false;
        let is_lost = self.changes.iter().filter(compared_off).any(|change| !change.is_repaired_by(Repairer::Shader));
        let unknown = (asked.compare_enable && !is_lost) || self.changes.iter().any(is_made_to_compare);
        let is_float = texel::numeric_kind(view.format, scene.aspect) == NumericKind::Float;
        let compares = is_float && if is_link { uses("dref") } else { unknown };
        let identity = [vk::ComponentSwizzle::IDENTITY; 4];
        if compares && view.components != identity {
            return Err("no reference for comparisons through a swizzle".to_owned());
        }
        let op = match () {
            () if !is_link || SAMPLES.iter().any(|word| uses(word)) => Op::Sample,
            () if uses("gather") && !uses("offset") && !uses("const_offsets") => Op::Gather,
            () if uses("combined") => Op::Sample,
            () => {
                let uses: Vec<&str> = self.uses.iter().flatten().map(String::as_str).collect();
                return Err(format!("no reference for what only {} reads", uses.join(", ")));
            }
        };
        if op == Op::Gather && matches!(scene.shape, Shape::D1 | Shape::D1Array | Shape::D3) {
            return Err("no shader gathers from such a view".to_owned());
        }
        let view_suits = !asked.unnormalized || (view.single_level && view.single_layer);
        Ok(Trial { scene, asked, way, op, compares, both_aspects: self.both_aspects, view_suits })
    }

    fn way(&self) -> Result<Path, String> {
        let combined = self.uses.iter().flatten().any(|word| word == "combined");
        if self.path == "draw" && combined {
            return Ok(Path::Update);
        }
        let way = WAYS.iter().find(|(word, _)| *word == self.path);
        way.map(|(_, way)| *way).ok_or_else(|| format!("the path {} is not tried", self.path))
    }

    /// The capabilities that the application left off.
    pub(crate) fn off(&self) -> impl Iterator<Item = Capability> + '_ {
        ABILITIES.iter().filter(|(name, _)| self.off.iter().any(|off| off == name)).map(|(_, capability)| *capability)
    }
}

/// Whether a sampler compares by a change that did not.
pub(super) fn is_made_to_compare(change: &RecordedChange) -> bool {
    change.field == "compareEnable" && change.to == true
}

/// What may come out by what was asked for and these changes: their values, but for what the shader makes good. Where only some shaders do,
/// as the change says, it is what those read, then what the others do.
///
/// # Errors
///
/// When a change cannot be read back, or what it makes has no reference.
pub(crate) fn expected(asked: &Value, changes: &[RecordedChange]) -> Result<Vec<SamplerDesc>, String> {
    // What a shader repairs leaves nothing of what the sampler alone was changed by the same rule.
    let of_shader = changes.iter().filter(|change| change.is_repaired_by(Repairer::Shader));
    let rules: HashSet<&str> = of_shader.map(|change| change.rule.as_str()).collect();
    // A pair whose format is known has the custom colour that the sampler alone had to give up.
    let has_format = changes.iter().any(|change| change.field == "format" && !change.to.is_null());
    let is_predefined = |to: &Value| to.as_str().is_some_and(|name| !name.contains("CUSTOM"));
    let by_shader = |change: &RecordedChange| {
        let by_format = has_format && change.field == "borderColor" && is_predefined(&change.to);
        rules.contains(change.rule.as_str()) || by_format
    };
    let by_some = |change: &RecordedChange| change.is_repaired_by(Repairer::SomeShaders);
    let made = |skip: &dyn Fn(&RecordedChange) -> bool| -> Result<SamplerDesc, String> {
        let mut members = asked.as_object().cloned().unwrap_or_default();
        // The last change of a member is what it came to.
        let last: BTreeMap<&str, &RecordedChange> =
            changes.iter().filter(|change| !change.is_held()).map(|change| (change.field.as_str(), change)).collect();
        for change in last.into_values().filter(|change| !skip(change)) {
            // The state spells two members otherwise, because it has them of more than one structure.
            let name = match change.field.as_str() {
                "format" => "customBorderColorFormat",
                "components" => "borderColorComponents",
                name => name,
            };
            match &change.to {
                Value::Null => _ = members.remove(name),
                Value::Object(_) => return Err(format!("no reference for another {name}")),
                to => _ = members.insert(name.to_owned(), to.clone()),
            }
        }
        desc(&read::state(&Value::Object(members)).ok_or("a change cannot be read back")?)
    };
    let others = made(&|change| by_shader(change))?;
    if !changes.iter().any(|change| by_some(change) && !by_shader(change)) {
        return Ok(vec![others]);
    }
    Ok(vec![made(&|change| by_shader(change) || by_some(change))?, others])
}

/// A state as the test kit creates samplers.
fn desc(state: &SamplerState) -> Result<SamplerDesc, String> {
    let beyond = [
        (state.ycbcr.is_some(), "a conversion"),
        (state.uses_filter(vk::Filter::CUBIC_EXT), "cubic filters"),
        (state.block_match.is_some(), "block matching"),
        (state.flags.intersects(vk::SamplerCreateFlags::SUBSAMPLED_EXT), "subsampled lookups"),
    ];
    if let Some((_, what)) = beyond.iter().find(|(is_so, _)| *is_so) {
        return Err(format!("no reference for {what}"));
    }
    let custom_border = state.custom_border.map(|border| CustomBorder {
        value: if is_int_border(state.border_color) {
            BorderValue::Uint(border.color)
        } else {
            BorderValue::Float(border.color.map(f32::from_bits))
        },
        format: border.format,
    });
    Ok(SamplerDesc {
        flags: state.flags,
        mag_filter: state.mag_filter,
        min_filter: state.min_filter,
        mipmap_mode: state.mipmap_mode,
        address: state.address_mode,
        lod_bias: state.mip_lod_bias,
        anisotropy_enable: state.anisotropy_enable,
        max_anisotropy: state.max_anisotropy,
        compare_enable: state.compare_enable,
        compare_op: state.compare_op,
        min_lod: state.min_lod,
        max_lod: state.max_lod,
        border_color: state.border_color,
        unnormalized: state.unnormalized_coordinates,
        reduction: state.reduction_mode,
        custom_border,
        border_mapping: state.border_mapping.map(|mapping| {
            let [r, g, b, a] = mapping.components;
            (vk::ComponentMapping { r, g, b, a }, mapping.srgb)
        }),
        name: None,
    })
}

/// Collects the cases of a trace.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    found: Vec<Case>,
    seen: HashSet<String>,
    layers: HashMap<u32, Vec<(String, String)>>,
    off: HashMap<u32, Vec<String>>,
    gl_clamp: HashSet<u32>,
    /// Views of both aspects.
    both_aspects: HashSet<(u32, String)>,
    /// What each process' samplers asked for, and what was changed at their creation.
    samplers: HashMap<(u32, String), (Value, Vec<RecordedChange>)>,
    formats: Formats,
    recorders: Recorders,
    pub(crate) level_is_all: bool,
}

impl Cases {
    /// Takes a record in.
    pub(crate) fn record(&mut self, record: &Record<'_>) -> Result<(), Damage> {
        let value = || serde_json::from_slice::<Value>(record.text).map_err(|_| Damage::NotARecord);
        let process = record.process();
        match record.event {
            Event::Layer => {
                let layer = value()?;
                self.recorders.layer(process, &layer);
                self.level_is_all |= read::setting(&layer, "trace_level") == Some("all");
                let settings = read::settings(&layer)
                    .filter(|setting| setting.source != "default" && !NOT_REPEATED.contains(&setting.name))
                    .filter_map(|setting| Some((setting.name.to_owned(), setting.value.as_str()?.to_owned())))
                    // What is tried is what the layer repairs.
                    .filter(|(name, _)| name != "mode");
                self.layers.insert(process, settings.collect());
            }
            Event::Device => {
                let device = value()?;
                self.recorders.device(process, &device);
                let is_off = |name: &str| device.pointer(&format!("/features/{name}")) == Some(&Value::Bool(false));
                let off = ABILITIES.iter().map(|(name, _)| *name).filter(|name| is_off(name)).map(str::to_owned);
                self.off.insert(process, off.collect());
                if device.pointer("/features/VK_SAMPLIN_gl_address_modes") == Some(&Value::Bool(true)) {
                    self.gl_clamp.insert(process);
                }
            }
            Event::Sampler => {
                let sampler = value()?;
                if let (Some(fingerprint), Some(state)) = (text(&sampler, "fingerprint"), sampler.get("state")) {
                    self.recorders.sampler(process, &fingerprint, &sampler, &changes_of(&sampler));
                    let kept = (state.clone(), changes_of(&sampler));
                    self.samplers.entry((process, fingerprint)).or_insert(kept);
                }
            }
            Event::View => {
                let view = value()?;
                let converted = changes_of(&view).iter().any(|change| change.rule == "storage-format");
                if let Some(format) = text(&view, "format").filter(|_| converted) {
                    let settings = self.layers.get(&process).map(Vec::as_slice).unwrap_or_default();
                    self.formats.add(&format, settings, record.line);
                }
                let is_split = changes_of(&view).iter().any(|change| change.rule == "aspect");
                if let Some(handle) = text(&view, "view").filter(|_| is_split) {
                    self.both_aspects.insert((process, handle));
                }
            }
            Event::Pair => self.pair(record, value()?),
            Event::Summary => self.recorders.summary(process, &value()?),
            Event::Unresolved | Event::Exempt => self.recorders.left(process, &value()?),
            _ => {}
        }
        Ok(())
    }

    fn pair(&mut self, record: &Record<'_>, pair: Value) {
        let process = record.process();
        let Some(fingerprint) = text(&pair, "fingerprint") else { return };
        let Some((state, created)) = self.samplers.get(&(process, fingerprint.clone())) else { return };
        let members = ["format", "aspect", "view_type", "swizzle", "view_class"];
        let view: Map<String, Value> =
            members.iter().filter_map(|name| Some(((*name).to_owned(), pair.get(name)?.clone()))).collect();
        if view.len() < members.len() {
            return;
        }
        let uses = pair
            .pointer("/link/uses")
            .and_then(Value::as_array)
            .map(|uses| uses.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>());
        let name = |which: &str| pair.pointer(&format!("/names/{which}")).and_then(Value::as_str).map(str::to_owned);
        let case = Case {
            line: record.line,
            state: state.clone(),
            view,
            path: text(&pair, "path").unwrap_or_default(),
            uses,
            settings: self.layers.get(&process).cloned().unwrap_or_default(),
            off: self.off.get(&process).cloned().unwrap_or_default(),
            changes: created.iter().cloned().chain(changes_of(&pair)).collect(),
            gl_clamp: self.gl_clamp.contains(&process),
            both_aspects: text(&pair, "view").is_some_and(|view| self.both_aspects.contains(&(process, view))),
            handles: ["sampler", "view"].map(|which| text(&pair, which).unwrap_or_default()),
            names: [name("sampler"), name("view")],
            judged: self.recorders.judged(process, &fingerprint, &pair, changes_of(&pair)),
            process,
            fingerprint,
        };
        if self.seen.insert(case.key()) {
            self.found.push(case);
        }
    }

    /// The distinct pairs, and the formats that shaders convert, in the order of the trace.
    pub(crate) fn into_found(mut self) -> (Vec<Case>, Vec<Format>) {
        for case in &mut self.found {
            // What was left has no decision to compare with; its record may come after the pair's.
            case.judged = case.judged.take().filter(|_| !self.recorders.is_left(case.process, &case.fingerprint));
        }
        (self.found, self.formats.found)
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// The changes of a record.
pub(super) fn changes_of(record: &Value) -> Vec<RecordedChange> {
    record.get("changes").and_then(|changes| serde_json::from_value(changes.clone()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use samplin_wire::record;
    use serde_json::json;

    use super::*;

    fn case(uses: &[&str]) -> Case {
        let all = include_str!("../../tests/data/all.jsonl");
        let mut records = all.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let pair = records.find(|record| record["event"] == "pair" && record["view_type"] == "VK_IMAGE_VIEW_TYPE_2D");
        let pair = pair.expect("a pair of a 2D view");
        let members = ["format", "aspect", "view_type", "swizzle", "view_class"];
        Case {
            line: 1,
            fingerprint: String::new(),
            state: record::state(&SamplerState::default()),
            view: members.into_iter().map(|name| (name.to_owned(), pair[name].clone())).collect(),
            path: "draw".to_owned(),
            uses: Some(uses.iter().map(|word| (*word).to_owned()).collect()),
            settings: Vec::new(),
            off: Vec::new(),
            changes: Vec::new(),
            gl_clamp: false,
            both_aspects: false,
            handles: Default::default(),
            names: [None, None],
            judged: None,
            process: 0,
        }
    }

    #[test]
    fn what_shaders_only_gather_is_gathered() {
        let op = |uses: &[&str]| case(uses).trial().map(|trial| trial.op);
        assert_eq!(op(&["gather"]), Ok(Op::Gather));
        assert_eq!(op(&["dref", "gather", "combined"]), Ok(Op::Gather));
        assert_eq!(op(&["lod", "gather"]), Ok(Op::Sample));
        assert!(op(&["gather", "offset"]).is_err_and(|why| why.contains("gather, offset")));
        assert!(op(&["fetch"]).is_err());
    }

    fn change(rule: &str, field: &str, to: Value, repaired_by: Option<&str>) -> RecordedChange {
        let change = json!({ "rule": rule, "field": field, "to": to, "repaired_by": repaired_by });
        serde_json::from_value(change).expect("a change")
    }

    /// By what the records say of who repairs, whatever the rule is called.
    #[test]
    fn what_shaders_repair_comes_out_as_asked_for() {
        let asked = record::state(&SamplerState { mag_filter: vk::Filter::LINEAR, ..SamplerState::default() });
        let filters = |changes: &[RecordedChange]| {
            let all = expected(&asked, changes).expect("a state");
            all.iter().map(|sampler| sampler.mag_filter).collect::<Vec<_>>()
        };
        let to = || Value::from("VK_FILTER_NEAREST");
        let (linear, nearest) = (vk::Filter::LINEAR, vk::Filter::NEAREST);
        assert_eq!(filters(&[change("new", "magFilter", to(), None)]), [nearest]);
        assert_eq!(filters(&[change("new", "magFilter", to(), Some("shader"))]), [linear]);
        assert_eq!(filters(&[change("new", "magFilter", to(), Some("some_shaders"))]), [linear, nearest]);
        // What the sampler alone lost by the rule that the shader repairs.
        let alone = change("new", "magFilter", to(), None);
        let of_pair = |rule| change(rule, "unnormalizedCoordinates", false.into(), Some("shader"));
        assert_eq!(filters(&[alone.clone(), of_pair("new")]), [linear]);
        assert_eq!(filters(&[alone, of_pair("other")]), [nearest]);
    }

    /// Traces before records said who repairs.
    #[test]
    fn what_older_records_do_not_say_the_row_does() {
        let of = |catalog: &str, word: Option<&str>| {
            let mut change = change("compare", "compareEnable", false.into(), word);
            change.catalog = catalog.to_owned();
            [Repairer::Sampler, Repairer::Shader].map(|repairer| change.is_repaired_by(repairer))
        };
        // The comparison in the shader and the division there.
        assert_eq!(of("B-31", None), [false, true]);
        assert_eq!(of("S-5", None), [false, true]);
        assert_eq!(of("B-36", None), [true, false]);
        assert_eq!(of("B-1", None), [true, false]);
        assert_eq!(of("B-36", Some("shader")), [false, true]);
    }

    /// A border that the sampler alone had to give up, and the pair's format gives back.
    #[test]
    fn a_format_keeps_the_custom_colour() {
        let custom = samplin_core::Sampler {
            border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
            custom_border: Some(samplin_core::CustomBorder { color: [0; 4], format: vk::Format::UNDEFINED }),
            address_mode: [vk::SamplerAddressMode::CLAMP_TO_BORDER; 3],
            ..SamplerState::default()
        };
        let asked = record::state(&custom);
        let border = |changes: &[RecordedChange]| expected(&asked, changes).expect("a state").remove(0).border_color;
        let alone = change("border-format", "borderColor", "VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK".into(), None);
        let format = change("border-format", "format", "VK_FORMAT_R8G8B8A8_UNORM".into(), None);
        assert_eq!(border(std::slice::from_ref(&alone)), vk::BorderColor::FLOAT_OPAQUE_BLACK);
        assert_eq!(border(&[alone, format]), vk::BorderColor::FLOAT_CUSTOM_EXT);
    }
}
