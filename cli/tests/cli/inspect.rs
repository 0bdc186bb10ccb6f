//! `samplin inspect`, as a process.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::*;

#[test]
fn a_trace_is_told() {
    let home = holding(["decisions.jsonl"]);
    snapshot("inspect.txt", &samplin_in(&home, ["inspect", "decisions.jsonl"]).quiet(0));
    snapshot(
        "inspect-by.txt",
        &samplin_in(&home, ["inspect", "--by", "path,sampler", "--limit", "2", "decisions.jsonl"]).quiet(0),
    );
}

#[test]
fn what_became_of_links_is_told() {
    let home = holding(["all.jsonl", "decisions.jsonl"]);
    snapshot("inspect-by-link.txt", &samplin_in(&home, ["inspect", "--by", "link", "all.jsonl"]).quiet(0));
    let told = samplin_in(&home, ["inspect", "--by", "link", "decisions.jsonl"]).quiet(0);
    assert!(told.contains("No shader joins"), "{told}");
    let value = samplin_in(&home, ["inspect", "--json", "all.jsonl"]).json(0);
    let outcomes: Vec<_> = value["by_link"].as_array().unwrap().iter().map(|group| &group["outcome"]).collect();
    assert_eq!(outcomes, ["shadow", "split", "no-free-set"]);
    let legal = samplin_in(&home, ["inspect", "--json", "decisions.jsonl"]).json(0)["by_link"].clone();
    assert_eq!(legal, serde_json::json!([]));
    // Repaired, left, and the shader itself.
    for (object, name) in [("of two images", "explain-link.txt"), ("of all sets", "explain-link-left.txt")] {
        snapshot(name, &samplin_in(&home, ["inspect", "all.jsonl", "--object", object]).quiet(0));
    }
    let pipeline = text_in("all.jsonl");
    let record = pipeline.lines().find(|line| line.contains("\"event\":\"shader\"")).unwrap();
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    let pipeline = record["pipeline"].as_str().unwrap();
    let told = samplin_in(&home, ["inspect", "all.jsonl", "--object", pipeline]).quiet(0);
    assert!(told.contains(&format!("The pipeline {pipeline}")), "{told}");
    assert!(told.contains(&format!("compute shader of pipeline {pipeline} rewritten: split")), "{told}");
}

#[test]
fn several_traces_add_up() {
    let home = holding(["decisions.jsonl"]);
    let one = samplin_in(&home, ["inspect", "--json", "decisions.jsonl"]).json(0);
    let two = samplin_in(&home, ["inspect", "--json", "decisions.jsonl", "decisions.jsonl"]).json(0);
    assert_eq!(two["changes"].as_u64().unwrap(), one["changes"].as_u64().unwrap() * 2);
    assert_eq!(two["decisions"].as_array().unwrap().len(), one["decisions"].as_array().unwrap().len());
    assert_eq!(two["traces"].as_array().unwrap().len(), 2);
}

/// A line of a trace.
fn record(pid: u32, event: &str, rest: &str) -> String {
    format!("{{\"event\":\"{event}\",\"pid\":{pid},{rest}}}\n")
}

#[test]
fn alike_processes_and_devices_are_told_once() {
    let home = Folder::new();
    let mut text = String::new();
    // Process 7 creates two instances.
    for (pid, exe) in [(7, "game"), (8, "launcher"), (7, "game"), (9, "launcher")] {
        text += &record(pid, "layer", &format!("\"exe\":\"{exe}\",\"version\":\"1.2.3\""));
        text += &record(pid, "device", &format!("\"device\":\"GPU of the {exe}\""));
    }
    text += &record(9, "device", "\"device\":\"another GPU\"");
    home.write("many.jsonl", text);
    let told = samplin_in(&home, ["inspect", "many.jsonl"]).quiet(0);
    let lines: Vec<&str> = told.lines().map(str::trim).filter(|line| line.starts_with(['p', 'd'])).collect();
    assert_eq!(
        lines,
        [
            "process  game (7), samplin 1.2.3",
            "process  launcher (2 processes), samplin 1.2.3",
            "device   2 × GPU of the game",
            "device   2 × GPU of the launcher",
            "device   another GPU",
        ]
    );
}

