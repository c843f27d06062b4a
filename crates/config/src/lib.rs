//! Text in, each crate's own settings out: one file, every problem at once.
//!
//! [`load`] finds `callgate.yaml`, reads it into what was written ([`WrittenConfig`]), and resolves
//! that into a [`ResolvedConfig`]: the settings of each crate and the compiled policies. Whatever
//! is wrong, in the settings or in any policy, is reported at once and with its place. [`Watch`]
//! calls back when one of those files really changed.
//!
//! ```
//! use callgate_call::Surface;
//!
//! let dir = tempfile::tempdir().unwrap();
//! let path = dir.path().join("callgate.yaml");
//! std::fs::write(&path, "listen: 127.0.0.1:9000\non_deny: silent\n").unwrap();
//! let resolved = callgate_config::load(Some(&path), &[Surface::Response]).unwrap();
//! assert_eq!(resolved.proxy.listen.port(), 9000);
//! assert_eq!(resolved.policies.origins, ["builtin:starter"]);
//!
//! std::fs::write(&path, "lisen: 127.0.0.1:9000\nlimits: { frame: big }\n").unwrap();
//! let error = callgate_config::load(Some(&path), &[Surface::Response]).unwrap_err();
//! assert_eq!(error.to_string(), "the config is rejected: 2 problems");
//! ```
//!
//! Only the binary depends on this crate. It fills in the settings that other crates define.

mod aws;
pub mod env;
mod error;
mod exposed;
mod fields;
mod file;
mod find;
mod glob;
mod policies;
mod protect;
mod providers;
mod quantity;
mod reference;
mod resolve;
mod restart;
mod schema;
mod values;
mod watch;
mod words;

pub use error::{ConfigError, Rejected};
pub use exposed::Exposed;
pub use file::WrittenConfig;
pub use find::{FILE, find, read as read_source, user_folder};
pub use policies::{PolicyLocation, PolicySet, Relaxed, load_policies};
pub use protect::Protect;
pub use quantity::duration;
pub use reference::reference;
pub use resolve::{
    McpServer, MissingVariable, ResolvedConfig, audit_settings, check_text, load, mcp_settings,
    record_settings, settings,
};
pub use restart::{Process, StartSettings};
pub use schema::schema;
pub use watch::{Watch, Watched};
pub use words::{SettingWord, word_for};
