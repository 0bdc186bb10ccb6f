//! States, choices and variants, by themselves and with threads.

use super::*;
use crate::decide::SamplerState;

fn state(bias: f32) -> SharedState {
    let original = SamplerState { mip_lod_bias: bias, ..SamplerState::default() };
    SharedState {
        kept: Kept { original, base: original },
        needs: Bits::NONE,
        given: None,
        unknown: None,
        overrides: 0,
        border: BorderPlace::None,
    }
}

fn plain(key: StateKey) -> Use {
    Use { key, cover: None }
}

#[test]
fn equal_states_share_a_place_and_variants_die_with_the_last() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let a = cache.acquire(&choices, state(0.0)).unwrap();
    assert_eq!(cache.acquire(&choices, state(0.0)), Some(a));
    let b = cache.acquire(&choices, state(1.0)).unwrap();
    assert_ne!(a, b);
    let key = state(0.0).kept.original.key();
    assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
    assert_eq!(cache.publish(&choices, (a, 9), &cache.state(a).unwrap(), 77, Some(plain(key))), (77, true));
    assert_eq!(cache.publish(&choices, (a, 9), &cache.state(a).unwrap(), KEEP, None), (77, false));
    assert_eq!(cache.reserve(b, &cache.state(b).unwrap(), key, false), Reserved::Made(77, plain(key)));
    assert_eq!(cache.publish(&choices, (b, 0), &cache.state(b).unwrap(), 77, Some(plain(key))), (77, true));
    assert_eq!((choices.choice(a, 9), choices.choice(a, 8), choices.choice(b, 0)), (77, UNDECIDED, 77));
    assert!(cache.release(&choices, a).variants.is_empty());
    assert_eq!(choices.choice(a, 9), 77);
    assert!(cache.release(&choices, a).variants.is_empty(), "the other state still uses the variant");
    assert_eq!(choices.choice(a, 9), UNDECIDED);
    assert_eq!(cache.release(&choices, b).variants, [Gone { handle: 77, custom_border: false }]);
    assert_eq!(cache.variants(), Census { live: 0, peak: 1, created: 1 });
    assert_eq!(cache.acquire(&choices, state(0.0)), Some(a), "a state is kept for a while");
    assert_eq!(choices.choice(a, 9), UNDECIDED);
    assert!(cache.release(&choices, a).variants.is_empty());
}

#[test]
fn no_choice_is_published_for_a_state_that_has_no_sampler_or_is_gone() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let number = cache.acquire(&choices, state(0.0)).unwrap();
    let decided = cache.state(number).unwrap();
    assert!(cache.release(&choices, number).variants.is_empty());
    assert_eq!(cache.publish(&choices, (number, 0), &decided, 77, None), (KEEP, false), "idle");
    assert_eq!(cache.acquire(&choices, state(0.0)), Some(number));
    assert_eq!(cache.publish(&choices, (number, 0), &decided, 77, None), (77, true));
    let other = Arc::new(state(0.0));
    assert_eq!(cache.publish(&choices, (number, 1), &other, 77, None), (KEEP, false), "decided for another");
    assert_eq!((choices.choice(number, 0), choices.choice(number, 1)), (77, UNDECIDED));
}

#[test]
fn what_was_said_of_a_state_goes_with_its_last_sampler() {
    let (cache, choices) = (Cache::default(), Choices::default());
    for settles in [false, true] {
        let number = cache.acquire(&choices, state(0.0)).unwrap();
        let decided = cache.state(number).unwrap();
        if settles {
            cache.settle(&choices, (number, 0), &decided);
        } else {
            assert_eq!(cache.publish(&choices, (number, 0), &decided, KEEP, None), (KEEP, true));
        }
        assert_eq!((choices.choice(number, 0) == KEEP, choices.is_settled(number, 0)), (!settles, settles));
        assert!(cache.release(&choices, number).variants.is_empty());
        assert_eq!((choices.choice(number, 0), choices.is_settled(number, 0)), (UNDECIDED, false));
    }
}