#[test]
fn what_shaders_join_is_counted_over_all_devices() {
    let home = Folder::new();
    let summary =
        |pid: u32, separate: &str| record(pid, "summary", &format!("\"scope\":\"device\",\"separate\":{separate}"));
    let counts = |links, peak, splits, ms, learned, left| {
        format!(
            "{{\"links\":{links},\"sets\":3,\"shadows\":{{\"live\":0,\"peak\":{peak}}},\"hidden_sets\":1,\"splits\":{splits},\
             \"compile_ms\":{ms},\"learned\":{learned},\"unresolved\":{{\"bindless\":{left}}}}}"
        )
    };
    let row = |text: String| {
        home.write("links.jsonl", text);
        let told = samplin_in(&home, ["inspect", "links.jsonl"]).quiet(0);
        told.lines().find_map(|line| line.trim().strip_prefix("links in shaders")).map(|row| row.trim().to_owned())
    };
    let two = summary(1, &counts(10, 2, 1, 3.25, 4, 1)) + &summary(2, &counts(2, 1, 2, 1.5, 3, 2));
    let expected = "12, 2 copied sets at once, 3 pipelines recompiled in 4.8 ms, 4 learned; 3 left as they are";
    assert_eq!(row(two).as_deref(), Some(expected));
    assert_eq!(row(summary(1, &counts(5, 0, 0, 0.0, 0, 0))).as_deref(), Some("5"), "nothing had to be done");
    for nothing in
        [summary(1, &counts(0, 0, 0, 0.0, 0, 0)), summary(1, "null"), record(1, "summary", "\"scope\":\"device\"")]
    {
        assert_eq!(row(nothing), None, "there is nothing to be told");
    }
}

/// A trace of devices, each with its limit of custom border colours and how many were left.
fn with_limits(devices: &[(u64, u64)]) -> String {
    let mut text = String::new();
    for (index, (limit, left)) in devices.iter().enumerate() {
        text += &format!(
            "{{\"event\":\"device\",\"pid\":{index},\"device\":\"GPU\",\"limits\":{{\"maxCustomBorderColorSamplers\":{limit}}}}}\n\
             {{\"event\":\"summary\",\"pid\":{index},\"scope\":\"device\",\"census\":{{\"headroom\":{{\"maxCustomBorderColorSamplers\":{left}}}}}}}\n"
        );
    }
    text
}

#[test]
fn a_limit_is_told_for_the_devices_that_have_it() {
    let home = Folder::new();
    let cases: [(&[(u64, u64)], &str); 5] = [
        (&[(0, 0)], "not available on this device"),
        (&[(0, 0), (0, 0)], "not available on any of 2 devices"),
        (&[(32, 30), (32, 31)], "2 of 32 used at the peak (6.2 %), 30 left"),
        (&[(32, 30), (0, 0), (32, 31)], "2 of 32 used at the peak (6.2 %), 30 left; not available on 1 of 3 devices"),
        // Used to the last, on one that has it.
        (&[(0, 0), (32, 0)], "32 of 32 used at the peak (100.0 %), 0 left; not available on 1 of 2 devices"),
    ];
    for (devices, expected) in cases {
        home.write("limits.jsonl", with_limits(devices));
        let told = samplin_in(&home, ["inspect", "limits.jsonl"]).quiet(0);
        let row = told.lines().find_map(|line| line.trim().strip_prefix("maxCustomBorderColorSamplers")).unwrap();
        assert_eq!(row.trim(), expected, "{devices:?}");
    }
}

#[test]
fn json_has_every_group() {
    let value = samplin(["inspect".into(), "--json".into(), data("decisions.jsonl").into_os_string()]).json(0);
    for key in
        ["by_rule", "by_format", "by_sampler", "by_path", "decisions", "unresolved", "census", "processes", "devices"]
    {
        assert!(!value[key].is_null(), "{key}");
    }
    let sum: u64 = value["by_rule"].as_array().unwrap().iter().map(|rule| rule["changes"].as_u64().unwrap()).sum();
    assert_eq!(value["changes"], sum);
    let path: u64 = value["by_path"].as_array().unwrap().iter().map(|path| path["changes"].as_u64().unwrap()).sum();
    assert_eq!(path, sum, "every change came on some path");
}

