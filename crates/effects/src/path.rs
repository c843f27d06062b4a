//! Paths: from what is written to the file it names.

use std::fmt;

use crate::ground::Ground;
use crate::word::{Fill, Word};

/// A path, as written and as resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// As it was written, after quotes and variables.
    pub written: Word,
    /// Without `.`, `..` and doubled slashes, and absolute if the ground allows it. With an unknown
    /// home directory it begins with `~`; with an unknown working directory it is relative.
    pub resolved: Word,
    /// Where it leads through symbolic links, if a resolver found another place.
    pub real: Option<String>,
    /// How names are compared there.
    pub case: Case,
}

/// How a file system compares names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Case {
    /// `A` and `a` are two files, or it is not known.
    #[default]
    Sensitive,
    /// `A` and `a` are one file.
    Ignored,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resolved.fmt(f)
    }
}

impl Path {
    /// Resolves a path against a folder, which must be resolved itself, and the ground.
    pub fn resolve(written: &Word, folder: &Word, ground: &Ground<'_>) -> Self {
        let resolved = resolve(written, folder, ground);
        let (mut real, mut case) = (None, Case::Sensitive);
        if let (Some(resolver), Some(text)) = (ground.resolver, resolved.text())
            && text.starts_with('/')
        {
            real = resolver.resolve(text);
            if resolver.ignores_case(text) {
                case = Case::Ignored;
            }
        }
        if has_drive(resolved.known_start()) {
            case = Case::Ignored;
        }
        Self { written: written.clone(), resolved, real, case }
    }
}

impl Path {
    /// The folder whose whole content this path means: `build` for `build/*`.
    pub fn content_of(&self) -> Option<Word> {
        let text = self.resolved.known_part();
        let folder = text.strip_suffix('/')?;
        let is_all = matches!(self.resolved.gaps(), [gap] if gap.at == text.len());
        is_all.then(|| Word::known(if folder.is_empty() { "/" } else { folder }))
    }
}

/// The folder that the ground has as working directory; empty if it is unknown.
pub(crate) fn working_folder(ground: &Ground<'_>) -> Word {
    let folder = |cwd: &str| resolve(&cwd.into(), &Word::default(), ground).shared();
    ground.cwd.map_or_else(Word::default, folder)
}

fn resolve(written: &Word, folder: &Word, ground: &Ground<'_>) -> Word {
    let on_windows = ground.cwd.or(ground.home).is_some_and(has_drive);
    let mut written = through_proc(unify(written, on_windows));
    if on_windows && let Some((drive, length)) = drive_of_bash(written.known_start()) {
        let mut whole = Word::known(drive);
        whole.push_word(&written.from(length));
        written = whole;
    }
    let written = &written;
    let start = written.known_start();
    let mut whole = Word::default();
    if is_home(start) && (start.len() > 1 || written.is_known()) {
        whole.push_str(ground.home.unwrap_or("~"));
        whole.push_word(&written.from(1));
    } else if start.starts_with(['/', '~'])
        || has_drive(start)
        || starts_unknown(written)
        || folder.known_part().is_empty() && folder.is_known()
    {
        whole.push_word(written);
    } else if let (Some(folder), Some(name)) = (folder.text(), written.text()) {
        whole = Word::known([folder, "/", name].concat());
    } else {
        whole.push_word(folder);
        whole.push_str("/");
        whole.push_word(written);
    }
    match whole.text() {
        Some(text) if is_normal(text) => whole,
        Some(text) => Word::known(normal(text)),
        None => normal_word(&whole),
    }
}

/// Whether a path has no `.`, no `..` and no slash too many. Most paths have none.
fn is_normal(text: &str) -> bool {
    let names = text.strip_prefix('/').unwrap_or(text);
    text == "/" || !names.split('/').any(|name| matches!(name, "" | "." | ".."))
}

/// Drops `file://` and turns the backslashes of a Windows path.
fn unify(written: &Word, on_windows: bool) -> Word {
    let start = written.known_start();
    if let Some(rest) = start.get(..7).filter(|start| start.eq_ignore_ascii_case("file://")) {
        let host = start.get(rest.len()..).and_then(|rest| rest.find('/')).unwrap_or(0);
        return written.from(rest.len() + host);
    }
    if (on_windows || has_drive(start)) && written.is_known() && start.contains('\\') {
        return Word::known(start.replace('\\', "/"));
    }
    written.clone()
}

