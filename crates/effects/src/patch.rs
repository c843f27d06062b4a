//! Patches: which files they touch, in Codex' format and as unified diffs.

use std::ops::Range;

/// What a patch does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Writes,
    Deletes,
    /// Its content gets another name.
    Moves,
}

/// A file of a patch: what happens to it, its name, and where the name is in the text.
pub(crate) type Target<'t> = (Touch, &'t str, Range<usize>);

/// More files than this in one patch are not listed. The analysis is then incomplete.
pub(crate) const MAX_TARGETS: usize = 1024;

/// All files that a patch touches.
pub(crate) fn targets(text: &str) -> Vec<Target<'_>> {
    let mut targets: Vec<Target<'_>> = Vec::new();
    // The old name of a unified diff, until the new one is known.
    let mut old: Option<Target<'_>> = None;
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

fn codex_line(line: &str, at: usize) -> Option<Target<'_>> {
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
}
