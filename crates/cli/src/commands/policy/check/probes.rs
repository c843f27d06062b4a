//! Calls that do what a rule stops, in another way: another spelling of the command, a sibling of the
//! tool, or the shell. A rule that looks at one argument of one tool rarely sees them.

use callgate_call::{Arguments, CallId, Origin, OriginFields, Surface, ToolCall, ToolName, fold};
use callgate_decide::now;
use callgate_effects::{Catalogue, Entry, Kind, Role};
use callgate_policy::{
    ConditionExplanation, ConditionKind, Policies, SpentLimits, TestExplanation,
};
use serde_json::{Value, json};

use super::advice::{Advice, KnownRule, tools_of};
use crate::call_text;

/// A call that passes although it does what the rule stops.
struct ProbeCall {
    tool: String,
    input: Value,
    hint: &'static str,
}

const SPELLINGS: &str = "conditions on effects, such as `runs`, `deletes` and `connects`, see every spelling of a command";
const SHELLS: &str = "write `tool: \"@shell\"`, which covers every tool that runs commands";
const FILES: &str =
    "`reads`, `writes` and `deletes` cover every tool that touches a file, the shell included";
const HOSTS: &str = "`connects` covers every tool that talks to a host, the shell included";
const KINDS: &str = "name the kind of tool, such as `@shell`, `@read` or `@write`: it covers the tools of every agent";
const EFFECTS: &str = "leave `tool` out: a condition on effects finds every tool that has them";

/// A warning if a rule that stops a call lets pass another one that does the same. Each claim is
/// tried: the call that passes is judged by all the policies.
pub(super) fn got_around(
    rule: &KnownRule,
    policies: &Policies,
    catalogue: &Catalogue,
) -> Option<Advice> {
    let info = &rule.info;
    let stops = !info.verdict.passes() && !info.shadow && info.limit.is_none();
    if !stops || !info.who.is_empty() || !info.audience.is_empty() {
        return None;
    }
    let tools = tools_of(info, catalogue)?;
    let samples: Vec<StoppedValue<'_>> = match &rule.when {
        None => tools.iter().filter_map(|entry| StoppedValue::any(entry)).collect(),
        Some(when) => {
            tests(when)?.iter().flat_map(|test| StoppedValue::all(test, &tools)).collect()
        }
    };
    let is_sample = |it: &StoppedValue<'_>| is_stopped(policies, &it.entry.name, &it.input());
    let sample = samples.into_iter().find(is_sample)?;
    let passes = |probe: &ProbeCall| !is_stopped(policies, &probe.tool, &probe.input);
    let probe = sample.probes(catalogue).into_iter().find(passes)?;
    let input = probe.input.to_string();
    let call = call_text::joined(&probe.tool, &call_text::argument(&probe.tool, Some(&input)));
    let stopped = sample.text;
    Some(Advice {
        message: format!("rule `{}` stops `{stopped}`, but `{call}` passes", info.id),
        hint: probe.hint.to_owned(),
    })
}

/// The tests of arguments in a condition; `None` if it also asks about something else, which no probe
/// can fulfil.
fn tests(when: &ConditionExplanation) -> Option<Vec<&TestExplanation>> {
    match &when.kind {
        ConditionKind::Test(test) => sample_text(test).map(|_| vec![test]),
        ConditionKind::Any(parts) => {
            let found: Vec<_> = parts.iter().filter_map(tests).flatten().collect();
            (!found.is_empty()).then_some(found)
        }
        ConditionKind::All(_) | ConditionKind::Not(_) => None,
    }
}

/// A value that the rule stops, in an argument of one of its tools.
struct StoppedValue<'c> {
    entry: &'c Entry,
    argument: String,
    role: Role,
    text: String,
    asks: Asks,
}

/// What a rule asks about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// An argument.
    Argument,
    /// An effect.
    Effect,
    /// Only the name of the tool.
    Name,
}

impl<'c> StoppedValue<'c> {
    /// One for each of the tools.
    fn all(test: &TestExplanation, tools: &[&'c Entry]) -> Vec<Self> {
        if EFFECTS_WITH_SAMPLES.contains(&test.path.as_str()) {
            return tools.iter().filter_map(|entry| Self::of_effect(test, entry)).collect();
        }
        let Some(text) = sample_text(test) else { return Vec::new() };
        let fits = |(path, role): &&(String, Role)| {
            (*path == test.path || test.path.strip_prefix('@') == Some(role.as_str()))
                && is_plain(path)
        };
        let of = |entry: &&'c Entry| {
            let (argument, role) = entry.roles.iter().find(fits)?;
            let text = match role {
                Role::Url if !text.contains("://") => format!("https://{text}"),
                _ => text.clone(),
            };
            let asks = Asks::Argument;
            Some(Self { entry, argument: argument.clone(), role: *role, text, asks })
        };
        tools.iter().filter_map(of).collect()
    }

