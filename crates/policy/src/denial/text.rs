//! The texts that models and users read about a denial, as the operator wants them.

use std::sync::{Arc, LazyLock};

use callgate_call::RecordLine;

use super::template::{TemplateError, TextTemplate};
use super::{Denial, cut};

/// The texts about denials.
#[derive(Debug, Clone)]
pub struct DenialText {
    call: TextTemplate,
    withheld: TextTemplate,
    /// With nothing left to fill in; `None` if the operator gave none.
    content: Option<String>,
    contact: String,
    link: String,
}

/// The texts about denials as the operator wrote them; what is missing is built in.
#[derive(Debug, Clone, Default)]
pub struct DenialTextParts {
    /// The text about a denied call.
    pub text: Option<TextTemplate>,
    /// The text that replaces content that a text rule blocked.
    pub content: Option<TextTemplate>,
    /// Whom to ask.
    pub contact: Option<String>,
    /// Where to read more.
    pub link: Option<String>,
}

/// What can be filled into the text about a call.
pub const CALL_PLACES: &[&str] = &[
    "tool", "rule", "policy", "reason", "hint", "matched", "blocks", "scope", "retry", "contact",
    "link", "record",
];

/// The placeholders of the text about content: none that would tell an attacker what to avoid.
pub const CONTENT_PLACES: &[&str] = &["contact", "link"];

impl DenialTextParts {
    /// Reads the text about a denied call.
    pub fn call_template(text: &str) -> Result<TextTemplate, TemplateError> {
        TextTemplate::read(text, CALL_PLACES, MAX_CALL)
    }

    /// Reads the text that replaces blocked content.
    pub fn content_template(text: &str) -> Result<TextTemplate, TemplateError> {
        TextTemplate::read(text, CONTENT_PLACES, MAX_CONTENT)
    }
}

impl DenialText {
    /// The texts of these parts.
    pub fn new(parts: DenialTextParts) -> Self {
        let contact = one_line(&parts.contact.unwrap_or_default(), MAX_CONTACT);
        let link = one_line(&parts.link.unwrap_or_default(), MAX_CONTACT);
        let filled = |template: TextTemplate| {
            template.fill(|name| if name == "contact" { &contact } else { &link })
        };
        let content = parts.content.map(filled).filter(|text| !text.is_empty());
        let call = parts.text.unwrap_or_else(|| built_in(CALL));
        Self { call, withheld: built_in(WITHHELD), content, contact, link }
    }

    /// The built-in texts.
    pub fn built_in() -> Arc<Self> {
        static BUILT_IN: LazyLock<Arc<DenialText>> = LazyLock::new(Arc::default);
        Arc::clone(&BUILT_IN)
    }

    /// A few plain lines about a denied call, for the model and the user. The last one names the
    /// record, if there is one: by it the gateway knows the text again when a client sends it back.
    pub fn notice(&self, denial: &Denial) -> String {
        let values = PlaceholderValues::of(denial);
        let mut text = self.fill(&self.call, &values);
        if text.is_empty() {
            let built_in = built_in(CALL);
            text = self.fill(&built_in, &values);
        }
        let last = RecordLine { id: &values.record }.to_string();
        if !values.record.is_empty() && text.lines().next_back() != Some(&last) {
            text.push('\n');
            text.push_str(&last);
        }
        text
    }

    /// One line about a denied call in a turn that continues: the model gets the reason elsewhere.
    pub fn line(&self, denial: &Denial) -> String {
        let PlaceholderValues { tool, rule, record, .. } = PlaceholderValues::of(denial);
        let mut line = format!("callgate blocked the tool call `{tool}`");
        if !rule.is_empty() {
            line.push_str(&format!(" (rule {rule})"));
        }
        line.push('.');
        if !record.is_empty() {
            line.push_str(&format!(" {}", RecordLine { id: &record }));
        }
        line
    }

    /// Like [`Self::notice`], for the result of a call that a server has already run.
    pub fn withheld(&self, denial: &Denial) -> String {
        self.fill(&self.withheld, &PlaceholderValues::of(denial))
    }

