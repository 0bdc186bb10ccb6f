//! Settings and files that are wrong: each is told, none stops the application or the repairs.
//!
//! Each case is a process of its own, this program again as a small application ([`application`]), because the environment and the
//! working directory belong to the process.

use crate::run::{self, Folder, Outcome, Skip, build, read_trace};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::{Context, Pair, SamplerDesc, Trace, again, sample};
use serde_json::json;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("input/settings-file-malformed", settings_file),
        ("input/settings-file-missing", settings_file_missing),
        ("input/settings-file-is-a-folder-of-its-name", settings_file_folder),
        ("input/environment-wrong", environment),
        ("input/application-setting-wrong", application_setting),
        ("input/rules-file-malformed", rules_file),
        ("input/device-file-missing", device_file),
        ("input/trace-in-a-missing-folder", missing_folder),
        ("input/trace-below-a-file", || no_trace("file/trace.jsonl")),
        ("input/trace-is-a-folder", || no_trace(".")),
        ("input/trace-full", trace_full),
        ("input/trace-with-placeholders", trace_placeholders),
    ])
}

/// The application: an illegal sampler and an illegal pair, whose pixels must be those of the repair. `mode` goes to the setting of
/// that name through `VK_EXT_layer_settings`, unless it is `-`.
pub(crate) fn application(mode: &str) -> Outcome {
    let builder = Context::builder().samplin();
    let builder = if mode == "-" { builder } else { builder.setting("mode", mode) };
    use_context(&build(&builder)?)
}

fn use_context(context: &Context) -> Outcome {
    let scene = Scene::colour(vk::Format::R32_UINT);
    let (_image, view) = scene.shown(context)?;
    let nearest = SamplerDesc::nearest().create(context);
    let linear = SamplerDesc::linear().create(context);
    drop(SamplerDesc::nearest().lod(2.0, 0.5).create(context));
    let points = scene.points(false);
    let wanted = sample(context, Pair::new(&view, &nearest), &points);
    assert_eq!(sample(context, Pair::new(&view, &linear), &points), wanted);
    Ok(())
}

/// A run of the application.
struct Run {
    folder: Folder,
    command: Command,
}

/// What a run left behind.
struct Finished {
    folder: Folder,
    errors: String,
}

impl Run {
    /// A run in a folder of its own, with a trace there, and without any of the layer's variables.
    fn new() -> Self {
        Self::with_mode("-")
    }

    /// The same, of an application that asks for this mode.
    fn with_mode(mode: &str) -> Self {
        let folder = Folder::new();
        let mut command = again::command(&format!("input/{mode}"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            let of_tests = name == "SAMPLIN_LAYER_DIR" || name.starts_with("SAMPLIN_TEST_");
            if name.starts_with("SAMPLIN_") && !of_tests {
                command.env_remove(name.as_ref());
            }
        }
        command.current_dir(folder.join("."));
        command.env("SAMPLIN_TRACE", folder.join("trace.jsonl"));
        command.env_remove("VK_LAYER_SETTINGS_PATH").env("XDG_CONFIG_HOME", folder.join("config"));
        command.env("XDG_DATA_HOME", folder.join("data")).env("XDG_STATE_HOME", folder.join("state"));
        Self { folder, command }
    }

    fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.folder.join(name), text).expect("a writable folder");
        self
    }

    /// Runs it; it has to come to its end.
    fn run(mut self) -> Result<Finished, Skip> {
        let ended = again::run(&mut self.command)?;
        Ok(Finished { folder: self.folder, errors: ended.stderr })
    }
}

impl Finished {
    fn trace(&self) -> Trace {
        read_trace(&self.folder.join("trace.jsonl"))
    }

    /// The trace, with the repairs in it.
    fn repaired(&self) -> Trace {
        let trace = self.trace();
        assert_eq!(trace.events("sampler").count(), 1, "the sampler was repaired");
        assert!(trace.first("pair")["variant"].is_string(), "the pair was repaired");
        trace
    }
}

/// A `settings` record: level, key, line, and a part of the message.
type Told<'a> = (&'a str, &'a str, Option<u64>, &'a str);

