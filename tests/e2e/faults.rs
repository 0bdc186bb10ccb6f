//! Calls that fail below samplin, on a real driver: each call of a script once, and everything from each call on.
//!
//! `testkit/faults` is a layer that fails calls by number. The script runs under it alone, which says what the application is
//! to see, and under samplin above it: then the application has to see the same, call by call, as long as the fault hits a call
//! that it made itself; and nothing at all where samplin made the call. Pixels have to be those of a run without faults, and
//! nothing may stay behind below samplin. Start reading at [`judge`]; the script is [`script`].
//!
//! The tests are processes of their own, this program again ([`application`]), because a fault may end one. The faults are spread
//! over several, because there are drivers that refuse an instance to a process that has had dozens.

use crate::run::{Folder, Outcome, Skip, read_trace, trial};
use ash::vk;
use libloading::Library;
use libtest_mimic::Trial;
use samplin_testkit::{Trace, again, layer};
use script::{Application, PAIRS, Path};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, OsStr, c_char};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};

mod binds;
mod script;

/// Name of the layer that fails calls.
const FAULTS: &str = "VK_LAYER_SAMPLIN_faults";
const LIBRARY: &str = "libVkLayer_samplin_faults.so";
/// Number of the process among those of its case.
const SHARE: &str = "SAMPLIN_TEST_E2E_FAULTS_SHARE";
/// Processes that a case's faults are spread over.
const SHARES: u64 = 32;
/// What calls fail with, each where the command may.
const RESULTS: [vk::Result; 4] = [
    vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    vk::Result::ERROR_TOO_MANY_OBJECTS,
    vk::Result::ERROR_DEVICE_LOST,
];

/// The case about calls that the application does not make.
const BINDS: &str = "calls-in-binds-fail";
const CASES: [&str; 4] = ["order-of-the-layers", "each-call-fails-once", "every-call-fails-from-then-on", BINDS];

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    CASES.into_iter().map(|name| trial(format!("faults/{name}"), move || run(name))).collect()
}

/// Runs a case in a process of its own, where the loader finds the layer that fails calls.
fn run(name: &'static str) -> Outcome {
    let folder = Folder::new();
    let library = layer::built(LIBRARY).unwrap_or_else(|error| panic!("{error}"));
    let manifest = serde_json::json!({
        "file_format_version": "1.2.0",
        "layer": {
            "name": FAULTS,
            "type": "GLOBAL",
            "library_path": library,
            "api_version": "1.4.0",
            "implementation_version": "1",
            "description": "Fails calls",
        }
    });
    std::fs::write(folder.join("faults.json"), manifest.to_string()).expect("a manifest");
    let variable = if std::env::var_os("VK_LAYER_PATH").is_some() { "VK_LAYER_PATH" } else { "VK_ADD_LAYER_PATH" };
    let mut search = vec![folder.join("")];
    search.extend(std::env::var_os(variable).iter().flat_map(std::env::split_paths));
    let search = std::env::join_paths(search).expect("paths without colons");
    let trace = folder.join("trace.jsonl");
    let shares = match name {
        "order-of-the-layers" => 1,
        BINDS => binds::SHARES,
        _ => SHARES,
    };
    let mut told: BTreeMap<String, u64> = BTreeMap::new();
    for share in 0..shares {
        for (what, count) in application_of(name, share, variable, &search, &trace)? {
            *told.entry(what).or_default() += count;
        }
    }
    let told: Vec<String> = told.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    println!("\nfaults/{name}: {}", told.join(", "));
    Ok(())
}

/// Counts that an application tells, by what is counted.
type Told = Vec<(String, u64)>;

/// Runs one process of a case.
fn application_of(name: &str, share: u64, variable: &str, search: &OsStr, trace: &FilePath) -> Result<Told, Skip> {
    let mut command = again::command(&format!("faults/{name}"));
    command
        .env(SHARE, share.to_string())
        .env(variable, search)
        // A layer of the system between these two would make calls of its own.
        .env("VK_LOADER_LAYERS_DISABLE", "~implicit~")
        .env("SAMPLIN_TRACE", trace)
        .env("SAMPLIN_TRACE_LEVEL", "decisions");
    let ended = again::run(&mut command).inspect_err(|Skip(reason)| {
        assert!(std::env::var_os("CI").is_none(), "{reason}");
    })?;
    Ok(serde_json::from_str(ended.said("told")).expect("counts"))
}

