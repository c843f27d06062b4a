//! A file that contains policies: a policy file, or a config file with policies in it.

use callgate_document::Node;
use callgate_document::Source;

/// A file with policies in it.
#[derive(Debug)]
pub struct PolicyDocument<'s> {
    source: &'s Source,
    /// The policies of a config file, whose other keys were read elsewhere; `None` for a policy
    /// file.
    policies: Option<Vec<Node>>,
}

impl<'s> PolicyDocument<'s> {
    /// A policy file.
    pub fn file(source: &'s Source) -> Self {
        Self { source, policies: None }
    }

    /// Policies in a file that also has other keys. Each node is one policy, with its span in that
    /// file.
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
