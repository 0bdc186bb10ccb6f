//! Properties of the decision core over adversarial cases, each judged by the checker of its own making.
//!
//! `PROPTEST_CASES` sets the number of cases per property (12 000 by default), `PROPTEST_RNG_SEED` the seed. The seed
//! is fixed by default, so that a run that passes keeps passing; vary it to look further.

use crate::unnormalized::TWINS;
use ash::vk;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};
use samplin_checker::draw::{self, Case};
use samplin_checker::replay::{self, FIELDS, apply, current, identical, untouched, words};
use samplin_checker::{blit_violations, citations, conversion_violations, fixable, replays, violations};
use samplin_core::decide::{
    self, BlockMatchWindow, BorderMapping, Catalog, ConflictBits, Decision, Field, RuleSource, SamplerState,
    SamplerUse, Value, YcbcrConversion,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer cases than this prove properties, but are too few to claim that every rule was met.
const COVERING: u32 = 10_000;

fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 12_000;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0x5a3b_1e55);
    }
    config
}

/// Runs `test` on drawn values; a failure is shrunk and shown with the value.
pub(crate) fn for_all<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> TestCaseResult) {
    if let Err(failure) = TestRunner::new(config()).run(&strategy, test) {
        panic!("{failure}");
    }
}

/// The three ways of asking, with what the checker has to judge their results by.
fn asked(case: &Case) -> [(&'static str, SamplerUse<'_>, Decision); 3] {
    let Case { state, view, caps, policy } = case;
    let immutable = SamplerUse { view: Some(view), dynamic: false };
    let dynamic = SamplerUse { view: Some(view), dynamic: true };
    [
        ("create", SamplerUse::CREATE, decide::create(state, caps, policy)),
        ("pair", dynamic, decide::pair(state, view, caps, policy)),
        ("immutable pair", immutable, decide::legalize(state, immutable, caps, policy)),
    ]
}

