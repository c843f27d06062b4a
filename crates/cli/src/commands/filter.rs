//! `callgate filter`: the gate as a Unix filter.
//!
//! Reads what has arrived, pushes it through the gate, writes what is free to leave, and flushes.
//! Nothing waits for the end of the stream but what the gate holds.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use anyhow::Result;
use callgate_call::ToolCall;
use callgate_control::JudgementOutput;
use callgate_gate::{
    CallQuestion, Close, Ending, Gate, NameDecision, NameQuestion, Note, RemovedTurn, Step,
};
use callgate_policy::{Judgement, NameJudgement, TextHit};
use callgate_wire::{CodingError, Decoder, ReadLimits};
use serde::Serialize;

use crate::args::{self, FilterOnDeny};
use crate::exit::Exit;
use crate::judge::{self, Judge};
use crate::render::{self, Color, hinted};
use crate::report::{self, CallFields, FilterEvent, Removed, TextRuleEvent};
use crate::sources;
use crate::surroundings::response_origin;

pub(crate) fn run(args: &args::FilterArgs, config: Option<&Path>) -> Result<Exit> {
    let decoder = Decoder::for_header(args.content_encoding.as_deref(), &ReadLimits::default())
        .map_err(|error| hinted(error.to_string(), "callgate reads gzip, deflate, br and zstd"))?;
    let judge = Judge::new(sources::load(&args.policies.files, config)?);
    let mut settings = callgate_gate::Settings::new(response_origin(&args.context));
    settings.on_deny = match args.on_deny {
        FilterOnDeny::Explain => callgate_gate::OnDeny::Explain,
        FilterOnDeny::Silent => callgate_gate::OnDeny::Silent,
    };
    settings.denial = sources::denial_text(&args.policies.files, config)?;
    settings.text = judge.text_guard(&settings.origin);
    let gate = Gate::new(args.dialect, settings);
    let reporter =
        if args.json { Reporter::Json } else { Reporter::People(Color::of(&io::stderr())) };
    let mut filter =
        ResponseFilter { decoder, gate, judge, reporter, plain: Vec::new(), free: Vec::new() };
    match filter.pump(io::stdin().lock(), io::stdout().lock()) {
        Ok(Ending::Clean | Ending::Blocked) => Ok(Exit::Success),
        Ok(Ending::Error(why)) => {
            filter.reporter.ended(&why);
            Ok(Exit::Cut)
        }
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => {
            filter.reporter.ended(&format!("cannot write the response: {error}"));
            Ok(Exit::Cut)
        }
    }
}

/// One response on its way.
struct ResponseFilter {
    decoder: Decoder,
    gate: Gate,
    judge: Judge,
    reporter: Reporter,
    /// Decoded bytes for the gate; empty between two reads.
    plain: Vec<u8>,
    /// Bytes that are free to leave; empty between two reads.
    free: Vec<u8>,
}

/// What one read brought.
enum Fed {
    More,
    End,
    Failed(String),
}

/// Providers send events of some hundred bytes; a read returns what is there.
const CHUNK: usize = 64 * 1024;

impl ResponseFilter {
    /// Carries the response through. The error is one of writing.
    fn pump(&mut self, mut input: impl Read, mut output: impl Write) -> io::Result<Ending> {
        let mut chunk = vec![0; CHUNK];
        loop {
            let fed = match input.read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => self.fail(format!("cannot read the response: {error}")),
                Ok(0) => self.end(),
                Ok(n) => self.take_in(chunk.get(..n).unwrap_or_default()),
            };
            let ending = self.drain();
            output.write_all(&self.free)?;
            output.flush()?;
            self.free.clear();
            match (fed, ending) {
                // Our own message is more precise than the gate's.
                (Fed::Failed(why), _) => return Ok(Ending::Error(why)),
                (_, Some(ending)) => return Ok(ending),
                (Fed::End, None) => return Ok(Ending::Error("a call was never judged".to_owned())),
                (Fed::More, None) => {}
            }
        }
    }

    fn take_in(&mut self, bytes: &[u8]) -> Fed {
        let decoded = self.decoder.push(bytes, &mut self.plain);
        self.push_plain();
        match decoded {
            Ok(()) => Fed::More,
            Err(error) => self.undecodable(error),
        }
    }

    fn end(&mut self) -> Fed {
        if let Err(error) = self.decoder.finish() {
            return self.undecodable(error);
        }
        self.gate.close(Close::End);
        Fed::End
    }

    fn push_plain(&mut self) {
        self.gate.push(&self.plain);
        self.plain.clear();
    }

    fn undecodable(&mut self, error: CodingError) -> Fed {
        self.fail(format!("cannot decode the response: {error}"))
    }

    fn fail(&mut self, why: String) -> Fed {
        self.gate.close(Close::Failed);
        Fed::Failed(why)
    }

    /// Takes every step that is possible now; the ending if that was the last one.
    fn drain(&mut self) -> Option<Ending> {
        loop {
            match self.gate.step(&mut self.free) {
                Step::Name(question) => self.answer_name(question),
                Step::Judge(question) => self.answer(question),
                // The filter cannot ask anyone.
                Step::OnlyDenied(_) => self.gate.conclude(),
                Step::Note(note) => self.reporter.note(&note),
                Step::Ended(ending) => return Some(ending),
                // Every question is answered at once, so the gate never waits for one.
                Step::NeedMore | Step::Waiting => return None,
            }
        }
    }

    /// A call that is allowed by name is reported at its end, with its arguments.
    fn answer_name(&mut self, question: NameQuestion) {
        let NameQuestion { slot, call } = question;
        let answer = match self.judge.name(&call) {
            NameJudgement::Allow(permit, _) => NameDecision::Stream(permit),
            NameJudgement::NeedArguments => NameDecision::NeedArguments,
            NameJudgement::Deny(judgement) => match judgement.denial(&call) {
                Some(denial) => {
                    self.reporter.judged(&call, &judgement);
                    NameDecision::Deny(denial)
                }
                None => NameDecision::NeedArguments,
            },
        };
        self.gate.answer_name(slot, answer);
    }

    fn answer(&mut self, question: CallQuestion) {
        let CallQuestion { slot, call, .. } = question;
        let judgement = self.judge.whole(&call);
        self.reporter.judged(&call, &judgement);
        self.gate.answer(slot, judge::unrecorded(judgement, &call));
    }
}

