//! `samplin install`, `uninstall` and `doctor`, as processes. Every finding of the doctor has a made-up system that shows it.

use std::path::Path;

use crate::common::*;
use samplin_cli::doctor::{self, Level, Probe, ProbeResult};
use samplin_cli::elf::Elf;
use samplin_cli::system::System;
use serde_json::Value;

/// A library of a kind, as far as its head goes.
fn library_of(elf: Elf) -> Vec<u8> {
    let mut bytes = library();
    bytes[4] = elf.bits / 32;
    bytes[18..20].copy_from_slice(&elf.machine.to_le_bytes());
    bytes
}

/// One for programs of the other word size.
fn other() -> Vec<u8> {
    library_of(Elf::other().unwrap())
}

/// One that no program here can load.
fn foreign() -> Vec<u8> {
    library_of(Elf { bits: 64, machine: 243 })
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Libraries of both word sizes are found in one folder, in two that distributions have beside each other, or where somebody names them.
#[test]
fn both_word_sizes_are_installed_and_taken_away() {
    let home = Folder::new();
    let (own, second) = (Elf::native().unwrap(), Elf::other().unwrap());
    let (wide, narrow) = if own.bits == 64 { (own, second) } else { (second, own) };
    let [one, two] = [wide, narrow].map(|elf| format!("dist/lib/{}", elf.folder().unwrap()));
    home.write(&format!("{one}/libVkLayer_samplin.so"), library_of(wide));
    home.write(&format!("{two}/libVkLayer_samplin.so"), library_of(narrow));
    home.write("flat/libVkLayer_samplin.so", library_of(wide));
    home.write("flat/32/libVkLayer_samplin.so", library_of(narrow));
    home.write("64.so", library_of(wide));
    home.write("32.so", library_of(narrow));
    let data = home.join(".local/share");
    let places = [&one[..], &two, "flat"].map(|place| vec!["--layer", place]);
    for places in places.into_iter().chain([vec!["--layer", "32.so", "--layer", "64.so"]]) {
        for kind in ["implicit", "explicit"] {
            let installed =
                samplin_in(&home, [&["install", "--json", &format!("--{kind}")], &places[..]].concat()).json(0);
            assert_eq!(installed["libraries"].as_array().unwrap().len(), 2, "{places:?}: {installed:#}");
            for (bits, end, elf, below) in [("64", "", wide, ""), ("32", ".32", narrow, "32/")] {
                let manifest = json(&data.join(format!("vulkan/{kind}_layer.d/VkLayer_samplin.{kind}{end}.json")));
                assert_eq!(manifest["layer"]["library_arch"], bits, "{places:?}");
                let path = data.join(format!("samplin/{below}libVkLayer_samplin.so"));
                assert_eq!(manifest["layer"]["library_path"], path.to_str().unwrap(), "{places:?}");
                assert_eq!(std::fs::read(path).unwrap(), library_of(elf), "{places:?}");
            }
            assert_eq!(std::fs::read_dir(data.join(format!("vulkan/{kind}_layer.d"))).unwrap().count(), 2);
        }
        assert_eq!(std::fs::read_dir(data.join("vulkan/implicit_layer.d")).unwrap().count(), 0, "the other kind went");
        samplin_in(&home, ["uninstall"]).quiet(0);
        assert_eq!(walk(&data), Vec::<String>::new(), "{places:?}");
        assert!(!data.join("samplin").exists());
    }
    // The library of a file that is named comes alone, and leaves the other one as it is.
    samplin_in(&home, ["install", "--layer", "flat"]).quiet(0);
    home.write("newer.so", [library_of(narrow), vec![1]].concat());
    samplin_in(&home, ["install", "--layer", "newer.so"]).quiet(0);
    assert_eq!(std::fs::read(data.join("samplin/32/libVkLayer_samplin.so")).unwrap().len(), library().len() + 1);
    assert_eq!(std::fs::read(data.join("samplin/libVkLayer_samplin.so")).unwrap(), library_of(wide));
    let failure = samplin_in(&home, ["install", "--layer", "newer.so", "--layer", "32.so"]).fails(2);
    assert!(failure.contains("two libraries are 32-bit"), "{failure}");
}

fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

/// A made-up system: a root folder with a loader and a driver, and a home.
struct Made {
    home: Folder,
    variables: Vec<(String, String)>,
}

impl Made {
    fn new() -> Self {
        let home = Folder::new();
        home.write("root/usr/lib/libvulkan.so.1", library());
        home.write("root/usr/lib/libdriver.so", library());
        home.write(
            "root/usr/share/vulkan/icd.d/driver.json",
            r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "libdriver.so", "api_version": "1.3.0"}}"#,
        );
        home.write("root/usr/lib/libVkLayer_khronos_validation.so", library());
        home.write(
            "root/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
            r#"{"layer": {"name": "VK_LAYER_KHRONOS_validation", "library_path": "libVkLayer_khronos_validation.so"}}"#,
        );
        Self { home, variables: Vec::new() }
    }

    /// An installed layer of a kind, with a library of its own.
    fn layer(&self, kind: &str, library: &[u8]) {
        self.home.write("root/usr/lib/libVkLayer_samplin.so", library);
        let environment =
            r#""enable_environment": {"ENABLE_SAMPLIN": "1"}, "disable_environment": {"DISABLE_SAMPLIN": "1"}"#;
        let environment = if kind == "implicit" { format!(", {environment}") } else { String::new() };
        self.home.write(
            &format!("root/usr/share/vulkan/{kind}_layer.d/VkLayer_samplin.{kind}.json"),
            format!(r#"{{"layer": {{"name": "VK_LAYER_SAMPLIN_sampling", "library_path": "libVkLayer_samplin.so"{environment}}}}}"#),
        );
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn examine(&self, program: &[&str]) -> (Vec<Value>, i32) {
        let mut command = tool(&self.home);
        command.args(["doctor", "--json", "--root", "root"]).args(program);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        let ran = Ran::by(&mut command);
        assert_eq!(ran.stderr, "");
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        (value["findings"].as_array().unwrap().clone(), ran.code)
    }

    /// Asserts that there is a finding of this name; returns its message with its advice.
    #[track_caller]
    fn finds(&self, id: &str) -> String {
        self.finding(&[], id)
    }

    /// The same for what a program needs.
    #[track_caller]
    fn finds_for(&self, program: &str, id: &str) -> String {
        self.finding(&[program], id)
    }

    #[track_caller]
    fn finding(&self, program: &[&str], id: &str) -> String {
        let (findings, code) = self.examine(program);
        let found = findings.iter().find(|finding| finding["id"] == id);
        let found = found.unwrap_or_else(|| panic!("no {id} among {findings:#?}"));
        let is_bad = matches!(found["level"].as_str(), Some("warning" | "error"));
        assert!(!is_bad || code == 1, "the exit status tells");
        format!("{} {}", found["message"].as_str().unwrap(), found["advice"].as_str().unwrap_or(""))
    }
}

#[test]
fn a_sound_system_passes() {
    let made = Made::new();
    made.layer("implicit", &library());
    let (findings, code) = made.examine(&[]);
    assert_eq!(code, 0, "{findings:#?}");
    assert!(findings.iter().all(|finding| finding["level"] == "good"), "{findings:#?}");
}

#[test]
fn a_missing_or_broken_loader_is_found() {
    let made = Made::new();
    std::fs::remove_file(made.home.join("root/usr/lib/libvulkan.so.1")).unwrap();
    assert!(made.finds("loader-missing").contains("apt-get install libvulkan1"));
    made.home.write("root/usr/lib/libvulkan.so.1", "not a library");
    made.finds("loader-broken");
    made.home.write("root/usr/lib/libvulkan.so.1", foreign());
    assert!(made.finds("loader-class").contains("64-bit RISC-V"));
}

#[test]
fn missing_and_broken_drivers_are_found() {
    let made = Made::new();
    let manifest = "root/usr/share/vulkan/icd.d/driver.json";
    made.home.write(manifest, "{ \"ICD\": {\n oops");
    assert!(made.finds("driver-manifest").contains("driver.json:2: "));
    made.finds("driver-missing");
    made.home.write(manifest, r#"{"ICD": {"library_path": "./gone.so"}}"#);
    assert!(made.finds("driver-stale").contains("./gone.so does not exist"));
    made.home.write(manifest, r#"{"ICD": {"library_path": "libdriver.so"}}"#);
    made.home.write("root/usr/lib/libdriver.so", foreign());
    made.finds("driver-class");
    let made = Made::new().with("VK_DRIVER_FILES", "/nowhere/icd.json");
    assert!(made.finds("driver-chosen-missing").contains("unset VK_DRIVER_FILES"));
}

#[test]
fn manifests_that_do_not_work_are_found() {
    let made = Made::new();
    made.finds("layer-missing");
    made.layer("implicit", &foreign());
    assert!(made.finds("layer-class").contains("64-bit RISC-V"));
    std::fs::remove_file(made.home.join("root/usr/lib/libVkLayer_samplin.so")).unwrap();
    assert!(made.finds("layer-stale").contains("libVkLayer_samplin.so does not exist"));
    made.home.write("root/usr/share/vulkan/implicit_layer.d/broken.json", "{");
    assert!(made.finds("layer-manifest").contains("broken.json:1: "));
    made.home.write(
        "root/usr/share/vulkan/implicit_layer.d/VkLayer_samplin.implicit.json",
        r#"{"layer": {"name": "VK_LAYER_SAMPLIN_sampling", "library_path": "libVkLayer_samplin.so"}}"#,
    );
    made.finds("layer-no-disable");
}

#[test]
fn double_names_are_found() {
    let made = Made::new();
    made.layer("implicit", &library());
    made.layer("explicit", &library());
    // Both of one library are what packages install.
    let (findings, _) = made.examine(&[]);
    assert!(!findings.iter().any(|finding| finding["id"] == "layer-double"), "{findings:#?}");
    made.home.write("root/usr/lib/second/libVkLayer_samplin.so", library());
    made.home.write(
        "root/usr/share/vulkan/explicit_layer.d/VkLayer_samplin.explicit.json",
        r#"{"layer": {"name": "VK_LAYER_SAMPLIN_sampling", "library_path": "../../../lib/second/libVkLayer_samplin.so"}}"#,
    );
    let told = made.finds("layer-double");
    assert!(told.contains("2 times") && told.contains("(implicit)") && told.contains("(explicit)"), "{told}");
}

/// Two manifests of one name are what both word sizes need, if they say which is which.
#[test]
fn both_word_sizes_beside_each_other_are_fine() {
    let made = Made::new();
    let second = Elf::other().unwrap();
    made.home.write(&format!("root/usr/lib/{}/libVkLayer_samplin.so", second.folder().unwrap()), other());
    made.home.write("root/usr/lib/libVkLayer_samplin.so", library());
    // Four manifests, as the packages for two word sizes have them.
    let of_both =
        [Elf::native().unwrap(), second].into_iter().flat_map(|elf| ["explicit", "implicit"].map(|kind| (elf, kind)));
    for (elf, kind) in of_both {
        made.home.write(
            &format!("root/usr/share/vulkan/{kind}_layer.d/VkLayer_samplin.{}.json", elf.bits),
            format!(
                r#"{{"layer": {{"name": "VK_LAYER_SAMPLIN_sampling", "library_path": "libVkLayer_samplin.so", "library_arch": "{}",
                    "disable_environment": {{"DISABLE_SAMPLIN": "1"}}}}}}"#,
                elf.bits
            ),
        );
    }
    let (findings, code) = made.examine(&[]);
    assert_eq!(code, 0, "{findings:#?}");
    let layers: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["id"] == "layer")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    let second = format!("for {} programs", second.describe());
    assert!(layers.len() == 4 && layers.iter().filter(|layer| layer.contains(&second)).count() == 2, "{layers:?}");
    std::fs::remove_file(made.home.join("root/usr/lib/libVkLayer_samplin.so")).unwrap();
    assert!(made.finds("layer-stale").contains(&format!("samplin.{}.json", Elf::native().unwrap().bits)));
}

