//! See `callgate_testkit::fuzz::json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::json::check(data));
