//! The gate: bytes in, judged bytes out.
//!
//! A [`Gate`] is a state machine without I/O. Push what the provider sent; take steps until it
//! wants more. What it appends to `out` is free to leave, and nothing else is. When a call's name
//! is complete it asks by name ([`Step::Name`]); when arguments are needed it holds the call and
//! asks again with all of it ([`Step::Judge`]). A call leaves only against a
//! [`Permit`](callgate_policy::Permit), which only a policy can make and which names its call.
//!
//! ```
//! use callgate_call::{Origin, Surface};
//! use callgate_dialect::Dialect;
//! use callgate_gate::{Answer, Close, Gate, NameAnswer, Settings, Step};
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
//!         Step::Name(question) => gate.answer_name(question.slot, NameAnswer::NeedArguments),
//!         Step::Judge(question) => {
//!             gate.answer(question.slot, Answer::Deny(Denial::refused("Bash", "not today")))
//!         }
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

mod calls;
mod core;
mod ending;
mod gate;
mod held;
mod release;
mod settings;
mod slot;
mod text;

pub use callgate_dialect::request::{RemovedCall, RemovedTurn};
pub use gate::{
    Answer, Close, Ending, Gate, NameAnswer, NameQuestion, Note, Question, Step, Usage,
};
pub use settings::{Asked, Limits, Malformed, OnDeny, Settings};
