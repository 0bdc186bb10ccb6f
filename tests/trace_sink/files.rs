//! Files: created, appended to, refused.

use super::*;

#[test]
fn the_first_record_creates_the_file_and_its_folders_for_the_user_alone() {
    let folder = Folder::new();
    let path = folder.join("a/b/t.jsonl");
    let trace = open(&path);
    assert_eq!(trace.path(), Some(path.as_path()));
    assert!(!folder.join("a").exists(), "nothing is created before");
    trace.emit("a", &json!({}));
    for (path, mode) in [(&path, 0o600), (&folder.join("a"), 0o700), (&folder.join("a/b"), 0o700)] {
        let found = fs::metadata(path).expect("exists").mode() & 0o777;
        assert_eq!(found, mode, "{}: {found:o}", path.display());
    }
}

#[test]
fn a_trace_without_records_leaves_no_file() {
    let folder = Folder::new();
    drop(open(&folder.join("t.jsonl")));
    assert!(!folder.join("t.jsonl").exists());
}

#[test]
fn records_are_appended_and_permissions_kept() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    fs::write(&path, "{\"event\":\"earlier\"}\n").expect("writes");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("sets");
    open(&path).emit("a", &json!({}));
    open(&path).emit("b", &json!({}));
    assert_eq!(events(&records(&path)), ["earlier", "a", "b"]);
    assert_eq!(fs::metadata(&path).expect("exists").mode() & 0o777, 0o644);
}

#[test]
fn a_file_that_ends_in_the_middle_of_a_line_goes_on_with_a_fresh_one() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    fs::write(&path, "{\"seq\":0,\"ev").expect("writes");
    let trace = open(&path);
    trace.emit("a", &json!({}));
    trace.emit("b", &json!({}));
    let text = text(&path);
    let (whole, torn) = whole_lines(&text);
    assert_eq!((events(&whole), torn), (vec!["a", "b"], 1), "{text}");
    assert!(!text.contains("\n\n"), "{text}");
}

#[test]
fn marks_in_the_path_are_expanded_and_it_becomes_absolute() {
    let folder = Folder::new();
    let trace = open(&folder.join("%e-%p-%d-%%-%x.jsonl"));
    let name = format!("{}-{}-{}-%-%x.jsonl", platform::executable_name(), std::process::id(), platform::date());
    assert_eq!(trace.path(), Some(folder.join(&name).as_path()));
    trace.emit("a", &json!({}));
    assert!(folder.join(&name).is_file());
    // A relative path stays where it was, wherever the process goes.
    in_child(|| {
        std::env::set_current_dir(folder.path()).expect("goes");
        let trace = open(Path::new("t.jsonl"));
        assert_eq!(trace.path(), Some(folder.join("t.jsonl").as_path()));
        std::env::set_current_dir("/").expect("goes");
        trace.emit("a", &json!({}));
    });
    assert_eq!(records(&folder.join("t.jsonl")).len(), 1);
}

#[test]
fn a_symbolic_link_is_refused() {
    let folder = Folder::new();
    let victim = folder.join("victim");
    fs::write(&victim, "precious").expect("writes");
    for (name, to) in [("link", victim.as_path()), ("dangling", &folder.join("nothing"))] {
        std::os::unix::fs::symlink(to, folder.join(name)).expect("links");
        assert!(refusal(&folder.join(name)).contains("symbolic link"));
    }
    assert_eq!(text(&victim), "precious");
    assert!(!folder.join("nothing").exists());
}

#[test]
fn a_symbolic_link_that_appears_later_is_refused_too() {
    let folder = Folder::new();
    let link = folder.join("t.jsonl");
    in_child(|| {
        let (_reader, silent) = pipe();
        redirect(&silent, 2);
        let trace = open(&link);
        std::os::unix::fs::symlink(folder.join("nothing"), &link).expect("links");
        trace.emit("a", &json!({}));
        trace.emit("b", &json!({}));
        assert!(!trace.is_on());
        assert_eq!(trace.dropped(), 1, "the record that found out");
    });
    assert!(!folder.join("nothing").exists());
}

#[test]
fn a_file_with_a_second_name_is_refused() {
    let folder = Folder::new();
    let victim = folder.join("victim");
    fs::write(&victim, "precious").expect("writes");
    fs::hard_link(&victim, folder.join("t.jsonl")).expect("links");
    assert!(refusal(&folder.join("t.jsonl")).contains("second name"));
    assert_eq!(text(&victim), "precious");
}

#[test]
fn another_users_file_is_refused() {
    if !is_root() {
        return skip("only root can make another user's file");
    }
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    fs::write(&path, "").expect("writes");
    std::os::unix::fs::chown(&path, Some(65_534), None).expect("gives it away");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("sets");
    assert!(refusal(&path).contains("another user"));
    assert_eq!(text(&path), "");
}

#[test]
fn folders_sockets_and_impossible_paths_are_refused() {
    let folder = Folder::new();
    assert!(refusal(folder.path()).to_lowercase().contains("directory"));
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("binds");
    assert!(refusal(&folder.join("socket")).contains("neither a file"));
    fs::write(folder.join("file"), "").expect("writes");
    assert!(refusal(&folder.join("file/t.jsonl")).to_lowercase().contains("not a directory"));
    assert!(refusal(&folder.join("file/a/t.jsonl")).to_lowercase().contains("not a directory"));
    refusal(&folder.join("x".repeat(300)));
}

#[test]
fn a_folder_without_write_permission_is_told_at_once() {
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).expect("sets");
    in_child(|| {
        if is_root() {
            become_nobody();
        }
        let (_reader, silent) = pipe();
        redirect(&silent, 2);
        for name in ["t.jsonl", "a/b/t.jsonl"] {
            assert!(refusal(&folder.join(name)).contains("denied"));
        }
    });
}

#[test]
fn a_named_trace_that_fails_is_told_on_standard_error_in_one_line() {
    let folder = Folder::new();
    let (mut reader, writer) = pipe();
    in_child(|| {
        redirect(&writer, 2);
        refusal(folder.path());
        // Nothing can be created here, which root finds out by the first record only.
        let (trace, _) = Trace::open(&TraceTarget::Path("/proc/samplin/t.jsonl".to_owned()), TraceLevel::All);
        for _ in 0..3 {
            trace.emit("a", &json!({}));
        }
    });
    drop(writer);
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("reads");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("samplin: there is no trace: ") && lines[0].contains(folder.text()), "{said}");
    assert!(lines[1].contains("/proc/samplin/t.jsonl: "), "{said}");
}

#[test]
fn odd_paths_are_survived() {
    for text in ["/tmp/a\0b", "", "/", ".", "..", "/dev/fd/987654"] {
        let (trace, problems) = Trace::open(&TraceTarget::Path(text.to_owned()), TraceLevel::All);
        assert!(!trace.is_on() && problems.len() == 1, "{text:?}: {problems:?}");
    }
    for text in ["~/", "%", "/dev/fd/-1", "/dev/fd/", "/proc/self/fd/x"] {
        let (trace, problems) = Trace::open(&TraceTarget::Path(text.to_owned()), TraceLevel::All);
        assert_eq!(trace.is_on(), problems.is_empty(), "{text:?}: {problems:?}");
    }
}
