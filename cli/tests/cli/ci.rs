//! The examples of `examples/ci`: their own shell steps, with a program in place of the game and what is installed already.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::*;

/// The steps of a job that a service would run here, each with its name; `always` ones also after a failure.
struct Step {
    name: String,
    always: bool,
    script: String,
}

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ci").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Steps of a workflow: `- name:`, perhaps `if: always()`, then the lines of `run: |`.
fn github() -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_script = false;
    for line in text("github.yml").lines() {
        let trimmed = line.trim_start();
        if let Some(name) = trimmed.strip_prefix("- name: ") {
            steps.push(Step { name: name.to_owned(), always: false, script: String::new() });
        } else if trimmed.starts_with("- uses:") || trimmed.starts_with('#') {
            is_script = false;
        } else if trimmed == "if: always()" {
            steps.last_mut().unwrap().always = true;
        } else if trimmed == "run: |" {
            is_script = true;
            continue;
        }
        if is_script && line.starts_with("          ") {
            let step = steps.last_mut().unwrap();
            step.script += &format!("{trimmed}\n");
        } else {
            is_script = false;
        }
    }
    steps
}

/// The script of a job, as one step: GitLab's runner ends it with the first command that fails.
fn gitlab() -> Vec<Step> {
    let text = text("gitlab.yml");
    let script = text.split_once("\n  script:\n").unwrap().1.split_once("\n  artifacts:").unwrap().0;
    let lines: Vec<&str> = script.lines().filter_map(|line| line.trim_start().strip_prefix("- ")).collect();
    vec![Step { name: "script".to_owned(), always: false, script: lines.join("\n") }]
}

/// A checkout in which `make` makes a program that stands in for the game.
struct Checkout<'a> {
    home: Folder,
    vulkan: &'a Vulkan,
}

impl<'a> Checkout<'a> {
    fn new(vulkan: &'a Vulkan) -> Self {
        let home = Folder::new();
        home.write("Makefile", "all:\n\tmkdir -p build && ln -sf \"$$GAME\" build/game\n");
        Self { home, vulkan }
    }

    /// Runs the steps; which of them failed, and what was said.
    fn run(&self, steps: &[Step], game: &Path, arguments: &str) -> (Vec<String>, String) {
        let tools = Path::new(env!("CARGO_BIN_EXE_samplin")).parent().unwrap();
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let (mut failed, mut said) = (Vec::new(), String::new());
        for step in steps.iter().filter(|step| step.name != "Install") {
            if !failed.is_empty() && !step.always {
                continue;
            }
            let output = Command::new("bash")
                .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.script])
                .env_clear()
                .env("PATH", &path)
                .env("HOME", self.home.path())
                .env("GAME", game)
                .env("PROGRAM", format!("build/game {arguments}"))
                .env("GITHUB_STEP_SUMMARY", self.home.join("summary.md"))
                .env("SAMPLIN_LAYER_DIR", &self.vulkan.layer)
                .env("VK_DRIVER_FILES", &self.vulkan.driver)
                .env("VK_ICD_FILENAMES", &self.vulkan.driver)
                // So that no server has to be started for programs that open no window.
                .env("DISPLAY", ":99")
                .stdin(Stdio::null())
                .current_dir(self.home.path())
                .output()
                .unwrap();
            let ran = Ran::of(&output);
            said += &format!("== {} ({})\n{}{}", step.name, ran.code, ran.stdout, ran.stderr);
            if ran.code != 0 {
                failed.push(step.name.clone());
            }
        }
        (failed, said)
    }
}

#[test]
fn the_jobs_are_green_and_red_where_they_should_be() {
    let Some(vulkan) = vulkan() else { return };
    let Some(gallery) = gallery() else { return };
    let scene = example("scene");
    for (service, steps, gate, run) in [("github", github(), "Gate", "Run"), ("gitlab", gitlab(), "script", "script")] {
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        assert!(names.contains(&gate) && steps.iter().all(|step| !step.script.is_empty()), "{names:?}");
        let checkout = Checkout::new(&vulkan);
        let home = &checkout.home;

        let (failed, said) = checkout.run(&steps, &scene, "picture.ppm");
        assert!(failed.is_empty(), "{service}: a clean program is green: {said}");
        for file in ["sampling.jsonl", "sampling.json", "sampling.html", "sampling.sarif", "sampling.xml"] {
            assert!(std::fs::metadata(home.join(file)).unwrap().len() > 100, "{service}: {file}");
        }
        assert_eq!(home.join("summary.md").exists(), service == "github");

        let (failed, said) = checkout.run(&steps, Path::new("/usr/bin/true"), "");
        assert_eq!(failed.first().map(String::as_str), Some(run), "{service}: an empty trace is red: {said}");
        assert!(said.contains("no Vulkan instance was traced"), "{said}");

        let (failed, said) = checkout.run(&steps, &gallery, "--out gallery.png --only d32-linear");
        assert_eq!(failed, [gate], "{service}: the gallery is red: {said}");
        assert!(home.read("sampling.sarif").contains("\"linear-filter\""));
        assert!(home.join("sampling.html").is_file(), "the report is there all the same");

        let baseline = ["check", "sampling.jsonl", "--baseline", "samplin-baseline.toml", "--update-baseline"];
        assert_eq!(samplin_in(home, baseline).code, 0);
        let (failed, said) = checkout.run(&steps, &gallery, "--out gallery.png --only d32-linear");
        assert!(failed.is_empty(), "{service}: with a baseline it is green: {said}");

        let known = home.read("samplin-baseline.toml");
        home.write("samplin-baseline.toml", known.replacen("reason = ", "expires = \"2020-01-01\"\nreason = ", 1));
        let (failed, said) = checkout.run(&steps, &gallery, "--out gallery.png --only d32-linear");
        assert_eq!(failed, [gate], "{service}: an entry that expired is red: {said}");
        assert!(said.contains("expired on 2020-01-01"), "{said}");
    }
}

/// What a capture replays is looked at as the program was.
#[test]
fn a_capture_of_somebody_else_is_checked() {
    let Some(vulkan) = vulkan() else { return };
    let folder = Path::new("/usr/share/vulkan/explicit_layer.d");
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !folder.join("VkLayer_gfxreconstruct.json").is_file() || !has("gfxrecon-replay") {
        skip("GFXReconstruct is not installed");
        return;
    }
    let home = Folder::new();
    let mut command = Command::new(example("scene"));
    command
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_LUNARG_gfxreconstruct")
        .env("GFXRECON_CAPTURE_FILE", home.join("c.gfxr"));
    command.env("GFXRECON_CAPTURE_FILE_TIMESTAMP", "false").env("GFXRECON_LOG_LEVEL", "error");
    assert!(vulkan.drive(&mut command).stdout(Stdio::null()).status().unwrap().success());
    let ran =
        Ran::by(vulkan.tool(&home).args("run --mode audit --trace replay.jsonl -- gfxrecon-replay c.gfxr".split(' ')));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("changes would be made in "), "{}", ran.stderr);
    let found = samplin_in(&home, ["check", "replay.jsonl", "--json", "--deny", "linear-filter"]).json(1);
    assert!(found["findings"].as_array().unwrap().len() > 10);
}
