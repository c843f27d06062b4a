//! Files that earlier calls of a session have written, as far as the calls show their content.

use std::collections::VecDeque;

mod encoding;

/// What a call writes into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// The file, as far as the call shows where it is: absolute, below `~`, or relative.
    pub path: String,
    /// What is written.
    pub content: WrittenContent,
}

/// The content that a call gives a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenContent {
    /// All of its text.
    Whole(String),
    /// Text at its end.
    Appended(String),
    /// New text instead of old text.
    Replaced {
        /// The old text.
        old: String,
        /// The new text.
        new: String,
    },
    /// What other hosts have sent: their addresses.
    Fetched(Vec<String>),
}

/// A file that earlier calls of the session have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFile {
    /// All of its text, unless something else has changed it since.
    Whole(String),
    /// The parts of its text that the session has written.
    Parts(String),
    /// Only the beginning of what the session has written was kept: there was too much of it.
    Beginning(String),
    /// It came from these addresses.
    Fetched(Vec<String>),
}

/// The files that earlier calls of a session have written. When there is too much text, that of the
/// oldest is forgotten, but not that the session has written them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFiles {
    /// By path, the file that was written last at the end.
    files: VecDeque<(String, SessionFile)>,
    /// The bytes of all files.
    bytes: usize,
}

impl SessionFiles {
    /// The most bytes of all files of one session.
    pub const MAX_BYTES: usize = 1024 * 1024;
    /// The most bytes of one file. Only the beginning of a longer text is kept.
    pub const MAX_FILE: usize = 64 * 1024;
    /// The most files of one session, which only bounds how long looking for one takes.
    const MAX_FILES: usize = 4096;

    /// Adds what a call has written.
    pub fn apply(&mut self, write: FileWrite) {
        let FileWrite { path, content } = write;
        let at = self.files.iter().position(|(known, _)| *known == path);
        let old = at.and_then(|at| self.files.remove(at));
        self.bytes -= old.as_ref().map_or(0, bytes);
        let new = (path, changed(old.map(|(_, file)| file), content).bounded());
        self.bytes += bytes(&new);
        self.files.push_back(new);
        self.forget_texts();
        while self.files.len() > Self::MAX_FILES || self.bytes > Self::MAX_BYTES {
            let Some(oldest) = self.files.pop_front() else { return };
            self.bytes -= bytes(&oldest);
        }
    }

    /// Forgets what is in the oldest files while there is too much text. Their paths stay.
    fn forget_texts(&mut self) {
        let surplus = self.bytes.saturating_sub(Self::MAX_BYTES);
        let mut freed = 0;
        for (_, file) in &mut self.files {
            if freed >= surplus {
                break;
            }
            freed += file.bytes();
            if file.bytes() > 0 {
                *file = SessionFile::Beginning(String::new());
            }
        }
        self.bytes -= freed;
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files that this path may mean. If a path is relative, or below a home that is not known,
    /// only its end is compared.
    pub fn at(&self, path: &str) -> Vec<&SessionFile> {
        self.all().filter(|(known, _)| may_be_same(known, path)).map(|(_, file)| file).collect()
    }

    /// Every file with its path.
    pub fn all(&self) -> impl Iterator<Item = (&str, &SessionFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }
}

impl SessionFile {
    /// The text that is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Whole(text) | Self::Parts(text) | Self::Beginning(text) => Some(text),
            Self::Fetched(_) => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Whole(text) | Self::Parts(text) | Self::Beginning(text) => text.len(),
            Self::Fetched(addresses) => addresses.iter().map(String::len).sum(),
        }
    }

    /// At most [`SessionFiles::MAX_FILE`] bytes of it.
    fn bounded(self) -> Self {
        match self {
            Self::Whole(mut text) | Self::Parts(mut text)
                if text.len() > SessionFiles::MAX_FILE =>
            {
                text.truncate(text.floor_char_boundary(SessionFiles::MAX_FILE));
                Self::Beginning(text)
            }
            Self::Fetched(mut addresses) => {
                addresses.truncate(8);
                Self::Fetched(addresses)
            }
            fits => fits,
        }
    }
}

/// The bytes that are kept of a file.
fn bytes((path, file): &(String, SessionFile)) -> usize {
    path.len() + file.bytes()
}

/// A file after a change.
fn changed(old: Option<SessionFile>, content: WrittenContent) -> SessionFile {
    use SessionFile::{Beginning, Fetched, Parts, Whole};
    match (old, content) {
        (_, WrittenContent::Whole(text)) => Whole(text),
        (_, WrittenContent::Fetched(addresses)) => Fetched(addresses),
        // Whatever is added, the rest still came from another host.
        (Some(fetched @ Fetched(_)), _) => fetched,
        // Whatever is added, the rest is still not known. What is new is kept longest.
        (Some(Beginning(text)), content) => Beginning(content.added() + "\n" + &text),
        (Some(Whole(text)), WrittenContent::Appended(more)) => Whole(text + &more),
        (Some(Whole(text)), WrittenContent::Replaced { old, new })
            if !old.is_empty() && text.contains(&old) =>
        {
            Whole(text.replace(&old, &new))
        }
        (Some(Whole(text) | Parts(text)), content) => Parts(text + "\n" + &content.added()),
        (None, content) => Parts(content.added()),
    }
}

