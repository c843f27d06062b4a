//! Sends a body through the gate, and keeps what was judged.

use std::collections::VecDeque;

use callgate_call::{ArgumentsForm, ToolCall};
use callgate_dialect::Slot;
use callgate_gate::{Close, Decision, Gate, NameDecision, OnDeny, Step};
use callgate_policy::{NameJudgement, Policies, SpentLimits};

use super::body::Body;
use crate::drive;
use crate::rng::Rng;

/// How a body goes through the gate.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    pub(super) on_deny: OnDeny,
    /// Whether the upstream disconnects after the last frame.
    pub(super) close: Close,
    /// For how many frames each answer is waited for.
    pub(super) delay: usize,
}

impl Passage {
    pub(super) fn pick(rng: &mut Rng) -> Self {
        let on_deny = if rng.one_in(3) { OnDeny::Silent } else { OnDeny::Explain };
        let close = if rng.one_in(8) { Close::Failed } else { Close::End };
        let delay = if rng.one_in(3) { 1 + rng.below(4) } else { 0 };
        Self { on_deny, close, delay }
    }
}

/// What left the gate, and what had been judged.
#[derive(Debug, Clone, Default)]
pub(super) struct Gated {
    pub(super) out: Vec<u8>,
    pub(super) judged: Vec<GatedCall>,
    /// The tools that were allowed by name, before their arguments were there.
    pub(super) streamed: Vec<String>,
}

/// A call that was judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GatedCall {
    pub(super) name: String,
    /// The arguments with which it was allowed: rewritten where a rule rewrites them. Empty where it
    /// was denied by name.
    pub(super) arguments: String,
    pub(super) allowed: bool,
}

impl Gated {
    pub(super) fn run(body: &Body, policies: &Policies, passage: &Passage) -> Self {
        let gate = Gate::new(body.dialect, drive::settings(passage.on_deny));
        let mut driver = GateDriver {
            gate,
            policies,
            delay: passage.delay,
            frame: 0,
            waiting: VecDeque::new(),
            gated: Self::default(),
        };
        for chunk in body.chunks() {
            driver.gate.push(&chunk);
            driver.frame += 1;
            driver.steps();
        }
        driver.gate.close(passage.close);
        driver.frame = usize::MAX;
        driver.steps();
        driver.gated
    }
}

struct GateDriver<'a> {
    gate: Gate,
    policies: &'a Policies,
    delay: usize,
    /// How many frames were pushed.
    frame: usize,
    /// Answers, and the frame at which each is given.
    waiting: VecDeque<(usize, Slot, Decision)>,
    gated: Gated,
}

impl GateDriver<'_> {
    fn steps(&mut self) {
        loop {
            while self.waiting.front().is_some_and(|(due, ..)| *due <= self.frame) {
                let (_, slot, answer) = self.waiting.pop_front().unwrap();
                self.gate.answer(slot, answer);
            }
            match self.gate.step(&mut self.gated.out) {
                Step::Name(question) => {
                    let answer = self.by_name(&question.call);
                    self.gate.answer_name(question.slot, answer);
                }
                Step::Judge(question) => {
                    let answer = self.whole(&question.call);
                    let due = self.frame.saturating_add(self.delay);
                    self.waiting.push_back((due, question.slot, answer));
                }
                Step::OnlyDenied(_) => self.gate.conclude(),
                Step::Note(_) => {}
                Step::NeedMore | Step::Ended(_) => return,
                Step::Waiting => assert!(!self.waiting.is_empty(), "the gate waits for nothing"),
            }
        }
    }

    fn by_name(&mut self, call: &ToolCall) -> NameDecision {
        let name = call.name.raw().to_owned();
        match self.policies.judge_name(call, &drive::moment(), &SpentLimits::default()) {
            NameJudgement::Allow(permit, _) => {
                self.gated.streamed.push(name);
                NameDecision::Stream(permit)
            }
            NameJudgement::Deny(judgement) => {
                self.gated.judged.push(GatedCall {
                    name,
                    arguments: String::new(),
                    allowed: false,
                });
                NameDecision::Deny(judgement.denial(call).unwrap())
            }
            NameJudgement::NeedArguments => NameDecision::NeedArguments,
        }
    }

    fn whole(&mut self, call: &ToolCall) -> Decision {
        let judgement = self.policies.judge(call, &drive::moment(), &SpentLimits::default());
        let arguments = judgement.rewritten().unwrap_or(call.arguments.raw()).to_owned();
        let answer = drive::answer(judgement, call);
        let allowed = matches!(answer, Decision::Allow(_));
        debug_assert!(
            !matches!(call.arguments.form(), ArgumentsForm::Pending),
            "judged without arguments"
        );
        let name = call.name.raw().to_owned();
        self.gated.judged.push(GatedCall { name, arguments, allowed });
        answer
    }
}
