//! What a page needs to predict by itself: the code, the trace and the devices, each packed.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use samplin_predict::Prediction;
use serde::Serialize;

use crate::devices::SHIPPED;
use crate::failure::{Failure, Result};
use crate::trace::analysis::Analysis;
use crate::trace::reader::{Event, TraceSource};

/// `samplin-page` as `scripts/page-code` builds it.
pub const CODE: &[u8] = include_bytes!("decide.wasm");

pub(super) const SCRIPT: &str = include_str!("interactive.js");

/// What is put into the page.
#[derive(Serialize)]
pub struct Interactive {
    code: String,
    trace: String,
    devices: String,
    /// What the reader may choose.
    names: Vec<&'static str>,
    script: &'static str,
}

impl Interactive {
    /// Of this trace, which must hold every sampler and pair.
    pub(super) fn of(source: &TraceSource, analysis: &Analysis) -> Result<Self> {
        if analysis.setting("trace_level") != Some("all") {
            return Err(Failure::input(format!("{}: the trace does not hold every sampler and pair", source.name()))
                .hint("record it with `samplin run --trace-level all -- PROGRAM`"));
        }
        let mut kept = Vec::new();
        source.read(false, |record| {
            let is_read = record.event != Event::Unresolved || record.fields.link.is_present();
            if is_read && Prediction::reads(record.event.name()) {
                kept.extend_from_slice(record.text);
                kept.push(b'\n');
            }
            Ok(())
        })?;
        let devices: BTreeMap<&str, &str> = SHIPPED.iter().map(|shipped| (shipped.short, shipped.text)).collect();
        Ok(Self {
            code: packed(CODE)?,
            trace: packed(&kept)?,
            devices: packed(&serde_json::to_vec(&devices).unwrap_or_default())?,
            names: devices.into_keys().collect(),
            script: SCRIPT,
        })
    }
}

fn packed(bytes: &[u8]) -> Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written
        .map(|packed| BASE64_STANDARD.encode(packed))
        .map_err(|error| Failure::environment(format!("the page cannot be packed: {error}")))
}
