//! States, choices and variants, by themselves and with threads.

use super::*;
use crate::decide::SamplerState;

fn state(bias: f32) -> SharedState {
    let original = SamplerState { mip_lod_bias: bias, ..SamplerState::default() };
    SharedState {
        kept: Kept { original, base: original },
        needs: ConflictBits::NONE,
        given: None,
        unknown: None,
        overrides: 0,
        border: BorderPlace::None,
    }
}

/// Counts one more sampler of a state.
fn acquire(rows: Rows<'_>, state: SharedState) -> Option<u32> {
    let mut samplers = rows.gate.write_samplers();
    let index = samplers.with();
    let number = rows.acquire(index, state)?;
    index.samplers.add();
    Some(number)
}

/// Enters one more sampler of a create info that was seen before: the row, whether it was changed and what reaches the driver instead.
fn again(rows: Rows<'_>, words: &Words) -> Option<(u32, bool, Option<Words>)> {
    let again = rows.cache.again(words)?;
    let rewritten = rows.rewritten(again)?;
    assert_eq!(rows.add_again(7, again), Some(true));
    // It stays counted, so that it is released as those without a handle are.
    assert_ne!(rows.gate.write_samplers().remove(7), Some(0));
    Some((again.number()?, again.is_changed(), rewritten))
}

fn plain(key: StateKey) -> VariantUse {
    VariantUse { key, cover: None }
}

#[test]
fn equal_states_share_a_place_and_variants_die_with_the_last() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let a = acquire(rows, state(0.0)).unwrap();
    assert_eq!(acquire(rows, state(0.0)), Some(a));
    let b = acquire(rows, state(1.0)).unwrap();
    assert_ne!(a, b);
    let key = state(0.0).kept.original.key();
    assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
    assert_eq!(rows.publish(a, 9, &rows.state(a).unwrap(), 77, Some(plain(key))), (77, true));
    assert_eq!(rows.publish(a, 9, &rows.state(a).unwrap(), KEEP, None), (77, false));
    assert_eq!(rows.reserve(b, &rows.state(b).unwrap(), key, false), Reserved::Made(77, plain(key)));
    assert_eq!(rows.publish(b, 0, &rows.state(b).unwrap(), 77, Some(plain(key))), (77, true));
    assert_eq!((gate.choices.choice(a, 9), gate.choices.choice(a, 8), gate.choices.choice(b, 0)), (77, UNDECIDED, 77));
    assert!(rows.release(a).variants.is_empty());
    assert_eq!(gate.choices.choice(a, 9), 77);
    assert!(rows.release(a).variants.is_empty(), "the other state still uses the variant");
    assert_eq!(gate.choices.choice(a, 9), UNDECIDED);
    assert_eq!(rows.release(b).variants, [Gone { handle: 77, custom_border: false }]);
    assert_eq!(cache.variants(), Census { live: 0, peak: 1, created: 1 });
    assert_eq!(acquire(rows, state(0.0)), Some(a), "a state is kept for a while");
    assert_eq!(gate.choices.choice(a, 9), UNDECIDED);
    assert!(rows.release(a).variants.is_empty());
}

#[test]
fn plain_create_infos_share_a_row_with_states_that_behave_the_same() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let words = |bias: f32| sampler_info::words_of(&state(bias).kept.original).unwrap();
    let number = rows.add_plain(1, &words(0.0), ConflictBits::NONE).unwrap().number;
    assert_eq!(rows.cache.again(&words(0.0)).and_then(Again::number), Some(number), "it is remembered");
    assert_eq!(rows.add_plain(2, &words(-0.0), ConflictBits::NONE).unwrap().number, number);
    assert_eq!(acquire(rows, state(0.0)), Some(number));
    let chained = |bias| {
        let mut state = state(bias);
        state.kept.original.reduction_mode = Some(ash::vk::SamplerReductionMode::WEIGHTED_AVERAGE);
        state
    };
    assert_eq!(acquire(rows, chained(0.0)), Some(number), "what is chained is what an absent structure means");
    let other = rows.add_plain(3, &words(1.0), ConflictBits::NONE).unwrap();
    assert_ne!(other.number, number);
    assert_eq!((other.live, rows.samplers().live, rows.states().live), (5, 5, 2));
    // The other way around, of a state that is kept as a whole.
    let whole = acquire(rows, chained(2.0)).unwrap();
    assert_eq!(rows.add_plain(4, &words(2.0), ConflictBits::NONE).unwrap().number, whole);
    assert_ne!(acquire(rows, SharedState { overrides: 1, ..state(1.0) }), Some(other.number));
    assert!(
        rows.add_plain(4, &words(2.0), ConflictBits::NONE).is_some_and(|added| !added.is_new),
        "the handle of another"
    );
}

