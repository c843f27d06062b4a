//! Combines the rules with all checks.

use std::time::Duration;

use callgate_audit::RecordedVerdict;
use callgate_call::{FileWrite, FoundOrigin};
use callgate_policy::{Denial, Settled};

use super::{Metered, Resolved};
use crate::mcp::{explained, unreadable_note};
use crate::session_steps::KeyedStep;

/// A call with its verdict.
#[derive(Debug)]
pub(crate) struct Combined {
    pub(crate) resolved: Resolved,
    pub(crate) settled: Settled,
    /// The verdict in the record.
    pub(crate) verdict: RecordedVerdict,
    /// The input in the record, if sanitizers removed something from the arguments.
    pub(crate) rewritten: Option<String>,
    /// For each extra input, its replacement if a rule changed it.
    pub(crate) extra_replacements: Vec<Option<String>>,
    pub(crate) steps: Vec<KeyedStep>,
    /// What it writes into files, for later calls of the session.
    pub(crate) files: Vec<FileWrite>,
    /// What later calls may ask about it.
    pub(crate) events: Vec<String>,
    /// Where its values came from, as far as rules ask.
    pub(crate) origins: Vec<FoundOrigin>,
    /// How long judging took.
    pub(crate) judged_in: Duration,
}

pub(crate) fn combine(metered: Metered) -> Combined {
    let Metered { resolved, judgement, steps, .. } = metered;
    let call = &resolved.subject.call;
    let mut verdict = resolved.failures.verdict(&judgement);
    let mut denial = resolved.failures.denial(call.name.raw(), judgement.denial(call));
    // Without the addition, a reader would look for something that the arguments may not contain.
    if let Some(unreadable_note) = unreadable_note(&call.arguments, &judgement) {
        if verdict.rule == judgement.rule {
            verdict.reason = Some(explained(verdict.reason.as_deref(), &unreadable_note));
        }
        if let Some(denial) = denial.as_mut().filter(|denial| denial.rule == judgement.rule) {
            denial.reason = explained(Some(&denial.reason), &unreadable_note);
        }
    }
    let (files, origins) = (judgement.files.clone(), judgement.origins.clone());
    let events = match resolved.subject.policies.looks_at_history() {
        true => judgement.later_events(),
        false => Vec::new(),
    };
    let (rewritten, extra_replacements) =
        (judgement.rewritten().map(str::to_owned), judgement.rewritten_extra().to_vec());
    let checks = if resolved.stops() { Checks::Stop } else { Checks::Pass };
    let settled = combined(judgement.settle(call), checks, denial, call.name.raw());
    let judged_in = resolved.subject.begun.elapsed();
    Combined {
        resolved,
        settled,
        verdict,
        rewritten,
        extra_replacements,
        steps,
        files,
        events,
        origins,
        judged_in,
    }
}

/// What the checks of servers and tools say about a call, whatever the rules do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checks {
    Pass,
    Stop,
}

/// What rules and checks say together. A check that stops a call does so even if nobody can say
/// why.
fn combined(by_rules: Settled, checks: Checks, denial: Option<Denial>, tool: &str) -> Settled {
    match (by_rules, checks, denial) {
        (Settled::Stop(_), _, Some(denial)) | (_, Checks::Stop, Some(denial)) => {
            Settled::Stop(denial)
        }
        (_, Checks::Stop, None) => {
            Settled::Stop(Denial::refused(tool, "a check of its server or tool failed"))
        }
        (settled, Checks::Pass, _) => settled,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
    use callgate_effects::Catalogue;
    use callgate_policy::{Policies, Source, SpentLimits};

    use super::*;

    fn allowed() -> Settled {
        let source = Source { name: "p.yaml".into(), text: "policy: p\nrules: []\n".into() };
        let policies = Policies::compile(&[source], &Catalogue::builtin()).unwrap().0;
        let call = ToolCall {
            id: CallId::from("call_1"),
            name: ToolName::parse("Read").unwrap(),
            arguments: Arguments::json("{}"),
            origin: Origin::at(Surface::Mcp),
            caller: None,
        };
        let judgement = policies.judge(&call, &crate::now(), &SpentLimits::none());
        judgement.settle(&call)
    }

    #[test]
    fn a_check_that_stops_a_call_needs_no_reason() {
        let refused = combined(allowed(), Checks::Stop, None, "Read");
        assert!(matches!(refused, Settled::Stop(_)), "{refused:?}");
        assert!(matches!(combined(allowed(), Checks::Pass, None, "Read"), Settled::Pass(_)));
        let denial = Some(Denial::refused("Read", "its server is not trusted"));
        let Settled::Stop(denial) = combined(allowed(), Checks::Stop, denial, "Read") else {
            panic!("it passes");
        };
        assert_eq!(denial.reason, "its server is not trusted");
    }
}
