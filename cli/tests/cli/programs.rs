//! `samplin run` and `samplin rules`, as processes, with real programs and with shell scripts in their place.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::*;

/// The exit status of a process that ought to end now; one that does not is ended, with its children.
fn ends(child: &mut Child) -> Option<i32> {
    for _ in 0..1000 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-s", "KILL", "--", &group]).status();
    child.wait().unwrap().code()
}

#[test]
fn signals_are_passed_on() {
    let home = Folder::new();
    pretend_layer(&home);
    for (signal, trap, expected) in
        [("TERM", "exit 42", 42), ("INT", "exit 43", 43), ("USR1", "exit 44", 44), ("TERM", "", 143)]
    {
        let trap = if trap.is_empty() { String::new() } else { format!("trap '{trap}' {signal};") };
        // The shell must be woken from its waiting to run the trap.
        let script = format!("{trap} echo ready; while :; do sleep 0.05; done");
        let mut child = tool(&home)
            .args(["run", "--quiet", "--layer", "layer", "--", "sh", "-c", &script])
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(ends(&mut child), Some(expected), "SIG{signal}");
    }
}

#[test]
fn a_display_is_brought_up_where_there_is_none() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let has = |name: &str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(name).is_file())
    };
    if !has("Xvfb") || !has("vkcube") {
        skip("there is no Xvfb or no vkcube");
        return;
    }
    let ran =
        Ran::by(tool(&home).env("SAMPLIN_LAYER_DIR", &vulkan.layer).args("run --headless -- vkcube --c 20".split(' ')));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["no display: started Xvfb as :", "the driver is lavapipe", "vkcube (", "nothing had to be changed in "]
    {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

/// A real picture, which an override of one sampler of six breaks: judged by its pixels.
#[test]
fn the_sampler_that_breaks_the_picture_is_found() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    home.write("rules.toml", "[[rule]]\nname = \"soft\"\nset = { min_lod = 1 }\n");
    let picture = |name: &str, options: &[&str]| {
        let ran = vulkan.run(&home, &[&["--allow-untraced", "--trace", "off"][..], options].concat(), "scene", &[name]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        home.read(name)
    };
    let good = picture("good.ppm", &[]);
    let bad = picture("bad.ppm", &["--rules", "rules.toml"]);
    let rows = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    let differing: Vec<usize> = rows(&good)
        .chunks(16)
        .zip(rows(&bad).chunks(16))
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(row, _)| row)
        .collect();
    assert_eq!(differing, [2], "one row of the picture is broken, that of the lookup table");

    let start = |arguments: &[&str]| {
        let mut command = vulkan.tool(&home);
        command.args(["rules", "bisect", "--rules", "rules.toml"]).args(arguments);
        command.arg("--").arg(example("scene")).arg("now.ppm");
        command
    };
    let judge = ["--good-if", "cmp -s good.ppm now.ppm"];
    let ran = Ran::by(&mut start(&judge));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the rules change 6 sampler states"), "{}", ran.stderr);
    let told = ran.stdout;
    let first = told.lines().next().unwrap();
    assert!(first.starts_with("The override of this sampler breaks the picture: "), "{told}");
    assert!(first.ends_with(" \"lookup table\""), "{told}");
    // The rule that it proposes mends the picture, and the other overrides stay.
    let exemption = told.split_once("\n\n").unwrap().1;
    let mended = exemption.to_owned() + &home.read("rules.toml");
    home.write("mended.toml", mended);
    assert_eq!(picture("mended.ppm", &["--rules", "mended.toml"]), good);

    let ran = Ran::by(&mut start(&["--json", "--good-if", "cmp -s good.ppm now.ppm"]));
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["guilty"].as_array().unwrap().len(), 1);
    assert_eq!(value["guilty"][0]["name"], "lookup table");
    assert_eq!(value["exemption"], exemption);

    // By asking a person, who looks at the picture each time.
    let mut child = start(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut answers, mut said) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
    let (mut questions, mut text, mut byte) = (0, Vec::new(), [0]);
    while said.read(&mut byte).unwrap() == 1 {
        text.push(byte[0]);
        if text.ends_with(b"[q]uit: ") {
            questions += 1;
            let is_good = home.read("now.ppm") == good;
            // What is no answer is asked again.
            let words = if questions == 1 {
                "hm"
            } else if is_good {
                "g"
            } else {
                "Bad"
            };
            writeln!(answers, "{words}").unwrap();
        }
    }
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!(ran.stdout, told, "{}", String::from_utf8_lossy(&text));
    assert_eq!(ran.code, 1);
}