/// `/c/src` of Git's Bash and `/mnt/c/src` of WSL as `C:/src`: the drive, and the length of what it
/// stands for.
fn drive_of_bash(start: &str) -> Option<(String, usize)> {
    let (rest, before) = match start.strip_prefix("/mnt/") {
        Some(rest) => (rest, "/mnt/".len()),
        None => (start.strip_prefix('/')?, 1),
    };
    let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
    let is_drive = matches!(rest.as_bytes().get(1), None | Some(b'/'));
    is_drive.then(|| (format!("{}:", letter.to_ascii_uppercase()), before + 1))
}

/// Follows the links of a process to the root and to its working folder: `/proc/self/root/etc` is
/// `/etc`. A process of this session sees the same disk.
fn through_proc(written: Word) -> Word {
    let start = written.known_start();
    let mut cut = 0;
    // Links may lead to more links. All of them are cut off at once: a path can be long.
    while let Some((link, length)) = start.get(cut..).and_then(link_of_process) {
        cut += length;
        if link == "cwd" {
            let mut whole = Word::known("./");
            whole.push_word(&written.from(cut));
            return whole;
        }
    }
    match cut {
        0 => written,
        _ if start.len() == cut => {
            let mut whole = Word::known("/");
            whole.push_word(&written.from(cut));
            whole
        }
        _ => written.from(cut),
    }
}

/// `root` or `cwd` of a process at the start of a path, and the length up to its end.
fn link_of_process(path: &str) -> Option<(&str, usize)> {
    let mut parts = path.strip_prefix("/proc/")?.splitn(3, '/');
    let (process, link) = (parts.next()?, parts.next()?);
    let is_process = matches!(process, "self" | "thread-self")
        || !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    let length = "/proc/".len() + process.len() + 1 + link.len();
    (is_process && matches!(link, "root" | "cwd")).then_some((link, length))
}

fn is_home(start: &str) -> bool {
    start == "~" || start.starts_with("~/")
}

/// `C:\`, `C:/` or `C:`
pub(crate) fn has_drive(start: &str) -> bool {
    matches!(start.as_bytes(), [letter, b':'] | [letter, b':', b'\\' | b'/', ..]
        if letter.is_ascii_alphabetic())
}

/// Whether it begins with a missing value, which may be absolute.
fn starts_unknown(word: &Word) -> bool {
    word.gaps().first().is_some_and(|gap| gap.at == 0 && gap.fill == Fill::Anything)
}

/// Without `.`, `..` and doubled slashes.
fn normal(text: &str) -> String {
    let root = if text.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if *last != ".." && !last.starts_with('~') => {
                    parts.pop();
                }
                None if !root.is_empty() => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let joined = format!("{root}{}", parts.join("/"));
    if joined.is_empty() { ".".to_owned() } else { joined }
}

/// The same for a word with gaps.
fn normal_word(word: &Word) -> Word {
    let text = word.known_part();
    let is_absolute = text.starts_with('/') && word.gaps().first().is_none_or(|gap| gap.at > 0);
    let mut parts: Vec<Word> = Vec::new();
    let mut from = 0;
    for part_text in text.split('/') {
        let to = from + part_text.len();
        let part = between(word, from, to);
        from = to + 1;
        let can_pop = parts.last().is_some_and(|last| {
            !last.misses_value()
                && last.text() != Some("..")
                && !last.known_start().starts_with('~')
        });
        match part.text() {
            Some("" | ".") => {}
            Some("..") if can_pop => {
                parts.pop();
            }
            Some("..") if is_absolute && parts.is_empty() => {}
            _ => parts.push(part),
        }
    }
    // A gap at the start would look absolute; `./` says that it is not.
    let was_relative = !is_absolute && !word.known_start().is_empty();
    let root = match parts.first() {
        _ if is_absolute => "/",
        Some(first) if was_relative && first.known_start().is_empty() => "./",
        _ => "",
    };
    let mut whole = Word::known(root);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            whole.push_str("/");
        }
        whole.push_word(part);
    }
    whole
}

