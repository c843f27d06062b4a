//! See `callgate_testkit::fuzz::policy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::policy::check(data));
