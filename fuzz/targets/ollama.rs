//! Ollama through the gate: see [`callgate_fuzz::gate`].
#![no_main]

use callgate_dialect::Dialect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| callgate_fuzz::gate(Dialect::Ollama, data));
