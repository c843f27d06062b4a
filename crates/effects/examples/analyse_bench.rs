//! How long the analysis of one command takes: `cargo run --release -p callgate-effects --example
//! analyse_bench`. It prints microseconds for each text, the best of several rounds.

use std::hint::black_box;
use std::time::Instant;

use callgate_call::Arguments;
use callgate_effects::{Action, Catalogue, Ground, Stance, analyse, sets};

const TEXTS: &[(&str, &str)] = &[
    ("short", "ls -la"),
    ("git", "git add -A && git commit -m 'Fix the parser' && git push origin main"),
    (
        "200 bytes",
        "cd /proj/app && git fetch origin && for f in $(git diff --name-only HEAD~1); do if [ -f \"$f\" ]; then sed -i 's/foo/bar/g' \"$f\" && echo \"done $f\" >> log.txt; fi; done | tee /tmp/out && rm -rf build/*.o",
    ),
    (
        "wrapped",
        "sudo env A=1 timeout 5 bash -c 'echo cm0gLXJmIC8= | base64 -d | sh' && find . -name '*.ts' -exec grep -l foo {} + | xargs rm -f",
    ),
];

const ROUNDS: usize = 20;
const CALLS: u32 = 500;

fn main() {
    let catalogue = Catalogue::builtin();
    let entry = catalogue.entry("bash");
    let ground = Ground {
        cwd: Some("/proj/app"),
        home: Some("/home/u"),
        workspace: Some("/proj/app"),
        resolver: None,
        earlier: None,
    };
    let names = ["secrets", "startup", "agent-config", "vcs", "system"];
    let started = Instant::now();
    let sets: Vec<_> = names.iter().filter_map(|name| sets::path_set(name, [])).collect();
    println!("{:<12} {:>8.1} us", "load sets", started.elapsed().as_secs_f64() * 1e6);
    for (name, text) in TEXTS {
        let json = callgate_json::quote(text);
        let arguments = Arguments::json(format!("{{\"command\":{json}}}"));
        let analysis = best(|| drop(black_box(analyse("Bash", entry, &arguments, &ground))));
        let effects = analyse("Bash", entry, &arguments, &ground);
        let matching = best(|| {
            for effect in effects.all() {
                let (Action::Reads(path, _) | Action::Writes(path, _) | Action::Deletes(path, _)) =
                    &effect.action
                else {
                    continue;
                };
                for set in &sets {
                    black_box(set.matches(path, &ground, Stance::Restricts));
                }
            }
        });
        let (bytes, count) = (text.len(), effects.all().len());
        println!(
            "{name:<12} {analysis:>8.1} us to analyse {bytes} bytes, {matching:>8.1} us to compare {count} effects with all sets"
        );
    }
}

fn best(mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..CALLS {
            run();
        }
        best = best.min(started.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
    }
    best
}
