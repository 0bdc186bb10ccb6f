//! A full disk, and what the process does to itself.

use super::*;

/// Sets how large the process's files may grow, in bytes.
fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a live structure that the call reads.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

#[test]
fn a_line_that_was_cut_off_is_followed_by_whole_ones() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    // A limit on the size of files cuts a line as a full disk does: part of it is written, then nothing more.
    in_child(|| {
        let trace = open(&path);
        let body = json!({"x": "y".repeat(200)});
        trace.emit("first", &body);
        let length = fs::metadata(&path).expect("exists").len();
        limit_file_size(length + 100);
        trace.emit("cut", &body);
        assert_eq!(trace.dropped(), 1);
        assert_eq!(fs::metadata(&path).expect("exists").len(), length + 100);
        for _ in 0..10 {
            trace.emit("lost", &body);
        }
        assert_eq!(trace.dropped(), 11);
        // Room for the newline only; it must not be written twice.
        limit_file_size(length + 101);
        trace.emit("lost", &body);
        assert_eq!(trace.dropped(), 12);
        limit_file_size(1 << 30);
        trace.emit("second", &body);
        trace.emit("third", &body);
        assert_eq!(trace.dropped(), 12);
        assert!(!is_pending(libc::SIGXFSZ) && !is_blocked(libc::SIGXFSZ));
    });
    let text = text(&path);
    let (whole, torn) = whole_lines(&text);
    assert_eq!((events(&whole), torn), (vec!["first", "second", "third"], 1), "{text}");
    assert!(!text.contains("\n\n"), "{text}");
}

#[test]
fn a_process_that_closes_every_descriptor_keeps_its_own_files_clean() {
    let folder = Folder::new();
    let (path, other) = (folder.join("t.jsonl"), folder.join("other"));
    in_child(|| {
        let trace = open(&path);
        trace.emit("a", &json!({}));
        // What a daemon does; then it opens files of its own, which get the same numbers.
        let highest = descriptors_of(&path)[0];
        (3..=highest).for_each(close);
        let mut options = OpenOptions::new();
        let own: Vec<File> = (0..20).map(|_| options.create(true).append(true).open(&other).expect("opens")).collect();
        assert!(own.iter().any(|file| file.as_raw_fd() == highest));
        trace.emit("b", &json!({}));
        drop(trace);
        assert!(own.iter().all(|file| is_open(file.as_raw_fd())), "the process's files stay open");
    });
    assert_eq!(events(&records(&path)), ["a", "b"]);
    assert_eq!(text(&other), "");
}

#[test]
fn a_trace_that_keeps_losing_its_descriptor_gives_up() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    in_child(|| {
        let trace = open(&path);
        for _ in 0..20 {
            trace.emit("a", &json!({}));
            descriptors_of(&path).into_iter().for_each(close);
        }
        assert!(!trace.is_on());
    });
    assert_eq!(records(&path).len(), 9);
}

#[test]
fn a_trace_never_becomes_a_standard_descriptor() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    in_child(|| {
        (0..3).for_each(close);
        let trace = open(&path);
        trace.emit("a", &json!({}));
        assert!((0..3).all(|descriptor| !is_open(descriptor)));
        assert_eq!(trace.dropped(), 0);
    });
    assert_eq!(records(&path).len(), 1);
}

#[test]
fn the_descriptor_is_closed_on_exec_and_with_the_trace() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    assert!(descriptors_of(&path).is_empty());
    trace.emit("a", &json!({}));
    let descriptors = descriptors_of(&path);
    assert_eq!(descriptors.len(), 1);
    // SAFETY: F_GETFD takes an integer and touches no memory of ours.
    let flags = unsafe { libc::fcntl(descriptors[0], libc::F_GETFD) };
    assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    drop(trace);
    assert!(descriptors_of(&path).is_empty());
}
