//! The automatic file, in processes of their own.

use super::*;

const CHILD: &str = "automatic::child";

/// The child's part: opens the automatic trace, writes two records and says what came of it.
#[test]
fn child() {
    if !again::plays(CHILD) {
        return;
    }
    let (trace, problems) = Trace::open(&TraceTarget::Auto, TraceLevel::All);
    trace.emit("a", &json!({}));
    trace.emit("b", &json!({}));
    println!("pid={}", std::process::id());
    println!("path={}", trace.path().map_or_else(String::new, |path| path.display().to_string()));
    println!("on={} problems={} dropped={}", trace.is_on(), problems.len(), trace.dropped());
    again::tell(Ok(()));
}

#[test]
fn the_automatic_file_is_in_the_state_folder() {
    let folder = Folder::new();
    let home = folder.text();
    for (variables, state) in [
        (vec![("HOME", home)], folder.join(".local/state")),
        (vec![("HOME", "/nonexistent"), ("XDG_STATE_HOME", home)], folder.path().to_owned()),
        // A relative path is to be ignored.
        (vec![("HOME", home), ("XDG_STATE_HOME", "state")], folder.join(".local/state")),
    ] {
        let output = run_again(&again::program(), CHILD, &variables);
        let name = format!("{}-{}.jsonl", platform::executable_name(), output.said("pid"));
        let path = state.join("samplin").join(name);
        assert_eq!(output.said("path"), utf8(&path));
        assert_eq!(output.said("on"), "true problems=0 dropped=0");
        assert_eq!(events(&records(&path)), ["a", "b"]);
        assert_eq!(fs::metadata(&path).expect("exists").mode() & 0o777, 0o600);
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn the_automatic_file_fails_silently() {
    let folder = Folder::new();
    fs::write(folder.join("file"), "").expect("writes");
    for (state, on) in [
        ("", "false problems=1 dropped=0"),
        (utf8(&folder.join("file")), "false problems=1 dropped=0"),
        // What only the first record finds out, for root.
        ("/proc", "false problems="),
    ] {
        let output = run_again(&again::program(), CHILD, &[("XDG_STATE_HOME", state)]);
        assert!(output.said("on").starts_with(on), "{output:?}");
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn twenty_automatic_files_are_kept() {
    let folder = Folder::new();
    let traces = folder.join("samplin");
    fs::create_dir(&traces).expect("creates");
    let mut ended = Command::new("true").spawn().expect("starts");
    ended.wait().expect("ends");
    let old = |age: u64| traces.join(format!("app{age:02}-{}.jsonl", ended.id()));
    for age in 1..=25 {
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * age);
        File::create(old(age)).and_then(|file| file.set_modified(then)).expect("creates");
    }
    fs::write(traces.join("notes.txt"), "").expect("writes");
    let output = run_again(&again::program(), CHILD, &[("XDG_STATE_HOME", folder.text())]);
    let count = fs::read_dir(&traces).expect("reads").count();
    assert_eq!(count, 21, "20 traces and the notes");
    assert!(Path::new(output.said("path")).exists());
    assert!(traces.join("notes.txt").exists() && old(19).exists() && !old(20).exists());
}

#[test]
fn a_process_with_more_rights_than_its_user_writes_nothing() {
    const NAME: &str = "automatic::a_process_with_more_rights_than_its_user_writes_nothing";
    if again::plays(NAME) {
        assert_eq!(platform::is_elevated(), has_two_users());
        println!("elevated={}", platform::is_elevated());
        println!("home={:?}", platform::env("HOME"));
        let path = std::env::var("SAMPLIN_TEST_PATH").expect("is set");
        for target in [TraceTarget::Auto, TraceTarget::Stderr, TraceTarget::Path(path)] {
            let (trace, problems) = Trace::open(&target, TraceLevel::All);
            trace.emit("a", &json!({}));
            assert!(!platform::is_elevated() || (!trace.is_on() && problems.len() == 1));
        }
        log::raise(Log::Trace);
        tracing::warn!("nobody may be told");
        return again::tell(Ok(()));
    }
    let folder = Folder::new();
    let Ok(program) = again::of_another_user(&folder).map_err(|why| skip(why.0)) else { return };
    let path = folder.join("t.jsonl");
    let output = run_again(&program, NAME, &[("HOME", folder.text()), ("SAMPLIN_TEST_PATH", utf8(&path))]);
    if output.said("elevated") != "true" {
        return skip("set-user-id programs have no effect in the temporary folder");
    }
    assert_eq!(output.said("home"), "None");
    assert!(!path.exists() && !folder.join(".local").exists());
    assert_eq!(output.stderr, "");
}