    /// A call that has an effect which a rule asks about.
    fn of_effect(test: &TestExplanation, entry: &'c Entry) -> Option<Self> {
        let item = sample_text(test)?;
        let target = item.replace("**/", "").replace("**", "x").replace(['*', '?'], "x");
        let word = quoted(&target);
        Self::with(entry, Asks::Effect, |role| {
            Some(match (role, test.path.as_str()) {
                (Role::Command, "runs") => item.clone(),
                (Role::Command, "reads") => format!("cat {word}"),
                (Role::Command, "writes") => format!("echo x > {word}"),
                (Role::Command, "deletes") => format!("rm {word}"),
                (Role::Command, "connects") => format!("curl https://{target}"),
                (Role::Path, "reads" | "writes" | "deletes") => target.clone(),
                (Role::Url, "connects") => format!("https://{target}"),
                _ => return None,
            })
        })
    }

    /// Any call of a tool.
    fn any(entry: &'c Entry) -> Option<Self> {
        Self::with(entry, Asks::Name, |role| match role {
            Role::Command => Some("ls".to_owned()),
            Role::Path => Some("x".to_owned()),
            _ => None,
        })
    }

    /// A call with a value for the first argument of a role that has one.
    fn with(entry: &'c Entry, asks: Asks, text: impl Fn(Role) -> Option<String>) -> Option<Self> {
        let mut roles = entry.roles.iter().filter(|(path, _)| is_plain(path));
        let (argument, role, text) =
            roles.find_map(|(argument, role)| Some((argument.clone(), *role, text(*role)?)))?;
        Some(Self { entry, argument, role, text, asks })
    }

    fn input(&self) -> Value {
        json!({ &self.argument: self.text })
    }

    /// Calls that do the same.
    fn probes(&self, catalogue: &Catalogue) -> Vec<ProbeCall> {
        if self.asks == Asks::Argument {
            return self.probes_of_argument(catalogue);
        }
        let has = |kind| self.entry.kinds.contains(&kind);
        let names = match self.role {
            Role::Command => SHELL_TOOLS,
            Role::Path if has(Kind::Read) => READ_TOOLS,
            Role::Path if has(Kind::Write) || has(Kind::Edit) => WRITE_TOOLS,
            _ => &[],
        };
        let hint = if self.asks == Asks::Name { KINDS } else { EFFECTS };
        let mut probes = self.siblings(names, catalogue, hint);
        if self.asks == Asks::Effect {
            // The shell reaches what other tools reach.
            let shell = self.probes_of_argument(catalogue);
            let of_shell = shell.into_iter().filter(|probe| probe.tool == "Bash");
            probes.extend(of_shell.map(|probe| ProbeCall { hint, ..probe }));
        }
        probes
    }

    /// Calls with the same argument, or another spelling of it.
    fn probes_of_argument(&self, catalogue: &Catalogue) -> Vec<ProbeCall> {
        let mut probes = Vec::new();
        let shell = |command: String, hint| ProbeCall {
            tool: "Bash".to_owned(),
            input: json!({ "command": command }),
            hint,
        };
        let text = &self.text;
        match self.role {
            Role::Command => {
                for command in spellings(text) {
                    let input = json!({ &self.argument: command });
                    probes.push(ProbeCall {
                        tool: self.entry.name.clone(),
                        input,
                        hint: SPELLINGS,
                    });
                }
                probes.extend(self.siblings(SHELL_TOOLS, catalogue, SHELLS));
            }
            Role::Path => {
                let has = |kind| self.entry.kinds.contains(&kind);
                let word = quoted(text);
                if has(Kind::Read) {
                    probes.extend(self.siblings(READ_TOOLS, catalogue, FILES));
                    probes.push(shell(format!("cat {word}"), FILES));
                }
                if has(Kind::Write) || has(Kind::Edit) {
                    probes.extend(self.siblings(WRITE_TOOLS, catalogue, FILES));
                    probes.push(shell(format!("echo x > {word}"), FILES));
                }
                if has(Kind::Delete) {
                    probes.push(shell(format!("rm {word}"), FILES));
                }
            }
            Role::Url if text.contains("://") => {
                probes.push(shell(format!("curl {}", quoted(text)), HOSTS));
            }
            _ => {}
        }
        probes
    }

