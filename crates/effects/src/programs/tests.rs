//! The examples of the models are tests.

use super::*;
use crate::effect::{Action, Effect};
use crate::{Ground, command};

/// The effects of a command line, as examples write them.
fn effects(text: &str) -> Vec<String> {
    let effects = command(text, &Ground::default());
    let is_outer_run = |effect: &&Effect| {
        let command = effect.at.command.and_then(|at| effects.commands.get(at));
        matches!(effect.action, Action::Runs(_))
            && command.is_some_and(|command| command.parent.is_none())
    };
    let outermost =
        effects.all().iter().filter(is_outer_run).min_by_key(|effect| effect.at.span.start);
    let rest = effects
        .all()
        .iter()
        .filter(|effect| !outermost.is_some_and(|outer| std::ptr::eq(outer, *effect)));
    let mut lines: Vec<String> = rest.map(|effect| effect.action.to_string()).collect();
    let mut marks = crate::Marks::NONE;
    for effect in effects.all() {
        if let Action::Runs(run) = &effect.action {
            run.marks.iter().for_each(|mark| marks.insert(mark));
        }
    }
    if !marks.is_empty() {
        lines.push(format!("marks {marks}"));
    }
    lines.sort();
    lines.dedup();
    lines
}

fn check(model: &Model, wrong: &mut Vec<String>) {
    for (text, expected) in model.examples {
        let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        expected.sort();
        let found = effects(text);
        if found != expected {
            wrong.push(format!("{text}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    model.subs.iter().for_each(|sub| check(sub, wrong));
}

#[test]
fn every_example_has_its_effects() {
    let mut wrong = Vec::new();
    all().for_each(|model| check(model, &mut wrong));
    own::OWN.iter().for_each(|own| check(&own.model, &mut wrong));
    assert!(wrong.is_empty(), "{} examples fail:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_a_program_has_for_itself_has_a_family() {
    let programs = own::OWN.iter().flat_map(|own| own.programs.iter());
    let alone: Vec<_> = programs.filter(|name| find(name).is_none()).collect();
    assert!(alone.is_empty(), "{alone:?}");
}

#[test]
fn no_name_has_two_models() {
    let mut names: Vec<&str> = all().flat_map(|model| model.names.iter().copied()).collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
