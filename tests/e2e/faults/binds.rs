//! Calls that samplin makes by itself in a bind, for samplers and images that only a shader joins: sets that are copied, pipelines that
//! are made again, and the sets that these read.
//!
//! A bind has no result, and the application makes no call in it that could fail, so there is nothing for it to see but pixels: what is
//! legal is read as it was given, and the rest is as it should be, or has a record that says why not.

use super::{Faults, NONE, RESULTS, Told};
use crate::run::{self, Skip, read_trace};
use crate::scene::Scene;
use ash::vk;
use samplin_testkit::separate::{Commands, Job, Plan, Program, Rig};
use samplin_testkit::{Context, Held, SamplerDesc, Slot, Texture, Value, layer};
use std::ops::Range;
use std::path::Path;

/// Processes that the faults are spread over.
pub(super) const SHARES: u64 = 4;

/// Two images that one sampler is for: both of integers, which want another one together, or one of them good as it is.
const SCENES: [(&str, [vk::Format; 2]); 2] =
    [("agree", [vk::Format::R32_UINT; 2]), ("shared", [vk::Format::R32_UINT, vk::Format::R8G8B8A8_UNORM])];

/// What a bind came to.
struct Found {
    values: Vec<Vec<Value>>,
    /// Calls that samplin made in it, and how many of them failed.
    calls: Vec<String>,
    injected: u64,
    /// Links that were told to be left meanwhile.
    left: u64,
}

struct Stand<'t> {
    faults: Faults,
    trace: &'t Path,
}

impl Stand<'_> {
    fn told(&self) -> u64 {
        if self.trace.exists() { read_trace(self.trace).events("unresolved").count() as u64 } else { 0 }
    }

    /// Binds on a device of its own while these calls fail, and once more while none does.
    fn run(
        &self,
        formats: [vk::Format; 2],
        failing: &Range<u64>,
        result: vk::Result,
        what: &str,
    ) -> Result<[Found; 2], Skip> {
        let context = run::build(&Context::builder().samplin().layer(super::FAULTS).setting("augment", "off"))?;
        let found = self.bind(&context, formats, failing, result);
        drop(context);
        let (behind, foreign) =
            (self.faults.texts(c"samplin_faults_left"), self.faults.number(c"samplin_faults_foreign"));
        assert!(behind.is_empty(), "{what}: left behind below: {behind:?}");
        assert_eq!(foreign, 0, "{what}: something was destroyed that was not there");
        if self.trace.exists() {
            std::fs::remove_file(self.trace).expect("each device has a trace of its own");
        }
        found
    }

    fn bind(
        &self,
        context: &Context,
        formats: [vk::Format; 2],
        failing: &Range<u64>,
        result: vk::Result,
    ) -> Result<[Found; 2], Skip> {
        let textures =
            [Texture::new(context, Scene::colour(formats[0]))?, Texture::new(context, Scene::colour(formats[1]))?];
        let points = Scene::colour(vk::Format::R8G8B8A8_UNORM).points(false);
        let sampler = SamplerDesc::linear().create(context);
        let [first, second] = &textures;
        let held = Held::of(context, &[first.slot(0, 0), Slot::sampler(&sampler, 1, 0), second.slot(2, 0)]);
        let layouts = [&held.layout];
        let plan = Plan::new(Program::Shared, first.kind(), &layouts).second(second.kind());
        let rig = Rig::new(context, &plan);
        let bind = |failing: &Range<u64>| {
            let (job, before) = (Job::new(&rig, &points), self.told());
            let (mut calls, mut injected) = (Vec::new(), 0);
            let commands = Commands::primary(context, |commands| {
                self.faults.arm(failing, result);
                rig.bind(commands);
                rig.bind_sets(commands, 0, &[held.set], &[]);
                job.bind(commands);
                // What is bound is noted, and what the draw needs besides is bound in front of it.
                job.run(commands, 0);
                calls = self.faults.texts(c"samplin_faults_command");
                injected = self.faults.injected();
                assert_eq!(
                    self.faults.number(c"samplin_faults_foreign"),
                    0,
                    "something was destroyed that was not there"
                );
                self.faults.arm(&NONE, vk::Result::SUCCESS);
            });
            commands.execute();
            Found { values: job.results(), calls, injected, left: self.told() - before }
        };
        Ok([bind(failing), bind(&NONE)])
    }
}

/// Each call in a bind fails once, and everything from each call on; this process has those of its share.
pub(super) fn fail_binds(trace: &Path, share: u64) -> Result<Told, Skip> {
    layer::install().unwrap_or_else(|error| panic!("{error}"));
    let stand = Stand { faults: Faults::open(), trace };
    let (mut injected, mut unrepaired, mut recovered) = (0, 0, 0);
    // For what is legal there is nothing to call, and so nothing to fail.
    let legal = [vk::Format::R8G8B8A8_UNORM; 2];
    let runs = stand.run(legal, &(0..u64::MAX), vk::Result::ERROR_OUT_OF_HOST_MEMORY, "what is legal")?;
    assert!(runs.iter().all(|found| found.calls.is_empty() && found.left == 0), "what is legal: {:?}", runs[0].calls);
    for (name, formats) in SCENES {
        let [wanted, again] = stand.run(formats, &NONE, vk::Result::SUCCESS, name)?;
        assert_eq!((wanted.left, again.left), (0, 0), "{name}: repaired where nothing fails");
        assert_eq!(wanted.values, again.values, "{name}");
        assert!(wanted.calls.len() > 1 && again.calls.is_empty(), "{name}: {:?} {:?}", wanted.calls, again.calls);
        for result in RESULTS {
            for (number, command) in (0..).zip(&wanted.calls).filter(|(number, _)| number % SHARES == share) {
                for end in [number + 1, u64::MAX] {
                    let what = format!("{name}: from call {number}, {command}, to {end}: {result:?}");
                    let [found, after] = stand.run(formats, &(number..end), result, &what)?;
                    assert_eq!(
                        found.calls.get(number as usize),
                        Some(command),
                        "{what}: the calls before are the same"
                    );
                    if found.injected == 0 {
                        break;
                    }
                    injected += found.injected;
                    unrepaired += u64::from(found.left > 0);
                    recovered += u64::from(found.left > 0 && after.values == wanted.values);
                    for (when, values, is_left) in
                        [("then", &found.values, found.left > 0), ("afterwards", &after.values, found.left > 0)]
                    {
                        for (at, format) in formats.into_iter().enumerate() {
                            let may_differ = is_left && format == vk::Format::R32_UINT;
                            assert!(
                                values[at] == wanted.values[at] || may_differ,
                                "{what}, {when}: image {at} looks otherwise"
                            );
                        }
                    }
                }
            }
        }
    }
    Ok(vec![
        ("faults injected into calls that samplin makes in binds".to_owned(), injected),
        ("binds that left something".to_owned(), unrepaired),
        ("of them such as were repaired the next time".to_owned(), recovered),
    ])
}
