//! One section of the file, and readers for each kind of setting in it.

use std::net::SocketAddr;
use std::time::Duration;

use callgate_document::{
    At, Key, Mapping, Node, Problems, SourceSpan, Yaml, integer, list, text, word, wrong,
};
use url::Url;

use super::{WrittenListen, WrittenStore};
use crate::fields::{self, SettingKind, SettingRow};
use crate::providers;
use crate::quantity::{self, DURATION_HINT, SIZE_HINT};
use crate::words::SettingWord;

/// A mapping of settings. A missing mapping has no settings.
#[derive(Debug)]
pub(crate) struct Section<'n> {
    /// Its path in the table of fields.
    path: String,
    /// The same path as the operator wrote it.
    shown: String,
    fields: Option<Mapping<'n>>,
}

/// The word for "no bound".
const NONE: &str = "none";

impl<'n> Section<'n> {
    /// The file itself. Its keys are checked elsewhere, because it may also contain a policy.
    pub(super) fn root(fields: &Mapping<'n>) -> Self {
        let fields = Some(Mapping { entries: fields.entries, span: fields.span });
        Self { path: String::new(), shown: String::new(), fields }
    }

    /// The section at `node`, its keys checked.
    pub(super) fn named(
        path: &str,
        shown: &str,
        node: &'n Node,
        problems: &mut Problems<'_>,
    ) -> Self {
        let fields = Mapping::of(node, &format!("`{shown}`"), problems);
        if let Some(fields) = &fields {
            let known: Vec<&str> = fields::in_section(path).map(SettingRow::key).collect();
            fields.check(&known, &[], problems);
        }
        Self { path: path.to_owned(), shown: shown.to_owned(), fields }
    }

    /// A section with nothing but these entries, for the defaults.
    pub(crate) fn alone(path: &str, entries: &'n [(Key, Node)]) -> Self {
        let fields = Some(Mapping { entries, span: SourceSpan::default() });
        Self { path: path.to_owned(), shown: path.to_owned(), fields }
    }

    /// Its path in the table of fields.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The section under a key, without a check:
    /// [`SettingValues::read`](crate::values::SettingValues::read) checks every section at a fixed
    /// place.
    pub(super) fn inside(&self, key: &str) -> Self {
        let (path, shown) = self.below(key);
        let fields = self.node(key).and_then(|node| match &node.value {
            Yaml::Map(entries) => Some(Mapping { entries, span: node.span }),
            _ => None,
        });
        Self { path, shown, fields }
    }

    /// The section under a key.
    pub(crate) fn section(&self, key: &str, problems: &mut Problems<'_>) -> Self {
        let (path, shown) = self.below(key);
        match self.node(key) {
            Some(node) => Self::named(&path, &shown, node, problems),
            None => Self { path, shown, fields: None },
        }
    }

    /// Reports each of `keys` that is missing.
    pub(super) fn require(&self, keys: &[&str], at: &Key, problems: &mut Problems<'_>) {
        let Some(fields) = &self.fields else { return };
        for key in keys.iter().filter(|key| fields.get(key).is_none()) {
            problems
                .add(at.span, format!("`{}` has no `{key}`", self.shown))
                .hint(format!("these are built in: {}", providers::known_names()));
        }
    }

    /// Whether the key is present.
    pub(super) fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// The position of a key, if it is present.
    pub(super) fn key_span(&self, key: &str) -> Option<SourceSpan> {
        let mut entries = self.fields.as_ref()?.entries.iter();
        entries.find(|(known, _)| known.name == key).map(|(known, _)| known.span)
    }

