//! What is written down of shaders: a `shader` record for each pass that changed a module, an `unresolved` one for each thing that a
//! pass left.

use ash::vk::{self, Handle};
use samplin_core::left::{Cause, Explained, Left};
use samplin_spirv::image_access;
use samplin_spirv::image_formats::{self, Codec};
use samplin_spirv::passes::{self, Outcome, Pass, Step, Why};
use samplin_spirv::scan::Scan;
use samplin_wire::record::Descriptor;
use samplin_wire::text::handle;
use serde_json::{Value as Json, json};

use crate::decide::{AT_OFFSET, Catalog, Change, Field, IN_PLACE, OF_SAMPLES, Rule, Value, fnv1a};
use crate::device::journal::Journal;
use crate::device::modules::{add_module, fingerprint};
use crate::names::{self, Spirv};
use crate::record;

/// What is written down of a pipeline.
#[derive(Debug, Default)]
pub struct PipelineRecord {
    /// Its fragment shader, if it is concerned.
    pub(super) module: Option<u64>,
    pub(super) pass: &'static str,
    /// Whether it has one sample, where what is lost depends on that.
    pub(super) single: Option<bool>,
    pub(super) changes: Vec<Change>,
    pub(super) rules: Vec<String>,
    /// Words before and after.
    pub(super) words: Option<[usize; 2]>,
}

/// The rule that is concerned where a pass left something.
fn rule(pass: Pass, why: &Why) -> Option<Rule> {
    match (pass, why) {
        (Pass::ImageAccess, Why::Escapes { .. } | Why::Atomics { .. }) => Some(Rule::StorageFormat),
        (Pass::ImageAccess, _) => Some(Rule::StorageAccess),
        (Pass::ImageFormats, _) => Some(Rule::StorageFormat),
        (Pass::AtomicCounters, _) => Some(Rule::AtomicCounters),
        (Pass::SampleBuiltins | Pass::SampleMask, _) => Some(Rule::SampleShading),
        (Pass::SampleInputs, _) => Some(Rule::Override),
    }
}

/// What a pass did, as the trace has it; none for what is not recorded.
pub(super) fn change(pass: Pass, change: &passes::PassChange) -> Option<Change> {
    use passes::PassChange as C;
    let named = |kind, number| Value::Spirv(names::spirv(kind, number));
    let (word, none) = (Value::Spirv, Value::Absent);
    let (catalog, field, from, to) = match (change, pass) {
        (C::Counters(_), _) => (Catalog::K1, Field::StorageClass, word("AtomicCounter"), word("StorageBuffer")),
        (C::FormatRelaxed { format, .. }, _) => {
            (Catalog::H4, Field::ImageFormat, named(Spirv::ImageFormat, *format), word("Unknown"))
        }
        (C::FormatLowered { format, .. }, _) => {
            let alias = Codec::of(*format).map_or(0, Codec::alias);
            (Catalog::H5, Field::ImageFormat, named(Spirv::ImageFormat, *format), named(Spirv::ImageFormat, alias))
        }
        (C::NotRead { .. }, _) => (Catalog::H3Read, Field::Decoration, none, word("NonReadable")),
        (C::NotWritten { .. }, _) => (Catalog::H3Write, Field::Decoration, none, word("NonWritable")),
        (C::CapabilityAdded(number), _) => (Catalog::H4, Field::Capability, none, named(Spirv::Capability, *number)),
        (C::CapabilityDropped(number), Pass::ImageAccess) => {
            (Catalog::H3, Field::Capability, named(Spirv::Capability, *number), none)
        }
        (C::CapabilityDropped(number), Pass::SampleBuiltins) => {
            (Catalog::J2, Field::Capability, named(Spirv::Capability, *number), none)
        }
        (C::BuiltInConstant(number), _) => {
            (Catalog::J2, Field::BuiltIn, named(Spirv::BuiltIn, *number), word("Private"))
        }
        (C::SampleDropped(_), _) => (Catalog::J2, Field::Decoration, word("Sample"), none),
        (C::Interpolation { at_offsets: 0, .. }, _) => {
            (Catalog::J2, Field::Interpolation, word("InterpolateAtSample"), none)
        }
        (C::Interpolation { diverging: 0, .. }, _) => (Catalog::J2, Field::Interpolation, word(AT_OFFSET), none),
        (C::Interpolation { .. }, _) => (Catalog::J2, Field::Interpolation, word(AT_OFFSET), word(IN_PLACE)),
        (C::MaskOfPixels, _) => (Catalog::J2, Field::BuiltIn, word(OF_SAMPLES), word("SampleMask of a pixel")),
        (C::MaskShortened { from, to }, _) => {
            (Catalog::J4, Field::SampleMaskWords, Value::Raw(*from as i32), Value::Raw(*to as i32))
        }
        (C::CapabilityDropped(number), _) => (Catalog::K1, Field::Capability, named(Spirv::Capability, *number), none),
        (C::ExtensionDropped(name), _) => (Catalog::K1, Field::Extension, word(name), none),
        (C::Semantics(_), _) => {
            (Catalog::K1, Field::MemorySemantics, word("AtomicCounterMemory"), word("UniformMemory"))
        }
        (C::Origin, _) => (Catalog::K1Origin, Field::ExecutionMode, word("OriginLowerLeft"), word("OriginUpperLeft")),
        (C::BuiltInDropped(number), _) => (Catalog::K1Valid, Field::BuiltIn, named(Spirv::BuiltIn, *number), none),
        (C::BuiltInReplaced { from, to }, _) => {
            (Catalog::K1Valid, Field::BuiltIn, named(Spirv::BuiltIn, *from), named(Spirv::BuiltIn, *to))
        }
        (C::LocationDropped(_), _) => (Catalog::K1Valid, Field::Location, word("Location"), none),
        _ => return None,
    };
    Some(Change { catalog, field, from, to })
}

