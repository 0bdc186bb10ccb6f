//! What is to be bound for a pipeline and what is in its sets, found once for each.
//!
//! The answer depends on the pipeline and on what is in the sets, and on nothing else: not on the order of binds, not on what was
//! bound before.

use std::sync::{Arc, Mutex};

use samplin_hot::memory::Room;

use super::Separate;
use super::bits::Bits;
use super::commands::{Bound, Point};
use super::ladder::{Decided, Want};
use super::programs::Program;
use super::recipe::Variant;
use super::sets::{Other, SetEntry};
use crate::device::Device;
use crate::table::{FastMap, lock};

/// What is to be bound for a pipeline and what is in its sets.
pub(super) struct Resolution {
    /// Set numbers, and the shadow to bind there.
    pub(super) shadows: Vec<(usize, u64)>,
    /// Set numbers, and samplers to push there.
    pub(super) pushes: Vec<(u32, Other)>,
    /// The pipeline to bind instead, and its hidden set; 0 if nothing is known to be read from that.
    pub(super) variant: Option<(Arc<Variant>, u64)>,
    /// It holds as long as what it was made of: nothing was missing that may be there the next time.
    is_lasting: bool,
}

/// Most resolutions that are remembered.
const RESOLUTIONS: usize = 4096;

/// Resolutions by pipeline and by what is in each of its sets.
#[derive(Default)]
pub(super) struct Resolutions(Mutex<FastMap<Box<[u64]>, Arc<Resolution>>>);

impl Resolutions {
    /// Forgets all: a sampler or a choice has changed.
    pub(super) fn clear(&self) {
        let gone = std::mem::take(&mut *lock(&self.0));
        drop(gone);
    }
}

/// Whether all sets are bound that the pipeline's links are in.
fn is_complete(program: &Program, point: &Point) -> bool {
    let is_bound = |number: u32| {
        let own = point.sets.get(number as usize).and_then(|bound| bound.layout.as_ref());
        own.is_some_and(|own| own.is_compatible(&program.layout, number as usize))
    };
    program.links.iter().all(|link| is_bound(link.image.set) && is_bound(link.sampler.set))
}

impl Device {
    /// Whether nothing that the pipeline reads through the bound sets can need another sampler.
    fn is_legal(&self, program: &Program, point: &Point) -> bool {
        if !self.hot.gate.must_look() {
            return true;
        }
        let Some(linked) = program.linked else { return false };
        let (mut needs, mut lacks) = (0, 0);
        for number in Bits(linked) {
            if let Some(entry) = point.sets.get(number).and_then(|bound| bound.entry.as_deref()) {
                let summary = entry.summary(&self.hot.gate);
                needs |= summary.0;
                lacks |= summary.1;
            }
        }
        needs & lacks == 0
    }

    /// What is to be bound for the pipeline and the sets of a bind point.
    fn resolve_point(&self, separate: &Separate, program: &Program, point: &Point) -> Arc<Resolution> {
        let Some(linked) = program.linked else {
            return Arc::new(self.make_resolution(separate, program, point));
        };
        let mut key = [0_u64; 2 + Bits::ALL];
        let mut filled = 0;
        let mut put = |word| {
            if let Some(target) = key.get_mut(filled) {
                *target = word;
                filled += 1;
            }
        };
        put(program.number);
        put(u64::from(point.is_pushed_beside(&program.layout)));
        let mut is_pushed = false;
        for number in Bits(linked) {
            let bound = point.sets.get(number);
            let compatible =
                |bound: &&Bound| bound.layout.as_ref().is_some_and(|own| own.is_compatible(&program.layout, number));
            let bound = bound.filter(compatible);
            is_pushed |= bound.is_some_and(|bound| bound.set == 0 && bound.entry.is_some());
            put(bound.and_then(|bound| bound.entry.as_deref()).map_or(0, SetEntry::stamp));
        }
        let key = key.get(..filled).unwrap_or(&[]);
        if let Some(kept) = lock(&separate.resolutions.0).get(key) {
            return Arc::clone(kept);
        }
        let resolution = Arc::new(self.make_resolution(separate, program, point));
        // What is pushed is another thing each time.
        if !is_pushed && resolution.is_lasting {
            let mut table = lock(&separate.resolutions.0);
            if table.len() >= RESOLUTIONS {
                table.clear();
            }
            table.with_room().insert(key.into(), Arc::clone(&resolution));
        }
        resolution
    }

    fn make_resolution(&self, separate: &Separate, program: &Program, point: &Point) -> Resolution {
        let mut wants = self.wants(program, point);
        let Decided { shadows, pushes, variant } = self.decide_links(separate, program, point, &mut wants);
        let Some(variant) = variant else {
            return Resolution { shadows, pushes, variant: None, is_lasting: true };
        };
        let hidden = self.hidden_for(separate, &variant, &wants.all);
        if hidden == Some(0) && is_complete(program, point) {
            // Nothing is in the slots that the split links read, so the application's pipeline reads no more than they would.
            return Resolution { shadows, pushes, variant: None, is_lasting: true };
        }
        if hidden.is_none() {
            // Without its set the split pipeline would read nothing; the application's reads what it has.
            variant.parts.iter().for_each(|(link, _)| self.link_unresolved("memory", program, *link));
        }
        Resolution { shadows, pushes, is_lasting: hidden.is_some(), variant: hidden.map(|hidden| (variant, hidden)) }
    }

    /// The hidden set of a split pipeline, by what its links ask for; 0 if no sampler that they could read is bound, none if there is
    /// no such set to be had.
    fn hidden_for(&self, separate: &Separate, variant: &Variant, wants: &[Want]) -> Option<u64> {
        let mut samplers = Vec::new();
        for (link, count) in &variant.parts {
            let start = samplers.len();
            (0..*count).for_each(|_| samplers.with_room().push(0_u64));
            for want in wants.iter().filter(|want| want.link == *link) {
                // A descriptor that nobody may use can hold a sampler that is gone.
                let lives = want.wanted != want.given || self.hot.gate.sampler(want.given) != 0;
                if let Some(target) = samplers.get_mut(start + want.hidden_at as usize).filter(|_| lives) {
                    *target = want.wanted;
                }
            }
        }
        // Where nothing may be read, any sampler does.
        let Some(any) = samplers.iter().copied().find(|sampler| *sampler != 0) else { return Some(0) };
        samplers.iter_mut().filter(|sampler| **sampler == 0).for_each(|sampler| *sampler = any);
        self.hidden_set(separate, &variant.hidden, &samplers)
    }

    /// What is to be bound at a bind point; none if it is what the application has bound there, and nothing else is.
    pub(super) fn look_at(&self, separate: &Separate, program: &Program, point: &Point) -> Option<Arc<Resolution>> {
        let is_forced = separate.force.shadows() || separate.force.splits();
        let is_plain = !point.differs && program.splits.mask() == 0 && !is_forced;
        if is_plain && (program.links.is_empty() || (!self.records_all() && self.is_legal(program, point))) {
            return None;
        }
        Some(self.resolve_point(separate, program, point))
    }
}
