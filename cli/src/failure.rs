//! How a command ends: exit codes and messages.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// How a command ended, other than by a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well (0).
    Fine,
    /// Something was found that the command looks for (1).
    Findings,
    /// Another program's status is passed on.
    Status(u8),
}

impl Outcome {
    /// [`Outcome::Findings`] if something was found.
    pub fn from_findings(found: bool) -> Self {
        if found { Self::Findings } else { Self::Fine }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
            Outcome::Status(status) => Self::from(status),
        }
    }
}

/// What kind of failure, which is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command line makes no sense.
    Usage = 2,
    /// An input cannot be read or is malformed.
    Input = 3,
    /// Something of the system is missing: a driver, the loader, a program, a right.
    Environment = 4,
    /// A program is there and cannot be executed, as shells say it.
    NotExecutable = 126,
    /// A program is not there, as shells say it.
    NotThere = 127,
}

/// Why a command gave up, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// What happened, beginning with the place if there is one.
    pub message: String,
    /// What else happened, each in the same form.
    pub more: Vec<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), more: Vec::new(), hint: None }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// An input that cannot be used.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Input, message)
    }

    /// Fails if an input has mistakes.
    ///
    /// # Errors
    ///
    /// When there is one.
    pub fn mistakes(mistakes: Vec<String>) -> Result<()> {
        let mut mistakes = mistakes.into_iter();
        match mistakes.next() {
            Some(first) => Err(Self { more: mistakes.collect(), ..Self::input(first) }),
            None => Ok(()),
        }
    }

    /// A file that cannot be used.
    pub fn file(path: &Path, error: impl Display) -> Self {
        Self::input(format!("{}: {error}", path.display()))
    }

    /// A system that lacks something.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Environment, message)
    }

    /// A program that cannot be started, for the reason that the system gave.
    pub fn program(name: &str, error: &std::io::Error) -> Self {
        let (kind, message) = match error.kind() {
            std::io::ErrorKind::NotFound => (FailureKind::NotThere, format!("{name}: there is no such program")),
            _ => (FailureKind::NotExecutable, format!("{name}: {error}")),
        };
        Self::new(kind, message)
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The result of a command.
pub type Result<T = Outcome> = std::result::Result<T, Failure>;
