#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| samplin_fuzz_targets::select(data));
