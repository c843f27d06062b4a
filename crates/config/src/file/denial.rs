//! `denial`: how denials are worded.

use callgate_document::{At, Problems};
use callgate_policy::{DenialText, DenialTextParts, TemplateError, TextTemplate};

use super::read::Section;

/// `denial`.
#[derive(Debug, Default)]
pub(crate) struct WrittenDenial {
    text: Option<At<TextTemplate>>,
    content: Option<At<TextTemplate>>,
    contact: Option<At<String>>,
    link: Option<At<String>>,
}

impl WrittenDenial {
    /// The texts that it describes.
    pub(crate) fn resolved(self) -> DenialText {
        DenialText::new(DenialTextParts {
            text: self.text.map(|at| at.value),
            content: self.content.map(|at| at.value),
            contact: self.contact.map(|at| at.value),
            link: self.link.map(|at| at.value),
        })
    }
}

pub(super) fn denial(section: &Section<'_>, problems: &mut Problems<'_>) -> WrittenDenial {
    WrittenDenial {
        text: template(section, "text", DenialTextParts::call_template, problems),
        content: template(section, "content", DenialTextParts::content_template, problems),
        contact: line(section, "contact", problems),
        link: line(section, "link", problems),
    }
}

fn template(
    section: &Section<'_>,
    key: &str,
    read: impl Fn(&str) -> Result<TextTemplate, TemplateError>,
    problems: &mut Problems<'_>,
) -> Option<At<TextTemplate>> {
    let text = section.text(key, problems)?;
    match read(&text.value) {
        Ok(value) => Some(At { value, span: text.span }),
        Err(error) => {
            let what = section.what(key);
            let (message, span) = match &error {
                TemplateError::Unknown { name, .. } => {
                    let found = problems.find_from(text.span, &format!("{{{name}}}"));
                    (format!("{error} in {what}"), found.unwrap_or(text.span))
                }
                TemplateError::Open => (format!("{error} in {what}"), text.span),
                TemplateError::TooLong(_) | TemplateError::Empty => {
                    (format!("{what} is {error}"), text.span)
                }
                TemplateError::Control => (format!("{what} cannot be used: {error}"), text.span),
            };
            problems.add(span, message).hint(error.hint());
            None
        }
    }
}

/// A text on one line.
fn line(section: &Section<'_>, key: &str, problems: &mut Problems<'_>) -> Option<At<String>> {
    let text = section.text(key, problems)?;
    let what = section.what(key);
    let value = text.value.trim();
    if value.is_empty() || value.chars().any(char::is_control) {
        problems.add(text.span, format!("{what} is not one line of text")).hint("write one line");
        return None;
    }
    if value.chars().nth(MAX_LINE).is_some() {
        problems
            .add(text.span, format!("{what} is longer than {MAX_LINE} characters"))
            .hint("name a page or a person in a few words");
        return None;
    }
    Some(At { value: value.to_owned(), span: text.span })
}

/// Room for any URL that people click on.
const MAX_LINE: usize = 500;