#[test]
fn places_are_reused_once_many_are_idle() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let words = |n: u32| [u64::from(n), 0, 0, 0, 0, 0, 0, 0];
    let mut numbers = std::collections::HashSet::new();
    for n in 0..4 * IDLE as u32 {
        let number = cache.acquire(&choices, state(n as f32)).unwrap();
        let rewritten = (n % 2 == 1).then(|| words(n + 1));
        cache.remember_recent(&words(n), number, n % 2 == 1, rewritten);
        let again = Some(Again { number, needs: Bits::NONE, changed: n % 2 == 1, rewritten });
        assert_eq!(cache.acquire_recent(&words(n)), again);
        assert!(
            cache.release(&choices, number).variants.is_empty() && cache.release(&choices, number).variants.is_empty()
        );
        assert_eq!(cache.acquire_recent(&words(n)), again, "idle, but there");
        assert!(cache.release(&choices, number).variants.is_empty());
        numbers.insert(number);
    }
    assert_eq!(numbers.len(), IDLE + 1);
    assert_eq!(cache.acquire_recent(&words(0)), None, "another state is in its row");
    assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
    assert_eq!(cache.samplers().peak, 2);
}

#[test]
fn create_infos_of_one_state_keep_what_each_came_to() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let words = |n: u64| [n, 0, 0, 0, 0, 0, 0, 0];
    let number = cache.acquire(&choices, state(0.0)).unwrap();
    // They differ in what is ignored: the first is legal, the second changed, the third changed into something else.
    cache.remember_recent(&words(1), number, false, None);
    cache.remember_recent(&words(2), number, true, Some(words(20)));
    cache.remember_recent(&words(3), number, true, Some(words(30)));
    let came_to = |n| cache.acquire_recent(&words(n)).map(|again| (again.changed, again.rewritten));
    assert_eq!(came_to(1), Some((false, None)));
    assert_eq!(came_to(2), Some((true, Some(words(20)))));
    assert_eq!(came_to(3), None, "looked at each time");
    // Another state in the same row starts anew.
    for _ in 0..3 {
        assert!(cache.release(&choices, number).variants.is_empty());
    }
    for n in 1..=IDLE as u32 {
        let other = cache.acquire(&choices, state(n as f32)).unwrap();
        assert!(cache.release(&choices, other).variants.is_empty());
    }
    let other = cache.acquire(&choices, state(-1.0)).unwrap();
    assert_eq!(other, number);
    cache.remember_recent(&words(4), other, true, None);
    assert_eq!(came_to(4), Some((true, None)), "changed in mode audit");
}

#[test]
fn samplers_with_a_place_for_a_custom_border_do_not_share_with_those_without() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let with = cache.acquire(&choices, SharedState { border: BorderPlace::Held, ..state(0.0) }).unwrap();
    let without = cache.acquire(&choices, state(0.0)).unwrap();
    let holds = |row| cache.state(row).unwrap().border;
    assert_eq!((holds(with), holds(without)), (BorderPlace::Held, BorderPlace::None), "each gives back what it took");
    assert!(cache.release(&choices, with).variants.is_empty() && cache.release(&choices, without).variants.is_empty());
    assert_eq!(
        cache.acquire(&choices, SharedState { border: BorderPlace::Held, ..state(0.0) }).map(holds),
        Some(BorderPlace::Held)
    );
}

#[test]
fn a_border_colour_of_no_enumeration_is_shared_with_none() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let of = |raw| {
        let original = SamplerState { border_color: ash::vk::BorderColor::from_raw(raw), ..SamplerState::default() };
        SharedState { kept: Kept { original, base: original }, ..state(0.0) }
    };
    let (float, none) = (cache.acquire(&choices, of(0)).unwrap(), cache.acquire(&choices, of(6)).unwrap());
    assert_ne!(float, none, "strict repairs the first on integer views");
    assert_eq!(cache.acquire(&choices, of(-7)), Some(none));
}

#[test]
fn states_with_unknown_structures_are_not_shared() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let odd = SharedState { unknown: Some(1), ..state(0.0) };
    let a = cache.acquire(&choices, odd.clone()).unwrap();
    let b = cache.acquire(&choices, odd).unwrap();
    assert_ne!(a, b);
    assert_ne!(cache.acquire(&choices, state(0.0)), Some(a));
    assert!(cache.release(&choices, a).variants.is_empty() && cache.release(&choices, b).variants.is_empty());
}