#[test]
fn no_choice_is_published_for_a_state_that_has_no_sampler_or_is_gone() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let number = acquire(rows, state(0.0)).unwrap();
    let decided = rows.state(number).unwrap();
    assert!(rows.release(number).variants.is_empty());
    assert_eq!(rows.publish(number, 0, &decided, 77, None), (KEEP, false), "idle");
    assert_eq!(acquire(rows, state(0.0)), Some(number));
    assert_eq!(rows.publish(number, 0, &decided, 77, None), (77, true));
    let other = FoundState { generation: decided.generation + 1, ..decided.clone() };
    assert_eq!(rows.publish(number, 1, &other, 77, None), (KEEP, false), "decided for another");
    assert_eq!((gate.choices.choice(number, 0), gate.choices.choice(number, 1)), (77, UNDECIDED));
}

#[test]
fn what_was_said_of_a_state_goes_with_its_last_sampler() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    for records in [false, true] {
        let number = acquire(rows, state(0.0)).unwrap();
        let decided = rows.state(number).unwrap();
        if records {
            rows.mark_recorded(number, 0, &decided);
        } else {
            assert_eq!(rows.publish(number, 0, &decided, KEEP, None), (KEEP, true));
        }
        assert_eq!((gate.choices.choice(number, 0) == KEEP, gate.choices.is_recorded(number, 0)), (!records, records));
        assert!(rows.release(number).variants.is_empty());
        assert_eq!((gate.choices.choice(number, 0), gate.choices.is_recorded(number, 0)), (UNDECIDED, false));
    }
}

#[test]
fn places_are_reused_once_many_are_idle() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let words = |n: u32| [u64::from(n), 0, 0, 0, 0, 0, 0, 0];
    let mut numbers = std::collections::HashSet::new();
    for n in 0..4 * IDLE as u32 {
        let number = acquire(rows, state(n as f32)).unwrap();
        let rewritten = (n % 2 == 1).then(|| words(n + 1));
        rows.remember_recent(&words(n), number, n % 2 == 1, rewritten);
        let known = Some((number, n % 2 == 1, rewritten));
        assert_eq!(again(rows, &words(n)), known);
        assert!(rows.release(number).variants.is_empty() && rows.release(number).variants.is_empty());
        assert_eq!(again(rows, &words(n)), known, "idle, but there");
        assert!(rows.release(number).variants.is_empty());
        numbers.insert(number);
    }
    assert_eq!(numbers.len(), IDLE + 1);
    assert_eq!(again(rows, &words(0)), None, "another state is in its row");
    assert_eq!((rows.states().live, rows.samplers().live), (0, 0));
    assert_eq!(rows.samplers().peak, 2);
}

