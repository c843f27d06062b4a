//! The documentation, run: commands and their output, policies and their verdicts, bypasses and
//! their cases, reference tables and the lists they are about.
//!
//! | in a Markdown file | is |
//! |---|---|
//! | ```` ```console ```` | run; lines after `$ ` are commands (`> ` continues), the rest is what they print |
//! | ```` ```console no-run ```` | not run; the text before it says so and why |
//! | ```` ```yaml file=NAME ```` | that file, for the commands after it; also `json`, `python` and `javascript` |
//! | ```` ```yaml policy ```` | a policy for what follows; two in a row are used together |
//! | ```` ```jsonl calls ```` | calls with their verdict and rule: `{"tool":"x"} => deny some-rule` |
//! | ```` ```text problems ```` | what `callgate policy check` says of the policy before |
//!
//! In printed text `...` stands for anything: alone on its line for any lines.
//!
//! The console blocks of a page run in order, in one shell. A command that ends with `&` continues
//! until the page ends; what it shows is the beginning of what it prints, and is waited for. In a
//! page with such a command the port 8484 is a free one, and `https://api.anthropic.com` and
//! `https://api.openai.com/v1` are a scripted model, also for a gateway without a config. `python`
//! and `node` have the official clients that `cargo xtask test` sets up; without them a page is
//! skipped from the first such block on, and says so.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

#[path = "docs/like.rs"]
mod like;
#[path = "docs/pages.rs"]
mod pages;
#[path = "docs/probes.rs"]
mod probes;
#[path = "docs/session.rs"]
mod session;
#[path = "docs/world.rs"]
mod world;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use callgate_store::RemovedEntry;
use serde_json::Value;
use tempfile::TempDir;

use like::assert_like;
use pages::{Block, Page, page, pages, root};
use probes::probes;
use session::Session;
use world::World;

#[test]
fn every_command_prints_what_the_page_shows() {
    let mut commands = 0;
    for mut page in pages() {
        let place = Place::new();
        let serves = page.consoles().any(|block| steps(block).iter().any(Step::is_background));
        let world = serves.then(World::new);
        if let Some(world) = &world {
            world.settle(&mut page);
            place.write_home("callgate.yaml", &world.config());
        }
        commands += place.run_page(&page);
    }
    assert!(commands > 60, "only {commands} commands were run");
}

#[test]
fn every_policy_gives_the_verdicts_the_page_shows() {
    let mut calls = 0;
    for page in pages() {
        let place = Place::new();
        let mut policies: Vec<&Block> = Vec::new();
        let mut spent = false;
        for block in &page.blocks {
            match block.info.split_once(' ').unwrap_or((&block.info, "")) {
                ("yaml", "policy") => {
                    if std::mem::take(&mut spent) {
                        policies.clear();
                    }
                    policies.push(block);
                }
                ("jsonl", rest) if rest.starts_with("calls") => {
                    calls += place.run_calls(&page, &policies, block);
                    spent = true;
                }
                ("text", "problems") => {
                    place.run_problems(&page, &policies, block);
                    spent = true;
                }
                _ => {}
            }
        }
        assert!(spent || policies.is_empty(), "{}: nothing uses the last policy", page.name);
    }
    assert!(calls > 40, "only {calls} calls were judged");
}

/// Nothing that looks like it runs is left out by a slip of the pen.
#[test]
fn every_block_is_of_a_known_kind() {
    for page in pages() {
        for block in &page.blocks {
            let at = format!("{}:{}", page.name, block.line);
            match block.info.as_str() {
                "console" | "yaml policy" | "text" | "text problems" | "toml" | "rust" => {}
                "console no-run" => {
                    let said = block.before.contains("not run");
                    assert!(said, "{at}: say before the block that it is not run, and why");
                }
                info if info.starts_with("jsonl calls") => {}
                _ if block.file().is_some() => {}
                info => panic!("{at}: unknown kind of block `{info}`"),
            }
        }
    }
}