#[test]
fn an_isolated_sampler_keeps_its_variants_and_nothing_else() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let key = state(0.0).kept.original.key();
    let shared = cache.acquire(&choices, state(0.0)).unwrap();
    assert_eq!(cache.acquire(&choices, state(0.0)), Some(shared));
    assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
    assert_eq!(cache.publish(&choices, (shared, 3), &cache.state(shared).unwrap(), 77, Some(plain(key))), (77, true));
    let own = cache.isolate(&choices, shared).unwrap();
    assert_ne!(own, shared);
    assert_eq!(cache.isolate(&choices, own), Some(own));
    assert_eq!((choices.choice(shared, 3), choices.choice(own, 3)), (77, UNDECIDED));
    assert_eq!(cache.acquire(&choices, state(0.0)), Some(shared), "new samplers of the state do not join it");
    assert!(cache.release(&choices, shared).variants.is_empty() && cache.release(&choices, shared).variants.is_empty());
    assert_eq!(cache.release(&choices, own).variants, [Gone { handle: 77, custom_border: false }]);
    // The only sampler of a state.
    let shared = cache.acquire(&choices, state(1.0)).unwrap();
    let own = cache.isolate(&choices, shared).unwrap();
    assert_eq!((cache.states().live, cache.samplers().live), (1, 1), "it is counted once");
    let again = cache.acquire(&choices, state(1.0)).unwrap();
    assert_ne!(again, own);
    assert!(cache.release(&choices, own).variants.is_empty() && cache.release(&choices, again).variants.is_empty());
    assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
}

#[test]
fn the_place_of_an_isolated_sampler_is_given_to_no_other_state() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let shared = cache.acquire(&choices, state(0.0)).unwrap();
    let own = cache.isolate(&choices, shared).unwrap();
    for n in 0..2 * IDLE as u32 {
        let other = cache.acquire(&choices, state(1.0 + n as f32)).unwrap();
        // A thread that looked the sampler up before it moved still asks for choices by this number.
        assert_ne!(other, shared, "a stale number meets another state");
        assert!(cache.release(&choices, other).variants.is_empty());
    }
    assert!(cache.release(&choices, own).variants.is_empty());
    assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
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
        let (cache, choices) = (Cache::default(), Choices::default());
        let shared = cache.acquire(&choices, state(0.0)).unwrap();
        let decided = cache.state(shared).unwrap();
        let (mut gone, published, own) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let (mut gone, mut published) = (Vec::new(), 0);
                start.wait();
                for class in 0..CLASSES {
                    let (handle, key) = (u64::from(class) + 1, key(class));
                    let usage = plain(key);
                    assert_eq!(cache.add_variant(&usage, handle, true), Some((handle, true)));
                    if cache.publish(&choices, (shared, class), &decided, handle, Some(usage)).1 {
                        published += 1;
                    } else {
                        gone.extend(cache.drop_use(shared, &decided, &usage));
                    }
                }
                (gone, published)
            });
            start.wait();
            // So that it falls on another part of the writer's work in each round.
            (0..round % 50 * 40).for_each(|_| std::hint::spin_loop());
            let own = cache.isolate(&choices, shared).unwrap();
            let (gone, published) = writer.join().unwrap();
            (gone, published, own)
        });
        assert!(gone.len() + published as usize == CLASSES as usize);
        gone.extend(cache.release(&choices, own).variants);
        assert_eq!(gone.len(), CLASSES as usize, "round {round}: what is not handed back is never destroyed");
        assert_eq!(cache.variants().live, 0);
    }
}

#[test]
fn a_sampler_that_moves_takes_its_variants_along() {
    let (cache, choices) = (Cache::default(), Choices::default());
    let key = state(0.0).kept.original.key();
    let from = cache.acquire(&choices, state(0.0)).unwrap();
    assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
    assert_eq!(cache.publish(&choices, (from, 3), &cache.state(from).unwrap(), 77, Some(plain(key))), (77, true));
    let named = || SharedState { overrides: 1, ..state(0.0) };
    let (to, free) = cache.acquire_moved(&choices, from, named()).unwrap();
    assert_eq!(choices.choice(to, 3), UNDECIDED, "choices are made anew");
    assert_eq!((cache.samplers().created, cache.samplers().live, cache.states().live), (1, 1, 1));
    assert!(to != from && !free && !cache.is_shareable(to), "descriptors may hold what was chosen for it");
    let (again, free) = cache.acquire_moved(&choices, to, SharedState { overrides: 3, ..state(0.0) }).unwrap();
    assert!(again != to && !free);
    assert_eq!(cache.release(&choices, again).variants, [Gone { handle: 77, custom_border: false }]);
    // Without a variant it joins others of its new state.
    let from = cache.acquire(&choices, state(0.0)).unwrap();
    let other = cache.acquire(&choices, named()).unwrap();
    assert_eq!(cache.acquire_moved(&choices, from, named()), Some((other, true)));
    for number in [from, other, other] {
        assert!(cache.release(&choices, number).variants.is_empty());
    }
    assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
}

