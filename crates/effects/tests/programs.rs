//! The command lines in `corpus/programs`: dangerous ones show what they do, or are opaque; ordinary ones
//! are not opaque.

#![expect(clippy::panic, clippy::print_stdout, reason = "a test prints its table and stops")]

use std::path::Path;

use callgate_effects::{Access, Action, Bound, Effects, Ground, Meaning, command, meaning};

/// The programs that dangerous lines run.
const PAYLOADS: [&str; 3] = ["sh", "bash", "id"];
/// The host that dangerous lines talk to.
const PEER: &str = "peer.example";

fn lines(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/programs").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(Into::into).collect()
}

fn effects(text: &str) -> Effects {
    let ground = Ground {
        cwd: Some("/home/dev/project"),
        home: Some("/home/dev"),
        workspace: Some("/home/dev/project"),
        resolver: None,
        earlier: None,
    };
    command(text, &ground)
}

fn is_opaque(effects: &Effects) -> bool {
    !effects.could().and(Bound::CHANGES).is_empty()
}

/// Whether the effects show what the line does.
fn shows(kind: &str, effects: &Effects) -> bool {
    effects.all().iter().any(|effect| match (&effect.action, kind) {
        (Action::Runs(run), "run") => {
            run.program.text().is_some_and(|name| PAYLOADS.contains(&name))
                || run.words.first().is_some_and(|it| it.known_start().starts_with("/srv/in"))
        }
        // Code that runs is in a file: the file is read, as a script or a library.
        (Action::Reads(path, access), "run" | "read") => {
            *access != Access::Names && path.resolved.known_start().starts_with("/srv/in")
        }
        (Action::Writes(path, _) | Action::Deletes(path, _), "write") => {
            path.resolved.known_start().starts_with("/srv/out")
        }
        (Action::Connects(to), "connect") => {
            to.host.text() == Some(PEER) || matches!(to.host.text(), Some("0.0.0.0" | "localhost"))
        }
        // What a setting makes a program load, or talk to.
        (Action::Sets(setting), "run" | "connect") => {
            let value = setting.value.as_ref().map_or("", |value| value.known_part());
            let name = setting.name.text().unwrap_or_default();
            match kind {
                "run" => meaning(name).is_some_and(|it| {
                    matches!(it, Meaning::Command | Meaning::Code(_) | Meaning::Loads)
                }),
                _ => value.contains(PEER) || name.contains(PEER),
            }
        }
        _ => false,
    }) || has_mark(kind, effects)
}

/// A mark that rules stop: it says that the command runs something later or elsewhere, or opens a way in.
fn has_mark(kind: &str, effects: &Effects) -> bool {
    use callgate_effects::Mark;
    let says: &[Mark] = match kind {
        "run" => &[
            Mark::Schedules,
            Mark::Privilege,
            Mark::HostAccess,
            Mark::Tunnel,
            Mark::Kernel,
            Mark::Database,
        ],
        "connect" => &[Mark::Tunnel],
        _ => &[],
    };
    effects.all().iter().any(|effect| match &effect.action {
        Action::Runs(run) => says.iter().any(|mark| run.marks.contains(*mark)),
        _ => false,
    })
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * f64::from(u32::try_from(part).unwrap_or(0)) / f64::from(u32::try_from(all).unwrap_or(1))
}

#[test]
fn dangerous_flags_are_recognised_or_opaque() {
    let lines = lines("dangerous.txt");
    assert!(lines.len() >= 300, "{} lines", lines.len());
    let mut missed = Vec::new();
    for line in &lines {
        let Some((kind, text)) = line.split_once(": ") else { panic!("no kind: {line}") };
        assert!(matches!(kind, "run" | "read" | "write" | "connect"), "{line}");
        let effects = effects(text);
        if !shows(kind, &effects) && !is_opaque(&effects) {
            missed.push(line);
        }
    }
    let share = percent(lines.len() - missed.len(), lines.len());
    println!("dangerous command lines: {share:.1}% of {} recognised or opaque", lines.len());
    missed.iter().for_each(|line| println!("  missed: {line}"));
    assert!(share >= 90.0, "{share:.1}%");
}

#[test]
fn ordinary_command_lines_are_not_opaque() {
    let lines = lines("ordinary.txt");
    assert!(lines.len() >= 300, "{} lines", lines.len());
    let opaque: Vec<&String> = lines.iter().filter(|line| is_opaque(&effects(line))).collect();
    let share = percent(opaque.len(), lines.len());
    println!("ordinary command lines: {share:.1}% of {} opaque", lines.len());
    opaque.iter().for_each(|line| println!("  opaque: {line}"));
    assert!(share < 5.0, "{share:.1}%");
}
