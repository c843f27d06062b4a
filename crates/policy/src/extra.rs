//! Judging what belongs to a call in addition to its arguments: other ways to read the call, and
//! extra input that is sent with it. Each is judged, and the strictest judgement counts.

use callgate_call::{Arguments, ToolCall};

use crate::finding::Findings;
use crate::judgement::Judgement;
use crate::limit::SpentLimits;
use crate::moment::Moment;
use crate::policies::Policies;
use crate::policy::Policy;
use crate::sanitize::{Clean, clean};
use crate::wrapper::extend_new;

/// Input that is sent to a server in addition to a call's arguments, or without a call. Conditions
/// on the whole input (`$`, `secret`) cover it, and rules that sanitize rewrite it. A condition on
/// one argument does not look at it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtraInput {
    /// Its name in reasons and records.
    pub place: String,
    /// Its content: a JSON object.
    pub input: Arguments,
    /// It must not be changed: if a rule would rewrite it, the call is refused.
    pub is_fixed: bool,
}

/// The same call as another program may read it.
#[derive(Debug, Clone)]
pub struct OtherReading {
    /// The call in that reading.
    pub call: ToolCall,
    /// What the reading is called in a reason, such as "without half characters".
    pub label: String,
}

/// What is judged in addition to a call as it arrived.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlsoJudged<'a> {
    /// Other ways to read the call.
    pub readings: &'a [OtherReading],
    /// Input that is sent in addition to the arguments.
    pub extra: &'a [ExtraInput],
}

impl Policies {
    /// Judges a call, every other reading of it and its extra input. The strictest judgement
    /// counts. The caller must replace extra input as [`Judgement::rewritten_extra`] says.
    pub fn judge_also(
        &self,
        call: &ToolCall,
        others: AlsoJudged<'_>,
        moment: &Moment,
        limits: &SpentLimits,
        findings: Findings<'_>,
    ) -> Judgement {
        let ask = |call| self.question(call, moment, limits).with(findings);
        let mut judgement = self.judge_with_inner_calls(&ask(call));
        for other in others.readings {
            judgement.absorb(self.judge_with_inner_calls(&ask(&other.call)), &other.label);
        }
        let judgement = judgement.sanitized(call).sanitized_in_all_readings(call, others.readings);
        let readings = others.readings.iter().map(|other| &other.call);
        let calls: Vec<&ToolCall> = std::iter::once(call).chain(readings).collect();
        judgement.with_extra_judged(&calls, self.relevant(others.extra), |call, extra| {
            let question = self.question(call, moment, limits).with(findings).with_extra(extra);
            self.judge_alone(&question)
        })
    }

    /// Judges something that a client sends without a call: an answer to a server's question, or
    /// another kind of message. `named` is the call that rules compare: the one it belongs to, or
    /// one named after its method. Of the rules that restrict, only those that look at the whole
    /// input apply. No default applies: a policy that denies unknown calls does not mean other
    /// messages.
    pub fn judge_sent(
        &self,
        named: &ToolCall,
        extra: &[ExtraInput],
        moment: &Moment,
        findings: Findings<'_>,
    ) -> Judgement {
        let limits = SpentLimits::none();
        let judge = |named: &ToolCall, extra: &[ExtraInput]| {
            let question = self.question(named, moment, &limits).with(findings).with_extra(extra);
            self.combine_outcomes(&question, Policy::outcome_of_sent)
        };
        Judgement::empty(named).with_extra_judged(&[named], self.relevant(extra), judge)
    }

    /// Whether any rule looks at extra input.
    pub fn looks_at_extra(&self) -> bool {
        self.policies().iter().any(|policy| policy.looks_at.whole_input)
    }

    /// The extra input, if any rule looks at it.
    fn relevant<'a>(&self, extra: &'a [ExtraInput]) -> &'a [ExtraInput] {
        if self.looks_at_extra() { extra } else { &[] }
    }
}

impl Judgement {
    /// Servers that drop lone surrogates may see a secret that others do not. Such a match cannot
    /// be replaced in place, so the call is refused.
    fn sanitized_in_all_readings(mut self, call: &ToolCall, readings: &[OtherReading]) -> Self {
        let differs = |it: &&OtherReading| it.call.arguments != call.arguments;
        if self.cleaners.is_empty() || self.verdict.stops() {
            return self;
        }
        for reading in readings.iter().filter(differs) {
            let found = |call: &ToolCall| clean(&self.cleaners, &call.arguments).ok();
            let times = |call: &ToolCall| found(call).map(|clean| clean.kinds.len());
            if times(&reading.call) != times(call) {
                let label = &reading.label;
                self.refuse(&format!("{label}: its value cannot be replaced"));
                break;
            }
        }
        self
    }

    /// Adds the judgement of the extra input, for each reading of the call.
    fn with_extra_judged(
        mut self,
        calls: &[&ToolCall],
        extra: &[ExtraInput],
        judge: impl Fn(&ToolCall, &[ExtraInput]) -> Self,
    ) -> Self {
        let mut cleaners = Vec::new();
        for call in calls.iter().filter(|_| !extra.is_empty()) {
            if self.verdict.stops() {
                return self;
            }
            let mut judged = judge(call, extra);
            extend_new(&mut cleaners, std::mem::take(&mut judged.cleaners));
            let label = match judged.verdict.passes() {
                true => String::new(),
                false => place_of(extra, |extra| judge(call, extra)),
            };
            self.absorb(judged, &label);
        }
        for extra in extra.iter().filter(|_| !cleaners.is_empty()) {
            match clean(&cleaners, &extra.input).and_then(|clean| changed(extra, clean)) {
                Ok(Clean { text, kinds }) => {
                    self.extra.push(text);
                    self.replace(kinds);
                }
                Err(why) => self.refuse(&format!("`{}` cannot be sanitized: {why}", extra.place)),
            }
        }
        self
    }
}

/// The sanitized text, if it may be changed.
fn changed(extra: &ExtraInput, clean: Clean) -> Result<Clean, String> {
    match extra.is_fixed && clean.text.is_some() {
        true => Err("it must stay as the server issued it".to_owned()),
        false => Ok(clean),
    }
}

/// Where the offending input is: the first extra input that is denied on its own.
fn place_of(extra: &[ExtraInput], judge: impl Fn(&[ExtraInput]) -> Judgement) -> String {
    let alone = extra.iter().find(|it| !judge(std::slice::from_ref(*it)).verdict.passes());
    match alone.map(|it| (&it.place, it.input.value())) {
        Some((place, Ok(_))) => format!("in `{place}`"),
        Some((place, Err(why))) => format!("`{place}` cannot be read ({why})"),
        None => "in the data sent with it".to_owned(),
    }
}