#[test]
fn without_a_file_the_newest_is_taken() {
    let home = Folder::new();
    let failure = samplin_in(&home, ["inspect"]).fails(3);
    assert!(failure.contains("there is no trace") && failure.contains("samplin run"), "{failure}");
    let folder = home.join(".local/state/samplin");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("old-1.jsonl"), "{\"event\":\"layer\",\"pid\":1,\"exe\":\"old\"}\n").unwrap();
    let old = std::fs::File::options().append(true).open(folder.join("old-1.jsonl")).unwrap();
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    std::fs::write(folder.join("new-2.jsonl"), "{\"event\":\"layer\",\"pid\":2,\"exe\":\"new\"}\n").unwrap();
    std::fs::write(folder.join("notes.txt"), "no trace").unwrap();
    let told = samplin_in(&home, ["inspect"]);
    assert!(told.stdout.contains("new (2)") && !told.stdout.contains("old (1)"), "{told:?}");
    assert!(told.stderr.contains("the newest trace is ") && told.stderr.contains("new-2.jsonl"), "{told:?}");
}

#[test]
fn objects_are_explained() {
    let home = holding(["all.jsonl"]);
    for (name, object) in [
        ("explain-name.txt", "shadow"),
        ("explain-fingerprint.txt", &fingerprint_of("white border")),
        ("explain-handle.txt", &handle_of("white border")),
    ] {
        let text = samplin_in(&home, ["inspect", "all.jsonl", "--object", object]).quiet(0);
        snapshot(name, &text);
    }
    let failure = samplin_in(&home, ["inspect", "all.jsonl", "--object", "shado"]).fails(3);
    assert!(failure.contains("there is \"shadow\"\n"), "{failure}");
    let failure = samplin_in(&home, ["inspect", "all.jsonl", "--object", "nothing of this name"]).fails(3);
    let hint = failure.lines().find(|line| line.contains("names in the trace: ")).unwrap();
    assert!(hint.matches('"').count() == 10 && hint.ends_with(" more"), "{hint}");
    let failure = samplin_in(&home, ["inspect", "all.jsonl", "--object", "0xdead"]).fails(3);
    assert!(failure.contains("no record is about 0xdead"), "{failure}");
    let story = samplin_in(&home, ["inspect", "all.jsonl", "--object", "shadow", "--json"]).json(0);
    assert!(story["story"]["entries"].as_array().unwrap().len() > 10);
}

fn record_of(name: &str) -> serde_json::Value {
    let text = text_in("all.jsonl");
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|record| record["names"]["sampler"] == name)
        .unwrap()
}

fn fingerprint_of(name: &str) -> String {
    record_of(name)["fingerprint"].as_str().unwrap().to_owned()
}

fn handle_of(name: &str) -> String {
    record_of(name)["sampler"].as_str().unwrap().to_uppercase().replace("0X", "0x")
}

