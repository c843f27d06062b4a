//! See `callgate_testkit::fuzz::inspect`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::inspect::check(data));
