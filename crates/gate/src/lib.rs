//! The gate: bytes in, judged bytes out.
//!
//! A [`Gate`] is a state machine without I/O. Push the bytes of the provider; take steps until it
//! needs more. Only the bytes that it appends to `out` may leave. When a call's name is complete it
//! asks for a verdict by name ([`Step::Name`]); if that needs the arguments, it holds the call and
//! asks again with all of it ([`Step::Judge`]). A call leaves only with a
//! [`Permit`](callgate_policy::Permit), which only a policy can create and which names its call.
//!
//! ```
//! use callgate_call::{Origin, Surface};
//! use callgate_dialect::Dialect;
//! use callgate_gate::{Close, Decision, Gate, NameDecision, Settings, Step};
//! use callgate_policy::Denial;
//!
//! let mut gate = Gate::new(Dialect::OpenAiChat, Settings::new(Origin::at(Surface::Response)));
//! gate.push(br#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","#);
//! gate.push(br#""function":{"name":"Bash","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#);
//! gate.push(b"\n\n");
//! gate.close(Close::End);
//! let mut out = Vec::new();
//! loop {
//!     match gate.step(&mut out) {
//!         Step::Name(question) => gate.answer_name(question.slot, NameDecision::NeedArguments),
//!         Step::Judge(question) => {
//!             gate.answer(question.slot, Decision::Deny(Denial::refused("Bash", "not today")))
//!         }
//!         Step::OnlyDenied(_) => gate.conclude(),
//!         Step::Note(_) => {}
//!         Step::NeedMore | Step::Waiting | Step::Ended(_) => break,
//!     }
//! }
//! let out = String::from_utf8(out).unwrap();
//! assert!(!out.contains("tool_calls") && out.contains("not today"));
//! ```
//!
//! Waiting for a person, a clock or a disk happens outside, between [`Step::Judge`] and
//! [`Gate::answer`].

mod call_table;
mod calls;
mod core;
mod draft;
mod ending;
mod gate;
mod lanes;
mod progress;
mod queue;
mod release;
mod rounds;
mod run;
mod settings;
mod slot;
mod text;

pub use callgate_dialect::request::{RemovedCall, RemovedTurn};
pub use callgate_policy::{Decision, NameDecision};
pub use gate::{
    CallQuestion, Close, DeniedCall, Ending, Gate, NameQuestion, Note, OnlyDenied, Step, Usage,
};
pub use settings::{Announce, GateLimits, Malformed, Notice, OnDeny, RequestedForm, Settings};
