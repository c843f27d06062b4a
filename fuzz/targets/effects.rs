//! See `callgate_testkit::fuzz::effects`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::effects::check(data));