    /// Whether it is a mapping without any key.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.as_ref().is_some_and(|fields| fields.entries.is_empty())
    }

    /// Whether it is present, and a mapping.
    pub(super) fn is_read(&self) -> bool {
        self.fields.is_some()
    }

    /// The path of the value of a key, and the same as the operator wrote it.
    pub(super) fn below(&self, key: &str) -> (String, String) {
        (join(&self.path, key), join(&self.shown, key))
    }

    /// Its full name, including its sections.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn node(&self, key: &str) -> Option<&'n Node> {
        debug_assert!(self.field(key).is_some(), "`{key}` of `{}` is in no table", self.path);
        self.fields.as_ref()?.get(key)
    }

    fn field(&self, key: &str) -> Option<&'static SettingRow> {
        fields::in_section(&self.path).find(|field| field.key() == key)
    }

    pub(super) fn what(&self, key: &str) -> String {
        format!("`{}`", join(&self.shown, key))
    }

    pub(super) fn text(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<String>> {
        text(self.node(key)?, &self.what(key), problems)
    }

    /// Text that `parse` accepts, or a problem with a hint.
    pub(super) fn parsed<T>(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
        parse: impl FnOnce(&str) -> Result<T, WrongText>,
    ) -> Option<At<T>> {
        let text = self.text(key, problems)?;
        match parse(text.value.trim()) {
            Ok(value) => Some(At { value, span: text.span }),
            Err(WrongText { not, hint }) => {
                let message = format!("{} is not {not}: `{}`", self.what(key), text.value);
                problems.add(text.span, message).hint(hint);
                None
            }
        }
    }

    pub(crate) fn address(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<SocketAddr>> {
        let hint = "write an IP address and a port, like `127.0.0.1:8484` or `[::1]:8484`";
        self.parsed(key, problems, |text| text.parse().map_err(|_| wrong_as("an address", hint)))
    }

    pub(super) fn store(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<WrittenStore>> {
        self.parsed(key, problems, |text| match text.split_once(':') {
            None if text == "memory" => Ok(WrittenStore::Memory),
            Some(("sqlite", path)) if path.starts_with('~') => {
                Err(wrong_as("a store", "write the full path: `~` is not expanded here"))
            }
            Some(("sqlite", path)) if !path.is_empty() && !path.contains('\0') => {
                Ok(WrittenStore::Sqlite(path.to_owned()))
            }
            _ => Err(wrong_as("a store", "write `sqlite:PATH` or `memory`")),
        })
    }

    pub(super) fn socket(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<At<WrittenListen>> {
        let not = "the path of a Unix socket";
        self.parsed(key, problems, |text| match text {
            "off" => Ok(WrittenListen::Off),
            "" => Err(wrong_as(not, "write a path, or `off`")),
            _ if text.starts_with('~') => {
                Err(wrong_as(not, "write the full path: `~` is not expanded here"))
            }
            _ if is_network(text) => Err(wrong_as(
                not,
                "TCP is not supported yet: write a path like `run/api.sock`, or `off`",
            )),
            _ if text.contains('\0') => Err(wrong_as(not, "write a path, or `off`")),
            path => Ok(WrittenListen::Path(path.to_owned())),
        })
    }

    pub(super) fn url(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<Url>> {
        let hint =
            "write the base URL that the official SDK uses, like `https://api.openai.com/v1`";
        self.url_as(key, hint, providers::base_url, problems)
    }

    /// A URL that passes the checks.
    pub(super) fn url_as(
        &self,
        key: &str,
        hint: &str,
        read: impl FnOnce(&str) -> Result<Url, &'static str>,
        problems: &mut Problems<'_>,
    ) -> Option<At<Url>> {
        let text = self.text(key, problems)?;
        match read(text.value.trim()) {
            Ok(value) => Some(At { value, span: text.span }),
            Err(why) => {
                let message = format!("{} cannot be used", self.what(key));
                problems.add(text.span, message).label(why).hint(hint);
                None
            }
        }
    }

    pub(super) fn variable(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<String>> {
        self.parsed(key, problems, variable)
    }

    pub(super) fn word<W: SettingWord>(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<At<W>> {
        let text = self.text(key, problems)?;
        let shown = join(&self.shown, key);
        word(&text, &format!("value for `{shown}`:"), &W::words(), &[], problems)
    }

    /// One of these words.
    pub(crate) fn one_of(
        &self,
        key: &str,
        words: &[&'static str],
        problems: &mut Problems<'_>,
    ) -> Option<At<&'static str>> {
        let text = self.text(key, problems)?;
        let shown = join(&self.shown, key);
        let known: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
        word(&text, &format!("value for `{shown}`:"), &known, &[], problems)
    }

    pub(crate) fn size(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<usize>> {
        self.parsed(key, problems, |text| {
            let size = quantity::size(text).and_then(|bytes| usize::try_from(bytes).ok());
            size.ok_or_else(|| wrong_as("a size", SIZE_HINT))
        })
    }

    /// A size that no memory has to hold.
    pub(crate) fn large_size(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<u64>> {
        let at = self.size(key, problems)?;
        Some(At { value: u64::try_from(at.value).ok()?, span: at.span })
    }

    pub(crate) fn duration(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<Duration>> {
        self.parsed(key, problems, |text| {
            quantity::duration(text).ok_or_else(|| wrong_as("a duration", DURATION_HINT))
        })
    }

    pub(crate) fn count(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<u64>> {
        let node = self.node(key)?;
        let range = match self.field(key)?.kind {
            SettingKind::Count(counts, _) | SettingKind::CountOrNone(counts, _) => counts.range(),
            _ => 1..=i64::MAX,
        };
        let value = integer(node, &self.what(key), range, problems)?;
        Some(At { value: u64::try_from(value).ok()?, span: node.span })
    }

    /// A value, or the word `none`.
    pub(crate) fn or_none<T>(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
        read: impl FnOnce(&Self, &str, &mut Problems<'_>) -> Option<At<T>>,
    ) -> Option<At<Option<T>>> {
        let node = self.node(key)?;
        if node.value == Yaml::String(NONE.to_owned()) {
            return Some(At { value: None, span: node.span });
        }
        read(self, key, problems).map(|at| At { value: Some(at.value), span: at.span })
    }

    pub(crate) fn paths(&self, key: &str, problems: &mut Problems<'_>) -> Option<At<Vec<String>>> {
        let node = self.node(key)?;
        let what = self.what(key);
        let mut value = Vec::new();
        for item in list(node, &what, problems) {
            let Yaml::String(path) = &item.value else {
                wrong(item, &format!("an entry of {what}"), "text", problems);
                continue;
            };
            if path.starts_with('/') && !path.contains(['?', '#', ' ']) {
                value.push(path.clone());
            } else {
                problems
                    .add(item.span, format!("an entry of {what} is not a path: `{path}`"))
                    .hint("write it like `/v1/embeddings`");
            }
        }
        Some(At { value, span: node.span })
    }
}

/// Whether a text is a network address, such as a URL or `host:port`, and not a path.
fn is_network(text: &str) -> bool {
    let port = text.rsplit_once(':').map_or(text, |(_, port)| port);
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    text.contains("://") || (is_port && !text.contains('/'))
}

/// The longest name of a variable. A longer text is probably a pasted key.
const MAX_VARIABLE: usize = 64;

/// The name of a variable. A key that was pasted here is not accepted as a name, and not kept.
pub(super) fn variable(text: &str) -> Result<String, WrongText> {
    let hint = "name a variable such as `OPENAI_API_KEY`; do not put the key itself here";
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = text.chars().all(plain) && !text.starts_with(|c: char| c.is_ascii_digit());
    let like_a_name = named && !text.is_empty() && text.len() <= MAX_VARIABLE;
    if like_a_name { Ok(text.to_owned()) } else { Err(wrong_as("a variable's name", hint)) }
}

/// What a text should have been, and a hint.
pub(super) struct WrongText {
    pub(super) not: &'static str,
    pub(super) hint: &'static str,
}

pub(super) fn wrong_as(not: &'static str, hint: &'static str) -> WrongText {
    WrongText { not, hint }
}

fn join(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}
