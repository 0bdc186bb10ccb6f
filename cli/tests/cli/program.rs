//! The program as a whole: help, version, completions, the manual page, wrong usage.

use std::process::Stdio;

use crate::common::*;

#[test]
fn help_and_version_are_no_errors() {
    let help = samplin(["--help"]).quiet(0);
    for command in [
        "run",
        "watch",
        "inspect",
        "explain",
        "settings",
        "report",
        "diff",
        "check",
        "export",
        "caps",
        "predict",
        "preset",
        "rules",
        "install",
        "uninstall",
        "doctor",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert!(samplin([command, "--help"]).quiet(0).contains("Usage: samplin"), "{command}");
    }
    assert!(samplin(["--version"]).quiet(0).starts_with(concat!("samplin ", env!("CARGO_PKG_VERSION"))));
    snapshot("help.txt", &samplin(["-h"]).quiet(0));
}

#[test]
fn bash_completes_with_them() {
    let home = Folder::new();
    home.write("samplin.bash", samplin(["completions", "bash"]).quiet(0));
    home.write("programs/vk-something", "");
    std::fs::set_permissions(home.join("programs/vk-something"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_samplin")).parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", folder.display(), home.join("programs").display());
    let complete = |words: &str| {
        let script = format!(
            "source ./samplin.bash; COMP_WORDS=(samplin {words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             _clap_complete_samplin samplin \"${{COMP_WORDS[COMP_CWORD]}}\" ''; echo ${{COMPREPLY[*]}}"
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["-c", &script]).current_dir(home.path()).env("PATH", &path).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("ins"), "inspect install");
    assert_eq!(complete("rules b"), "bisect");
    assert_eq!(complete("run --mode ''"), "legalize audit off");
    assert_eq!(complete("run --vali"), "--validate");
    assert_eq!(complete("run --device v3d"), "v3d-4.2 v3d-7.1");
    assert_eq!(complete("predict --device adreno-7"), "adreno-750");
    assert_eq!(complete("run --set unf"), "unfilterable=");
    assert_eq!(complete("run --set unfilterable="), "unfilterable=nearest unfilterable=emulate");
    assert_eq!(complete("run -- vk-some"), "vk-something");
    assert_eq!(complete("explain linear"), "linear-filter linear-mipmap");
    assert_eq!(complete("settings trace_"), "trace_level trace_identity trace_limit");
}

#[test]
fn each_command_has_a_page_that_is_typeset_without_complaint() {
    let home = Folder::new();
    let written = samplin_in(&home, ["man", "--dir", "pages"]).quiet(0);
    assert!(written.lines().count() > 14 && written.contains("pages/samplin-run.1"), "{written}");
    for sub in ["check", "new", "bisect"] {
        assert!(written.contains(&format!("pages/samplin-rules-{sub}.1\n")), "{written}");
        assert!(samplin(["rules", sub, "--help"]).quiet(0).contains("\nExamples:\n"), "{sub}");
    }
    for path in written.lines() {
        let groff = std::process::Command::new("groff")
            .args(["-man", "-Kutf8", "-Tutf8", "-P-cbou", "-ww", path])
            .current_dir(home.path())
            .output();
        let Ok(output) = groff else {
            skip("there is no groff");
            return;
        };
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{path}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("EXAMPLES"), "{path}");
    }
}

/// A command line for each subcommand that prints something and needs no driver.
fn everything(home: &Folder) -> Vec<Vec<&'static str>> {
    for name in ["all.jsonl", "decisions.jsonl"] {
        borrow(home, name);
    }
    home.write("rules.toml", "[[rule]]\nname = \"sharp\"\nset = { max_anisotropy = 16 }\n");
    home.write("lib.so", library());
    vec![
        vec!["run", "--layer", "lib.so", "--allow-untraced", "--json", "--", "true"],
        vec!["watch", "all.jsonl", "--once"],
        vec!["inspect", "all.jsonl"],
        vec!["inspect", "all.jsonl", "--object", "shadow"],
        vec!["explain", "linear-filter"],
        vec!["settings"],
        vec!["report", "all.jsonl", "-o", "-"],
        vec!["diff", "all.jsonl", "decisions.jsonl"],
        vec!["check", "decisions.jsonl"],
        vec!["caps", "--list"],
        vec!["caps", "--all"],
        vec!["caps", "adreno-650", "v3d-4.2"],
        vec!["predict", "all.jsonl", "--device", "apple-a8"],
        vec!["preset"],
        vec!["preset", "safe", "-o", "safe.toml"],
        vec!["rules", "check", "rules.toml"],
        vec!["rules", "new"],
        vec!["install", "--prefix", "there", "--layer", "lib.so"],
        vec!["uninstall", "--prefix", "there"],
        vec!["doctor", "--root", "."],
        vec!["completions", "zsh"],
        vec!["man"],
        vec!["--help"],
    ]
}

#[test]
fn nobody_reading_is_no_trouble() {
    let home = Folder::new();
    for line in everything(&home) {
        let expected = samplin_in(&home, &line);
        assert!(!expected.stdout.is_empty() && !expected.stdout.contains('\u{1b}'), "{line:?}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = tool(&home).args(&line).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected.stderr, "{line:?}");
        assert_eq!(output.status.code(), Some(expected.code), "{line:?}");
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    let home = Folder::new();
    if !std::path::Path::new("/dev/full").exists() {
        skip("there is no /dev/full");
        return;
    }
    for line in everything(&home) {
        // Help comes from the parser of the command line, which has no errors of its own.
        if line == ["--help"] {
            continue;
        }
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = tool(&home).args(&line).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("No space left on device"), "{line:?}: {said}");
        assert_eq!(output.status.code(), Some(4), "{line:?}");
    }
}

#[test]
fn everything_speaks_json() {
    let home = Folder::new();
    for mut line in everything(&home) {
        // A page, a file to keep and what a shell reads have one form.
        let is_text = matches!(line[0], "completions" | "man" | "--help")
            || line == ["rules", "new"]
            || line.last() == Some(&"-");
        if is_text {
            continue;
        }
        let at = line.iter().position(|word| *word == "--").unwrap_or(line.len());
        if !line.contains(&"--json") {
            line.insert(at, "--json");
        }
        let ran = samplin_in(&home, &line);
        serde_json::from_str::<serde_json::Value>(&ran.stdout)
            .unwrap_or_else(|error| panic!("{line:?}: {error}\n{}{}", ran.stdout, ran.stderr));
    }
}
