//! Help, completions and manual pages: what they add to the arguments that commands declare.

use std::path::{Path, PathBuf};

use clap_complete::env::Shells;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::output::Output;
use crate::settings;

/// Examples of a command: the line, and what it is for.
type Examples = &'static [(&'static str, &'static str)];

/// The examples of each command, in the order in which one uses them. Help and manual pages show them, a test parses them.
pub const EXAMPLES: &[(&str, Examples)] = &[
    (
        "samplin",
        &[
            ("samplin run --headless -- vkcube --c 100", "run a program under the layer and sum up what the layer did"),
            ("samplin inspect", "show the newest trace, with reasons"),
            ("samplin explain linear-filter", "what a rule means, and what to change in the application"),
            ("samplin check trace.jsonl --deny linear-filter", "fail a build on findings"),
        ],
    ),
    (
        "run",
        &[
            ("samplin run -- ./game", "repair, and sum up at the end"),
            ("samplin run --mode audit --trace audit.jsonl -- ./game", "change nothing, record what is illegal"),
            ("samplin run --device adreno-650 --headless -- vkcube --c 100", "as if the device were a weaker one"),
            ("samplin run -- gfxrecon-replay capture.gfxr", "check a capture that somebody else recorded"),
        ],
    ),
    (
        "watch",
        &[
            ("samplin watch", "follow the programs that run under the layer now"),
            ("samplin watch --rules game.toml -- ./game", "run one, and switch its repairs off and on"),
            ("samplin watch 4711 --once --json", "what a process and those that it started have come to, for scripts"),
        ],
    ),
    (
        "inspect",
        &[
            ("samplin inspect", "the newest trace"),
            ("samplin inspect trace.jsonl --by format,link --limit 0", "by format and by shader binding, all rows"),
            ("samplin inspect trace.jsonl --object \"shadow map\"", "the story of one object"),
        ],
    ),
    (
        "explain",
        &[
            ("samplin explain linear-filter", "a rule"),
            ("samplin explain 04553", "a valid-usage id, or its number"),
            ("samplin explain update-after-bind", "a name of what is left, the `what` of an `unresolved` record"),
        ],
    ),
    (
        "settings",
        &[
            ("samplin settings", "what is in force here, and who set it"),
            ("samplin settings unfilterable", "one setting with all its values"),
        ],
    ),
    (
        "report",
        &[
            ("samplin report -o report.html", "a page about the newest trace"),
            ("samplin report a.jsonl b.jsonl -o report.html --title nightly", "one page about two runs"),
        ],
    ),
    (
        "diff",
        &[
            ("samplin diff before.jsonl after.jsonl", "what two runs decided differently"),
            ("samplin diff before.jsonl after.jsonl --deny linear-filter", "fail if the second adds such a change"),
        ],
    ),
    (
        "check",
        &[
            ("samplin check trace.jsonl", "exit status 1 if anything is illegal"),
            ("samplin check trace.jsonl --deny linear-filter,compare --format junit", "two rules, for a CI server"),
        ],
    ),
    (
        "export",
        &[
            ("samplin export traces --parquet tables", "all traces below a folder as tables"),
            ("samplin export nightly.jsonl --parquet tables --build 1234", "with the build's name"),
        ],
    ),
    (
        "predict",
        &[
            ("samplin predict trace.jsonl --device adreno-650", "what another device would make of the run"),
            ("samplin predict trace.jsonl --device apple-a8 --limit 5", "with fewer rows"),
        ],
    ),
    (
        "prove",
        &[
            (
                "samplin prove trace.jsonl",
                "what this machine's driver makes of the run's pairs, with the layer and without",
            ),
            (
                "samplin prove trace.jsonl --driver lvp_icd.x86_64.json --format junit=proof.xml",
                "another driver, for a CI server",
            ),
        ],
    ),
    (
        "reproduce",
        &[
            ("samplin reproduce trace.jsonl --object \"shadow map\" -o pair.cpp", "a pair as a program in C++"),
            (
                "samplin reproduce trace.jsonl --object 00f00ba4deadbeef -o pair.rs",
                "in Rust, by the sampler's fingerprint",
            ),
        ],
    ),
    (
        "caps",
        &[
            ("samplin caps", "what this machine's device can do"),
            ("samplin caps gpu adreno-650", "where two devices differ"),
            ("samplin caps --list", "the devices that come with samplin"),
        ],
    ),
    (
        "preset",
        &[
            ("samplin preset sharp -- ./game", "sharper textures; says where the rules file is"),
            ("samplin preset retro --print", "look at the rules first"),
        ],
    ),
    (
        "rules",
        &[("samplin rules new", "print a rules file to start from"), ("samplin rules check samplin.toml", "check one")],
    ),
    (
        "rules check",
        &[
            ("samplin rules check samplin.toml", "check a rules file"),
            ("samplin rules check samplin.toml --trace all.jsonl", "and which samplers of a run its rules match"),
        ],
    ),
    (
        "rules new",
        &[
            ("samplin rules new", "print a commented rules file"),
            ("samplin rules new samplin.toml --force", "overwrite an existing one"),
        ],
    ),
    (
        "rules bisect",
        &[
            ("samplin rules bisect --rules samplin.toml -- ./game", "which overridden sampler breaks the picture"),
            (
                "samplin rules bisect --repairs --good-if \"cmp shot.ppm good.ppm\" -- ./game",
                "which repair does, without a question",
            ),
        ],
    ),
    (
        "install",
        &[
            ("samplin install --user", "for this user, as an implicit layer: ENABLE_SAMPLIN=1 PROGRAM"),
            ("samplin install --prefix /opt/samplin --explicit", "in a folder, as an explicit layer"),
            ("samplin install --layer ./i386/libVkLayer_samplin.so", "for 32-bit programs, beside what is installed"),
        ],
    ),
    (
        "uninstall",
        &[
            ("samplin uninstall --user", "what install --user wrote"),
            ("samplin uninstall --prefix /opt/samplin", "what install --prefix wrote"),
        ],
    ),
    (
        "doctor",
        &[
            ("samplin doctor", "find out why the layer is not loaded"),
            ("samplin doctor ./game", "and whether one program finds what it needs, which a 32-bit one may not"),
            ("samplin doctor --json", "for programs"),
        ],
    ),
    (
        "completions",
        &[("samplin completions bash", "print them; source the output"), ("samplin completions fish", "for fish")],
    ),
    (
        "man",
        &[
            ("samplin man run", "print one page, for `man -l -`"),
            ("samplin man --dir /usr/local/share/man/man1", "write all pages"),
        ],
    ),
];

