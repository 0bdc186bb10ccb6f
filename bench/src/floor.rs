//! What a loop costs that does nothing but the loads which a call cannot do without, with the tables of the layer and no layer.

use std::hint::black_box;

use samplin_hot::table::{BitFilter, FlatTable};

use crate::sample::{CALLS, time};

/// Descriptors of a call.
const ARRAY: usize = 256;

/// What [`measure`] measures.
pub(crate) const ROWS: [&str; 4] = [
    "two bits of a pair, per descriptor",
    "two words of a pair by hash, per descriptor",
    "copy of a descriptor's info",
    "a command buffer by hash and three sets compared, per bind",
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
        black_box(pairs.iter().fold(0, |all, pair| all | needs.get(pair[0]) & lacks.get(pair[1])));
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
        let record = &records[table.get(*buffer) as usize - 1];
        black_box(record[0] == 1 && record[1..] == *sets);
    });
    [each(looked), each(found), each(copied), bound]
}
