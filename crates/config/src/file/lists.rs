//! Readers for lists, flags and hashes in a section.

use callgate_document::{At, Key, Mapping, Node, Problems, Yaml, list, text, wrong};

use super::read::{Section, WrongText, variable, wrong_as};
use crate::fields::{ANY, ENTRY};

impl<'n> Section<'n> {
    pub(crate) fn flag(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<bool>> {
        let node = self.node(key)?;
        match node.value {
            Yaml::Bool(value) => Some(At { value, span: node.span }),
            _ => {
                wrong(node, &self.what(key), "true or false", problems);
                None
            }
        }
    }

    /// The 64 digits of a SHA-256 in small letters, however it was written.
    pub(super) fn sha256(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<String>> {
        self.parsed(key, problems, |text| {
            let digits = text.strip_prefix("sha256:").unwrap_or(text).replace(':', "");
            let hint = "write its 64 hexadecimal digits";
            digits64(&digits).ok_or_else(|| wrong_as("a SHA-256", hint))
        })
    }

    /// The hash of a definition.
    pub(super) fn definition_hash(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<At<String>> {
        let hint = "write it as `callgate mcp pins list --json` shows it: `v1:` and 64 digits";
        self.parsed(key, problems, |text| {
            let digits = text.strip_prefix("v1:").and_then(digits64);
            let hash = digits.map(|digits| format!("v1:{digits}"));
            hash.ok_or_else(|| wrong_as("the hash of a definition", hint))
        })
    }

    /// A pattern of names.
    pub(super) fn glob(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<String>> {
        self.parsed(key, problems, |text| Ok(text.to_owned()))
    }

    /// Patterns of names.
    pub(super) fn globs(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<Vec<String>>> {
        self.items(key, problems, |text| Ok(text.trim().to_owned()))
    }

    pub(super) fn variables(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<At<Vec<String>>> {
        self.items(key, problems, |text| variable(text.trim()))
    }

    /// Texts as they are: an argument may be empty.
    pub(super) fn texts(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<Vec<String>>> {
        let node = self.node(key)?;
        let what = format!("an entry of {}", self.what(key));
        let read =
            list(node, &self.what(key), problems).iter().filter_map(|item| match &item.value {
                Yaml::String(text) => Some(text.clone()),
                _ => text(item, &what, problems).map(|at| at.value),
            });
        Some(At { value: read.collect(), span: node.span })
    }

    fn items(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
        parse: impl Fn(&str) -> Result<String, WrongText>,
    ) -> Option<At<Vec<String>>> {
        let node = self.node(key)?;
        let what = format!("an entry of {}", self.what(key));
        let mut value = Vec::new();
        for item in list(node, &self.what(key), problems) {
            let Some(text) = text(item, &what, problems) else { continue };
            match parse(&text.value) {
                Ok(item) => value.push(item),
                Err(WrongText { not, hint }) => {
                    let message = format!("{what} is not {not}: `{}`", text.value);
                    problems.add(text.span, message).hint(hint);
                }
            }
        }
        Some(At { value, span: node.span })
    }

    /// The sections of a list, each with its place.
    pub(super) fn each(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<(Section<'n>, &'n Node)>> {
        let node = self.node(key)?;
        let (path, shown) = self.below(key);
        let (path, shown) = (format!("{path}.{ENTRY}"), format!("{shown}{ENTRY}"));
        let read = |item: &'n Node, problems: &mut Problems<'_>| {
            (Section::named(&path, &shown, item, problems), item)
        };
        let items = list(node, &self.what(key), problems);
        Some(items.iter().map(|item| read(item, problems)).collect())
    }

    /// The sections of a mapping of names, in the order of the text.
    pub(super) fn by_name(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Vec<(Section<'n>, &'n Key)> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let Some(fields) = Mapping::of(node, &self.what(key), problems) else { return Vec::new() };
        let (path, shown) = self.below(key);
        let read = |(key, node): &'n (Key, Node)| {
            let shown = format!("{shown}.{}", key.name);
            (Section::named(&format!("{path}.{ANY}"), &shown, node, problems), key)
        };
        fields.entries.iter().map(read).collect()
    }
}

fn digits64(text: &str) -> Option<String> {
    let all_digits = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_digits.then(|| text.to_ascii_lowercase())
}
