//! Calls that may be read in several ways, and what goes to a tool's server along with a call: each is
//! judged, and the strictest judgement counts.

use callgate_call::{Arguments, ToolCall};

use crate::finding::Findings;
use crate::judgement::Judgement;
use crate::limit::SpentLimits;
use crate::moment::Moment;
use crate::policies::Policies;
use crate::policy::Policy;
use crate::rule::Question;
use crate::sanitize::{Clean, clean};
use crate::wrapper::extend_new;

/// Something that goes to a server along with a call, or by itself. Conditions on all of the input
/// (`$`, `secret`) look at it as at the arguments, and rules that sanitize replace in it; a condition
/// on one argument looks at the arguments alone.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtraInput {
    /// What it is, as reasons and records name it.
    pub place: String,
    /// What it holds: an object, as JSON.
    pub input: Arguments,
    /// Nobody may change it: what would be replaced in it is refused.
    pub is_fixed: bool,
}

/// The same call as somebody else may read it.
#[derive(Debug, Clone)]
pub struct OtherReading {
    /// The call, read like that.
    pub call: ToolCall,
    /// What reading it is, as the reason says it: "without half characters".
    pub label: String,
}

/// What is judged beside a call as it came.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlsoJudged<'a> {
    /// The other ways to read it.
    pub readings: &'a [OtherReading],
    /// What goes along with it.
    pub extra: &'a [ExtraInput],
}

impl Policies {
    /// The judgement of a call, of every other reading of it, and of what goes along with it: the
    /// strictest counts. Whoever follows it replaces what [`Judgement::along`] says.
    pub fn judge_also(
        &self,
        call: &ToolCall,
        others: AlsoJudged<'_>,
        moment: &Moment,
        limits: &SpentLimits,
        findings: Findings<'_>,
    ) -> Judgement {
        let ask = |call| Question::new(call, moment, limits, self.servers()).with(findings);
        let mut judgement = self.judge_whole(&ask(call));
        for other in others.readings {
            judgement.absorb(self.judge_whole(&ask(&other.call)), &other.label);
        }
        let judgement = judgement.sanitized(call).sanitized_alike(call, others.readings);
        let readings = others.readings.iter().map(|other| &other.call);
        let calls: Vec<&ToolCall> = std::iter::once(call).chain(readings).collect();
        judgement.with_extra_judged(&calls, self.seen(others.extra), |call, extra| {
            let question = Question::new(call, moment, limits, self.servers())
                .with(findings)
                .with_extra(extra);
            self.judge_one(&question)
        })
    }

    /// The judgement of something that a client sends without a call of its own: an answer to what the
    /// server asked, or a message of another kind. `named` is what rules know it by: the call it
    /// belongs to, or one in the name of its method. Of the rules that restrict, only those that look at
    /// all of the input have a say, and no default: a policy that denies what it does not know means
    /// calls.
    pub fn judge_sent(
        &self,
        named: &ToolCall,
        extra: &[ExtraInput],
        moment: &Moment,
        findings: Findings<'_>,
    ) -> Judgement {
        let limits = SpentLimits::none();
        let judge = |named: &ToolCall, extra: &[ExtraInput]| {
            let question = Question::new(named, moment, &limits, self.servers())
                .with(findings)
                .with_extra(extra);
            self.judge_by(&question, Policy::judge_sent)
        };
        Judgement::empty(named).with_extra_judged(&[named], self.seen(extra), judge)
    }

    /// Whether any rule looks at what goes along with a call.
    pub fn looks_at_extra(&self) -> bool {
        self.policies().iter().any(|policy| policy.looks_at_whole_input)
    }

    /// What goes along, if any rule looks at it.
    fn seen<'a>(&self, extra: &'a [ExtraInput]) -> &'a [ExtraInput] {
        if self.looks_at_extra() { extra } else { &[] }
    }
}

impl Judgement {
    /// A secret with half a character in it is none, until somebody leaves that out: what is found only
    /// in such a reading cannot be replaced where it stands.
    fn sanitized_alike(mut self, call: &ToolCall, readings: &[OtherReading]) -> Self {
        let unlike = |it: &&OtherReading| it.call.arguments != call.arguments;
        if self.cleaners.is_empty() || self.verdict.stops() {
            return self;
        }
        for reading in readings.iter().filter(unlike) {
            let found = |call: &ToolCall| clean(&self.cleaners, &call.arguments).ok();
            let times = |call: &ToolCall| found(call).map(|clean| clean.kinds.len());
            if times(&reading.call) != times(call) {
                let label = &reading.label;
                self.refuse(&format!("{label}: something stands there that cannot be replaced"));
                break;
            }
        }
        self
    }

    /// The judgement with that of what goes along, for each reading of the call.
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

/// What was cleaned, if it may be.
fn changed(extra: &ExtraInput, clean: Clean) -> Result<Clean, String> {
    match extra.is_fixed && clean.text.is_some() {
        true => Err("it must stay as the server made it".to_owned()),
        false => Ok(clean),
    }
}

/// Where something stands that a rule has something against: the first place that is enough by itself.
fn place_of(extra: &[ExtraInput], judge: impl Fn(&[ExtraInput]) -> Judgement) -> String {
    let alone = extra.iter().find(|it| !judge(std::slice::from_ref(*it)).verdict.passes());
    match alone.map(|it| (&it.place, it.input.value())) {
        Some((place, Ok(_))) => format!("in `{place}`"),
        Some((place, Err(why))) => format!("`{place}` cannot be read ({why})"),
        None => "in what goes along with it".to_owned(),
    }
}
