//! What the validation layer says below samplin: passed on to standard error as it comes, and counted.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;

use super::Environment;
use crate::failure::{Failure, Result};
use crate::files::Scratch;
use crate::os;
use crate::trace::record::{counted, grouped};

/// How many messages there were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Messages {
    errors: u64,
    warnings: u64,
    others: u64,
}

impl Messages {
    /// Takes a line of the log, which begins a message if it says of what kind.
    fn take(&mut self, line: &str) {
        let has = |words: &str| line.contains(words);
        let count = match () {
            () if has("Validation Error:") => &mut self.errors,
            () if has("Validation Warning:") => &mut self.warnings,
            () if has("Validation Performance Warning:") || has("Validation Information:") => &mut self.others,
            () => return,
        };
        *count += 1;
    }

    /// In a line.
    pub(super) fn describe(&self) -> String {
        let total = self.errors + self.warnings + self.others;
        if total == 0 {
            return "validation gave no message".to_owned();
        }
        let mut parts = vec![counted(self.errors, "error"), counted(self.warnings, "warning")];
        if self.others > 0 {
            parts.push(format!("{} other", grouped(self.others)));
        }
        format!("validation gave {}: {}", counted(total, "message"), parts.join(", "))
    }
}

/// What the validation layer logs to: a FIFO where the system has them. A file is begun anew by each instance.
#[derive(Debug)]
pub(super) struct Log {
    _folder: Scratch,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<Messages>>,
}

impl Log {
    /// Creates it, and names it to the layer.
    pub(super) fn open(environment: &mut Environment) -> Result<Self> {
        let trouble =
            |error: &dyn std::fmt::Display| Failure::environment(format!("validation cannot be read: {error}"));
        let folder = Scratch::new("samplin-validation-")?;
        let path = folder.path().join("log");
        let log = os::make_log(&path).map_err(|error| trouble(&error))?;
        // The settings file, because old versions of the layer know no variables; that of the user goes on to count.
        let own =
            samplin_config::settings::settings_file().and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
        let own = String::from_utf8_lossy(&own).into_owned();
        let kept = own.lines().filter(|line| !line.contains(".log_filename") && !line.contains(".debug_action"));
        let mut text: String = kept.map(|line| format!("{line}\n")).collect();
        text += "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n";
        text += &format!("khronos_validation.log_filename = {}\n", path.display());
        let settings = folder.path().join("vk_layer_settings.txt");
        std::fs::write(&settings, text).map_err(|error| trouble(&error))?;
        environment.set("VK_LAYER_SETTINGS_PATH", settings);
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let reader = thread::spawn(move || read(log, &over));
        Ok(Self { _folder: folder, is_over, reader: Some(reader) })
    }

    /// What was said, once the program has ended.
    pub(super) fn close(mut self) -> Messages {
        self.is_over.store(true, Ordering::Relaxed);
        self.reader.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Reads without waiting, as nobody may ever open it: at the end of the file nobody has.
struct Patient<'a>(File, &'a AtomicBool);

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        loop {
            // Asked first: what was written before the end is there by then.
            let is_over = self.1.load(Ordering::Relaxed);
            match self.0.read(into) {
                Ok(0) if is_over => return Ok(0),
                Ok(0) => os::begin_again(&mut self.0)?,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && is_over => return Ok(0),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn read(log: File, is_over: &AtomicBool) -> Messages {
    let mut messages = Messages::default();
    let mut lines = BufReader::new(Patient(log, is_over));
    let mut line = Vec::new();
    while matches!(lines.read_until(b'\n', &mut line), Ok(1..)) {
        messages.take(&String::from_utf8_lossy(&line));
        let _ = std::io::stderr().write_all(&line);
        line.clear();
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_counted_once() {
        let mut messages = Messages::default();
        for line in [
            "VUID-x(ERROR / SPEC): msgNum: 1 - Validation Error: [ VUID-x ] Object 0",
            "    Objects: 1",
            "Validation Warning: [ y ]",
            "",
        ] {
            messages.take(line);
        }
        assert_eq!(messages, Messages { errors: 1, warnings: 1, others: 0 });
        assert_eq!(messages.describe(), "validation gave 2 messages: 1 error, 1 warning");
        assert_eq!(Messages::default().describe(), "validation gave no message");
    }
}
