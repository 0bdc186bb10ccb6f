use super::*;
use crate::trace::reader::{self, Line};

fn feed(analysis: &mut Analysis, text: &str) -> Verdict {
    match reader::line(1, text.as_bytes()) {
        Some(Line::Record(record)) => analysis.record(0, &record),
        other => panic!("not a record: {other:?}"),
    }
}

fn pair(t_ns: u64, fingerprint: &str, field: &str) -> String {
    format!(
        r#"{{"seq":1,"t_ns":{t_ns},"pid":1,"tid":1,"event":"pair","sampler":"0x1","view":"0x2","names":{{"sampler":"s","view":null}},"fingerprint":"{fingerprint}","format":"VK_FORMAT_D16_UNORM","aspect":"depth","view_type":"VK_IMAGE_VIEW_TYPE_2D","swizzle":"rgba","path":"update","changes":[{{"rule":"linear-filter","catalog":"B-1","vuid":null,"field":"{field}","from":"VK_FILTER_LINEAR","to":"VK_FILTER_NEAREST","because":"x","lost":"smoothing"}}],"variant":"0x{t_ns:x}"}}"#
    )
}

#[test]
fn equal_records_become_one_decision() {
    let mut analysis = Analysis::default();
    for t_ns in 1..=10 {
        feed(&mut analysis, &pair(t_ns, "00000000000000aa", "magFilter")).unwrap();
    }
    feed(&mut analysis, &pair(11, "00000000000000bb", "magFilter")).unwrap();
    feed(&mut analysis, &pair(12, "00000000000000aa", "minFilter")).unwrap();
    assert_eq!(analysis.decisions.iter().map(|d| d.count).collect::<Vec<_>>(), [10, 1, 1]);
    assert_eq!(analysis.change_count(), 12);
    assert_eq!(analysis.variants_seen(), 12);
    let rules = analysis.by_rule();
    assert_eq!((rules[0].rule.as_str(), rules[0].changes, rules[0].kinds.len()), ("linear-filter", 12, 2));
    assert_eq!(analysis.grouped(By::Sampler).len(), 2);
    assert_eq!(analysis.grouped(By::Path)[0].changes, 12);
    assert_eq!(analysis.decisions[0].sampler_name.as_deref(), Some("s"));
}

/// What descriptors show of a view happens where they are written or read, and not where the view is created.
#[test]
fn views_are_of_the_path_that_their_record_names() {
    let mut analysis = Analysis::default();
    for path in ["", r#""path":"descriptor","#, r#""path":"draw","#] {
        let record = pair(1, "00000000000000aa", "aspectMask").replace(r#""event":"pair""#, r#""event":"view""#);
        feed(&mut analysis, &record.replace(r#""path":"update","#, path)).unwrap();
    }
    let groups: Vec<_> = analysis.grouped(By::Path).into_iter().map(|group| group.key).collect();
    assert_eq!(groups, ["creation", "descriptor", "draw"]);
}

#[test]
fn too_many_decisions_are_folded_and_counted() {
    let limits = Limits { decisions: 4, unresolved: 2, records: 1, objects: 3 };
    let mut analysis = Analysis { limits, ..Analysis::default() };
    for number in 0..100_u64 {
        feed(&mut analysis, &pair(number, &format!("{number:016x}"), "magFilter")).unwrap();
    }
    assert_eq!(analysis.decisions.len(), 5);
    assert_eq!(analysis.folded, 96);
    assert_eq!(analysis.change_count(), 100, "nothing is lost from the sums");
    assert_eq!(analysis.variants_seen(), 3);
    for number in 0..10 {
        let line = format!(r#"{{"event":"unresolved","what":"w{number}","why":""}}"#);
        feed(&mut analysis, &line).unwrap();
    }
    assert_eq!((analysis.unresolved.len(), analysis.unresolved_folded), (2, 8));
    for number in 0..10 {
        let line =
            format!(r#"{{"event":"exempt","what":"pair","rules":[],"fingerprint":"{number:016x}","changes":[]}}"#);
        feed(&mut analysis, &line).unwrap();
    }
    assert_eq!((analysis.exempt.len(), analysis.exempt_folded), (2, 8));
}

#[test]
fn nested_damage_is_refused() {
    let mut analysis = Analysis::default();
    let line = r#"{"event":"pair","changes":[{"rule":oops}]}"#;
    assert_eq!(feed(&mut analysis, line), Err(Damage::NotARecord));
    assert!(analysis.decisions.is_empty() && analysis.events.is_empty());
    let line = r#"{"event":"sampler","fingerprint":"00","state":{"a":b},"changes":[]}"#;
    assert_eq!(feed(&mut analysis, line), Err(Damage::NotARecord));
}

#[test]
fn time_is_folded_as_it_grows() {
    let mut timeline = Timeline::default();
    let rule = timeline.rule("cubic");
    for t_ns in (0..1_000_000_000_u64).step_by(1_000_000) {
        let slot = timeline.slot(t_ns);
        timeline.series[rule][slot] += 1;
    }
    assert_eq!(timeline.series[rule].iter().sum::<u64>(), 1000);
    assert_eq!(timeline.width_ns, 16_000_000);
    assert_eq!(timeline.used, 63);
}
