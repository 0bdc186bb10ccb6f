//! Deciding a recorded pair again: what the rules say of it by what the driver at hand answers for its format.
//!
//! Only where everything that a decision depends on is known: a pair of the driver that is tried, by the settings in the record and no rules
//! file. Another pair is not compared.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ash::vk;
use samplin_core::budget::{BorderPlace, BorderWish};
use samplin_core::decide::{Change, DeviceCaps, Exempt, GL_CLAMP, GL_MIRROR_CLAMP, Policy, SamplerState, ViewTraits};
use samplin_core::features::Tiling;
use samplin_core::outcome::{self, Off, Refusal, Terms};
use samplin_predict::settings::policy;
use samplin_wire::{read, record as layer_record};
use serde_json::Value;

use super::quirks::Driver;
use crate::trace::record::RecordedChange;

/// What the driver is asked again of a format; the rest of its features stays as recorded, because an application's extensions count in it.
const ASKED: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(
    vk::FormatFeatureFlags2::SAMPLED_IMAGE.as_raw() | vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_LINEAR.as_raw(),
);

/// The ways on which one view meets one sampler, so that nothing else takes part.
const WAYS: [&str; 6] = ["update", "template", "push", "push_template", "get_descriptor", "draw"];

/// The device that a pair was recorded on, with the settings that its layer had.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recorder {
    caps: DeviceCaps,
    policy: Policy,
    device: String,
    driver: Value,
}

impl Recorder {
    /// That of these records; `None` if its decisions follow from more than the rules and the driver.
    fn of(layer: &Value, device: &Value) -> Option<Self> {
        let is = |key: &str, value: &str| read::setting(layer, key) == Some(value);
        if !is("mode", "legalize") || is("unfilterable", "emulate") || device.get("simulated") != Some(&Value::Null) {
            return None;
        }
        let caps = read::caps(device)?;
        let policy = policy(Some(layer), &caps, is("aniso_nearest", "off"));
        let name = device.get("device")?.as_str()?.to_owned();
        Some(Self { caps, policy, device: name, driver: device.get("driver")?.clone() })
    }

    /// Whether it is a device of this driver.
    fn is_of(&self, driver: &Driver) -> bool {
        // What a driver does not say is left out.
        let is = |name: &str, text: &str| self.driver.get(name).and_then(Value::as_str).unwrap_or_default() == text;
        let version = self.driver.get("driver_version").and_then(Value::as_u64);
        driver.title.starts_with(&format!("{} (Vulkan ", self.device))
            && is("name", &driver.name)
            && is("info", &driver.info)
            && version == Some(driver.version.into())
    }
}

/// A pair of a known recorder.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    recorder: Arc<Recorder>,
    /// What the layer changed when the sampler was created and when it met the view.
    changes: Vec<RecordedChange>,
}

/// A process of a trace.
#[derive(Debug, Default)]
struct Process {
    layer: Value,
    recorder: Option<Arc<Recorder>>,
    has_device: bool,
    /// Instances that have not ended.
    alive: usize,
    /// Records of several instances or devices are mixed.
    is_mixed: bool,
    created: HashMap<String, Vec<RecordedChange>>,
}

/// Who recorded what.
#[derive(Debug, Default)]
pub(super) struct Recorders {
    processes: HashMap<u32, Process>,
    /// Samplers that something was left of, or that rules of a file were about.
    left: HashSet<(u32, String)>,
}

impl Recorders {
    pub(super) fn layer(&mut self, process: u32, layer: &Value) {
        let process = self.processes.entry(process).or_default();
        let alive = process.alive + 1;
        *process = Process { layer: layer.clone(), alive, is_mixed: alive > 1, ..Process::default() };
    }

    pub(super) fn device(&mut self, process: u32, device: &Value) {
        let Some(process) = self.processes.get_mut(&process) else { return };
        let new = Recorder::of(&process.layer, device).map(Arc::new);
        process.is_mixed |= process.has_device && process.recorder != new;
        (process.recorder, process.has_device) = (new, true);
    }

    pub(super) fn summary(&mut self, process: u32, summary: &Value) {
        if let (Some(process), Some("instance")) =
            (self.processes.get_mut(&process), summary.get("scope").and_then(Value::as_str))
        {
            process.alive = process.alive.saturating_sub(1);
        }
    }

    /// Takes in that something was left of a sampler, or that a rules file switched a repair off.
    pub(super) fn left(&mut self, process: u32, record: &Value) {
        if let Some(fingerprint) = record.get("fingerprint").and_then(Value::as_str) {
            self.left.insert((process, fingerprint.to_owned()));
        }
    }

