//! What the tests of the command line tool share: running it in a known environment, folders, snapshots, traces.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) use samplin_testkit::Folder;
use serde_json::{Value, json};

/// What a run of the tool came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// What a command came to that has just been run.
    #[track_caller]
    pub(crate) fn by(command: &mut Command) -> Self {
        Self::of(&command.output().expect("runs"))
    }

    /// Asserts the exit code and that nothing was said on standard error.
    #[track_caller]
    pub(crate) fn quiet(self, code: i32) -> String {
        assert_eq!(self.stderr, "", "stdout was: {}", self.stdout);
        assert_eq!(self.code, code, "stdout was: {}", self.stdout);
        self.stdout
    }

    /// Asserts a failure with nothing on standard output; returns what was said.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!(self.stdout, "");
        assert_eq!(self.code, code, "stderr was: {}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }

    #[track_caller]
    pub(crate) fn json(self, code: i32) -> Value {
        let text = self.quiet(code);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("not JSON: {error}\n{text}"))
    }
}

/// The tool, in an environment with nothing but a home folder.
pub(crate) fn tool(home: &Folder) -> Command {
    alone(env!("CARGO_BIN_EXE_samplin"), home)
}

/// A program in that environment.
pub(crate) fn alone(program: &str, home: &Folder) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        // Where a program that counts its lines writes them (scripts/coverage).
        .envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
        .current_dir(home.path())
        .stdin(Stdio::null());
    command
}

/// Runs the tool with these arguments in an empty home.
#[track_caller]
pub(crate) fn samplin<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ran {
    let home = Folder::new();
    samplin_in(&home, arguments)
}

/// Runs the tool with these arguments in a home.
#[track_caller]
pub(crate) fn samplin_in<A: AsRef<OsStr>>(home: &Folder, arguments: impl IntoIterator<Item = A>) -> Ran {
    Ran::by(tool(home).args(arguments))
}

/// The head of a native library, which is all that is looked at where none is loaded: that of this test itself.
pub(crate) fn library() -> Vec<u8> {
    let program = std::fs::File::open(std::env::current_exe().expect("has a path")).expect("opens");
    let mut head = Vec::new();
    program.take(4096).read_to_end(&mut head).expect("reads");
    head
}

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// What a file of `tests/data` says.
pub(crate) fn text_in(name: &str) -> String {
    std::fs::read_to_string(data(name)).expect("reads")
}

/// A folder with these files of `tests/data`.
pub(crate) fn holding<const N: usize>(names: [&str; N]) -> Folder {
    let folder = Folder::new();
    names.iter().for_each(|name| borrow(&folder, name));
    folder
}

/// A line of a trace, of the process that [`CLEAN`](crate::gates::CLEAN) has: an event and what else is in its record.
pub(crate) fn record(event: &str, rest: Value) -> String {
    let mut record = json!({ "seq": 9, "t_ns": 9, "pid": 7, "tid": 7, "event": event });
    let Value::Object(mut rest) = rest else { panic!("{rest} is no record") };
    record.as_object_mut().expect("it is one").append(&mut rest);
    format!("{record}\n")
}

/// The record of a pair with these changes.
pub(crate) fn pair(names: Value, format: &str, changes: Value) -> String {
    let pair = json!({
        "sampler": "0x1", "view": "0x2", "names": names, "fingerprint": "00000000000000aa", "format": format,
        "aspect": "color", "view_type": "VK_IMAGE_VIEW_TYPE_2D", "swizzle": "rgba", "path": "update",
        "changes": changes, "rules": ["sharp"], "variant": null,
    });
    record("pair", pair)
}

/// A change by a rule.
pub(crate) fn made(rule: &str) -> Value {
    json!({
        "rule": rule, "catalog": "B-1", "vuid": null, "field": "magFilter", "from": "VK_FILTER_LINEAR",
        "to": "VK_FILTER_NEAREST", "because": "it lacks it", "lost": "smoothing",
    })
}

/// A layer that only has to be there: programs that create no instance never load it.
pub(crate) fn pretend_layer(folder: &Folder) {
    folder.write("layer/libVkLayer_samplin.so", library());
}

/// Copies a file of `tests/data` into a folder, so that messages name it without its folder.
pub(crate) fn borrow(folder: &Folder, name: &str) {
    std::fs::copy(data(name), folder.join(name)).expect("copies");
}

/// Compares with a file of `tests/snapshots`; with `UPDATE_SNAPSHOTS=1` writes it instead.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).expect("writes");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected != text {
        let differ = expected.lines().zip(text.lines()).position(|(a, b)| a != b).map_or(0, |line| line + 1);
        panic!("{name} differs first at line {differ}; UPDATE_SNAPSHOTS=1 accepts this:\n{text}");
    }
}

/// Where the loader can load the layer from, if the caller of the tests said so or it is built.
pub(crate) fn layer() -> Option<PathBuf> {
    let given = std::env::var_os("SAMPLIN_LAYER_DIR").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("is in the workspace");
    let built = root.join("target/release/libVkLayer_samplin.so");
    given.or_else(|| built.is_file().then(|| root.to_path_buf()))
}

/// The manifest of a software driver.
pub(crate) fn lavapipe() -> Option<PathBuf> {
    let entries = std::fs::read_dir("/usr/share/vulkan/icd.d").ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("/lvp_icd"))
}

/// An example of this package.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_samplin")).parent().expect("is in a folder").join("examples").join(name)
}

/// The program `gallery`, or nothing, as [`skip`] says.
#[track_caller]
pub(crate) fn gallery() -> Option<PathBuf> {
    let gallery = Path::new(env!("CARGO_BIN_EXE_samplin")).parent().expect("is in a folder").join("gallery");
    if !gallery.is_file() {
        skip("the gallery is not built");
        return None;
    }
    Some(gallery)
}

/// The layer, and the manifest of a driver to run it on.
pub(crate) struct Vulkan {
    pub layer: PathBuf,
    pub driver: PathBuf,
}

impl Vulkan {
    /// Has a program use the driver.
    pub(crate) fn drive<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("VK_ICD_FILENAMES", &self.driver).env("VK_DRIVER_FILES", &self.driver)
    }

    /// The tool, with the driver and the layer.
    pub(crate) fn tool(&self, home: &Folder) -> Command {
        let mut command = tool(home);
        self.drive(&mut command).env("SAMPLIN_LAYER_DIR", &self.layer);
        command
    }

    /// `samplin run` with these options, of an example with these arguments.
    #[track_caller]
    pub(crate) fn run(&self, home: &Folder, options: &[&str], program: &str, arguments: &[&str]) -> Ran {
        Ran::by(self.tool(home).arg("run").args(options).arg("--").arg(example(program)).args(arguments))
    }
}

/// The layer and a driver, or nothing, as [`skip`] says.
#[track_caller]
pub(crate) fn vulkan() -> Option<Vulkan> {
    let scene = example("scene");
    let found = match (layer(), lavapipe()) {
        _ if !scene.is_file() => Err("the example scene is not built".to_owned()),
        (None, _) => Err("the layer is not built: run scripts/build".to_owned()),
        (_, None) => Err("there is no lavapipe".to_owned()),
        (Some(layer), Some(driver)) => Ok(Vulkan { layer, driver }),
    };
    match found {
        Ok(found) => Some(found),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// Says why a test cannot run here; fails where none may be left out.
#[track_caller]
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    samplin_testkit::skip(why);
}