#[test]
fn create_infos_of_one_state_keep_what_each_came_to() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let words = |n: u64| [n, 0, 0, 0, 0, 0, 0, 0];
    let number = acquire(rows, state(0.0)).unwrap();
    // They differ in what is ignored: the first is legal, the second changed, the third changed into something else.
    rows.remember_recent(&words(1), number, false, None);
    rows.remember_recent(&words(2), number, true, Some(words(20)));
    rows.remember_recent(&words(3), number, true, Some(words(30)));
    let came_to = |n| again(rows, &words(n)).map(|(_, changed, rewritten)| (changed, rewritten));
    assert_eq!(came_to(1), Some((false, None)));
    assert_eq!(came_to(2), Some((true, Some(words(20)))));
    assert_eq!(came_to(3), None, "looked at each time");
    // Another state in the same row starts anew.
    for _ in 0..3 {
        assert!(rows.release(number).variants.is_empty());
    }
    for n in 1..=IDLE as u32 {
        let other = acquire(rows, state(n as f32)).unwrap();
        assert!(rows.release(other).variants.is_empty());
    }
    let other = acquire(rows, state(-1.0)).unwrap();
    assert_eq!(other, number);
    rows.remember_recent(&words(4), other, true, None);
    assert_eq!(came_to(4), Some((true, None)), "changed in mode audit");
}

#[test]
fn samplers_with_a_place_for_a_custom_border_do_not_share_with_those_without() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let with = acquire(rows, SharedState { border: BorderPlace::Held, ..state(0.0) }).unwrap();
    let without = acquire(rows, state(0.0)).unwrap();
    let holds = |row| rows.state(row).unwrap().border;
    assert_eq!((holds(with), holds(without)), (BorderPlace::Held, BorderPlace::None), "each gives back what it took");
    assert!(rows.release(with).variants.is_empty() && rows.release(without).variants.is_empty());
    assert_eq!(
        acquire(rows, SharedState { border: BorderPlace::Held, ..state(0.0) }).map(holds),
        Some(BorderPlace::Held)
    );
}

#[test]
fn a_border_colour_of_no_enumeration_is_shared_with_none() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let of = |raw| {
        let original = SamplerState { border_color: ash::vk::BorderColor::from_raw(raw), ..SamplerState::default() };
        SharedState { kept: Kept { original, base: original }, ..state(0.0) }
    };
    let (float, none) = (acquire(rows, of(0)).unwrap(), acquire(rows, of(6)).unwrap());
    assert_ne!(float, none, "strict repairs the first on integer views");
    assert_eq!(acquire(rows, of(-7)), Some(none));
}

#[test]
fn a_row_gives_back_what_was_put_into_it() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let bits = |state: &SamplerState| format!("{state:?}");
    let plain = SamplerState {
        mag_filter: ash::vk::Filter::LINEAR,
        max_lod: f32::from_bits(0x7fc0_0001),
        mip_lod_bias: -0.0,
        compare_enable: true,
        border_color: ash::vk::BorderColor::from_raw(-7),
        ..SamplerState::default()
    };
    let chained = SamplerState { reduction_mode: Some(ash::vk::SamplerReductionMode::MIN), ..plain };
    let other = SamplerState { mip_lod_bias: 2.0, ..plain };
    for (original, base, is_small) in [(plain, plain, true), (chained, chained, false), (other, plain, false)] {
        let given = SharedState { kept: Kept { original, base }, needs: ConflictBits(5), ..state(0.0) };
        let number = acquire(rows, given).unwrap();
        let found = rows.state(number).unwrap();
        assert_eq!((bits(&found.kept.original), bits(&found.kept.base)), (bits(&original), bits(&base)));
        assert_eq!((found.needs, found.given, found.unknown, found.overrides), (ConflictBits(5), None, None, 0));
        let is_plain = matches!(gate.write_samplers().with().row(number).unwrap().state, RowState::Plain(_));
        assert_eq!(is_plain, is_small);
        assert!(rows.release(number).variants.is_empty());
    }
}