fn broken_by(state: &SamplerState, used: SamplerUse<'_>, case: &Case) -> Vec<&'static str> {
    violations(state, used.view, used.dynamic, &case.caps, &case.policy)
}

#[test]
fn results_are_legal() {
    for_all(draw::cases(), |case| {
        for (name, used, decision) in asked(&case) {
            let gl = |axis: usize| decide::is_gl(case.state.address_mode[axis]);
            prop_assert!((0..3).all(|axis| !decision.saturate[axis] || gl(axis)), "{name} saturates without GL_CLAMP");
            let left = broken_by(&decision.state, used, &case);
            prop_assert!(fixable(&left).is_empty(), "{name} leaves {left:?} after {:#?}", decision);
        }
        Ok(())
    });
}

#[test]
fn deciding_again_changes_nothing() {
    for_all(draw::cases(), |case| {
        for (name, used, decision) in asked(&case) {
            let again = decide::legalize(&decision.state, used, &case.caps, &case.policy);
            prop_assert!(again.changes.is_empty(), "{name}: {:#?} then {:#?}", decision.changes, again.changes);
            prop_assert!(untouched(&decision.state, &again.state));
            prop_assert_eq!(decision.unresolved, again.unresolved);
            // What serves a pair can be created.
            let created = decide::create(&decision.state, &case.caps, &case.policy);
            prop_assert!(created.changes.is_empty(), "{name}: {:#?} then {:#?}", decision.changes, created.changes);
        }
        Ok(())
    });
}

#[test]
fn legal_is_left_alone() {
    let legal = Cell::new([0_u32; 3]);
    let total = Cell::new(0_u32);
    for_all(draw::cases(), |case| {
        total.set(total.get() + 1);
        for (index, (name, used, decision)) in asked(&case).into_iter().enumerate() {
            let broken = broken_by(&case.state, used, &case);
            if fixable(&broken).is_empty() {
                prop_assert!(decision.changes.is_empty(), "{name} changed a legal sampler: {:#?}", decision.changes);
                prop_assert!(untouched(&case.state, &decision.state));
                let mut counts = legal.get();
                counts[index] += 1;
                legal.set(counts);
            } else {
                prop_assert!(!decision.changes.is_empty(), "{name} did nothing about {broken:?}");
            }
        }
        Ok(())
    });
    let total = total.get();
    let percent = legal.get().map(|count| count * 100 / total);
    println!("legal among {total} cases (create, pair, immutable pair): {percent:?} %");
    assert!(percent.iter().all(|share| (10..=90).contains(share)), "cases are lopsided: {percent:?}");
}

#[test]
fn what_is_plainly_legal_is_created_as_it_came() {
    let [plain, legal] = [const { Cell::new(0_u32) }; 2];
    for_all(draw::cases(), |case| {
        let Case { state, caps, policy, .. } = &case;
        // As drawn, and without what nearly every case has of the rarer things.
        let bare = SamplerState { flags: vk::SamplerCreateFlags::empty(), unnormalized_coordinates: false, ..*state };
        let bare =
            SamplerState { reduction_mode: None, ycbcr: None, custom_border: None, border_mapping: None, ..bare };
        let bare = SamplerState { cubic_weights: None, block_match: None, opaque_capture: false, ..bare };
        for state in [*state, bare] {
            let created = decide::create(&state, caps, policy);
            legal.set(legal.get() + u32::from(created.changes.is_empty()));
            if decide::is_plainly_legal(&state, caps, policy) {
                prop_assert!(created.changes.is_empty(), "it becomes {:#?}", created.changes);
                prop_assert!(untouched(&state, &created.state) && created.unresolved.is_none());
                let mut unknown = false;
                decide::unknown_enumerants(&state, caps, |_, _| unknown = true);
                prop_assert!(!unknown && !decide::is_custom(state.border_color) && !replays(&state, caps));
                plain.set(plain.get() + 1);
            }
        }
        Ok(())
    });
    println!("{} are plainly legal, {} are legal", plain.get(), legal.get());
    assert!(plain.get() * 5 > legal.get(), "hardly one is plainly legal");
}

#[test]
fn only_what_no_sampler_mends_is_unresolved() {
    for_all(draw::cases(), |case| {
        for (name, used, decision) in asked(&case) {
            let left = broken_by(&decision.state, used, &case);
            match decision.unresolved {
                Some(catalog) => prop_assert!(left.contains(&catalog.id()), "{name}: {} is not broken", catalog.id()),
                None => prop_assert!(left.is_empty(), "{name} keeps quiet about {left:?}"),
            }
        }
        Ok(())
    });
}

#[test]
fn changes_tell_exactly_what_differs() {
    for_all(draw::cases(), |case| {
        for (name, _, decision) in asked(&case) {
            let mut state = case.state;
            let mut named = BTreeSet::new();
            for change in decision.changes.iter() {
                prop_assert_ne!(
                    words(change.from),
                    words(change.to),
                    "{} notes a change of nothing: {:?}",
                    name,
                    change
                );
                prop_assert!(replay::starts_at(&state, change), "{name}: broken chain {change:?}");
                apply(&mut state, change);
                prop_assert_eq!(words(change.to), current(&state, change.field));
                named.insert(change.field.name());
            }
            prop_assert!(identical(&state, &decision.state), "{name}: the changes do not lead to the result");
            let differing: BTreeSet<_> = FIELDS
                .iter()
                .filter(|field| current(&case.state, **field) != current(&decision.state, **field))
                .map(|field| field.name())
                .collect();
            prop_assert_eq!(named, differing, "{} with {:#?}", name, decision.changes);
        }
        Ok(())
    });
}

/// Rows of the catalogue that decisions about samplers can name. Others belong to blits (C), to conversions, to the
/// budget of custom colours, to samplers in heaps, to usages and shaders (H, J, K) and to the user's rules (O).
fn sampler_rows() -> impl Iterator<Item = &'static Catalog> {
    Catalog::ALL.iter().filter(|row| {
        let id = row.id();
        !(["C-", "H-", "J-", "K-", "O-"].iter().any(|letter| id.starts_with(letter))
            || ["A-35", "A-37", "A-38", "A-43", "A-44", "A-45"].contains(&id))
    })
}

/// The checker was written from the specification and the layer has its own list of where each rule stands: they name the
/// same statements. B-9 follows from another rule and S-2 from a setting, so neither is judged; rows of S-5 that have a twin are judged
/// by it. S-6 is from a setting as well, but says something of a sampler by itself.
#[test]
fn layer_and_checker_cite_the_same_statements() {
    let named = |row: &Catalog| match row.source() {
        RuleSource::Vuid(id) => Some((row.id(), id)),
        RuleSource::Text(heading) => Some((row.id(), heading)),
        RuleSource::Layer => None,
    };
    let is_twin = |row: &Catalog| TWINS.iter().any(|(divided, _)| divided == row);
    let judged = sampler_rows().filter(|row| !["B-9", "S-2"].contains(&row.id()) && !is_twin(row));
    let layer: BTreeSet<_> = judged.filter_map(named).collect();
    let checker: BTreeSet<_> = citations().into_iter().filter(|(id, _)| *id != "S-4").collect();
    assert_eq!(layer, checker);
}

/// The values of a sampler's enumerants, by member.
fn enumerants(state: &SamplerState) -> [(Field, i32); 9] {
    let [u, v, w] = state.address_mode.map(vk::SamplerAddressMode::as_raw);
    [
        (Field::MagFilter, state.mag_filter.as_raw()),
        (Field::MinFilter, state.min_filter.as_raw()),
        (Field::MipmapMode, state.mipmap_mode.as_raw()),
        (Field::AddressModeU, u),
        (Field::AddressModeV, v),
        (Field::AddressModeW, w),
        (Field::CompareOp, state.compare_op.as_raw()),
        (Field::BorderColor, state.border_color.as_raw()),
        (Field::ReductionMode, state.reduction_mode.map_or(0, vk::SamplerReductionMode::as_raw)),
    ]
}

