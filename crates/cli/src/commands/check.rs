//! `callgate check`: judge one call, or a file of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use callgate_call::ToolCall;
use callgate_control::{CallDefaults, CallDescription, CheckOutput, judging};
use callgate_decide::mcp::{ListRefusal, McpSettings, refused_by_lists};
use callgate_policy::{DenialText, EffectReport, Judgement, Verdict};
use jiff::Timestamp;

use crate::args;
use crate::effects_text;
use crate::exit::Exit;
use crate::given_call::{GivenCall, MAX_CALL};
use crate::judge::Judge;
use crate::render::{self, Color};
use crate::report::{self, Unjudged};
use crate::sessions::Sessions;
use crate::sources;
use crate::surroundings::call_defaults;

pub(crate) fn run(args: &args::CheckArgs, config: Option<&Path>) -> Result<Exit> {
    let files = &args.policies.files;
    let policies = sources::load(files, config)?;
    let defaults = call_defaults(&args.call)?;
    let checker = |judge, defaults| -> Result<Checker> {
        let lists = sources::mcp_lists(files, config)?;
        Ok(Checker { judge, defaults, lists, denial: sources::denial_text(files, config)? })
    };
    if let Some(file) = &args.jsonl {
        let checker = checker(Judge::on_disk(policies, &args.call), defaults)?;
        return many(&checker, file);
    }
    let given = GivenCall::of(&args.call, &defaults, args.object.as_deref(), config, &policies)?;
    let checker = checker(Judge::for_call(policies, &given, &args.call), defaults)?;
    let checked = checker.check(given, None)?;
    let (tool, color) = (checked.call.name.raw(), Color::of(&io::stdout()));
    let text = match (args.json, args.explain, &checked.refusal) {
        (true, ..) => checker.json(&checked)?,
        (false, _, Some(refusal)) => refused_line(tool, refusal, color),
        (false, true, None) => {
            let input = checked.call.arguments.raw();
            let judged = render::explanation(tool, input, &checked.judgement, color);
            judged + &effects_text::list(&checked.effects)
        }
        (false, false, None) => {
            line(tool, &checked.judgement, color) + &effects_text::list(&checked.effects)
        }
    };
    render::print(&text)?;
    Ok(checked.exit())
}

/// What a call is judged by.
struct Checker {
    judge: Judge,
    /// What calls leave out.
    defaults: CallDefaults,
    /// The lists of MCP servers and tools.
    lists: McpSettings,
    denial: Arc<DenialText>,
}

/// A call, and what would happen to it.
pub(crate) struct CheckedCall {
    pub(crate) call: ToolCall,
    pub(crate) judgement: Judgement,
    /// Set if a list of servers or tools refuses it, whatever the rules say.
    refusal: Option<ListRefusal>,
    effects: EffectReport,
}

impl CheckedCall {
    fn exit(&self) -> Exit {
        Exit::of(if self.refusal.is_some() { Verdict::Deny } else { self.judgement.verdict })
    }
}

impl Checker {
    fn check(&self, given: GivenCall, sessions: Option<&mut Sessions>) -> Result<CheckedCall> {
        let (mut calls, now) = (given.calls, Timestamp::now());
        // A line without a session stands for itself.
        let has_session = calls.iter().all(|call| call.origin.session.is_some());
        let sessions = sessions.filter(|_| has_session);
        if let Some(sessions) = &sessions {
            calls.iter_mut().for_each(|call| sessions.add_past(call, now));
        }
        let Strictest { call, judgement } = strictest(&self.judge, calls)?;
        if let Some(sessions) = sessions {
            sessions.keep(&call, &judgement, now);
        }
        let refusal = refused_by_lists(&self.lists, &call.name);
        let effects = self.judge.effects(&call);
        Ok(CheckedCall { call, judgement, refusal, effects })
    }

