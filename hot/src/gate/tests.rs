use super::*;

/// Samplers and views as a driver's pools hand them out: every other sampler needs what every other view lacks.
fn scene(size: u64) -> (Gate, Vec<vk::Sampler>, Vec<vk::ImageView>) {
    let gate = Gate::new(false);
    let handles = |base: u64, stride: u64| (0..size).map(move |n| base + n * stride);
    let samplers: Vec<_> = handles(0x5555_5670_0010, 0x70).collect();
    let views: Vec<_> = handles(0x7fff_a000_0040, 0x160).collect();
    for (n, sampler) in samplers.iter().enumerate() {
        assert!(gate.add_sampler(*sampler, u32::from(n.is_multiple_of(2)), n as u32));
    }
    for (n, view) in views.iter().enumerate() {
        gate.insert_view(*view, u32::from(!n.is_multiple_of(2)), 0);
    }
    let views = views.into_iter().map(vk::ImageView::from_raw).collect();
    (gate, samplers.into_iter().map(vk::Sampler::from_raw).collect(), views)
}

fn infos(samplers: &[vk::Sampler], views: &[vk::ImageView]) -> Vec<DescriptorImageInfo> {
    let mut seed = 1_u64;
    let mut draw = |n: usize| {
        seed = crate::table::fold(seed + 1);
        (seed >> 20) as usize % n
    };
    let count = if cfg!(miri) { 200 } else { 20_000 };
    (0..count)
        .map(|_| DescriptorImageInfo {
            sampler: samplers[draw(samplers.len())],
            image_view: views[draw(views.len())],
            image_layout: vk::ImageLayout::GENERAL,
        })
        .collect()
}

fn position<T: PartialEq>(list: &[T], one: T) -> usize {
    list.iter().position(|other| *other == one).unwrap()
}

/// Whether the pair conflicts, from how the scene was made.
fn conflicts(samplers: &[vk::Sampler], views: &[vk::ImageView], info: &DescriptorImageInfo) -> bool {
    position(samplers, info.sampler).is_multiple_of(2) && !position(views, info.image_view).is_multiple_of(2)
}

#[test]
fn filters_pass_nothing_that_conflicts_and_most_of_the_rest() {
    for (size, most) in [(1, 0.0), (64, 0.01), (4096, 0.08)] {
        if cfg!(miri) && size > 64 {
            continue;
        }
        let (gate, samplers, views) = scene(size);
        let (mut legal, mut stopped) = (0_u32, 0_u32);
        for info in infos(&samplers, &views) {
            let candidate = gate.candidate(info.sampler, info.image_view);
            let conflict = conflicts(&samplers, &views, &info);
            assert_eq!(gate.conflict(info.sampler, info.image_view).is_some(), conflict);
            assert!(candidate || !conflict, "a conflict that the filters pass");
            legal += u32::from(!conflict);
            stopped += u32::from(candidate && !conflict);
        }
        let rate = f64::from(stopped) / f64::from(legal);
        println!("{size} samplers and views: the filters stop {:.2} % of what is legal", 100.0 * rate);
        assert!(rate <= most, "{size}: {rate}");
    }
}

#[test]
fn a_handle_that_another_thread_is_still_entering_is_looked_at() {
    let gate = Gate::new(false);
    gate.insert_view(8, 1, 0);
    gate.insert_view(9, 0, 1);
    // The other thread has put the handle into the table and not come to the filters yet.
    gate.samplers.insert(7, (1 << 32) | 1);
    assert!(!gate.add_sampler(7, 1, 0), "the driver returned it twice");
    let conflict = |view| gate.conflict(vk::Sampler::from_raw(7), vk::ImageView::from_raw(view));
    assert!(gate.must_look() && conflict(8).is_some());
    assert_eq!(conflict(9), None);
}

