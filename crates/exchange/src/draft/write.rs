//! The text of a draft: YAML for people to read and edit.

use callgate_json::quote;

use super::{DraftPolicy, DraftRule, Operand, PolicyDraft, When};

impl PolicyDraft {
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        match self.policies.as_slice() {
            [policy] => policy.write(&mut out, ""),
            policies => {
                out.push_str("policies:\n");
                for policy in policies {
                    policy.write(&mut out, "    ");
                }
            }
        }
        out
    }
}

impl DraftPolicy {
    fn write(&self, out: &mut String, indent: &str) {
        let mut line = |text: String| {
            out.push_str(indent);
            out.push_str(&text);
            out.push('\n');
        };
        self.about.iter().for_each(|about| line(comment(about)));
        line(format!("policy: {}", quoted(&self.name)));
        if let Some(default) = self.default {
            line(format!("default: {default}"));
        }
        if !self.rules.is_empty() {
            line("rules:".to_owned());
        }
        let mut rules = String::new();
        for rule in &self.rules {
            rule.write(&mut rules, indent);
        }
        out.push_str(&rules);
        if !indent.is_empty() {
            as_item(out, indent);
        }
    }
}

/// Turns the policy that was written last into an item of a list: its first key, after the
/// comments, begins with a dash.
fn as_item(out: &mut String, indent: &str) {
    let key = format!("{indent}policy: ");
    if let Some(at) = out.rfind(&key) {
        let dashed = format!("{}- policy: ", indent.get(2..).unwrap_or_default());
        out.replace_range(at..at + key.len(), &dashed);
    }
}

impl DraftRule {
    fn write(&self, out: &mut String, outer: &str) {
        let mut line = |text: String| {
            out.push_str(outer);
            out.push_str(&text);
            out.push('\n');
        };
        self.about.iter().for_each(|about| line(format!("  {}", comment(about))));
        line(format!("  - id: {}", quoted(&self.id)));
        for (key, values) in
            [("tool", &self.tools), ("server", &self.servers), ("agent", &self.agents)]
        {
            if !values.is_empty() {
                line(format!("    {key}: {}", list(values)));
            }
        }
        if !self.who.is_empty() {
            let who: Vec<String> =
                self.who.iter().map(|(key, value)| format!("{key}: {}", quoted(value))).collect();
            line(format!("    who: {{ {} }}", who.join(", ")));
        }
        if let Some(when) = &self.when {
            let mut text = String::new();
            when.write(&mut text, "      ");
            let inline = when.is_leaf();
            match inline {
                true => line(format!("    when: {{ {} }}", when.leaf())),
                false => {
                    line("    when:".to_owned());
                    text.lines().for_each(|text| line(text.to_owned()));
                }
            }
        }
        line(format!("    verdict: {}", self.verdict.as_str()));
        if let Some(priority) = self.priority {
            line(format!("    priority: {priority}"));
        }
        for (key, value) in [("reason", &self.reason), ("hint", &self.hint)] {
            if let Some(value) = value {
                line(format!("    {key}: {}", quoted(value)));
            }
        }
        if let Some(guidance) = &self.guidance {
            line(format!("    review: {{ guidance: {} }}", quoted(guidance)));
        }
        let examples = [("match", &self.matching), ("no_match", &self.not_matching)];
        if examples.iter().any(|(_, commands)| !commands.is_empty()) {
            line("    examples:".to_owned());
        }
        for (key, commands) in examples.into_iter().filter(|(_, commands)| !commands.is_empty()) {
            line(format!("      {key}:"));
            for command in commands {
                let input = format!("{{ command: {} }}", quoted(command));
                line(format!("        - {{ tool: shell, input: {input} }}"));
            }
        }
    }
}

impl When {
    fn is_leaf(&self) -> bool {
        !matches!(self, Self::Any(_) | Self::All(_) | Self::Not(_))
    }

    /// Writes the entries of a mapping.
    fn write(&self, out: &mut String, indent: &str) {
        match self {
            Self::Any(items) => write_items("any", items, out, indent),
            Self::All(items) => write_items("all", items, out, indent),
            Self::Not(inner) if inner.is_leaf() => {
                out.push_str(&format!("{indent}not: {{ {} }}\n", inner.leaf()));
            }
            Self::Not(inner) => {
                out.push_str(&format!("{indent}not:\n"));
                inner.write(out, &format!("{indent}  "));
            }
            _ => out.push_str(&format!("{indent}{}\n", self.leaf())),
        }
    }

    /// The entries of a condition without others inside, for a mapping on one line.
    fn leaf(&self) -> String {
        match self {
            Self::Effect(key, values) => format!("{key}: {}", list(values)),
            Self::EffectNot(key, values) => {
                let items: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                format!("{key}: {{ not: [{}] }}", items.join(", "))
            }
            Self::Arg { path, operator, value } => {
                let value = match value {
                    Operand::Text(text) => quoted(text),
                    Operand::Json(text) => text.clone(),
                    Operand::List(items) => {
                        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                        format!("[{}]", items.join(", "))
                    }
                };
                format!("arg: {}, {operator}: {value}", quoted(path))
            }
            Self::Any(_) | Self::All(_) | Self::Not(_) => String::new(),
        }
    }
}

fn write_items(key: &str, items: &[When], out: &mut String, indent: &str) {
    out.push_str(&format!("{indent}{key}:\n"));
    for item in items {
        if item.is_leaf() {
            out.push_str(&format!("{indent}  - {{ {} }}\n", item.leaf()));
            continue;
        }
        let mut inner = String::new();
        item.write(&mut inner, &format!("{indent}    "));
        let first = format!("{indent}    ");
        let rest = inner.strip_prefix(&first).unwrap_or(&inner);
        out.push_str(&format!("{indent}  - {rest}"));
    }
}

/// A line of a comment. What would end the line is shown escaped.
pub(crate) fn comment(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_control() || is_line_end(letter) { ' ' } else { letter })
        .collect();
    format!("# {plain}").trim_end().to_owned()
}

/// A text as YAML: plain where it cannot be anything else, otherwise in quotes.
pub(crate) fn quoted(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let needs_escapes = text.chars().any(|letter| letter.is_control() || is_line_end(letter));
    match needs_escapes {
        true => escaped(text),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

/// A JSON string is a YAML string; what YAML takes for the end of a line or does not accept is
/// written by its number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in quote(text).chars() {
        match letter.is_control() || is_line_end(letter) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => out.push(letter),
        }
    }
    out
}

/// Line ends that `char::is_control` does not cover, and characters that YAML does not accept.
fn is_line_end(letter: char) -> bool {
    matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// One text, or a list of them.
pub(crate) fn list(values: &[String]) -> String {
    match values {
        [one] => quoted(one),
        _ => {
            let items: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let first = text.chars().next();
    first.is_some_and(|letter| letter.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, ' ' | '_' | '-' | '.' | '/'))
        && !text.contains("  ")
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}
