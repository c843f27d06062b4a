//! What a tool for files writes, for later calls of the session.

use callgate_call::WrittenContent;
use callgate_json::Value;

use crate::analysis::Analysis;
use crate::catalogue::{Entry, Role};
use crate::patch;
use crate::path::{Path, working_folder};
use crate::tools::Call;
use crate::tools::arguments::find;
use crate::word::Word;

/// Keeps the content that a tool gives its file, or the files of its patch.
pub(super) fn keep(analysis: &mut Analysis<'_>, call: &Call<'_>, entry: &Entry) {
    let paths = entry.roles_of(Role::Path).flat_map(|path| find(call.value, path));
    let paths: Vec<(String, &str)> =
        paths.filter_map(|(key, value)| Some((key, value.as_str()?))).collect();
    let contents = entry.roles_of(Role::Content).flat_map(|path| find(call.value, path));
    let contents: Vec<(String, &str)> =
        contents.filter_map(|(path, value)| Some((path, value.as_str()?))).collect();
    for (key, text) in &contents {
        if !patch::targets(text).is_empty() {
            keep_patch(analysis, text);
        } else if let Some(path) = path_of(key, &paths)
            && !is_old(key)
        {
            keep_content(analysis, path, content(key, text, &contents));
        }
    }
}

/// The path that a content belongs to: the one next to it, as in `files[1]`, or the only one.
fn path_of<'p>(key: &str, paths: &[(String, &'p str)]) -> Option<&'p str> {
    let folder = |key: &str| key.rfind('.').map_or(0, |at| at + 1);
    let is_next =
        |(other, _): &&(String, &str)| other.get(..folder(other)) == key.get(..folder(key));
    paths.iter().find(is_next).or_else(|| paths.first()).map(|(_, path)| *path)
}

/// Keeps the content that an unknown tool for writing seems to give its only file.
pub(super) fn keep_shown(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    let Value::Object(members) = call.value else { return };
    let of = |names: &[&str]| {
        let is_named =
            |(key, _): &&(String, Value)| names.iter().any(|name| key.eq_ignore_ascii_case(name));
        members.iter().filter(is_named).find_map(|(_, value)| value.as_str())
    };
    let path = of(&["path", "file_path", "filepath", "file", "filename", "target_file", "uri"]);
    let content = of(&["content", "contents", "text", "data", "body", "file_text", "code"]);
    if let (Some(path), Some(content)) = (path, content) {
        let path = path.strip_prefix("file://").unwrap_or(path);
        keep_content(analysis, path, WrittenContent::Whole(content.to_owned()));
    }
}

/// Keeps the new text of every file of a patch.
pub(crate) fn keep_patch(analysis: &mut Analysis<'_>, text: &str) {
    for (name, content) in patch::contents(text) {
        keep_content(analysis, name, content);
    }
}

fn keep_content(analysis: &mut Analysis<'_>, path: &str, content: WrittenContent) {
    let folder = working_folder(analysis.ground);
    let path = Path::resolve(&Word::known(path), &folder, analysis.ground);
    if let Some(path) = path.resolved.text().map(str::to_owned) {
        analysis.wrote(&path, content);
    }
}

/// The new text is all of a file, unless there is an old text next to it: `old_string`, `oldText`.
fn content(key: &str, text: &str, all: &[(String, &str)]) -> WrittenContent {
    let folder = |key: &str| key.rfind('.').map_or(0, |at| at + 1);
    let same = |other: &str| other.get(..folder(other)) == key.get(..folder(key));
    let old = all.iter().find(|(other, _)| is_old(other) && same(other));
    let own = key.get(folder(key)..).unwrap_or(key);
    match old {
        Some((_, old)) => WrittenContent::Replaced { old: (*old).to_owned(), new: text.to_owned() },
        None if own.contains("new") || own.contains("insert") => {
            WrittenContent::Appended(text.to_owned())
        }
        None => WrittenContent::Whole(text.to_owned()),
    }
}

fn is_old(key: &str) -> bool {
    key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase().starts_with("old")
}