/// The same sampler with a value of the extension range that is no enumerant of today in each member of the mask.
fn of_tomorrow(state: &SamplerState, mask: u16, raw: i32) -> SamplerState {
    let mut out = *state;
    let has = |bit: usize| mask & (1 << bit) != 0;
    if has(0) {
        out.mag_filter = vk::Filter::from_raw(raw);
    }
    if has(1) {
        out.min_filter = vk::Filter::from_raw(raw);
    }
    if has(2) {
        out.mipmap_mode = vk::SamplerMipmapMode::from_raw(raw);
    }
    for axis in 0..3 {
        if has(3 + axis) {
            out.address_mode[axis] = vk::SamplerAddressMode::from_raw(raw);
        }
    }
    if has(6) {
        out.compare_op = vk::CompareOp::from_raw(raw);
    }
    if has(7) {
        out.border_color = vk::BorderColor::from_raw(raw);
    }
    if has(8) {
        out.reduction_mode = Some(vk::SamplerReductionMode::from_raw(raw));
    }
    out
}

/// Fundamentals > Valid Usage for Enumerated Types: a value that an unknown extension may have added stays, whatever else is
/// wrong with the sampler; without such an extension it is garbage like any other.
#[test]
fn values_of_an_unknown_extension_stay() {
    let values = prop_oneof![Just(1_000_000_000), Just(1_000_900_003), Just(i32::MAX - 1)];
    for_all((draw::cases(), 1_u16..512, values), |(mut case, mask, raw)| {
        case.state = of_tomorrow(&case.state, mask, raw);
        for (name, used, decision) in asked(&case) {
            let left = broken_by(&decision.state, used, &case);
            prop_assert!(fixable(&left).is_empty(), "{name} leaves {left:?} after {:#?}", decision);
        }

        case.caps.unknown_extension = true;
        for (name, used, decision) in asked(&case) {
            // An operator without comparison is read by nobody, and depth_linear=compare has use for it.
            let read = |field| field != Field::CompareOp || case.state.compare_enable;
            for ((field, from), (_, to)) in enumerants(&case.state).into_iter().zip(enumerants(&decision.state)) {
                prop_assert!(
                    from != raw || to == raw || !read(field),
                    "{name} changes {} {from} to {to}",
                    field.name()
                );
                let known = match field {
                    Field::MagFilter | Field::MinFilter => [0, 1, vk::Filter::CUBIC_EXT.as_raw()].contains(&to),
                    Field::MipmapMode => [0, 1].contains(&to),
                    Field::AddressModeU | Field::AddressModeV | Field::AddressModeW => (0..=4).contains(&to),
                    Field::CompareOp => (0..=7).contains(&to) || !decision.state.compare_enable,
                    Field::ReductionMode => (0..=2).contains(&to) || to == 1_000_521_000,
                    _ => true,
                };
                prop_assert!(known || to == raw || replays(&case.state, &case.caps), "{name} leaves {}", field.name());
            }
            let again = decide::legalize(&decision.state, used, &case.caps, &case.policy);
            prop_assert!(again.changes.is_empty(), "{name}: {:#?} then {:#?}", decision.changes, again.changes);
        }
        let Case { state, view, caps, policy } = &case;
        let base = decide::create(state, caps, policy).state;
        let pair = decide::pair(state, view, caps, policy);
        let open = !decide::needs(state, &base, caps, policy).conflicts(decide::lacks(view, caps));
        prop_assert!(!open || pair.state.key() == base.key(), "no conflict, yet {:#?}", pair.changes);
        Ok(())
    });
}

