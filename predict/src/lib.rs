//! What the decisions of a recorded run would be on another device.
//!
//! The layer's own [decision code](samplin_core::decide) is run on the states and views that a trace of the level `all` holds, against
//! what a capability file says. By default a prediction is for the recording device made as weak as the other one, which is
//! what the layer's `device` setting does; it can also take the other device alone.
//!
//! Pairs that only a shader joins are replayed like all others. How they are repaired (`how`) stays as it was recorded, because it depends
//! on everything that the pipeline joins and not on the pair alone; so does a link that was left alone.
//!
//! Nothing here reads files or writes to a terminal: pages run it too.

mod alive;
mod host;
mod lowering;
pub mod settings;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ash::vk;
use samplin_config::simulate::Simulation;
use samplin_core::budget::{Limit, Overrun};
use samplin_core::decide::{self, BlitSource, Change as Decided, Context, DeviceCaps, ViewTraits};
use samplin_core::features::{FormatFeatures, Tiling};
use samplin_core::left::{Explained, Left};
use samplin_core::names;
use samplin_core::outcome::{Chosen, Unresolved};
use samplin_wire::read;
use samplin_wire::record::{self as layer_record, Link};
use serde_json::{Map, Value};

pub use self::alive::Alive;
use self::host::{Host, Sampler};
use self::lowering::Storage;

/// Different pairs that are predicted; more are counted.
pub const PAIRS: usize = 200_000;

/// A prediction in the making.
pub struct Prediction {
    /// The device.
    pub simulation: Simulation,
    alone: bool,
    /// How many samplers each process had at once.
    alive: HashMap<u32, Alive>,
    layers: HashMap<u32, Value>,
    hosts: HashMap<u32, Host>,
    /// States by fingerprint; one that cannot be read back is `None`.
    states: HashMap<String, Option<Sampler>>,
    seen: BTreeSet<(String, String)>,
    /// The records of the predicted trace.
    records: Vec<Value>,
    /// Whether a layer recorded everything.
    pub level_is_all: bool,
    /// Different pairs.
    pub pairs: u64,
    /// Different states of samplers.
    pub samplers: u64,
    /// Different blits.
    pub blits: u64,
    /// Storage images, and images whose views may have other formats, and views of both.
    pub images: u64,
    /// Shader modules that some device might have to change.
    pub modules: u64,
    /// Pairs beyond [`PAIRS`].
    pub left_out: u64,
    /// Records that hold too little.
    pub without_class: u64,
    /// Records that could not be read back, by kind.
    pub not_understood: BTreeMap<String, u64>,
    /// Pairs to which rules of a rules file applied.
    pub with_rules: u64,
    /// Links that the layer left alone.
    pub links_left: u64,
    /// Limits of the device that the run exceeds, each in a sentence.
    pub exceeded: Vec<String>,
    /// Formats that the device does not sample, with the number of pairs.
    pub unsupported: BTreeMap<String, u64>,
    /// The recording device.
    pub recorded_on: Option<String>,
}

impl Prediction {
    /// One on this device; `alone`: by itself, without what the recording device lacks. `alive`: what each process had at once on one of
    /// its devices, which the summaries at the end of a trace tell.
    pub fn new(simulation: Simulation, alone: bool, alive: HashMap<u32, Alive>) -> Self {
        Self {
            simulation,
            alone,
            alive,
            layers: HashMap::new(),
            hosts: HashMap::new(),
            states: HashMap::new(),
            seen: BTreeSet::new(),
            records: Vec::new(),
            level_is_all: false,
            pairs: 0,
            samplers: 0,
            blits: 0,
            images: 0,
            modules: 0,
            left_out: 0,
            without_class: 0,
            not_understood: BTreeMap::new(),
            with_rules: 0,
            links_left: 0,
            exceeded: Vec::new(),
            unsupported: BTreeMap::new(),
            recorded_on: None,
        }
    }

    /// Whether records of this kind matter.
    pub fn reads(event: &str) -> bool {
        const READ: [&str; 10] =
            ["layer", "device", "sampler", "pair", "blit", "image", "view", "shader", "summary", "unresolved"];
        READ.contains(&event)
    }

