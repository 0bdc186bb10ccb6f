//! The values that are no words, and what follows from one that is.

use std::fmt::{self, Display};

use super::Storage;

impl Storage {
    /// Whether formats change in shaders.
    pub fn emulates(self) -> bool {
        self != Storage::Base
    }
}

/// Which storage buffers stand for the atomic counters of shaders for OpenGL (`counters`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Counters {
    /// None: such a shader goes down as it is, unless the application enables `VK_SAMPLIN_gl_shaders`.
    #[default]
    None,
    /// Those of set 0 that come behind the module's own bindings.
    Auto,
    /// Counter binding *n* is the binding `first` + *n* of this set.
    At {
        /// The descriptor set.
        set: u32,
        /// The binding for counter binding 0.
        first: u32,
    },
}

impl Counters {
    pub(super) fn from_text(text: &str) -> Option<Counters> {
        match text.split_once(':') {
            Some((set, first)) => Some(Counters::At { set: set.parse().ok()?, first: first.parse().ok()? }),
            None if text.eq_ignore_ascii_case("none") || text.eq_ignore_ascii_case("off") => Some(Counters::None),
            None => text.eq_ignore_ascii_case("auto").then_some(Counters::Auto),
        }
    }
}

impl Display for Counters {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Counters::None => out.write_str("none"),
            Counters::Auto => out.write_str("auto"),
            Counters::At { set, first } => write!(out, "{set}:{first}"),
        }
    }
}

/// Where the trace goes (`trace`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TraceTarget {
    /// A file per process in the user's state folder, the newest 20 kept.
    #[default]
    Auto,
    /// Nowhere.
    Off,
    /// Standard error.
    Stderr,
    /// A file. `%e` stands for the executable, `%p` for the process id, `%d` for the date, `%%` for `%`; a leading `~/`
    /// for the home folder. See `Trace::open` of the layer.
    Path(String),
}

impl TraceTarget {
    /// What the text of the setting means.
    pub fn from_text(text: &str) -> TraceTarget {
        // The boolean words are what a person tries first; none of them is a likely file name.
        const AUTO: [&str; 4] = ["auto", "on", "true", "1"];
        const OFF: [&str; 4] = ["off", "none", "false", "0"];
        let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is_one_of(&AUTO) {
            TraceTarget::Auto
        } else if is_one_of(&OFF) {
            TraceTarget::Off
        } else if is_one_of(&["stderr"]) {
            TraceTarget::Stderr
        } else {
            TraceTarget::Path(text.to_owned())
        }
    }
}

impl Display for TraceTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            TraceTarget::Auto => "auto",
            TraceTarget::Off => "off",
            TraceTarget::Stderr => "stderr",
            TraceTarget::Path(path) => path,
        })
    }
}