#[test]
fn a_sampler_whose_state_is_not_in_its_row_any_more_is_not_entered_there() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let words = [7; 8];
    let Added { number, is_new, .. } = rows.add(100, state(0.0)).unwrap();
    assert!(is_new);
    rows.remember_recent(&words, number, false, None);
    let before = cache.again(&words).unwrap();
    assert_eq!(rows.add_again(101, before), Some(true));
    assert_eq!(rows.add_again(101, before), Some(false), "the driver returned the handle of another");
    assert!(rows.release(number).variants.is_empty());
    rows.count_duplicate();
    assert_eq!((rows.samplers().live, rows.samplers().created), (3, 3));
    assert!(rows.remove(101).is_none(), "it is there once more");
    assert!(rows.remove(101).is_some() && !rows.remove_plain(100), "its handles are counted from here on");
    assert!(rows.remove(100).is_some());
    assert_eq!((rows.samplers().live, rows.states().live), (0, 0));
    for n in 1..=IDLE as u32 + 1 {
        let other = acquire(rows, state(n as f32)).unwrap();
        assert!(rows.release(other).variants.is_empty());
    }
    assert_eq!(rows.add_again(102, before), None);
    assert_eq!((gate.sampler(102), rows.samplers().live), (0, 0));
}

#[test]
fn what_nothing_hangs_on_is_removed_at_once_and_the_rest_is_left() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let number = rows.add(100, state(0.0)).unwrap().number;
    rows.add(101, state(0.0)).unwrap();
    assert!(rows.remove_plain(100), "another one is of its state");
    assert!(!rows.remove_plain(101), "no state rested yet, which takes memory");
    assert!(rows.remove(101).is_some());
    rows.add(102, state(0.0)).unwrap();
    assert!(rows.remove_plain(102));
    rows.add(103, state(0.0)).unwrap();
    let decided = rows.state(number).unwrap();
    assert_eq!(rows.publish(number, 0, &decided, KEEP, None), (KEEP, true));
    assert!(!rows.remove_plain(103), "something was chosen for it");
    assert!(!rows.remove_plain(999), "never seen");
    assert_eq!(rows.remove(103), Some(Released::default()));
    assert_eq!((rows.samplers().live, rows.states().live, gate.samplers()), (0, 0, 0));
}

#[test]
fn states_with_unknown_structures_are_not_shared() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let odd = SharedState { unknown: Some(1), ..state(0.0) };
    let a = acquire(rows, odd.clone()).unwrap();
    let b = acquire(rows, odd).unwrap();
    assert_ne!(a, b);
    assert_ne!(acquire(rows, state(0.0)), Some(a));
    assert!(rows.release(a).variants.is_empty() && rows.release(b).variants.is_empty());
}

#[test]
fn an_isolated_sampler_keeps_its_variants_and_nothing_else() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let key = state(0.0).kept.original.key();
    let shared = acquire(rows, state(0.0)).unwrap();
    assert_eq!(acquire(rows, state(0.0)), Some(shared));
    assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
    assert_eq!(rows.publish(shared, 3, &rows.state(shared).unwrap(), 77, Some(plain(key))), (77, true));
    let own = rows.isolate(shared).unwrap();
    assert_ne!(own, shared);
    assert_eq!(rows.isolate(own), Some(own));
    assert_eq!((gate.choices.choice(shared, 3), gate.choices.choice(own, 3)), (77, UNDECIDED));
    assert_eq!(acquire(rows, state(0.0)), Some(shared), "new samplers of the state do not join it");
    assert!(rows.release(shared).variants.is_empty() && rows.release(shared).variants.is_empty());
    assert_eq!(rows.release(own).variants, [Gone { handle: 77, custom_border: false }]);
    // The only sampler of a state.
    let shared = acquire(rows, state(1.0)).unwrap();
    let own = rows.isolate(shared).unwrap();
    assert_eq!((rows.states().live, rows.samplers().live), (1, 1), "it is counted once");
    let again = acquire(rows, state(1.0)).unwrap();
    assert_ne!(again, own);
    assert!(rows.release(own).variants.is_empty() && rows.release(again).variants.is_empty());
    assert_eq!((rows.states().live, rows.samplers().live), (0, 0));
}