    /// Takes the next record of the trace.
    pub fn record(&mut self, mut value: Value) {
        let event = text(&value, "event").unwrap_or_default().to_owned();
        let pid = value.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
        let process = pid.unwrap_or(0);
        match event.as_str() {
            "layer" => {
                self.level_is_all |= read::setting(&value, "trace_level") == Some("all");
                self.records.push(value.clone());
                self.layers.insert(process, value);
            }
            "device" => self.device(process, value),
            "sampler" => self.sampler(process, &value),
            "pair" => self.pair(process, &value),
            "blit" => self.blit(process, &value),
            "image" => self.image(process, &value),
            "view" => self.view(process, &value),
            "shader" => self.shader(process, &value),
            "summary" => {
                self.summary(process, &value);
                // The prediction has an end if the run has.
                if text(&value, "scope") == Some("instance")
                    && let Some(members) = value.as_object_mut()
                {
                    // Nothing counts what devices would have done.
                    members.insert("predicted".into(), true.into());
                    self.records.push(value);
                }
            }
            // Left for what the program and its shaders do, on any device alike.
            "unresolved" if value.get("link").is_some() => {
                self.links_left += 1;
                self.records.push(value);
            }
            _ => {}
        }
    }

    fn device(&mut self, process: u32, mut device: Value) {
        let Some(mut caps) = read::caps(&device) else {
            self.misunderstood("device");
            return;
        };
        if self.recorded_on.is_none() {
            self.recorded_on = device.get("device").and_then(Value::as_str).map(str::to_owned);
        }
        if self.alone {
            let own = self.simulation.reported().caps();
            caps = DeviceCaps {
                // What no capability file tells stays as the program had it.
                filter_cubic_img: own.filter_cubic_ext && caps.filter_cubic_img,
                filter_linear_2d_img: caps.filter_linear_2d_img,
                cubic_range_clamp: caps.cubic_range_clamp,
                selectable_cubic_weights: caps.selectable_cubic_weights,
                descriptor_buffer_capture_replay: caps.descriptor_buffer_capture_replay,
                max_block_match_window: caps.max_block_match_window,
                mutable_comparison_samplers: caps.mutable_comparison_samplers,
                sampler_ycbcr_conversion: caps.sampler_ycbcr_conversion,
                gl_address_modes: caps.gl_address_modes,
                unknown_extension: caps.unknown_extension,
                view_usage: caps.view_usage,
                imageless_framebuffer: caps.imageless_framebuffer,
                sample_rate_shading: caps.sample_rate_shading,
                max_sample_mask_words: caps.max_sample_mask_words,
                format_feature_flags2: caps.format_feature_flags2,
                shader_draw_parameters: caps.shader_draw_parameters,
                fragment_stores: caps.fragment_stores,
                vertex_stores: caps.vertex_stores,
                gl_shaders: caps.gl_shaders,
                ..own
            };
        } else {
            self.simulation.restrict(&mut caps);
        }
        let policy = self.policy(process, &caps);
        let is = |key: &str, value: &str| self.is_set(process, key, value);
        let storage = Storage::new(self, &device, is("storage", "emulate") || is("storage", "advertise"));
        let borders = self.alive.get(&process).and_then(|alive| alive.custom_borders);
        let host = Host::new(caps, policy, is("mode", "audit"), storage, (is("samplers", "share"), borders));
        if let Some(members) = device.as_object_mut() {
            members.insert("limits".into(), layer_record::limits(&host.caps));
            members.insert("features".into(), read::features(&host.caps, members.get("features")));
            members.insert("simulated".into(), self.simulation.name.clone().into());
        }
        self.records.push(device);
        self.hosts.insert(process, host);
    }

    fn misunderstood(&mut self, what: &str) {
        *self.not_understood.entry(what.to_owned()).or_insert(0) += 1;
    }

    fn sampler(&mut self, process: u32, value: &Value) {
        let Some(fingerprint) = text(value, "fingerprint") else { return };
        let Some(host) = self.hosts.get_mut(&process) else { return };
        let state = value.get("state").and_then(read::state);
        // The fingerprint covers the whole state, so it proves that nothing was lost.
        let Some(state) = state.filter(|state| format!("{:016x}", state.fingerprint()) == fingerprint) else {
            self.states.entry(fingerprint.to_owned()).or_insert(None);
            self.misunderstood("sampler");
            return;
        };
        let creation = host.creation(&state, text(value, "sampler").unwrap_or(fingerprint));
        // The first one stays in force, as in the layer.
        let sampler = Sampler { kept: creation.kept(&state), border: creation.border };
        self.states.entry(fingerprint.to_owned()).or_insert(Some(sampler));
        let (caps, divides) = (host.caps, host.policy.divides);
        if !self.first("sampler", fingerprint.to_owned()) {
            return;
        }
        self.samplers += 1;
        let changes: Vec<Decided> = creation.decision.changes.iter().copied().collect();
        let context = Context { divides, ..Context::new(&caps) };
        self.push(value, &changes, &context, |_| {});
    }

