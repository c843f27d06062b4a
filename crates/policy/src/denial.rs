//! A refused call, as it is told.

/// A refused call, as it is told to the model and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The tool, as the model named it.
    pub tool: String,
    /// The policy that refused it.
    pub policy: Option<String>,
    /// The rule that refused it.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The argument that made the rule match, cut short.
    pub argument: Option<String>,
    /// The id of the record.
    pub record: Option<String>,
}

impl Denial {
    /// A refusal without a rule: a call in a shape that nobody can read for certain.
    pub fn refused(tool: &str, reason: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            policy: None,
            rule: None,
            reason: reason.to_owned(),
            hint: None,
            argument: None,
            record: None,
        }
    }

    /// A few plain lines for the model and the user.
    pub fn notice(&self) -> String {
        let mut lines = vec![format!("callgate blocked the tool call `{}`.", one_line(&self.tool))];
        match (&self.rule, &self.policy) {
            (Some(rule), Some(policy)) => lines.push(format!("Rule: {rule} (policy {policy})")),
            (Some(rule), None) => lines.push(format!("Rule: {rule}")),
            (None, Some(policy)) => lines.push(format!("Policy: {policy} (default)")),
            (None, None) => {}
        }
        lines.push(format!("Reason: {}", self.reason));
        let rest = [("Hint", &self.hint), ("Argument", &self.argument), ("Record", &self.record)];
        for (label, value) in rest {
            if let Some(value) = value {
                lines.push(format!("{label}: {}", one_line(value)));
            }
        }
        lines.join("\n")
    }
}

/// The first `max` characters, with an ellipsis for what is missing.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A model's text inside a notice must not start lines of its own.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
