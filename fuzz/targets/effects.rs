//! Any text as a command, as code, as a patch and as the arguments of tools: nothing panics, every span
//! lies in the text of its argument, and every index leads somewhere.
#![no_main]

use callgate_call::Arguments;
use callgate_effects::{Catalogue, Effects, Ground, Stance, analyse, command, sets};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let ground =
        Ground { cwd: Some("/w"), home: Some("/home/u"), workspace: Some("/w"), resolver: None };
    check(&command(&text, &ground), &text, &ground);
    let catalogue = Catalogue::builtin();
    for name in ["python", "apply_patch", "exec", "unknown"] {
        let arguments = Arguments::text(text.as_ref());
        check(&analyse(name, catalogue.entry(name), &arguments, &ground), &text, &ground);
    }
    let arguments = Arguments::json(text.as_ref());
    for name in ["bash", "read", "unknown"] {
        analyse(name, catalogue.entry(name), &arguments, &ground);
    }
});

fn check(effects: &Effects, text: &str, ground: &Ground<'_>) {
    let secrets = sets::path_set("secrets", []);
    for effect in effects.all() {
        assert!(text.get(effect.at.span.clone()).is_some(), "{effect:?} is not in {text:?}");
        assert!(effect.at.command.is_none_or(|at| at < effects.commands.len()));
        if let callgate_effects::Action::Reads(path, _) = &effect.action {
            let _ = secrets.as_ref().map(|set| set.matches(path, ground, Stance::Restricts));
        }
    }
}