/// A change names a row that the sampler broke, either as the application made it or at some earlier point of the pass
/// (a CUBIC that has become LINEAR can break B-1). Two rows are consequences and never breaches: B-9, which disables
/// anisotropy where a rewrite has landed on NEAREST or the shader compares, and the layer's own `depth_linear=compare`.
#[test]
fn every_change_is_justified_and_every_rule_is_met() {
    let seen = RefCell::new(BTreeMap::<String, u32>::new());
    for_all(draw::cases(), |case| {
        for (name, used, decision) in asked(&case) {
            let mut broken = BTreeSet::new();
            let mut state = case.state;
            let mut landed_on_nearest = false;
            let mut linear_for_want_of_bit = false;
            for change in decision.changes.iter() {
                broken.extend(broken_by(&state, used, &case));
                let breaks = |id: &str| broken.contains(&id);
                let id = change.catalog.id();
                let justified = match change.catalog {
                    Catalog::B9 => landed_on_nearest && change.field == Field::AnisotropyEnable,
                    Catalog::DepthCompare => {
                        linear_for_want_of_bit |= breaks("B-1") || breaks("B-2");
                        case.policy.depth_compare && linear_for_want_of_bit
                    }
                    _ => breaks(id),
                };
                prop_assert!(justified, "{name}: {change:?} although only {broken:?} are broken");
                // A shader that compares takes texels one by one, as NEAREST does.
                landed_on_nearest |= change.catalog == Catalog::B31;
                landed_on_nearest |= change.to == Value::Filter(vk::Filter::NEAREST)
                    || change.to == Value::MipmapMode(vk::SamplerMipmapMode::NEAREST);
                apply(&mut state, change);
                *seen.borrow_mut().entry(format!("{:?}", change.catalog)).or_default() += 1;
            }
            if let Some(catalog) = decision.unresolved {
                *seen.borrow_mut().entry(format!("{catalog:?}")).or_default() += 1;
            }
        }
        Ok(())
    });
    let seen = seen.into_inner();
    println!("changes by row: {seen:?}");
    if config().cases >= COVERING {
        // No view of a case is read by a shader that divides.
        let judged = sampler_rows().filter(|row| row.id() != "S-5");
        let missed: Vec<_> = judged.filter(|row| !seen.contains_key(&format!("{row:?}"))).collect();
        assert!(missed.is_empty(), "rows that no case met: {missed:?}");
    }
}

/// Every rule that the checker knows is broken by some case, so none of its conditions is dead.
#[test]
fn cases_break_every_row() {
    let seen = RefCell::new(BTreeMap::<&'static str, u32>::new());
    for_all(draw::cases(), |case| {
        for id in violations(&case.state, Some(&case.view), true, &case.caps, &case.policy) {
            *seen.borrow_mut().entry(id).or_default() += 1;
        }
        Ok(())
    });
    let seen = seen.into_inner();
    println!("cases by broken row: {seen:?}");
    if config().cases >= COVERING {
        let rows: BTreeSet<_> =
            sampler_rows().map(|row| row.id()).filter(|id| !["B-9", "S-2", "S-5"].contains(id)).collect();
        let broken: BTreeSet<_> = seen.keys().copied().collect();
        assert_eq!(broken, rows);
        let rare: Vec<_> = seen.iter().filter(|(_, count)| **count < 20).collect();
        assert!(rare.is_empty(), "too rare to mean anything: {rare:?}");
    }
}

/// Bits: no conflict bit means that the pair is what creation made; a conflict bit means work.
///
/// Some kinds of bits are deliberately wide, because what they stand for depends on the view in ways that no bit says.
/// A custom border colour or a border swizzle asks for a look at every view that can show the border, and an OpenGL
/// address mode at every view at all, as unnormalized coordinates do where shaders divide; the look may end with what creation made.
/// Unnormalized coordinates, and comparison of depths whose format lacks it, ask for a look at views that only some instructions may
/// not read.
#[test]
fn bits_agree_with_decide() {
    const CUSTOM_BORDER: u32 = 0xf000_0000;
    let [open, closed, wide] = [const { Cell::new(0_u32) }; 3];
    for_all(draw::cases(), |case| {
        let Case { state, view, caps, policy } = &case;
        let base = decide::create(state, caps, policy).state;
        let needs = decide::needs(state, &base, caps, policy);
        let lacks = decide::lacks(view, caps);
        let pair = decide::pair(state, view, caps, policy);
        let same = pair.state.key() == base.key();
        if !needs.conflicts(lacks) {
            prop_assert!(
                same && pair.unresolved.is_none(),
                "no conflict, yet {:#?} and {:?}",
                pair.changes,
                pair.unresolved
            );
            open.set(open.get() + 1);
        } else if same && pair.unresolved.is_none() {
            let conflict = needs.0 & lacks.0;
            let unread = if view.reads == decide::Reads::Unknown { ConflictBits::UNNORMALIZED.0 } else { 0 };
            // Depths are only wrong where something compares.
            let is_read = view.aspect == decide::Aspect::Depth && view.reads != decide::Reads::Compared;
            let unread = unread | if is_read { ConflictBits::COMPARE.0 } else { 0 };
            prop_assert!(
                conflict & (CUSTOM_BORDER | ConflictBits::GL_ADDRESS.0 | ConflictBits::TEXELS.0 | unread) != 0,
                "conflict {conflict:#x} without consequence"
            );
            wide.set(wide.get() + 1);
        } else {
            closed.set(closed.get() + 1);
        }
        // What no dynamic descriptor can give, no view can.
        let dynamic = decide::lacks_dynamic(caps);
        prop_assert!(view.ycbcr || lacks.0 & dynamic.0 == dynamic.0);
        Ok(())
    });
    println!("bits: {} do not meet, {} meet, {} meet for nothing", open.get(), closed.get(), wide.get());
    assert!(open.get() * 10 > closed.get() && closed.get() * 10 > open.get(), "cases are lopsided");
    assert!(wide.get() * 5 < closed.get(), "bits meet for nothing too often: {}", wide.get());
}

/// Whether the border colour is read: an axis clamps to the border, or has a mode of OpenGL that may come to.
fn reads_border(state: &SamplerState) -> bool {
    let reads =
        |mode: &vk::SamplerAddressMode| *mode == vk::SamplerAddressMode::CLAMP_TO_BORDER || decide::is_gl(*mode);
    state.address_mode.iter().any(reads)
}

/// The same sampler with other garbage in every ignored member.
fn with_garbage(state: &SamplerState, other: &SamplerState) -> SamplerState {
    let mut out = *state;
    let custom = |color| [vk::BorderColor::FLOAT_CUSTOM_EXT, vk::BorderColor::INT_CUSTOM_EXT].contains(&color);
    let int = |color: vk::BorderColor| [1, 3, 5].contains(&color.as_raw());
    let border = reads_border(state);
    if !state.compare_enable {
        out.compare_op = other.compare_op;
    }
    if !state.anisotropy_enable {
        out.max_anisotropy = other.max_anisotropy;
    }
    if !border {
        out.border_mapping = other.border_mapping;
        // B-50 and B-51, read to the letter, look at the kind of the colour even where no axis reaches it.
        if !custom(state.border_color)
            && !custom(other.border_color)
            && int(state.border_color) == int(other.border_color)
        {
            out.border_color = other.border_color;
        }
    }
    if !custom(out.border_color) {
        out.custom_border = other.custom_border;
    }
    if ![state.mag_filter, state.min_filter].contains(&vk::Filter::CUBIC_EXT) {
        out.cubic_weights = other.cubic_weights;
    } else if state.cubic_weights.is_none() {
        // CATMULL_ROM, what an absent structure means.
        out.cubic_weights = Some(0);
    }
    if state.reduction_mode.is_none() {
        out.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE);
    }
    if let Some(conversion) = &mut out.ycbcr {
        // Handles differ from run to run.
        conversion.handle = !conversion.handle;
    }
    out
}

