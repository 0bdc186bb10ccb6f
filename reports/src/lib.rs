//! What Vulkan devices report of sampling, in the three forms that people have it in:
//!
//! | form | who writes it |
//! |---|---|
//! | capability file (`device-caps/1`) | `samplin caps --save`; the files of samplin's `devices/` |
//! | report | the Vulkan Hardware Capability Viewer, and the database `vulkan.gpuinfo.org` |
//! | Vulkan Profile | Khronos, vendors, `samplin caps --profile` |
//!
//! ```
//! # let text = r#"{"schema": "device-caps/1", "name": "test", "formats": {}}"#;
//! use samplin_core::{Sampler, View, vk};
//!
//! let device = samplin_reports::Capabilities::read(text)?.device();
//! let sampler = Sampler { mag_filter: vk::Filter::LINEAR, ..Sampler::default() };
//! for change in device.decide(&sampler, &View::new_2d(vk::Format::R32_SFLOAT)).changes {
//!     println!("{change}");
//! }
//! # Ok::<(), samplin_reports::Malformed>(())
//! ```
//!
//! Opens no file and makes no Vulkan call.
#![forbid(unsafe_code)]

mod capabilities;
mod export;
mod facts;
mod profile;
mod report;

use std::fmt;

use serde_json::Value as Json;

pub use self::capabilities::Capabilities;
pub use self::export::profile;
#[doc(hidden)]
pub use self::facts::{EXTENSIONS, FEATURES, effective};

/// The schema of capability files.
const SCHEMA: &str = "device-caps/1";

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A capability file.
    CapabilityFile,
    /// A report of the Vulkan Hardware Capability Viewer.
    Report,
    /// Vulkan Profiles.
    Profiles,
}

impl Form {
    /// What this JSON is, if it is any of them.
    pub fn of(file: &Json) -> Option<Self> {
        let has = |key: &str| file.get(key).is_some();
        if file.get("schema").and_then(Json::as_str) == Some(SCHEMA) {
            Some(Self::CapabilityFile)
        } else if has("capabilities") && has("profiles") {
            Some(Self::Profiles)
        } else if has("properties") && has("features") && has("formats") {
            Some(Self::Report)
        } else {
            None
        }
    }
}

/// Why a text cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Line of the text, where it is not JSON.
    pub line: Option<u32>,
    /// Column in that line.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
}

impl Malformed {
    fn new(message: impl Into<String>) -> Self {
        Self { line: None, column: None, message: message.into() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Malformed {}

/// Parses a text as JSON.
///
/// # Errors
///
/// When it is not JSON; says where.
pub fn parse(text: &str) -> Result<Json, Malformed> {
    serde_json::from_str(text).map_err(|error| Malformed {
        line: u32::try_from(error.line()).ok(),
        column: u32::try_from(error.column()).ok(),
        message: format!("the capability file is not JSON: {error}"),
    })
}

/// A text of any form as a capability file of this name. Of several profiles, `profile` says which.
///
/// # Errors
///
/// When it is of none of the forms, lacks what they must have, or has several profiles.
pub fn to_file(text: &str, name: &str, profile: Option<&str>) -> Result<Json, Malformed> {
    let file = parse(text)?;
    match Form::of(&file) {
        Some(Form::CapabilityFile) => Ok(file),
        Some(Form::Report) => report::to_file(&file, name),
        Some(Form::Profiles) => profile::to_file(&file, name, profile),
        None => Err(Malformed::new(
            "the file is not a capability file: its member \"schema\" is not \"device-caps/1\"; nor is it a report of \
             vulkan.gpuinfo.org or a Vulkan Profile",
        )),
    }
}
