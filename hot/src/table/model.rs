//! Models of the lock-free readers, run by loom through every interleaving that the memory model allows (up to a bound of
//! preemptions): `RUSTFLAGS="--cfg loom" cargo test -p samplin-hot --lib model`.

use loom::sync::Arc;
use loom::thread;

use super::{BitFilter, Counts, FlatTable, fold};

/// The smallest table: two keys, then it grows.
const CAPACITY: usize = 8;

/// `count` keys that start at the same slot of the smallest table, and in the twice as large one.
fn colliding(count: usize) -> Vec<u64> {
    let home = |key: u64| fold(key) as usize & (2 * CAPACITY - 1);
    (1..).filter(|key| home(*key) == home(1)).take(count).collect()
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Runs `write` beside a thread that looks up `key`, and returns what that one found.
fn found_beside(table: &Arc<FlatTable>, key: u64, write: impl FnOnce(&FlatTable)) -> u64 {
    let reader = Arc::clone(table);
    let reading = thread::spawn(move || reader.get(key));
    write(table);
    reading.join().unwrap()
}

#[test]
fn a_key_that_appears_has_its_value_or_none() {
    check(|| {
        let table = Arc::new(FlatTable::new(CAPACITY));
        let found = found_beside(&table, 5, |table| _ = table.insert(5, 50));
        assert!(found == 0 || found == 50, "{found}");
        assert_eq!(table.get(5), 50);
    });
}

#[test]
fn growth_hides_no_key() {
    check(|| {
        let table = Arc::new(FlatTable::new(CAPACITY));
        table.insert(1, 10);
        let found = found_beside(&table, 1, |table| (2..4).for_each(|key| _ = table.insert(key, key * 10)));
        assert_eq!(found, 10);
        assert_eq!((table.get(1), table.get(2), table.get(3)), (10, 20, 30));
    });
}

#[test]
fn removing_a_key_hides_none_behind_it() {
    let keys = colliding(2);
    check(move || {
        let table = Arc::new(FlatTable::new(CAPACITY));
        keys.iter().for_each(|key| _ = table.insert(*key, key * 10));
        let found = found_beside(&table, keys[1], |table| _ = table.remove(keys[0]));
        assert_eq!(found, keys[1] * 10);
        assert_eq!(table.get(keys[0]), 0);
    });
}

#[test]
fn a_slot_that_is_used_again_hides_no_key_and_lends_no_value() {
    let keys = colliding(3);
    check(move || {
        let table = Arc::new(FlatTable::new(2 * CAPACITY));
        keys.iter().take(2).for_each(|key| _ = table.insert(*key, key * 10));
        let found = found_beside(&table, keys[1], |table| {
            table.remove(keys[0]);
            table.insert(keys[2], keys[2] * 10);
        });
        assert_eq!(found, keys[1] * 10);
        assert_eq!(table.get(keys[2]), keys[2] * 10);
    });
}

#[test]
fn a_key_in_a_used_slot_never_has_the_value_of_the_one_before() {
    let keys = colliding(2);
    check(move || {
        let table = Arc::new(FlatTable::new(CAPACITY));
        table.insert(keys[0], keys[0] * 10);
        let found = found_beside(&table, keys[1], |table| {
            table.remove(keys[0]);
            table.insert(keys[1], keys[1] * 10);
        });
        assert!(found == 0 || found == keys[1] * 10, "{found}");
    });
}

#[test]
fn two_writers_lose_nothing() {
    check(|| {
        let table = Arc::new(FlatTable::new(CAPACITY));
        let other = Arc::clone(&table);
        let writing = thread::spawn(move || (3..5).for_each(|key| _ = other.insert(key, key * 10)));
        (1..3).for_each(|key| _ = table.insert(key, key * 10));
        writing.join().unwrap();
        assert!((1..5).all(|key| table.get(key) == key * 10));
        assert_eq!(table.len(), 4);
    });
}

fn holds(filter: &BitFilter, key: u64) -> bool {
    filter.both(key, filter, key)
}

#[test]
fn a_filter_that_is_made_anew_never_misses_what_stays() {
    check(|| {
        let filter = Arc::new(BitFilter::new(false));
        [1, 2].into_iter().for_each(|key| _ = filter.insert(key));
        let reader = Arc::clone(&filter);
        let reading = thread::spawn(move || holds(&reader, 1));
        filter.reset(|add| [1, 3].into_iter().for_each(add));
        assert!(reading.join().unwrap());
        assert!(holds(&filter, 1) && holds(&filter, 3));
    });
}

#[test]
fn keys_that_come_and_go_hide_none_that_shares_their_bit() {
    let (stays, mut counts) = (1, Counts::new());
    assert!(counts.add(stays));
    let goes = (2..).find(|key| !counts.add(*key)).unwrap();
    check(move || {
        let (filter, mut counts) = (Arc::new(BitFilter::new(false)), Counts::new());
        let add = |counts: &mut Counts, key| _ = counts.add(key).then(|| filter.insert(key));
        add(&mut counts, goes);
        add(&mut counts, stays);
        let reader = Arc::clone(&filter);
        let reading = thread::spawn(move || holds(&reader, stays));
        if counts.remove(goes) {
            filter.remove(goes);
        }
        add(&mut counts, 3);
        if counts.remove(3) {
            filter.remove(3);
        }
        assert!(reading.join().unwrap());
        assert!(holds(&filter, stays) && !holds(&filter, 3));
        assert!(counts.remove(stays));
    });
}