#[test]
fn ignored_members_do_not_show() {
    for_all((draw::cases(), draw::cases()), |(case, other)| {
        let garbage = with_garbage(&case.state, &other.state);
        prop_assert_eq!(case.state.key(), garbage.key(), "{:#?}", garbage);
        prop_assert_eq!(case.state.fingerprint(), garbage.fingerprint());
        let normalized = case.state.normalized();
        prop_assert_eq!(normalized.key(), case.state.key());
        prop_assert!(untouched(&normalized, &normalized.normalized()), "normalising twice differs from once");
        Ok(())
    });
}

/// Every member on its own, other than it is; only those that are not ignored.
fn neighbours(state: &SamplerState) -> Vec<(&'static str, SamplerState)> {
    let mut out = Vec::new();
    let mut with = |name, change: &dyn Fn(&mut SamplerState)| {
        let mut other = *state;
        change(&mut other);
        out.push((name, other));
    };
    let nudge = |float: &mut f32| *float = f32::from_bits(float.to_bits() ^ 1);
    let custom = [vk::BorderColor::FLOAT_CUSTOM_EXT, vk::BorderColor::INT_CUSTOM_EXT].contains(&state.border_color);
    let border = reads_border(state);
    with("flags", &|s| s.flags ^= vk::SamplerCreateFlags::from_raw(1 << 30));
    with("magFilter", &|s| s.mag_filter = vk::Filter::from_raw(s.mag_filter.as_raw() ^ 1));
    with("minFilter", &|s| s.min_filter = vk::Filter::from_raw(s.min_filter.as_raw() ^ 1));
    with("mipmapMode", &|s| s.mipmap_mode = vk::SamplerMipmapMode::from_raw(s.mipmap_mode.as_raw() ^ 1));
    for axis in 0..3 {
        with("addressMode", &|s| {
            s.address_mode[axis] = vk::SamplerAddressMode::from_raw(s.address_mode[axis].as_raw() ^ 1);
        });
    }
    with("mipLodBias", &|s| nudge(&mut s.mip_lod_bias));
    with("anisotropyEnable", &|s| s.anisotropy_enable ^= true);
    if state.anisotropy_enable {
        with("maxAnisotropy", &|s| nudge(&mut s.max_anisotropy));
    }
    with("compareEnable", &|s| s.compare_enable ^= true);
    if state.compare_enable {
        with("compareOp", &|s| s.compare_op = vk::CompareOp::from_raw(s.compare_op.as_raw() ^ 1));
    }
    with("minLod", &|s| nudge(&mut s.min_lod));
    with("maxLod", &|s| nudge(&mut s.max_lod));
    if border || custom {
        with("borderColor", &|s| s.border_color = vk::BorderColor::from_raw(s.border_color.as_raw() ^ 1));
    }
    with("unnormalizedCoordinates", &|s| s.unnormalized_coordinates ^= true);
    with("reductionMode", &|s| {
        s.reduction_mode = match s.reduction_mode {
            Some(vk::SamplerReductionMode::MAX) => Some(vk::SamplerReductionMode::MIN),
            _ => Some(vk::SamplerReductionMode::MAX),
        };
    });
    with("conversion", &|s| {
        s.ycbcr = match s.ycbcr {
            None => Some(YcbcrConversion {
                handle: 0,
                chroma_filter: vk::Filter::NEAREST,
                separate_reconstruction: false,
                fingerprint: 0,
            }),
            Some(conversion) => Some(YcbcrConversion { fingerprint: conversion.fingerprint ^ (1 << 63), ..conversion }),
        };
    });
    if custom {
        with("custom colour presence", &|s| {
            s.custom_border = match s.custom_border {
                None => Some(decide::CustomBorder { color: [0; 4], format: vk::Format::UNDEFINED }),
                Some(_) => None,
            };
        });
        for index in 0..4 {
            if state.custom_border.is_some() {
                with("customBorderColor", &|s| {
                    if let Some(custom) = &mut s.custom_border {
                        custom.color[index] ^= 1 << 31;
                    }
                });
            }
        }
        if state.custom_border.is_some() {
            with("format", &|s| {
                if let Some(custom) = &mut s.custom_border {
                    custom.format = vk::Format::from_raw(custom.format.as_raw() ^ 1);
                }
            });
        }
    }
    if border {
        with("mapping presence", &|s| {
            s.border_mapping = match s.border_mapping {
                None => Some(BorderMapping { components: [vk::ComponentSwizzle::IDENTITY; 4], srgb: false }),
                Some(_) => None,
            };
        });
        for index in 0..4 {
            if state.border_mapping.is_some() {
                with("components", &|s| {
                    if let Some(mapping) = &mut s.border_mapping {
                        let other = mapping.components[index].as_raw() ^ 1;
                        mapping.components[index] = vk::ComponentSwizzle::from_raw(other);
                    }
                });
            }
        }
        if state.border_mapping.is_some() {
            with("srgb", &|s| {
                if let Some(mapping) = &mut s.border_mapping {
                    mapping.srgb ^= true;
                }
            });
        }
    }
    if [state.mag_filter, state.min_filter].contains(&vk::Filter::CUBIC_EXT) {
        with("cubicWeights", &|s| {
            s.cubic_weights = match s.cubic_weights {
                None => Some(1),
                Some(weights) => Some(weights ^ 4),
            };
        });
    }
    with("window presence", &|s| {
        s.block_match = match s.block_match {
            None => Some(BlockMatchWindow { extent: [0; 2], compare_mode: 0 }),
            Some(_) => None,
        };
    });
    if state.block_match.is_some() {
        let edit = |s: &mut SamplerState, edit: &dyn Fn(&mut BlockMatchWindow)| {
            if let Some(window) = &mut s.block_match {
                edit(window);
            }
        };
        with("window width", &|s| edit(s, &|window| window.extent[0] ^= 1));
        with("window height", &|s| edit(s, &|window| window.extent[1] ^= 1));
        with("window compare mode", &|s| edit(s, &|window| window.compare_mode ^= 1));
    }
    with("opaque capture", &|s| s.opaque_capture ^= true);
    out
}