    fn json(&self, checked: &CheckedCall) -> Result<String> {
        let CheckedCall { call, judgement, refusal, effects } = checked;
        let mut output = CheckOutput::worded(call, judgement, &self.denial).with_effects(effects);
        if let Some(refusal) = refusal {
            output = output.refused(POLICY, refusal.rule, &refusal.reason, &refusal.hint);
        }
        Ok(report::line(&output)?)
    }
}

/// The policy that lists of servers and tools count as.
const POLICY: &str = "mcp";

/// The call on the surface with the strictest judgement.
pub(crate) struct Strictest {
    pub(crate) call: ToolCall,
    pub(crate) judgement: Judgement,
}

/// Judges a call wherever it would be seen.
pub(crate) fn strictest(judge: &Judge, calls: Vec<ToolCall>) -> Result<Strictest> {
    let found = judging::strictest(calls, |call| judge.dry(call));
    let (call, judgement) = found.context("there is no call to judge")?;
    Ok(Strictest { call, judgement })
}

fn refused_line(tool: &str, refusal: &ListRefusal, color: Color) -> String {
    let rule = render::rule_name(Some(POLICY), Some(refusal.rule));
    let line = render::verdict_words("deny", tool, &rule, &refusal.reason, color);
    format!("{line}hint: {}\n", render::printable(&refusal.hint))
}

/// A judgement on a line, and what follows from it on lines of their own.
pub(crate) fn line(tool: &str, judgement: &Judgement, color: Color) -> String {
    let mut text = render::verdict_line(tool, judgement, color);
    if let Some(rewritten) = judgement.rewritten() {
        text.push_str(&format!("rewritten: {}\n", render::printable(rewritten)));
    }
    if let Some(hint) = judgement.hint.as_deref().filter(|_| !judgement.verdict.passes()) {
        text.push_str(&format!("hint: {}\n", render::printable(hint)));
    }
    if let Some(blocks) = judgement.blocks.as_deref().filter(|_| !judgement.verdict.passes()) {
        text.push_str(&format!("blocks: {}\n", render::printable(blocks)));
    }
    text
}

/// Judges one call a line, and answers each one before it waits for the next: a program may keep
/// this running and talk with it. A reader of the answers that goes away does not end the judging:
/// the exit code still has to be true.
fn many(checker: &Checker, file: &Path) -> Result<Exit> {
    let input: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => {
            let opened = File::open(file);
            Box::new(opened.with_context(|| format!("cannot read `{}`", file.display()))?)
        }
    };
    let mut lines = BufReader::new(input);
    let mut out = io::BufWriter::new(io::stdout());
    let mut sessions = Sessions::default();
    let (mut exit, mut number, mut line) = (Exit::Success, 0, Vec::new());
    while read_line(&mut lines, &mut line)
        .with_context(|| format!("cannot read line {}", number + 1))?
    {
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (text, one) = judge_line(checker, &mut sessions, &line, number)?;
        exit = exit.or_stricter(one);
        render::written(out.write_all(text.as_bytes()))?;
        // The next line may be there in part only, and its sender may wait for this answer.
        if !lines.buffer().contains(&b'\n') {
            render::written(out.flush())?;
        }
    }
    render::written(out.flush())?;
    Ok(exit)
}

fn judge_line(
    checker: &Checker,
    sessions: &mut Sessions,
    line: &[u8],
    number: usize,
) -> Result<(String, Exit)> {
    let checked = std::str::from_utf8(line).context("not UTF-8").and_then(|text| {
        let given = GivenCall::described(CallDescription::parse_line(text)?, &checker.defaults)?;
        checker.check(given, Some(sessions))
    });
    match checked {
        Ok(checked) => Ok((checker.json(&checked)?, checked.exit())),
        Err(error) => {
            let unjudged = Unjudged { line: number, error: format!("{error:#}") };
            Ok((report::line(&unjudged)?, Exit::Error))
        }
    }
}

/// Reads the next line; false at the end.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    lines.by_ref().take(MAX_CALL + 1).read_until(b'\n', line)?;
    if line.len() as u64 > MAX_CALL {
        bail!("it is longer than {} MiB", MAX_CALL >> 20);
    }
    Ok(!line.is_empty())
}
