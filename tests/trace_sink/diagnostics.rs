//! Events that become records.

use super::*;

/// The records of a trace whose text mentions `mark`: event and body.
fn bodies(path: &Path, mark: &str) -> Vec<(String, Value)> {
    let all = records(path);
    let marked = all.iter().filter(|record| record.to_string().contains(mark));
    marked.map(|record| (record["event"].as_str().unwrap_or_default().to_owned(), body(record))).collect()
}

#[test]
fn events_become_records_of_the_registered_traces() {
    let folder = Folder::new();
    let paths = ["1", "2", "3"].map(|name| folder.join(name));
    let traces = [0, 1, 2].map(|index| Arc::new(open(&paths[index])));
    trace::diagnostics_init();
    trace::diagnostics_init();
    trace::register(&traces[0]);
    trace::register(&traces[1]);

    let id = traces[0].id();
    tracing::error!(target: "samplin::settings", trace = id, key = "rule", file = "a.toml", line = 3_u32, "events1 bad");
    tracing::warn!(target: "samplin::settings", key = "events1", "two {}", 2);
    tracing::warn!(target: "samplin::guard", what = "events1", why = "a panic", rule = "flags", hook = "vkX", n = -1);
    tracing::error!(target: "samplin::guard", "events1 only a message");
    tracing::info!(target: "samplin", trace = id, what = "events1", "reason");
    // None of ours, too fine, or not an event.
    tracing::error!(target: "other", "events1");
    tracing::error!(target: "samplinx", "events1");
    tracing::debug!(target: "samplin::guard", "events1");
    let _span = tracing::error_span!(target: "samplin::guard", "events1").entered();

    let shared = [
        ("settings".to_owned(), json!({"level": "warning", "key": "events1", "message": "two 2"})),
        ("unresolved".to_owned(), json!({"what": "events1", "why": "a panic; hook=vkX; n=-1", "rule": "flags"})),
        ("unresolved".to_owned(), json!({"what": "events1 only a message", "why": "", "rule": null})),
    ];
    let bad = json!({"level": "error", "key": "rule", "file": "a.toml", "line": 3, "message": "events1 bad"});
    let mut first = vec![("settings".to_owned(), bad)];
    first.extend(shared.clone());
    first.push(("unresolved".to_owned(), json!({"what": "events1", "why": "reason", "rule": null})));
    assert_eq!(bodies(&paths[0], "events1"), first);
    assert_eq!(bodies(&paths[1], "events1"), shared);
    assert!(!paths[2].exists(), "it is not registered");
}

#[test]
fn a_trace_gets_no_events_after_it_is_unregistered_or_dropped() {
    let folder = Folder::new();
    let paths = ["1", "2"].map(|name| folder.join(name));
    let traces = [0, 1].map(|index| Arc::new(open(&paths[index])));
    trace::diagnostics_init();
    traces.iter().for_each(trace::register);
    tracing::error!(target: "samplin::guard", "events2 one");
    let [first, second] = traces;
    trace::unregister(&first);
    drop(second);
    tracing::error!(target: "samplin::guard", "events2 two");
    assert_eq!(bodies(&paths[0], "events2").len(), 1);
    assert_eq!(bodies(&paths[1], "events2").len(), 1);
    trace::unregister(&first);
}

#[test]
fn events_of_many_threads_arrive_while_traces_come_and_go() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = Arc::new(open(&path));
    trace::diagnostics_init();
    trace::register(&trace);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    tracing::warn!(target: "samplin::guard", trace = trace.id(), "events3");
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                let brief = Arc::new(Trace::off());
                trace::register(&brief);
                trace::unregister(&brief);
            }
        });
    });
    assert_eq!(bodies(&path, "events3").len(), 800);
}
