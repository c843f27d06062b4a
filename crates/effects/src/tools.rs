//! From a call to its effects.

use callgate_call::{Arguments, ArgumentsForm, fold};
use callgate_json::Value;

use crate::analysis::Analysis;
use crate::bound::{Bound, EffectKind};
use crate::catalogue::{Entry, Kind, Role};
use crate::effect::{Action, Effects, Opaque, Why};
use crate::ground::Ground;
use crate::path::working_folder;
use crate::shell::eval::{Locator, Shell};
use crate::shell::expand::Field;
use crate::word::Word;

mod arguments;
pub(crate) mod deeds;
mod flow;
mod known;
mod naming;
mod planted;
mod program_tool;
mod services;
mod supplies;
mod typed;
mod unknown;
pub(crate) mod written;

/// The effects of a command line.
pub fn command(text: &str, ground: &Ground<'_>) -> Effects {
    let mut analysis = Analysis::new(ground);
    analysis.argument("$", text);
    Shell::new(&mut analysis, working_folder(ground)).text(text, Locator::At(0));
    planted::find(&mut analysis);
    analysis.finish()
}

/// The effects of a call of a tool whose server is known by name only: `mcp__terraform__apply`.
pub fn analyse_whole(
    whole_name: &str,
    name: &str,
    entry: Option<&Entry>,
    arguments: &Arguments,
    ground: &Ground<'_>,
) -> Effects {
    let start = whole_name.len().checked_sub(name.len());
    let own = start.and_then(|at| whole_name.get(at..)).filter(|own| fold(own) == name);
    let server = own.and_then(|own| whole_name.strip_suffix(own)).unwrap_or_default();
    let effects = analyse_tool(own.unwrap_or(name), server, entry, arguments, ground);
    let Ok(value) = arguments.value() else { return effects };
    if entry.is_some() {
        return effects;
    }
    let call = Call::new(whole_name, own.unwrap_or(name), server, arguments, value);
    let mut analysis = Analysis::new(ground);
    analysis.effects = effects;
    let service = services::Service::new(whole_name, value);
    naming::by_server(&mut analysis, &call, &service);
    program_tool::by_server(&mut analysis, &call);
    analysis.finish()
}

/// The effects of a call.
///
/// The name is the tool's own, without its server. The entry is what the catalogue knows about it;
/// `None` for a tool that is not known, or whose server does not have to keep to the catalogue.
pub fn analyse(
    name: &str,
    entry: Option<&Entry>,
    arguments: &Arguments,
    ground: &Ground<'_>,
) -> Effects {
    analyse_tool(name, "", entry, arguments, ground)
}

fn analyse_tool(
    name: &str,
    server: &str,
    entry: Option<&Entry>,
    arguments: &Arguments,
    ground: &Ground<'_>,
) -> Effects {
    let mut analysis = Analysis::new(ground);
    let bound = entry.map_or(Bound::ALL, Entry::bound);
    if bound.is_empty() {
        return analysis.finish();
    }
    let Ok(value) = arguments.value() else {
        analysis.argument("$", arguments.raw());
        let opaque = Opaque { why: Why::Arguments, could: bound };
        analysis.push(Action::Opaque(opaque), 0..arguments.raw().len(), None);
        return analysis.finish();
    };
    let call = Call::new(name, name, server, arguments, value);
    match entry {
        // What is declared is shown by its own arguments and by whatever others show by themselves.
        Some(entry) if !entry.effects.is_empty() => {
            known::analyse(&mut analysis, &call, &entry.acting());
            unknown::analyse(&mut analysis, &call);
            planted::find(&mut analysis);
            return analysis.finish().within(bound);
        }
        Some(entry) => {
            known::analyse(&mut analysis, &call, entry);
            if entry.is(Kind::Shell) || entry.is(Kind::Sql) {
                typed::analyse(&mut analysis, &call);
            }
            // A tool of the same name may call its arguments something else.
            let shows = analysis.effects.all().is_empty() && entry.is(Kind::Read);
            if shows {
                unknown::analyse(&mut analysis, &call);
            }
            if call.name.contains("notebook") && entry.is(Kind::Edit) {
                naming::analyse(&mut analysis, &call);
            }
        }
        None => {
            unknown::analyse(&mut analysis, &call);
            typed::analyse(&mut analysis, &call);
            naming::analyse(&mut analysis, &call);
            program_tool::analyse(&mut analysis, &call);
        }
    }
    planted::find(&mut analysis);
    analysis.finish()
}

/// The values of an argument; keys are compared without regard to case.
pub(crate) fn find_argument<'v>(arguments: &'v Value, path: &str) -> Vec<&'v Value> {
    arguments::find(arguments, path).into_iter().map(|(_, value)| value).collect()
}

/// The call at hand.
pub(crate) struct Call<'c> {
    /// Folded.
    name: String,
    /// The words of the tool's own name, in lower case: `deleteRepo` is `delete`, `repo`.
    words: Vec<String>,
    /// The words of its server's name.
    server: Vec<String>,
    arguments: &'c Arguments,
    value: &'c Value,
}

impl<'c> Call<'c> {
    fn new(
        name: &str,
        own: &str,
        server: &str,
        arguments: &'c Arguments,
        value: &'c Value,
    ) -> Self {
        let (words, server) = (services::words(own), services::words(server));
        Self { name: fold(name), words, server, arguments, value }
    }

    fn is_free_text(&self) -> bool {
        matches!(self.arguments.form(), ArgumentsForm::Text(_))
    }

    /// The text of an argument, whatever the case of its key.
    fn text(&self, key: &str) -> Option<&str> {
        let Value::Object(members) = self.value else { return None };
        let found = members.iter().find(|(known, _)| known.eq_ignore_ascii_case(key));
        found.and_then(|(_, value)| value.as_str())
    }

    fn name_has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.name.contains(word))
    }
}

impl Kind {
    /// What a tool of this kind can do at most.
    pub fn bound(self) -> Bound {
        match self {
            Self::Shell | Self::Mcp => Bound::ALL,
            Self::Read => Bound::just(EffectKind::Reads),
            Self::Write => Bound::just(EffectKind::Writes),
            Self::Edit => Bound::just(EffectKind::Writes),
            Self::Delete => Bound::just(EffectKind::Deletes),
            Self::Fetch => Bound::of(&[EffectKind::Connects, EffectKind::Reads]),
            Self::Search => Bound::just(EffectKind::Reads),
            Self::Sql => Bound::just(EffectKind::Sql),
            Self::Agent | Self::Escalate => Bound::NONE,
        }
    }
}

impl Entry {
    /// What the tool can do at most.
    pub fn bound(&self) -> Bound {
        self.kinds.iter().fold(self.effects, |bound, kind| bound.or(kind.bound()))
    }

    fn is(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The arguments that carry this role, by path: `command`, `edits[*].path`.
    pub fn roles_of(&self, role: Role) -> impl Iterator<Item = &str> {
        self.roles.iter().filter(move |(_, known)| *known == role).map(|(path, _)| path.as_str())
    }
}

#[cfg(test)]
mod tests;

/// A field that is a whole argument.
fn whole(text: &str) -> Field {
    Field::new(Word::known(text), 0..text.len())
}
