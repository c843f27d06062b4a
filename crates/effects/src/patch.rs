//! Patches: which files they touch, in Codex' format and as unified diffs.

use std::ops::Range;

use callgate_call::WrittenContent;

/// What a patch does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Writes,
    Deletes,
    /// Its content gets another name.
    Moves,
}

/// A file of a patch: what happens to it, its name, and where the name is in the text.
pub(crate) type PatchTarget<'t> = (Touch, &'t str, Range<usize>);

/// More files than this in one patch are not listed. The analysis is then incomplete.
pub(crate) const MAX_TARGETS: usize = 1024;

/// All files that a patch touches.
pub(crate) fn targets(text: &str) -> Vec<PatchTarget<'_>> {
    let mut targets: Vec<PatchTarget<'_>> = Vec::new();
    // The old name of a unified diff, until the new one is known.
    let mut old: Option<PatchTarget<'_>> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        if targets.len() >= MAX_TARGETS {
            break;
        }
        if let Some(target) = codex_line(line, at) {
            let is_new_name = line.contains("Move to:") || line.contains("Rename to:");
            if let Some((touch, ..)) = targets.last_mut().filter(|_| is_new_name) {
                *touch = Touch::Moves;
            }
            targets.push(target);
        } else if let Some((prefix, name)) = diff_line(line) {
            let span = span_of(line, name, at);
            match prefix {
                "--- " => old = (name != "/dev/null").then_some((Touch::Writes, name, span)),
                "rename from " | "copy from " => targets.push((Touch::Moves, name, span)),
                "rename to " | "copy to " => targets.push((Touch::Writes, name, span)),
                _ if name == "/dev/null" => {
                    targets.extend(old.take().map(|(_, name, span)| (Touch::Deletes, name, span)));
                }
                _ => {
                    targets.push((Touch::Writes, name, span));
                    // A different old name is touched, too.
                    let other = old.take().filter(|(_, old, _)| *old != name);
                    targets.extend(other);
                }
            }
        }
    }
    targets
}

/// The new content of each file that a patch writes.
pub(crate) fn contents(text: &str) -> Vec<(&str, WrittenContent)> {
    let mut files: Vec<(&str, Hunks)> = Vec::new();
    for line in text.lines() {
        let is_codex = codex_line(line, 0);
        let name = match (is_codex, diff_line(line)) {
            (Some((Touch::Deletes, ..)), _) | (None, Some(("--- ", _))) => continue,
            (Some((_, name, _)), _) | (None, Some((_, name))) => Some(name),
            (None, None) => None,
        };
        if let Some(name) = name.filter(|_| files.len() < MAX_TARGETS) {
            files.push((name, Hunks { is_new: line.contains("Add File"), ..Hunks::default() }));
        } else if let Some((_, hunks)) = files.last_mut() {
            hunks.line(line);
        }
    }
    files.into_iter().flat_map(|(name, hunks)| hunks.done().map(move |it| (name, it))).collect()
}

/// The changes of one file.
#[derive(Default)]
struct Hunks {
    is_new: bool,
    done: Vec<(String, String)>,
    old: String,
    new: String,
}

impl Hunks {
    fn line(&mut self, line: &str) {
        let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
        if matches!(sign, " " | "-") {
            self.old.push_str(rest);
            self.old.push('\n');
        }
        if matches!(sign, " " | "+") {
            self.new.push_str(rest);
            self.new.push('\n');
        }
        if sign == "@" {
            self.end();
        }
    }

    fn end(&mut self) {
        let hunk = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        if !hunk.1.is_empty() {
            self.done.push(hunk);
        }
    }

    fn done(mut self) -> impl Iterator<Item = WrittenContent> {
        self.end();
        let is_new = self.is_new;
        self.done.into_iter().map(move |(old, new)| match is_new || old.is_empty() {
            true => WrittenContent::Whole(new),
            false => WrittenContent::Replaced { old, new },
        })
    }
}

fn codex_line(line: &str, at: usize) -> Option<PatchTarget<'_>> {
    let rest = line.trim_start().strip_prefix("***")?.trim_start();
    let (touch, name) = if let Some(name) = strip_word(rest, "Delete File:") {
        (Touch::Deletes, name)
    } else {
        let words = ["Add File:", "Update File:", "Move to:", "Create File:", "Rename to:"];
        (Touch::Writes, words.iter().find_map(|word| strip_word(rest, word))?)
    };
    Some((touch, name, span_of(line, name, at)))
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let start = text.get(..word.len())?;
    start.eq_ignore_ascii_case(word).then(|| text.get(word.len()..).unwrap_or_default().trim())
}

fn diff_line(line: &str) -> Option<(&'static str, &str)> {
    for prefix in ["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "] {
        let Some(name) = line.strip_prefix(prefix) else { continue };
        // A time stamp follows a tab.
        let name = name.split('\t').next().unwrap_or(name).trim().trim_matches('"');
        let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
        return (!bare.is_empty()).then_some((prefix, bare));
    }
    None
}

fn span_of(line: &str, name: &str, at: usize) -> Range<usize> {
    let offset = line.rfind(name).unwrap_or(0);
    at + offset..at + offset + name.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(Touch, &str)> {
        targets(text)
            .into_iter()
            .map(|(touch, name, span)| {
                assert_eq!(text.get(span).unwrap(), name);
                (touch, name)
            })
            .collect()
    }

    #[test]
    fn codex_patches_name_every_file() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-x\n+y\n*** Delete File: d.txt\n*** End Patch";
        assert_eq!(
            shown(text),
            [
                (Touch::Writes, "a.txt"),
                (Touch::Moves, "b.txt"),
                (Touch::Writes, "c.txt"),
                (Touch::Deletes, "d.txt"),
            ]
        );
    }

    #[test]
    fn unified_diffs_name_every_file() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/gone\n+++ /dev/null\n--- /dev/null\n+++ b/new\t2024\nrename from old\nrename to other\n";
        assert_eq!(
            shown(text),
            [
                (Touch::Writes, "x"),
                (Touch::Deletes, "gone"),
                (Touch::Writes, "new"),
                (Touch::Moves, "old"),
                (Touch::Writes, "other"),
            ]
        );
    }

    #[test]
    fn the_new_text_of_each_file_is_known() {
        let text = "*** Begin Patch\n*** Add File: a\n+x\n+y\n*** Update File: b\n@@\n one\n-two\n+2\n*** Delete File: c\n*** End Patch";
        let replaced =
            WrittenContent::Replaced { old: "one\ntwo\n".to_owned(), new: "one\n2\n".to_owned() };
        let whole = WrittenContent::Whole("x\ny\n".to_owned());
        assert_eq!(contents(text), [("a", whole), ("b", replaced)]);
        let text = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(contents(text), [("new", WrittenContent::Whole("x\n".to_owned()))]);
    }
}