/// The examples of a command by its name.
pub(crate) fn examples(name: &str) -> Examples {
    EXAMPLES.iter().find(|(of, _)| *of == name).map_or(&[], |(_, examples)| examples)
}

/// The same as help has them.
fn examples_as_help(name: &str) -> String {
    let width = examples(name).iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    let lines = examples(name).iter().map(|(line, what)| {
        if width > 56 { format!("  {line}\n      {what}") } else { format!("  {line:width$}  {what}") }
    });
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// A command by the words that lead to it.
fn find<'c>(command: &'c clap::Command, words: &[impl AsRef<str>]) -> Option<&'c clap::Command> {
    words.iter().try_fold(command, |command, word| {
        command.find_subcommand(word.as_ref()).filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    })
}

/// Adds a text to the help of the command that these words lead to.
fn with_help(command: clap::Command, words: &[&str], text: &str) -> clap::Command {
    match words {
        [] => command.after_help(text.to_owned()),
        [first, rest @ ..] => command.mut_subcommand(first, |sub| with_help(sub, rest, text)),
    }
}

/// Calls `each` with every command below this one, and the words that lead to it.
pub(crate) fn walk<'c>(command: &'c clap::Command, above: &str, each: &mut impl FnMut(&'c clap::Command, &str)) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let name = format!("{above}{}", sub.get_name());
        each(sub, &name);
        walk(sub, &format!("{name} "), each);
    }
}

/// Adds examples to each command that has some.
pub fn with_examples(mut command: clap::Command) -> clap::Command {
    let status = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for (name, _) in EXAMPLES.iter().skip(1) {
        let words: Vec<&str> = name.split(' ').collect();
        // One that a feature brings may not be there.
        if find(&command, &words).is_some() {
            command = with_help(command, &words, &examples_as_help(name));
        }
    }
    command.after_help(format!("{}\n\n{status}", examples_as_help("samplin")))
}

/// The arguments of `samplin completions`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Prints what a shell needs to ask this program for completions.
///
/// # Errors
///
/// When there is none for the shell.
pub fn completions(arguments: &Completions, output: &mut Output) -> Result {
    let shells = Shells::builtins();
    let name = arguments.shell.to_string();
    let completer =
        shells.completer(&name).ok_or_else(|| Failure::usage(format!("there are no completions for {name}")))?;
    let mut text = Vec::new();
    completer
        .write_registration("COMPLETE", "samplin", "samplin", "samplin", &mut text)
        .map_err(|error| Failure::environment(format!("the completions cannot be made: {error}")))?;
    output.document(&String::from_utf8_lossy(&text));
    Ok(Outcome::Fine)
}