/// The part of a word between two bytes of its known text, with the gaps at both ends. A slash
/// is between two parts, so no gap is in both.
fn between(word: &Word, from: usize, to: usize) -> Word {
    let mut part = Word::default();
    let text = word.known_part();
    let mut at = from;
    for gap in word.gaps().iter().filter(|gap| (from..=to).contains(&gap.at)) {
        part.push_str(text.get(at..gap.at).unwrap_or_default());
        part.push_gap(gap.fill);
        at = gap.at;
    }
    part.push_str(text.get(at..to).unwrap_or_default());
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUND: Ground<'_> = Ground {
        cwd: Some("/proj/app"),
        home: Some("/home/u"),
        workspace: Some("/proj/app"),
        resolver: None,
        earlier: None,
    };

    fn resolved(written: &str, ground: &Ground<'_>) -> String {
        Path::resolve(&written.into(), &working_folder(ground), ground).to_string()
    }

    #[test]
    fn links_of_processes_are_followed() {
        let resolved = |text: &str| resolve(&text.into(), &Word::known("/w"), &GROUND).shared();
        for (written, expected) in [
            ("/proc/self/root/etc/shadow", "/etc/shadow"),
            ("/proc/1/root/proc/self/root/etc", "/etc"),
            ("/proc/self/root", "/"),
            ("/proc/self/cwd/a", "/w/a"),
            ("/proc/self/environ", "/proc/self/environ"),
            ("/proc/cpuinfo/root", "/proc/cpuinfo/root"),
        ] {
            assert_eq!(resolved(written).text(), Some(expected), "{written}");
        }
        let long = "/proc/self/root".repeat(100_000) + "/etc";
        assert_eq!(resolved(&long).text(), Some("/etc"));
    }

    #[test]
    fn paths_are_resolved_against_the_ground() {
        for (written, expected) in [
            ("~/.ssh/id_rsa", "/home/u/.ssh/id_rsa"),
            ("../../etc/passwd", "/etc/passwd"),
            ("./a//b/../c", "/proj/app/a/c"),
            ("/../../x", "/x"),
            ("/", "/"),
            (".", "/proj/app"),
            ("~", "/home/u"),
            ("~root/x", "~root/x"),
            ("file:///etc/passwd", "/etc/passwd"),
            ("C:\\Users\\u\\.ssh", "C:/Users/u/.ssh"),
            ("-", "/proj/app/-"),
        ] {
            assert_eq!(resolved(written, &GROUND), expected, "{written}");
        }
    }

    #[test]
    fn drives_have_a_folder_in_bash() {
        let ground =
            Ground { cwd: Some("C:\\app"), home: Some("C:\\Users\\u"), ..Ground::default() };
        for (written, expected) in [
            ("/c/app/dist", "C:/app/dist"),
            ("/d", "D:"),
            ("/mnt/c/x", "C:/x"),
            ("/usr/bin", "/usr/bin"),
            ("/tmp/c/x", "/tmp/c/x"),
        ] {
            assert_eq!(resolved(written, &ground), expected, "{written}");
        }
        assert_eq!(resolved("/c/app", &GROUND), "/c/app");
    }

    #[test]
    fn without_a_ground_paths_keep_their_spelling() {
        for (written, expected) in [
            ("~/.ssh/../x", "~/x"),
            ("~/../x", "~/../x"),
            ("src/./a", "src/a"),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("", "."),
        ] {
            assert_eq!(resolved(written, &Ground::default()), expected, "{written}");
        }
    }

    #[test]
    fn gaps_stay_where_they_are() {
        let mut word = Word::known("/a/");
        word.push_gap(Fill::Anything);
        word.push_str("/../b/./");
        word.push_gap(Fill::Name);
        word.push_str(".c");
        let path = Path::resolve(&word, &Word::known("/x"), &GROUND);
        assert_eq!(path.to_string(), "/a/…/../b/*.c");
        let path = Path::resolve(&Word::unknown(), &Word::known("/x"), &GROUND);
        assert_eq!(path.to_string(), "…");
    }

    proptest::proptest! {
        #[test]
        fn a_normal_path_stays_as_it_is(text in "[/a~]?(/|\\.|\\.\\.|a|/b)*") {
            let changes = normal(&text) != text;
            proptest::prop_assert!(!(changes && is_normal(&text)), "{text}");
        }
    }
}