/// The descriptor that a change is about.
fn changed_descriptor(change: &passes::PassChange) -> Option<Descriptor> {
    use passes::PassChange as C;
    let (set, binding) = match change {
        C::Counters(counters) => (counters.set, counters.binding),
        C::FormatRelaxed { set, binding, .. }
        | C::FormatLowered { set, binding, .. }
        | C::NotRead { set, binding }
        | C::NotWritten { set, binding } => (*set, *binding),
        _ => return None,
    };
    Some(Descriptor { set, binding, element: None })
}

/// The descriptor that was left.
fn left_descriptor(why: &Why) -> Option<Descriptor> {
    match *why {
        Why::BindingTaken { set, binding }
        | Why::Escapes { set, binding }
        | Why::Atomics { set, binding }
        | Why::FormatlessRead { set, binding }
        | Why::FormatlessWrite { set, binding } => Some(Descriptor { set, binding, element: None }),
        _ => None,
    }
}

/// Where the counters of a binding of OpenGL's are.
fn mapping(change: &passes::PassChange) -> Option<Json> {
    let passes::PassChange::Counters(to) = change else { return None };
    Some(record::object(&mut [
        ("counter_binding", to.counter_binding.into()),
        ("set", to.set.into()),
        ("binding", to.binding.into()),
        ("offsets", to.offsets.iter().copied().collect()),
        ("size", to.size.into()),
    ]))
}

/// Why a pass left a module, or a part of it, as it was.
fn explained(why: &Why) -> Explained {
    match *why {
        Why::Module(error) => Cause::Unreadable.with(&[&error]),
        Why::Opcode(opcode) => Cause::UnknownInstruction.with(&[&opcode]),
        Why::Overlap(binding) => Cause::OverlapAt.with(&[&binding]),
        Why::DefaultUniform(location) => Cause::UniformAt.with(&[&location]),
        Why::StorageBuffers(most) => Cause::StageBuffers.with(&[&most]),
        Why::Capability(number) => Cause::ForeignCapability.with(&[&number]),
        _ => why.left().into(),
    }
}