/// The arguments of `samplin man`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The page of this command, `run` or `rules bisect`; without it the page of the program
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub command: Vec<String>,
    /// Write every page into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Runs `samplin man`.
///
/// # Errors
///
/// When there is no such command or the folder cannot be written.
pub fn man(arguments: &Arguments, output: &mut Output) -> Result {
    let mut command = crate::command().version(env!("CARGO_PKG_VERSION"));
    command.build();
    if let Some(folder) = &arguments.dir {
        return write_all(&command, folder, output);
    }
    let name = arguments.command.join(" ");
    let page = match find(&command, &arguments.command) {
        Some(command) => page(command, if name.is_empty() { "samplin" } else { &name }),
        None => return Err(Failure::usage(format!("there is no command {name}"))),
    };
    output.document(&page.map_err(cannot_be_made)?);
    Ok(Outcome::Fine)
}

fn cannot_be_made(error: std::io::Error) -> Failure {
    Failure::environment(format!("the manual page cannot be made: {error}"))
}

fn write_all(command: &clap::Command, folder: &Path, output: &mut Output) -> Result {
    let mut commands = vec![(command, "samplin".to_owned())];
    walk(command, "", &mut |sub, name| commands.push((sub, name.to_owned())));
    let mut written = Vec::new();
    for (command, name) in commands {
        let path = folder.join(format!("{}.1", title(&name)));
        files::write_atomically(&path, page(command, &name).map_err(cannot_be_made)?.as_bytes())
            .map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
        written.push(path);
    }
    if output.json {
        output.json(&serde_json::json!({ "written": written }));
    } else {
        written.iter().for_each(|path| output.line(path.display()));
    }
    Ok(Outcome::Fine)
}

/// What the exit status says.
pub(crate) const STATUS: [(&str, &str); 5] = [
    ("0", "all is well"),
    ("1", "findings: the command found what it looks for"),
    ("2", "the command line is wrong"),
    ("3", "an input cannot be read or holds no record"),
    ("4", "the system lacks something: a driver, the loader, a program, a right"),
];

/// What it says besides after `samplin run`.
pub(crate) const RUN_STATUS: (&str, &str) = (
    "126, 127, 128 + n",
    "of `run`: the program cannot be executed, does not exist, was ended by signal n; else its own",
);

/// A row of a section: a term, its meaning, and the commands that it is of; none for all of them.
type Of = (&'static str, &'static str, &'static [&'static str]);

/// Commands that read the settings of the layer.
const SETTINGS: &[&str] = &["run", "preset", "watch", "rules bisect", "settings", "doctor"];

/// Files that the program and the layer read and write.
const FILES: [Of; 7] = [
    (
        "$XDG_STATE_HOME/samplin/",
        "traces without a name of their own; the newest 20 stay",
        &["run", "preset", "watch", "inspect", "report", "predict", "doctor"],
    ),
    (
        "$XDG_CONFIG_HOME/samplin/PROGRAM.toml, samplin.toml",
        "rules files that the layer looks for",
        &["run", "preset", "watch", "settings", "doctor"],
    ),
    ("vk_layer_settings.txt", "settings, in the working directory or where VK_LAYER_SETTINGS_PATH says", SETTINGS),
    ("samplin-check.toml", "what `samplin check` allows, in the working directory", &["check"]),
    (
        "$XDG_CACHE_HOME/samplin/",
        "manifests for the loader, and capability files of devices",
        &["run", "preset", "watch", "rules bisect", "predict", "report"],
    ),
    (
        "$XDG_DATA_HOME/samplin/devices/",
        "capability files that the setting device finds by name",
        &["run", "preset", "watch", "rules bisect"],
    ),
    (
        "$XDG_DATA_HOME/vulkan/implicit_layer.d/, explicit_layer.d/",
        "manifests of layers that --user writes",
        &["install", "uninstall", "doctor"],
    ),
];