#[test]
fn every_other_member_shows() {
    for_all(draw::cases(), |case| {
        let (key, fingerprint) = (case.state.key(), case.state.fingerprint());
        for (name, other) in neighbours(&case.state) {
            prop_assert_ne!(key, other.key(), "{} does not show", name);
            prop_assert_ne!(fingerprint, other.fingerprint(), "{} does not show", name);
        }
        Ok(())
    });
}

/// CUBIC above LINEAR above NEAREST; what is none of them is above all.
fn height(filter: vk::Filter) -> u32 {
    match filter {
        vk::Filter::NEAREST => 0,
        vk::Filter::LINEAR => 1,
        vk::Filter::CUBIC_EXT => 2,
        _ => 3,
    }
}

/// No rewrite asks for more than the application did. Two exceptions, each by rule: A-40 copies the conversion's chroma
/// filter, and `depth_linear=compare` turns comparison on.
#[test]
fn no_rewrite_moves_up() {
    for_all(draw::cases(), |case| {
        for (name, _, decision) in asked(&case) {
            let (a, b) = (&case.state, &decision.state);
            let chroma = a.ycbcr.is_some_and(|conversion| !conversion.separate_reconstruction);
            if !chroma {
                prop_assert!(height(b.mag_filter) <= height(a.mag_filter), "{name}: smoother magnification");
                prop_assert!(height(b.min_filter) <= height(a.min_filter), "{name}: smoother minification");
            }
            prop_assert!(
                b.mipmap_mode == a.mipmap_mode || b.mipmap_mode == vk::SamplerMipmapMode::NEAREST,
                "{name}: mipmap mode"
            );
            prop_assert!(b.anisotropy_enable <= a.anisotropy_enable, "{name}: anisotropy on");
            if !replays(a, &case.caps) && b.anisotropy_enable {
                prop_assert!(b.max_anisotropy <= a.max_anisotropy, "{name}: more anisotropy");
            }
            prop_assert!(b.compare_enable <= a.compare_enable || case.policy.depth_compare, "{name}: comparison on");
            prop_assert!(b.unnormalized_coordinates <= a.unnormalized_coordinates);
            prop_assert!(a.flags.contains(b.flags), "{name}: a new flag");
            prop_assert!(b.mip_lod_bias.abs() <= a.mip_lod_bias.abs() || a.mip_lod_bias.is_nan(), "{name}: more bias");
            let keeps_or_drops = |before: bool, after: bool| after <= before;
            prop_assert!(b.reduction_mode == a.reduction_mode || b.reduction_mode.is_none(), "{name}: reduction");
            // A border swizzle is what makes a swizzled view defined (B-52, B-53).
            prop_assert!(
                keeps_or_drops(a.border_mapping.is_some(), b.border_mapping.is_some())
                    || case.caps.border_color_swizzle,
                "{name}: a border swizzle that the device cannot do"
            );
            prop_assert!(keeps_or_drops(a.custom_border.is_some(), b.custom_border.is_some()));
            prop_assert!(b.cubic_weights == a.cubic_weights || b.cubic_weights.is_none());
            prop_assert_eq!(a.ycbcr, b.ycbcr, "{}: the conversion stays what it is", name);
            let custom = |s: &SamplerState| decide::is_custom(s.border_color);
            prop_assert!(keeps_or_drops(custom(a), custom(b)), "{name}: a custom colour out of nothing");
        }
        Ok(())
    });
}