#[test]
fn damage_is_counted_and_named_but_never_fatal() {
    let home = Folder::new();
    let whole = text_in("decisions.jsonl");
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    lines.insert(3, "{\"seq\":3,\"t_ns\":99,\"pid\":1,\"ev".to_owned());
    lines.insert(6, "\u{0}\u{0}\u{0}".to_owned());
    lines.insert(8, "[1,2,3]".to_owned());
    lines.insert(9, "{\"event\":\"pair\",\"changes\":[{\"rule\":1}]}".to_owned());
    lines.insert(10, "{\"event\":\"prophecy\"}".to_owned());
    lines.insert(11, String::new());
    let mut text = lines.join("\n").into_bytes();
    text.extend_from_slice(b"\n\xff\xfe\n{\"seq\":77,\"t_ns");
    home.write("damaged.jsonl", &text);
    let ran = samplin_in(&home, ["inspect", "damaged.jsonl"]);
    let told = ran.quiet(0);
    for part in [
        "damaged.jsonl:4: the line is cut off",
        "damaged.jsonl:7: not JSON at column 1",
        "damaged.jsonl:9: JSON, but not a trace record",
        "damaged.jsonl:10: JSON, but not a trace record",
        "not UTF-8 at column 1",
        "damaged.jsonl: 6 damaged lines in all",
        "1 record of kinds that this version does not know",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let value = samplin_in(&home, ["inspect", "--json", "damaged.jsonl"]).json(0);
    let clean = samplin(["inspect".into(), "--json".into(), data("decisions.jsonl").into_os_string()]).json(0);
    assert_eq!(value["changes"], clean["changes"], "what is whole is all there");
    assert_eq!(value["traces"][0]["damaged_lines"], 6);
    assert_eq!(value["traces"][0]["cut_off"], true);
}

#[test]
fn every_cut_of_a_trace_can_be_read() {
    let home = Folder::new();
    let whole = std::fs::read(data("decisions.jsonl")).unwrap();
    for cut in (0..whole.len()).step_by(whole.len() / 40) {
        home.write("cut.jsonl", &whole[..cut]);
        let ran = samplin_in(&home, ["inspect", "cut.jsonl"]);
        // Without one whole record it is none.
        let has_record = whole[..cut].contains(&b'\n');
        assert_eq!(
            (ran.code, ran.stdout.is_empty()),
            if has_record { (0, false) } else { (3, true) },
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let home = Folder::new();
    let failure = samplin_in(&home, ["inspect", "missing.jsonl"]).fails(3);
    assert!(failure.contains("missing.jsonl: No such file"), "{failure}");
    let failure = samplin_in(&home, ["inspect", "."]).fails(3);
    assert!(failure.contains("this is a folder"), "{failure}");
    // A file that opens and whose bytes cannot be had, for root as well: nothing is at address 0.
    let failure = samplin_in(&home, ["inspect", "/proc/self/mem"]).fails(3);
    assert!(failure.contains("/proc/self/mem: Input/output error"), "{failure}");
    if is_root() {
        samplin_testkit::skip("permissions, because root reads everything");
    } else {
        let path = home.write("secret.jsonl", "{}");
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0);
        std::fs::set_permissions(&path, permissions).unwrap();
        let failure = samplin_in(&home, ["inspect", "secret.jsonl"]).fails(3);
        assert!(failure.contains("secret.jsonl: Permission denied"), "{failure}");
    }
}

fn is_root() -> bool {
    // What /proc says of this process's owner needs no further crate.
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// A trace of one device whose summaries say that `changed` samplers were changed and `records` left out.
fn counted(changed: u64, records: u64) -> String {
    let whole = text_in("decisions.jsonl");
    let mut text = String::new();
    for line in whole.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        if record["event"] == "summary" {
            record["left_out"] = serde_json::json!({ "records": records, "bytes": records * 700 });
            if record["scope"] == "device" {
                record["samplers"]["changed"] = changed.into();
            }
        }
        text += &(record.to_string() + "\n");
    }
    text
}

#[test]
fn samplers_without_a_record_are_counted_and_what_was_left_out_is_said() {
    let home = Folder::new();
    home.write("some.jsonl", counted(20_000, 3));
    home.write("none.jsonl", counted(0, 0));
    let told = samplin_in(&home, ["inspect", "some.jsonl"]).quiet(0);
    for part in ["20 000 of them changed", "3 records (", "trace_limit"] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let value = samplin_in(&home, ["inspect", "--json", "some.jsonl"]).json(0);
    let devices = value["census"]["devices"].as_u64().unwrap();
    assert_eq!(value["census"]["samplers_changed"], 20_000 * devices);
    assert!(value["left_out"]["records"].as_u64().is_some_and(|records| records > 0));
    let told = samplin_in(&home, ["inspect", "none.jsonl"]).quiet(0);
    assert!(!told.contains("of them changed") && !told.contains("trace_limit"), "{told}");
}

/// A handle that no record names may be that of a sampler like one that has a record.
#[test]
fn a_handle_without_a_record_is_not_said_to_be_unchanged() {
    let home = Folder::new();
    home.write("some.jsonl", counted(2, 0));
    let failure = samplin_in(&home, ["inspect", "--object", "0xdead", "some.jsonl"]).fails(3);
    assert!(failure.contains("names the first of the samplers that ask for the same"), "{failure}");
}

#[test]
fn an_empty_trace_is_said_to_be_empty() {
    let home = Folder::new();
    home.write("empty.jsonl", "");
    let told = samplin_in(&home, ["inspect", "empty.jsonl"]).fails(3);
    assert!(told.contains("empty.jsonl: the trace is empty"), "{told}");
}

#[test]
fn standard_input_is_a_trace_too() {
    let home = Folder::new();
    let mut child = tool(&home)
        .args(["inspect", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = std::fs::read(data("decisions.jsonl")).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::spawn(move || stdin.write_all(&text));
    let told = Ran::of(&child.wait_with_output().unwrap()).quiet(0);
    assert!(told.starts_with("(standard input): "), "{told}");
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let home = holding(["all.jsonl"]);
    // A closed pipe from the start.
    let mut child = tool(&home)
        .args(["inspect", "--json", "all.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    // A full disk is trouble.
    if let Ok(full) = std::fs::File::options().write(true).open("/dev/full") {
        let output = tool(&home).args(["inspect", "all.jsonl"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("standard output cannot be written"), "{said}");
        assert_eq!(output.status.code(), Some(4));
    }
}

/// What the tool writes on a terminal, to either stream.
fn on_a_terminal(home: &Folder, arguments: &str, variables: &[(&str, &str)]) -> String {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_samplin"));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(home.path());
    command.env("TERM", "xterm").env_remove("NO_COLOR").envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("script, of every Debian, makes a terminal");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let home = holding(["decisions.jsonl"]);
    assert!(on_a_terminal(&home, "inspect decisions.jsonl", &[]).contains("\u{1b}[36m"));
    assert!(!on_a_terminal(&home, "inspect decisions.jsonl", &[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!on_a_terminal(&home, "inspect --json decisions.jsonl", &[]).contains('\u{1b}'));
    assert!(!on_a_terminal(&home, "inspect --color never decisions.jsonl", &[]).contains('\u{1b}'));
    let plain = samplin_in(&home, ["inspect", "decisions.jsonl"]).quiet(0);
    assert!(!plain.contains('\u{1b}'), "there is no terminal here");
    let colored = samplin_in(&home, ["inspect", "--color", "always", "decisions.jsonl"]).quiet(0);
    assert!(colored.contains("\u{1b}["));
    let json = samplin_in(&home, ["inspect", "--color", "always", "--json", "decisions.jsonl"]).quiet(0);
    assert!(!json.contains('\u{1b}'));
}

/// Memory stays flat: a trace of 200 MB is read in a fraction of that. The benchmark does the same with a gigabyte.
#[test]
fn a_large_trace_needs_little_memory() {
    let home = Folder::new();
    let path = home.join("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let (records, changes) = samplin_testkit::large::trace(&mut file, 200_000_000).unwrap();
    file.flush().unwrap();
    drop(file);
    // The limit is on what is allocated, which is more than what is resident.
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 200000; exec \"$0\" inspect --json \"$1\""])
        .arg(env!("CARGO_BIN_EXE_samplin"))
        .arg(&path)
        .output()
        .unwrap();
    let value = Ran::of(&output).json(0);
    assert_eq!(value["traces"][0]["records"], records);
    assert_eq!(value["changes"], changes);
    assert_eq!(value["traces"][0]["damaged_lines"], 0);
    // Whoever waits at a terminal sees how far it is.
    let told = on_a_terminal(&home, "inspect large.jsonl", &[]);
    assert!(told.contains("/190.7"), "{}", told.chars().take(2000).collect::<String>());
}