/// Variables that are no settings.
const VARIABLES: [Of; 8] = [
    ("ENABLE_SAMPLIN", "switches on the layer that is installed as an implicit one", &["install", "doctor"]),
    ("DISABLE_SAMPLIN", "switches it off, whatever the value", &["install", "doctor"]),
    ("GITHUB_STEP_SUMMARY", "a file that --format markdown=FILE appends to", &["check", "diff"]),
    (
        "XDG_STATE_HOME",
        "traces without a name of their own [default: ~/.local/state]",
        &["run", "preset", "watch", "inspect", "report", "predict", "doctor"],
    ),
    ("XDG_CACHE_HOME", "caches [default: ~/.cache]", &["run", "preset", "watch", "rules bisect", "predict", "report"]),
    (
        "XDG_CONFIG_HOME, XDG_DATA_HOME",
        "files of this user [default: ~/.config, ~/.local/share]",
        &["run", "preset", "watch", "rules bisect", "settings", "install", "uninstall", "doctor"],
    ),
    ("NO_COLOR", "no colours", &[]),
    ("CLICOLOR_FORCE", "colours also where the output is no terminal", &[]),
];

/// The title of a page, which is its file's name too.
fn title(name: &str) -> String {
    if name == "samplin" { name.to_owned() } else { format!("samplin-{}", name.replace(' ', "-")) }
}

/// One page.
fn page(command: &clap::Command, name: &str) -> std::io::Result<String> {
    let title = title(name);
    let man = Man::new(command.clone().display_name(title.clone()).after_help("")).title(title);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    let is_whole = name == "samplin";
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    let mut rest = Roff::new();
    section(&mut rest, "EXAMPLES", examples(name).iter().map(|(line, what)| ((*line).to_owned(), (*what).to_owned())));
    let is_of = |commands: &[&str]| is_whole || commands.is_empty() || commands.contains(&name);
    let described = if is_of(SETTINGS) { settings::described(&settings::load()) } else { Vec::new() };
    let variables = described.into_iter().map(|setting| (setting.variable, setting.description));
    let of = |(term, what, commands): Of| is_of(commands).then(|| (term.to_owned(), what.to_owned()));
    section(&mut rest, "ENVIRONMENT", variables.chain(VARIABLES.into_iter().filter_map(of)));
    section(&mut rest, "FILES", FILES.into_iter().filter_map(of));
    let status = STATUS.into_iter().chain((is_whole || name == "run").then_some(RUN_STATUS));
    section(&mut rest, "EXIT STATUS", status.map(|(name, what)| (name.to_owned(), what.to_owned())));
    rest.to_writer(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A section of terms and what each means.
fn section(page: &mut Roff, heading: &str, rows: impl IntoIterator<Item = (String, String)>) {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return;
    }
    page.control("SH", [heading]);
    for (term, text) in rows {
        page.control("TP", []);
        page.text([bold(term)]);
        page.text([roman(text)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of a line, which may have quotes.
    fn words(line: &str) -> Vec<String> {
        line.split('"')
            .enumerate()
            .flat_map(|(index, part)| match index % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    #[test]
    fn pages_name_the_files_and_variables_of_their_command() {
        let mut command = crate::command();
        command.build();
        let mut names = vec!["samplin".to_owned()];
        walk(&command, "", &mut |sub, name| {
            names.push(name.to_owned());
            let page = page(sub, name).unwrap().replace('\\', "");
            assert!(page.contains(".SH ENVIRONMENT\n") && page.contains("NO_COLOR"), "{name}");
            let has = |word: &str| page.contains(word);
            assert_eq!(has("SAMPLIN_UNFILTERABLE"), SETTINGS.contains(&name), "{name}");
            assert_eq!(has(".SH FILES\n"), FILES.iter().any(|(_, _, commands)| commands.contains(&name)), "{name}");
            let (before, files) = page.split_once(".SH FILES\n").unwrap_or((&page, ""));
            for (variables, _, _) in VARIABLES {
                for variable in variables.split(", ").filter(|variable| files.contains(&format!("${variable}/"))) {
                    assert!(before.contains(&format!("fB{variables}")), "{name}: {variable}");
                }
            }
        });
        for (term, _, commands) in FILES.iter().chain(&VARIABLES) {
            assert!(commands.iter().all(|name| names.iter().any(|known| known == name)), "{term}");
        }
    }

    #[test]
    fn every_command_has_two_examples_that_it_takes() {
        let command = crate::command();
        walk(&command, "", &mut |_, name| assert!(examples(name).len() >= 2, "{name}"));
        for (name, examples) in EXAMPLES {
            for (line, _) in *examples {
                assert!(*name == "samplin" || line.starts_with(&format!("samplin {name}")), "{line}");
                let parsed = crate::command().try_get_matches_from(words(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }
}
