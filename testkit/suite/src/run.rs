//! Making contexts and judging them: validation messages, the trace, and which library is loaded.

use jsonschema::Validator;
use libtest_mimic::{Completion, Trial};
use samplin_testkit::trace::RecordedChange;
use samplin_testkit::{Context, ContextBuilder, ContextError, Message, MessageLog, Trace, layer};
use serde_json::Value as Json;
use std::path::Path;
use std::sync::OnceLock;

pub use samplin_testkit::Folder;
pub use samplin_testkit::skip::{Outcome, Skip, skip_if};

/// One named test.
pub fn trial(name: impl Into<String>, body: impl FnOnce() -> Outcome + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match body() {
        Ok(()) => Ok(Completion::Completed),
        Err(Skip(reason)) => {
            samplin_testkit::skip(&reason);
            Ok(Completion::ignored_with(reason))
        }
    })
}

/// A test by its name.
pub type Named = (&'static str, fn() -> Outcome);

/// Tests by their names.
pub fn trials(all: &[Named]) -> Vec<Trial> {
    all.iter().map(|(name, body)| trial(*name, *body)).collect()
}

// --- contexts -------------------------------------------------------------------------------------------------------

/// Builds a context, or says what is missing. With `CI` set, a missing loader, driver or layer is a failure.
pub fn build(builder: &ContextBuilder) -> Result<Context, Skip> {
    match builder.build() {
        Ok(context) => Ok(context),
        Err(error @ (ContextError::LayerUnderTest(_) | ContextError::Vulkan(..))) => panic!("{error}"),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "no context: {error}");
            Err(Skip(error.to_string()))
        }
    }
}

/// Runs `body` on a context with the validation layer alone and returns the errors reported until the instance was gone.
pub fn without_layer<R>(
    builder: ContextBuilder,
    body: impl FnOnce(&Context) -> Result<R, Skip>,
) -> Result<(R, Vec<Message>), Skip> {
    let context = build(&builder.validation())?;
    let log = context.messages();
    let result = body(&context)?;
    drop(context);
    Ok((result, log.errors()))
}

/// Runs `body` on a context with samplin above the validation layer; see [`Judged`].
pub fn with_layer<R>(
    builder: ContextBuilder,
    body: impl FnOnce(&Context) -> Result<R, Skip>,
) -> Result<(R, Judged), Skip> {
    let folder = Folder::new();
    let path = folder.join("trace.jsonl");
    let trace = path.to_str().expect("temporary paths are UTF-8");
    let context = build(&builder.samplin().validation().setting("trace", trace))?;
    assert_loaded();
    let log = context.messages();
    let result = body(&context)?;
    drop(context);
    Ok((result, Judged::new(&log, &path)))
}

/// The same without the validation layer, which gives each object a handle of its own: those of the driver come again.
pub fn alone<R>(builder: ContextBuilder, body: impl FnOnce(&Context) -> Result<R, Skip>) -> Result<(R, Trace), Skip> {
    let folder = Folder::new();
    let path = folder.join("trace.jsonl");
    let context = build(&builder.samplin().file("trace", &path))?;
    let result = body(&context)?;
    drop(context);
    Ok((result, read_trace(&path)))
}

/// [`with_layer`] where the validation layer must report nothing; `what` says of what.
pub fn silent<R>(
    builder: ContextBuilder,
    what: &str,
    body: impl FnOnce(&Context) -> Result<R, Skip>,
) -> Result<(R, Judged), Skip> {
    let (result, judged) = with_layer(builder, body)?;
    judged.assert_silent(what);
    Ok((result, judged))
}

/// [`silent`] with what comes of it without samplin, which has to be the same.
pub fn same<R: PartialEq + std::fmt::Debug>(
    builder: ContextBuilder,
    what: &str,
    body: impl Fn(&Context) -> Result<R, Skip>,
) -> Result<(R, Judged), Skip> {
    let (wanted, _) = without_layer(builder.clone(), &body)?;
    let (got, judged) = silent(builder, what, &body)?;
    assert_eq!(got, wanted, "{what}");
    Ok((got, judged))
}

/// What a context with samplin left behind once its instance was gone.
pub struct Judged {
    /// What the validation layer below samplin reported.
    pub errors: Vec<Message>,
    /// Every record, all of which follow the schema.
    pub trace: Trace,
}

impl Judged {
    fn new(log: &MessageLog, path: &Path) -> Self {
        Self { errors: log.errors(), trace: read_trace(path) }
    }