#[test]
fn what_is_created_in_place_of_what_conflicted_is_not_taken_for_it() {
    let (gate, samplers, views) = scene(200);
    let raw = |n: usize| (samplers[n].as_raw(), views[n].as_raw());
    // The same handles with the roles exchanged, as when everything is made anew.
    for n in 0..200 {
        gate.write_samplers().remove(raw(n).0);
        gate.remove_view(raw(n).1);
    }
    for n in 0..200 {
        gate.add_sampler(raw(n).0, u32::from(!n.is_multiple_of(2)), n as u32);
        assert!(gate.insert_view_in_room(raw(n).1, u32::from(n.is_multiple_of(2)), 0));
    }
    let mut taken = 0;
    let step = if cfg!(miri) { 19 } else { 1 };
    for (at, sampler) in samplers.iter().enumerate().step_by(step) {
        for (nth, view) in views.iter().enumerate().step_by(step) {
            let conflicts = !at.is_multiple_of(2) && nth.is_multiple_of(2);
            assert_eq!(gate.conflict(*sampler, *view).is_some(), conflicts);
            taken += u32::from(gate.may_conflict(*sampler, *view) && !conflicts);
        }
    }
    assert_eq!(taken, 0, "of 30,000 pairs that do not conflict");
}

/// Numbers in no order.
fn drawn(seed: &mut u64) -> u64 {
    *seed = crate::table::fold(*seed + 1);
    *seed >> 20
}

#[test]
fn filters_hold_what_may_conflict_and_nothing_that_has_gone() {
    // No more than are counted.
    const COUNT: usize = 12;
    let gate = Gate::new(false);
    // Strides of which many handles have one bit of a filter.
    let sampler_at = |n: usize| 0x5555_0000_0010 + n as u64 * 32_749;
    let view_at = |n: usize| 0x7fff_0000_0040 + n as u64 * 32_749;
    let (mut samplers, mut views) = ([None; COUNT], [None; COUNT]);
    let mut seed = 1;
    for step in 0..if cfg!(miri) { 200 } else { 20_000 } {
        // Seldom one that makes a union grow.
        let bits = 1 << (drawn(&mut seed) % if step % 50 == 0 { 8 } else { 2 });
        let (at, kind) = (drawn(&mut seed) as usize % COUNT, drawn(&mut seed) % 8);
        match (kind, samplers[at], views[at]) {
            (0..3, None, _) => assert!(gate.add_sampler(sampler_at(at), *samplers[at].insert(bits), 0)),
            (0..3, Some(_), _) => {
                assert_ne!(gate.write_samplers().remove(sampler_at(at)), Some(0));
                samplers[at] = None;
            }
            (3, Some(_), _) => gate.replace_sampler(sampler_at(at), *samplers[at].insert(bits), 1),
            (4..7, _, None) => gate.insert_view(view_at(at), *views[at].insert(bits), 0),
            (4..7, _, Some(_)) => {
                gate.remove_view(view_at(at));
                views[at] = None;
            }
            (7, _, Some(_)) => assert!(gate.insert_view_in_room(view_at(at), *views[at].insert(bits), 0)),
            _ => {}
        }
        for (n, m) in (0..COUNT).zip((0..COUNT).cycle().skip(step % COUNT)) {
            let pair = (vk::Sampler::from_raw(sampler_at(n)), vk::ImageView::from_raw(view_at(m)));
            let conflicts = samplers[n].unwrap_or(0) & views[m].unwrap_or(0) != 0;
            assert_eq!(gate.conflict(pair.0, pair.1).is_some(), conflicts, "step {step}");
            assert!(!conflicts || gate.candidate(pair.0, pair.1) && gate.must_look());
        }
        if step % 100 != 99 {
            continue;
        }
        for at in 0..COUNT {
            samplers[at].take().iter().for_each(|_| _ = gate.write_samplers().remove(sampler_at(at)));
            views[at].take().iter().for_each(|_| gate.remove_view(view_at(at)));
        }
        let holds = |filter: &BitFilter, handle| filter.both(handle, filter, handle);
        let is_held = |at| {
            holds(&gate.sampler_filter, sampler_at(at))
                || holds(&gate.any_filter, sampler_at(at))
                || holds(&gate.view_filter, view_at(at))
        };
        assert!(!(0..COUNT).any(is_held), "bits of what has gone, after step {step}");
    }
}

