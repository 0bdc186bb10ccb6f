//! How large a trace becomes: one record for samplers that ask for the same, and a limit.

use ash::vk;
use serde_json::{Value, json};

use crate::loader::*;

fn illegal(bias: f32) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo { mip_lod_bias: bias, ..linear_info() }
}

/// Creates and destroys a sampler, and checks that what goes down is `members` of the info with a bias of `bias`.
fn create(device: &Device, info: &vk::SamplerCreateInfo<'_>, bias: f32) {
    let (sampler, down, own) = device.created(info);
    assert_eq!(own, info.mip_lod_bias == bias, "what is legal goes down as it is, the rest does not");
    assert!(down.chain.is_empty());
    let expected = vk::SamplerCreateInfo { mip_lod_bias: bias, ..*info };
    assert_eq!(format!("{:?}", down.value), format!("{expected:?}"));
    device.destroy_sampler(sampler);
}

/// The trace's last summary of a device.
fn summary(records: &samplin_testkit::Trace) -> Value {
    let of_device = |record: &&Value| record["scope"] == "device";
    records.events("summary").find(of_device).expect("a summary of the device").clone()
}

/// A record for each of what was asked for, or for each sampler; none for legal ones but at the level all. In mode audit samplers are not
/// changed, and told and counted as if they were.
#[test]
fn equal_illegal_samplers_have_one_record_and_a_count() {
    let each = [99.0, -77.0, 0.5];
    for (mode, level, told, counted) in [
        ("legalize", "decisions", &[99.0, -77.0][..], 2),
        ("audit", "decisions", &[99.0, -77.0], 2),
        ("legalize", "all", &each.repeat(200), 400),
    ] {
        let device = InstanceBuilder::new().set("mode", mode).traced(level).device();
        let trace = device.instance.keep_trace();
        let max = if mode == "audit" { f32::MAX } else { device.entry().ground.driver.caps.max_sampler_lod_bias };
        for bias in each.repeat(200) {
            create(&device, &illegal(bias), bias.clamp(-max, max));
        }
        device.finish();
        let trace = trace.read();
        let from: Vec<_> = trace.events("sampler").map(|record| record["changes"][0]["from"].clone()).collect();
        let told: Vec<_> = told.iter().map(|bias| if *bias == 0.5 { Value::Null } else { json!(bias) }).collect();
        assert_eq!(from, told, "{mode}, {level}");
        let summary = summary(&trace);
        let samplers = [&summary["samplers"]["created"], &summary["samplers"]["changed"]];
        assert_eq!(samplers, [&json!(600), &json!(400)], "{mode}, {level}");
        assert_eq!(summary["changes"], json!({ "lod-bias": counted }), "as often as records tell");
        assert_eq!(summary["left_out"], json!({ "records": 0, "bytes": 0 }));
    }
}

/// The bytes that a life of 100 samplers of the level all writes under a limit, and what its summary of the instance says.
fn limited(limit: &str) -> (u64, u64, Value) {
    let device = InstanceBuilder::new().set("trace_limit", limit).traced("all").device();
    let trace = device.instance.keep_trace();
    for _ in 0..100 {
        let sampler = device.sampler(&illegal(99.0));
        device.destroy_sampler(sampler);
    }
    device.finish();
    let trace = trace.read();
    let bytes =
        |records: &mut dyn Iterator<Item = &Value>| records.map(|r| r.to_string().len() as u64 + 1).sum::<u64>();
    let all = bytes(&mut trace.records.iter());
    let ends = bytes(&mut trace.events("summary"));
    let last = trace.records.last().expect("a record").clone();
    assert_eq!((&last["event"], &last["scope"]), (&json!("summary"), &json!("instance")), "whatever the limit");
    assert!(trace.events("summary").count() == 2);
    (all - ends, trace.records.len() as u64, last["left_out"].clone())
}

#[test]
fn beyond_the_limit_there_are_only_summaries() {
    let (whole, records, left_out) = limited("none");
    assert_eq!(left_out, json!({ "records": 0, "bytes": 0 }));
    assert_eq!(limited("64M").1, records, "the twin: what fits is whole");
    for limit in [0, 5000, 20_000] {
        let (written, some, left_out) = limited(&limit.to_string());
        assert!(written <= limit, "{written} bytes of {limit}");
        assert_eq!(left_out["records"], records - some);
        let bytes = left_out["bytes"].as_u64().expect("a number");
        // Members of other lengths: times, and the limit itself.
        assert!((written + bytes).abs_diff(whole) < 20 * records, "{written} and {bytes} of {whole}");
        assert!(limit - written < 10_000, "the limit is used: {written} of {limit}");
    }
}
