//! The recorded and hostile responses in `corpus/`.

use std::path::{Path, PathBuf};

use callgate_dialect::Dialect;
use serde::Deserialize;

/// One response.
#[derive(Debug)]
pub struct Case {
    /// `dialect/case`.
    pub name: String,
    /// What it speaks.
    pub dialect: Dialect,
    /// Its folder.
    pub folder: PathBuf,
    /// The upstream's bytes.
    pub body: Vec<u8>,
    /// Whether it is a stream.
    pub is_stream: bool,
    /// What `case.toml` says.
    pub about: About,
}

/// `case.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What is odd, or what it shows.
    pub what: String,
    /// Where it comes from.
    pub source: String,
    /// The licence of that source.
    #[serde(default)]
    pub licence: Option<String>,
    /// The content type to serve it with.
    #[serde(default)]
    pub content_type: Option<String>,
    /// The client calls in it, in order.
    #[serde(default)]
    pub calls: Option<Vec<Expected>>,
    /// Where the clients' readings are.
    #[serde(default)]
    pub clients: Option<String>,
    /// What an allowing policy makes of it.
    pub allow: Allow,
    /// Why it is not identical.
    #[serde(default)]
    pub why: Option<String>,
}

/// A call that is in a response.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Expected {
    /// The name of the key.
    pub name: String,
    /// Its id, where it has one.
    #[serde(default)]
    pub id: Option<String>,
}

/// What an allowing policy makes of a response.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Allow {
    /// The same bytes.
    Identical,
    /// Other bytes, the one reading of which is in `normalised.*`.
    Normalised,
    /// The call, or all of it, does not pass.
    Refused,
}

/// The names of a body, by the form it comes in.
const FORMS: [&str; 4] =
    ["upstream.sse", "upstream.ndjson", "upstream.eventstream", "upstream.json"];

/// The folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Every case, in order of name. While one works on a dialect, `CALLGATE_CASES` names the beginning of
/// those that matter.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for dialect in Dialect::ALL {
        let folder = root().join(dialect.as_str());
        let entries = std::fs::read_dir(&folder).expect("corpus folder");
        for entry in entries {
            let folder = entry.unwrap().path();
            if folder.is_dir() {
                cases.push(case(dialect, folder));
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(cases.len() > 100, "the corpus is missing");
    if let Ok(wanted) = std::env::var("CALLGATE_CASES") {
        cases.retain(|case| case.name.starts_with(&wanted));
    }
    cases
}

fn case(dialect: Dialect, folder: PathBuf) -> Case {
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let about = std::fs::read_to_string(folder.join("case.toml"))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let about = toml::from_str(&about).unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = FORMS.into_iter().map(|form| (form, folder.join(form)));
    let (form, body) = found
        .filter_map(|(form, file)| Some((form, std::fs::read(file).ok()?)))
        .next()
        .unwrap_or_else(|| panic!("{name}: no {FORMS:?}"));
    // A JSON array is how Gemini streams without events.
    let is_stream = form != "upstream.json" || body.trim_ascii_start().starts_with(b"[");
    Case { name: format!("{}/{name}", dialect.as_str()), dialect, folder, body, is_stream, about }
}
