//! See `callgate_testkit::fuzz::sse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_testkit::fuzz::sse::check(data));
