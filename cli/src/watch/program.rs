//! The program that `samplin watch -- PROGRAM` runs: under the layer, with its output in a file.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use samplin_config::settings;

use super::rules;
use crate::failure::{Failure, Result};
use crate::files;
use crate::os;

/// A program under the layer.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    /// Where its output goes.
    pub(super) log: PathBuf,
    /// The rules file that it reads, if it is not one of those that it finds by itself.
    pub(super) rules: Option<PathBuf>,
    status: Option<u8>,
}

impl Program {
    /// Starts it, as `samplin run` with these options does. `rules`: the rules file that it reads, if somebody names it.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(super) fn start(options: &[OsString], rules: Option<&Path>, program: &[OsString]) -> Result<Self> {
        let trouble = |what: &Path, error: std::io::Error| Failure::environment(format!("{}: {error}", what.display()));
        let own = std::env::current_exe().map_err(|error| trouble(Path::new("/proc/self/exe"), error))?;
        let folder = std::env::temp_dir();
        let folder = files::new_folder(&folder, "samplin-watch-").map_err(|error| trouble(&folder, error))?;
        let [log, new_rules] = ["output.txt", "rules.toml"].map(|name| folder.join(name));
        let output = File::create(&log).map_err(|error| trouble(&log, error))?;
        let errors = output.try_clone().map_err(|error| trouble(&log, error))?;
        let exe = program.first().map(|word| Path::new(word).file_name().unwrap_or_default().to_string_lossy());
        let is_automatic = || rules::path_of(None, &exe.unwrap_or_default()).is_some_and(|path| path.is_file());
        let rules = match rules {
            Some(rules) => Some(rules.to_path_buf()),
            None if is_automatic() => None,
            // A program that begins without a file looks for none later.
            None => {
                File::create(&new_rules).map_err(|error| trouble(&new_rules, error))?;
                Some(new_rules)
            }
        };
        let mut command = Command::new(&own);
        command.arg("run").args(options);
        if let Some(rules) = &rules {
            command.arg("--rules").arg(rules);
        }
        // The layer has it since it reads rules again.
        if settings::load(&[]).sources.iter().any(|(key, ..)| *key == "live") {
            command.args(["--set", "live=on"]);
        }
        command.args(["--set", "pulse=on"]);
        command.arg("--").args(program).stdin(Stdio::null()).stdout(output).stderr(errors);
        let child = command.spawn().map_err(|error| trouble(&own, error))?;
        Ok(Self { child, log, rules, status: None })
    }

    /// Where the rules are that were written, if nobody has named their file before.
    pub(super) fn new_rules(&self) -> Option<&Path> {
        let rules = self.rules.as_deref().filter(|rules| rules.parent() == self.log.parent())?;
        std::fs::metadata(rules).is_ok_and(|metadata| metadata.len() > 0).then_some(rules)
    }

    /// Its process id: that of `samplin run`, which starts it.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, if it has ended.
    pub(super) fn status(&self) -> Option<u8> {
        self.status
    }

    /// Looks whether it has ended; says so once.
    pub(super) fn look(&mut self) -> Option<String> {
        if self.status.is_some() {
            return None;
        }
        let status = self.child.try_wait().ok().flatten()?;
        let code = u8::try_from(status.code().unwrap_or(255) & 0xff).unwrap_or(255);
        self.status = Some(code);
        Some(format!("the program has ended with status {code}; its output is in {}", self.log.display()))
    }

    /// Asks it to end, and waits for that.
    pub(super) fn end(&mut self) {
        if self.look().is_some() || self.status.is_some() {
            return;
        }
        os::ask_to_end(self.child.id());
        if let Ok(status) = self.child.wait() {
            self.status = status.code().and_then(|code| u8::try_from(code & 0xff).ok());
        }
    }
}
