//! What a loop costs that does nothing but the loads which a call cannot do without, with the tables of the layer and no layer.

use std::hint::black_box;

use ash::vk;
use samplin_hot::counters::Path;
use samplin_hot::recent::Words;
use samplin_hot::table::{BitFilter, FastMap, FlatTable};
use samplin_hot::{Counters, Recent};
use samplin_testkit::context::Context;

use crate::sample::{CALLS, time};

/// Descriptors of a call.
const ARRAY: usize = 256;

/// What [`measure`] measures.
pub(crate) const ROWS: [&str; 9] = [
    "two bits of a pair, per descriptor",
    "two words of a pair by hash, per descriptor",
    "copy of a descriptor's info",
    "a command buffer by hash and three sets compared, per bind",
    "a template of one: by hash, two bits, counted",
    "four buffers: their types",
    "a sampler seen before: compared, entered, removed",
    "a sampler never seen: remembered, entered, removed",
    "a view: its image by hash, compared, entered, removed",
];

/// Handles as a driver hands them out: evenly strided.
fn handles(count: usize, stride: u64) -> Vec<u64> {
    (1..=count as u64).map(|number| 0x7f00_0000_0000 + number * stride).collect()
}

/// Pairs drawn from two lists.
fn pairs(samplers: &[u64], views: &[u64]) -> Vec<Vec<[u64; 3]>> {
    let mut word = 1_u64;
    let mut draw = |from: &[u64]| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from[(word >> 33) as usize % from.len()]
    };
    (0..CALLS).map(|_| (0..ARRAY).map(|_| [draw(samplers), draw(views), 5]).collect()).collect()
}

/// One sample of each row for as many samplers and views, in ns.
pub(crate) fn measure(size: usize) -> [f64; ROWS.len()] {
    let (samplers, views) = (handles(size, 64), handles(size, 192));
    let (near, far) = (BitFilter::new(false), BitFilter::new(false));
    let (needs, lacks) = (FlatTable::new(16), FlatTable::new(16));
    for (at, (sampler, view)) in samplers.iter().zip(&views).enumerate() {
        needs.insert(*sampler, at as u64 + 1);
        lacks.insert(*view, at as u64 + 1);
        // Every other one may conflict, as in the rows.
        if at % 2 == 0 {
            near.insert(*sampler);
            far.insert(*view);
        }
    }
    let calls = pairs(&samplers, &views);
    let each = |ns: f64| ns / ARRAY as f64;
    let looked = time(&calls, |pairs| {
        let all = pairs.iter().fold(0, |all, pair| all << 1 | u64::from(near.both(pair[0], &far, pair[1])));
        black_box(all);
    });
    let found = time(&calls, |pairs| {
        let (needs, lacks) = (needs.reader(), lacks.reader());
        let words = |pair: &[u64; 3]| match needs.suits_buckets() && lacks.suits_buckets() {
            true => needs.both_in_buckets(pair[0], lacks, pair[1]),
            false => (needs.get(pair[0]), lacks.get(pair[1])),
        };
        black_box(pairs.iter().map(words).fold(0, |all, (need, lack)| all | need & lack));
    });
    let mut copy = vec![[0; 3]; ARRAY];
    let copied = time(&calls, |pairs| {
        copy.copy_from_slice(pairs);
        black_box(&copy);
    });
    // Command buffers by handle, each with the three sets that are bound.
    let buffers = handles(2, 4096);
    let table = FlatTable::new(16);
    let records: Vec<Box<[u64; 4]>> = buffers.iter().map(|_| Box::new([1, 2, 3, 4])).collect();
    buffers.iter().enumerate().for_each(|(at, buffer)| _ = table.insert(*buffer, at as u64 + 1));
    let sets = [2, 3, 4];
    let binds: Vec<(u64, [u64; 3])> = (0..CALLS).map(|_| (buffers[0], sets)).collect();
    let bound = time(&binds, |(buffer, sets)| {
        let record = &records[table.get_in_line(*buffer) as usize - 1];
        black_box(record[0] == 1 && record[1..] == *sets);
    });
    let [template, four] = [template(&near, &far, &calls), four_buffers()];
    let [again, new, view] = [sampler(1, &|_| {}), sampler(u64::MAX, &|_| {}), view(&needs)];
    [each(looked), each(found), each(copied), bound, template, four, again, new, view]
}

/// A device is found by comparing the word that its handle begins with.
const KEY: u64 = 0x7f00_1234_5000;

