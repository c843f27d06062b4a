//! `tools`, as written: tools that the operator adds to the catalogue.

use callgate_call::{ToolName, fold};
use callgate_document::{At, Key, Mapping, Node, Problems, Yaml, text, word, wrong};
use callgate_effects::{Bound, Catalogue, EffectKind, Entry, Kind, Role};

use super::read::Section;

/// The word for "no effects".
const NONE: &str = "none";

/// The kinds that a tool can be declared to have. The others do not depend on the tool.
pub(crate) fn kinds() -> Vec<Kind> {
    let of_tools = |kind: &Kind| !matches!(kind, Kind::Mcp | Kind::Escalate);
    Kind::ALL.into_iter().filter(of_tools).collect()
}

pub(super) fn tools(file: &Section<'_>, problems: &mut Problems<'_>) -> Vec<Entry> {
    let known = Catalogue::builtin();
    let mut read: Vec<Entry> = Vec::new();
    for (section, key) in file.by_name("tools", problems) {
        check_name(key, &read, problems);
        read.push(tool(&section, key, &known, problems));
    }
    read
}

fn check_name(key: &Key, before: &[Entry], problems: &mut Problems<'_>) {
    let name = fold(key.name.trim());
    if before.iter().any(|entry| entry.name == name) {
        problems
            .add(key.span, format!("a second tool `{}`", key.name))
            .hint("names are compared without regard to case");
    }
    match ToolName::parse(&key.name) {
        Err(_) => {
            problems.add(key.span, format!("`{}` cannot be the name of a tool", key.name));
        }
        Ok(name) if !name.readings().is_empty() => {
            problems
                .add(key.span, format!("`{}` also contains the name of a server", key.name))
                .hint("write the tool's own name, and declare the server under `mcp.servers`");
        }
        Ok(_) => {}
    }
}

fn tool(section: &Section<'_>, key: &Key, known: &Catalogue, problems: &mut Problems<'_>) -> Entry {
    let kinds = read_kinds(section, problems);
    let roles = read_roles(section, problems);
    let effects = read_effects(section, problems);
    if section.is_empty() {
        problems
            .add(key.span, format!("`tools.{}` says nothing about the tool", key.name))
            .hint("add `kind`, `args` or `effects`");
    }
    let mut entry = Entry::new(&key.name, &kinds);
    let builtin = known.entry(&entry.name).filter(|builtin| !builtin.bound().is_empty());
    if let (Some(builtin), Some(effects)) = (builtin, &effects) {
        let kinds: Vec<String> = builtin.kinds.iter().map(Kind::to_string).collect();
        problems
            .add(effects.span, format!("the effects of `{}` cannot be changed", key.name))
            .label(format!("callgate knows this tool: {}", kinds.join(", ")))
            .hint("`kind` and `args` add to what is known; to have fewer effects, give your tool another name");
    }
    entry.roles = roles;
    entry.effects = effects.map_or(Bound::NONE, |at| at.value);
    entry.with_usual_roles()
}

fn read_kinds(section: &Section<'_>, problems: &mut Problems<'_>) -> Vec<Kind> {
    let kinds = kinds();
    let words: Vec<String> = kinds.iter().map(Kind::to_string).collect();
    let known: Vec<(&str, Kind)> = words.iter().map(String::as_str).zip(kinds).collect();
    let Some(node) = section.node("kind") else { return Vec::new() };
    let texts = one_or_more(node, &section.what("kind"), problems);
    let read = |text: &At<String>| word(text, "kind", &known, &[], problems);
    texts.iter().filter_map(read).map(|at| at.value).collect()
}

fn read_roles(section: &Section<'_>, problems: &mut Problems<'_>) -> Vec<(String, Role)> {
    let words = Role::ALL.map(|role| role.to_string());
    let known: Vec<(&str, Role)> = words.iter().map(String::as_str).zip(Role::ALL).collect();
    let Some(node) = section.node("args") else { return Vec::new() };
    let what = section.what("args");
    let Some(fields) = Mapping::of(node, &what, problems) else { return Vec::new() };
    let mut roles = Vec::new();
    for (key, node) in fields.entries {
        if !is_path(&key.name) {
            problems.add(key.span, format!("`{}` is not an argument", key.name)).hint(
                "like `path`, `options.path` or `files[*].path`; `$` is the text of a custom tool",
            );
        }
        if let Some(text) = text(node, &format!("a value of {what}"), problems)
            && let Some(role) = word(&text, "role", &known, &[], problems)
        {
            roles.push((key.name.clone(), role.value));
        }
    }
    roles
}

/// Names with dots between them, each perhaps with `[*]`.
fn is_path(text: &str) -> bool {
    let is_step = |step: &str| {
        let key = step.strip_suffix("[*]").unwrap_or(step);
        !key.is_empty() && !key.contains(['[', ']', '$', '*'])
    };
    text == "$" || text.split('.').all(is_step)
}

fn read_effects(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<At<Bound>> {
    let node = section.node("effects")?;
    let texts = one_or_more(node, &section.what("effects"), problems);
    if let [only] = texts.as_slice()
        && only.value == NONE
    {
        return Some(At { value: Bound::NONE, span: node.span });
    }
    let known: Vec<(&str, Option<EffectKind>)> =
        EffectKind::WORDS.iter().map(|(word, kind)| (*word, Some(*kind))).collect();
    let known = [known, vec![(NONE, None)]].concat();
    let mut bound = Bound::NONE;
    for text in &texts {
        match word(text, "effect", &known, &[], problems).map(|at| at.value) {
            Some(Some(kind)) => bound = bound.with(kind),
            Some(None) => problems
                .add(text.span, "`none` with other effects")
                .hint("write `effects: none`, or leave `none` out"),
            None => {}
        }
    }
    Some(At { value: bound, span: node.span })
}

fn one_or_more(node: &Node, what: &str, problems: &mut Problems<'_>) -> Vec<At<String>> {
    match &node.value {
        Yaml::List(items) if items.is_empty() => {
            wrong(node, what, "a word or a list of words", problems);
            Vec::new()
        }
        Yaml::List(items) => {
            let entry = format!("an entry of {what}");
            items.iter().filter_map(|item| text(item, &entry, problems)).collect()
        }
        _ => text(node, what, problems).into_iter().collect(),
    }
}