#[test]
fn the_place_of_an_isolated_sampler_is_given_to_no_other_state() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let shared = acquire(rows, state(0.0)).unwrap();
    let own = rows.isolate(shared).unwrap();
    for n in 0..2 * IDLE as u32 {
        let other = acquire(rows, state(1.0 + n as f32)).unwrap();
        // A thread that looked the sampler up before it moved still asks for choices by this number.
        assert_ne!(other, shared, "a stale number meets another state");
        assert!(rows.release(other).variants.is_empty());
    }
    assert!(rows.release(own).variants.is_empty());
    assert_eq!((rows.states().live, rows.samplers().live), (0, 0));
}

#[test]
#[cfg_attr(miri, ignore = "takes an hour")]
fn no_variant_is_lost_while_a_sampler_is_isolated() {
    use std::sync::Barrier;
    const ROUNDS: u32 = 2000;
    const CLASSES: u32 = 64;
    let key = |class: u32| state(1.0 + class as f32).kept.original.key();
    let start = Barrier::new(2);
    for round in 0..ROUNDS {
        let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
        let rows = cache.on(&gate);
        let shared = acquire(rows, state(0.0)).unwrap();
        let decided = rows.state(shared).unwrap();
        let (published, own) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut published = 0;
                start.wait();
                for class in 0..CLASSES {
                    let (handle, key) = (u64::from(class) + 1, key(class));
                    let usage = plain(key);
                    assert_eq!(cache.add_variant(&usage, handle, true), Some((handle, true)));
                    if rows.publish(shared, class, &decided, handle, Some(usage)).1 {
                        published += 1;
                    } else {
                        rows.drop_use(shared, &decided, &usage);
                    }
                }
                published
            });
            start.wait();
            // So that it falls on another part of the writer's work in each round.
            (0..round % 50 * 40).for_each(|_| std::hint::spin_loop());
            let own = rows.isolate(shared).unwrap();
            (writer.join().unwrap(), own)
        });
        let gone = rows.release(own).variants;
        // Without a use that is given back, those of the lost races wait for the end of the device.
        let all = if published > 0 { CLASSES as usize } else { 0 };
        assert_eq!(gone.len(), all, "round {round}: what is not handed back is never destroyed");
        assert_eq!(cache.variants().live as usize, CLASSES as usize - all);
        assert_eq!(cache.take_variants().count(), CLASSES as usize - all);
    }
}

