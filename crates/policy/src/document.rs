//! Where policies stand: in a file of their own, or among the settings of another.

use crate::source::Source;
use crate::yaml::Node;

/// A file with policies in it.
#[derive(Debug)]
pub struct Document<'s> {
    source: &'s Source,
    /// The policies, if somebody else has read the rest of the file.
    policies: Option<Vec<Node>>,
}

impl<'s> Document<'s> {
    /// A policy file.
    pub fn file(source: &'s Source) -> Self {
        Self { source, policies: None }
    }

    /// Policies in a file whose other keys are not policies. Each node is one, with its place in
    /// that file.
    pub fn part(source: &'s Source, policies: Vec<Node>) -> Self {
        Self { source, policies: Some(policies) }
    }

    pub(crate) fn source(&self) -> &'s Source {
        self.source
    }

    pub(crate) fn policies(&self) -> Option<&[Node]> {
        self.policies.as_deref()
    }
}
