//! Devices, pipes, inherited descriptors.

use super::*;

#[test]
fn a_full_device_drops_each_record_after_one_attempt() {
    let trace = open(Path::new("/dev/full"));
    for _ in 0..100 {
        trace.emit("a", &json!({"x": "y".repeat(10_000)}));
    }
    assert_eq!(trace.dropped(), 100);
    assert!(trace.is_on(), "the disk may have room again later");
}

#[test]
fn the_null_device_takes_everything() {
    let trace = open(Path::new("/dev/null"));
    trace.emit("a", &json!({}));
    assert_eq!(trace.dropped(), 0);
}

#[test]
fn a_fifo_without_a_reader_is_refused_and_does_not_wait() {
    let folder = Folder::new();
    let path = folder.join("fifo");
    make_fifo(&path);
    assert!(refusal(&path).contains("without a reader"));
}

#[test]
fn a_fifo_loses_records_when_it_is_full_and_goes_on_when_there_is_room() {
    let folder = Folder::new();
    let path = folder.join("fifo");
    make_fifo(&path);
    let mut options = OpenOptions::new();
    let mut reader = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path).expect("opens the end to read");
    let trace = open(&path);
    // Larger than what a pipe takes as a whole, so that one is cut off.
    let large = json!({"x": "y".repeat(10_000)});
    for _ in 0..20 {
        trace.emit("a", &large);
    }
    let lost = trace.dropped();
    assert!(lost > 0 && lost < 20, "{lost}");
    let mut taken = Vec::new();
    let _ = reader.read_to_end(&mut taken);
    trace.emit("b", &large);
    trace.emit("c", &json!({}));
    let _ = reader.read_to_end(&mut taken);
    assert_eq!(trace.dropped(), lost);
    let (whole, torn) = whole_lines(std::str::from_utf8(&taken).expect("UTF-8"));
    assert_eq!(whole.len() as u64, 22 - lost);
    assert_eq!(torn, 1);
    assert!(events(&whole).ends_with(&["a", "b", "c"]), "{:?}", events(&whole));
    // The reader goes away, and the process lives on.
    drop(reader);
    trace.emit("d", &json!({}));
    assert_eq!(trace.dropped(), lost + 1);
}

#[test]
fn standard_error_gets_lines() {
    for target in [TraceTarget::Stderr, TraceTarget::Path("/dev/stderr".to_owned())] {
        let (mut reader, writer) = pipe();
        in_child(|| {
            let (trace, problems) = Trace::open(&target, TraceLevel::All);
            assert!(problems.is_empty() && trace.is_on() && trace.path().is_none());
            // Whatever it stands for by then.
            redirect(&writer, 2);
            trace.emit("a", &json!({}));
            trace.emit("b", &json!({}));
            drop(trace);
            assert!(is_open(2), "standard error is the process's");
        });
        drop(writer);
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("reads");
        let (whole, torn) = whole_lines(&said);
        assert_eq!((events(&whole), torn), (vec!["a", "b"], 0), "{said}");
    }
}

#[test]
fn a_closed_standard_error_is_survived() {
    in_child(|| {
        let (trace, _) = Trace::open(&TraceTarget::Stderr, TraceLevel::All);
        close(2);
        trace.emit("a", &json!({}));
        assert_eq!(trace.dropped(), 1);
    });
}

#[test]
fn an_inherited_descriptor_is_copied() {
    let (mut reader, writer) = pipe();
    let trace = open(Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())));
    drop(writer);
    trace.emit("a", &json!({}));
    assert!(trace.path().is_none());
    drop(trace);
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("reads to the end: the copy is closed with the trace");
    assert_eq!(events(&whole_lines(&said).0), ["a"], "{said}");
    let read_only = File::open("/dev/null").expect("opens");
    let path = format!("/dev/fd/{}", read_only.as_raw_fd());
    assert!(refusal(Path::new(&path)).contains("not open for writing"));
}

#[test]
fn a_pipe_without_a_reader_does_not_end_the_process() {
    in_child(|| {
        // Rust's programs ignore the signal; a C program does not.
        // SAFETY: this restores the default action, in a child that has one thread.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (reader, writer) = pipe();
        let trace = open(Path::new(&format!("/proc/self/fd/{}", writer.as_raw_fd())));
        drop(reader);
        for _ in 0..3 {
            trace.emit("a", &json!({}));
        }
        assert_eq!(trace.dropped(), 3);
        assert!(!is_pending(libc::SIGPIPE) && !is_blocked(libc::SIGPIPE));
    });
}

#[test]
fn a_signal_of_the_process_stays_pending_and_one_of_the_traces_does_not() {
    for is_raised in [true, false] {
        in_child(|| {
            block(libc::SIGPIPE);
            if is_raised {
                // SAFETY: raise sends a signal that this thread blocks.
                unsafe { libc::raise(libc::SIGPIPE) };
            }
            let (reader, writer) = pipe();
            let trace = open(Path::new(&format!("/proc/self/fd/{}", writer.as_raw_fd())));
            drop(reader);
            trace.emit("a", &json!({}));
            assert_eq!(trace.dropped(), 1);
            assert_eq!(is_pending(libc::SIGPIPE), is_raised);
            assert!(is_blocked(libc::SIGPIPE));
        });
    }
}