/// What devices that can do less than any ask of the passes for storage images and samples, each by the name of the outcome.
fn weaker() -> [(&'static str, Step<'static>); 7] {
    let access = |read, write, relax| {
        // What is relaxed needs no correction, and the other way round.
        Step::ImageAccess(image_access::Options { read, write, may_declare: relax, relax })
    };
    let formats = |images, buffers| Step::ImageFormats(image_formats::Options { images, buffers });
    [
        ("access", access(false, false, false)),
        ("relaxed", access(true, true, true)),
        ("relaxed_to_read", access(true, false, true)),
        ("relaxed_to_write", access(false, true, true)),
        ("images", formats(u64::MAX, 0)),
        ("buffers", formats(0, u64::MAX)),
        ("samples", Step::SampleBuiltins),
    ]
}

impl Journal {
    /// Writes down, for predictions, what the passes would make of a module on devices that can do less.
    #[inline(never)]
    pub(super) fn record_weaker(&self, words: &[u32], found: Scan) {
        for (name, step) in weaker() {
            let Ok(outcome) = passes::run(words, found, std::iter::once(&step)) else { return };
            if outcome.changes.is_empty() && outcome.refusals.is_empty() {
                continue;
            }
            let mut record = self.record_of_module(fingerprint(words), step.pass(), &outcome.changes);
            record["would"] = std::mem::replace(&mut record["changes"], Json::Array(Vec::new()));
            record["left"] = outcome.refusals.iter().map(|(_, why)| why.left().name()).collect();
            record["could"] = name.into();
            self.trace().emit("shader", &record);
        }
    }

    /// A record of what a pass does to a module.
    #[inline(never)]
    fn record_of_module(&self, module: u64, pass: Pass, group: &[(Pass, passes::PassChange)]) -> Json {
        let context = self.context(None);
        let changes = group.iter().filter_map(|(pass, of)| change(*pass, of));
        let mut bindings: Vec<Descriptor> = Vec::new();
        for at in group.iter().filter_map(|(_, change)| changed_descriptor(change)) {
            if !bindings.contains(&at) {
                bindings.push(at);
            }
        }
        record::object(&mut [
            ("tier", "module".into()),
            ("pass", pass.name().into()),
            ("module", format!("{module:016x}").into()),
            ("bindings", json!(bindings)),
            ("changes", changes.map(|change| record::change(&change, &context)).collect()),
        ])
    }

