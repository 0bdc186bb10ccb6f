//! What a host process may do to the layer: fork, leave without a word, load and unload libraries, take the trace away.
//!
//! Each case is a process of its own, this program again as the application ([`application`]); it has to come to its end, and what
//! it leaves in the trace has to be whole lines for the user's eyes only.

use crate::run::{Folder, Outcome, Skip, build, trial};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::{Context, Pair, SamplerDesc, again, layer, sample};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The case `fork` without samplin: what a driver does when a child leaves is its own business.
const BARE_FORK: &str = "fork-bare";

/// Cases, and whether their trace ends with the summary of the instance.
const CASES: [(&str, bool); 7] = [
    ("fork", true),
    ("exit-without-destroying", false),
    ("exit-at-once", false),
    ("instances-and-libraries-in-cycles", true),
    ("library-in-cycles", true),
    ("trace-removed-midway", false),
    ("disk-full-midway", false),
];

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    CASES.into_iter().map(|(name, ends)| trial(format!("process/{name}"), move || run(name, ends))).collect()
}

fn run(name: &'static str, ends: bool) -> Outcome {
    let folder = Folder::new();
    let trace = folder.join("trace.jsonl");
    if name == "fork" && !ends_in_time(&mut command(BARE_FORK)) {
        return Err(Skip("the driver does not survive children that leave by exit(), without samplin either".into()));
    }
    again::run(command(name).env("SAMPLIN_TRACE", &trace).env("SAMPLIN_TRACE_LEVEL", "all"))?;
    if name == "trace-removed-midway" {
        return Ok(());
    }
    let mode = std::fs::metadata(&trace).expect("a trace").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the trace is for the user alone");
    let text = std::fs::read_to_string(&trace).expect("a trace in UTF-8");
    let mut lines: Vec<&str> = text.lines().collect();
    if name == "disk-full-midway" {
        // The line that did not fit.
        lines.pop();
    }
    let records: Vec<serde_json::Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    assert!(records.iter().any(|record| record["event"] == "pair"), "{text}");
    let summaries = records.iter().filter(|r| r["event"] == "summary" && r["scope"] == "instance").count();
    assert_eq!(summaries > 0, ends, "{text}");
    Ok(())
}

/// The process of a case. Mesa does not survive a full disk while it writes its cache of shaders.
fn command(name: &str) -> Command {
    let mut command = again::command(&format!("process/{name}"));
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
    command
}

/// An illegal pair, whose pixels have to be those of the repair. `seed` makes it one that was not there before.
fn pair(context: &Context, seed: u32) -> Outcome {
    let scene = Scene::colour(vk::Format::R32_UINT);
    let (_image, view) = scene.shown(context)?;
    let nearest = SamplerDesc::nearest().lod(0.0, seed as f32).create(context);
    let linear = SamplerDesc::linear().lod(0.0, seed as f32).create(context);
    let points = &scene.points(false)[..8];
    let wanted = sample(context, Pair::new(&view, &nearest), points);
    assert_eq!(sample(context, Pair::new(&view, &linear), points), wanted);
    Ok(())
}

/// The application of a case.
pub(crate) fn application(name: &str) -> Outcome {
    let builder = Context::builder().samplin();
    if name == "instances-and-libraries-in-cycles" {
        for round in 0..12 {
            // The context loads the Vulkan loader, which loads the layer, and unloads it at the end.
            let context = build(&builder)?;
            pair(&context, round)?;
        }
        return Ok(());
    }
    if name == BARE_FORK {
        let _context = build(&Context::builder())?;
        fork();
        return Ok(());
    }
    let context = build(&builder)?;
    pair(&context, 0)?;
    match name {
        "fork" => fork(),
        "exit-without-destroying" => {
            std::mem::forget(context);
            return Ok(());
        }
        "exit-at-once" => {
            again::tell(Ok(()));
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) };
        }
        "library-in-cycles" => {
            let library = layer::loaded_library().expect("the layer is loaded");
            for _ in 0..500 {
                // SAFETY: the layer has no initialisers that could do harm, and is loaded already.
                drop(unsafe { libloading::Library::new(&library) }.expect("loads again"));
            }
        }
        "trace-removed-midway" => {
            let trace = std::env::var("SAMPLIN_TRACE").expect("is set");
            std::fs::remove_file(&trace).expect("removes");
            pair(&context, 1)?;
            let folder = std::path::Path::new(&trace).parent().expect("a folder");
            std::fs::remove_dir_all(folder).expect("removes");
        }
        "disk-full-midway" => {
            let trace = std::env::var("SAMPLIN_TRACE").expect("is set");
            let room = std::fs::metadata(&trace).expect("a trace").len() + 100;
            let limit = libc::rlimit { rlim_cur: room as libc::rlim_t, rlim_max: room as libc::rlim_t };
            // SAFETY: a live structure. A write beyond the limit fails as on a full disk, and raises SIGXFSZ besides, which ends
            // the process unless the layer keeps it away.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
        }
        other => panic!("{other} is no case"),
    }
    pair(&context, 2)
}

/// Children that do nothing, and that run everything that runs at the end of a process.
fn fork() {
    for leave in [libc::_exit, libc::exit] {
        // SAFETY: the child calls nothing of Vulkan and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the process.
            unsafe { leave(7) };
        }
        let mut status = 0;
        // SAFETY: the child's id and a live integer.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "the child ended with {status}");
    }
}

/// Whether a program ends well within twenty seconds; else it is killed.
fn ends_in_time(command: &mut Command) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    for _ in 0..200 {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
