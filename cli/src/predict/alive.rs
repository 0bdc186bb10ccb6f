//! A trace that is read several times, and what its summaries say of how many samplers there were at once.

use std::collections::HashMap;
use std::io::Read as _;

use samplin_wire::kinds::RequestedLimit;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Result;
use crate::trace::reader::{self, Counts, Event, Record, TraceSource, Verdict};

/// What an application asked for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alive {
    /// Samplers.
    pub(super) samplers: u32,
    /// Different states of these.
    pub(super) states: u32,
    /// Samplers with custom border colours; older traces do not tell.
    pub(super) custom_borders: Option<u32>,
}

impl Alive {
    /// What the summary of a device says.
    pub(super) fn of(summary: &Value) -> Option<Self> {
        let asked = |limit: &str| {
            let member = summary.pointer("/census/limits")?.get(limit)?;
            RequestedLimit::deserialize(member).ok().map(|asked| asked.asked)
        };
        let count = |pointer: &str| u32::try_from(summary.pointer(pointer)?.as_u64()?).ok();
        let peak = || count("/samplers/peak");
        Some(Self {
            states: count("/census/unique_states/peak").unwrap_or(u32::MAX),
            samplers: asked("maxSamplerAllocationCount").or_else(peak)?,
            custom_borders: asked("maxCustomBorderColorSamplers"),
        })
    }
}

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
                most.samplers = most.samplers.max(now.samplers);
                most.states = most.states.max(now.states);
                most.custom_borders = most.custom_borders.max(now.custom_borders);
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
