//! The condition `secret`: whether the input contains a secret or personal data.

use std::sync::LazyLock;

use callgate_call::{Arguments, ArgumentsForm, UnreadableArguments};
use callgate_document::{At, Mapping, Problems, Yaml, texts};
use callgate_json::quote;
use callgate_scan::Set;

use super::{Evidence, KeyDoc, LeafCondition, Scene};
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::text::detectors;
use crate::tri::Tri;

/// The detectors of which one must find something anywhere in the input.
#[derive(Debug, Clone)]
pub(crate) struct SecretCondition {
    set: Detectors,
    /// The detectors and groups as written.
    names: Vec<String>,
}

/// Stands for every detector of secrets.
const ANY: &str = "any";

#[derive(Debug, Clone)]
enum Detectors {
    /// All detectors of secrets.
    Any,
    Some(Set),
}

/// All detectors of secrets, built when a call first needs them: that takes milliseconds.
static ALL_SECRETS: LazyLock<Option<Set>> = LazyLock::new(|| {
    let mut builder = Set::builder();
    builder.detector(0, "secret").ok()?;
    builder.build().ok()
});

impl Detectors {
    /// The detectors. It is never `None`: a test builds them all.
    fn get(&self) -> Option<&Set> {
        match self {
            Self::Any => ALL_SECRETS.as_ref(),
            Self::Some(set) => Some(set),
        }
    }
}

impl LeafCondition for SecretCondition {
    const HEADS: &'static [&'static str] = &["secret"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["secret"],
        meaning: "`any`, or a list of [detectors](detectors.md): one of them finds something \
                  anywhere in the input; takes no operator",
    }];

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let before = problems.len();
        if fields.get("secret").is_some_and(|node| node.value == Yaml::String(ANY.to_owned())) {
            return Some(Self { set: Detectors::Any, names: vec![ANY.to_owned()] });
        }
        let names = texts(fields.get("secret")?, "`secret`", problems);
        let mut builder = Set::builder();
        let expanded: Vec<At<String>> = names.iter().map(expand_any).collect();
        detectors(&expanded, 0, &mut builder, problems);
        if problems.len() > before {
            return None;
        }
        let names = names.into_iter().map(|name| name.value).collect();
        Some(Self { set: Detectors::Some(builder.build().ok()?), names })
    }

    fn evidence(&self) -> Evidence {
        Evidence::WholeInput
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        Tri::any(scene.input().map(|input| {
            self.kinds(input).map_or(Tri::Unknown, |kinds| (!kinds.is_empty()).into())
        }))
    }

    /// Names the kind of secret, never the secret.
    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let mut kinds = scene.input().flat_map(|input| self.kinds(input).unwrap_or_default());
        let value = kinds.next().map(|kind| format!("[REDACTED:{kind}]"))?;
        Some(Matched { path: "secret".to_owned(), value })
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        scene.input().find_map(|input| input.value().err()).map(ToString::to_string)
    }

    /// Shows the kinds, never what was found.
    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let kinds = self.kinds(&scene.call.arguments).unwrap_or_default();
        let names: Vec<String> = self.names.iter().map(|name| quote(name)).collect();
        let operand = format!("[{}]", names.join(","));
        TestExplanation::new("secret", "in", operand, kinds.iter().map(|kind| quote(kind)))
    }

    fn canonical(&self) -> String {
        format!("secret {:?}", self.names)
    }
}

impl SecretCondition {
    /// The kinds of secrets in an input, each once.
    fn kinds<'c>(&self, input: &'c Arguments) -> Result<Vec<String>, &'c UnreadableArguments> {
        input.value()?;
        let text = input.raw();
        let mut hits = match (self.set.get(), input.form()) {
            (None, _) => Vec::new(),
            (Some(set), ArgumentsForm::Text(_)) => set.find(text),
            // The input has a value, so its text is empty or one document.
            (Some(set), _) => set.clean_json(text).map(|cleaned| cleaned.hits).unwrap_or_default(),
        };
        // A secret in a URL is written with escapes.
        if let (true, Some(set), Some(decoded)) = (hits.is_empty(), self.set.get(), decoded(text)) {
            hits = set.find(&decoded);
        }
        let mut kinds: Vec<String> = hits.iter().map(|hit| hit.kind.to_string()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Ok(kinds)
    }
}

/// The text without the escapes of URLs, if it has some.
fn decoded(text: &str) -> Option<String> {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = text.bytes().enumerate();
    if !text.contains('%') {
        return None;
    }
    let mut plain: Vec<u8> = Vec::new();
    let mut has_escape = false;
    while let Some((at, byte)) = bytes.next() {
        let digits = text.as_bytes().get(at + 1..at + 3);
        let pair = digits.filter(|_| byte == b'%').and_then(|digits| match digits {
            [high, low] => Some(hex(*high)? << 4 | hex(*low)?),
            _ => None,
        });
        if pair.is_some() {
            has_escape = true;
            bytes.nth(1);
        }
        plain.push(pair.unwrap_or(byte));
    }
    has_escape.then(|| String::from_utf8_lossy(&plain).into_owned())
}

/// `any` stands for the group of all secrets.
fn expand_any(name: &At<String>) -> At<String> {
    let value = if name.value == ANY { "secret".to_owned() } else { name.value.clone() };
    At { value, span: name.span }
}
