//! What a running callgate tells other programs, over a socket that is its user's alone.
//!
//! [`evaluate`] and [`explain`] answer about calls that nobody makes: `callgate mcp serve` and the API
//! of the gateway both ask them. They look things up: they record nothing, use no limit, and no answer
//! of theirs permits a call.
//!
//! A [`Server`] answers for a [`Host`] on a socket that it has [`Held`]: health, `evaluate`, `explain`, the
//! records, and a feed of them. A [`Client`] asks it, once it has made sure whom it talks to.
//!
//! It refuses whoever is another user, knows no key and no role, and changes nothing.

mod clean;
mod client;
mod digest;
mod evaluate;
mod explain;
mod explained;
mod feed;
mod given;
mod health;
mod hold;
mod journal;
mod judged;
pub mod judging;
mod listen;
mod problem;
mod process;
mod query;
mod refusal;
mod route;
mod server;

pub use clean::clean;
pub use client::{Client, Distrust, Expected, FeedEnd, FeedEvents, FeedRecord};
pub use digest::digest;
pub use evaluate::{Evaluated, Rules, evaluate};
pub use explain::{CallExplanation, Explanation, ToolExplanation, explain};
pub use explained::Explained;
pub use given::{Given, Unsaid, current_dir, home_dir};
pub use health::{Health, PolicyHealth, Status, StoreHealth, store_file};
pub use hold::{Held, HoldError};
pub use journal::{Journal, Page, PageError, PageLimits};
pub use judged::{Checked, Judged, id, one_line};
pub use listen::Listen;
pub use problem::Problem;
pub use server::{Host, Server};