/// A folder to run in, with the corpus in it and a home of its own.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        std::os::unix::fs::symlink(root().join("corpus"), dir.path().join("corpus")).unwrap();
        Self { dir }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let binaries = Path::new(env!("CARGO_BIN_EXE_callgate")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let wrappers = self.dir.path().join("bin");
        for (name, _) in std::env::vars().filter(|(name, _)| is_of_the_surroundings(name)) {
            command.env_remove(name);
        }
        command
            .current_dir(self.dir.path())
            .env("PATH", format!("{}:{}:{path}", wrappers.display(), binaries.display()))
            .env("HOME", self.dir.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.dir.path())
            // What a gateway says of this machine is not the page's.
            .env("CALLGATE_LOG", "warn")
            .env("ANTHROPIC_API_KEY", "sk-ant-of-nobody")
            .env("OPENAI_API_KEY", "sk-of-nobody");
        command
    }

    /// A file in the user's config folder.
    fn write_home(&self, name: &str, text: &str) {
        let folder = self.dir.path().join("home/.config/callgate");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    /// Runs every console block of a page. Answers how many commands were run.
    fn run_page(&self, page: &Page) -> usize {
        let mut session = Session::start(self.command("sh"), self.dir.path());
        let mut commands = 0;
        for block in &page.blocks {
            if let Some(name) = block.file() {
                fs::write(self.dir.path().join(name), &block.text).unwrap();
            }
            if block.info != "console" {
                continue;
            }
            let steps = steps(block);
            if steps.iter().any(|step| !self.has_interpreter(step)) {
                let at = format!("{}:{}", page.name, block.line);
                callgate_testkit::skipped(&format!(
                    "{at} and what follows: `cargo xtask test` sets up the clients"
                ));
                break;
            }
            assert!(!steps.is_empty(), "{}:{}: no command", page.name, block.line);
            for step in &steps {
                let at = format!("{}:{}: `{}`", page.name, block.line, step.command);
                step.run(&at, &mut session);
            }
            commands += steps.len();
        }
        commands
    }

    /// Whether the language of a step is there, and has the official clients. Puts it on the path.
    fn has_interpreter(&self, step: &Step) -> bool {
        let languages = [("python", "CALLGATE_SDK_PYTHON"), ("node", "CALLGATE_SDK_NODE")];
        let first = step.command.split_whitespace().next().unwrap_or_default();
        let Some((name, variable)) = languages.iter().find(|(name, _)| *name == first) else {
            return true;
        };
        let Ok(program) = std::env::var(variable) else { return false };
        let bin = self.dir.path().join("bin");
        if !bin.exists() {
            let modules = root().join("sdk/node/node_modules");
            std::os::unix::fs::symlink(modules, self.dir.path().join("node_modules")).unwrap();
            fs::create_dir(&bin).unwrap();
        }
        let wrapper = bin.join(name);
        // The program may be a bare name: it is not this wrapper that is meant.
        let path = std::env::var("PATH").unwrap_or_default();
        let script = format!("#!/bin/sh\nPATH='{path}'\nexec '{program}' \"$@\"\n");
        fs::write(&wrapper, script).unwrap();
        fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
        true
    }

    /// Judges the calls of a block. Answers how many there are.
    fn run_calls(&self, page: &Page, policies: &[&Block], block: &Block) -> usize {
        let at = format!("{}:{}", page.name, block.line);
        assert!(!policies.is_empty(), "{at}: no policy before these calls");
        let lines: Vec<(&str, &str)> = block
            .text
            .lines()
            .map(|line| line.rsplit_once(" => ").unwrap_or_else(|| panic!("{at}: `{line}`")))
            .collect();
        let flags = block.info.strip_prefix("jsonl calls").unwrap_or_default();
        let mut check = self.command("callgate");
        check.args(["check", "--jsonl", "-"]).args(flags.split_whitespace());
        for file in self.write(policies) {
            check.arg("--policy").arg(file);
        }
        let input: String = lines.iter().map(|(call, _)| format!("{call}\n")).collect();
        let ran = feed(check, input.as_bytes());
        let answers = String::from_utf8(ran.stdout).unwrap();
        let answers: Vec<&str> = answers.lines().collect();
        let talk = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(answers.len(), lines.len(), "{at}: {talk}");
        for ((call, expected), answer) in lines.iter().zip(answers) {
            let answer: Value = serde_json::from_str(answer).unwrap();
            let rule = answer["rule"].as_str().unwrap_or("(default)");
            let paired = |list: &str, sign: &str| -> String {
                let hits = answer[list].as_array().into_iter().flatten();
                hits.map(|hit| format!(" {sign}{}", hit["rule"].as_str().unwrap_or("?"))).collect()
            };
            let got = format!(
                "{} {rule}{}{}",
                answer["verdict"].as_str().unwrap_or("error"),
                paired("audits", "audit:"),
                paired("shadows", "shadow:")
            );
            assert_eq!(got, *expected, "{at}: {call}\n{answer:#}");
        }
        lines.len()
    }

    fn run_problems(&self, page: &Page, policies: &[&Block], block: &Block) {
        let mut check = self.command("callgate");
        check.args(["policy", "check"]).args(self.write(policies));
        let ran = check.output().unwrap();
        let at = format!("{}:{}", page.name, block.line);
        assert_like(&at, &block.text, &String::from_utf8(ran.stderr).unwrap());
    }

    fn write(&self, policies: &[&Block]) -> Vec<String> {
        let name =
            |n: usize| if n == 0 { "policy.yaml".into() } else { format!("policy-{n}.yaml") };
        let written = policies.iter().enumerate().map(|(n, block)| {
            fs::write(self.dir.path().join(name(n)), &block.text).unwrap();
            name(n)
        });
        written.collect()
    }
}