/// What a program needs is of its own word size.
#[test]
fn a_program_is_asked_what_it_needs() {
    let made = Made::new();
    made.layer("implicit", &library());
    let [second, kind] = [Elf::other().unwrap().folder().unwrap().to_owned(), Elf::other().unwrap().describe()];
    let program = |name: &str, content: &[u8]| {
        let path = made.home.write(name, content);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let own = program("own", &library());
    let (findings, code) = made.examine(&[&own]);
    assert_eq!(code, 0, "{findings:#?}");
    assert!(made.finds_for(&own, "program-layer").contains("root/usr/lib/libVkLayer_samplin.so"));

    let game = program("game", &other());
    let script = program("start", format!("#!{game} -x\n").as_bytes());
    let mut windows = vec![0_u8; 0x90];
    windows[..2].copy_from_slice(b"MZ");
    windows[0x3c] = 0x80;
    windows[0x80..0x86].copy_from_slice(b"PE\0\0\x4c\x01");
    let windows = program("game.exe", &windows);
    assert!(made.finds_for(&script, "program").contains("which is 32-bit"));
    assert!(made.finds_for(&windows, "program").contains("32-bit program of Windows"));
    for program in [&game, &script, &windows] {
        assert!(made.finds_for(program, "program-loader").contains("apt-get install libvulkan1:"));
        assert!(made.finds_for(program, "program-driver").contains(&kind));
        let told = made.finds_for(program, "program-layer-missing");
        assert!(told.contains(&format!("the {kind} library of the layer is missing")), "{told}");
    }
    for name in ["libvulkan.so.1", "libdriver.so", "libVkLayer_samplin.so"] {
        made.home.write(&format!("root/usr/lib/{second}/{name}"), other());
    }
    let (findings, code) = made.examine(&[&game]);
    assert_eq!(code, 0, "{findings:#?}");
    assert!(made.finds_for(&game, "program-layer").contains(&format!("{second}/libVkLayer_samplin.so")));

    assert!(made.finds_for(&program("far", &foreign()), "program-machine").contains("--root"));
    assert!(made.finds_for(&program("text", b"nothing"), "program-unknown").contains("no program of Linux or Windows"));
    assert!(made.finds_for("no-such-program", "program-missing").contains("no such program or process"));
}

/// A running process tells whether it has the layer: its list of mappings has a file of that name.
#[test]
fn a_process_is_asked_whether_it_has_the_layer() {
    let home = Folder::new();
    let ids = |process: u32| {
        let told = Ran::by(tool(&home).args(["doctor", "--json", &process.to_string()]));
        let value: Value = serde_json::from_str(&told.stdout).unwrap();
        let findings = value["findings"].as_array().unwrap().clone();
        findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let without = ids(std::process::id());
    assert!(without.iter().any(|id| id == "process-not-loaded"), "{without:?}");
    // Not installed here; whether `samplin run` has one depends on what is built.
    assert!(without.iter().any(|id| ["program-layer-run", "program-layer-missing"].contains(&&id[..])), "{without:?}");
    let sleep = System::current().program("sleep").unwrap();
    let path = home.join("libVkLayer_samplin.so");
    std::fs::copy(sleep, &path).unwrap();
    let mut child = std::process::Command::new(path).arg("60").spawn().unwrap();
    let with = ids(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(with.iter().any(|id| id == "process-loaded"), "{with:?}");
}

#[test]
fn a_missing_validation_layer_is_noted() {
    let made = Made::new();
    std::fs::remove_dir_all(made.home.join("root/usr/share/vulkan/explicit_layer.d")).unwrap();
    assert!(made.finds("validation-missing").contains("vulkan-validationlayers"));
}

#[test]
fn variables_that_hide_the_layer_are_found() {
    let implicit = || {
        let made = Made::new();
        made.layer("implicit", &library());
        made
    };
    let explicit = || {
        let made = Made::new();
        made.layer("explicit", &library());
        made
    };
    let name = "VK_LAYER_SAMPLIN_sampling";
    assert!(
        implicit().with("VK_LOADER_LAYERS_DISABLE", "~implicit~").finds("disabled-by-filter").contains("~implicit~")
    );
    let allowed = implicit().with("VK_LOADER_LAYERS_DISABLE", "*").with("VK_LOADER_LAYERS_ALLOW", name).examine(&[]);
    assert_eq!(allowed.1, 0, "{:?}", allowed.0);
    assert!(implicit().with("DISABLE_SAMPLIN", "").finds("disabled-by-variable").contains("even an empty"));
    assert!(implicit().with("ENABLE_SAMPLIN", "yes").finds("enable-value").contains("ENABLE_SAMPLIN=1"));
    assert!(implicit().with("VK_INSTANCE_LAYERS", name).finds("implicit-named").contains("silently"));
    assert!(Made::new().with("VK_INSTANCE_LAYERS", name).finds("named-not-found").contains("--explicit"));
    let made = explicit();
    let empty = made.home.join("empty");
    std::fs::create_dir(&empty).unwrap();
    let made = made.with("VK_LAYER_PATH", &empty.display().to_string());
    assert!(made.finds("layer-hidden").contains("VK_ADD_LAYER_PATH"));
    assert!(explicit().with("VK_ADD_LAYER_PATH", "/nowhere").finds("path-missing").contains("/nowhere"));
    assert!(explicit().with("SAMPLIN_MODE", "off").finds("mode-off").contains("unset it"));
}

#[test]
fn containers_are_recognised() {
    let made = Made::new();
    made.home.write("root/run/host/container-manager", "pressure-vessel\n");
    assert!(made.finds("steam").contains("ENABLE_SAMPLIN=1 %command%"));
    let made = made.with("PRESSURE_VESSEL_IMPORT_VULKAN_LAYERS", "0");
    made.finds("steam-import");
    let made = Made::new();
    made.home.write("root/.flatpak-info", "");
    made.finds("flatpak");
    Made::new().with("SNAP_NAME", "game").finds("snap");
}

#[test]
fn a_place_for_traces_is_looked_for() {
    let made = Made::new();
    let told = made.finds("traces");
    assert!(told.contains(".local/state/samplin"), "{told}");
    made.home.write("file", "");
    let state = made.home.join("file").display().to_string();
    made.with("XDG_STATE_HOME", &state).finds("traces-unwritable");
    Made::new().with("HOME", "relative").finds("no-home");
}

#[test]
fn the_doctor_speaks_to_people() {
    let made = Made::new();
    std::fs::remove_file(made.home.join("root/usr/lib/libvulkan.so.1")).unwrap();
    let told = samplin_in(&made.home, ["doctor", "--root", "root"]).quiet(1);
    assert!(told.starts_with("error   there is no Vulkan loader"), "{told}");
    assert!(told.ends_with("Something keeps the layer from working.\n"), "{told}");
}

/// What asking the loader and the drivers comes to, without the ones of this machine.
#[test]
fn answers_of_the_drivers_are_findings() {
    let made = Made::new();
    let system = System::below(&made.home.join("root"));
    let ids = |probe: Option<ProbeResult>| -> Vec<(&'static str, Level)> {
        doctor::examine(&system, probe.as_ref()).into_iter().map(|finding| (finding.id, finding.level)).collect()
    };
    let answered = |loader, devices: &[&str], trouble: Option<&str>| {
        let devices = devices.iter().map(|&device| device.to_owned()).collect();
        Some(ProbeResult::Answered(Probe { loader, devices, trouble: trouble.map(str::to_owned) }))
    };
    let sound = ids(answered(Some((1, 4, 309)), &["llvmpipe"], None));
    assert!(sound.contains(&("loader", Level::Good)) && sound.contains(&("device", Level::Good)), "{sound:?}");
    assert!(!sound.iter().any(|(id, _)| *id == "loader-old"), "{sound:?}");
    assert!(ids(answered(Some((1, 3, 239)), &["llvmpipe"], None)).contains(&("loader-old", Level::Note)));
    assert!(ids(answered(Some((1, 4, 309)), &[], Some("no"))).contains(&("device-missing", Level::Error)));
    assert!(ids(Some(ProbeResult::Crashed("signal: 11".to_owned()))).contains(&("driver-crash", Level::Error)));
    assert!(ids(Some(ProbeResult::Hung)).contains(&("driver-hang", Level::Error)));
    assert!(ids(None).contains(&("driver", Level::Good)), "nobody was asked");
}

/// A driver that takes its process along is told, and the doctor lives on.
#[test]
fn a_loader_that_crashes_does_not_take_the_doctor_along() {
    let home = Folder::new();
    // Nothing of a driver is in it, so that the loader refuses it, or crashes: both are findings.
    home.write("libbroken.so", library());
    let icd = home.write(
        "icd.json",
        r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "./libbroken.so", "api_version": "1.3.0"}}"#,
    );
    let ran =
        Ran::by(tool(&home).env("VK_DRIVER_FILES", &icd).env("VK_ICD_FILENAMES", &icd).args(["doctor", "--json"]));
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ids: Vec<&str> =
        value["findings"].as_array().unwrap().iter().filter_map(|finding| finding["id"].as_str()).collect();
    assert!(ids.iter().any(|id| ["device-missing", "driver-crash", "loader-missing"].contains(id)), "{ids:?}");
}

/// No finding is without a test: each name in the source of the checks is here or in the transcript as well.
#[test]
fn every_finding_is_tested() {
    let checks = concat!(include_str!("../../src/doctor/checks.rs"), include_str!("../../src/doctor/program.rs"));
    let tests = concat!(include_str!("installation.rs"), include_str!("../transcripts/install.txt"));
    let mut names: Vec<&str> = Vec::new();
    for start in ["Finding::new(", "bad_manifest(", "library_finding("] {
        for text in checks.split(start).skip(1) {
            // One name, or two in brackets; what is none is the definition or a name handed on.
            let text = text.trim_start();
            let text = text
                .strip_prefix('[')
                .and_then(|list| list.split(']').next())
                .unwrap_or(&text[..text.find(',').unwrap_or(0)]);
            names.extend(text.split('"').skip(1).step_by(2));
        }
    }
    names.sort();
    names.dedup();
    assert!(names.len() > 25, "{names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !tests.contains(&format!("\"{name}\""))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Whoever reads the manifest while it is installed again and again sees a whole one each time.
#[test]
fn manifests_are_replaced_at_once() {
    let home = Folder::new();
    home.write("lib.so", library());
    samplin_in(&home, ["install", "--layer", "lib.so"]).quiet(0);
    let data = home.join(".local/share");
    let path = data.join("vulkan/implicit_layer.d/VkLayer_samplin.implicit.json");
    let done = std::sync::atomic::AtomicBool::new(false);
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0_u64;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let manifest = json(&path);
                let library = std::fs::metadata(manifest["layer"]["library_path"].as_str().unwrap()).unwrap();
                assert_eq!(library.len(), 4096);
                reads += 1;
            }
            reads
        });
        for _ in 0..10 {
            samplin_in(&home, ["install", "--layer", "lib.so"]).quiet(0);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(reads > 10, "{reads}");
}
