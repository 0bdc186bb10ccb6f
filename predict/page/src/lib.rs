//! Predictions for the page of a report. `scripts/page-code` builds it for wasm32, and `samplin report --interactive` puts it into
//! the page, which needs no server then.
//!
//! The page writes the trace and what a device reports into [`room`], calls [`predicted`], and reads the answer. It makes an instance for
//! each question, so nothing is freed.

use std::collections::HashMap;
use std::path::Path;

use samplin_config::simulate;
use samplin_predict::{Alive, Prediction};
use serde_json::{Value, json};

/// What a run would be on a device, as JSON: the records of the predicted trace, and what the device does not do at all. `device`: what
/// one reports, in any form that samplin reads.
pub fn predict(trace: &str, device: &str, alone: bool) -> Value {
    let simulation = match simulate::parse(Path::new("device.json"), device) {
        Ok(simulation) => simulation,
        Err(unusable) => {
            let line = unusable.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            return json!({ "error": format!("{line}{}", unusable.message) });
        }
    };
    let records: Vec<Value> = trace.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut alive: HashMap<u32, Alive> = HashMap::new();
    for record in records.iter().filter(|record| record["event"] == "summary") {
        let process = record["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
        if let Some(now) = Alive::of(record) {
            alive.entry(process).and_modify(|most| *most = most.most(now)).or_insert(now);
        }
    }
    let mut prediction = Prediction::new(simulation, alone, alive);
    for record in records {
        prediction.record(record);
    }
    let records: Vec<Value> = prediction.lines().iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    json!({
        "device": prediction.simulation.name,
        "recorded_on": prediction.recorded_on,
        "samplers": prediction.samplers,
        "pairs": prediction.pairs,
        "blits": prediction.blits,
        "unsupported": prediction.unsupported,
        "exceeded": prediction.exceeded,
        "records": records,
    })
}

/// Room for so many bytes of a question.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    Box::leak(vec![0; length].into_boxed_slice()).as_mut_ptr()
}

/// Answers a question: the length of the answer in four bytes, least first, and the answer.
///
/// # Safety
///
/// Both pointers are what [`room`] returned for these lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn predicted(
    trace: *const u8,
    trace_length: usize,
    device: *const u8,
    device_length: usize,
    alone: bool,
) -> *const u8 {
    // SAFETY: the caller says that the trace is there, whole.
    let trace = unsafe { std::slice::from_raw_parts(trace, trace_length) };
    // SAFETY: likewise, the device.
    let device = unsafe { std::slice::from_raw_parts(device, device_length) };
    let answer = predict(&String::from_utf8_lossy(trace), &String::from_utf8_lossy(device), alone).to_string();
    let length = u32::try_from(answer.len()).unwrap_or(0).to_le_bytes();
    Box::leak([length.as_slice(), answer.as_bytes()].concat().into_boxed_slice()).as_ptr()
}
