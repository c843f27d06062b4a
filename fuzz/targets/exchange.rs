//! See `callgate_testkit::fuzz::exchange`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::exchange::check(data));