    /// The same with other tools, and the argument that they use for it.
    fn siblings(
        &self,
        names: &[&str],
        catalogue: &Catalogue,
        hint: &'static str,
    ) -> Vec<ProbeCall> {
        let sibling = |name: &&str| {
            let entry = catalogue.entry(&fold(name))?;
            let fits = |(path, role): &&(String, Role)| *role == self.role && is_plain(path);
            let (argument, _) = entry.roles.iter().find(fits)?;
            let input = json!({ argument: self.text });
            Some(ProbeCall { tool: (*name).to_owned(), input, hint })
        };
        names.iter().filter_map(sibling).collect()
    }
}

/// Whether this is the name of an argument, and not a path to one inside of others.
fn is_plain(argument: &str) -> bool {
    argument.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The effects of which a call can be made up.
const EFFECTS_WITH_SAMPLES: &[&str] = &["runs", "reads", "writes", "deletes", "connects"];

/// The tools of widespread agents.
const SHELL_TOOLS: &[&str] = &["Bash", "exec_command", "run_shell_command", "run_terminal_cmd"];
const READ_TOOLS: &[&str] = &["Read", "read_file", "view_file"];
const WRITE_TOOLS: &[&str] = &["Write", "Edit", "write_file", "replace"];

/// A text for which an operator holds, if it is easy to find one. Whether it holds is checked by
/// judging it.
fn sample_text(test: &TestExplanation) -> Option<String> {
    let operand: Value = serde_json::from_str(&test.operand).ok()?;
    let text = match &operand {
        Value::String(text) => text.as_str(),
        Value::Array(items) => items.first()?.as_str()?,
        _ => return None,
    };
    let text = match test.operator {
        "starts_with" if text.ends_with(' ') => format!("{text}x"),
        "equals" | "contains" | "starts_with" | "in" => text.to_owned(),
        "glob" => text.replace("**/", "").replace("**", "x").replace(['*', '?'], "x"),
        "matches" => simple_match(text)?,
        _ => return None,
    };
    let text = text.trim().to_owned();
    (!text.is_empty() && text.len() <= 200 && !text.contains(['\n', '{', '['])).then_some(text)
}

/// A text that a simple regular expression finds.
fn simple_match(pattern: &str) -> Option<String> {
    let mut text = pattern.strip_prefix("(?i)").unwrap_or(pattern).to_owned();
    let plain = [
        (r"\b", ""),
        ("^", ""),
        ("$", ""),
        (r"\s+", " "),
        (r"\s*", " "),
        (r"\s", " "),
        (" +", " "),
        (".*", " "),
        (".+", "x"),
        (r"\.", "."),
        (r"\/", "/"),
        (r"\-", "-"),
    ];
    for (from, to) in plain {
        text = text.replace(from, to);
    }
    (!text.contains(['\\', '(', ')', '[', ']', '{', '}', '|', '*', '+', '?'])).then_some(text)
}

/// Other ways to write a command.
fn spellings(command: &str) -> Vec<String> {
    let mut list = Vec::new();
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some((program, rest)) = words.split_first() else { return list };
    let joined = |between: &str| words.join(between);
    if !rest.is_empty() {
        list.push(joined("  "));
        let split: Vec<String> = words.iter().map(|word| split_flags(word)).collect();
        list.push(split.join(" "));
    }
    let rest = rest.join(" ");
    list.push(format!("'{program}' {rest}").trim_end().to_owned());
    if program.starts_with(|c: char| c.is_ascii_alphabetic()) {
        list.push(format!("/usr/bin/{program} {rest}").trim_end().to_owned());
    }
    list.retain(|other| other != command);
    list
}

/// `-r -f` for `-rf`.
fn split_flags(word: &str) -> String {
    match word.strip_prefix('-') {
        Some(flags) if flags.len() > 1 && flags.chars().all(|c| c.is_ascii_alphabetic()) => {
            let flags: Vec<String> = flags.chars().map(|flag| format!("-{flag}")).collect();
            flags.join(" ")
        }
        _ => word.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~:@%+=".contains(c);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', ""))
    }
}

fn is_stopped(policies: &Policies, tool: &str, input: &Value) -> bool {
    let Ok(name) = ToolName::parse(tool) else { return true };
    let mut origin = OriginFields::at(Surface::Response);
    (origin.cwd, origin.home) =
        (Some("/home/user/project".to_owned()), Some("/home/user".to_owned()));
    let call = ToolCall {
        id: CallId::from(""),
        name,
        arguments: Arguments::json(input.to_string()),
        origin: Origin::new(origin),
        caller: None,
    };
    !policies.judge(&call, &now(), &SpentLimits::none()).verdict.passes()
}
