//! What the bodies are made from: the corpus, and streams with calls that can be distinguished.

use std::collections::{BTreeMap, BTreeSet};

use callgate_dialect::Dialect;

use super::body::{Body, RequestMode};
use crate::clients;
use crate::corpus;
use crate::made::{self, Called, Said};
use crate::rng::Rng;

/// Longer recordings only take time.
const LONGEST: usize = 12 * 1024;

/// Every response to start from.
#[derive(Debug)]
pub(super) struct Seeds {
    corpus: BTreeMap<(&'static str, RequestMode), Vec<Seed>>,
}

/// A response to start from, and what is known about its calls.
#[derive(Debug, Clone)]
pub(super) struct Seed {
    /// The corpus case, or `made`.
    pub(super) origin: String,
    pub(super) body: Body,
    /// The names of its tools.
    pub(super) names: Vec<String>,
    /// Keys and words in the arguments of its calls, for rules to ask for.
    pub(super) keys: Vec<String>,
    pub(super) words: Vec<String>,
}

impl Seeds {
    pub(super) fn load() -> Self {
        let mut corpus: BTreeMap<_, Vec<Seed>> = BTreeMap::new();
        for case in corpus::all() {
            let mode = if case.is_stream { RequestMode::Stream } else { RequestMode::Whole };
            let short = case.body.len() <= LONGEST;
            if let Some(body) = Body::parse(case.dialect, mode, &case.body).filter(|_| short) {
                let key = (case.dialect.as_str(), mode);
                corpus.entry(key).or_default().push(Seed::of(case.name, body, &case.body));
            }
        }
        Self { corpus }
    }

    /// A response of the corpus or a made one.
    pub(super) fn pick(&self, dialect: Dialect, mode: RequestMode, rng: &mut Rng) -> Seed {
        let recorded = self.corpus.get(&(dialect.as_str(), mode));
        if let Some(seed) = recorded.filter(|_| rng.one_in(3)).and_then(|list| rng.pick(list)) {
            return seed.clone();
        }
        make(dialect, mode, rng)
    }
}

impl Seed {
    fn of(origin: String, body: Body, bytes: &[u8]) -> Self {
        let calls = clients::readings(body.dialect, bytes).into_values().flatten();
        let calls: BTreeSet<(String, String)> = calls.collect();
        let (mut names, mut keys, mut words) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (name, arguments) in calls {
            names.insert(name);
            let arguments = serde_json::from_str(&arguments).unwrap_or_default();
            let members = serde_json::Map::into_iter(arguments);
            for (key, value) in members {
                keys.insert(key);
                words.extend(value.as_str().map(str::to_owned));
            }
        }
        // A rule needs a plain name, key or word; odd ones are for other tests.
        let plain = |text: &String| {
            (1..40).contains(&text.len())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-/ .@".contains(c))
        };
        Self {
            origin,
            body,
            names: names.into_iter().filter(plain).collect(),
            keys: keys.into_iter().filter(plain).collect(),
            words: words.into_iter().filter(plain).collect(),
        }
    }
}

const NAMES: [&str; 5] = ["note", "run", "open", "mail", "wipe"];

const ARGUMENTS: [&str; 10] = [
    r#"{"command":"EVILARG"}"#,
    r#"{"command":"EVILARG"}"#,
    r#"{"command":"ls"}"#,
    r#"{"path":"/tmp/x"}"#,
    r#"{"path":"/tmp/y","mode":7}"#,
    r#"{"to":"jane.roe@example.com"}"#,
    r#"{"memo":"hello","to":"john@example.com"}"#,
    r#"{"v":9,"who":"pay"}"#,
    "{}",
    "",
];

/// A response with two or three calls, most of them different.
fn make(dialect: Dialect, mode: RequestMode, rng: &mut Rng) -> Seed {
    let count = 2 + rng.below(2);
    let calls: Vec<Called<'_>> = (0..count)
        .map(|place| Called {
            id: ["call_a", "call_b", "call_c"][place],
            name: NAMES[rng.below(NAMES.len())],
            arguments: ARGUMENTS[rng.below(ARGUMENTS.len())],
        })
        .collect();
    let text = if rng.one_in(3) { "I look." } else { "" };
    let said = Said { text, calls: &calls };
    let bytes = match mode {
        RequestMode::Whole => made::whole(dialect, &said),
        RequestMode::Stream => made::stream(dialect, &said, [6, 64][rng.below(2)]),
    };
    let body = Body::parse(dialect, mode, &bytes).expect("a made response can be read");
    let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
    Seed {
        origin: "made".into(),
        body,
        names: owned(&NAMES),
        keys: owned(&["command", "path", "to", "v"]),
        words: owned(&["EVILARG", "EVILARG", "/tmp/x", "pay"]),
    }
}
