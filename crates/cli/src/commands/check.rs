//! `callgate check`: judge one call, or a file of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use callgate_call::ToolCall;
use callgate_control::{CallDescription, CheckOutput};
use callgate_policy::{DenialText, Judgement};

use crate::args;
use crate::exit::Exit;
use crate::judge::Judge;
use crate::render::{self, Color, hinted};
use crate::report::{self, Unjudged};
use crate::sources;
use crate::surroundings::unsaid;

pub(crate) fn run(args: &args::Check, config: Option<&Path>) -> Result<Exit> {
    let judge = Judge::new(sources::load(&args.policies.files, config)?);
    let denial = sources::denial_text(&args.policies.files, config)?;
    if let Some(file) = &args.jsonl {
        return many(&judge, &denial, file, &args.call);
    }
    let call = one_call(&args.call, args.object.as_deref())?;
    let judgement = judge.dry(&call);
    let (tool, color) = (call.name.raw(), Color::of(&io::stdout()));
    let text = match (args.json, args.explain) {
        (true, _) => report::line(&CheckOutput::worded(&call, &judgement, &denial))?,
        (false, true) => render::explanation(tool, call.arguments.raw(), &judgement, color),
        (false, false) => line(tool, &judgement, color),
    };
    render::print(&text)?;
    Ok(Exit::of(judgement.verdict))
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

/// The call of the flags, of a JSON object, or of stdin.
pub(crate) fn one_call(flags: &args::Call, object: Option<&str>) -> Result<ToolCall> {
    let given = match (&flags.tool, object) {
        (Some(tool), _) => CallDescription::from_flags(tool, flags.input.as_deref())?,
        (None, Some(object)) if object != "-" => CallDescription::parse(object)?,
        (None, object) => CallDescription::parse(&stdin_call(object)?)?,
    };
    Ok(given.into_call(&unsaid(flags))?)
}

fn no_call() -> anyhow::Error {
    let hint = r#"use `--tool` and `--input`, or give it as JSON: '{"tool":"Bash","input":{}}'"#;
    hinted("there is no call to judge".to_owned(), hint)
}

fn stdin_call(object: Option<&str>) -> Result<String> {
    let stdin = io::stdin();
    if object.is_none() && stdin.is_terminal() {
        return Err(no_call());
    }
    let mut text = Vec::new();
    stdin.lock().take(MAX_CALL + 1).read_to_end(&mut text).context("cannot read stdin")?;
    if text.len() as u64 > MAX_CALL {
        bail!("the call on stdin is larger than {} MiB", MAX_CALL >> 20);
    }
    if text.trim_ascii().is_empty() {
        return Err(no_call());
    }
    String::from_utf8(text).context("the call on stdin is not UTF-8")
}

/// Far above the largest arguments that are judged at all (1 MiB), which JSON escapes may inflate.
const MAX_CALL: u64 = 16 << 20;

/// Judges one call a line, and answers each one before it waits for the next: a program may keep
/// this running and talk with it. A reader of the answers that goes away does not end the judging:
/// the exit code still has to be true.
fn many(judge: &Judge, denial: &DenialText, file: &Path, flags: &args::Call) -> Result<Exit> {
    let input: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => {
            let opened = File::open(file);
            Box::new(opened.with_context(|| format!("cannot read `{}`", file.display()))?)
        }
    };
    let mut lines = BufReader::new(input);
    let mut out = io::BufWriter::new(io::stdout());
    let (mut exit, mut number, mut line) = (Exit::Success, 0, Vec::new());
    while read_line(&mut lines, &mut line)
        .with_context(|| format!("cannot read line {}", number + 1))?
    {
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (text, one) = judge_line((judge, denial), &line, number, flags)?;
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
    (judge, denial): (&Judge, &DenialText),
    line: &[u8],
    number: usize,
    flags: &args::Call,
) -> Result<(String, Exit)> {
    let call = std::str::from_utf8(line)
        .context("not UTF-8")
        .and_then(|text| Ok(CallDescription::parse(text)?.into_call(&unsaid(flags))?));
    match call {
        Ok(call) => {
            let judgement = judge.dry(&call);
            let text = report::line(&CheckOutput::worded(&call, &judgement, denial))?;
            Ok((text, Exit::of(judgement.verdict)))
        }
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