    /// The text that replaces content that a text rule blocked. It does not name the rule, which
    /// would tell an attacker what to avoid; the record does.
    pub fn content(&self) -> &str {
        self.content.as_deref().unwrap_or(CONTENT)
    }

    /// Like [`Self::content`], if the operator has given it.
    pub fn custom_content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    fn fill<'v>(&'v self, template: &'v TextTemplate, values: &'v PlaceholderValues) -> String {
        template.fill(|name| match name {
            "tool" => &values.tool,
            "rule" => &values.rule,
            "policy" => &values.policy,
            "reason" => &values.reason,
            "hint" => &values.hint,
            "matched" => &values.matched,
            "blocks" => &values.blocks,
            "scope" => &values.scope,
            "retry" => values.retry,
            "contact" => &self.contact,
            "link" => &self.link,
            _ => &values.record,
        })
    }
}

impl Default for DenialText {
    fn default() -> Self {
        Self::new(DenialTextParts::default())
    }
}

/// The values of the placeholders. Each is on one line, because models and servers choose some of
/// them.
struct PlaceholderValues {
    tool: String,
    rule: String,
    policy: String,
    reason: String,
    hint: String,
    matched: String,
    blocks: String,
    scope: String,
    retry: &'static str,
    record: String,
}

impl PlaceholderValues {
    fn of(denial: &Denial) -> Self {
        let optional = |text: &Option<String>| {
            text.as_deref().map(|text| one_line(text, MAX_VALUE)).unwrap_or_default()
        };
        let tool = one_line(&denial.tool, MAX_TOOL).replace('`', "'");
        let policy = optional(&denial.policy);
        let rule = match (optional(&denial.rule), policy.is_empty()) {
            (rule, true) => rule,
            (rule, false) if rule.is_empty() => format!("the default of policy {policy}"),
            (rule, false) => format!("{rule} (policy {policy})"),
        };
        Self {
            scope: denial.scope.sentence(&tool),
            retry: denial.scope.retry(denial.blocks.is_some()),
            reason: one_line(&denial.reason, MAX_VALUE),
            hint: optional(&denial.hint),
            matched: optional(&denial.argument),
            blocks: optional(&denial.blocks),
            record: optional(&denial.record),
            tool,
            rule,
            policy,
        }
    }
}

/// A text of ours, which a test reads.
fn built_in(text: &str) -> TextTemplate {
    TextTemplate::read(text, CALL_PLACES, MAX_CALL).unwrap_or_else(|_| TextTemplate::empty())
}

/// Text inside a notice must not start lines of its own, nor hide or turn around what follows.
fn one_line(text: &str, max: usize) -> String {
    // Nearly every text is plain.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return cut(text.trim(), max);
    }
    let plain = text.chars().map(|c| if c.is_control() || is_format(c) { ' ' } else { c });
    cut(plain.collect::<String>().trim(), max)
}

/// Line and paragraph separators, and marks that nobody sees: they hide text or turn it around.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}

/// The text about a call.
const CALL: &str = "\
callgate blocked the tool call `{tool}`.
Rule: {rule}
Reason: {reason}
Hint: {hint}
Argument: {matched}
Blocked: {blocks}
{scope}
It was not executed. {retry}
Contact: {contact}
More: {link}
Record: {record}";

const WITHHELD: &str = "\
callgate withheld what the server sent for `{tool}`.
Rule: {rule}
Reason: {reason}
Hint: {hint}
Argument: {matched}
Contact: {contact}
More: {link}
Record: {record}
The call did run; only its result is withheld. Calling it again gives the same result.";

const CONTENT: &str = "This response was stopped by a content policy.";

/// A page is more than a model or a person reads.
const MAX_CALL: usize = 4_000;
const MAX_CONTENT: usize = 1_000;
const MAX_CONTACT: usize = 500;
/// A reason that is longer is no longer one.
const MAX_VALUE: usize = 2_000;
const MAX_TOOL: usize = 200;

#[cfg(test)]
mod tests;