/// The application of a case, which tells its counts.
pub(crate) fn application(name: &str) -> Outcome {
    let share = std::env::var(SHARE).ok().and_then(|share| share.parse().ok()).expect("the number of this process");
    if name == BINDS {
        let trace = PathBuf::from(std::env::var_os("SAMPLIN_TRACE").expect("is set"));
        println!("told={}", serde_json::json!(binds::fail_binds(&trace, share)?));
        return Ok(());
    }
    let tests = Tests::new()?;
    let told = match name {
        "order-of-the-layers" => order(&tests),
        "each-call-fails-once" => fail_each(&tests, Extent::Once, share),
        "every-call-fails-from-then-on" => fail_each(&tests, Extent::FromThenOn, share),
        other => panic!("{other} is no case"),
    };
    println!("told={}", serde_json::json!(told));
    Ok(())
}

// --- the layer that fails calls -------------------------------------------------------------------------------------

/// The exported functions of `testkit/faults`, in the library that the loader loads as well.
struct Faults(Library);

impl Faults {
    fn open() -> Self {
        let path = layer::built(LIBRARY).unwrap_or_else(|error| panic!("{error}"));
        // SAFETY: the layer's library has no initialisers; while it is held, the loader's copy is this one.
        Self(unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// Calls one of the exported functions.
    fn call<F: Copy, R>(&self, name: &CStr, call: impl FnOnce(F) -> R) -> R {
        // SAFETY: `F` is the function's type, as the callers below have it from the layer's source.
        let function = unsafe { self.0.get::<F>(name.to_bytes()) };
        call(*function.unwrap_or_else(|error| panic!("{name:?}: {error}")))
    }

    fn number(&self, name: &CStr) -> u64 {
        self.call(name, |ask: extern "C" fn() -> u64| ask())
    }

    fn texts(&self, name: &CStr) -> Vec<String> {
        self.call(name, |ask: extern "C" fn(u64) -> *const c_char| {
            (0..)
                .map_while(|number| {
                    let text = ask(number);
                    // SAFETY: null or a static string of the layer, which stays loaded.
                    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
                })
                .collect()
        })
    }

    /// Forgets what was counted; calls with these numbers are going to fail.
    fn arm(&self, failing: &Range<u64>, result: vk::Result) {
        let count = failing.end - failing.start;
        self.call(c"samplin_faults_arm", |arm: extern "C" fn(u64, u64, i32)| {
            arm(failing.start, count, result.as_raw());
        });
    }

    fn calls(&self) -> u64 {
        self.number(c"samplin_faults_calls")
    }

    fn injected(&self) -> u64 {
        self.number(c"samplin_faults_injected")
    }

    fn written(&self) -> u64 {
        self.number(c"samplin_faults_written")
    }
}

// --- what a run came to ---------------------------------------------------------------------------------------------

/// What became of the output of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Untouched,
    Null,
    Set,
}

/// A call of the application that can fail, as the application sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    command: &'static str,
    result: vk::Result,
    output: Output,
}

/// What a run of the script came to.
#[derive(Clone, Debug, Default)]
struct Run {
    steps: Vec<Step>,
    /// For each step the numbers of the calls that went down meanwhile.
    below: Vec<Range<u64>>,
    /// The calls that went down.
    calls: Vec<String>,
    /// The first of them that failed.
    failed: Option<u64>,
    /// What the pairs looked like in each round; only what was drawn.
    pixels: BTreeMap<(usize, usize), Vec<u8>>,
    /// Pairs during whose write a call failed.
    given_up: Vec<(usize, usize)>,
    /// Pairs whose descriptor got another sampler than the application's.
    rewritten: Vec<(usize, usize)>,
    /// Pairs written by a path on which that was looked at.
    watched: Vec<(usize, usize)>,
    /// Pairs that the device cannot do as the application asks.
    illegal: BTreeSet<usize>,
    /// What was created and not destroyed below.
    left: Vec<String>,
    /// How often something was destroyed that was not there.
    foreign: u64,
    /// What samplin wrote down.
    trace: Trace,
}

