//! A trace that is read several times.

use std::collections::HashMap;
use std::io::Read as _;

use samplin_predict::Alive;

use crate::failure::Result;
use crate::trace::reader::{self, Counts, Event, Record, TraceSource, Verdict};

/// A trace.
pub(crate) struct Input<'a> {
    pub(super) source: &'a TraceSource,
    /// Standard input comes once.
    piped: Vec<u8>,
    /// The most that each process had on one of its devices.
    pub(super) alive: HashMap<u32, Alive>,
}

impl<'a> Input<'a> {
    /// Reads the summaries, which come last and tell what the first samplers depend on.
    pub(crate) fn open(source: &'a TraceSource) -> Result<Self> {
        let mut piped = Vec::new();
        if *source == TraceSource::Stdin {
            source.open(|inner| inner)?.read_to_end(&mut piped).map_err(|error| source.failure(&error))?;
        }
        let mut input = Self { source, piped, alive: HashMap::new() };
        let mut alive: HashMap<u32, Alive> = HashMap::new();
        input.read(false, |record| {
            let summary = || serde_json::from_slice(record.text).ok().as_ref().and_then(Alive::of);
            if record.event == Event::Summary
                && let Some(now) = summary()
            {
                let most = alive.entry(record.process()).or_insert(now);
                *most = most.most(now);
            }
            Ok(())
        })?;
        input.alive = alive;
        Ok(input)
    }

    /// Reads it from its beginning.
    pub(super) fn read(&self, progress: bool, visit: impl FnMut(&Record<'_>) -> Verdict) -> Result<Counts> {
        match self.source {
            TraceSource::Stdin => {
                let counts = reader::read(&mut self.piped.as_slice(), visit);
                self.source.some(counts.map_err(|error| self.source.failure(&error))?)
            }
            TraceSource::File(_) => self.source.read(progress, visit),
        }
    }
}
