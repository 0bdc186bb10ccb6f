//! The records of the trace: what decisions look like as JSON, written by [`record`] and read back by [`read`]; [`kinds`] has the whole records.
//!
//! The schema is `manifest/trace.schema.json`. Where lines go is the layer's business, what they add up to the tool's.
#![forbid(unsafe_code)]

pub mod kinds;
pub mod read;
pub mod record;
pub mod text;
pub mod words;