impl Run {
    /// The step during which call `number` went down.
    fn step_of(&self, number: u64) -> Option<usize> {
        self.below.iter().position(|below| below.contains(&number))
    }

    /// Whose call `number` is: the one of `bare`, a run without samplin, that it was made for. `None` for samplin's own.
    fn made_for(&self, number: u64, bare: &Run) -> Option<u64> {
        let (step, command) = (self.step_of(number)?, &self.calls[number as usize]);
        let earlier = self.below[step].start as usize..number as usize;
        let nth = self.calls[earlier].iter().filter(|call| *call == command).count();
        // To add its own extension, samplin asks for the length and the list where it is asked for one of the two. The loader
        // asks while a device is created, too, before any layer does.
        let nth = if command == "vkEnumerateDeviceExtensionProperties" { nth / 2 } else { nth };
        bare.below[step].clone().filter(|number| bare.calls[*number as usize] == *command).nth(nth)
    }

    fn unresolved(&self) -> Vec<&serde_json::Value> {
        self.trace.events("unresolved").collect()
    }

    fn augmented(&self) -> bool {
        self.trace.events("device").any(|device| device["augmented"].as_array().is_some_and(|list| !list.is_empty()))
    }
}

// --- the judges -----------------------------------------------------------------------------------------------------

/// Which calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Once,
    FromThenOn,
}

impl Extent {
    fn from(self, first: u64) -> Range<u64> {
        match self {
            Self::Once => first..first + 1,
            Self::FromThenOn => first..u64::MAX,
        }
    }
}

/// No call fails.
const NONE: Range<u64> = 0..0;

/// What every case needs: the layer's functions and the runs without faults.
struct Tests {
    faults: Faults,
    trace: PathBuf,
    /// Without samplin.
    bare: Run,
    /// With samplin above the layer that fails calls.
    above: Run,
}

impl Tests {
    fn new() -> Result<Self, Skip> {
        layer::install().unwrap_or_else(|error| panic!("{error}"));
        let faults = Faults::open();
        let trace = PathBuf::from(std::env::var_os("SAMPLIN_TRACE").expect("is set"));
        let mut tests = Self { faults, trace, bare: Run::default(), above: Run::default() };
        tests.bare = tests.run_or_skip(&[FAULTS])?;
        tests.above = tests.run_or_skip(&[layer::SAMPLIN, FAULTS])?;
        Ok(tests)
    }

    /// A run without faults.
    fn run_or_skip(&self, layers: &[&str]) -> Result<Run, Skip> {
        let run = self.run(layers, &NONE, vk::Result::SUCCESS)?;
        for step in &run.steps {
            if step.result != vk::Result::SUCCESS {
                let Step { command, result, .. } = step;
                return Err(Skip(format!("under {layers:?}, with no fault, {command} returns {result:?}")));
            }
        }
        if !run.steps.iter().any(|step| step.command == "vkCreateDevice") {
            return Err(Skip("there is no Vulkan device of that name".into()));
        }
        assert_clean(&run, &format!("{layers:?} without faults"));
        Ok(run)
    }

    fn run(&self, layers: &[&str], failing: &Range<u64>, result: vk::Result) -> Result<Run, Skip> {
        self.faults.arm(failing, result);
        let mut run = Application::run(&self.faults, layers)?;
        run.calls = self.faults.texts(c"samplin_faults_command");
        run.failed = Some(self.faults.number(c"samplin_faults_first")).filter(|first| *first != u64::MAX);
        run.left = self.faults.texts(c"samplin_faults_left");
        run.foreign = self.faults.number(c"samplin_faults_foreign");
        if self.trace.exists() {
            run.trace = read_trace(&self.trace);
            std::fs::remove_file(&self.trace).expect("each run has a trace of its own");
        }
        Ok(run)
    }

