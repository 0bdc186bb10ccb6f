use super::*;

/// The resolution of a key, made of these samplers.
fn made(resolutions: &Resolutions, hash: u64, samplers: &[u64]) -> Arc<Resolution> {
    let key = Key { hash, ..Key::default() };
    let (since, names) = (resolutions.gone().into(), Names::of(samplers.iter().copied()));
    Arc::new(Resolution { since, names, key, is_lasting: true, ..Resolution::default() })
}

/// The same, kept for all and at a bind point.
fn kept(resolutions: &Resolutions, found: &mut LastFound, hash: u64, samplers: &[u64]) -> Arc<Resolution> {
    let resolution = made(resolutions, hash, samplers);
    resolutions.insert(&resolution);
    found.keep(resolutions, Arc::clone(&resolution));
    resolution
}

/// Whether one is found, at the bind point and by all.
fn is_found(resolutions: &Resolutions, found: &mut LastFound, key: &Key) -> [bool; 2] {
    let here = found.take(resolutions, key);
    here.iter().for_each(|one| found.put_back(Arc::clone(one)));
    [here.is_some(), resolutions.get(key).is_some()]
}

#[test]
fn what_was_made_of_a_sampler_goes_with_it_and_all_else_stays() {
    let (resolutions, mut found) = (Resolutions::default(), LastFound::default());
    let one = kept(&resolutions, &mut found, 1, &[8, 16]).key;
    let other = kept(&resolutions, &mut found, 2 << 40, &[16, 24]).key;
    resolutions.forget_sampler(32);
    assert_eq!([one, other].map(|key| is_found(&resolutions, &mut found, &key)), [[true; 2]; 2], "none is of it");
    resolutions.forget_sampler(8);
    assert_eq!([one, other].map(|key| is_found(&resolutions, &mut found, &key)), [[false; 2], [true; 2]]);
    assert_eq!(resolutions.len(), 1);

    // Of another sampler with its handle: found, and gone with that.
    kept(&resolutions, &mut found, 1, &[8, 16]);
    assert_eq!([one, other].map(|key| is_found(&resolutions, &mut found, &key)), [[true; 2]; 2]);
    resolutions.forget_sampler(8);
    assert_eq!([one, other].map(|key| is_found(&resolutions, &mut found, &key)), [[false; 2], [true; 2]]);
    resolutions.forget_sampler(16);
    assert_eq!(is_found(&resolutions, &mut found, &other), [false; 2]);
    assert_eq!(resolutions.len(), 0);
}

#[test]
fn what_was_made_of_very_many_samplers_goes_with_any() {
    let (resolutions, mut found) = (Resolutions::default(), LastFound::default());
    let more: Vec<u64> = (1..=2 * NAMES as u64).collect();
    let few = kept(&resolutions, &mut found, 1, &more[..NAMES / 2]).key;
    let many = kept(&resolutions, &mut found, 2 << 40, &more).key;
    let hashes: Vec<u16> = more.iter().map(|sampler| hash_of(*sampler)).collect();
    let stranger = (1..).find(|sampler| !hashes.contains(&hash_of(*sampler))).unwrap_or_default();
    resolutions.forget_sampler(stranger);
    assert_eq!([few, many].map(|key| is_found(&resolutions, &mut found, &key)), [[true; 2], [false; 2]]);
    assert_eq!(resolutions.len(), 1);
}

#[test]
fn what_is_at_work_when_a_sampler_goes_is_not_kept() {
    let (resolutions, mut found) = (Resolutions::default(), LastFound::default());
    let [one, other] = [made(&resolutions, 1, &[8]), made(&resolutions, 2 << 40, &[16])];
    resolutions.forget_sampler(8);
    for resolution in [&one, &other] {
        resolutions.insert(resolution);
        found.keep(&resolutions, Arc::clone(resolution));
    }
    assert_eq!(is_found(&resolutions, &mut found, &one.key), [false; 2]);
    assert_eq!(is_found(&resolutions, &mut found, &other.key), [true; 2]);
    assert_eq!(resolutions.len(), 1, "of samplers that live");
}

#[test]
fn a_bind_point_lets_go_of_what_went_when_it_is_begun() {
    let (resolutions, mut found) = (Resolutions::default(), LastFound::default());
    let [one, other] = [1, 2_u64].map(|number| kept(&resolutions, &mut found, number << 40, &[8 * number]));
    let holders = || [&one, &other].map(Arc::strong_count);
    assert_eq!(holders(), [3, 3]);
    resolutions.forget_sampler(8);
    assert_eq!(holders(), [2, 3], "what was recorded may read it");
    found.begin(&resolutions);
    assert_eq!(holders(), [1, 3]);
}

#[test]
fn no_thread_keeps_what_was_made_of_a_sampler_that_another_one_destroyed() {
    const ROUNDS: u64 = 20_000;
    const SAMPLERS: u64 = 4;
    let resolutions = Resolutions::default();
    // How often each sampler began to go, and was gone.
    let [begun, gone] = [(); 2].map(|()| [(); SAMPLERS as usize].map(|()| AtomicU64::new(0)));
    let (start, is_over) = (std::sync::Barrier::new(3), AtomicU64::new(0));
    let count = |of: &[AtomicU64], sampler: u64| of[sampler as usize].load(Ordering::SeqCst);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            for sampler in (0..ROUNDS).map(|round| round % SAMPLERS) {
                begun[sampler as usize].fetch_add(1, Ordering::SeqCst);
                resolutions.forget_sampler(sampler);
                gone[sampler as usize].fetch_add(1, Ordering::SeqCst);
            }
            is_over.store(1, Ordering::SeqCst);
        });
        for thread in 0..2 {
            let (resolutions, begun, gone, start, is_over) = (&resolutions, &begun, &gone, &start, &is_over);
            scope.spawn(move || {
                let mut found = LastFound::default();
                start.wait();
                for (round, sampler) in (0_u64..).map(|round| (round, round % SAMPLERS)) {
                    if is_over.load(Ordering::SeqCst) != 0 {
                        break;
                    }
                    let resolution = made(resolutions, (thread << 62) | ((round % (1 << 20)) << 36), &[sampler]);
                    let before = count(begun, sampler);
                    resolutions.insert(&resolution);
                    found.keep(resolutions, Arc::clone(&resolution));
                    // One that began to go after that was made.
                    if count(gone, sampler) > before {
                        assert_eq!(is_found(resolutions, &mut found, &resolution.key), [false; 2]);
                    }
                }
            });
        }
    });
    (0..SAMPLERS).for_each(|sampler| resolutions.forget_sampler(sampler));
    assert_eq!(resolutions.len(), 0, "of samplers that are gone");
}