/// Reports decisions on stderr.
#[derive(Debug, Clone, Copy)]
enum Reporter {
    People(Color),
    Json,
}

impl Reporter {
    fn judged(self, call: &ToolCall, judgement: &Judgement) {
        match self {
            Self::People(color) => {
                render::talk(&render::verdict_line(call.name.raw(), judgement, color));
                if judgement.rewritten().is_some() {
                    let kinds = format!("replaced {}", judgement.replaced.join(", "));
                    let rule = judgement.sanitizers.first();
                    let rule =
                        rule.map(|it| render::rule_name(Some(&it.policy), it.rule.as_deref()));
                    let (tool, rule) = (call.name.raw(), rule.unwrap_or_default());
                    render::talk(&render::verdict_words("sanitize", tool, &rule, &kinds, color));
                }
            }
            Self::Json => write_event(&FilterEvent {
                event: "tool_call",
                call: Some(CallFields::of(call)),
                judged: Some(JudgementOutput::of(judgement)),
                why: None,
            }),
        }
    }

    fn note(self, note: &Note) {
        match note {
            Note::Observed(call) => self.observed(call),
            Note::Removed(turn) => self.removed(turn),
            // `removed` reports the call with its arguments.
            Note::Completed { .. } | Note::AnswerFailed { .. } => {}
            Note::Withheld { why } => self.noted("withheld", None, why),
            Note::PassedUnread { why } => self.noted("unread", None, why),
            Note::Normalised { tool, why } => self.noted("normalised", Some(tool), why),
            Note::Refused { tool, why } => self.noted("refused", Some(tool), why),
            Note::Dropped { tool, why } => self.noted("dropped", Some(tool), why),
            Note::Guardrail(hit) => self.guardrail(hit),
        }
    }

    fn observed(self, call: &ToolCall) {
        match self {
            Self::People(color) => {
                let why = "run by the provider itself";
                render::talk(&render::note_line("seen", call.name.raw(), why, color));
            }
            Self::Json => {
                let call = Some(CallFields::of(call));
                write_event(&FilterEvent { event: "observed", call, ..FilterEvent::default() });
            }
        }
    }

    /// Only for programs, which get the calls as they came: a call that was denied by its name was
    /// reported without its arguments. People have seen the line of each verdict.
    fn removed(self, turn: &RemovedTurn) {
        if let Self::Json = self {
            for call in &turn.calls {
                write_event(&Removed::of(call));
            }
        }
    }

    fn noted(self, event: &'static str, tool: Option<&str>, why: &str) {
        match self {
            Self::People(color) => {
                render::talk(&render::note_line(event, tool.unwrap_or_default(), why, color));
            }
            Self::Json => {
                let call = tool.map(CallFields::named);
                write_event(&FilterEvent { event, call, judged: None, why: Some(why) });
            }
        }
    }

    /// Reports the kind of a match, never the matched text.
    fn guardrail(self, hit: &TextHit) {
        match self {
            Self::People(color) => {
                let rule = render::rule_name(Some(&hit.policy), Some(&hit.rule));
                let (word, kind) = (hit.action.as_str(), format!("text ({})", hit.kind));
                render::talk(&render::verdict_words(word, &kind, &rule, &hit.reason, color));
            }
            Self::Json => write_event(&TextRuleEvent::of(hit)),
        }
    }

    fn ended(self, why: &str) {
        match self {
            Self::People(_) => {
                render::error(&anyhow::anyhow!("the response was ended with an error: {why}"));
            }
            Self::Json => write_event(&FilterEvent {
                event: "ended",
                why: Some(why),
                ..FilterEvent::default()
            }),
        }
    }
}

fn write_event(event: &impl Serialize) {
    if let Ok(line) = report::line(event) {
        render::talk(&line);
    }
}
