//! An exception to a rule, tried on policies that are already compiled.

use crate::Source;
use crate::condition::{self, Condition};
use crate::policies::Policies;
use crate::policy::{Policy, PolicyHeader};
use callgate_document::parse;
use callgate_document::{Diagnostic, Problems};

impl Policies {
    /// The same policies with an exception to a rule: calls for which `when` (a condition as YAML)
    /// holds do not match it. The same as `except` in a config, for every policy.
    pub fn with_exception(
        mut self,
        policy: &str,
        rule: &str,
        when: &str,
    ) -> Result<Self, Vec<Diagnostic>> {
        let source = Source { name: "exception".to_owned(), text: when.to_owned() };
        let mut problems = Problems::new(&source);
        let node = parse(&source, &mut problems);
        let when = node.and_then(|node| condition::compile(&node, &mut problems));
        let Some(when) = when else { return Err(problems.into_list()) };
        self.map_policies(|known| match known.name == policy {
            true => known.with_exception(rule, &when),
            false => known,
        });
        Ok(self)
    }
}

impl Policy {
    fn with_exception(mut self, id: &str, except: &Condition) -> Self {
        for rule in self.rules.iter_mut().filter(|rule| rule.id == id) {
            let not = Condition::Not(Box::new(except.clone()));
            rule.when = Some(match rule.when.take() {
                Some(when) => Condition::All(vec![when, not]),
                None => not,
            });
        }
        let Self { name, audience, shadow, sketch, defaults, rules, .. } = self;
        Self::new(PolicyHeader { name, audience, shadow, defaults, sketch }, rules)
    }
}
