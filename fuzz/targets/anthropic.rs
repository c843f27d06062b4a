//! Anthropic Messages through the gate: see `callgate_testkit::fuzz::gate`.
#![no_main]

use callgate_dialect::Dialect;
use callgate_testkit::fuzz::gate;

libfuzzer_sys::fuzz_target!(|data: &[u8]| gate::check(Dialect::Anthropic, data));
