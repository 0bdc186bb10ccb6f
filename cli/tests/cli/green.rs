//! No false green: a command that saw nothing says so, with its own exit status, and never prints yesterday's run.

use std::io::Write as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::*;
use crate::gates::CLEAN;

/// The tool with something on its standard input.
fn piped(home: &Folder, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = tool(home);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Nobody may read it.
    let _ = stdin.write_all(input);
    drop(stdin);
    Ran::of(&child.wait_with_output().unwrap())
}

fn run(home: &Folder, options: &[&str], program: &[&str]) -> Ran {
    pretend_layer(home);
    samplin_in(home, [&["run", "--layer", "layer"], options, &["--"], program].concat())
}

#[test]
fn a_run_without_an_instance_is_no_success() {
    let home = holding(["decisions.jsonl"]);
    let ran = run(&home, &["--trace", "decisions.jsonl"], &["true"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(!ran.stderr.contains("changes"), "yesterday's run is not summed up: {}", ran.stderr);
    assert!(ran.stderr.contains("no Vulkan instance was traced"), "{}", ran.stderr);
    // The trace was begun anew, so that a later check cannot pass on it.
    assert_eq!(home.read("decisions.jsonl"), "");
    assert!(samplin_in(&home, ["check", "decisions.jsonl"]).fails(3).contains("the trace is empty"));

    borrow(&home, "decisions.jsonl");
    let before = std::fs::read(home.join("decisions.jsonl")).unwrap();
    let ran = run(&home, &["--trace", "decisions.jsonl", "--append"], &["true"]);
    assert_eq!(ran.code, 4, "only what this run adds counts: {}", ran.stderr);
    assert!(!ran.stderr.contains("changes"), "{}", ran.stderr);
    assert_eq!(std::fs::read(home.join("decisions.jsonl")).unwrap(), before, "--append keeps it");

    let ran = run(&home, &["--allow-untraced"], &["true"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("no Vulkan instance was traced"), "{}", ran.stderr);
    let ran = run(&home, &["--quiet"], &["true"]);
    assert_eq!(ran.code, 4, "quiet is not deaf");
    assert_eq!(run(&home, &[], &["sh", "-c", "exit 7"]).code, 7, "the program's own trouble goes first");
}

/// Marks in the name: what is this program's is begun anew, what others wrote stays.
#[test]
fn the_traces_of_others_are_left_alone() {
    let home = Folder::new();
    for name in ["sh.jsonl", "game.jsonl"] {
        std::fs::copy(data("decisions.jsonl"), home.join(name)).unwrap();
    }
    let ran = run(&home, &["--trace", "%e.jsonl"], &["sh", "-c", "true"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let length = |name: &str| std::fs::metadata(home.join(name)).unwrap().len();
    assert_eq!(length("sh.jsonl"), 0);
    assert!(length("game.jsonl") > 0);
    // A link stays one, and so does what cannot be emptied.
    std::os::unix::fs::symlink("game.jsonl", home.join("link.jsonl")).unwrap();
    assert_eq!(run(&home, &["--trace", "link.jsonl"], &["true"]).code, 4);
    assert!(home.join("link.jsonl").is_symlink() && length("game.jsonl") == 0);
}

#[test]
fn the_cause_of_an_untraced_run_is_named() {
    let home = Folder::new();
    pretend_layer(&home);
    let start = |variables: &[(&str, &str)], without: &[&str], options: &[&str]| {
        let mut command = tool(&home);
        without.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.envs(variables.iter().copied()).args(["run", "--layer", "layer"]).args(options).args(["--", "true"]);
        Ran::by(&mut command)
    };
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str);
    let cases: [Case<'_>; 5] = [
        (&[("DISPLAY", ":9"), ("XDG_CACHE_HOME", "/tmp")], &["HOME"], "there is no home folder"),
        (&[], &[], "there is no display"),
        (&[("SAMPLIN_MODE", "off")], &[], "the mode is off"),
        (&[("SAMPLIN_TRACE", "off")], &[], "the setting trace is off"),
        (&[("VK_DRIVER_FILES", "/none.json")], &[], "VK_DRIVER_FILES names /none.json, which does not exist"),
    ];
    for (variables, without, cause) in cases {
        let ran = start(variables, without, &[]);
        assert_eq!(ran.code, 4, "{variables:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(cause), "{variables:?}: {}", ran.stderr);
    }
    // A trace that is asked for is not there if the environment switches the layer off.
    assert_eq!(start(&[("SAMPLIN_MODE", "off")], &[], &["--trace", "t.jsonl"]).code, 4);
    // Who asks for no trace says so twice, as with the variables.
    for (options, cause) in [
        (["--mode", "off"], "the mode is off"),
        (["--trace", "off"], "the setting trace is off"),
        (["--set", "trace=none"], "the setting trace is off"),
        (["--trace", "/dev/null"], "the trace went to /dev/null, which is not read"),
        (["--trace", "/dev/stderr"], "the trace went to /dev/stderr, which is not read"),
        (["--trace", "stderr"], "the trace went to standard error, which is not read"),
        (["--set", "trace=STDERR"], "the trace went to standard error, which is not read"),
    ] {
        let ran = start(&[], &[], &options);
        assert!(ran.code == 4 && ran.stderr.contains(cause), "{options:?}: {}", ran.stderr);
        let [first, second] = options;
        assert_eq!(start(&[], &[], &[first, second, "--allow-untraced"]).code, 0, "{options:?}");
    }
    // What there is evidence of goes before a guess.
    std::fs::create_dir(home.join("folder.jsonl")).unwrap();
    let fifo = home.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (options, cause) in [
        (["--trace", "folder.jsonl"], "folder.jsonl is a folder"),
        (["--trace", "none/t.jsonl"], "there is no folder"),
        (["--trace", "fifo"], "which is not read"),
    ] {
        let ran = start(&[], &[], &options);
        assert!(ran.code == 4 && ran.stderr.contains(cause), "{options:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("no display"), "{options:?}: {}", ran.stderr);
    }
}

#[test]
fn a_trace_is_begun_anew_and_counts_this_run_alone() {
    let Some(vulkan) = vulkan() else { return };
    let home = holding(["decisions.jsonl"]);
    let start =
        |options: &[&str]| vulkan.run(&home, &[&["--trace", "decisions.jsonl"][..], options].concat(), "scene", &[]);
    let head = |ran: &Ran| {
        let line = ran.stderr.lines().find(|line| line.contains(" changes in ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", ran.stderr))
    };
    let first = start(&[]);
    let length = std::fs::metadata(home.join("decisions.jsonl")).unwrap().len();
    let second = start(&[]);
    assert_eq!((head(&first), first.code), (head(&second), second.code));
    let again = std::fs::metadata(home.join("decisions.jsonl")).unwrap().len();
    assert!(again.abs_diff(length) < length / 10, "{length} {again}");
    let third = start(&["--append"]);
    assert_eq!(head(&first), head(&third), "the summary is of this run, whatever is before it");
    assert!(std::fs::metadata(home.join("decisions.jsonl")).unwrap().len() > length * 3 / 2);
    let told = samplin_in(&home, ["inspect", "decisions.jsonl"]).quiet(0);
    assert!(told.contains("scene (2 processes)"), "{told}");
}

/// A picture, an empty file, a text, a compressed text: each command that reads a trace refuses each.
#[test]
fn what_holds_no_record_is_no_clean_run() {
    let home = holding(["all.jsonl"]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"not a trace\n").unwrap();
    home.write("empty", "");
    home.write("picture.png", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[7; 999]].concat());
    home.write("text", "hello\n");
    home.write("text.gz", gzip.finish().unwrap());
    home.write("newer", "{\"event\":\"tomorrow\"}\n");
    let commands: [&[&str]; 9] = [
        &["inspect"],
        &["inspect", "--object", "shadow"],
        &["inspect", "--json"],
        &["report", "-o", "page.html"],
        &["check"],
        &["diff", "all.jsonl"],
        &["diff", "--deny", "linear-filter", "all.jsonl"],
        &["predict", "--device", "adreno-650"],
        &["export", "--parquet", "tables"],
    ];
    for command in commands {
        for file in ["empty", "picture.png", "text", "text.gz", "newer"] {
            let said = samplin_in(&home, [command, &[file]].concat()).fails(3);
            assert!(said.contains(file), "{command:?} {file}: {said}");
            assert!(said.contains("record") || said.contains("empty"), "{command:?} {file}: {said}");
        }
    }
    assert!(!home.join("page.html").exists());
    samplin_in(&home, ["diff", "empty", "all.jsonl"]).fails(3);
}

#[test]
fn compressed_traces_are_read() {
    let home = Folder::new();
    for name in ["decisions.jsonl", "all.jsonl"] {
        borrow(&home, name);
    }
    let plain = std::fs::read(data("decisions.jsonl")).unwrap();
    let gzipped = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    // Both formats may be several pieces, one after the other; Zstandard has pieces that hold nothing.
    let (head, tail) = plain.split_at(plain.len() / 2);
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    home.write("one.jsonl.gz", gzipped(&plain));
    home.write("two.jsonl.gz", [gzipped(head), gzipped(tail)].concat());
    home.write("one.jsonl.zst", zstd(&plain));
    home.write("two.jsonl.zst", [&skippable[..], &zstd(head), &skippable, &zstd(tail)].concat());
    home.write("no-ending", zstd(&plain));
    let expected = samplin_in(&home, ["check", "--json", "decisions.jsonl"]).json(1);
    for name in ["one.jsonl.gz", "two.jsonl.gz", "one.jsonl.zst", "two.jsonl.zst", "no-ending"] {
        let found = samplin_in(&home, ["check", "--json", name]).json(1);
        let renamed = found.to_string().replace(name, "decisions.jsonl");
        assert_eq!(renamed, expected.to_string(), "{name}");
        samplin_in(&home, ["diff", "decisions.jsonl", name]).quiet(0);
        let input = std::fs::read(home.join(name)).unwrap();
        let by_pipe = piped(&home, &["check", "--json", "-"], &input).json(1);
        assert_eq!(by_pipe["findings"].as_array().unwrap().len(), expected["findings"].as_array().unwrap().len());
        // Cut anywhere, it is damaged and not a shorter trace.
        for cut in [input.len() - 1, input.len() / 2, 20] {
            home.write("cut", &input[..cut]);
            samplin_in(&home, ["check", "cut"]).fails(3);
        }
    }
    if Command::new("zstd").arg("--version").output().is_err() {
        return;
    }
    let packed = Command::new("zstd").args(["-19", "--long=24", "-c"]).arg(data("all.jsonl")).output().unwrap();
    home.write("all.jsonl.zst", packed.stdout);
    samplin_in(&home, ["diff", "all.jsonl", "all.jsonl.zst"]).quiet(0);
}

#[test]
fn what_is_piped_in_is_read_and_what_is_chosen_is_named() {
    let home = Folder::new();
    let text = std::fs::read(data("decisions.jsonl")).unwrap();
    home.write(".local/state/samplin/old-1.jsonl", std::fs::read(data("all.jsonl")).unwrap());
    for arguments in [&["inspect"][..], &["inspect", "-"], &["report", "-o", "-"], &["check", "--deny", "stencil"]] {
        let ran = piped(&home, arguments, &text);
        assert!(ran.code <= 1 && ran.stderr.is_empty(), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stdout.contains("(standard input)"), "{arguments:?}: {}", ran.stdout);
    }
    // A pipe that brings nothing is not replaced by yesterday's trace.
    for arguments in [&["inspect"][..], &["report", "-o", "-"], &["check"], &["predict", "--device", "v3d-4.2"]] {
        let said = piped(&home, arguments, b"").fails(3);
        assert!(said.contains("(standard input): the trace is empty"), "{said}");
    }
    for arguments in [
        &["inspect"][..],
        &["inspect", "--by", "rule"],
        &["inspect", "--json"],
        &["inspect", "--object", "shadow"],
        &["report", "-o", "-"],
        &["predict", "--device", "v3d-4.2"],
    ] {
        let ran = samplin_in(&home, arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let named = format!("the newest trace is {}", home.join(".local/state/samplin/old-1.jsonl").display());
        assert!(ran.stderr.contains(&named), "{arguments:?}: {}", ran.stderr);
    }
    // A gate takes nothing by itself.
    assert!(samplin_in(&home, ["check"]).fails(2).contains("name a trace"));
}

#[test]
fn a_flag_takes_one_value() {
    let home = holding(["decisions.jsonl"]);
    for (flags, code) in [
        (&["--deny", "stencil"][..], 1),
        (&["--deny", "stencil,minmax"], 1),
        (&["--deny", "stencil", "--deny", "minmax"], 1),
        (&["--deny", "ycbcr"], 0),
        (&["--allow", "ycbcr"], 1),
    ] {
        let behind = samplin_in(&home, [&["check"], flags, &["decisions.jsonl"]].concat()).quiet(code);
        let before = samplin_in(&home, [&["check", "decisions.jsonl"], flags].concat()).quiet(code);
        assert_eq!(behind, before);
    }
    samplin_in(&home, ["diff", "--deny", "linear-filter", "decisions.jsonl", "decisions.jsonl"]).quiet(0);
}

#[test]
fn outputs_are_written_into_what_is_there() {
    let home = holding(["all.jsonl"]);
    let write = |arguments: &[&str], to: &str| {
        let output = [arguments, &[to]].concat();
        samplin_in(&home, output)
    };
    let commands: [&[&str]; 4] = [
        &["report", "all.jsonl", "-o"],
        &["predict", "all.jsonl", "--device", "v3d-4.2", "-o"],
        &["caps", "v3d-4.2", "--save"],
        &["rules", "new", "--force"],
    ];
    for command in commands {
        // Devices, through links, because a mistake would take them from the whole machine.
        for (device, code) in [("/dev/full", 4), ("/dev/null", 0)] {
            std::os::unix::fs::symlink(device, home.join("device")).unwrap();
            let said = write(command, "device");
            assert_eq!(said.code, code, "{command:?}: {} {}", said.stdout, said.stderr);
            assert!(code == 0 || said.stderr.contains("device: No space left"), "{command:?}: {}", said.stderr);
            assert!(std::fs::metadata(home.join("device")).unwrap().file_type().is_char_device(), "{command:?}");
            std::fs::remove_file(home.join("device")).unwrap();
        }
        // A link is followed, also one to nothing yet; another name of a file stays one.
        home.write("target", "old");
        std::os::unix::fs::symlink("target", home.join("link")).unwrap();
        assert_eq!(write(command, "link").code, 0, "{command:?}");
        assert!(home.join("link").is_symlink());
        let whole = std::fs::read(home.join("target")).unwrap();
        assert!(whole.len() > 100, "{command:?}");
        std::fs::remove_file(home.join("target")).unwrap();
        assert_eq!(write(command, "link").code, 0, "{command:?}");
        assert!(home.join("link").is_symlink());
        std::fs::hard_link(home.join("target"), home.join("name")).unwrap();
        home.write("target", "x".repeat(1_000_000));
        assert_eq!(write(command, "target").code, 0);
        assert!(std::fs::read(home.join("name")).unwrap().len().abs_diff(whole.len()) < 9, "{command:?}");
        // A FIFO has a reader.
        assert!(Command::new("mkfifo").arg(home.join("fifo")).status().unwrap().success());
        let copy = std::fs::File::create(home.join("copy")).unwrap();
        let mut reader = Command::new("cat").arg(home.join("fifo")).stdout(copy).spawn().unwrap();
        assert_eq!(write(command, "fifo").code, 0, "{command:?}");
        assert!(reader.wait().unwrap().success());
        assert!(std::fs::read(home.join("copy")).unwrap().len().abs_diff(whole.len()) < 9, "{command:?}");
        assert!(std::fs::metadata(home.join("fifo")).unwrap().file_type().is_fifo());
        for name in ["link", "target", "name", "fifo"] {
            std::fs::remove_file(home.join(name)).unwrap();
        }
    }
    for name in ["/proc/self/fd/1", "/dev/stdout", "/dev/fd/1"] {
        let page = write(&["report", "all.jsonl", "-o"], name).quiet(0);
        assert!(page.trim_end().ends_with("</html>"), "the page alone: {}", &page[page.len() - 80..]);
        let file = std::fs::File::create(home.join("page")).unwrap();
        let status = tool(&home).args(["report", "all.jsonl", "-o", name]).stdout(file).status().unwrap();
        assert!(status.success());
        assert_eq!(home.read("page"), page);
    }
    let said = samplin_in(&home, ["report", "all.jsonl", "-o", "./all.jsonl"]).fails(2);
    assert!(said.contains("would replace the trace"), "{said}");
    samplin_in(&home, ["predict", "all.jsonl", "--device", "v3d-4.2", "-o", "all.jsonl"]).fails(2);
}

/// A trace of one pair with these changes.
fn one_pair(changes: &[Value]) -> String {
    let [layer, end] = CLEAN.split_inclusive('\n').collect::<Vec<_>>()[..] else { panic!() };
    let names = json!({ "sampler": null, "view": null });
    layer.to_owned() + &pair(names, "VK_FORMAT_R8G8B8A8_UNORM", changes.into()) + end
}

#[test]
fn a_wish_that_was_held_back_is_no_change() {
    let home = Folder::new();
    let overridden = |catalog: &str, field: &str, from: f64, to: f64, because: &str| {
        json!({
            "rule": "override", "catalog": catalog, "vuid": null, "field": field, "from": from, "to": to,
            "because": because, "lost": "the override",
        })
    };
    let why = "held back: the view has one mip level (guard single_mip)";
    let held = overridden("O-2", "maxAnisotropy", 16.0, 1.0, why);
    home.write("held.jsonl", one_pair(std::slice::from_ref(&held)));
    let told = "0 applied, 1 held back: max_anisotropy = 16 (one mip level)";
    let inspected = samplin_in(&home, ["inspect", "held.jsonl"]).quiet(0);
    assert!(inspected.contains(told) && !inspected.contains("16 → 1"), "{inspected}");
    let value = samplin_in(&home, ["inspect", "--json", "held.jsonl"]).json(0);
    assert_eq!((&value["changes"], &value["scope"]["held_back"][0]["count"]), (&0.into(), &1.into()));
    samplin_in(&home, ["check", "held.jsonl"]).quiet(0);
    samplin_in(&home, ["check", "held.jsonl", "--deny", "override"]).quiet(0);
    let page = samplin_in(&home, ["report", "held.jsonl", "-o", "-"]).quiet(0);
    assert!(page.contains(told) && !page.contains("16 → 1"));
    let story = samplin_in(&home, ["inspect", "held.jsonl", "--object", "0x1"]).quiet(0);
    assert!(story.contains("held back: max_anisotropy = 16 (one mip level)") && !story.contains("→"), "{story}");
    // One that was carried out is one, beside another that was not.
    let applied = overridden("O-1", "minLod", 0.0, 1.0, "a rule says so");
    home.write("both.jsonl", one_pair(&[applied, held]));
    let inspected = samplin_in(&home, ["inspect", "both.jsonl"]).quiet(0);
    assert!(inspected.contains("1 applied, 1 held back"), "{inspected}");
    samplin_in(&home, ["check", "both.jsonl"]).quiet(1);
    samplin_in(&home, ["diff", "held.jsonl", "both.jsonl"]).quiet(1);
    // Through tables as well.
    samplin_in(&home, ["export", "held.jsonl", "--parquet", "tables"]).quiet(0);
    samplin_in(&home, ["check", "tables"]).quiet(0);
}

/// The same with the layer: the wish is one of a rules file, the image has one level.
#[test]
fn a_real_wish_that_is_held_back_is_told_so() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    home.write("rules.toml", "[[rule]]\nname = \"sharp\"\nset = { max_anisotropy = 16 }\n");
    let ran = vulkan.run(&home, &["--rules", "rules.toml", "--trace", "t.jsonl"], "scene", &[]);
    assert!(ran.stderr.contains("held back: max_anisotropy = 16 ("), "{}", ran.stderr);
    let value = samplin_in(&home, ["check", "t.jsonl", "--deny", "override", "--json"]);
    assert!(!value.stdout.contains("held back"), "{}", value.stdout);
}

#[test]
fn nothing_to_change_says_what_was_looked_at() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let start = |program: &str, options: &[&str]| {
        vulkan.run(&home, &[&["--trace", "t.jsonl"][..], options].concat(), program, &["now.ppm"]).stderr
    };
    let said = start("scene", &[]);
    assert!(said.contains("nothing had to be changed in 6 samplers, "), "{said}");
    assert!(
        said.contains("descriptors with an image and a sampler") && said.contains("pairs that shaders join"),
        "{said}"
    );
    assert!(said.contains("not checked: what no rule of samplin covers"), "{said}");
    let said = start("scene", &["--set", "separate=base"]);
    assert!(said.contains("not checked: pairs that only shaders join (separate = base)"), "{said}");
    let told = samplin_in(&home, ["inspect", "t.jsonl"]).quiet(0);
    assert!(told.contains("Nothing had to be changed in 6 samplers, "), "{told}");
    let page = samplin_in(&home, ["report", "t.jsonl", "-o", "-"]).quiet(0);
    assert!(page.contains("Nothing had to be changed in 6 samplers, "));
    let said = vulkan.run(&home, &[], "scene", &[]).stderr;
    assert!(said.contains("left as it is and named: ") && said.contains(": pair ("), "{said}");
}

#[test]
fn validation_is_counted() {
    let Some(vulkan) = vulkan() else { return };
    if !Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").is_file() {
        skip("the Khronos validation layer is not installed");
        return;
    }
    let home = Folder::new();
    let start = |arguments: &[&str]| {
        let ran = vulkan.run(&home, &["--validate", "--summary-json", "s.json"], "faulty", arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let summary = home.read("s.json");
        (ran, serde_json::from_str::<Value>(&summary).unwrap())
    };
    let (ran, summary) = start(&["2"]);
    assert!(ran.stderr.contains("validation gave 2 messages: 2 errors, 0 warnings"), "{}", ran.stderr);
    assert!(ran.stderr.contains("VUID-VkBufferCreateInfo-size-00912"), "passed on: {}", ran.stderr);
    assert_eq!(ran.stdout, "2 faults\n", "the program's own output stays apart");
    assert_eq!((&summary["validation"]["errors"], &summary["instances"]), (&2.into(), &1.into()));
    let (ran, _) = start(&["0"]);
    assert!(ran.stderr.contains("validation gave no message"), "{}", ran.stderr);
}

/// Pipelines that are made again and again, as engines do: one record for the link, and how often it was met.
#[test]
fn a_link_of_a_remade_pipeline_is_told_once() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    for (level, records, repeated) in [("decisions", 1, 6), ("all", 7, 0)] {
        let ran = vulkan.run(&home, &["--trace", "t.jsonl", "--trace-level", level], "joined", &["7"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let text = home.read("t.jsonl");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
        let pairs: Vec<_> = of("pair").into_iter().filter(|pair| pair["path"] == "draw").collect();
        let summary = of("summary").into_iter().find(|summary| summary["scope"] == "device").unwrap();
        assert_eq!(pairs.len(), records, "{level}");
        assert_eq!(summary["separate"]["repeated"], repeated, "{level}: {summary:#}");
    }
}

/// The layer follows no link, so the tool does: what the link leads to is the trace, and nothing else is emptied.
#[test]
fn a_link_is_followed_before_the_layer_refuses_it() {
    let home = Folder::new();
    pretend_layer(&home);
    let old = text_in("decisions.jsonl");
    home.write("real 100%.jsonl", &old);
    std::os::unix::fs::symlink("real 100%.jsonl", home.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink("later.jsonl", home.join("new.jsonl")).unwrap();
    let start = |options: &[&str], trace: Option<&str>| {
        Ran::by(
            tool(&home)
                .envs(trace.map(|trace| ("SAMPLIN_TRACE", home.join(trace))))
                .args(["run", "--layer", "layer", "--allow-untraced"])
                .args(options)
                .args(["--", "sh", "-c", "echo $SAMPLIN_TRACE"]),
        )
    };
    let real = home.join("real 100%%.jsonl").display().to_string();
    for (options, trace) in [(&["--append", "--trace", "link.jsonl"][..], None), (&["--append"], Some("link.jsonl"))] {
        assert_eq!(start(options, trace).stdout.trim(), real, "{options:?}");
        assert_eq!(home.read("real 100%.jsonl"), old);
    }
    assert_eq!(start(&["--trace", "link.jsonl"], None).stdout.trim(), real);
    assert!(home.read("real 100%.jsonl").is_empty() && home.join("link.jsonl").is_symlink());
    assert_eq!(start(&["--trace", "new.jsonl"], None).stdout.trim(), home.join("later.jsonl").display().to_string());
    // What the layer refuses is left whole.
    home.write("one.jsonl", &old);
    std::fs::hard_link(home.join("one.jsonl"), home.join("two.jsonl")).unwrap();
    let ran = start(&["--trace", "one.jsonl"], None);
    assert!(ran.code == 4 && ran.stderr.contains("it has a second name"), "{}", ran.stderr);
    assert_eq!(home.read("two.jsonl"), old);
    // A link among the names with marks is not emptied either.
    std::os::unix::fs::symlink("one.jsonl", home.join("sh.jsonl")).unwrap();
    assert_eq!(start(&["--trace", "%e.jsonl"], None).code, 4);
    assert_eq!(home.read("one.jsonl"), old);
}

/// No output takes the place of an input or of another output, by whatever name; and a trace none of what is no trace.
#[test]
fn outputs_do_not_overwrite_what_is_read() {
    let home = Folder::new();
    pretend_layer(&home);
    borrow(&home, "decisions.jsonl");
    home.write("known.toml", "");
    home.write("rules.toml", "");
    home.write("notes.txt", "dear diary\n");
    home.write("game", "#!/bin/sh\n");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(home.join("game"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("decisions.jsonl", home.join("link")).unwrap();
    std::fs::hard_link(home.join("decisions.jsonl"), home.join("hard")).unwrap();
    let files = ["decisions.jsonl", "known.toml", "rules.toml", "notes.txt", "game"];
    let all = || files.map(|name| std::fs::read(home.join(name)).unwrap());
    let before = all();
    let run = ["run", "--layer", "layer", "--allow-untraced"];
    let cases: [&[&str]; 16] = [
        &["check", "decisions.jsonl", "--format", "json=decisions.jsonl"],
        &["check", "decisions.jsonl", "--format", "json=./link"],
        &["check", "decisions.jsonl", "--format", "json=hard"],
        &["check", "decisions.jsonl", "--baseline", "known.toml", "--format", "json=known.toml"],
        &["check", "decisions.jsonl", "--config", "known.toml", "--format", "json=known.toml"],
        &["check", "decisions.jsonl", "--config", "known.toml", "--baseline", "known.toml", "--update-baseline"],
        &["check", "decisions.jsonl", "--format", "json=o", "--format", "sarif=./o"],
        &["diff", "decisions.jsonl", "hard", "--format", "json=decisions.jsonl"],
        &["diff", "decisions.jsonl", "decisions.jsonl", "--format", "json=o", "--format", "junit=o"],
        &["--trace", "x", "--summary-json", "x", "--", "true"],
        &["--trace", "rules.toml", "--rules", "rules.toml", "--", "true"],
        &["--trace", "x", "--rules", "rules.toml", "--summary-json", "rules.toml", "--", "true"],
        &["--trace", "game", "--", "./game"],
        &["--trace", "x", "--overwrite", "--summary-json", "game", "--", "./game"],
        &["--trace", "notes.txt", "--", "true"],
        &["--trace", "notes.txt", "--append", "--", "true"],
    ];
    for case in cases {
        let command = if case[0].starts_with("--") { [&run, case].concat() } else { case.to_vec() };
        let said = samplin_in(&home, &command).fails(2);
        assert!(said.contains("would replace") || said.contains("this is no trace"), "{case:?}: {said}");
        assert!(all() == before && !home.join("o").exists() && !home.join("x").exists(), "{case:?}");
    }
    // Apart, they are all right.
    samplin_in(&home, ["check", "decisions.jsonl", "--format", "json=o", "--format", "sarif=p"]).quiet(1);
    samplin_in(&home, ["check", "decisions.jsonl", "--format", "json=/dev/null", "--format", "sarif=/dev/null"])
        .quiet(1);
    let fine = [&run[..], &["--trace", "notes.txt", "--overwrite", "--summary-json", "x", "--", "true"]].concat();
    assert_eq!(samplin_in(&home, &fine).code, 0);
    assert!(std::fs::read(home.join("notes.txt")).unwrap().is_empty());
}

/// Files that nobody names on the command line are inputs too: rules, settings, the device, the layer.
#[test]
fn outputs_do_not_overwrite_what_is_read_unnamed() {
    let home = holding(["all.jsonl"]);
    pretend_layer(&home);
    home.write("soft2.toml", "");
    home.write(".config/samplin/samplin.toml", "");
    home.write("vk_layer_settings.txt", "samplin.log = off\n");
    samplin_in(&home, ["caps", "v3d-4.2", "--save", "weak.json"]).quiet(0);
    std::os::unix::fs::symlink("soft2.toml", home.join("link.toml")).unwrap();
    let files = [
        "all.jsonl",
        "soft2.toml",
        ".config/samplin/samplin.toml",
        "vk_layer_settings.txt",
        "weak.json",
        "layer/libVkLayer_samplin.so",
    ];
    let all = || files.map(|name| std::fs::read(home.join(name)).unwrap());
    let before = all();
    let start = |variables: &[(&str, &str)], arguments: &[&str]| {
        Ran::by(tool(&home).envs(variables.iter().copied()).args(arguments))
    };
    let run = |variables: &[(&str, &str)], options: &[&str]| {
        let ends = ["--", "sh", "-c", "echo started"];
        start(variables, &[&["run", "--layer", "layer", "--allow-untraced"], options, &ends].concat())
    };
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str);
    let cases: [Case<'_>; 7] = [
        (&[("SAMPLIN_CONFIG", "soft2.toml")], "soft2.toml"),
        (&[("SAMPLIN_CONFIG", "soft2.toml")], "link.toml"),
        (&[("SAMPLIN_DEVICE", "./weak.json")], "weak.json"),
        (&[("SAMPLIN_LEARNED", "soft2.toml")], "soft2.toml"),
        (&[], ".config/samplin/samplin.toml"),
        (&[], "vk_layer_settings.txt"),
        (&[], "layer/libVkLayer_samplin.so"),
    ];
    for (variables, file) in cases {
        for output in ["--summary-json", "--trace"] {
            let said = run(variables, &["--overwrite", output, file]).fails(2);
            assert!(said.contains("would replace"), "{output} {file}: {said}");
            assert!(all() == before, "{output} {file}");
        }
    }
    // A trace that only has a pattern, and the summary.
    let said = run(&[], &["--trace", "%e.jsonl", "--summary-json", "sh.jsonl"]).fails(2);
    assert!(said.contains("--summary-json would replace the trace"), "{said}");
    for arguments in [
        &["report", "all.jsonl", "--device", "./weak.json", "-o", "weak.json"][..],
        &["report", "all.jsonl", "--device", "./weak.json", "-o", "o", "--csv", "weak.json"],
        &["report", "all.jsonl", "-o", "o", "--csv", "./o"],
        &["predict", "all.jsonl", "--device", "./weak.json", "-o", "weak.json"],
        &["caps", "./weak.json", "--save", "weak.json"],
    ] {
        let said = start(&[], arguments).fails(2);
        assert!(said.contains("would replace"), "{arguments:?}: {said}");
        assert!(all() == before && !home.join("o").exists(), "{arguments:?}");
    }
    // What is not read may be written.
    for (options, code) in [(&["--summary-json", "soft2.toml"][..], 0), (&["--summary-json", "s.json"], 0)] {
        assert_eq!(run(&[], options).code, code, "{options:?}");
    }
    assert_ne!(all(), before);
}

/// A program that writes traces as the layer would: copies of these files, by these names.
fn copying(files: &[(&str, &str)]) -> String {
    files.iter().map(|(from, to)| format!("cat {from} > {to};")).collect()
}

#[test]
fn a_summary_of_several_processes_is_one_of_all() {
    let home = Folder::new();
    home.write("none", one_pair(&[]));
    home.write("one", one_pair(&[made("linear-filter")]));
    let summary = |script: &str| {
        let ran = run(&home, &["--trace", "t-%p.jsonl", "--summary-json", "s.json"], &["sh", "-c", script]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let text = home.read("s.json");
        for number in 1..4 {
            let _ = std::fs::remove_file(home.path().join(format!("t-{number}.jsonl")));
        }
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let told = summary(&copying(&[("none", "t-1.jsonl"), ("one", "t-2.jsonl"), ("one", "t-3.jsonl")]));
    assert_eq!((&told["instances"], &told["summary"]["changes"]), (&3.into(), &2.into()), "{told:#}");
    assert_eq!(told["summary"]["by_rule"][0]["changes"], 2);
    let paths: Vec<_> = ["t-1.jsonl", "t-2.jsonl", "t-3.jsonl"].iter().map(|name| home.join(name)).collect();
    assert_eq!(told["traces"], json!(paths));
    let each: Vec<_> = told["processes"].as_array().unwrap().iter().map(|one| &one["summary"]["changes"]).collect();
    assert_eq!(each, [0, 1, 1]);
    // Of one it is the same as ever.
    let told = summary(&copying(&[("one", "t-2.jsonl")]));
    assert_eq!((&told["instances"], &told["summary"]["changes"]), (&1.into(), &1.into()), "{told:#}");
    assert_eq!((&told["trace"], &told["processes"]), (&json!(paths[1]), &Value::Null));
    assert_eq!(told["traces"], json!([paths[1]]));
}

/// The same with the layer, and two programs of one name.
#[test]
fn a_real_summary_of_two_processes_is_one_of_both() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let scene = example("scene");
    let changes = |script: &str| {
        let ran = Ran::by(
            vulkan.tool(&home).args(["run", "--summary-json", "s.json", "--", "sh", "-c", script]).env("SCENE", &scene),
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told: Value = serde_json::from_str(&home.read("s.json")).unwrap();
        (told["instances"].as_u64().unwrap(), told["summary"]["changes"].as_u64().unwrap())
    };
    let (one, many) = changes("$SCENE; true");
    assert!(one == 1 && many > 100, "{one} {many}");
    assert_eq!(changes("$SCENE; $SCENE now.ppm"), (2, many));
    assert_eq!(changes("$SCENE now.ppm; $SCENE"), (2, many));
}

/// Rules files of which a part does nothing are refused before the program starts, whoever names them.
#[test]
fn rules_with_mistakes_are_refused() {
    let home = Folder::new();
    home.write("wrong.toml", "[[rule]]\nset = { min_lodd = 1 }\n[[rule]]\nset = { max_lodd = 1 }\n");
    home.write("right.toml", "[[rule]]\nset = { min_lod = 1 }\n");
    let ends = ["sh", "-c", "echo started"];
    for options in [&["--rules", "wrong.toml"][..], &["-q", "--rules", "wrong.toml"], &["--set", "config=wrong.toml"]] {
        let said = run(&home, options, &ends).fails(3);
        assert!(said.contains("wrong.toml:2:9: error: ") && said.contains("wrong.toml:4:9: error: "), "{said}");
    }
    let variable = |file: &str| {
        Ran::by(
            tool(&home)
                .env("SAMPLIN_CONFIG", file)
                .args(["run", "--allow-untraced", "--layer", "layer", "--"])
                .args(ends),
        )
    };
    assert!(variable("wrong.toml").fails(3).contains("wrong.toml:4:9: error: "));
    assert!(variable("none.toml").fails(3).contains("none.toml"));
    assert_eq!(variable("right.toml").stdout, "started\n");
    assert_eq!(run(&home, &["--allow-untraced", "--rules", "right.toml"], &ends).stdout, "started\n");
}

/// A list that is cut says how much of it is not there.
#[test]
fn what_a_summary_leaves_out_is_counted() {
    let home = Folder::new();
    let rules = samplin_core::decide::Rule::ALL;
    let told = |count: usize, problems: usize| {
        let changes: Vec<Value> = rules.iter().take(count).map(|rule| made(rule.name())).collect();
        let problem =
            |number| record("settings", json!({ "level": "error", "key": format!("k{number}"), "message": "m" }));
        home.write("many", one_pair(&changes) + &(0..problems).map(problem).collect::<String>());
        let ran = run(&home, &["--trace", "t.jsonl"], &["sh", "-c", "cat many > t.jsonl"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    let said = told(15, 8);
    assert!(said.contains("\n  … and 3 more\n") && said.contains("samplin: … and 3 more\n"), "{said}");
    let said = told(12, 5);
    assert!(!said.contains("more\n"), "{said}");
}

/// An output in a folder that is not there is a mistyped one: nothing is made, and nothing is started.
#[test]
fn a_folder_that_is_not_there_is_not_made_for_an_output() {
    let home = holding(["all.jsonl"]);
    pretend_layer(&home);
    for arguments in [
        &["report", "all.jsonl", "-o", "nodir/r.html"][..],
        &["report", "all.jsonl", "-o", "r.html", "--csv", "nodir/r.csv"],
        &["check", "all.jsonl", "--format", "json=nodir/o.json"],
        &["predict", "all.jsonl", "--device", "v3d-4.2", "-o", "nodir/p.jsonl"],
        &["caps", "v3d-4.2", "--save", "nodir/c.json"],
        &["rules", "new", "nodir/samplin.toml"],
        &["run", "--layer", "layer", "--summary-json", "nodir/s.json", "--", "sh", "-c", "echo started"],
    ] {
        let said = samplin_in(&home, arguments).fails(4);
        assert!(said.contains("nodir/") && said.contains("there is no folder nodir"), "{arguments:?}: {said}");
        assert!(!home.join("nodir").exists(), "{arguments:?}");
    }
    // Its own files have their folders made, and so has what is called a folder.
    samplin_in(&home, ["man", "--dir", "pages/man1"]).quiet(0);
    assert!(home.join("pages/man1/samplin.1").is_file());
}

/// Temporary names that somebody has taken are not followed.
#[test]
fn planted_names_are_passed_over() {
    let home = holding(["all.jsonl"]);
    home.write("victim", "precious\n");
    pretend_layer(&home);
    home.write("rules.toml", "[[rule]]\nset = { min_lod = 1 }\n");
    home.write("validation/v.json", r#"{"layer": {"name": "VK_LAYER_KHRONOS_validation", "library_path": "./v.so"}}"#);
    std::fs::create_dir(home.join("tmp")).unwrap();
    let own = env!("CARGO_BIN_EXE_samplin");
    for (plant, command, code) in [
        ("ln -s victim .rep.html.$$.new", "report all.jsonl -o rep.html", 0),
        (
            "mkdir tmp/samplin-bisect-$$; ln -s ../../victim tmp/samplin-bisect-$$/samplin.toml",
            "rules bisect --layer layer --rules rules.toml --good-if true -- true",
            4,
        ),
        (
            "mkdir tmp/samplin-validation-$$; ln -s ../../victim tmp/samplin-validation-$$/vk_layer_settings.txt",
            "run --allow-untraced --validate --layer layer -- true",
            0,
        ),
    ] {
        let script = format!("{plant}; exec {own} {command}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        shell.env("HOME", home.path()).env("TMPDIR", home.join("tmp")).env("VK_LAYER_PATH", home.join("validation"));
        let ran = Ran::of(&shell.current_dir(home.path()).stdin(Stdio::null()).output().unwrap());
        assert_eq!(ran.code, code, "{command}: {}", ran.stderr);
        assert_eq!(home.read("victim"), "precious\n", "{command}");
    }
    assert!(home.join("rep.html").is_file() && !home.join("rep.html").is_symlink());
    // Its own are gone, what was there is not.
    let mut left: Vec<_> =
        std::fs::read_dir(home.join("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// Without a home the cache lies where everybody may write: one that somebody else could have made is not used.
#[test]
fn a_cache_of_others_is_not_used() {
    let home = Folder::new();
    let start = |tmp: &str| {
        let mut command = tool(&home);
        let program =
            ["--allow-untraced", "--layer", "layer", "--trace", "t.jsonl", "--", "sh", "-c", "echo $SAMPLIN_DEVICE"];
        command.env_remove("HOME").env("TMPDIR", home.join(tmp)).args(["run", "--device", "v3d-4.2"]).args(program);
        Ran::by(&mut command)
    };
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    pretend_layer(&home);
    let own = std::fs::metadata(home.path()).unwrap().uid();
    let cache = |tmp: &str| home.join(tmp).join(format!("samplin-cache-{own}"));
    let rights = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    for name in ["own", "open/elsewhere", "link/elsewhere"] {
        std::fs::create_dir_all(home.join(name)).unwrap();
    }
    std::fs::create_dir(cache("open")).unwrap();
    rights(&cache("open"), 0o777);
    std::os::unix::fs::symlink("elsewhere", cache("link")).unwrap();
    for tmp in ["open", "link"] {
        let said = start(tmp).fails(4);
        assert!(said.contains("is not of this user alone") && said.contains("XDG_CACHE_HOME"), "{said}");
        assert_eq!(std::fs::read_dir(cache(tmp)).unwrap().count(), 0);
    }
    // Its own is made once, and used again.
    for _ in 0..2 {
        let ran = start("own");
        assert!(ran.code == 0 && Path::new(ran.stdout.trim()).starts_with(cache("own")), "{ran:?}");
        assert_eq!(cache("own").metadata().unwrap().mode() & 0o777, 0o700);
    }
}
