//! Settings as a process finds them: in its environment, in files at their usual places, and not at all when it has more
//! rights than its user.
//!
//! The environment and the working directory belong to a whole process, so each case runs this program again.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use samplin_config::settings::{Loaded, load};
use samplin_platform as platform;
use samplin_testkit::{Folder, again, skip};
use serde_json::{Value, json};

/// A process that is to load its settings.
struct Process {
    command: Command,
}

impl Process {
    fn of(program: &Path, folder: &Path) -> Process {
        let mut command = again::test(program, "child");
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("SAMPLIN_") || name.starts_with("XDG_") || name == "VK_LAYER_SETTINGS_PATH" {
                command.env_remove(&variable);
            }
        }
        command.current_dir(folder).env("HOME", folder);
        Process { command }
    }

    /// A process in `folder`, which is its home too.
    fn in_folder(folder: &Path) -> Process {
        Process::of(&again::program(), folder)
    }

    fn with(mut self, variable: &str, value: impl AsRef<std::ffi::OsStr>) -> Process {
        self.command.env(variable, value);
        self
    }

    /// What it loaded: effective settings, problems, and whether it was elevated.
    fn load(mut self) -> Value {
        let ended = again::run(&mut self.command).expect("it skips nothing");
        assert_eq!(ended.stderr, "", "loading says nothing");
        serde_json::from_str(ended.said("loaded")).expect("JSON")
    }

    /// The mode it loaded and its source, after a check that nothing was wrong.
    fn mode(self) -> (String, String) {
        let loaded = self.load();
        assert_eq!(loaded["problems"], json!([]));
        let member = |name: &str| loaded["settings"]["mode"][name].as_str().unwrap_or_default().to_owned();
        (member("value"), member("source"))
    }

    /// The one thing that was wrong.
    fn problem(self) -> Value {
        let loaded = self.load();
        let problems = loaded["problems"].as_array().expect("a list");
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].clone()
    }
}

/// The part of a process that [`Process::load`] runs.
#[test]
fn child() {
    if !again::plays("child") {
        return;
    }
    // SAFETY: neither takes an argument, and neither can fail.
    assert_eq!(platform::is_elevated(), unsafe { libc::geteuid() != libc::getuid() });
    let Loaded { problems, .. } = load(&[]);
    let application = [("border".to_owned(), "strict".to_owned())];
    let settings = serde_json::to_value(load(&application).effective()).expect("serialises");
    let loaded = json!({"settings": settings, "problems": problems, "elevated": platform::is_elevated()});
    println!("loaded={loaded}");
    again::tell(Ok(()));
}

fn from(source: &str, mode: &str) -> (String, String) {
    (mode.to_owned(), source.to_owned())
}

#[test]
fn nothing_is_set() {
    let folder = Folder::new();
    assert_eq!(Process::in_folder(folder.path()).mode(), from("default", "legalize"));
}

#[test]
fn a_variable_is_read() {
    let folder = Folder::new();
    let loaded = Process::in_folder(folder.path())
        .with("SAMPLIN_MODE", "Audit")
        .with("SAMPLIN_TRACE", "/tmp/%e.jsonl")
        .with("SAMPLIN_DEVICE_VISIBLE", "1")
        .with("SAMPLIN_AUGMENT", "")
        .with("SAMPLIN_LAYER_DIR", "/x")
        .with("ENABLE_SAMPLIN", "1")
        .with("DISABLE_SAMPLIN", "0")
        .load();
    assert_eq!(loaded["problems"], json!([]));
    let settings = &loaded["settings"];
    assert_eq!(settings["mode"], json!({"value": "audit", "source": "environment"}));
    assert_eq!(settings["trace"], json!({"value": "/tmp/%e.jsonl", "source": "environment"}));
    assert_eq!(settings["device_visible"], json!({"value": "on", "source": "environment"}));
    assert_eq!(settings["augment"], json!({"value": "on", "source": "default"}), "an empty variable is not set");
    assert_eq!(settings["border"], json!({"value": "strict", "source": "application"}));
}

#[test]
fn a_wrong_variable_is_told() {
    let folder = Folder::new();
    let problem = Process::in_folder(folder.path()).with("SAMPLIN_MOED", "audit").problem();
    assert_eq!(problem["key"], "SAMPLIN_MOED");
    assert_eq!(problem["message"], "there is no such setting; did you mean SAMPLIN_MODE?");
    let value = std::ffi::OsStr::from_bytes(b"/tmp/\xff");
    let problem = Process::in_folder(folder.path()).with("SAMPLIN_TRACE", value).problem();
    assert_eq!(problem["key"], "SAMPLIN_TRACE");
    assert!(problem["message"].as_str().is_some_and(|message| message.contains("UTF-8")), "{problem}");
}

