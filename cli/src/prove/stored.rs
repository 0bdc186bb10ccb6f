//! Formats of storage images that shaders convert: every pattern of 8 and 16 bits, 2²⁰ of the wider ones, read and written through the
//! layer and through the driver, and held against what the specification makes of them.

use std::collections::BTreeSet;

use ash::vk;
use samplin_core::{names, storage};
use samplin_spirv::image_formats::{CODECS, Channels, Codec, UNNAMED};
use samplin_testkit::stored::{Allowed, by_reference, differences, through};
use samplin_testkit::{Context, texel};
use serde::{Deserialize, Serialize};

use super::compared::Compared;

/// A format that the layer's recorder had shaders convert.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Format {
    /// Its name.
    pub format: String,
    /// Settings of the layer that recorded it.
    pub settings: Vec<(String, String)>,
    /// Where the trace has it first.
    pub line: u64,
}

/// Collects the formats of a trace once each.
#[derive(Debug, Default)]
pub(crate) struct Formats {
    seen: BTreeSet<(String, Vec<(String, String)>)>,
    pub(crate) found: Vec<Format>,
}

impl Formats {
    /// Takes in that views of a format were converted.
    pub(super) fn add(&mut self, format: &str, settings: &[(String, String)], line: u64) {
        if self.seen.insert((format.to_owned(), settings.to_vec())) {
            self.found.push(Format { format: format.to_owned(), settings: settings.to_vec(), line });
        }
    }
}

impl Format {
    /// A format that is in no trace.
    pub(super) fn of(format: vk::Format) -> Self {
        Self { format: names::format(format), settings: Vec::new(), line: 0 }
    }

    /// The format and the codec that a shader declares for it.
    fn codec(&self) -> Result<(vk::Format, &'static Codec), String> {
        let format = names::format_by_name(&self.format).filter(|format| texel::is_known(*format));
        let format = format.ok_or_else(|| format!("no texels are made of {}", self.format))?;
        let declared = storage::declared(format);
        let codec = CODECS.iter().find(|codec| codec.format < UNNAMED && Some(codec.format) == declared);
        Ok((format, codec.ok_or_else(|| format!("no shader can declare {}", self.format))?))
    }

    /// What a context reads and stores, held against the specification.
    pub(super) fn compared(&self, context: &Context) -> Compared {
        let (format, codec) = match self.codec() {
            Ok(found) => found,
            Err(why) => return Compared::Unknown(why),
        };
        let stored = match through(context, codec, format) {
            Ok(stored) => stored,
            Err(skip) => return Compared::Failed(skip.0),
        };
        // Conversions may round either way, and floats to the nearest or toward zero.
        let steps = u32::from(codec.kind == Channels::Float);
        let (read, written) =
            differences(codec, &by_reference(codec, format), &stored, Allowed { steps, otherwise: true });
        if (read, written) == (0, 0) {
            return Compared::Same;
        }
        let of = stored.read.len();
        Compared::Failed(format!("{read} of {of} components read differ, and {written} of the channels written"))
    }
}