    /// What a pair has to look like.
    fn wanted(&self, pair: usize) -> &[u8] {
        let legal = if self.bare.illegal.contains(&pair) { PAIRS[pair].twin } else { pair };
        &self.bare.pixels[&(0, legal)]
    }

    fn assert_pixels(&self, run: &Run, what: &str) {
        for ((round, pair), pixels) in &run.pixels {
            let name = PAIRS[*pair].name;
            assert_eq!(pixels, self.wanted(*pair), "{what}: {name} of round {round} looks otherwise");
        }
    }
}

/// Nothing is left below, and nothing was destroyed that was not there.
fn assert_clean(run: &Run, what: &str) {
    assert!(run.left.is_empty(), "{what}: left behind below: {:?}", run.left);
    assert_eq!(run.foreign, 0, "{what}: something was destroyed that was not there");
}

/// The layers lie in the order that the other tests rest on, and the script is one: repairs are made and seen.
fn order(tests: &Tests) -> Vec<(&'static str, u64)> {
    let Tests { bare, above, .. } = tests;
    // Alone, the layer sees the application's calls and what the loader asks for their sake.
    assert!((0..bare.calls.len() as u64).all(|number| bare.step_of(number).is_some()), "{:?}", bare.calls);
    for (step, below) in bare.steps.iter().zip(&bare.below) {
        assert!(
            bare.calls[below.start as usize..below.end as usize].iter().any(|call| call == step.command),
            "{step:?}"
        );
    }
    assert!(bare.rewritten.is_empty() && bare.trace.records.is_empty(), "without samplin: {bare:#?}");

    // Below samplin it sees the variants, and their handles in the descriptors of every illegal pair.
    assert_eq!(above.steps, bare.steps);
    let samplers = |run: &Run| run.calls.iter().filter(|call| *call == "vkCreateSampler").count();
    let own = (0..above.calls.len() as u64).filter(|number| above.step_of(*number).is_none()).collect::<Vec<_>>();
    assert!(own.iter().all(|number| above.calls[*number as usize] == "vkCreateSampler"), "{own:?} {:?}", above.calls);
    assert_eq!(samplers(above) - samplers(bare), own.len());
    let push = above.watched.iter().any(|(_, pair)| PAIRS[*pair].path == Path::Push);
    assert!(own.len() >= if push { 5 } else { 4 }, "variants of two rounds: {own:?}");
    let expected: Vec<_> = above.watched.iter().copied().filter(|(_, pair)| above.illegal.contains(pair)).collect();
    assert!(!expected.is_empty());
    assert_eq!(above.rewritten, expected, "illegal pairs get another sampler");
    assert!(above.unresolved().is_empty(), "{:#?}", above.unresolved());
    // All is drawn, and as it should be; pairs of one image tell its filters apart.
    let drawn: BTreeSet<usize> = above.pixels.keys().map(|(_, pair)| *pair).collect();
    let expected: BTreeSet<usize> = (0..PAIRS.len()).filter(|pair| push || PAIRS[*pair].path != Path::Push).collect();
    assert_eq!(drawn, expected);
    tests.assert_pixels(above, "with samplin");
    let pictures: BTreeSet<&[u8]> = bare.pixels.values().map(Vec::as_slice).collect();
    assert!(pictures.len() >= 3, "pictures of three images");

    // With the layers in the other order it sees neither: what this test looks at tells the orders apart.
    let other = tests.run(&[FAULTS, layer::SAMPLIN], &NONE, vk::Result::SUCCESS).expect("ran before");
    assert_eq!(other.calls.iter().filter(|call| *call == "vkCreateSampler").count(), samplers(bare));
    assert!(other.rewritten.is_empty());
    tests.assert_pixels(&other, "with samplin below");
    vec![
        ("calls below samplin", above.calls.len() as u64),
        ("calls without it", bare.calls.len() as u64),
        ("calls that make variants", own.len() as u64),
    ]
}

