//! Output for people: messages and verdict lines, readable without colour.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write as _};
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use callgate_config::{ConfigError, PolicySet};
use callgate_control::HintedError;
use callgate_policy::{DenialScope, Judgement, RuleHit};

use crate::args::ColorWhen;

/// What `--color` asks for; set once, before anything is printed.
static COLOR_WHEN: OnceLock<ColorWhen> = OnceLock::new();

/// Takes over what `--color` asks for.
pub(crate) fn use_color(when: ColorWhen) {
    // Only the first call counts, and `main` makes only one.
    let _ = COLOR_WHEN.set(when);
}

/// Whether a stream shows colours: as `--color` says; by default if it is a terminal and NO_COLOR
/// is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    On,
    Off,
}

impl Color {
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_on = match COLOR_WHEN.get().copied().unwrap_or(ColorWhen::Auto) {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => stream.is_terminal() && !set("NO_COLOR") && !dumb,
        };
        if is_on { Self::On } else { Self::Off }
    }

    /// Something that was denied.
    pub(crate) fn denied(self, text: &str) -> String {
        self.paint(RED, text)
    }

    /// Something that is as it should be.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint(GREEN, text)
    }

    /// Something to look at.
    pub(crate) fn warning(self, text: &str) -> String {
        self.paint(YELLOW, text)
    }

    pub(crate) fn paint(self, style: &str, text: &str) -> String {
        match self {
            Self::On => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
            Self::Off => text.to_owned(),
        }
    }
}

pub(crate) const RED: &str = "1;31";
pub(crate) const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "1;36";

/// A message with a way out.
#[derive(Debug)]
struct Hinted {
    message: String,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Hinted {}

/// An error that says what to do next.
pub(crate) fn hinted(message: String, hint: impl Into<String>) -> anyhow::Error {
    Hinted { message, hint: hint.into() }.into()
}

/// Prints what went wrong, where, and what to do next.
pub(crate) fn error(error: &anyhow::Error) {
    let color = Color::of(&io::stderr());
    let mut text = String::new();
    let of_config = error.downcast_ref::<ConfigError>();
    if let Some(ConfigError::Rejected(rejected)) = of_config {
        for drawn in rejected.rendered(color == Color::On) {
            text.push_str(&drawn);
            text.push_str("\n\n");
        }
    }
    let (message, hint) = message_and_hint(error);
    text.push_str(&format!("{}: {}\n", color.paint(RED, "error"), printable(&message)));
    if let Some(hint) = hint {
        text.push_str(&format!("{}: {}\n", color.paint(CYAN, "hint"), printable(&hint)));
    }
    talk(&text);
}

/// Warns of files that other users can change.
pub(crate) fn warn_of_exposed(policies: &PolicySet) {
    let color = Color::of(&io::stderr());
    for exposed in &policies.exposed {
        let (warning, hint) = (color.paint(YELLOW, "warning"), color.paint(CYAN, "hint"));
        let (message, fix) = (printable(&exposed.to_string()), printable(&exposed.fix()));
        talk(&format!("{warning}: {message}\n{hint}: run `{fix}`\n\n"));
    }
}

/// What went wrong, and what to do next.
pub(crate) fn message_and_hint(error: &anyhow::Error) -> (String, Option<String>) {
    let whole = format!("{error:#}");
    // Some errors carry their hint with them.
    let (message, carried) = match whole.split_once("\nhint: ") {
        Some((message, hint)) => (message, Some(hint)),
        None => (whole.as_str(), None),
    };
    let hinted = error.chain().find_map(|cause| cause.downcast_ref::<Hinted>());
    let problem = error.chain().find_map(|cause| cause.downcast_ref::<HintedError>());
    let of_config = error.downcast_ref::<ConfigError>();
    let hint = hinted.map(|hinted| hinted.hint.as_str()).or(carried);
    let hint = hint.or_else(|| problem.and_then(HintedError::hint));
    let hint = hint.or_else(|| of_config.and_then(ConfigError::hint));
    (message.to_owned(), hint.map(str::to_owned))
}

/// Writes to stderr. An error cannot be reported anywhere, so it is ignored.
pub(crate) fn talk(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Shows the progress of long work on a terminal, and nothing elsewhere.
pub(crate) fn progress(verb: &'static str) -> impl FnMut(u64, u64) {
    let is_terminal = io::stderr().is_terminal();
    let mut shown = 0;
    move |done, all| {
        let percent = done.saturating_mul(100).checked_div(all).unwrap_or(100);
        if is_terminal && percent != shown {
            shown = percent;
            talk(&format!("\r{verb} {percent} %"));
            if percent >= 100 {
                talk("\r                    \r");
            }
        }
    }
}

/// Writes to stdout.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// A closed stdout is not an error: its reader has seen enough.
pub(crate) fn written(done: io::Result<()>) -> Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to stdout"),
    }
}

/// One line: verdict, tool, rule, reason.
pub(crate) fn verdict_line(tool: &str, judgement: &Judgement, color: Color) -> String {
    let rule = rule_name(judgement.policy.as_deref(), judgement.rule.as_deref());
    let reason = printable(&judgement.reason);
    line(judgement.verdict.as_str(), tool, &rule, &reason, color)
}