/// What the machine's owner has set must not change what a page prints.
fn is_of_the_surroundings(name: &str) -> bool {
    let starts = ["XDG_", "CALLGATE_", "ANTHROPIC_", "OPENAI_"];
    starts.iter().any(|start| name.starts_with(start)) || name.eq_ignore_ascii_case("http_proxy")
}

/// A command, and what it prints.
struct Step {
    command: String,
    printed: String,
}

impl Step {
    fn is_background(&self) -> bool {
        self.command.ends_with('&')
    }

    fn run(&self, at: &str, session: &mut Session) {
        // A reader without the binary on the path builds it; the test has built it already.
        let command =
            self.command.replace("cargo run --profile quick --package callgate --", "callgate");
        if self.is_background() {
            session.run_in_background(at, &command, &self.printed);
        } else {
            assert_like(at, &self.printed, &session.run(&command));
        }
    }
}

/// The commands of a block.
fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), printed: String::new() });
        } else if let (Some(more), Some(step)) = (line.strip_prefix("> "), steps.last_mut())
            && step.printed.is_empty()
        {
            step.command.push('\n');
            step.command.push_str(more);
        } else if let Some(step) = steps.last_mut() {
            step.printed.push_str(line);
            step.printed.push('\n');
        }
    }
    steps
}

/// Every case the page names is there, and the page names every hostile case there is.
#[test]
fn bypasses_name_their_cases() {
    let page = page("docs/bypasses.md");
    let named: BTreeSet<String> = page.code_words().into_iter().filter(|w| is_case(w)).collect();
    let mut there = BTreeSet::new();
    for dialect in ["anthropic", "openai-chat"] {
        for entry in fs::read_dir(root().join("corpus").join(dialect)).unwrap() {
            let case = entry.unwrap().file_name().into_string().unwrap();
            there.insert(format!("{dialect}/{case}"));
        }
    }
    let gone: Vec<_> = named.difference(&there).collect();
    assert!(gone.is_empty(), "named in docs/bypasses.md and not in corpus/: {gone:#?}");
    let hostile = there.iter().filter(|case| case.contains("/evasion-"));
    let unnamed: Vec<_> = hostile.filter(|case| !named.contains(*case)).collect();
    assert!(unnamed.is_empty(), "in corpus/ and not in docs/bypasses.md: {unnamed:#?}");
}

fn is_case(word: &str) -> bool {
    ["anthropic/", "openai-chat/"].iter().any(|dialect| word.starts_with(dialect))
}

/// Evasions that are too small for a recording of their own. Each holds a call `evil` (with an id
/// that ends in `_evil`) that both policies deny: no trace of it may leave.
#[test]
fn no_probe_gets_through() {
    let by_name = "{ id: no-evil, tool: evil, verdict: deny, reason: no }";
    let by_arguments = "{ id: no-evil, tool: evil, when: { arg: absent, exists: false }, \
                        verdict: deny, reason: no }";
    let place = Place::new();
    for (name, dialect, body) in probes() {
        for rule in [by_name, by_arguments] {
            let policy = format!("policy: probe\nrules:\n  - {rule}\n");
            fs::write(place.dir.path().join("policy.yaml"), policy).unwrap();
            let mut filter = place.command("callgate");
            filter.args(["filter", "--policy", "policy.yaml", "--dialect", dialect]);
            let ran = feed(filter, &body);
            let out = String::from_utf8_lossy(&ran.stdout);
            assert!(!out.contains("_evil"), "{name} gets through {rule}\n{out}");
            assert!(ran.stdout != body, "{name} leaves as it came");
        }
    }
}

#[test]
fn bypasses_name_their_probes() {
    let words = page("docs/bypasses.md").code_words();
    let named: BTreeSet<String> =
        words.iter().filter_map(|word| word.strip_prefix("probe/")).map(str::to_owned).collect();
    let there: BTreeSet<String> = probes().iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(named, there);
}

/// The page about records explains every code that a record can have.
#[test]
fn every_code_of_a_verdict_is_explained() {
    let page = page("docs/guide/records.md");
    for code in callgate_audit::ReasonCode::ALL {
        assert!(page.text.contains(&format!("`{}`", code.as_str())), "{}", code.as_str());
    }
}