/// What a template of one pair cannot do without: device, template, the bits of the pair, a counter.
fn template(near: &BitFilter, far: &BitFilter, calls: &[Vec<[u64; 3]>]) -> f64 {
    let (templates, counters) = (FlatTable::new(16), Counters::new());
    templates.insert(KEY, 1);
    counters.add(Path::Template, 1, 0);
    let calls: Vec<_> = calls.iter().map(|pairs| (KEY, KEY, pairs[0])).collect();
    time(&calls, |(device, template, pair)| {
        if *device == KEY && templates.get_in_line(*template) == 1 && !near.both(pair[0], far, pair[1]) {
            black_box(counters.add_here(Path::Template, 1));
        }
    })
}

/// What four writes of buffers cannot do without: device, and the type and count of each, in writes of 64 bytes.
fn four_buffers() -> f64 {
    const BUFFER: u64 = 6 << 32;
    let write = [1, 2, 3, 4, BUFFER, 5, 6, 7];
    time(&vec![(KEY, [write; 4]); CALLS], |(device, writes)| {
        black_box(*device == KEY && writes.iter().all(|write| write[4] >= BUFFER));
    })
}

/// What [`measure_over`] measures.
pub(crate) const ROWS_OVER: [&str; 2] =
    ["a sampler seen before, around the driver's calls", "a sampler never seen, around the driver's calls"];

/// What the loops of samplers add to a driver's own creation and destruction, whose code and data take the caches and predictors
/// between two of their turns; in ns.
pub(crate) fn measure_over(context: &Context) -> [f64; ROWS_OVER.len()] {
    [1, u64::MAX].map(|states| {
        let driver = |state: u64| {
            let info = vk::SamplerCreateInfo::default().max_lod((state % (1 << 24)) as f32);
            // SAFETY: a valid create info; the sampler is not in use.
            unsafe {
                let sampler = context.device().create_sampler(&info, None).expect("a sampler");
                context.device().destroy_sampler(sampler, None);
            }
        };
        let mut nth = 0_u64;
        let alone = time(&[(); CALLS], |()| {
            nth += 1;
            driver(nth % states);
        });
        sampler(states, &driver) - alone
    })
}

/// What a sampler that is created and destroyed cannot do without: device, the look for its create info, an entry by its handle and the
/// count of its state under a lock, and both taken back; of `states` that are not seen again also what leads to the next one. `driver`
/// is what comes before it is entered.
fn sampler(states: u64, driver: &dyn Fn(u64)) -> f64 {
    let (recent, samplers) = (Recent::new(), FlatTable::with(64, FastMap::<u64, [u64; 16]>::default()));
    let words = |state: u64| -> Words { [1, 2, 3, 4, 5, 6, state, 8] };
    recent.set(&words(0), 1);
    samplers.write().with().insert(0, [0; 16]);
    let mut nth = 0_u64;
    time(&[(KEY, KEY + 64); CALLS], |(device, sampler)| {
        nth += 1;
        let state = nth % states;
        let words = black_box(words(state));
        let is_known = *device == KEY && recent.get(&words) != 0;
        driver(state);
        let mut table = samplers.write();
        if !is_known {
            // Its state by its hash, and the oldest one of 512 that have no sampler goes.
            table.with().insert(state, [state; 16]);
            table.with().remove(&state.wrapping_sub(512));
        }
        if let Some(row) = table.with().get_mut(&state) {
            row[0] += 1;
        }
        table.insert(*sampler, state + 1);
        drop(table);
        if !is_known {
            recent.set(&words, state + 1);
        }
        let mut table = samplers.write();
        let state = table.remove(*sampler) - 1;
        if let Some(row) = table.with().get_mut(&state) {
            row[0] -= 1;
        }
    })
}

/// What a view cannot do without: device, its image, the look for its create info, an entry by its handle under a lock, and its removal.
fn view(images: &FlatTable) -> f64 {
    let (recent, views) = (Recent::new(), FlatTable::new(64));
    let image = handles(1, 64)[0];
    let words = |image: u64| -> Words { [images.get_in_line(image), 2, 3, 4, 5, 6, 7, 8] };
    recent.set(&words(image), 1);
    time(&[(KEY, image, KEY + 64); CALLS], |(device, image, view)| {
        let known = if *device == KEY { recent.get(&black_box(words(*image))) } else { 0 };
        views.insert(*view, known);
        black_box(views.remove(*view));
    })
}