    /// Whether this is met for the first time.
    fn first(&mut self, event: &str, key: String) -> bool {
        if self.seen.len() >= PAIRS {
            self.left_out += 1;
            return false;
        }
        self.seen.insert((event.to_owned(), key))
    }

    fn push(
        &mut self,
        value: &Value,
        changes: &[Decided],
        context: &Context<'_>,
        more: impl FnOnce(&mut Map<String, Value>),
    ) {
        let Some(members) = value.as_object() else { return };
        let mut members = members.clone();
        let changes: Vec<Value> = changes.iter().map(|change| layer_record::change(change, context)).collect();
        members.insert("changes".into(), changes.into());
        more(&mut members);
        self.records.push(Value::Object(members));
    }

    fn pair(&mut self, process: u32, value: &Value) {
        let Some(caps) = self.hosts.get(&process).map(|host| host.caps) else { return };
        let Some(fingerprint) = text(value, "fingerprint") else { return };
        if value.get("view_class").is_none() {
            self.without_class += 1;
            return;
        }
        self.with_rules += u64::from(value.get("rules").is_some());
        let Some(Some(sampler)) = self.states.get(fingerprint).copied() else {
            self.misunderstood("pair");
            return;
        };
        let Some((mut view, tiling)) = read::view(value) else {
            self.misunderstood("pair");
            return;
        };
        let class = |key: &str| value.get(key).map(Value::to_string).unwrap_or_default();
        let key = [
            fingerprint,
            &class("format"),
            &class("aspect"),
            &class("view_type"),
            &class("swizzle"),
            &class("view_class"),
            // A shader that joins a pair has a record for it, whatever else they met in.
            &class("pipeline"),
            &class("link"),
        ]
        .join("|");
        if !self.first("pair", key) {
            return;
        }
        self.pairs += 1;
        view.features = self.features(view.format, view.features, tiling);
        let link = value.get("link").and_then(read::link);
        view.reads = link.as_ref().map_or(view.reads, Link::reads);
        self.note_support(&view);
        let cubic = vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT;
        if !(caps.filter_cubic_ext && view.features.is_some_and(|features| features.contains(cubic))) {
            // As the layer does where there is nothing to ask the device about.
            (view.filter_cubic, view.filter_cubic_minmax) = (true, true);
        }
        let Some(host) = self.hosts.get_mut(&process) else { return };
        let meeting = host.meeting(fingerprint, &sampler, &view);
        let divides = host.policy.divides;
        let (saturates, emulates) = self.rewrites(process);
        let trilinear = sampler.kept.original.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
        let linear = meeting.linear(emulates);
        let gathers = link.is_some_and(|link| link.only_gathers());
        let context = Context {
            view: Some(&view),
            tiling,
            saturates,
            emulates,
            divides,
            trilinear,
            linear,
            gathers,
            ..Context::new(&caps)
        };
        let variant = matches!(meeting.chosen, Chosen::Variant(()))
            .then(|| Value::from(format!("{:#x}", self.records.len() + 1)));
        self.push(value, &meeting.changes, &context, |members| {
            if variant.is_none() {
                members.remove("how");
            }
            members.insert("variant".into(), variant.into());
        });
        // Whether a shader compares is then found out where the descriptor is bound.
        let is_followed = value.get("link").is_none() && (emulates || saturates && caps.gl_address_modes);
        for unresolved in meeting.unresolved(&context).filter(|it| !(is_followed && it.is_comparison())) {
            self.unresolved(value, &unresolved);
        }
    }