    /// Writes down what the passes made of a module, once for each that is different.
    pub(super) fn record_module(&self, words: &[u32], outcome: &Outcome, ns: u64) {
        if outcome.changes.is_empty() && outcome.refusals.is_empty() {
            return;
        }
        let module = fingerprint(words);
        self.record_refusals(module, outcome);
        if outcome.changes.is_empty() || !self.is_news_of_module(module) {
            return;
        }
        let after = outcome.words.as_ref().map_or(words.len(), Vec::len);
        for group in outcome.changes.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((pass, _)) = group.first() else { continue };
            let changes: Vec<Change> = group.iter().filter_map(|(pass, of)| change(*pass, of)).collect();
            self.count(&changes);
            if !self.records_decisions() {
                continue;
            }
            let mapping: Vec<Json> = group.iter().filter_map(|(_, change)| mapping(change)).collect();
            let mut record = self.record_of_module(module, *pass, group);
            record["words"] = json!([words.len(), after]);
            record["ms"] = (ns as f64 / 1e6).into();
            if !mapping.is_empty() {
                record["mapping"] = mapping.into();
            }
            self.trace().emit("shader", &record);
        }
    }

    /// Writes down what passes left of a module, each thing once.
    pub(super) fn record_refusals(&self, module: u64, outcome: &Outcome) {
        for (pass, why) in &outcome.refusals {
            let mut members = record::object(&mut [("pass", pass.name().into())]);
            let at = left_descriptor(why);
            add_module(&mut members, module, at);
            // Several descriptors have one name.
            let which = at.map_or(0, |at| u64::from(at.set) << 32 | u64::from(at.binding));
            self.unresolved(explained(why), rule(*pass, why), members, (module, which));
        }
    }

    /// Says of a pipeline layout that it has something else, or nothing, where a shader has counters.
    pub(super) fn layout_unresolved(&self, set: u32, binding: u32, ty: Option<vk::DescriptorType>) {
        let why = match ty {
            Some(ty) => Cause::LayoutType.with(&[&names::descriptor_type(ty)]),
            None => Left::BindingMissing.into(),
        };
        let at = Descriptor { set, binding, element: None };
        let members = record::object(&mut [("descriptor", json!(at))]);
        let key = (u64::from(set) << 32 | u64::from(binding), ty.map_or(u64::MAX, |ty| ty.as_raw() as u64));
        self.unresolved(why, Some(Rule::AtomicCounters), members, key);
    }

    /// Says something of a module, once for each `which`.
    #[inline(never)]
    fn module_unresolved(&self, of: Explained, rule: Option<Rule>, module: u64, which: u64) {
        let mut members = Json::Null;
        add_module(&mut members, module, None);
        self.unresolved(of, rule, members, (module, which));
    }

    /// Says that a module in the chain of a stage reaches the driver unchanged, because what stands before it cannot be copied.
    pub fn chain_unresolved(&self, words: &[u32]) {
        let module = fingerprint(words);
        self.module_unresolved(Left::StageChain.into(), None, module, 0);
    }

    /// Writes down what became of a pipeline, once for each fragment shader and change.
    pub fn record_pipeline(&self, pipeline: vk::Pipeline, of: &PipelineRecord) {
        // What was done to a module is counted with its first record.
        if of.single.is_none() {
            self.count(&of.changes);
        }
        if !self.records_decisions() {
            return;
        }
        let words = |change: &Change| format!("{:?}", (change.catalog, change.from));
        let of_module = of.module.unwrap_or(0) ^ u64::from(of.single == Some(true));
        let key = fnv1a(of.changes.iter().flat_map(|change| words(change).into_bytes())) ^ of_module;
        if !self.is_news_of_module(key) {
            return;
        }
        let context = self.context(None);
        let mut record = record::object(&mut [
            ("tier", "pipeline".into()),
            ("pass", of.pass.into()),
            ("pipeline", handle(pipeline.as_raw()).into()),
            ("bindings", Json::Array(Vec::new())),
            ("changes", of.changes.iter().map(|change| record::change(change, &context)).collect()),
        ]);
        if let Some(module) = of.module {
            record["module"] = format!("{module:016x}").into();
        }
        if let Some(single) = of.single {
            record["key"] = json!({ "single": single });
        }
        if !of.rules.is_empty() {
            record["rules"] = json!(of.rules);
        }
        if let Some(words) = of.words {
            record["words"] = json!(words);
        }
        self.trace().emit("shader", &record);
    }

    /// Says that nobody knows what is lost of a fragment shader that does without sample shading.
    pub(super) fn samples_unresolved(&self, module: u64) {
        self.module_unresolved(Cause::NoSampleShading.into(), Some(Rule::SampleShading), module, 0);
    }

    /// Says of a stage with counters that it may not write buffers.
    pub(super) fn stage_unresolved(&self, words: &[u32], lacking: &str) {
        let why = Cause::StageCannotWrite.with(&[&lacking]);
        let (rule, which) = (Some(Rule::AtomicCounters), fnv1a(lacking.bytes()));
        self.module_unresolved(why, rule, fingerprint(words), which);
    }

    /// Says of a shader for OpenGL that it reaches the driver unchanged. The line is written before that: drivers do not survive counters.
    pub(super) fn opengl_unresolved(&self, words: &[u32], found: Scan) {
        let what = if found.intersects(Scan::COUNTERS) { Left::AtomicCounters } else { Left::OpenglShader };
        let module = fingerprint(words);
        let mut members = record::object(&mut [("vuid", Catalog::K1.vuid().into())]);
        add_module(&mut members, module, None);
        self.unresolved(what, Some(Rule::AtomicCounters), members, (module, 0));
    }
}
