use std::collections::HashMap;
use std::sync::Arc;

use super::*;

#[test]
fn table_behaves_like_a_map_under_churn() {
    let table = FlatTable::new(8);
    let mut model = HashMap::new();
    let mut seed = 1_u64;
    for step in 0..if cfg!(miri) { 300 } else { 200_000_u64 } {
        seed = fold(seed.wrapping_add(step));
        // Strided keys, as a driver's pool hands them out.
        let key = 0x7f00_0000_1000 + (seed % 500) * 0x140;
        match seed >> 60 {
            0..7 => assert_eq!(table.insert(key, step + 1), model.insert(key, step + 1).unwrap_or(0)),
            7..14 => assert_eq!(table.remove(key), model.remove(&key).unwrap_or(0)),
            _ => assert_eq!(table.get(key), model.get(&key).copied().unwrap_or(0)),
        }
    }
    assert_eq!(table.len(), model.len());
    let mut seen = 0;
    table.for_each(&mut |key, value| {
        assert_eq!(model.get(&key), Some(&value));
        seen += 1;
    });
    assert_eq!(seen, model.len());
    let published = table.writer.0.lock().owned.len();
    assert!(published <= 10, "churn of a bounded set grew the table {published} times");
}

#[test]
fn null_and_reserved_keys_are_never_found() {
    let table = FlatTable::new(8);
    assert_eq!(table.insert(0, 1), 0);
    table.insert(5, 7);
    table.remove(5);
    assert_eq!((table.get(0), table.get(5), table.len()), (0, 0, 0));
    // The words that stand for a slot without a key and for a removed key, and two keys that start at the slot where the second would:
    // removing the first leaves its mark.
    let (empty, removed) = (EMPTY, TOMBSTONE);
    let home = |key: u64| fold(key) as usize & 63;
    let keys: Vec<u64> = (1..).filter(|key| home(*key) == home(removed)).take(2).collect();
    let table = FlatTable::new(64);
    assert_eq!((table.insert(empty, 1), table.insert(removed, 1), table.len()), (0, 0, 0));
    keys.iter().for_each(|key| _ = table.insert(*key, 7));
    table.remove(keys[0]);
    assert_eq!((table.remove(empty), table.remove(removed), table.len()), (0, 0, 1));
    assert_eq!((table.get(0), table.get(keys[0]), table.get(keys[1])), (0, 0, 7));
}

#[test]
fn handles_of_one_pool_share_no_bit_of_a_filter() {
    let (strides, count) = if cfg!(miri) { (8..64, 128) } else { (8..8192, 4096) };
    let mut strides: Vec<u64> = strides.step_by(8).chain((14..40).map(|power| 1 << power)).collect();
    strides.extend([1, 2, 3, 4, 0x1_0110]);
    for stride in strides {
        let handles = || (0..count).map(|n| 0x7fff_a000_0040 + n * stride);
        let filter = BitFilter::new(false);
        filter.reset(|add| handles().step_by(2).for_each(add));
        let held = handles().filter(|handle| filter.both(*handle, &filter, *handle)).count();
        assert_eq!(held, handles().step_by(2).count(), "of {count} handles {stride} bytes apart");
    }
}

#[test]
fn a_bit_is_cleared_with_its_last_key_and_never_before() {
    let keys = |count: u64| (0..count).map(|n| 0x7fff_a000_0040 + n * 32_749);
    for count in [1, 2, 14, 15, 16, 17, 40] {
        let mut counts = Counts::new();
        assert_eq!(keys(count).filter(|key| counts.add(*key)).count(), 1, "they share a bit");
        assert_eq!(keys(count - 1).filter(|key| counts.remove(*key)).count(), 0, "of {count}");
        let last = keys(count).next_back().unwrap();
        // From there on they are too many to be counted.
        assert_eq!(counts.remove(last), count < 15);
    }
}

