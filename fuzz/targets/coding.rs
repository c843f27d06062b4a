//! See `callgate_testkit::fuzz::coding`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::coding::check(data));
