//! The settings that are one value each: read from the file, and set, as their rows say.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use callgate_decide::mcp::McpSettings;
use callgate_document::{At, Key, Node, Problems, Source, SourceSpan, Yaml};
use callgate_store::Location;

use crate::fields::{self, SettingKind, SettingRow};
use crate::file::read::Section;
use crate::protect::Protect;

/// The settings of every crate. What is not one value each (providers, servers, where records are
/// stored) is added when they are resolved.
#[derive(Debug)]
pub(crate) struct SettingValues {
    pub(crate) proxy: callgate_proxy::Settings,
    pub(crate) audit: callgate_store::Settings,
    pub(crate) decide: callgate_decide::Settings,
    pub(crate) protect: Protect,
    pub(crate) mcp: McpSettings,
    pub(crate) mcp_list_timeout: Duration,
    pub(crate) mcp_message_limit: usize,
    pub(crate) mcp_conversations: usize,
    /// The value of each row that was set, for comparison.
    pub(crate) set: BTreeMap<&'static str, String>,
}

impl Default for SettingValues {
    /// Every value as its row has it by default.
    fn default() -> Self {
        let mut values = Self {
            proxy: callgate_proxy::Settings::default(),
            audit: callgate_store::Settings::at(Location::Memory),
            decide: callgate_decide::Settings::default(),
            protect: Protect::On,
            mcp: McpSettings::default(),
            // Servers that are started by a package manager may download themselves first.
            mcp_list_timeout: Duration::from_secs(30),
            // More than the largest known results need. A message is in memory until it is judged.
            mcp_message_limit: 64 << 20,
            // More than one machine's agents have at once.
            mcp_conversations: 4096,
            set: BTreeMap::new(),
        };
        fields::all().for_each(|row| values.set_default(row));
        values
    }
}

impl SettingValues {
    /// Reads the values of a section and of those in it.
    pub(crate) fn read(&mut self, section: &Section<'_>, problems: &mut Problems<'_>) {
        for field in fields::in_section(section.path()) {
            match field.kind {
                SettingKind::Section => {
                    self.read(&section.section(field.key(), problems), problems)
                }
                _ => self.read_one(field, section, problems),
            }
        }
    }

    fn read_one(
        &mut self,
        row: &'static SettingRow,
        section: &Section<'_>,
        problems: &mut Problems<'_>,
    ) {
        let key = row.key();
        match row.kind {
            SettingKind::Address(set) => self.put(row, set, section.address(key, problems)),
            SettingKind::Flag(set) => self.put(row, set, section.flag(key, problems)),
            SettingKind::Size(set) => self.put(row, set, section.size(key, problems)),
            SettingKind::SizeOrNone(set) => {
                self.put(row, set, section.or_none(key, problems, Section::large_size));
            }
            SettingKind::Duration(Some(set)) => self.put(row, set, section.duration(key, problems)),
            SettingKind::DurationOrNone(set) => {
                self.put(row, set, section.or_none(key, problems, Section::duration));
            }
            SettingKind::Count(_, Some(set)) => {
                let count = section.count(key, problems).and_then(|at| {
                    Some(At { value: usize::try_from(at.value).ok()?, span: at.span })
                });
                self.put(row, set, count);
            }
            SettingKind::CountOrNone(_, set) => {
                self.put(row, set, section.or_none(key, problems, Section::count));
            }
            SettingKind::Words(words, Some(set)) => {
                if let Some(at) = section.one_of(key, &words(), problems) {
                    self.set.insert(row.path, at.value.to_owned());
                    set(self, at.value);
                }
            }
            SettingKind::WordsOrNone(words, set) => {
                let read = |it: &Section<'_>, key: &str, problems: &mut Problems<'_>| {
                    it.one_of(key, &words(), problems)
                };
                if let Some(at) = section.or_none(key, problems, read) {
                    self.set.insert(row.path, format!("{:?}", at.value));
                    set(self, at.value);
                }
            }
            SettingKind::Paths(set) => self.put(row, set, section.paths(key, problems)),
            _ => {}
        }
    }

    fn put<T: Debug>(
        &mut self,
        row: &'static SettingRow,
        set: fn(&mut Self, T),
        read: Option<At<T>>,
    ) {
        if let Some(at) = read {
            self.set.insert(row.path, format!("{:?}", at.value));
            set(self, at.value);
        }
    }

    /// Reads the default of a row as if it were in the file.
    fn set_default(&mut self, row: &'static SettingRow) {
        let value = match row.default {
            "" => return,
            "true" => Yaml::Bool(true),
            "false" => Yaml::Bool(false),
            "[]" => Yaml::List(Vec::new()),
            text if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Yaml::Number { json: text.to_owned(), written: text.to_owned() }
            }
            text => Yaml::String(text.to_owned()),
        };
        let span = SourceSpan::default();
        let entries = [(Key { name: row.key().to_owned(), span }, Node { span, value })];
        let source = Source { name: "defaults".to_owned(), text: String::new() };
        let mut problems = Problems::new(&source);
        self.read_one(row, &Section::alone(row.section(), &entries), &mut problems);
        debug_assert_eq!(problems.into_list(), [], "the default of `{}`", row.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other users of the crates than the config get the same.
    #[test]
    fn the_rows_agree_with_the_defaults_of_the_crates() {
        let rows = SettingValues::default();
        let shown = |it: &dyn Debug| format!("{it:?}");
        assert_eq!(shown(&rows.proxy), shown(&callgate_proxy::Settings::default()));
        assert_eq!(shown(&rows.decide), shown(&callgate_decide::Settings::default()));
        assert_eq!(shown(&rows.mcp), shown(&McpSettings::default()));
        assert_eq!(rows.audit, callgate_store::Settings::at(Location::Memory));
    }
}
