//! Asks the rules, before any limit is counted.

use callgate_policy::{Judgement, SpentLimits};

use super::Resolved;
use super::recall::Recalled;

/// A call with the judgement of the rules.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) resolved: Resolved,
    pub(crate) judgement: Judgement,
}

pub(crate) fn judge(recalled: Recalled) -> Judged {
    let Recalled { resolved } = recalled;
    let judgement = match resolved.waived {
        true => resolved.subject.judge_waived(),
        false => resolved.subject.judge(&SpentLimits::none(), resolved.findings()),
    };
    Judged { resolved, judgement }
}