#[test]
fn the_file_is_found_where_it_is_most_specific() {
    const USUAL: &str = "vulkan/settings.d/vk_layer_settings.txt";
    let home = Folder::new();
    let work = Folder::new();
    let process = || Process::in_folder(work.path()).with("HOME", home.path());

    home.write(&format!(".local/share/{USUAL}"), "samplin_sampling.mode = off");
    assert_eq!(process().mode(), from("file", "off"), "where Vulkan Configurator leaves it");

    home.write(&format!("data/{USUAL}"), "samplin.mode = audit");
    assert_eq!(process().with("XDG_DATA_HOME", home.join("data")).mode(), from("file", "audit"));
    assert_eq!(process().with("XDG_DATA_HOME", "data").mode(), from("file", "off"), "a relative path is ignored");

    work.write("vk_layer_settings.txt", "samplin.mode = legalize");
    assert_eq!(process().mode(), from("file", "legalize"), "the working directory");

    let named = home.write("named.txt", "samplin.mode = audit");
    assert_eq!(process().with("VK_LAYER_SETTINGS_PATH", &named).mode(), from("file", "audit"), "a file of any name");
    home.write("folder/vk_layer_settings.txt", "samplin.mode = off");
    let folder = home.join("folder");
    assert_eq!(process().with("VK_LAYER_SETTINGS_PATH", &folder).mode(), from("file", "off"), "a folder");

    let both = process().with("VK_LAYER_SETTINGS_PATH", &named).with("SAMPLIN_MODE", "off");
    assert_eq!(both.mode(), from("environment", "off"), "the environment wins");
}

#[test]
fn only_one_file_is_read() {
    let home = Folder::new();
    let work = Folder::new();
    home.write(".local/share/vulkan/settings.d/vk_layer_settings.txt", "samplin.mode = off");
    work.write("vk_layer_settings.txt", "khronos_validation.x = 1");
    assert_eq!(Process::in_folder(work.path()).with("HOME", home.path()).mode(), from("default", "legalize"));
}

#[test]
fn a_named_file_that_is_missing_is_told_and_the_usual_places_are_searched() {
    let folder = Folder::new();
    folder.write("vk_layer_settings.txt", "samplin.mode = audit");
    let missing = folder.join("missing.txt");
    let process = || Process::in_folder(folder.path()).with("VK_LAYER_SETTINGS_PATH", &missing);
    assert_eq!(process().load()["settings"]["mode"]["value"], "audit");
    let problem = process().problem();
    assert_eq!((&problem["level"], &problem["key"]), (&json!("warning"), &json!("VK_LAYER_SETTINGS_PATH")));
    assert_eq!(problem["file"], missing.to_str().expect("UTF-8"));
}

#[test]
fn a_mistake_in_the_file_is_told_with_its_place() {
    let folder = Folder::new();
    let path = folder.write("s.txt", "# mine\nsamplin.mode = audit\n\nsamplin.border = srict\n");
    let problem = Process::in_folder(folder.path()).with("VK_LAYER_SETTINGS_PATH", &path).problem();
    assert_eq!(
        problem,
        json!({
            "level": "error", "key": "samplin.border", "file": path.to_str(), "line": 4, "column": 18,
            "message": "\"srict\" is not one of texels, strict; did you mean \"strict\"?",
        })
    );
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let folder = Folder::new();
    let large = folder.write("large.txt", "# filling\n".repeat(200_000));
    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("runs mkfifo");
    assert!(made.success());
    for (path, why) in [(large, "larger than"), (fifo, "not a file"), (PathBuf::from("/dev/zero"), "not a file")] {
        let problem = Process::in_folder(folder.path()).with("VK_LAYER_SETTINGS_PATH", &path).problem();
        assert_eq!((&problem["level"], problem["file"].as_str()), (&json!("error"), path.to_str()));
        assert!(problem["message"].as_str().is_some_and(|message| message.contains(why)), "{problem}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_in_other_lines_do_no_harm() {
    let folder = Folder::new();
    let path = folder.join("s.txt");
    fs::write(&path, b"other.name = \xff\xfe\nsamplin.mode = audit\n").expect("writes");
    assert_eq!(Process::in_folder(folder.path()).with("VK_LAYER_SETTINGS_PATH", &path).mode(), from("file", "audit"));
}

#[test]
fn a_process_with_more_rights_than_its_user_asks_the_application_only() {
    let folder = Folder::new();
    let Ok(program) = again::of_another_user(&folder).map_err(|why| skip(why.0)) else { return };
    let path = folder.write("vk_layer_settings.txt", "samplin.mode = off\nsamplin.mistake = 1");
    let loaded = Process::of(&program, folder.path())
        .with("SAMPLIN_MODE", "audit")
        .with("SAMPLIN_MISTAKE", "1")
        .with("VK_LAYER_SETTINGS_PATH", &path)
        .load();
    if loaded["elevated"] == json!(false) {
        return skip("set-user-id programs have no effect in the temporary folder");
    }
    assert_eq!(loaded["problems"], json!([]));
    assert_eq!(loaded["settings"]["mode"], json!({"value": "legalize", "source": "default"}));
    assert_eq!(loaded["settings"]["border"], json!({"value": "strict", "source": "application"}));
}
