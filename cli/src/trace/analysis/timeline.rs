//! Changes over time, in a fixed amount of memory.

use serde::Serialize;

/// Changes over time: a fixed number of stretches, whose length doubles as the trace goes on.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// Length of a stretch in nanoseconds.
    pub width_ns: u64,
    /// Names of the rules, in the order of the series.
    pub rules: Vec<String>,
    /// For each rule, the changes in each stretch.
    pub series: Vec<Vec<u64>>,
    /// Variants first seen in each stretch.
    pub variants: Vec<u64>,
    /// Number of stretches in use.
    pub used: usize,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { width_ns: 1_000_000, rules: Vec::new(), series: Vec::new(), variants: vec![0; Self::STRETCHES], used: 0 }
    }
}

impl Timeline {
    /// Number of stretches.
    pub const STRETCHES: usize = 120;

    pub(super) fn slot(&mut self, t_ns: u64) -> usize {
        while t_ns / self.width_ns >= Self::STRETCHES as u64 {
            self.width_ns = self.width_ns.saturating_mul(2);
            for series in self.series.iter_mut().chain([&mut self.variants]) {
                let folded: Vec<u64> = series.chunks(2).map(|pair| pair.iter().sum()).collect();
                series.clear();
                series.extend(folded);
                series.resize(Self::STRETCHES, 0);
            }
            self.used = self.used.div_ceil(2);
        }
        let slot = (t_ns / self.width_ns) as usize;
        self.used = self.used.max(slot + 1);
        slot
    }

    pub(super) fn rule(&mut self, name: &str) -> usize {
        self.rules.iter().position(|rule| rule == name).unwrap_or_else(|| {
            self.rules.push(name.to_owned());
            self.series.push(vec![0; Self::STRETCHES]);
            self.rules.len() - 1
        })
    }
}
