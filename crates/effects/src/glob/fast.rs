//! Many globs against a path that is wholly known, which most paths are.
//!
//! Each glob is filed under its last name without wildcards. A path is compared only with the globs that
//! are filed under one of its names, and with the few that have no such name. Everything is in three flat
//! lists, so that a set is read quickly and costs little memory.

use super::{MAX_ITEMS, Root, Stance, braces, same};
use crate::ground::Ground;
use crate::path::Case;
use crate::text::Text;
use crate::truth::Truth;
use crate::word::Word;

/// Globs, ready to be compared with known paths.
#[derive(Debug, Clone, Default)]
pub(super) struct FastSet {
    /// The text of all parts.
    text: String,
    parts: Vec<Part>,
    globs: Vec<Glob>,
    /// By the hash of a name; sorted.
    by_name: Vec<(u32, u32)>,
    /// One bit for each hash in `by_name`, to say no quickly.
    bits: Vec<u64>,
    /// Globs without a name.
    loose: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Glob {
    root: Root,
    /// Its parts in the list.
    from: u32,
    to: u32,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    form: Form,
    /// Its text.
    at: u32,
    length: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `**`
    Deep,
    /// No wildcard.
    Literal,
    /// One `*`, in front of this byte of the text, which does not contain it.
    Affix(u32),
    /// Anything else.
    Wild,
}

/// How many bits say no quickly.
const BITS: u32 = 2048;

impl FastSet {
    /// Reads globs.
    pub(super) fn new<'t>(globs: impl Iterator<Item = &'t str>) -> Self {
        let mut set = Self::default();
        for glob in globs {
            if glob.contains('{') {
                braces(glob).iter().for_each(|glob| set.add(glob));
            } else {
                set.add(glob);
            }
        }
        set.by_name.sort_unstable();
        set.bits = vec![0; BITS as usize / 64];
        for (hash, _) in &set.by_name {
            let (word, bit) = bit_of(*hash);
            if let Some(bits) = set.bits.get_mut(word) {
                *bits |= bit;
            }
        }
        set
    }

    fn add(&mut self, glob: &str) {
        let (root, rest) = Root::of(glob);
        let from = self.parts.len();
        let mut name = None;
        for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
            let part = self.part(part);
            if part.form == Form::Literal && self.text_of(part).is_ascii() {
                name = Some(part);
            }
            self.parts.push(part);
        }
        let at = number(self.globs.len());
        match name {
            Some(part) => self.by_name.push((hash(self.text_of(part)), at)),
            None => self.loose.push(at),
        }
        self.globs.push(Glob { root, from: number(from), to: number(self.parts.len()) });
    }

    fn part(&mut self, text: &str) -> Part {
        let at = self.text.len();
        let form = if text == "**" {
            Form::Deep
        } else if !text.contains(['*', '?']) {
            self.text.push_str(text);
            Form::Literal
        } else if let Some((before, after)) = text.split_once('*')
            && !text.contains('?')
            && !after.contains('*')
        {
            self.text.push_str(before);
            self.text.push_str(after);
            Form::Affix(number(before.len()))
        } else {
            self.text.push_str(text);
            Form::Wild
        };
        Part { form, at: number(at), length: number(self.text.len() - at) }
    }

    fn text_of(&self, part: Part) -> &str {
        let (from, to) = (part.at as usize, (part.at + part.length) as usize);
        self.text.get(from..to).unwrap_or_default()
    }

    /// Whether a known path matches one of the globs.
    pub(super) fn matches(&self, path: &Known, stance: Stance) -> Truth {
        if self.globs.is_empty() {
            return Truth::No;
        }
        if path.is_long {
            return Truth::Unknown;
        }
        let mut answer = Truth::No;
        for at in &self.loose {
            answer = answer.or(self.compare(*at, path, stance));
            if answer == Truth::Yes {
                return answer;
            }
        }
        for Name { hash, .. } in &path.names {
            let (word, bit) = bit_of(*hash);
            if self.bits.get(word).is_none_or(|bits| bits & bit == 0) {
                continue;
            }
            let start = self.by_name.partition_point(|(known, _)| known < hash);
            let rest = self.by_name.get(start..).unwrap_or_default();
            for (_, at) in rest.iter().take_while(|(known, _)| known == hash) {
                answer = answer.or(self.compare(*at, path, stance));
                if answer == Truth::Yes {
                    return answer;
                }
            }
        }
        answer
    }

    fn compare(&self, at: u32, path: &Known, stance: Stance) -> Truth {
        let Some(glob) = self.globs.get(at as usize) else { return Truth::No };
        let parts = self.parts.get(glob.from as usize..glob.to as usize).unwrap_or_default();
        let from = match (glob.root, path.workspace) {
            (Root::Absolute, _) if !path.is_absolute => return Truth::No,
            (Root::Absolute | Root::Anywhere, _) => 0,
            (Root::Home, _) => match path.home {
                Some(from) => from,
                None => return Truth::No,
            },
            (Root::Workspace, Place::Inside(from)) => from,
            (Root::Workspace, Place::Outside) => return Truth::No,
            (Root::Workspace, Place::Relative) if stance == Stance::Restricts => 0,
            (Root::Workspace, Place::Relative) => return Truth::Unknown,
        };
        Truth::from_bool(self.covers(parts, path, from))
    }

    /// `**` is any number of names, everything else one.
    fn covers(&self, parts: &[Part], path: &Known, from: usize) -> bool {
        let (whole, case) = (path.text.as_str(), path.case);
        let names = path.names.get(from..).unwrap_or_default();
        // Most globs end with a name that the path does not have.
        if let Some(last) = parts.last().filter(|part| part.form != Form::Deep) {
            let fits = names.last().is_some_and(|name| self.fits(*last, name.of(whole), case));
            if !fits {
                return false;
            }
        }
        let (mut part, mut name) = (0, 0);
        let mut deep: Option<(usize, usize)> = None;
        while let Some(text) = names.get(name).map(|name| name.of(whole)) {
            match parts.get(part) {
                Some(Part { form: Form::Deep, .. }) => {
                    deep = Some((part + 1, name));
                    part += 1;
                    continue;
                }
                Some(one) if self.fits(*one, text, case) => {
                    (part, name) = (part + 1, name + 1);
                    continue;
                }
                _ => {}
            }
            let Some((after, from)) = deep else { return false };
            deep = Some((after, from + 1));
            (part, name) = (after, from + 1);
        }
        parts.get(part..).unwrap_or_default().iter().all(|part| part.form == Form::Deep)
    }

    fn fits(&self, part: Part, name: &str, case: Case) -> bool {
        let text = self.text_of(part);
        match (part.form, case) {
            (Form::Deep, _) => true,
            (Form::Literal, Case::Sensitive) => text == name,
            (Form::Literal, Case::Ignored) => text
                .chars()
                .flat_map(char::to_lowercase)
                .eq(name.chars().flat_map(char::to_lowercase)),
            (Form::Affix(at), Case::Sensitive) => {
                let (before, after) = text.split_at_checked(at as usize).unwrap_or((text, ""));
                name.len() >= text.len() && name.starts_with(before) && name.ends_with(after)
            }
            (Form::Affix(at), Case::Ignored) => {
                let (before, after) = text.split_at_checked(at as usize).unwrap_or((text, ""));
                wild(&format!("{before}*{after}"), name, case)
            }
            (Form::Wild, _) => wild(text, name, case),
        }
    }
}

