//! What a call would do, in the words in which a rule names it.

use std::collections::{BTreeMap, BTreeSet};

use callgate_call::ToolCall;
use callgate_effects::{
    Access, Action, Connection, Effect, EffectKind, Knowledge, Mark, Path, Run,
};

use crate::limit::SpentLimits;
use crate::moment::Moment;
use crate::policies::Policies;

/// What a call would do: for each kind of effects, the values of a condition that matches exactly
/// these effects, as far as conditions can say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffectTerms {
    /// By the key of the condition: `runs`, `reads`, `writes`, `deletes`, `connects`, `sets`.
    pub values: BTreeMap<&'static str, BTreeSet<String>>,
    /// What is known about the commands as a whole.
    pub marks: BTreeSet<&'static str>,
    /// The commands with their flags and operands, as far as a condition can name these.
    pub commands: BTreeSet<String>,
}

impl EffectTerms {
    /// The marks that these commands do not have.
    pub fn other_marks(&self) -> Vec<&'static str> {
        let all = Mark::ALL.iter().map(|mark| mark.as_str());
        all.filter(|mark| !self.marks.contains(mark)).collect()
    }

    /// Adds what another call does.
    pub fn merge(&mut self, other: &Self) {
        for (kind, values) in &other.values {
            self.values.entry(kind).or_default().extend(values.iter().cloned());
        }
        self.marks.extend(other.marks.iter().copied());
        self.commands.extend(other.commands.iter().cloned());
    }

    /// Adds an effect; `None` if a condition cannot name it exactly.
    fn add(&mut self, effect: &Effect, call: &ToolCall) -> Option<()> {
        let value = match &effect.action {
            Action::Runs(run) => {
                self.marks.extend(run.marks.iter().map(Mark::as_str));
                let short = command(run)?;
                self.commands.insert(whole_command(run).unwrap_or_else(|| short.clone()));
                short
            }
            // Conditions do not ask about names, sizes and times.
            Action::Reads(_, Access::Names) => return Some(()),
            Action::Reads(path, _) | Action::Writes(path, _) | Action::Deletes(path, _) => {
                file(path, call)?
            }
            Action::Connects(connection) => host(connection)?,
            Action::Sets(setting) => plain(setting.name.text()?)?.to_owned(),
            Action::Sql(_) | Action::Opaque(_) => return None,
        };
        let kind = effect.action.kind();
        let word = EffectKind::WORDS.iter().find(|(_, known)| *known == kind)?.0;
        self.values.entry(word).or_default().insert(value);
        Some(())
    }
}

impl Policies {
    /// What a call would do, in the words of conditions; `None` if a part of it cannot be named
    /// exactly, because it is not in the text, or is done by a program that is not known.
    pub fn effect_terms(&self, call: &ToolCall, moment: &Moment) -> Option<EffectTerms> {
        let limits = SpentLimits::none();
        let question = self.question(call, moment, &limits);
        let mut terms = EffectTerms::default();
        let lists = question.effects.list(&question.name);
        for effect in lists.iter().flat_map(|list| list.all()) {
            terms.add(effect, call)?;
        }
        Some(terms)
    }
}

/// The program and its sub-command.
fn command(run: &Run) -> Option<String> {
    if run.knowledge == Knowledge::Unmodelled || !run.words.iter().all(|word| word.is_known()) {
        return None;
    }
    let text = format!("{} {}", run.program.text()?, run.sub_command);
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+/ ".contains(c);
    text.chars().all(is_plain).then(|| text.trim_end().to_owned())
}

/// The program with its flags and operands.
fn whole_command(run: &Run) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+/=:,@~^#".contains(c);
    let mut text = run.program.text()?.to_owned();
    for word in run.words.iter().skip(1) {
        let word = word.text().filter(|word| !word.is_empty() && word.chars().all(is_plain))?;
        // A flag is compared without its value.
        let value = if word.starts_with('-') { word.find('=') } else { None };
        text.push(' ');
        text.push_str(word.get(..value.unwrap_or(word.len()))?);
    }
    Some(text)
}

/// The path as a rule writes it: below the project, below the home directory, or absolute.
fn file(path: &Path, call: &ToolCall) -> Option<String> {
    let text = plain(path.resolved.text()?)?;
    let below = |folder: Option<&str>| {
        let rest = text.strip_prefix(folder?.trim_end_matches('/'))?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    };
    let origin = &call.origin;
    if let Some(rest) = below(origin.cwd.as_deref()).or_else(|| text.strip_prefix("./")) {
        let rest = rest.trim_start_matches('/');
        return Some(if rest.is_empty() {
            "workspace".into()
        } else {
            format!("workspace/{rest}")
        });
    }
    match below(origin.home.as_deref()) {
        Some(rest) => Some(format!("~{rest}")),
        None if text.starts_with(['/', '~']) => Some(text.to_owned()),
        None => Some(format!("workspace/{text}")),
    }
}

fn host(connection: &Connection) -> Option<String> {
    plain(connection.host.text()?).map(str::to_owned)
}

/// A text in which nothing is a wildcard or has another meaning in a list.
fn plain(text: &str) -> Option<&str> {
    let is_special = |c: char| "*?{}[]!@\\".contains(c) || c.is_control();
    (!text.is_empty() && !text.contains(is_special)).then_some(text)
}
