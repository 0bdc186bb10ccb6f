//! What a record is.

use super::*;

#[test]
fn a_record_has_five_members_and_its_own() {
    #[derive(Serialize)]
    struct Body {
        text: &'static str,
        handle: String,
        floats: [Float; 5],
        nothing: Option<u32>,
    }
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    let before = platform::now_ns();
    let floats = [1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0].map(Float);
    trace.emit("sampler", &Body { text: "a\n\"b\"", handle: handle(0xABC), floats, nothing: None });
    let found = records(&path);
    let [record] = &found[..] else {
        panic!("one record: {found:?}");
    };
    assert_eq!(record["seq"], 0);
    assert_eq!(record["pid"], std::process::id());
    assert_eq!(record["tid"], platform::thread_id());
    assert!((before..=platform::now_ns()).contains(&record["t_ns"].as_u64().expect("a number")));
    assert_eq!(record["event"], "sampler");
    assert_eq!(
        body(record),
        json!({
            "text": "a\n\"b\"", "handle": "0xabc", "nothing": null,
            "floats": [1.5, "NaN", "Infinity", "-Infinity", -0.0],
        })
    );
    let line = text(&path);
    assert!(line.starts_with("{\"seq\":0,\"t_ns\":") && line.contains(",\"event\":\"sampler\",\"text\":"), "{line}");
}

#[test]
fn every_shape_of_record_makes_a_line() {
    #[derive(Serialize)]
    struct Empty {}
    #[derive(Serialize)]
    struct Unit;
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    trace.emit("a", &Empty {});
    trace.emit("b", &Unit);
    trace.emit("c", &json!({"x": {}}));
    trace.emit("d", &json!([1, 2]));
    trace.emit("e", "text");
    trace.emit("f", &7);
    trace.emit("g", &std::collections::BTreeMap::from([("k", 1)]));
    let records = records(&path);
    assert_eq!(events(&records), ["a", "b", "c", "d", "e", "f", "g"]);
    assert_eq!(
        records.iter().map(body).collect::<Vec<_>>(),
        [
            json!({}),
            json!({}),
            json!({"x": {}}),
            json!({"value": [1, 2]}),
            json!({"value": "text"}),
            json!({"value": 7}),
            json!({"k": 1}),
        ]
    );
}

#[test]
fn a_record_that_cannot_be_serialised_is_dropped() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("broken"))
        }
    }
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    trace.emit("a", &json!({}));
    trace.emit("b", &Broken);
    // Half of it is written already when it is found out.
    trace.emit("c", &(1, Broken));
    trace.emit("d", &std::collections::BTreeMap::from([(vec![1], 1)]));
    trace.emit("e", &json!({}));
    assert_eq!(trace.dropped(), 3);
    let records = records(&path);
    assert_eq!(events(&records), ["a", "e"]);
    assert_eq!(records[1]["seq"], 4, "the gap shows the loss");
}

#[test]
fn handles_are_hexadecimal() {
    assert_eq!(handle(0), "0x0");
    assert_eq!(handle(u64::MAX), "0xffffffffffffffff");
}

#[test]
fn levels_decide_what_is_wanted() {
    use TraceLevel::{All, Decisions, Summary};
    let folder = Folder::new();
    let wants = |level| {
        let (trace, _) = Trace::open(&target(&folder.join("t.jsonl")), level);
        assert_eq!(trace.level(), level);
        [Summary, Decisions, All].map(|level| trace.wants(level))
    };
    assert_eq!(wants(Summary), [true, false, false]);
    assert_eq!(wants(Decisions), [true, true, false]);
    assert_eq!(wants(All), [true, true, true]);
    assert_eq!([Summary, Decisions, All].map(|level| Trace::off().wants(level)), [false; 3]);
}

#[test]
fn off_is_off() {
    for trace in [Trace::off(), Trace::open(&TraceTarget::Off, TraceLevel::All).0] {
        trace.emit("a", &json!({}));
        assert!(!trace.is_on() && trace.path().is_none());
        assert_eq!(trace.dropped(), 0);
    }
}