#[test]
fn handle_map_drops_each_record_once() {
    let record = Arc::new(3);
    let map = HandleMap::new();
    map.insert(8, Arc::clone(&record));
    map.insert(8, Arc::clone(&record));
    map.insert(9, Arc::clone(&record));
    map.insert(0, Arc::clone(&record));
    assert_eq!(Arc::strong_count(&record), 3);
    // SAFETY: nothing removes the handle meanwhile.
    assert_eq!(unsafe { map.get(8) }, Some(&3));
    map.remove(8);
    map.remove(8);
    assert_eq!(Arc::strong_count(&record), 2);
    drop(map);
    assert_eq!(Arc::strong_count(&record), 1);
}

#[test]
fn append_vec_keeps_addresses() {
    let list = AppendVec::new();
    list.push(String::from("first"));
    let first = list.get(0).map(std::ptr::from_ref);
    let count = if cfg!(miri) { 200 } else { 10_000 };
    for n in 1..count {
        assert_eq!(list.push(n.to_string()), Some(n));
    }
    assert_eq!(list.get(0).map(std::ptr::from_ref), first);
    assert!(list.iter().skip(1).enumerate().all(|(n, text)| *text == (n + 1).to_string()));
    assert!(list.get(count).is_none());
}

#[test]
fn readers_see_what_happened_before_while_others_churn() {
    let table = FlatTable::new(8);
    for key in 1..=64 {
        table.insert(key, key + 1000);
    }
    std::thread::scope(|scope| {
        for writer in 0..2_u64 {
            let table = &table;
            scope.spawn(move || {
                for round in 0..if cfg!(miri) { 30 } else { 20_000 } {
                    let key = 1_000_000 + writer * 100_000 + round % 700;
                    if round % 3 == 2 {
                        table.remove(key)
                    } else {
                        table.insert(key, 1)
                    };
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 0..if cfg!(miri) { 100 } else { 200_000_u64 } {
                    let key = 1 + round % 64;
                    assert_eq!(table.get(key), key + 1000);
                }
            });
        }
    });
}

#[test]
fn a_dense_map_keeps_what_is_inserted_and_nothing_else() {
    let map = HandleMap::dense();
    let handle = |n: u64| 0x7f00_0000_0040 + n * 0x140;
    let (count, slots) = if cfg!(miri) { (90, 128) } else { (3000, 4096) };
    (0..count).for_each(|n| map.insert(handle(n), Arc::new(n)));
    (0..count).step_by(3).for_each(|n| map.remove(handle(n)));
    for n in 0..2 * count {
        // SAFETY: nothing is removed meanwhile.
        let found = unsafe { map.get(handle(n)) }.copied();
        assert_eq!(found, (n < count && n % 3 != 0).then_some(n));
    }
    assert_eq!(map.table.slots().len(), slots, "three quarters of it are taken");
}

#[test]
fn a_look_at_whole_buckets_finds_what_a_search_does() {
    let (table, other) = (FlatTable::new(LARGE), FlatTable::new(LARGE));
    let count = if cfg!(miri) { 60 } else { 2000 };
    let handle = |n: u64| 0x7f00_0000_0040 + n * 0x140;
    (1..count).for_each(|n| _ = (table.insert(handle(n), n), other.insert(handle(n), n + 1)));
    (1..count).step_by(5).for_each(|n| _ = table.remove(handle(n)));
    assert!(table.reader().suits_buckets());
    let keys = || (0..2 * count).map(handle).chain([0, EMPTY, TOMBSTONE]);
    for (key, other_key) in keys().zip(keys().rev()) {
        let (here, there) = table.reader().both_in_buckets(key, other.reader(), other_key);
        if !matches!(key, EMPTY | TOMBSTONE) && !matches!(other_key, EMPTY | TOMBSTONE) {
            assert_eq!((here, there), (table.get(key), other.get(other_key)), "{key:#x} and {other_key:#x}");
        }
    }
}