#[test]
fn threads_that_share_bits_find_their_own_conflicts() {
    const ROUNDS: u64 = if cfg!(miri) { 20 } else { 20_000 };
    let gate = Gate::new(false);
    assert!(gate.add_sampler(8, 1, 0));
    gate.insert_view(9, 1, 0);
    std::thread::scope(|scope| {
        for thread in 1..4_u64 {
            let gate = &gate;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // Each of its own in the tables, and of one bit in the filters.
                    let handle = |base: u64| base + 32_749 * thread;
                    let (sampler, view) = (handle(0x5555_0000_0010), handle(0x7fff_0000_0040));
                    // Now and then one that makes a union grow.
                    let more = if round % 1000 == thread { 1 << (1 + round / 1000 % 20) } else { 0 };
                    assert!(gate.add_sampler(sampler, 1 | more, 0));
                    gate.insert_view(view, 1 | more, 0);
                    let (own, other) = (vk::Sampler::from_raw(sampler), vk::Sampler::from_raw(8));
                    let (own_view, other_view) = (vk::ImageView::from_raw(view), vk::ImageView::from_raw(9));
                    assert!(gate.conflict(own, own_view).is_some() && gate.conflict(other, own_view).is_some());
                    assert!(gate.conflict(own, other_view).is_some());
                    gate.write_samplers().remove(sampler);
                    gate.remove_view(view);
                    assert!(gate.conflict(other, other_view).is_some());
                }
            });
        }
    });
}

#[test]
fn where_any_sampler_may_be_meant_the_view_alone_tells_candidates() {
    let (gate, samplers, views) = scene(64);
    let unknown = vk::Sampler::from_raw(0x1234);
    assert!(!gate.candidate(unknown, views[1]) && !gate.candidate(unknown, views[0]));
    gate.take_any_sampler();
    let ask = |unknown| views.iter().map(|view| gate.candidate(unknown, *view)).collect::<Vec<_>>();
    let every_other: Vec<bool> = (0..64).map(|n| n % 2 == 1).collect();
    assert_eq!(ask(unknown), every_other);
    assert_eq!(gate.conflict(unknown, views[1]), None, "by the tables it is still unknown");
    // Filters that are made anew stay like this.
    assert!(gate.add_sampler(0x5678, 2, 64));
    assert_eq!(ask(samplers[1]), every_other);
}

#[test]
fn the_first_conflict_is_found_wherever_it_lies() {
    let (gate, samplers, views) = scene(64);
    let legal = DescriptorImageInfo { sampler: samplers[0], image_view: views[0], ..Default::default() };
    let illegal = DescriptorImageInfo { image_view: views[1], ..legal };
    for count in [0, 1, 2, 63, 64, 65, 200] {
        let mut infos = vec![legal; count];
        assert!(gate.first_conflict(&infos).is_none());
        for at in (0..count).rev() {
            infos[at] = illegal;
            let start = gate.first_conflict(&infos).expect("there is one");
            assert_eq!(start.block + start.left.trailing_zeros() as usize, at, "of {count}");
        }
    }
}

#[test]
fn exactly_the_conflicting_samplers_are_exchanged() {
    let (gate, samplers, views) = scene(64);
    // State 0 is kept, state 2 has no choice yet, all others have one.
    for state in 0..64 {
        let choice = match state {
            0 => KEEP,
            2 => continue,
            _ => 1000 + u64::from(state),
        };
        gate.choices.publish(state, 0, choice);
    }
    let mut given = infos(&samplers, &views);
    // Not left to the draw: the one that is asked for.
    given.push(DescriptorImageInfo { sampler: samplers[2], image_view: views[1], ..Default::default() });
    let mut out = vec![MaybeUninit::uninit(); given.len()];
    let mut asked = 0;
    let first = gate.first_conflict(&given).expect("there is one");
    let changed = gate.substitute(&given, &mut out, first, &mut |pair| {
        assert_eq!((pair.state, pair.class), (2, 0));
        asked += 1;
        7
    });
    let mut expected = 0;
    for (from, to) in given.iter().zip(out) {
        // SAFETY: `substitute` writes every element.
        let to = unsafe { to.assume_init() };
        let state = position(&samplers, from.sampler) as u64;
        let sampler = match state {
            _ if !conflicts(&samplers, &views, from) => from.sampler.as_raw(),
            0 => from.sampler.as_raw(),
            2 => 7,
            state => 1000 + state,
        };
        assert_eq!(to.sampler.as_raw(), sampler);
        assert_eq!((to.image_view, to.image_layout), (from.image_view, from.image_layout));
        expected += u64::from(sampler != from.sampler.as_raw());
    }
    assert!(asked > 0);
    assert_eq!(changed, expected);
    let mut short = vec![MaybeUninit::uninit(); given.len() - 1];
    assert_eq!(gate.substitute(&given, &mut short, first, &mut |_| 7), 0, "no room");
}