/// The tables of the policy reference hold exactly the words the compiler knows. It names them all
/// when it meets one that it does not.
#[test]
fn the_policy_reference_is_complete() {
    let place = Place::new();
    let page = page("docs/reference/policy.md");
    let rule = "policy: p\nrules:\n  - id: a\n    verdict: deny\n";
    for (section, policy) in [
        ("Keys of a policy", "policy: p\nqqqqqqqq: 1\n".to_owned()),
        ("Keys of a rule", format!("{rule}    qqqqqqqq: 1\n")),
        ("Keys of a condition", format!("{rule}    when: {{ qqqqqqqq: 1 }}\n")),
        ("Keys of a limit", format!("{rule}    limit: {{ qqqqqqqq: 1 }}\n")),
        ("Keys of `who`", format!("{rule}    who: {{ qqqqqqqq: 1 }}\n")),
        ("Keys of `for`", "policy: p\nfor: { qqqqqqqq: 1 }\n".to_owned()),
        ("Keys of an example", format!("{rule}    examples: {{ match: [{{ qqqqqqqq: 1 }}] }}\n")),
        (
            "Keys of `sanitize`",
            "policy: p\nrules:\n  - { id: a, verdict: sanitize, sanitize: { detectors: secret, qqqqqqqq: 1 } }\n"
                .to_owned(),
        ),
        (
            "Keys of a text rule",
            "policy: p\ntext:\n  - { id: a, detect: secret, verdict: mask, qqqqqqqq: 1 }\n"
                .to_owned(),
        ),
        ("Keys of `finding`", format!("{rule}    when: {{ finding: {{ qqqqqqqq: 1 }} }}\n")),
        (
            "Classes of findings",
            format!("{rule}    when: {{ finding: {{ class: qqqqqqqq }} }}\n"),
        ),
        ("Verdicts", "policy: p\nrules:\n  - { id: a, verdict: qqqqqqqq }\n".to_owned()),
        ("Surfaces", format!("{rule}    surface: qqqqqqqq\n")),
        ("Kinds of tools", format!("{rule}    tool: '@qqqqqqqq'\n")),
        ("Context", format!("{rule}    when: {{ arg: context.qqqqqqqq, equals: 1 }}\n")),
    ] {
        let prefix = if section == "Context" { "context." } else { "" };
        let known: BTreeSet<String> =
            place.known_words(&policy).iter().map(|word| format!("{prefix}{word}")).collect();
        let named: BTreeSet<String> = page.first_column(section).into_iter().collect();
        assert_eq!(named, known, "docs/reference/policy.md, `{section}`");
    }
}

impl Place {
    /// The words a message lists after `known here:`, `known:` or `one of:`.
    fn known_words(&self, policy: &str) -> Vec<String> {
        fs::write(self.dir.path().join("policy.yaml"), policy).unwrap();
        let ran = self.command("callgate").args(["policy", "check", "policy.yaml"]).output();
        let said = String::from_utf8(ran.unwrap().stderr).unwrap();
        let list = said.lines().find_map(|line| {
            let starts = ["hint: known here: ", "hint: known: ", "hint: one of: "];
            starts.iter().find_map(|start| line.split_once(start)).map(|(_, list)| list)
        });
        let list = list.unwrap_or_else(|| panic!("no list for\n{policy}\n{said}"));
        list.split(", ").map(|word| word.trim().to_owned()).collect()
    }
}