/// One line about something other than a verdict.
pub(crate) fn note_line(what: &str, tool: &str, why: &str, color: Color) -> String {
    line(what, tool, "", &printable(why), color)
}

/// The same for a verdict that comes as words.
pub(crate) fn verdict_words(
    verdict: &str,
    tool: &str,
    rule: &str,
    reason: &str,
    color: Color,
) -> String {
    line(verdict, tool, rule, &printable(reason), color)
}

fn line(what: &str, tool: &str, rule: &str, why: &str, color: Color) -> String {
    let mut line = paint_word(&format!("{what:<5}"), what, color);
    for part in [printable(tool).as_str(), rule, why] {
        if !part.is_empty() {
            line.push_str("  ");
            line.push_str(part);
        }
    }
    line.push('\n');
    line
}

pub(crate) fn paint_word(shown: &str, what: &str, color: Color) -> String {
    match what {
        "allow" => color.paint(GREEN, shown),
        "deny" | "refused" => color.paint(RED, shown),
        "audit" | "unjudged" | "unread" | "withheld" | "dropped" | "normalised" => {
            color.paint(YELLOW, shown)
        }
        _ => shown.to_owned(),
    }
}

/// The whole judgement of one call.
pub(crate) fn explanation(tool: &str, input: &str, judgement: &Judgement, color: Color) -> String {
    let mut text = String::new();
    let verdict = judgement.verdict.as_str();
    row(&mut text, "verdict", &paint_word(verdict, verdict, color));
    row(&mut text, "tool", &printable(tool));
    row(&mut text, "input", &printable(input));
    let rule = rule_name(judgement.policy.as_deref(), judgement.rule.as_deref());
    row(&mut text, "rule", &rule);
    row(&mut text, "reason", &printable(&judgement.reason));
    if let Some(hint) = &judgement.hint {
        row(&mut text, "hint", &printable(hint));
    }
    if !judgement.verdict.passes() {
        let blocks = judgement.blocks.as_deref().map(printable);
        row(&mut text, "blocks", &blocks.unwrap_or_else(|| blocked(judgement.scope).to_owned()));
    }
    if let Some(matched) = &judgement.matched {
        let (path, value) = (printable(&matched.path), printable(&matched.value));
        row(&mut text, "matched", &format!("{path} = {value}"));
    }
    hits(&mut text, "decided", &judgement.deciding);
    hits(&mut text, "rewrites", &judgement.sanitizers);
    if let Some(rewritten) = judgement.rewritten() {
        row(&mut text, "output", &printable(rewritten));
    }
    hits(&mut text, "audits", &judgement.audits);
    hits(&mut text, "shadows", &judgement.shadows);
    for error in &judgement.errors {
        let rule = rule_name(Some(&error.policy), Some(&error.rule));
        row(&mut text, "unknown", &format!("{rule}  {}", printable(&error.why)));
    }
    // A call that carries others names a limit once for each.
    let places = judgement.limits.iter().enumerate();
    let first =
        |(at, limit): &(usize, _)| !judgement.limits.iter().take(*at).any(|it| it == *limit);
    for (_, limit) in places.filter(first) {
        let rule = rule_name(Some(&limit.policy), Some(&limit.rule));
        let (calls, seconds) = (limit.rate.calls, limit.rate.seconds);
        row(
            &mut text,
            "limit",
            &format!("{rule}  {calls} calls per {seconds} s, not counted here"),
        );
    }
    text
}

/// What a denial blocks, if the rule does not state it.
fn blocked(scope: DenialScope) -> &'static str {
    match scope {
        DenialScope::Tool => "the tool, whatever its arguments",
        DenialScope::Use => "only this use of the tool",
        DenialScope::Rate => "more calls than the limit",
        DenialScope::Outage | DenialScope::Unclear => "this call",
    }
}

fn hits(text: &mut String, label: &str, hits: &[RuleHit]) {
    for hit in hits {
        let rule = rule_name(Some(&hit.policy), hit.rule.as_deref());
        let unknown = if hit.unknown { "  (a condition could not be evaluated)" } else { "" };
        let reason = printable(&hit.reason);
        row(text, label, &format!("{:<5}  {rule}  {reason}{unknown}", hit.verdict.as_str()));
    }
}

fn row(text: &mut String, label: &str, value: &str) {
    let _ = writeln!(text, "{label:<8} {value}");
}

/// `policy/rule`, or what is shown in its place.
pub(crate) fn rule_name(policy: Option<&str>, rule: Option<&str>) -> String {
    match (policy, rule) {
        (Some(policy), Some(rule)) => printable(&format!("{policy}/{rule}")),
        (Some(policy), None) => printable(&format!("{policy} (default)")),
        (None, Some(rule)) => printable(rule),
        (None, None) => "(no policy)".to_owned(),
    }
}

/// A model's text on a terminal must not move the cursor, hide itself or start lines of its own.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// How many of something, in words that fit.
pub(crate) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_write_on_the_terminal() {
        assert_eq!(printable("ls\u{1b}[2J\nok"), "ls\\u{1b}[2J\\nok");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(printable("größer `x` \"y\""), "größer `x` \"y\"");
    }
}