/// MIN and MAX never turn into an average for the sake of a view (B-3, B-4, B-13, B-15), except where the row itself
/// says so: B-8 gives up the reduction to keep CUBIC.
#[test]
fn minimum_and_maximum_never_become_an_average() {
    for_all(draw::cases(), |case| {
        let Case { state, view, caps, policy } = &case;
        let base = decide::create(state, caps, policy).state;
        let pair = decide::pair(&base, view, caps, policy);
        let reduced_by = |catalog| {
            pair.changes.iter().any(|change| change.field == Field::ReductionMode && change.catalog == catalog)
        };
        if base.is_minmax() && !pair.state.is_minmax() && !reduced_by(Catalog::B8) {
            let blends = |filter| height(filter) > 0;
            prop_assert!(!blends(pair.state.mag_filter) && !blends(pair.state.min_filter));
            prop_assert_eq!(pair.state.mipmap_mode, vk::SamplerMipmapMode::NEAREST);
        }
        Ok(())
    });
}

#[test]
fn captured_samplers_stay_exact() {
    for_all(draw::cases(), |mut case| {
        case.state.flags |= vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        case.caps.descriptor_buffer_capture_replay = true;
        assert!(replays(&case.state, &case.caps));
        for (name, _, decision) in asked(&case) {
            prop_assert!(decision.changes.is_empty() && untouched(&case.state, &decision.state), "{name}");
        }
        Ok(())
    });
}

#[test]
fn blits_become_legal_and_legal_ones_stay() {
    let seen = RefCell::new(BTreeSet::new());
    for_all(draw::blits(), |(filter, source)| {
        let decision = decide::blit(filter, &source);
        let broken = blit_violations(filter, &source);
        let left = blit_violations(decision.filter, &source);
        prop_assert!(left.is_empty(), "leaves {left:?}: {decision:?}");
        prop_assert_eq!(broken.is_empty(), decision.changes.is_empty(), "{:?}: {:?}", broken, decision);
        prop_assert!(height(decision.filter) <= height(filter));
        let mut now = filter;
        for change in decision.changes.iter() {
            let id = change.catalog.id();
            seen.borrow_mut().insert(id);
            prop_assert_eq!(change.field, Field::BlitFilter);
            prop_assert_eq!(change.from, Value::Filter(now));
            prop_assert_ne!(words(change.from), words(change.to));
            prop_assert!(broken.contains(&id) || blit_violations(now, &source).contains(&id), "{change:?}");
            let Value::Filter(to) = change.to else { panic!("{change:?}") };
            now = to;
        }
        prop_assert_eq!(now, decision.filter);
        let again = decide::blit(decision.filter, &source);
        prop_assert!(again.changes.is_empty() && again.filter == decision.filter);
        Ok(())
    });
    assert_eq!(seen.into_inner(), BTreeSet::from(["C-1", "C-2", "C-3", "C-4", "C-10"]));
}