/// Every call of the script fails with every result that its command may have; this process has those of its share.
fn fail_each(tests: &Tests, extent: Extent, share: u64) -> Vec<(&'static str, u64)> {
    let above = [layer::SAMPLIN, FAULTS];
    // What the application sees without samplin, by call and result.
    let mut bare: BTreeMap<(u64, i32), Run> = BTreeMap::new();
    let (mut injected, mut of_samplin) = (0, 0);
    let mut cannot: BTreeSet<(String, i32)> = BTreeSet::new();
    for result in RESULTS {
        for number in (share..tests.above.calls.len() as u64).step_by(SHARES as usize) {
            let command = &tests.above.calls[number as usize];
            if cannot.contains(&(command.clone(), result.as_raw())) {
                continue;
            }
            let what = format!("{extent:?}: call {number}, {command}: {result:?}");
            println!("{what}");
            let run = tests.run(&above, &extent.from(number), result).expect("ran before");
            let seen = run.calls.get(number as usize);
            assert_eq!(seen, Some(command), "{what}: the calls before are those of a run without faults");
            if run.failed != Some(number) {
                cannot.insert((command.clone(), result.as_raw()));
                continue;
            }
            injected += 1;
            let hit = tests.above.made_for(number, &tests.bare);
            of_samplin += u64::from(hit.is_none());
            // Nobody asked for what samplin adds to a device, so it tries again without.
            let again = command == "vkCreateDevice" && tests.above.augmented();
            let hit = match extent {
                Extent::Once => hit.filter(|_| !again),
                Extent::FromThenOn => (number..tests.above.calls.len() as u64)
                    .find_map(|number| tests.above.made_for(number, &tests.bare)),
            };
            let sees = match hit {
                Some(first) => bare.entry((first, result.as_raw())).or_insert_with(|| {
                    println!("{what}, without samplin");
                    let what = format!("{what}, without samplin");
                    let run = tests.run(&[FAULTS], &extent.from(first), result).expect("ran before");
                    assert_clean(&run, &what);
                    if extent == Extent::Once {
                        let step = tests.bare.step_of(first).expect("the application's");
                        assert_eq!(run.steps[step].result, result, "{what}");
                    }
                    tests.assert_pixels(&run, &what);
                    run
                }),
                None => &tests.above,
            };
            judge(tests, &run, sees, &what);
            if again && extent == Extent::Once {
                assert!(!run.augmented(), "{what}: the device is not what was asked for first");
            }
            if hit.is_none() && command == "vkCreateSampler" {
                assert_eq!(run.given_up.len(), 1, "{what}: a variant that could not be made");
                let why = run.unresolved()[0]["why"].as_str().unwrap_or_default().to_owned();
                assert!(why.contains(&format!("{result:?}")), "{what}: {why}");
            }
        }
    }
    vec![
        ("faults injected below samplin", injected),
        ("of them in calls that it makes by itself", of_samplin),
        ("runs without samplin to compare with", bare.len() as u64),
    ]
}

/// What must hold after any fault: `sees` is what the application has to see.
fn judge(tests: &Tests, run: &Run, sees: &Run, what: &str) {
    for (number, (step, sees)) in run.steps.iter().zip(&sees.steps).enumerate() {
        assert_eq!(step, sees, "{what}: the application sees something else at its call {number}");
    }
    assert_eq!(run.steps.len(), sees.steps.len(), "{what}: the application does not make the same calls");
    assert_clean(run, what);
    tests.assert_pixels(run, what);
    // What could be drawn was drawn: everything but the pairs that samplin would have repaired and could not.
    for place in sees.pixels.keys() {
        assert!(run.pixels.contains_key(place) || run.given_up.contains(place), "{what}: {place:?} is not drawn");
    }
    // Each pair that could not be repaired keeps the application's sampler, and has a record that says why.
    for place in &run.watched {
        let repaired = run.illegal.contains(&place.1) && !run.given_up.contains(place);
        assert_eq!(run.rewritten.contains(place), repaired, "{what}: {place:?} has the wrong sampler");
    }
    let unresolved = run.unresolved();
    assert_eq!(unresolved.len(), run.given_up.len(), "{what}: {unresolved:#?}");
    for record in unresolved {
        assert_eq!((&record["what"], &record["rule"]), (&"pair".into(), &"sampler-budget".into()), "{what}");
    }
}