#[test]
fn the_limits_are_those_of_the_code() {
    let page = page("docs/reference/limits.md");
    let (wire, gate) = (callgate_wire::ReadLimits::default(), callgate_gate::GateLimits::default());
    for (what, number) in [
        ("one event", size(gate.frame as u64)),
        ("a whole body", size(gate.body as u64)),
        ("everything held back at once", size(gate.held as u64)),
        ("the arguments of one call", size(gate.arguments as u64)),
        ("calls of one response", gate.calls.to_string()),
        ("texts of one response that are open at once, with text rules", gate.texts.to_string()),
        ("a decoded body", size(wire.decoded_total)),
        ("decoded bytes per received byte", wire.decoded_ratio.to_string()),
        ("decoded bytes free of that ratio", size(wire.decoded_free)),
        ("a tool's name", format!("{} bytes", callgate_call::ToolName::MAX_LEN)),
        ("the argument shown in a notice", {
            format!("{} characters", callgate_policy::Matched::MAX_CHARS)
        }),
        (
            "the input that a record keeps",
            format!("{} KiB", callgate_audit::RecordedTool::MAX_INPUT >> 10),
        ),
        ("turns that may have to be restored", RemovedEntry::MAX_ENTRIES.to_string()),
        ("all of them together", size(RemovedEntry::MAX_TOTAL)),
        ("one of them", size(RemovedEntry::MAX_CONTENT as u64)),
        ("how long they are kept", format!("{} days", RemovedEntry::MAX_DAYS)),
        ("turns that look like one turn of a request", RemovedEntry::MAX_ALIKE.to_string()),
        ("turns that are compared with one request", RemovedEntry::MAX_FOUND.to_string()),
        ("the conversation that a rule on `origin` searches", {
            size(callgate_call::Passages::MAX_BYTES as u64)
        }),
        (
            "entries of folders that are counted for one deletion",
            callgate_policy::EffectReport::MAX_ENTRIES.to_string(),
        ),
        ("the nesting depth of an MCP message", { format!("{} levels", callgate_json::MAX_DEPTH) }),
    ] {
        let row = format!("| {what} | {number} |");
        assert!(page.text.contains(&row), "docs/reference/limits.md lacks `{row}`");
    }
}

/// The unit of systemd is one that systemd understands. Needs `systemd-analyze`.
#[test]
fn the_unit_is_understood_by_systemd() {
    let unit = fs::read_to_string(root().join("packaging/callgate.service")).unwrap();
    let installed = "/usr/local/bin/callgate";
    assert!(unit.contains(&format!("ExecStart={installed} serve ")), "{unit}");
    let unit = unit.replace(installed, env!("CARGO_BIN_EXE_callgate"));
    let place = Place::new();
    let file = place.dir.path().join("callgate.service");
    fs::write(&file, unit).unwrap();
    let mut verify = Command::new("systemd-analyze");
    let Ok(ran) = verify.args(["verify", "--man=no"]).arg(&file).output() else {
        eprintln!("skipped: there is no systemd-analyze to verify packaging/callgate.service");
        return;
    };
    let said = String::from_utf8_lossy(&ran.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("callgate.service")).collect();
    assert!(ours.is_empty(), "{said}");
}

fn size(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// A page that says "shown by `crates/x/tests/y.rs::some_test`" names a test that is there.
#[test]
fn named_tests_are_there() {
    let mut found = 0;
    for page in pages() {
        for word in page.code_words() {
            let Some((file, test)) = word.split_once(".rs::") else { continue };
            let text = fs::read_to_string(root().join(format!("{file}.rs")));
            let text = text.unwrap_or_else(|error| panic!("{}: `{word}`: {error}", page.name));
            assert!(text.contains(&format!("fn {test}(")), "{}: no test `{word}`", page.name);
            found += 1;
        }
    }
    assert!(found > 20, "only {found} tests are named");
}

/// Paths in backticks lead to files of the repository.
#[test]
fn named_files_are_there() {
    let folders = ["crates/", "corpus/", "docs/", "packaging/", "xtask/", "fuzz/", "sdk/"];
    for page in pages().iter().filter(|page| page.name != "CHANGELOG.md") {
        for word in page.code_words() {
            let path = word.split("::").next().unwrap_or_default();
            let plain = !path.contains(['<', '*', ' ', '{', '…']);
            if plain && folders.iter().any(|folder| path.starts_with(folder)) {
                assert!(root().join(path).exists(), "{}: no file `{path}`", page.name);
            }
        }
    }
}

/// `Type::name` in backticks is in the code.
#[test]
fn named_code_is_there() {
    let sources = sources(&root().join("crates"));
    for page in pages() {
        for word in page.code_words() {
            let Some((owner, name)) = word.split_once("::") else { continue };
            let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !is_name(owner) || !is_name(name) || !owner.starts_with(char::is_uppercase) {
                continue;
            }
            let there = sources.iter().any(|text| text.contains(owner) && text.contains(name));
            assert!(there, "{}: no `{word}` in the code", page.name);
        }
    }
}

/// The text of every Rust file below a folder.
fn sources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let folder = root().join(&page.name).parent().unwrap().to_owned();
        for target in page.links() {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() { root().join(&page.name) } else { folder.join(path) };
            assert!(file.exists(), "{}: broken link `{target}`", page.name);
            if !anchor.is_empty() {
                let text = fs::read_to_string(&file).unwrap();
                let heads = text.lines().filter(|line| line.starts_with('#')).map(anchor_of);
                assert!(heads.into_iter().any(|it| it == anchor), "{}: `{target}`", page.name);
            }
        }
    }
}

/// The anchor of a heading, as it is made on most sites.
fn anchor_of(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}
