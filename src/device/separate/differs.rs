//! Layouts that are alike but for their immutable samplers, which are a part of how a layout is defined (Pipeline Layout Compatibility).
//!
//! Looked for only once there are two such layouts, and only where records are written.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_core::left::Cause;
use samplin_wire::text::handle;
use serde_json::{Value as Json, json};

use super::Separate;
use super::command_buffers::{CommandBuffer, Place};
use super::layouts::SetShape;
use super::programs::Program;
use super::progress::Drawn;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::hot::follow;
use crate::device::journal::Journal;
use crate::device::live::{Live, Recording};
use crate::kept;

/// An immutable sampler of two layouts: its handle and its state; none if only the other layout has one.
type Sampler = Option<(u64, u64)>;

/// The first binding in which immutable samplers of two layouts differ.
struct Difference {
    binding: u32,
    samplers: [Sampler; 2],
}

/// The immutable samplers of each binding, with their states.
fn immutables(shape: &SetShape) -> impl Iterator<Item = (&kept::Binding, &[u64])> {
    let mut looks = &*shape.looks;
    shape.kept.bindings.iter().map(move |binding| {
        let (own, rest) = looks.split_at(binding.samplers.len().min(looks.len()));
        looks = rest;
        (binding, own)
    })
}

/// Samplers of equal state are identically defined, whatever their handles are.
fn difference(one: &SetShape, other: &SetShape) -> Option<Difference> {
    if one.number() == other.number() {
        return None;
    }
    immutables(one).find_map(|(binding, looks)| {
        let same = |(other, _): &(&kept::Binding, &[u64])| {
            (other.binding, other.kind, other.count) == (binding.binding, binding.kind, binding.count)
        };
        let (other, others) = immutables(other).find(same)?;
        let at = (0..looks.len().max(others.len())).find(|at| looks.get(*at) != others.get(*at))?;
        let of = |binding: &kept::Binding, looks: &[u64]| {
            binding.samplers.get(at).map(|sampler| sampler.as_raw()).zip(looks.get(at).copied())
        };
        Some(Difference { binding: binding.binding, samplers: [of(binding, looks), of(other, others)] })
    })
}

/// Whether layouts are the same but for their immutable samplers, and differ in these.
pub(super) fn differ_in_samplers(one: &SetShape, other: &SetShape) -> bool {
    let of = |shape: &SetShape| shape.kept.bindings.len();
    let mut pairs = one.kept.bindings.iter().zip(&other.kept.bindings);
    let is_alike = |(one, other): (&kept::Binding, &kept::Binding)| {
        let of = |it: &kept::Binding| (it.binding, it.kind, it.count, it.stages, it.flags);
        of(one) == of(other) && one.kinds == other.kinds
    };
    one.kept.flags == other.kept.flags
        && of(one) == of(other)
        && pairs.all(is_alike)
        && difference(one, other).is_some()
}

impl Separate {
    /// The shape of a set that is bound, unless it is this one.
    fn other_shape(&self, hot: &Hot, set: Live<'_, vk::DescriptorSet>, shape: &SetShape) -> Option<Arc<SetShape>> {
        let (entry, layout) = (set.of(&self.sets), set.of(&hot.sets));
        match entry {
            Some(entry) => Some(Arc::clone(&entry.shape)).filter(|own| own.number() != shape.number()),
            // Nothing else is followed in it.
            None => layout.map(|own| own.number()).filter(|own| *own != shape.number()).and_then(|own| self.shape(own)),
        }
    }

    /// Follows binds, if there are layouts that differ in immutable samplers only and somebody reads of it.
    pub fn follow_differing_layouts(&self, hot: &Hot, journal: &Journal) {
        if self.layouts.differ.load(Ordering::Relaxed) && journal.records_decisions() {
            hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// Names what is bound for a draw with other immutable samplers than it is to have.
    #[cold]
    #[inline(never)]
    pub(super) fn name_differing_layouts(
        &self,
        ground: &Ground,
        commands: Recording<'_>,
        buffer: &CommandBuffer,
        at: usize,
    ) {
        ground.guard(
            || {
                buffer.note_draw(at);
                buffer.edit(at, |place| self.name_differing(ground, commands, place));
            },
            || (),
        );
    }

    fn name_differing(&self, ground: &Ground, commands: Recording<'_>, place: &Place) {
        let shaders = place.point.program.clone();
        let given = commands.pipeline(&place.point).of(&self.programs);
        let Some(program) = shaders.as_deref().or(given).filter(|_| !place.is_unknown) else { return };
        let drawn = Drawn { program, draw: &place.draw };
        for (number, bound) in place.point.sets.iter().enumerate() {
            let Some(layout) = bound.layout.as_deref() else { continue };
            let declared = layout.sets.get(number).and_then(Option::as_deref);
            if let Some(declared) = declared.filter(|_| bound.set != 0)
                && let Some(own) = self.other_shape(&ground.hot, commands.set(bound), declared)
            {
                let vuid = "VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358";
                ground.journal.name_difference(Cause::BoundLayout, vuid, drawn, number, &own, declared);
            }
            // For a set that shaders read all sets before it have to be the same as well.
            if !program.reads_from(number) {
                continue;
            }
            for (number, (own, needed)) in layout.sets.iter().zip(&program.layout.sets).take(number + 1).enumerate() {
                if let (Some(own), Some(needed)) = (own, needed) {
                    ground.journal.name_difference(
                        Cause::DrawnLayout,
                        "VUID-vkCmdDraw-None-08600",
                        drawn,
                        number,
                        own,
                        needed,
                    );
                }
            }
        }
    }
}

impl Journal {
    /// Names a difference, once for each pair of layouts.
    fn name_difference(
        &self,
        why: Cause,
        vuid: &'static str,
        program: Drawn<'_>,
        set: usize,
        own: &SetShape,
        needed: &SetShape,
    ) {
        let Some(Difference { binding, samplers }) = difference(own, needed) else { return };
        let described = |sampler: Sampler| -> Json {
            sampler.map_or(Json::Null, |(sampler, look)| {
                let name = self.name(vk::ObjectType::SAMPLER, sampler);
                json!({ "sampler": handle(sampler), "name": name, "fingerprint": format!("{look:016x}") })
            })
        };
        let [bound, needs] = samplers.map(described);
        let members = json!({
            "vuid": vuid,
            "descriptor": { "set": set, "binding": binding },
            "immutable": { "bound": bound, "needed": needs },
        });
        // A number is that of a layout alone.
        let key = (own.number() << 1 | u64::from(vuid.ends_with("08600")), needed.number());
        self.unresolved(why, None, self.of_program(program, members), key);
    }
}

impl Program {
    /// Whether shaders are known to read something in the set of this number.
    fn reads_from(&self, set: usize) -> bool {
        u32::try_from(set).is_ok_and(|set| self.sets_read.checked_shr(set).unwrap_or(0) & 1 != 0)
    }
}
