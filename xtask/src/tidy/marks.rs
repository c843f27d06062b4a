//! Left-over markers, paths of one machine, hosts that tools must not be pointed at.
//!
//! The words are written in two pieces, so that this file does not find itself.

use super::files::File;

/// What unfinished work leaves behind in Rust files.
const MARKERS: [&str; 7] = [
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    concat!("#[ig", "nore"),
    concat!("// TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
];

/// Folders that exist on one machine. Rules mention the home of root, so only parts of it are here.
const MACHINES: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/fa", "rm/"),
    concat!("/ro", "ot/.cargo"),
    concat!("/ro", "ot/.pyenv"),
    concat!("/ro", "ot/.rustup"),
];

/// Package registries. Package managers know their addresses, and users may have set others.
const REGISTRIES: [&str; 5] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js.org"),
    concat!("debian", ".org"),
];

/// Files in which tools write the registry themselves, or in which it must be named.
const MAY_NAME_REGISTRIES: [&str; 3] = ["Cargo.lock", "package-lock.json", "deny.toml"];

pub(crate) fn check(file: &File) -> Vec<String> {
    // Recorded bytes are what they are.
    if file.name.starts_with("corpus/") && file.name.contains("/upstream.") {
        return Vec::new();
    }
    let base = file.name.rsplit('/').next().unwrap_or_default();
    let may_name = MAY_NAME_REGISTRIES.contains(&base);
    let mut wrong = Vec::new();
    for (number, line) in file.lines() {
        let mut say = |what: &str, word: &str| {
            wrong.push(format!("{}:{number}: {what} `{word}`", file.name));
        };
        if file.is("rs") {
            let found = MARKERS.iter().filter(|marker| has_word(line, marker));
            found.for_each(|marker| say("left-over marker", marker));
        }
        let found = MACHINES.iter().filter(|folder| has_path(line, folder));
        found.for_each(|folder| say("path of one machine", folder));
        if !may_name {
            let found = REGISTRIES.iter().filter(|host| line.contains(*host));
            found.for_each(|host| say("registry host", host));
        }
    }
    wrong
}

/// Whether `word` stands in `line` and not inside a longer word.
fn has_word(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, behind) = (line.get(..at), line.get(at + word.len()..));
        let grows_left = before.is_some_and(|text| text.ends_with(inside));
        let grows_right =
            word.ends_with(inside) && behind.is_some_and(|text| text.starts_with(inside));
        !grows_left && !grows_right
    })
}

/// Whether an absolute path into `folder` begins in `line`.
fn has_path(line: &str, folder: &str) -> bool {
    let part_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*');
    line.match_indices(folder)
        .any(|(at, _)| !line.get(..at).is_some_and(|text| text.ends_with(part_of_path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(name: &str, text: &str) -> usize {
        check(&File::new(name, text.as_bytes().to_vec())).len()
    }

    #[test]
    fn every_word_is_found() {
        for marker in MARKERS {
            assert_eq!(
                wrong("src/a.rs", &format!("fn a() {{\n    {marker} (later)\n")),
                1,
                "{marker}"
            );
            assert_eq!(wrong("a.md", marker), 0, "{marker}");
        }
        for folder in MACHINES {
            assert_eq!(wrong("a.md", &format!("see `{folder}notes.md`")), 1, "{folder}");
            assert_eq!(wrong("a.md", &format!("see docs{folder}notes.md")), 0, "{folder}");
        }
        for host in REGISTRIES {
            assert_eq!(wrong("a.md", &format!("get it from https://{host}/x")), 1, "{host}");
            assert_eq!(wrong("fuzz/Cargo.lock", host), 0, "{host}");
        }
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(wrong("a.rs", concat!("let x = \"// TO", "DOS\";")), 0);
        assert_eq!(wrong("a.rs", concat!("sk-XX", "XX")), 0);
        assert_eq!(wrong("a.rs", concat!("// XX", "X: later")), 1);
    }

    #[test]
    fn recordings_are_what_they_are() {
        assert_eq!(wrong("corpus/anthropic/a/upstream.sse", MACHINES[1]), 0);
        assert_eq!(wrong("corpus/anthropic/a/case.toml", MACHINES[1]), 1);
    }
}
