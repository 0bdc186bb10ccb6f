//! Command lines and what they print, as the files of `tests/transcripts` have them.
//!
//! `# …` starts a case, in a home of its own. `$ …` is a line for the shell, which `> …` continues. What it prints follows, indented by two
//! blanks: standard output, then standard error with `! ` in front of each line, then an exit status other than 0 in brackets.
//! `...` stands for any number of lines, `[..]` for any text in one. `UPDATE_SNAPSHOTS=1` writes what was printed in place of what differs.
//!
//! In the shell, `$DATA` is `tests/data`, `$LIBRARY` the head of a library, and `$LAYER` a folder with a layer that only has to be there. The
//! tool and its examples are programs. `vulkan.txt` and `validation.txt` have a driver and the real layer.

use std::path::Path;

use crate::common::*;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

/// Whether a line is what was expected of it.
fn fits(expected: &str, line: &str) -> bool {
    let parts: Vec<&str> = expected.split("[..]").collect();
    let [first, between @ .., last] = &parts[..] else { return expected == line };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in between {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

fn fit(expected: &[&str], lines: &[&str]) -> bool {
    match (expected, lines) {
        (["...", rest @ ..], _) => (0..=lines.len()).any(|skipped| fit(rest, &lines[skipped..])),
        ([first, rest @ ..], [line, lines @ ..]) => fits(first, line) && fit(rest, lines),
        _ => expected.is_empty() && lines.is_empty(),
    }
}

/// What a line for the shell prints, as a transcript has it.
fn printed(home: &Folder, pretended: &Folder, vulkan: Option<&Vulkan>, line: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_samplin")).parent().expect("is in a folder");
    let others = std::env::var("PATH").expect("there are programs");
    let path = format!("{0}:{0}/examples:{others}", programs.display());
    let mut shell = alone("sh", home);
    shell.args(["-c", line]).env("PATH", path).env("DATA", DATA).env("LAYER", pretended.join("layer"));
    if let Some(vulkan) = vulkan {
        vulkan.drive(&mut shell).env("SAMPLIN_LAYER_DIR", &vulkan.layer);
    }
    let ran = Ran::by(shell.env("LIBRARY", pretended.join("layer/libVkLayer_samplin.so")));
    let status = if ran.code == 0 { String::new() } else { format!("[{}]\n", ran.code) };
    let said: String = ran.stderr.lines().map(|line| format!("! {line}\n")).collect();
    let end = if ran.stdout.is_empty() || ran.stdout.ends_with('\n') { "" } else { "\n" };
    format!("{}{end}{said}{status}", ran.stdout)
        .replace(home.text(), "$HOME")
        .replace(DATA, "$DATA")
        .replace(pretended.text(), "$PRETENDED")
}

#[track_caller]
fn transcript(name: &str, vulkan: Option<&Vulkan>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/transcripts/{name}.txt"));
    let text = std::fs::read_to_string(&path).expect("reads");
    let lines: Vec<&str> = text.lines().collect();
    let (pretended, mut home) = (Folder::new(), Folder::new());
    pretend_layer(&pretended);
    let (mut written, mut wrong, mut at) = (String::new(), String::new(), 0);
    while let Some(line) = lines.get(at) {
        let is_more = |line: &&&str| line.starts_with('>');
        let end = at + 1 + lines[at + 1..].iter().take_while(is_more).count();
        let block = &lines[at..end];
        at = end;
        written += &(block.join("\n") + "\n");
        if line.starts_with("# ") {
            home = Folder::new();
        }
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let more = block[1..].iter().map(|line| line.strip_prefix("> ").unwrap_or_default());
        let command: Vec<&str> = std::iter::once(first).chain(more).collect();
        let told = lines[at..].iter().take_while(|line| line.is_empty() || line.starts_with("  "));
        let mut expected: Vec<&str> = told.map(|line| line.get(2..).unwrap_or_default()).collect();
        while expected.last() == Some(&"") {
            expected.pop();
        }
        let printed = printed(&home, &pretended, vulkan, &command.join("\n"));
        let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        let is_right = fit(&expected, &printed);
        for line in if is_right { &expected } else { &printed } {
            written += format!("  {line}").trim_end();
            written.push('\n');
        }
        if !is_right {
            wrong += &format!("line {at}: {first}\n  {}\n", printed.join("\n  "));
        }
        at += expected.len();
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, written).expect("writes");
    } else {
        assert_eq!(wrong, "", "{name}; UPDATE_SNAPSHOTS=1 accepts this");
    }
}

/// `...` and `[..]` stand for what they should, and for nothing else.
#[test]
fn lines_fit() {
    for (expected, lines, is_fit) in [
        (&["a"][..], &["a"][..], true),
        (&["a"], &["b"], false),
        (&["a"], &["a", "b"], false),
        (&["a", "b"], &["a"], false),
        (&["...", "b"], &["a", "a", "b"], true),
        (&["...", "b", "..."], &["b"], true),
        (&["...", "b"], &["a", "b", "c"], false),
        (&["a [..] c"], &["a b c"], true),
        (&["a [..] c"], &["a b d"], false),
        (&["[..]b[..]"], &["abc"], true),
        (&["[..]x[..]"], &["abc"], false),
    ] {
        assert_eq!(fit(expected, lines), is_fit, "{expected:?} {lines:?}");
    }
}

macro_rules! transcripts {
    ($($(#[$condition:meta])? $name:ident)*) => {
        $($(#[$condition])?
        #[test]
        fn $name() {
            transcript(stringify!($name), None);
        })*
    };
}

transcripts! { check devices draws #[cfg(feature = "parquet")] export gates inspect install outputs program report rules run summaries words }

#[test]
fn vulkan() {
    if let Some(vulkan) = crate::common::vulkan() {
        transcript("vulkan", Some(&vulkan));
    }
}

#[test]
fn validation() {
    let Some(vulkan) = crate::common::vulkan() else { return };
    if !Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").is_file() {
        return skip("the Khronos validation layer is not installed");
    }
    transcript("validation", Some(&vulkan));
}