/// A state whose base gave a custom border colour up.
fn given_up(bias: f32) -> SharedState {
    SharedState { border: BorderPlace::GivenUp, ..state(bias) }
}

#[test]
fn the_loser_of_a_race_gives_its_sampler_back() {
    let (cache, choices) = (Cache::new(1024), Choices::default());
    let key = state(0.0).kept.original.key();
    let [a, b] = [0.0, 1.0].map(|bias| cache.acquire(&choices, state(bias)).unwrap());
    let [first, second] = [a, b].map(|number| {
        let Reserved::ToMake(usage) = cache.reserve(number, &cache.state(number).unwrap(), key, true) else {
            panic!("there is a share");
        };
        usage
    });
    assert_eq!(cache.with_borders(|borders| borders.taken()), 2, "both are asked for");
    assert_eq!(cache.add_variant(&first, 1, true), Some((1, true)));
    assert_eq!(cache.add_variant(&second, 2, true), Some((1, false)));
    cache.with_borders(BorderPlaces::give_back);
    assert_eq!(cache.drop_use(b, &cache.state(b).unwrap(), &second), None);
    let gone = Gone { handle: 1, custom_border: true };
    assert_eq!(cache.drop_use(a, &cache.state(a).unwrap(), &first), Some(gone));
}

#[test]
fn a_state_covers_one_variant_by_the_place_that_it_gave_up() {
    let (cache, choices) = (Cache::new(2), Choices::default());
    let [one, two] = [1.0, 2.0].map(|bias| state(bias).kept.original.key());
    let make = |number: u32, class: u32, key: StateKey, handle: u64| {
        let decided = cache.state(number).unwrap();
        let (handle, usage) = match cache.reserve(number, &decided, key, true) {
            Reserved::Made(handle, usage) => (handle, usage),
            Reserved::ToMake(usage) => (cache.add_variant(&usage, handle, true).unwrap().0, usage),
            Reserved::NoBorder => return None,
        };
        assert_eq!(cache.publish(&choices, (number, class), &decided, handle, Some(usage)), (handle, true));
        Some(handle)
    };
    cache.with_borders(|borders| (borders.give_up(), borders.give_up()));
    let [a, b] = [given_up(10.0), given_up(11.0)].map(|state| cache.acquire(&choices, state).unwrap());
    assert_eq!(make(a, 0, one, 77), Some(77));
    assert_eq!(make(a, 1, one, 0), Some(77), "the same for another class");
    assert_eq!(make(a, 2, two, 78), None, "another one would be the application's place");
    let own = cache.isolate(&choices, a).unwrap();
    assert_eq!(make(own, 0, two, 78), None, "it is the same sampler, whose place is used");
    assert_eq!(make(b, 0, one, 0), Some(77), "each of them may be the last");
    assert_eq!(make(b, 1, two, 78), None);
    assert!(cache.release(&choices, own).variants.is_empty());
    assert_eq!(cache.release(&choices, b).variants, [Gone { handle: 77, custom_border: true }]);
    cache.with_borders(BorderPlaces::give_back);
    // The place is there again with a new sampler.
    assert_eq!(cache.acquire(&choices, given_up(10.0)), Some(a));
    let decided = cache.state(a).unwrap();
    let Reserved::ToMake(usage) = cache.reserve(a, &decided, two, true) else { panic!("it has a place") };
    assert_eq!(cache.reserve(a, &decided, one, true), Reserved::NoBorder);
    cache.abandon(a, &decided, &usage);
    cache.with_borders(BorderPlaces::give_back);
    assert_eq!(make(a, 0, two, 79), Some(79));
    let released = cache.release(&choices, a);
    assert_eq!((released.variants.len(), released.border), (1, BorderPlace::GivenUp));
}