#[test]
fn a_sampler_that_moves_takes_its_variants_along() {
    let (cache, gate) = (Cache::default(), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let key = state(0.0).kept.original.key();
    let from = acquire(rows, state(0.0)).unwrap();
    assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
    assert_eq!(rows.publish(from, 3, &rows.state(from).unwrap(), 77, Some(plain(key))), (77, true));
    let named = || SharedState { overrides: 1, ..state(0.0) };
    let (to, free) = rows.acquire_moved(from, named()).unwrap();
    assert_eq!(gate.choices.choice(to, 3), UNDECIDED, "choices are made anew");
    assert_eq!((rows.samplers().created, rows.samplers().live, rows.states().live), (1, 1, 1));
    assert!(to != from && !free && !rows.is_shareable(to), "descriptors may hold what was chosen for it");
    let (again, free) = rows.acquire_moved(to, SharedState { overrides: 3, ..state(0.0) }).unwrap();
    assert!(again != to && !free);
    assert_eq!(rows.release(again).variants, [Gone { handle: 77, custom_border: false }]);
    // Without a variant it joins others of its new state.
    let from = acquire(rows, state(0.0)).unwrap();
    let other = acquire(rows, named()).unwrap();
    assert_eq!(rows.acquire_moved(from, named()), Some((other, true)));
    for number in [from, other, other] {
        assert!(rows.release(number).variants.is_empty());
    }
    assert_eq!((rows.states().live, rows.samplers().live), (0, 0));
}

/// A state whose base gave a custom border colour up.
fn given_up(bias: f32) -> SharedState {
    SharedState { border: BorderPlace::GivenUp, ..state(bias) }
}

#[test]
fn the_loser_of_a_race_gives_its_sampler_back() {
    let (cache, gate) = (Cache::new(1024), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let key = state(0.0).kept.original.key();
    let [a, b] = [0.0, 1.0].map(|bias| acquire(rows, state(bias)).unwrap());
    let [first, second] = [a, b].map(|number| {
        let Reserved::ToMake(usage) = rows.reserve(number, &rows.state(number).unwrap(), key, true) else {
            panic!("there is a share");
        };
        usage
    });
    assert_eq!(cache.with_borders(|borders| borders.taken()), 2, "both are asked for");
    assert_eq!(cache.add_variant(&first, 1, true), Some((1, true)));
    assert_eq!(cache.add_variant(&second, 2, true), Some((1, false)));
    cache.with_borders(BorderPlaces::give_back);
    rows.drop_use(b, &rows.state(b).unwrap(), &second);
    rows.drop_use(a, &rows.state(a).unwrap(), &first);
    // It waits for whoever wants it next, and goes with another variant's last use if nobody does.
    let Reserved::Made(1, usage) = rows.reserve(b, &rows.state(b).unwrap(), key, true) else { panic!("it is there") };
    rows.drop_use(b, &rows.state(b).unwrap(), &usage);
    let other = plain(state(2.0).kept.original.key());
    assert_eq!(cache.add_variant(&other, 3, false), Some((3, true)));
    assert!(rows.publish(a, 5, &rows.state(a).unwrap(), 3, Some(other)).1);
    let mut gone = rows.release(a).variants;
    gone.sort_by_key(|gone| gone.handle);
    assert_eq!(gone, [(1, true), (3, false)].map(|(handle, custom_border)| Gone { handle, custom_border }));
    assert_eq!(cache.variants().live, 0);
}

#[test]
fn a_state_covers_one_variant_by_the_place_that_it_gave_up() {
    let (cache, gate) = (Cache::new(2), Gate::with(false, Index::new(u32::MAX)));
    let rows = cache.on(&gate);
    let [one, two] = [1.0, 2.0].map(|bias| state(bias).kept.original.key());
    let make = |number: u32, class: u32, key: StateKey, handle: u64| {
        let decided = rows.state(number).unwrap();
        let (handle, usage) = match rows.reserve(number, &decided, key, true) {
            Reserved::Made(handle, usage) => (handle, usage),
            Reserved::ToMake(usage) => (cache.add_variant(&usage, handle, true).unwrap().0, usage),
            Reserved::NoBorder => return None,
        };
        assert_eq!(rows.publish(number, class, &decided, handle, Some(usage)), (handle, true));
        Some(handle)
    };
    cache.with_borders(|borders| (borders.give_up(), borders.give_up()));
    let [a, b] = [given_up(10.0), given_up(11.0)].map(|state| acquire(rows, state).unwrap());
    assert_eq!(make(a, 0, one, 77), Some(77));
    assert_eq!(make(a, 1, one, 0), Some(77), "the same for another class");
    assert_eq!(make(a, 2, two, 78), None, "another one would be the application's place");
    let own = rows.isolate(a).unwrap();
    assert_eq!(make(own, 0, two, 78), None, "it is the same sampler, whose place is used");
    assert_eq!(make(b, 0, one, 0), Some(77), "each of them may be the last");
    assert_eq!(make(b, 1, two, 78), None);
    assert!(rows.release(own).variants.is_empty());
    assert_eq!(rows.release(b).variants, [Gone { handle: 77, custom_border: true }]);
    cache.with_borders(BorderPlaces::give_back);
    // The place is there again with a new sampler.
    assert_eq!(acquire(rows, given_up(10.0)), Some(a));
    let decided = rows.state(a).unwrap();
    let Reserved::ToMake(usage) = rows.reserve(a, &decided, two, true) else { panic!("it has a place") };
    assert_eq!(rows.reserve(a, &decided, one, true), Reserved::NoBorder);
    rows.abandon(a, &decided, &usage);
    cache.with_borders(BorderPlaces::give_back);
    assert_eq!(make(a, 0, two, 79), Some(79));
    let released = rows.release(a);
    assert_eq!((released.variants.len(), released.border), (1, BorderPlace::GivenUp));
}
