//! What every reader needs: the file, its problems, and the list of differences.

use std::path::Path;

use callgate_document::{Diagnostic, Node, Problems, Source, SourceSpan};

use crate::change::{DifferenceKind, RuleDifference};
use crate::draft::{DraftPolicy, DraftRule, DraftVerdict, Ids};

/// A file while it is read.
#[derive(Debug)]
pub(super) struct ImportContext<'s> {
    pub(super) source: &'s Source,
    pub(super) problems: Problems<'s>,
    changes: Vec<RuleDifference>,
    ids: Ids,
}

impl<'s> ImportContext<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let (changes, ids) = (Vec::new(), Ids::default());
        Self { source, problems: Problems::new(source), changes, ids }
    }

    pub(super) fn finish(self) -> (Vec<Diagnostic>, Vec<RuleDifference>) {
        (self.problems.into_list(), self.changes)
    }

    /// Reports that there is nothing to import, unless another problem explains it.
    pub(super) fn nothing(&mut self) {
        if self.problems.len() == 0 {
            self.problems
                .add(crate::read::span(&self.source.text, 0, 0), "there are no rules in this file");
        }
    }

    /// A rule for something in the file, without tools and condition yet.
    pub(super) fn rule(
        &mut self,
        at: SourceSpan,
        written: &str,
        decision: DraftVerdict,
    ) -> DraftRule {
        let id = self.ids.of(&format!("{} {written}", decision.as_str()));
        DraftRule {
            id,
            about: vec![self.place(at, written)],
            verdict: decision,
            ..DraftRule::default()
        }
    }

    /// A rule with an id of its own.
    pub(super) fn named_rule(
        &mut self,
        id: &str,
        about: &str,
        decision: DraftVerdict,
    ) -> DraftRule {
        let id = self.ids.of(id);
        let about = if about.is_empty() { Vec::new() } else { vec![about.to_owned()] };
        DraftRule { id, about, verdict: decision, ..DraftRule::default() }
    }

    /// Where a rule comes from, for the comment above it.
    pub(super) fn place(&self, at: SourceSpan, written: &str) -> String {
        format!("{}:{}: {written}", self.file_name(), at.line)
    }

    /// The name of the file without its folders.
    pub(super) fn file_name(&self) -> &str {
        let name = Path::new(&self.source.name).file_name().and_then(|name| name.to_str());
        name.unwrap_or(&self.source.name)
    }

    /// A policy named after the system that the file belongs to.
    pub(super) fn policy(&self, name: &str) -> DraftPolicy {
        let about = vec![format!("Imported from {}.", self.file_name())];
        DraftPolicy { name: name.to_owned(), about, ..DraftPolicy::default() }
    }

    /// Reports a difference.
    pub(super) fn change(
        &mut self,
        at: SourceSpan,
        written: &str,
        rule: Option<&DraftRule>,
        kind: DifferenceKind,
        message: impl Into<String>,
    ) {
        self.changes.push(RuleDifference {
            span: at,
            source: 0,
            written: written.to_owned(),
            rule: rule.map(|rule| rule.id.clone()),
            kind,
            message: message.into(),
        });
    }

    /// Reports something that the result has nothing for.
    pub(super) fn left_out(&mut self, at: SourceSpan, written: &str, message: impl Into<String>) {
        self.change(at, written, None, DifferenceKind::LeftOut, message);
    }

    /// Reports a rule that covers more than its source, or allows less.
    pub(super) fn stricter(
        &mut self,
        at: SourceSpan,
        written: &str,
        rule: &DraftRule,
        message: impl Into<String>,
    ) {
        self.change(at, written, Some(rule), DifferenceKind::Stricter, message);
    }

    /// Reports every key of a mapping that is not one of these.
    pub(super) fn other_keys(&mut self, node: &Node, known: &[&str], message: &str) {
        if let callgate_document::Yaml::Map(entries) = &node.value {
            for (key, _) in entries {
                if !known.contains(&key.name.as_str()) {
                    self.left_out(key.span, &key.name, message);
                }
            }
        }
    }

    /// Reports a problem that rejects the file.
    pub(super) fn problem(&mut self, at: SourceSpan, message: impl Into<String>) {
        self.problems.add(at, message);
    }
}
