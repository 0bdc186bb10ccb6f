//! What a shell is offered for values that are no fixed words: devices, settings, words to explain, programs.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use crate::{devices, explain, os, settings};

/// Adds completers to the arguments that take such values.
pub fn with_completers(command: clap::Command) -> clap::Command {
    let add = |command: clap::Command, sub: &'static str, argument: &'static str, completer: ArgValueCompleter| {
        command.mut_subcommand(sub, |sub| sub.mut_arg(argument, |argument| argument.add(completer)))
    };
    let device = ArgValueCompleter::new(device);
    let mut command = command;
    for (sub, argument) in [("run", "device"), ("predict", "device"), ("caps", "first"), ("caps", "second")] {
        command = add(command, sub, argument, device.clone());
    }
    command = add(command, "run", "set", ArgValueCompleter::new(setting));
    command = add(command, "settings", "key", ArgValueCompleter::new(key));
    command = add(command, "explain", "word", ArgValueCompleter::new(word));
    add(command, "run", "program", ArgValueCompleter::new(Program))
}

fn starting(current: &OsStr, words: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    words.into_iter().filter(|word| word.starts_with(current)).map(CompletionCandidate::new).collect()
}

/// A shipped device or a capability file.
fn device(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = starting(current, devices::SHIPPED.iter().map(|shipped| shipped.short.to_owned()));
    found.extend(PathCompleter::file().complete(current));
    found
}

/// `KEY=`, then its values.
fn setting(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = settings::described(&settings::load());
    let Some((key, _)) = current.to_str().and_then(|text| text.split_once('=')) else {
        return starting(current, all.into_iter().map(|setting| format!("{}=", setting.key)));
    };
    let values = all.into_iter().filter(|setting| setting.key == key).flat_map(|setting| setting.values);
    starting(current, values.map(|value| format!("{key}={}", value.value)))
}

fn key(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, settings::described(&settings::load()).into_iter().map(|setting| setting.key))
}

fn word(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, explain::words())
}

/// A program, then files for its arguments.
struct Program;

impl ValueCompleter for Program {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        self.complete_at(0, current)
    }

    fn complete_at(&self, index: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        if index > 0 || current.to_string_lossy().contains('/') {
            return PathCompleter::any().complete(current);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut programs = BTreeSet::new();
        for entry in std::env::split_paths(&path).filter_map(|folder| folder.read_dir().ok()).flatten().flatten() {
            if let Ok(name) = entry.file_name().into_string()
                && current.to_str().is_some_and(|current| name.starts_with(current))
                && os::is_program(&entry.path())
            {
                programs.insert(name);
            }
        }
        starting(current, programs)
    }
}
