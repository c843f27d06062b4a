//! Commands, code, queries and patches, analysed: nothing panics, every effect has its place in the
//! text, the same text has the same effects, and there are never too many of them.

use callgate_call::Arguments;
use callgate_effects::statements::statements;
use callgate_effects::{
    Action, Catalogue, Effects, Ground, PathSet, Stance, analyse, command, escalating_argument,
    sets,
};
use std::sync::LazyLock;

/// More effects than this are a sign of work that is not bounded.
const MAX_EFFECTS: usize = 12_000;

const GROUND: Ground<'_> = Ground {
    cwd: Some("/home/dev/app"),
    home: Some("/home/dev"),
    workspace: Some("/home/dev/app"),
    resolver: None,
    earlier: None,
};

/// Tools that read their argument in different languages.
const TOOLS: [(&str, &str); 5] = [
    ("PowerShell", "command"),
    ("run_python", "code"),
    ("execute_sql", "query"),
    ("unheard_of", "path"),
    ("WebFetch", "url"),
];

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);
static SETS: LazyLock<Vec<PathSet>> =
    LazyLock::new(|| sets::PATHS.iter().filter_map(|(name, _)| sets::path_set(name, [])).collect());

/// Checks one input.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for ground in [Ground::default(), GROUND] {
        let effects = command(text, &ground);
        look_at(&effects, &ground);
        for effect in effects.all() {
            assert!(text.get(effect.at.span.clone()).is_some(), "{effect:?}");
        }
        assert_eq!(effects, command(text, &ground), "the same text, other effects");
    }
    for (tool, key) in TOOLS {
        let arguments = Arguments::json(format!("{{{:?}:{}}}", key, callgate_json::quote(text)));
        let entry = CATALOGUE.entry(&tool.to_lowercase());
        look_at(&analyse(tool, entry, &arguments, &GROUND), &GROUND);
    }
    assert_eq!(statements(text), statements(text), "the same text, other statements");
    let arguments = Arguments::json(text);
    look_at(&analyse("bash", CATALOGUE.entry("bash"), &arguments, &GROUND), &GROUND);
    if let Ok(value) = arguments.value() {
        escalating_argument(value);
    }
    look_at(
        &analyse("apply_patch", CATALOGUE.entry("apply_patch"), &Arguments::text(text), &GROUND),
        &GROUND,
    );
}

fn look_at(effects: &Effects, ground: &Ground<'_>) {
    assert!(effects.all().len() <= MAX_EFFECTS, "{} effects", effects.all().len());
    for effect in effects.all() {
        assert!(effect.at.argument < effects.arguments.len(), "{effect:?}");
        assert!(effects.kinds().contains(effect.action.kind()), "{effect:?}");
        let (Action::Reads(path, _) | Action::Writes(path, _) | Action::Deletes(path, _)) =
            &effect.action
        else {
            continue;
        };
        for set in SETS.iter() {
            for stance in [Stance::Restricts, Stance::Allows] {
                set.matches(path, ground, stance);
            }
        }
    }
}
