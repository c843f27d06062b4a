//! The condition `secret`: whether something that must not be told stands in the arguments.

use callgate_call::{Arguments, ArgumentsForm, Unreadable};
use callgate_scan::Set;

use crate::condition::Scene;
use crate::diagnostic::Problems;
use crate::judgement::Matched;
use crate::source::read::At;
use crate::text::detectors;
use crate::tri::Tri;

/// What a rule looks for in all of the arguments.
#[derive(Debug, Clone)]
pub(crate) struct SecretTest {
    set: Set,
    names: Vec<String>,
}

/// Every detector of secrets.
const ANY: &str = "any";

impl SecretTest {
    pub(crate) fn compile(names: &[At<String>], problems: &mut Problems<'_>) -> Option<Self> {
        let before = problems.len();
        let meant: Vec<At<String>> = names.iter().map(meant).collect();
        let mut builder = Set::builder();
        detectors(&meant, 0, &mut builder, problems);
        if problems.len() > before {
            return None;
        }
        let names = names.iter().map(|name| name.value.clone()).collect();
        Some(Self { set: builder.build().ok()?, names })
    }

    /// As written.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn holds(&self, scene: &Scene<'_>) -> Tri {
        Tri::any(scene.input().map(|input| {
            self.kinds(input).map_or(Tri::Unknown, |kinds| (!kinds.is_empty()).into())
        }))
    }

    /// What was found, each kind once.
    pub(crate) fn kinds<'c>(&self, input: &'c Arguments) -> Result<Vec<String>, &'c Unreadable> {
        input.value()?;
        let text = input.raw();
        let hits = match input.form() {
            ArgumentsForm::Text(_) => self.set.find(text),
            // What has a value is one document, or nothing.
            _ => self.set.clean_json(text).map(|cleaned| cleaned.hits).unwrap_or_default(),
        };
        let mut kinds: Vec<String> = hits.iter().map(|hit| hit.kind.to_string()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Ok(kinds)
    }

    /// The kind is told, and not the secret.
    pub(crate) fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let mut kinds = scene.input().flat_map(|input| self.kinds(input).unwrap_or_default());
        let value = kinds.next().map(|kind| format!("[REDACTED:{kind}]"))?;
        Some(Matched { path: "secret".to_owned(), value })
    }
}

fn meant(name: &At<String>) -> At<String> {
    let value = if name.value == ANY { "secret".to_owned() } else { name.value.clone() };
    At { value, span: name.span }
}
