//! Trace sink.