    /// Holds what a device was asked for at once against the limits of this one.
    fn summary(&mut self, process: u32, value: &Value) {
        let Some(caps) = self.hosts.get(&process).map(|host| host.caps) else { return };
        let Some(alive) = Alive::of(value) else { return };
        let borders = alive.custom_borders.filter(|_| caps.custom_border_colors);
        for (of, asked, limit) in [
            (Limit::Samplers, Some(self.samplers_at_once(process, &alive)), caps.max_sampler_allocation_count),
            (Limit::CustomBorders, borders, caps.max_custom_border_color_samplers),
        ] {
            let Some(overrun) = asked.and_then(|asked| Overrun::of(asked, limit)) else { continue };
            let (rule, Explained { what, why }) = (of.rule(), overrun.explained(of));
            self.exceeded.push(format!("{}: {why}", rule.name()));
            let about = [("limit", of.name().into()), ("count", overrun.asked.into()), ("max", limit.into())];
            self.unresolved_as(what, value, &Unresolved { rule, vuid: Some(of.vuid()), why }, about);
        }
    }

    fn unresolved(&mut self, value: &Value, unresolved: &Unresolved) {
        self.unresolved_as(Left::Pair, value, unresolved, []);
    }

    fn unresolved_as<const N: usize>(
        &mut self,
        what: Left,
        value: &Value,
        unresolved: &Unresolved,
        about: [(&str, Value); N],
    ) {
        let mut members = Map::new();
        for key in
            ["seq", "t_ns", "pid", "tid", "sampler", "view", "names", "fingerprint", "format", "aspect", "view_type"]
        {
            if let Some(member) = value.get(key) {
                members.insert(key.into(), member.clone());
            }
        }
        members.insert("event".into(), "unresolved".into());
        members.insert("what".into(), what.name().into());
        members.insert("why".into(), (*unresolved.why).into());
        members.insert("rule".into(), unresolved.rule.name().into());
        members.insert("vuid".into(), unresolved.vuid.map_or(Value::Null, Into::into));
        members.extend(about.map(|(key, value)| (key.to_owned(), value)));
        self.records.push(Value::Object(members));
    }

    /// Features of a format on the predicted device.
    fn features(
        &self,
        format: vk::Format,
        recorded: Option<vk::FormatFeatureFlags2>,
        tiling: Tiling,
    ) -> Option<vk::FormatFeatureFlags2> {
        if self.alone {
            let there = self.simulation.reported().own_features(format);
            return Some(if tiling == Tiling::Linear { there.linear } else { there.optimal });
        }
        let recorded = recorded?;
        let mut features = FormatFeatures {
            optimal: recorded,
            linear: recorded,
            modifiers: vec![(0, recorded)],
            ..FormatFeatures::default()
        };
        self.simulation.restrict_format(format, &mut features);
        Some(match tiling {
            Tiling::Optimal => features.optimal,
            Tiling::Linear => features.linear,
            Tiling::Modifier => features.modifiers.first().map_or(recorded, |(_, features)| *features),
        })
    }

    fn note_support(&mut self, view: &ViewTraits) {
        if !view.can_be_sampled() {
            *self.unsupported.entry(names::format(view.format)).or_insert(0) += 1;
        }
    }

    fn blit(&mut self, process: u32, value: &Value) {
        let Some(caps) = self.hosts.get(&process).map(|host| host.caps) else { return };
        if value.get("filter").is_none() {
            self.without_class += 1;
            return;
        }
        let Some((filter, source, tiling)) = read::blit(value) else {
            self.misunderstood("blit");
            return;
        };
        let source = BlitSource { features: self.features(source.format, source.features, tiling), ..source };
        let key = format!("{value_filter} {source:?}", value_filter = filter.as_raw());
        if !self.first("blit", key) {
            return;
        }
        self.blits += 1;
        let decision = decide::blit(filter, &source);
        let changes: Vec<Decided> = decision.changes.iter().copied().collect();
        let context = Context { source: Some(source.format), tiling, ..Context::new(&caps) };
        self.push(value, &changes, &context, |_| {});
    }

    /// The predicted trace.
    pub fn lines(&self) -> Vec<String> {
        self.records
            .iter()
            .enumerate()
            .map(|(number, record)| {
                let mut ordered = Map::new();
                ordered.insert("seq".into(), (number as u64).into());
                for key in ["t_ns", "pid", "tid", "event"] {
                    ordered.insert(key.into(), record.get(key).cloned().unwrap_or(Value::Null));
                }
                for (key, value) in record.as_object().into_iter().flatten() {
                    ordered.entry(key.clone()).or_insert_with(|| value.clone());
                }
                Value::Object(ordered).to_string()
            })
            .collect()
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}