    pub(super) fn sampler(&mut self, process: u32, fingerprint: &str, sampler: &Value, changes: &[RecordedChange]) {
        if sampler.get("rules").is_some() {
            self.left.insert((process, fingerprint.to_owned()));
        }
        let Some(process) = self.processes.get_mut(&process) else { return };
        process.created.entry(fingerprint.to_owned()).or_insert_with(|| changes.to_vec());
    }

    /// What there is to decide again of a pair's record.
    pub(super) fn judged(
        &self,
        process: u32,
        fingerprint: &str,
        pair: &Value,
        changes: Vec<RecordedChange>,
    ) -> Option<Judged> {
        let found = self.processes.get(&process).filter(|found| !found.is_mixed)?;
        let changes: Vec<_> = found.created.get(fingerprint)?.iter().cloned().chain(changes).collect();
        let is_by_rules_file = |change: &RecordedChange| change.catalog.starts_with("O-");
        if pair.get("rules").is_some()
            || changes.iter().any(|change| change.repaired_by.is_some() || is_by_rules_file(change))
        {
            return None;
        }
        Some(Judged { recorder: Arc::clone(found.recorder.as_ref()?), changes })
    }

    /// Whether something was left of a sampler.
    pub(super) fn is_left(&self, process: u32, fingerprint: &str) -> bool {
        self.left.contains(&(process, fingerprint.to_owned()))
    }
}

/// The last value of each changed member.
fn values(changes: impl Iterator<Item = (String, Value)>) -> BTreeMap<String, Value> {
    changes.collect()
}

impl Judged {
    /// How the recorded decision differs from that of the rules, in a sentence. `answer` has the features of a format, or nothing.
    pub(super) fn differs(
        &self,
        state: &SamplerState,
        mut view: ViewTraits,
        tiling: Tiling,
        [fingerprint, path]: [&str; 2],
        driver: &Driver,
        answer: impl FnOnce(vk::Format, bool) -> Option<vk::FormatFeatureFlags2>,
    ) -> Option<String> {
        let Recorder { caps, policy, .. } = &*self.recorder;
        let is_gl = state.address_mode.iter().any(|mode| [GL_CLAMP, GL_MIRROR_CLAMP].contains(mode));
        if !self.recorder.is_of(driver)
            || format!("{:016x}", state.fingerprint()) != fingerprint
            || !WAYS.contains(&path)
            || (is_gl || caps.gl_address_modes || state.unnormalized_coordinates || state.custom_border.is_some())
            || (state.ycbcr.is_some() || view.ycbcr || tiling == Tiling::Modifier)
        {
            return None;
        }
        let recorded = view.features?;
        view.features = Some((recorded & !ASKED) | (answer(view.format, tiling == Tiling::Linear)? & ASKED));
        // Which of the two holds by default is a matter of the driver's quirks.
        let both = [policy.flat_nearest, !policy.flat_nearest];
        let both = both.map(|flat_nearest| {
            let policy = Policy { flat_nearest, ..*policy };
            let terms = Terms { caps, policy: &policy, audit: false };
            let place = |wish: BorderWish| match wish {
                BorderWish::Take { .. } => BorderPlace::Held,
                BorderWish::GiveUp => BorderPlace::GivenUp,
            };
            let creation = outcome::creation(state, Exempt::NONE, &terms, place);
            let meeting =
                outcome::meeting(&creation.kept(state), &view, [], Off::NONE, &terms, |_| Ok::<(), Refusal>(()));
            // What shaders do beside the sampler depends on the shaders.
            let is_in_shader = meeting.compare.is_some();
            let value = |change: &Change| {
                // As it comes back from a trace.
                let text = layer_record::value(change.to).to_string();
                (change.field.name().to_owned(), serde_json::from_str(&text).unwrap_or_default())
            };
            let all = creation.decision.changes.iter().chain(&meeting.changes);
            (!is_in_shader).then(|| values(all.map(value)))
        });
        let [Some(decided), Some(otherwise)] = both else { return None };
        let recorded = values(self.changes.iter().map(|change| (change.field.clone(), change.to.clone())));
        if recorded == decided || recorded == otherwise {
            return None;
        }
        let members = recorded.keys().chain(decided.keys());
        let member = members.into_iter().find(|name| recorded.get(*name) != decided.get(*name))?;
        let text = |values: &BTreeMap<String, Value>| match values.get(member) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "no change".to_owned(),
        };
        Some(format!("decided otherwise: {member}: {} recorded, {} by the rules", text(&recorded), text(&decided)))
    }
}