    /// Panics if the validation layer reported anything.
    pub fn assert_silent(&self, what: &str) {
        assert_silent(&self.errors, what);
    }

    /// The changes of all records of one event.
    pub fn changes(&self, event: &str) -> Vec<RecordedChange> {
        self.trace.events(event).flat_map(samplin_testkit::trace::changes).collect()
    }

    /// The only change of all records of one event.
    pub fn change(&self, event: &str) -> RecordedChange {
        let changes = self.changes(event);
        let [change] = changes.as_slice() else { panic!("{event}: {changes:#?}") };
        change.clone()
    }

    /// What stays as it is, by name.
    pub fn left(&self) -> Vec<&str> {
        self.trace.events("unresolved").map(|record| record["what"].as_str().expect("a name")).collect()
    }

    /// Panics if something stays as it is.
    pub fn assert_resolved(&self) {
        let left: Vec<_> = self.trace.events("unresolved").collect();
        assert!(left.is_empty(), "{left:#?}");
    }

    /// The only record of an event.
    pub fn only<'j>(&'j self, event: &'j str) -> &'j Json {
        let all: Vec<_> = self.trace.events(event).collect();
        let [record] = all[..] else { panic!("{event}: {all:#?}") };
        record
    }

    /// The only record of something that stays as it is.
    pub fn only_left(&self) -> &Json {
        self.only("unresolved")
    }

    /// The summary of the only device.
    pub fn summary(&self) -> &Json {
        let mut all = self.trace.events("summary").filter(|record| record["scope"] == "device");
        let first = all.next().expect("a summary of the device");
        assert!(all.next().is_none(), "one device has one summary");
        first
    }

    /// Asserts that nothing was changed, nothing complained about and no sampler put in another's place.
    pub fn assert_untouched(&self, what: &str) {
        for event in ["sampler", "pair", "blit", "conversion"] {
            let changes = self.changes(event);
            assert!(changes.is_empty(), "{what}: {event} records of a legal application: {changes:#?}");
        }
        let left: Vec<_> = self.trace.events("unresolved").collect();
        assert!(left.is_empty(), "{what}: {left:#?}");
        let summary = self.summary();
        assert_eq!(summary["variants"]["created"], 0, "{what}: {summary:#}");
        assert_eq!(summary["blits_rewritten"], 0, "{what}: {summary:#}");
        assert_eq!(summary["changes"], serde_json::json!({}), "{what}: {summary:#}");
        for (path, counts) in summary["writes"].as_object().expect("counts by path") {
            assert_eq!(counts["rewritten"], 0, "{what}: {path} of {summary:#}");
        }
    }
}

/// Panics if there is an error among the messages.
pub fn assert_silent(errors: &[Message], what: &str) {
    let ids: Vec<&str> = errors.iter().map(|message| message.id.as_str()).collect();
    assert!(errors.is_empty(), "{what}: the validation layer reports {ids:?}: {errors:#?}");
}

/// Proves that the library in use is the one under test, the one beside its manifest.
fn assert_loaded() {
    let folder = layer::install().expect("the context was built with it");
    let manifest = std::fs::read_dir(folder)
        .expect("the folder of the manifest")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .find_map(|path| {
            let manifest: Json = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
            (manifest["layer"]["name"] == layer::SAMPLIN).then_some(manifest)
        })
        .expect("a manifest of the layer");
    let library = manifest["layer"]["library_path"].as_str().expect("a library path");
    let wanted = folder.join(library).canonicalize().expect("the library of the manifest");
    let loaded = layer::loaded_library().expect("the layer is mapped").canonicalize().expect("its file");
    assert_eq!(loaded, wanted, "another library than the one under test is loaded");
}

// --- traces ---------------------------------------------------------------------------------------------------------

/// Reads a trace, each record of which has to follow the schema; record numbers have to be unique.
pub fn read_trace(path: &Path) -> Trace {
    let trace = Trace::read(path).expect("a trace");
    let mut seen = std::collections::BTreeSet::new();
    for record in &trace.records {
        let errors: Vec<String> =
            schema().iter_errors(record).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?} in {record:#}");
        assert!(seen.insert((record["pid"].as_u64(), record["seq"].as_u64())), "a second record {record:#}");
    }
    trace
}

/// What each record has to follow.
pub(crate) fn schema() -> &'static Validator {
    static SCHEMA: OnceLock<Validator> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifest/trace.schema.json");
        let text = std::fs::read_to_string(&path).expect("the schema");
        let schema = serde_json::from_str(&text).expect("JSON");
        jsonschema::draft202012::new(&schema).expect("a schema")
    })
}