/// Asserts that the trace has exactly these `settings` records, in this order.
fn assert_told(trace: &Trace, wanted: &[Told<'_>]) {
    let told: Vec<_> = trace.events("settings").collect();
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (record, (level, key, line, part)) in told.iter().zip(wanted) {
        assert_eq!((record["level"].as_str(), record["line"].as_u64()), (Some(*level), *line), "{record:#}");
        assert_eq!(record["key"].as_str(), Some(*key), "{record:#}");
        assert!(record["message"].as_str().is_some_and(|message| message.contains(part)), "{part}: {record:#}");
    }
}

/// A settings file with every kind of mistake, and one line that is right.
fn settings_file() -> Outcome {
    let text = b"this is not a setting\n\
        khronos_validation.enables = whatever\n\
        samplin.mode = legalise\n\
        samplin.mod = audit\n\
        samplin.border\n\
        \xff\xfe\x00 = \x01\n\
        samplin.depth_linear = compare # right\n\
        = = =\n";
    let run = Run::new().file("vk_layer_settings.txt", text);
    let path = run.folder.join("vk_layer_settings.txt");
    let finished = run.env("VK_LAYER_SETTINGS_PATH", &path).run()?;
    let trace = finished.repaired();
    assert_told(
        &trace,
        &[
            ("error", "samplin.border", Some(5), "no \"=\""),
            ("error", "samplin.mode", Some(3), "did you mean \"legalize\""),
            ("error", "samplin.mod", Some(4), "did you mean samplin.mode"),
        ],
    );
    for record in trace.events("settings") {
        assert_eq!(record["file"].as_str(), path.to_str(), "{record:#}");
    }
    let settings = &trace.first("layer")["settings"];
    assert_eq!(settings["mode"], json!({"value": "legalize", "source": "default"}));
    assert_eq!(settings["depth_linear"], json!({"value": "compare", "source": "file"}));
    Ok(())
}

fn settings_file_missing() -> Outcome {
    let run = Run::new();
    let path = run.folder.join("nowhere.txt");
    let trace = run.env("VK_LAYER_SETTINGS_PATH", path).run()?.repaired();
    assert_told(&trace, &[("warning", "VK_LAYER_SETTINGS_PATH", None, "no such settings file")]);
    Ok(())
}

fn settings_file_folder() -> Outcome {
    let run = Run::new();
    std::fs::create_dir(run.folder.join("vk_layer_settings.txt")).expect("a writable folder");
    let trace = run.run()?.repaired();
    assert_told(&trace, &[("error", "vk_layer_settings.txt", None, "cannot be read")]);
    Ok(())
}

fn environment() -> Outcome {
    let run = Run::new().env("SAMPLIN_MODE", "AUDITS").env("SAMPLIN_MOOD", "good").env("SAMPLIN_BORDER", " strict ");
    let trace = run.run()?.repaired();
    let mut told: Vec<_> = trace.events("settings").map(|record| record["key"].clone()).collect();
    told.sort_by_key(ToString::to_string);
    assert_eq!(told, ["SAMPLIN_MODE", "SAMPLIN_MOOD"]);
    assert_eq!(trace.first("layer")["settings"]["border"], json!({"value": "strict", "source": "environment"}));
    Ok(())
}

fn application_setting() -> Outcome {
    let trace = Run::with_mode("\u{1f4a5}").run()?.repaired();
    assert_told(&trace, &[("error", "mode", None, "is not one of")]);
    Ok(())
}

/// A rule that cannot be read is left out, and told by its place.
fn rules_file() -> Outcome {
    let run = Run::new().file("samplin.toml", "[[rule]]\nname = \"a\"\nset = { max_anisotropy = \"much\" }\n");
    let path = run.folder.join("samplin.toml");
    let trace = run.env("SAMPLIN_CONFIG", &path).run()?.repaired();
    let told: Vec<_> = trace.events("settings").collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!((told[0]["level"].as_str(), told[0]["line"].as_u64()), (Some("error"), Some(3)), "{told:#?}");
    assert_eq!(told[0]["file"].as_str(), path.to_str(), "{told:#?}");

    let run = Run::new().file("samplin.toml", "[[rule]\n\x07");
    let path = run.folder.join("samplin.toml");
    let trace = run.env("SAMPLIN_CONFIG", &path).run()?.repaired();
    assert!(trace.events("settings").count() >= 1, "a file that is no TOML");
    assert!(trace.events("settings").all(|record| record["file"].as_str() == path.to_str()));

    let run = Run::new();
    let path = run.folder.join("nowhere.toml");
    let trace = run.env("SAMPLIN_CONFIG", path).run()?.repaired();
    assert_eq!(trace.events("settings").count(), 1, "a file that is not there");
    Ok(())
}

fn device_file() -> Outcome {
    let run = Run::new().file("device.json", "{\"schema\": 12, ");
    let path = run.folder.join("device.json");
    let trace = run.env("SAMPLIN_DEVICE", path).run()?.repaired();
    assert_eq!(trace.events("settings").count(), 1, "{:#?}", trace.records);
    assert!(trace.first("device")["simulated"].is_null());
    Ok(())
}

/// A folder that does not exist is made.
fn missing_folder() -> Outcome {
    let run = Run::new();
    let path = run.folder.join("missing/folder/trace.jsonl");
    let finished = run.env("SAMPLIN_TRACE", &path).run()?;
    assert!(!finished.errors.contains("samplin"), "{}", finished.errors);
    assert_eq!(read_trace(&path).events("pair").count(), 1);
    Ok(())
}

/// A trace that cannot be opened: one line on standard error, and the application runs.
fn no_trace(path: &str) -> Outcome {
    let run = Run::new().file("file", "not a folder");
    let path = run.folder.join(path);
    let finished = run.env("SAMPLIN_TRACE", &path).run()?;
    let lines: Vec<&str> = finished.errors.lines().filter(|line| line.contains("samplin")).collect();
    assert_eq!(lines.len(), 1, "{}", finished.errors);
    let shown = std::path::absolute(&path).expect("a path");
    let name =
        shown.file_name().map_or_else(|| shown.display().to_string(), |name| name.to_string_lossy().into_owned());
    assert!(lines[0].contains(&name), "{}", lines[0]);
    Ok(())
}

/// A full disk costs the records and nothing else.
fn trace_full() -> Outcome {
    if !Path::new("/dev/full").exists() {
        return Err(Skip("the system has no /dev/full".to_owned()));
    }
    Run::new().env("SAMPLIN_TRACE", "/dev/full").run()?;
    Ok(())
}

/// `%e` and `%p` in the path of the trace.
fn trace_placeholders() -> Outcome {
    let run = Run::new();
    let path = run.folder.join("%e.%p.jsonl");
    let finished = run.env("SAMPLIN_TRACE", path).run()?;
    let program = again::program();
    let name = program.file_name().and_then(OsStr::to_str).expect("a UTF-8 name");
    let files: Vec<_> = std::fs::read_dir(finished.folder.join("."))
        .expect("the folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let trace = read_trace(&files[0]);
    let expected = format!("{name}.{}.jsonl", trace.records[0]["pid"]);
    assert_eq!(files[0].file_name().and_then(OsStr::to_str), Some(&*expected));
    assert_eq!(trace.first("layer")["exe"], name);
    Ok(())
}
