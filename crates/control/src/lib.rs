//! What a running callgate tells other programs.
//!
//! [`evaluate`] and [`explain`] answer about calls that nobody makes: `callgate mcp serve` and the API
//! of the gateway both ask them. They look things up: they record nothing, use no limit, and no answer
//! of theirs permits a call.

mod clean;
mod evaluate;
mod explain;
mod explained;
mod given;
mod judged;
pub mod judging;
mod problem;

pub use clean::clean;
pub use evaluate::{Evaluated, Rules, evaluate};
pub use explain::{CallExplanation, Explanation, ToolExplanation, explain};
pub use explained::Explained;
pub use given::{Given, Unsaid, current_dir, home_dir};
pub use judged::{Checked, Judged, id, one_line};
pub use problem::Problem;