/// Of more than a hundred repairs the one that breaks a picture: it is bad whenever the rules of a run leave that repair in force.
#[test]
fn the_repair_that_breaks_the_picture_is_found() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let inspected = |options: &[&str], trace: &str| -> serde_json::Value {
        assert_eq!(vulkan.run(&home, &[&["--quiet", "--trace", trace][..], options].concat(), "scene", &[]).code, 0);
        samplin_in(&home, ["--json", "inspect", trace]).json(0)
    };
    let repaired = inspected(&[], "repaired.jsonl");
    let count = |value: &serde_json::Value, list: &str| -> u64 {
        value[list].as_array().unwrap().iter().map(|one| one["count"].as_u64().unwrap()).sum()
    };
    let is_named = |one: &&serde_json::Value| {
        one["format"] == "VK_FORMAT_D32_SFLOAT" && one["changes"][0]["rule"] == "linear-filter"
    };
    let guilty = repaired["decisions"].as_array().unwrap().iter().find(is_named).unwrap();
    let fingerprint = guilty["fingerprint"].as_str().unwrap();

    // Without any: everything that was repaired is left alone.
    home.write("none.toml", "[[rule]]\nset = { repair = \"off\" }\n");
    let exempt = inspected(&["--rules", "none.toml"], "none.jsonl");
    assert!(count(&repaired, "decisions") > 100 && count(&exempt, "decisions") == 0);
    assert_eq!(count(&exempt, "exempt"), count(&repaired, "decisions"));

    let start = |options: &[&str], judge: &str| {
        let mut command = vulkan.tool(&home);
        command.args(options).args(["rules", "bisect", "--repairs", "--good-if", judge, "--", "sh", "-c"]);
        let program = format!("cp $SAMPLIN_CONFIG now.toml; {} > /dev/null", example("scene").display());
        Ran::by(command.arg(program))
    };
    let judge = format!("grep -q 'linear-filter.*_D32_SFLOAT\".*{fingerprint}' now.toml");
    let ran = start(&[], &judge);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let (told, rule) = ran.stdout.split_once("\n\n").unwrap();
    let first = format!("This repair breaks the picture: linear-filter of {fingerprint} on D32_SFLOAT");
    assert!(told.starts_with(&first), "{told}");
    let expected = format!(
        "[[rule]]\nname = \"left alone\"\nwhen = {{ rule = \"linear-filter\", format = \"VK_FORMAT_D32_SFLOAT\", \
         fingerprint = [\"{fingerprint}\"] }}\nset = {{ repair = \"off\" }}\n"
    );
    assert_eq!(rule, expected);
    home.write("left.toml", rule);
    let left = inspected(&["--rules", "left.toml"], "left.jsonl");
    assert_eq!(count(&left, "exempt"), 1);
    assert_eq!(left["exempt"][0]["rules"][0]["name"], "left alone");

    let ran = start(&["--json"], &judge);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["guilty"][0]["rule"], "linear-filter", "{value}");
    assert_eq!(value["exemption"], expected);
    // Nothing to blame, and nothing that helps.
    assert!(start(&[], "true").stdout.contains("The picture is good with every repair."));
    assert!(start(&[], "false").stdout.contains("The picture is bad without any repair, so no repair is to blame."));
    for (judge, code, runs) in [("true", 0, 3), ("false", 1, 2)] {
        let ran = start(&["--json"], judge);
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &told["guilty"], &told["runs"]), (code, &serde_json::json!([]), &runs.into()), "{told}");
    }
}

/// The loader's version is asked of the loader: its file may have any name.
#[test]
fn a_loader_by_another_name_says_its_version() {
    let home = Folder::new();
    pretend_layer(&home);
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let Some(loader) =
        folders.iter().map(|folder| Path::new(folder).join("libvulkan.so.1")).find(|path| path.is_file())
    else {
        skip("there is no Vulkan loader");
        return;
    };
    std::fs::create_dir(home.join("lib")).unwrap();
    std::fs::copy(loader, home.join("lib/libvulkan.so.1")).unwrap();
    let ran = Ran::by(
        tool(&home)
            .env("LD_LIBRARY_PATH", home.join("lib"))
            .env("VK_LOADER_LAYERS_DISABLE", "*")
            .args(["run", "--layer", "layer", "--", "true"]),
    );
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let is_old = ran.stderr.contains("loaders before 1.3.262 (here 1.");
    assert!(is_old || !ran.stderr.contains("loaders before"), "{}", ran.stderr);
}