/// `*` is any text, `?` one character.
fn wild(pattern: &str, text: &str, case: Case) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let next = |text: &str, at: usize| text.get(at..).and_then(|rest| rest.chars().next());
    while let Some(letter) = next(text, t) {
        match next(pattern, p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(sign) if sign == '?' || same(sign, letter, case) => {
                p += sign.len_utf8();
                t += letter.len_utf8();
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = star else { return false };
        let step = next(text, from).map_or(1, char::len_utf8);
        star = Some((after, from + step));
        (p, t) = (after, from + step);
    }
    pattern.get(p..).unwrap_or_default().bytes().all(|sign| sign == b'*')
}

/// A path of which everything is known, ready to be compared.
#[derive(Debug)]
pub(super) struct Known {
    text: Text,
    names: Vec<Name>,
    is_absolute: bool,
    /// Too many or too long names.
    is_long: bool,
    /// How many of the names are the home directory.
    home: Option<usize>,
    workspace: Place,
    case: Case,
}

/// A name in a path: the bytes of the text that it is, and its hash.
#[derive(Debug, Clone, Copy)]
struct Name {
    from: usize,
    to: usize,
    hash: u32,
}

impl Name {
    fn of(self, text: &str) -> &str {
        text.get(self.from..self.to).unwrap_or_default()
    }
}

/// Where a path is, seen from the workspace.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// How many of the names are the workspace.
    Inside(usize),
    Outside,
    Relative,
}

impl Known {
    /// Makes a path ready that is known.
    pub(super) fn new(path: &Word, case: Case, ground: &Ground<'_>) -> Self {
        let text = path.known_part();
        let mut names = Vec::with_capacity(8);
        let (mut from, mut is_long) = (0, false);
        for name in text.split('/') {
            let to = from + name.len();
            if !name.is_empty() && name != "." {
                is_long |= name.len() > MAX_ITEMS && name.chars().count() > MAX_ITEMS;
                names.push(Name { from, to, hash: hash(name) });
            }
            from = to + 1;
        }
        Self {
            is_absolute: text.starts_with('/'),
            is_long: is_long || names.len() > MAX_ITEMS,
            home: super::home_length(text, ground).map(|length| count(text, length)),
            workspace: Place::of(text, ground),
            text: path.content(),
            names,
            case,
        }
    }
}

impl Place {
    fn of(path: &str, ground: &Ground<'_>) -> Self {
        if let Some(workspace) = ground.workspace.or(ground.cwd)
            && let Some(length) = super::folder_length(path, workspace)
        {
            return Self::Inside(count(path, length));
        }
        if super::is_outside(path) { Self::Outside } else { Self::Relative }
    }
}

/// How many names are in the first bytes of a path.
fn count(path: &str, length: usize) -> usize {
    let start = path.get(..length).unwrap_or_default();
    start.split('/').filter(|name| !name.is_empty() && *name != ".").count()
}

/// FNV-1a of a name without regard to case.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

fn bit_of(hash: u32) -> (usize, u64) {
    let bit = hash % BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

/// Sets are far smaller than that.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
