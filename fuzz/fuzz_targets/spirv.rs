#![no_main]
#![allow(dead_code, reason = "each program uses one target")]

#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::spirv(data));