impl WrittenContent {
    /// The text that it adds.
    fn added(self) -> String {
        match self {
            Self::Whole(text) | Self::Appended(text) | Self::Replaced { new: text, .. } => text,
            Self::Fetched(_) => String::new(),
        }
    }
}

/// Whether two paths may mean the same file.
fn may_be_same(one: &str, other: &str) -> bool {
    let (one, is_one_open) = open_end(one);
    let (other, is_other_open) = open_end(other);
    let ends_with = |long: &str, short: &str| {
        let start = long.strip_suffix(short);
        !short.is_empty() && start.is_some_and(|start| start.is_empty() || start.ends_with('/'))
    };
    one == other || is_one_open && ends_with(other, one) || is_other_open && ends_with(one, other)
}

/// The path without what is not known about its beginning, and whether something is not known.
fn open_end(path: &str) -> (&str, bool) {
    match path.strip_prefix("~/") {
        Some(rest) => (rest, true),
        None => (path.trim_start_matches("./"), !path.starts_with('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &str, content: WrittenContent) -> FileWrite {
        FileWrite { path: path.to_owned(), content }
    }

    fn whole(text: &str) -> WrittenContent {
        WrittenContent::Whole(text.to_owned())
    }

    fn replaced(old: &str, new: &str) -> WrittenContent {
        WrittenContent::Replaced { old: old.to_owned(), new: new.to_owned() }
    }

    fn only(files: &SessionFiles, path: &str) -> Option<SessionFile> {
        files.at(path).first().map(|&file| file.clone())
    }

    #[test]
    fn changes_add_up() {
        let mut files = SessionFiles::default();
        files.apply(write("/w/a", whole("one\n")));
        files.apply(write("/w/a", WrittenContent::Appended("two\n".to_owned())));
        files.apply(write("/w/a", replaced("one", "1")));
        assert_eq!(only(&files, "/w/a"), Some(SessionFile::Whole("1\ntwo\n".to_owned())));
        files.apply(write("/w/a", replaced("gone", "new")));
        assert_eq!(only(&files, "/w/a"), Some(SessionFile::Parts("1\ntwo\n\nnew".to_owned())));
        files.apply(write("/w/b", replaced("x", "y")));
        assert_eq!(only(&files, "/w/b"), Some(SessionFile::Parts("y".to_owned())));
    }

    #[test]
    fn what_came_from_a_host_stays_so_until_it_is_replaced() {
        let mut files = SessionFiles::default();
        let fetched = vec!["https://a.example/x".to_owned()];
        files.apply(write("x", WrittenContent::Fetched(fetched.clone())));
        files.apply(write("x", WrittenContent::Appended("echo".to_owned())));
        assert_eq!(only(&files, "x"), Some(SessionFile::Fetched(fetched)));
        files.apply(write("x", whole("echo")));
        assert_eq!(only(&files, "x"), Some(SessionFile::Whole("echo".to_owned())));
    }

    #[test]
    fn paths_whose_beginning_is_unknown_are_compared_by_their_end() {
        let mut files = SessionFiles::default();
        files.apply(write("/w/bin/run", whole("x")));
        for path in ["/w/bin/run", "run", "./run", "bin/run", "~/bin/run"] {
            assert!(only(&files, path).is_some(), "{path}");
        }
        for path in ["/bin/run", "un", "bin", "/v/bin/run", ""] {
            assert!(only(&files, path).is_none(), "{path}");
        }
    }

    #[test]
    fn the_oldest_texts_are_forgotten_first_but_not_their_paths() {
        let mut files = SessionFiles::default();
        let forgotten = Some(SessionFile::Beginning(String::new()));
        let long = "x".repeat(SessionFiles::MAX_FILE + 1);
        for at in 0..20 {
            files.apply(write(&format!("/w/{at}"), whole(&long)));
        }
        assert!(files.bytes <= SessionFiles::MAX_BYTES);
        assert_eq!(files.bytes, files.files.iter().map(bytes).sum());
        assert_eq!(only(&files, "/w/0"), forgotten);
        assert!(
            matches!(only(&files, "/w/19"), Some(SessionFile::Beginning(text)) if text.len() == SessionFiles::MAX_FILE)
        );
        // Adding to a forgotten file does not make it known; writing it again does.
        files.apply(write("/w/0", WrittenContent::Appended("x".to_owned())));
        assert_eq!(only(&files, "/w/0"), Some(SessionFile::Beginning("x\n".to_owned())));
        files.apply(write("/w/0", whole("x")));
        assert_eq!(only(&files, "/w/0"), Some(SessionFile::Whole("x".to_owned())));
    }

    #[test]
    fn many_small_files_are_all_kept() {
        let mut files = SessionFiles::default();
        files.apply(write("/w/first", whole("x")));
        for at in 1..SessionFiles::MAX_FILES {
            files.apply(write(&format!("/w/{at}"), whole("y")));
        }
        assert!(only(&files, "/w/first").is_some());
        files.apply(write("/w/last", whole("z")));
        assert!(only(&files, "/w/first").is_none());
        assert_eq!(files.bytes, files.files.iter().map(bytes).sum());
    }
}