#[test]
fn conversions_become_legal_and_legal_ones_stay() {
    let seen = RefCell::new(BTreeSet::new());
    for_all(draw::conversions(), |(state, features, subsampled)| {
        let decision = decide::conversion(&state, features, subsampled);
        let broken = conversion_violations(&state, features, subsampled);
        let left = conversion_violations(&decision.state, features, subsampled);
        prop_assert!(left.is_empty(), "leaves {left:?}: {decision:?}");
        prop_assert_eq!(broken.is_empty(), decision.changes.is_empty(), "{:?}: {:?}", broken, decision);
        let mut now = state;
        for change in decision.changes.iter() {
            seen.borrow_mut().insert(change.catalog.id());
            prop_assert!(broken.contains(&change.catalog.id()), "{change:?}");
            let from = match (change.field, change.to) {
                (Field::ChromaFilter, Value::Filter(to)) => {
                    Value::Filter(std::mem::replace(&mut now.chroma_filter, to))
                }
                (Field::XChromaOffset, Value::ChromaLocation(to)) => {
                    Value::ChromaLocation(std::mem::replace(&mut now.x_chroma_offset, to))
                }
                (Field::YChromaOffset, Value::ChromaLocation(to)) => {
                    Value::ChromaLocation(std::mem::replace(&mut now.y_chroma_offset, to))
                }
                (Field::ForceExplicitReconstruction, Value::Bool(to)) => {
                    Value::Bool(std::mem::replace(&mut now.force_explicit_reconstruction, to))
                }
                _ => panic!("{change:?} has no meaning"),
            };
            prop_assert_eq!(change.from, from);
            prop_assert_ne!(words(change.from), words(change.to));
        }
        prop_assert_eq!(now, decision.state, "the changes do not lead to the result");
        prop_assert!(decide::conversion(&decision.state, features, subsampled).changes.is_empty());
        Ok(())
    });
    assert_eq!(seen.into_inner(), BTreeSet::from(["A-43", "A-44", "A-45"]));
}

/// The checker's reading of names and the layer's tables are two sources; they agree on every known format, and know
/// the same ones.
#[test]
fn format_tables_agree_with_names() {
    use samplin_checker::formats::{Numeric, facts, known};
    use samplin_core::format::{self, ComponentRange, NumericClass};
    for format in known() {
        let facts = facts(format);
        assert!(format::is_known(format), "{format:?}");
        let class = match format::numeric_class(format) {
            NumericClass::Float => Numeric::Float,
            NumericClass::Uint => Numeric::Uint,
            NumericClass::Sint => Numeric::Sint,
        };
        assert_eq!(class, facts.numeric, "{format:?}");
        let aspects = format::aspects(format);
        assert_eq!(aspects.contains(vk::ImageAspectFlags::DEPTH), facts.depth, "{format:?}");
        assert_eq!(aspects.contains(vk::ImageAspectFlags::STENCIL), facts.stencil, "{format:?}");
        // Only S8_UINT names no component that is sampled as a colour or depth.
        let present = facts.bits.map(|bits| bits.is_some());
        let expected = if facts.stencil && !facts.depth { [true, false, false, false] } else { present };
        assert_eq!(format::components(format), expected, "{format:?}");
        let widths = |bits: [u32; 4]| bits.map(|bits| (bits > 0).then_some(bits));
        let clipped = facts.bits.map(|bits| bits.map(|bits| bits.min(32)));
        match format::component_range(format, false) {
            ComponentRange::Uint(_) if facts.stencil => {}
            ComponentRange::Uint(bits) | ComponentRange::Sint(bits) => assert_eq!(widths(bits), clipped, "{format:?}"),
            ComponentRange::Float { min, max } => {
                assert_eq!((min, max), facts.range.unwrap_or((f32::NEG_INFINITY, f32::INFINITY)), "{format:?}");
            }
        }
    }
    for raw in [0, 185, -1, 1_000_464_000, 1_000_609_000, i32::MAX] {
        assert!(!format::is_known(vk::Format::from_raw(raw)), "{raw}");
    }
}

/// [`FIELDS`] are all of a sampler's; the rest belong to conversions and blits.
#[test]
fn fields_have_distinct_names() {
    let names: BTreeSet<_> = FIELDS.iter().map(|field| field.name()).collect();
    assert_eq!(names.len(), FIELDS.len());
}
