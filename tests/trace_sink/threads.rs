//! Threads and forks.

use super::*;

#[test]
fn eight_threads_write_whole_lines_with_numbers_of_their_own() {
    const THREADS: usize = 8;
    const RECORDS: usize = 1000;
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let trace = &trace;
            scope.spawn(move || {
                for record in 0..RECORDS {
                    trace.emit("a", &json!({"thread": thread, "record": record, "fill": "x".repeat(record)}));
                }
            });
        }
    });
    assert_eq!(trace.dropped(), 0);
    let records = records(&path);
    assert_eq!(records.len(), THREADS * RECORDS);
    let seqs: HashSet<_> = records.iter().map(|record| record["seq"].as_u64().expect("a number")).collect();
    assert_eq!(seqs.len(), THREADS * RECORDS);
    assert_eq!(seqs.iter().max(), Some(&(THREADS as u64 * RECORDS as u64 - 1)));
    let tids: HashSet<_> = records.iter().map(|record| record["tid"].as_u64()).collect();
    assert_eq!(tids.len(), THREADS);
    // Each thread's own records are in order, and their numbers and times rise.
    for thread in 0..THREADS {
        let own: Vec<_> = records.iter().filter(|record| record["thread"] == thread).collect();
        assert!(own.iter().enumerate().all(|(index, record)| record["record"] == index));
        let number = |record: &Value, member: &str| record[member].as_u64().expect("a number");
        assert!(own.windows(2).all(|pair| number(pair[0], "seq") < number(pair[1], "seq")));
        assert!(own.windows(2).all(|pair| number(pair[0], "t_ns") <= number(pair[1], "t_ns")));
    }
}

#[test]
fn a_file_opened_by_many_threads_at_once_is_opened_once() {
    let folder = Folder::new();
    for round in 0..50 {
        let path = folder.join(format!("a/{round}/t.jsonl"));
        let trace = open(&path);
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    trace.emit("a", &json!({}));
                });
            }
        });
        assert_eq!(records(&path).len(), 8);
        assert_eq!(descriptors_of(&path).len(), 1);
    }
}

#[test]
fn a_forked_child_goes_on_in_the_same_file_with_its_own_id() {
    let folder = Folder::new();
    let trace = open(&folder.join("%p.jsonl"));
    let path = trace.path().expect("a file").to_owned();
    trace.emit("parent", &json!({}));
    std::thread::scope(|scope| {
        // Another thread is in the middle of writing when the forks happen.
        scope.spawn(|| {
            for _ in 0..2000 {
                trace.emit("thread", &json!({"fill": "x".repeat(100)}));
            }
        });
        for _ in 0..10 {
            in_child(|| {
                for _ in 0..100 {
                    trace.emit("child", &json!({"fill": "y".repeat(100)}));
                }
                assert_eq!(trace.dropped(), 0);
            });
        }
    });
    let records = records(&path);
    let of = |event: &str| records.iter().filter(|record| record["event"] == event).collect::<Vec<_>>();
    assert_eq!((of("parent").len(), of("thread").len(), of("child").len()), (1, 2000, 1000));
    let pids: HashSet<_> = of("child").iter().map(|record| record["pid"].as_u64()).collect();
    assert_eq!(pids.len(), 10);
    assert!(of("child").iter().all(|record| record["pid"] != std::process::id() && record["tid"] == record["pid"]));
    let names: HashSet<_> = records.iter().map(|record| (record["pid"].as_u64(), record["seq"].as_u64())).collect();
    assert_eq!(names.len(), records.len(), "pid and seq name a record");
}

#[test]
fn a_child_forked_before_the_first_record_opens_the_same_file() {
    let folder = Folder::new();
    let trace = open(&folder.join("%p.jsonl"));
    in_child(|| trace.emit("child", &json!({})));
    trace.emit("parent", &json!({}));
    assert_eq!(events(&records(trace.path().expect("a file"))), ["child", "parent"]);
}
