//! Globs against paths of which parts may be unknown.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::ground::Ground;
use crate::path::{Case, Path, has_drive};
use crate::truth::Truth;
use crate::word::{Fill, Word};

mod fast;

use fast::{FastSet, Known};

/// How a rule uses the answer, where the ground is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// A relative path counts as inside the workspace.
    Restricts,
    /// It is unknown.
    Allows,
}

/// A glob for paths: `**/.env`, `~/.ssh/**`, `/etc/*`, `workspace/**`, `src/*.rs`.
///
/// `*` and `?` stop at `/`, `**` does not. `{a,b}` means either.
#[derive(Debug, Clone)]
pub struct PathPattern {
    root: Root,
    parts: Vec<Part>,
    /// Which of the parts have letters, by bits: only these can show that a path is meant.
    lettered: u128,
    /// Text that every match contains; empty if there is none.
    needle: String,
}

/// Where a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// `/`
    Absolute,
    /// `~`
    Home,
    /// `workspace`, or a relative pattern.
    Workspace,
    /// `**`
    Anywhere,
}

impl Root {
    /// Where a glob begins, and the rest of it.
    fn of(text: &str) -> (Self, &str) {
        if text == "~" || text.starts_with("~/") {
            (Self::Home, text.get(1..).unwrap_or_default())
        } else if text.starts_with('/') {
            (Self::Absolute, text)
        } else if text == "workspace" || text.starts_with("workspace/") {
            (Self::Workspace, text.get("workspace".len()..).unwrap_or_default())
        } else if text.starts_with("**") || text.get(1..2) == Some(":") {
            // A drive, or any: the whole path is compared.
            (Self::Anywhere, text)
        } else {
            (Self::Workspace, text)
        }
    }
}

/// A part of a pattern or of a path, between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Any number of parts.
    Deep,
    /// One part.
    One(Vec<Sign>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Letter(char),
    /// One character.
    Any,
    /// Any characters.
    Star,
}

impl PathPattern {
    /// Reads a glob. Braces make several patterns.
    pub fn all(text: &str) -> Vec<Self> {
        braces(text).iter().map(|text| Self::new(text)).collect()
    }

    fn new(text: &str) -> Self {
        let (root, rest) = Root::of(text);
        let parts: Vec<Part> = rest
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(pattern_part)
            .collect();
        let needle = parts.iter().map(longest_run).max_by_key(String::len).unwrap_or_default();
        let lettered = bits(&parts, has_letters);
        Self { root, parts, lettered, needle }
    }

    /// Whether a path matches, in its resolved form or where links lead it.
    pub fn matches(&self, path: &Path, ground: &Ground<'_>, stance: Stance) -> Truth {
        each_form(path, |word| {
            self.matches_prepared(&Prepared::new(word, path.case, ground), stance)
        })
    }

    fn matches_prepared(&self, path: &Prepared, stance: Stance) -> Truth {
        if let Some(text) = &path.text
            && !contains(text, &self.needle, path.case)
        {
            return Truth::No;
        }
        match self.root {
            Root::Absolute if path.start == Start::Relative => Truth::No,
            Root::Anywhere | Root::Absolute => self.compare(&path.whole, path.case),
            Root::Home => {
                let Some(rest) = &path.home else { return Truth::No };
                self.compare(path.home_parts.get_or_init(|| Readings::new(rest)), path.case)
            }
            Root::Workspace => match &path.workspace {
                Place::Inside(rest, parts) => {
                    self.compare(parts.get_or_init(|| Readings::new(rest)), path.case)
                }
                Place::Outside => Truth::No,
                Place::Relative if stance == Stance::Restricts => {
                    self.compare(&path.whole, path.case)
                }
                Place::Relative | Place::Unknown => Truth::Unknown,
            },
        }
    }

    fn compare(&self, path: &Readings, case: Case) -> Truth {
        if path.within.len() > MAX_ITEMS || path.within.iter().any(is_long) {
            return Truth::Unknown;
        }
        let Some(across) = &path.across else {
            return Truth::from_bool(covers(&self.parts, &path.within, case));
        };
        if !self.may_end_like(&path.within, case) && !self.may_end_like(&across.parts, case) {
            return Truth::No;
        }
        if covers(&self.parts, &across.parts, case) && covers(&self.parts, &path.within, case) {
            return Truth::Yes;
        }
        let may = self.meets(&path.within, path.telling, case)
            || self.meets(&across.parts, across.telling, case);
        if may { Truth::Unknown } else { Truth::No }
    }

    /// Whether the pattern matches something that the path can be, and the path shows a part of it: a
    /// name of the pattern must be where the path has one like it. A name elsewhere is a coincidence.
    fn meets(&self, path: &[Part], telling: u128, case: Case) -> bool {
        if self.lettered == 0 || telling == 0 {
            return false;
        }
        let shows = |at: usize, one: &Part, to: usize, two: &Part| {
            bit(self.lettered, at) && bit(telling, to) && shows_name_of(one, two, case)
        };
        let has_evidence = self
            .parts
            .iter()
            .enumerate()
            .any(|(at, one)| path.iter().enumerate().any(|(to, two)| shows(at, one, to, two)));
        has_evidence && aligns_with_evidence(&self.parts, path, case, &shows)
    }
}

impl PathPattern {
    /// Whether the last names allow a match. Most patterns end with a name that the path does not have.
    fn may_end_like(&self, path: &[Part], case: Case) -> bool {
        match (self.parts.last(), path.last()) {
            (Some(Part::One(one)), Some(Part::One(two))) => ends_fit(one, two, case),
            (Some(Part::One(_)), None) => false,
            _ => true,
        }
    }
}

/// The answer for the resolved path, or for where links lead it.
fn each_form(path: &Path, mut ask: impl FnMut(&Word) -> Truth) -> Truth {
    let resolved = ask(&path.resolved);
    match &path.real {
        Some(real) if resolved != Truth::Yes => resolved.or(ask(&Word::known(real.as_str()))),
        _ => resolved,
    }
}

/// A path, ready to be compared with many sets: in its resolved form, and where links lead it.
#[derive(Debug)]
pub struct PreparedPath {
    resolved: Form,
    real: Option<Form>,
}

#[derive(Debug)]
enum Form {
    Known(Known),
    /// Parts of it are missing.
    Partly(Box<Prepared>),
}

impl PreparedPath {
    /// Makes a path ready.
    pub fn new(path: &Path, ground: &Ground<'_>) -> Self {
        let form = |word: &Word| match word.is_known() {
            true => Form::Known(Known::new(word, path.case, ground)),
            false => Form::Partly(Box::new(Prepared::new(word, path.case, ground))),
        };
        let real = path.real.as_deref().map(|real| form(&Word::known(real)));
        Self { resolved: form(&path.resolved), real }
    }
}

/// A path, ready to be compared with many patterns.
#[derive(Debug)]
struct Prepared {
    /// The text, if all of it is known.
    text: Option<String>,
    start: Start,
    whole: Readings,
    home: Option<Word>,
    home_parts: OnceCell<Readings>,
    workspace: Place,
    case: Case,
}

/// How a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// With `/`, or with a missing value, which may.
    Absolute,
    Relative,
}

/// The parts of a path. With missing values there are two readings.
#[derive(Debug)]
struct Readings {
    /// Missing values hold no slash.
    within: Vec<Part>,
    /// Which of these parts say what the path is about, by bits.
    telling: u128,
    /// The parts of it without wildcards, in lower case.
    names: Vec<Option<String>>,
    /// They may hold some; `None` if nothing is missing and there is no pattern in the path.
    across: Option<Across>,
}

/// The parts of a path whose missing values may hold slashes.
#[derive(Debug)]
struct Across {
    parts: Vec<Part>,
    /// Which of the parts say what the path is about, by bits.
    telling: u128,
}

impl Readings {
    fn new(path: &Word) -> Self {
        let within = path_parts(path, Spread::Within);
        let names = within.iter().map(literal).collect();
        let across = (!path.is_known()).then(|| {
            let parts = path_parts(path, Spread::Across);
            Across { telling: bits(&parts, tells), parts }
        });
        let telling = if across.is_some() { bits(&within, tells) } else { 0 };
        Self { within, telling, names, across }
    }
}

impl Prepared {
    fn new(path: &Word, case: Case, ground: &Ground<'_>) -> Self {
        let first = path.known_start();
        let is_absolute = first.starts_with('/') || has_unknown_start(path);
        Self {
            text: path.text().map(str::to_owned),
            start: if is_absolute { Start::Absolute } else { Start::Relative },
            whole: Readings::new(path),
            home: below_home(path, ground),
            home_parts: OnceCell::new(),
            workspace: below_workspace(path, ground),
            case,
        }
    }
}

/// A list of globs, and of exceptions that begin with `!`.
///
/// They are read when a path is first compared: known paths need another form than paths with gaps.
#[derive(Debug, Clone, Default)]
pub struct PathSet {
    globs: Vec<String>,
    known: OnceLock<(FastSet, FastSet)>,
    partly: OnceLock<(Patterns, Patterns)>,
}

impl PathSet {
    /// Reads globs; `!glob` is an exception.
    pub fn new<'t>(globs: impl IntoIterator<Item = &'t str>) -> Self {
        Self { globs: globs.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// Whether a path matches one of the globs and no exception.
    pub fn matches(&self, path: &Path, ground: &Ground<'_>, stance: Stance) -> Truth {
        self.matches_prepared(&PreparedPath::new(path, ground), stance)
    }

    /// The same for a path that is compared with many sets.
    pub fn matches_prepared(&self, path: &PreparedPath, stance: Stance) -> Truth {
        let ask = |form: &Form| match form {
            Form::Known(path) => self.matches_known(path, stance),
            Form::Partly(path) => self.matches_partly(path, stance),
        };
        match (ask(&path.resolved), &path.real) {
            (Truth::Yes, _) => Truth::Yes,
            (resolved, Some(real)) => resolved.or(ask(real)),
            (resolved, None) => resolved,
        }
    }

    fn matches_known(&self, path: &Known, stance: Stance) -> Truth {
        let (globs, exceptions) =
            self.known.get_or_init(|| (FastSet::new(self.list()), FastSet::new(self.exceptions())));
        match globs.matches(path, stance) {
            Truth::No => Truth::No,
            _ if exceptions.matches(path, stance) == Truth::Yes => Truth::No,
            found => found,
        }
    }

    fn matches_partly(&self, path: &Prepared, stance: Stance) -> Truth {
        let (patterns, exceptions) = self.partly.get_or_init(|| {
            let (mut patterns, mut exceptions) = (Patterns::default(), Patterns::default());
            self.list().for_each(|glob| patterns.add(glob));
            self.exceptions().for_each(|glob| exceptions.add(glob));
            (patterns, exceptions)
        });
        match patterns.matches(path, stance) {
            Truth::No => Truth::No,
            _ if exceptions.matches(path, stance) == Truth::Yes => Truth::No,
            found => found,
        }
    }

    fn list(&self) -> impl Iterator<Item = &str> {
        self.globs.iter().map(String::as_str).filter(|glob| !glob.starts_with('!'))
    }

    fn exceptions(&self) -> impl Iterator<Item = &str> {
        self.globs.iter().filter_map(|glob| glob.strip_prefix('!'))
    }
}

/// Patterns, found by the names they contain: a path is compared only with those that share one.
#[derive(Debug, Clone, Default)]
struct Patterns {
    list: Vec<PathPattern>,
    /// By each part without wildcards, in lower case.
    by_name: HashMap<String, Vec<usize>>,
    /// Patterns without such a part.
    loose: Vec<usize>,
}

impl Patterns {
    fn add(&mut self, glob: &str) {
        for pattern in PathPattern::all(glob) {
            let at = self.list.len();
            let names: Vec<String> = pattern.parts.iter().filter_map(literal).collect();
            if names.is_empty() {
                self.loose.push(at);
            }
            for name in names {
                self.by_name.entry(name).or_default().push(at);
            }
            self.list.push(pattern);
        }
    }

    fn matches(&self, path: &Prepared, stance: Stance) -> Truth {
        let mut answer = Truth::No;
        let mut ask = |found: &[usize]| {
            for pattern in found.iter().filter_map(|at| self.list.get(*at)) {
                if answer != Truth::Yes {
                    answer = answer.or(pattern.matches_prepared(path, stance));
                }
            }
        };
        ask(&self.loose);
        for (part, name) in path.whole.within.iter().zip(&path.whole.names) {
            if let Some(name) = name {
                ask(self.by_name.get(name).map_or(&[], Vec::as_slice));
            } else if let Part::One(signs) = part
                && shows_name(signs)
            {
                for (name, found) in &self.by_name {
                    if !has_ends(name, signs) {
                        continue;
                    }
                    let letters: Vec<Sign> = name.chars().map(Sign::Letter).collect();
                    if signs_meet(&letters, signs, Case::Ignored) {
                        ask(found);
                    }
                }
            }
        }
        answer
    }
}

/// Whether text matches a word with gaps, as a pattern of the shell. Gaps match `/`, too.
pub(crate) fn word_matches(pattern: &Word, text: &str) -> bool {
    let signs: Vec<Sign> = signs_of(pattern, 0, pattern.known_part().len());
    let letters: Vec<Sign> = text.chars().map(Sign::Letter).collect();
    signs_cover(&signs, &letters, Case::Sensitive)
}

fn contains(text: &str, needle: &str, case: Case) -> bool {
    match case {
        Case::Sensitive => text.contains(needle),
        Case::Ignored => text.to_lowercase().contains(&needle.to_lowercase()),
    }
}

/// What is below the home directory. Without a ground, the usual places count as homes.
fn below_home(path: &Word, ground: &Ground<'_>) -> Option<Word> {
    home_length(path.known_start(), ground).map(|length| path.from(length))
}

/// How many bytes of a path are the home directory.
fn home_length(start: &str, ground: &Ground<'_>) -> Option<usize> {
    if start == "~" || start.starts_with("~/") {
        return Some(1);
    }
    match ground.home {
        Some(home) => folder_length(start, home),
        None => usual_home(start),
    }
}

/// How many bytes of a path are this folder, if the path is below it or is it.
fn folder_length(path: &str, folder: &str) -> Option<usize> {
    let folder = folder.trim_end_matches(['/', '\\']);
    let start = path.get(..folder.len())?;
    let rest = path.get(folder.len()..)?;
    let is_same = start == folder || has_drive(start) && is_same_on_drive(start, folder);
    (is_same && (rest.is_empty() || rest.starts_with('/'))).then_some(folder.len())
}

/// Names of a drive are compared without regard to case, and the ground may have backslashes.
fn is_same_on_drive(path: &str, folder: &str) -> bool {
    let slash = |byte: u8| if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() };
    path.bytes().map(slash).eq(folder.bytes().map(slash))
}

/// Whether a path that is not below the workspace is outside of it for sure.
fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path == ".." || path.starts_with("../") || has_drive(path)
}

fn usual_home(start: &str) -> Option<usize> {
    for (prefix, has_name) in
        [("/home/", true), ("/Users/", true), ("/root", false), ("/var/root", false)]
    {
        let Some(rest) = start.strip_prefix(prefix) else { continue };
        let name = if has_name { rest.find('/').unwrap_or(rest.len()) } else { 0 };
        let after = rest.get(name..).unwrap_or_default();
        if (name > 0 || !has_name) && (after.is_empty() || after.starts_with('/')) {
            return Some(prefix.len() + name);
        }
    }
    None
}

/// Where a path is, seen from the workspace.
#[derive(Debug)]
enum Place {
    Inside(Word, OnceCell<Readings>),
    Outside,
    /// Relative to an unknown folder.
    Relative,
    Unknown,
}

fn below_workspace(path: &Word, ground: &Ground<'_>) -> Place {
    let start = path.known_start();
    if let Some(workspace) = ground.workspace.or(ground.cwd)
        && let Some(length) = folder_length(start, workspace)
    {
        return Place::Inside(path.from(length), OnceCell::new());
    }
    if is_outside(start) {
        return Place::Outside;
    }
    if has_unknown_start(path) { Place::Unknown } else { Place::Relative }
}

/// Whether a path begins with a missing value.
fn has_unknown_start(path: &Word) -> bool {
    path.gaps().first().is_some_and(|gap| gap.at == 0 && gap.fill == Fill::Anything)
}

fn pattern_part(text: &str) -> Part {
    if text == "**" {
        return Part::Deep;
    }
    let mut signs = Vec::new();
    for character in text.chars() {
        match character {
            '*' if signs.last() == Some(&Sign::Star) => {}
            '*' => signs.push(Sign::Star),
            '?' => signs.push(Sign::Any),
            letter => signs.push(Sign::Letter(letter)),
        }
    }
    Part::One(signs)
}

/// The text of a part without wildcards, in lower case.
fn literal(part: &Part) -> Option<String> {
    let Part::One(signs) = part else { return None };
    let mut text = String::with_capacity(signs.len());
    for sign in signs {
        let Sign::Letter(letter) = sign else { return None };
        text.extend(letter.to_lowercase());
    }
    Some(text)
}

/// The longest text without wildcards in a part.
fn longest_run(part: &Part) -> String {
    let Part::One(signs) = part else { return String::new() };
    let runs = signs.split(|sign| !matches!(sign, Sign::Letter(_)));
    let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
    let letter = |sign: &Sign| if let Sign::Letter(letter) = sign { Some(*letter) } else { None };
    longest.iter().filter_map(letter).collect()
}

/// Whether a missing value may hold slashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    Within,
    Across,
}

fn path_parts(path: &Word, spread: Spread) -> Vec<Part> {
    let text = path.known_part();
    let mut parts = Vec::new();
    let mut from = 0;
    for piece in text.split('/') {
        let to = from + piece.len();
        push_part(&mut parts, path, from, to, spread);
        from = to + 1;
    }
    parts
}

fn push_part(parts: &mut Vec<Part>, path: &Word, from: usize, to: usize, spread: Spread) {
    let signs = signs_of(path, from, to);
    if signs.is_empty() || signs == [Sign::Letter('.')] {
        return;
    }
    let misses =
        path.gaps().iter().any(|gap| gap.fill == Fill::Anything && (from..=to).contains(&gap.at));
    if !misses {
        return parts.push(Part::One(signs));
    }
    if signs.len() == 1 {
        return parts.push(Part::Deep);
    }
    if spread == Spread::Within {
        return parts.push(Part::One(signs));
    }
    let first = signs.iter().position(|sign| *sign == Sign::Star).unwrap_or(0);
    let last = signs.iter().rposition(|sign| *sign == Sign::Star).unwrap_or(0);
    if first > 0 {
        parts.push(Part::One(signs.iter().take(first + 1).copied().collect()));
    }
    parts.push(Part::Deep);
    if last + 1 < signs.len() {
        parts.push(Part::One(signs.iter().skip(last).copied().collect()));
    }
}

fn signs_of(word: &Word, from: usize, to: usize) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut gaps = word.gaps().iter().filter(|gap| (from..=to).contains(&gap.at)).peekable();
    let text = word.known_part().get(from..to).unwrap_or_default();
    let mut flush = |at: usize, signs: &mut Vec<Sign>| {
        while let Some(gap) = gaps.next_if(|gap| gap.at <= at) {
            signs.push(if gap.fill == Fill::Character { Sign::Any } else { Sign::Star });
        }
    };
    for (at, letter) in text.char_indices() {
        flush(from + at, &mut signs);
        signs.push(Sign::Letter(letter));
    }
    flush(to, &mut signs);
    signs
}

/// Whether the pattern matches everything that the path can be.
fn covers(pattern: &[Part], path: &[Part], case: Case) -> bool {
    // Most patterns end with a name that the path does not have.
    let may_cover = match (pattern.last(), path.last()) {
        (Some(Part::One(one)), Some(Part::One(two))) => signs_cover(one, two, case),
        (Some(Part::One(_)), _) => false,
        _ => true,
    };
    may_cover && walk(pattern, path, &|one, two| signs_cover(one, two, case), Deep::OnlyByDeep)
}

/// As [`align`], with a second row: bit j says whether the rests fit and share a name that is shown.
fn aligns_with_evidence(
    pattern: &[Part],
    path: &[Part],
    case: Case,
    shows_name: &dyn Fn(usize, &Part, usize, &Part) -> bool,
) -> bool {
    let path = path.get(..MAX_ITEMS).unwrap_or(path);
    let mut fits: u128 = 1 << path.len();
    for (at, two) in path.iter().enumerate().rev() {
        if *two == Part::Deep && bit(fits, at + 1) {
            fits |= 1 << at;
        }
    }
    let mut shows: u128 = 0;
    for (row, one) in pattern.iter().enumerate().rev() {
        let (mut next_fits, mut next_shows): (u128, u128) = (0, 0);
        for at in (0..=path.len()).rev() {
            let two = path.get(at);
            let (fit, show) = match (one, two) {
                (Part::Deep, Some(_)) | (_, Some(Part::Deep)) => (
                    bit(fits, at) || bit(next_fits, at + 1),
                    bit(shows, at) || bit(next_shows, at + 1),
                ),
                (Part::Deep, None) => (bit(fits, at), bit(shows, at)),
                (_, None) => (false, false),
                (Part::One(name), Some(Part::One(other))) => {
                    let fit = bit(fits, at + 1) && signs_meet(name, other, case);
                    let is_shown = |two| bit(shows, at + 1) || shows_name(row, one, at, two);
                    (fit, fit && two.is_some_and(is_shown))
                }
            };
            next_fits |= u128::from(fit) << at;
            next_shows |= u128::from(show) << at;
        }
        (fits, shows) = (next_fits, next_shows);
    }
    bit(shows, 0)
}

/// How an unknown number of parts in the path is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deep {
    OnlyByDeep,
    ByAnything,
}

fn walk(
    pattern: &[Part],
    path: &[Part],
    fits: &dyn Fn(&[Sign], &[Sign]) -> bool,
    deep: Deep,
) -> bool {
    let fit = |one: &Part, two: &Part| match (one, two) {
        (Part::One(one), Part::One(two)) => fits(one, two),
        _ => false,
    };
    align(pattern, path, &|part| *part == Part::Deep, &fit, deep)
}

/// Whether two sequences fit, of which some items mean any number of the other's items.
///
/// Bit j of a row says whether the rest of the pattern fits the path from item j on.
fn align<T>(
    pattern: &[T],
    path: &[T],
    is_any: &dyn Fn(&T) -> bool,
    fits: &dyn Fn(&T, &T) -> bool,
    deep: Deep,
) -> bool {
    let path = path.get(..MAX_ITEMS).unwrap_or(path);
    let mut row: u128 = 1 << path.len();
    if deep == Deep::ByAnything {
        for (at, two) in path.iter().enumerate().rev() {
            if is_any(two) && row >> (at + 1) & 1 == 1 {
                row |= 1 << at;
            }
        }
    }
    for one in pattern.iter().rev() {
        let mut next: u128 = 0;
        let one_is_any = is_any(one);
        for at in (0..=path.len()).rev() {
            let below = row >> at & 1 == 1;
            let right = at < path.len() && next >> (at + 1) & 1 == 1;
            let corner = at < path.len() && row >> (at + 1) & 1 == 1;
            let fit = match path.get(at) {
                _ if one_is_any => below || right,
                None => false,
                Some(two) if is_any(two) => deep == Deep::ByAnything && (right || below),
                Some(two) => corner && fits(one, two),
            };
            next |= u128::from(fit) << at;
        }
        row = next;
    }
    row & 1 == 1
}

/// Names of more letters and paths of more parts are not compared: the answer is unknown.
const MAX_ITEMS: usize = 120;

fn is_long(part: &Part) -> bool {
    matches!(part, Part::One(signs) if signs.len() > MAX_ITEMS)
}

/// Whether the ends of two names allow a match: a quick way to say no.
fn ends_fit(one: &[Sign], two: &[Sign], case: Case) -> bool {
    let fits = |one: Option<&Sign>, two: Option<&Sign>| match (one, two) {
        (Some(Sign::Letter(one)), Some(Sign::Letter(two))) => same(*one, *two, case),
        _ => true,
    };
    fits(one.first(), two.first()) && fits(one.last(), two.last())
}

fn signs_cover(pattern: &[Sign], path: &[Sign], case: Case) -> bool {
    let fits = |one, two| match (one, two) {
        (Sign::Any, Sign::Letter(_) | Sign::Any) => true,
        (Sign::Letter(one), Sign::Letter(two)) => same(one, two, case),
        _ => false,
    };
    if !ends_fit(pattern, path, case) {
        return false;
    }
    match (pattern.contains(&Sign::Star), path.contains(&Sign::Star)) {
        (_, false) => expand(pattern, path, fits),
        (false, true) => false,
        (true, true) => table(pattern, path, &fits, Deep::OnlyByDeep),
    }
}

fn signs_meet(pattern: &[Sign], path: &[Sign], case: Case) -> bool {
    // `*` and `?` of the shell do not match a leading dot.
    let is_hidden = pattern.first() == Some(&Sign::Letter('.'));
    if is_hidden && matches!(path.first(), Some(Sign::Star | Sign::Any)) {
        return false;
    }
    let fits = |one, two| match (one, two) {
        (Sign::Letter(one), Sign::Letter(two)) => same(one, two, case),
        _ => true,
    };
    if !ends_fit(pattern, path, case) {
        return false;
    }
    match (pattern.contains(&Sign::Star), path.contains(&Sign::Star)) {
        (_, false) => expand(pattern, path, fits),
        (false, true) => expand(path, pattern, fits),
        (true, true) => table(pattern, path, &fits, Deep::ByAnything),
    }
}

fn same(one: char, two: char, case: Case) -> bool {
    one == two
        || case == Case::Ignored
            && if one.is_ascii() && two.is_ascii() {
                one.eq_ignore_ascii_case(&two)
            } else {
                one.to_lowercase().eq(two.to_lowercase())
            }
}

/// Whether a name with stars fits one without. Each star takes as little as it can: what follows it fits
/// at the first place where it can, or nowhere.
fn expand(starred: &[Sign], plain: &[Sign], fits: impl Fn(Sign, Sign) -> bool) -> bool {
    let (mut at, mut to) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(two) = plain.get(to) {
        match starred.get(at) {
            Some(Sign::Star) => {
                star = Some((at + 1, to));
                at += 1;
            }
            Some(one) if fits(*one, *two) => (at, to) = (at + 1, to + 1),
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (at, to) = (after, from + 1);
            }
        }
    }
    starred.get(at..).unwrap_or_default().iter().all(|sign| *sign == Sign::Star)
}

fn table(one: &[Sign], two: &[Sign], fits: &dyn Fn(Sign, Sign) -> bool, deep: Deep) -> bool {
    let fit = |one: &Sign, two: &Sign| fits(*one, *two);
    align(one, two, &|sign| *sign == Sign::Star, &fit, deep)
}

/// Whether a name begins and ends as a part with gaps does: a quick way to say no.
fn has_ends(name: &str, signs: &[Sign]) -> bool {
    let fits = |letter: Option<char>, sign: Option<&Sign>| match (letter, sign) {
        (Some(one), Some(Sign::Letter(two))) => same(one, *two, Case::Ignored),
        _ => true,
    };
    fits(name.chars().next(), signs.first()) && fits(name.chars().next_back(), signs.last())
}

/// Whether a part with gaps shows enough of a name to look for it.
fn shows_name(signs: &[Sign]) -> bool {
    let dot = signs.iter().rposition(|sign| *sign == Sign::Letter('.')).filter(|at| *at > 0);
    // `.???` can be few things.
    let is_short = signs.first() == Some(&Sign::Letter('.')) && signs.len() > 2;
    if is_short && !signs.contains(&Sign::Star) {
        return true;
    }
    let stem = signs.iter().take(dot.unwrap_or(signs.len()));
    stem.filter(|sign| matches!(sign, Sign::Letter(_))).count() >= 2
}

/// Whether a part of the path can show what a pattern asks for. A bare `*` or an extension alone does
/// not: `cat *.json` is not about credentials.
fn tells(part: &Part) -> bool {
    let Part::One(signs) = part else { return false };
    if signs.iter().any(|sign| !matches!(sign, Sign::Letter(_))) {
        return shows_name(signs);
    }
    !ORDINARY.iter().any(|name| name.chars().map(Sign::Letter).eq(signs.iter().copied()))
}

fn has_letters(part: &Part) -> bool {
    matches!(part, Part::One(signs) if signs.iter().any(|sign| matches!(sign, Sign::Letter(_))))
}

/// Whether a part of a path that tells something shows a part of a pattern that has letters.
fn shows_name_of(pattern: &Part, path: &Part, case: Case) -> bool {
    let (Part::One(one), Part::One(two)) = (pattern, path) else { return false };
    // Two names with gaps meet easily: `*.new` and `Jenkinsfile*`.
    if one.contains(&Sign::Star) { signs_cover(one, two, case) } else { signs_meet(one, two, case) }
}

fn bits(parts: &[Part], holds: impl Fn(&Part) -> bool) -> u128 {
    let at = parts.iter().take(MAX_ITEMS).enumerate().filter(|(_, part)| holds(part));
    at.fold(0, |bits, (at, _)| bits | 1 << at)
}

fn bit(row: u128, at: usize) -> bool {
    at < 128 && row >> at & 1 == 1
}

/// Folders that say nothing about what is below them: `$DIR/lib/x` is not `/var/lib/docker`.
const ORDINARY: &[&str] = &[
    "var",
    "lib",
    "etc",
    "run",
    "usr",
    "bin",
    "opt",
    "srv",
    "home",
    "root",
    "share",
    "local",
    "data",
    "cache",
    "src",
    "config",
    "private",
    "secrets",
    "users",
    "Users",
    "User",
    "Library",
    "log",
    "db",
    "sys",
    "dev",
    "proc",
    "tmp",
    "docker",
    "live",
    "archive",
    "keys",
    "auth",
    "state",
    "rules",
    "commands",
    "agents",
    "skills",
    "plugins",
    "hooks",
    "prompts",
    "extensions",
    "policies",
    "actions",
    "workflows",
    "Code",
];

/// `{a,b}` in a glob, one level, at most 64 results.
fn braces(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        let parts = text.find('{').and_then(|start| {
            let end = text.get(start..)?.find('}')? + start;
            Some((text.get(..start)?, text.get(start + 1..end)?, text.get(end + 1..)?))
        });
        match parts {
            Some((before, inside, after)) if done.len() + open.len() < 64 => {
                open.extend(inside.split(',').rev().map(|part| format!("{before}{part}{after}")));
            }
            _ => done.push(text),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUND: Ground<'_> = Ground {
        cwd: Some("/w/app"),
        home: Some("/home/u"),
        workspace: Some("/w/app"),
        resolver: None,
        earlier: None,
    };

    fn truth(glob: &str, path: Word, ground: &Ground<'_>) -> Truth {
        let path = Path::resolve(&path, &crate::path::working_folder(ground), ground);
        PathSet::new([glob]).matches(&path, ground, Stance::Restricts)
    }

    /// Every name of up to four of these signs.
    fn short_names() -> Vec<Vec<Sign>> {
        const SIGNS: [Sign; 4] = [Sign::Letter('a'), Sign::Letter('b'), Sign::Any, Sign::Star];
        let mut names = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..4 {
            let longer: Vec<Vec<Sign>> = names[from..]
                .iter()
                .flat_map(|name| SIGNS.map(|sign| [name.as_slice(), &[sign]].concat()))
                .collect();
            from = names.len();
            names.extend(longer);
        }
        names
    }

    #[test]
    fn the_quick_ways_to_compare_names_agree_with_the_table() {
        let covers = |one, two| match (one, two) {
            (Sign::Any, Sign::Letter(_) | Sign::Any) => true,
            (Sign::Letter(one), Sign::Letter(two)) => one == two,
            _ => false,
        };
        let meets = |one, two| match (one, two) {
            (Sign::Letter(one), Sign::Letter(two)) => one == two,
            _ => true,
        };
        let names = short_names();
        for one in &names {
            for two in &names {
                let expected = table(one, two, &covers, Deep::OnlyByDeep);
                assert_eq!(signs_cover(one, two, Case::Sensitive), expected, "{one:?} {two:?}");
                let expected = table(one, two, &meets, Deep::ByAnything);
                assert_eq!(signs_meet(one, two, Case::Sensitive), expected, "{one:?} {two:?}");
            }
        }
    }

    fn gap(before: &str, fill: Fill, after: &str) -> Word {
        let mut word = Word::known(before);
        word.push_gap(fill);
        word.push_str(after);
        word
    }

    #[test]
    fn known_paths_match_or_not() {
        for (glob, path) in [
            ("~/.ssh/**", "~/.ssh/id_rsa"),
            ("~/.ssh/**", "/home/u/.ssh/id_rsa"),
            ("**/.env", ".env"),
            ("**/.env{,.local}", "a/.env.local"),
            ("/etc/*", "../../etc/passwd"),
            ("workspace/**", "src/x"),
            ("workspace", "."),
            ("src/*.rs", "src/a.rs"),
            ("/", "/"),
            ("~", "~"),
        ] {
            assert_eq!(truth(glob, path.into(), &GROUND), Truth::Yes, "{glob} {path}");
        }
        for (glob, path) in [
            ("~/.ssh/**", "~/.sshx"),
            ("**/.env", ".env.example"),
            ("/etc/*", "/etc/a/b"),
            ("workspace/**", "/tmp/x"),
            ("~/.ssh/**", "/root/.ssh/id_rsa"),
        ] {
            assert_eq!(truth(glob, path.into(), &GROUND), Truth::No, "{glob} {path}");
        }
    }

    #[test]
    fn paths_with_a_drive_are_absolute_and_ignore_case() {
        let ground = Ground {
            cwd: Some("C:\\Users\\u\\app"),
            home: Some("C:\\Users\\u"),
            workspace: Some("C:\\Users\\u\\app"),
            ..GROUND
        };
        for (glob, path) in [
            ("workspace/**", "c:/users/u/APP/dist"),
            ("workspace/**", "dist"),
            ("~/Documents", "C:\\Users\\u\\Documents"),
            ("?:", "D:\\"),
            ("C:/Windows/**", "c:\\windows\\System32\\x"),
        ] {
            assert_eq!(truth(glob, path.into(), &ground), Truth::Yes, "{glob} {path}");
        }
        for path in ["C:/Users/u/Documents", "D:/x", "C:/Users/u/app2", "../other", "E:"] {
            assert_eq!(truth("workspace/**", path.into(), &ground), Truth::No, "{path}");
        }
    }

    #[test]
    fn a_name_that_both_have_elsewhere_is_no_evidence() {
        let found = gap("/w/app/", Fill::Anything, "/Dockerfile");
        for glob in ["**/.var/app/x/**", "**/app/*/.claude/y", "**/w"] {
            assert_eq!(truth(glob, found.clone(), &GROUND), Truth::No, "{glob}");
        }
        for glob in ["**/app/x/*", "/w/app/secret/Dockerfile"] {
            assert_eq!(truth(glob, found.clone(), &GROUND), Truth::Unknown, "{glob}");
        }
    }

    #[test]
    fn without_a_ground_the_usual_homes_count() {
        let ground = Ground::default();
        for path in ["~/.ssh/id_rsa", "/home/x/.ssh/id_rsa", "/root/.ssh/id_rsa", "/Users/x/.ssh/a"]
        {
            assert_eq!(truth("~/.ssh/**", path.into(), &ground), Truth::Yes, "{path}");
        }
        assert_eq!(truth("workspace/**", "src/a".into(), &ground), Truth::Yes);
        assert_eq!(truth("workspace/**", "../a".into(), &ground), Truth::No);
        let path = Path::resolve(&"src/a".into(), &Word::default(), &ground);
        let set = PathSet::new(["workspace/**"]);
        assert_eq!(set.matches(&path, &ground, Stance::Allows), Truth::Unknown);
    }

    #[test]
    fn gaps_match_what_they_show() {
        let secret = "**/.ssh/id_*";
        assert_eq!(truth(secret, gap("~/.ssh/", Fill::Name, ""), &GROUND), Truth::Unknown);
        assert_eq!(truth(secret, gap("~/.ssh/id_", Fill::Name, ""), &GROUND), Truth::Yes);
        assert_eq!(truth("**/.env", gap("", Fill::Anything, "/.env"), &GROUND), Truth::Yes);
        assert_eq!(
            truth("/etc/passwd", gap("/etc/p", Fill::Character, "sswd"), &GROUND),
            Truth::Unknown
        );
        assert_eq!(truth("**/id_rsa", gap("", Fill::Name, ""), &GROUND), Truth::No);
        assert_eq!(truth("**/.env", gap("", Fill::Name, ""), &GROUND), Truth::No);
        assert_eq!(truth("**/credentials.json", gap("", Fill::Name, ".json"), &GROUND), Truth::No);
        assert_eq!(
            truth("**/.ssh/**", gap("", Fill::Anything, "/package.json"), &GROUND),
            Truth::No
        );
    }

    #[test]
    fn exceptions_are_taken_out() {
        let set = PathSet::new(["**/.env*", "!**/.env.example"]);
        let matches = |path: &str| {
            let path = Path::resolve(&path.into(), &Word::default(), &GROUND);
            set.matches(&path, &GROUND, Stance::Restricts)
        };
        assert_eq!(matches("a/.env.local"), Truth::Yes);
        assert_eq!(matches("a/.env.example"), Truth::No);
    }

    #[test]
    fn case_is_ignored_where_the_disk_does() {
        let path = Path {
            case: Case::Ignored,
            ..Path::resolve(&"~/.SSH/ID_RSA".into(), &Word::default(), &GROUND)
        };
        let set = PathSet::new(["~/.ssh/id_*"]);
        assert_eq!(set.matches(&path, &GROUND, Stance::Restricts), Truth::Yes);
    }

    fn slow(glob: &str, path: &str, case: Case, stance: Stance) -> Truth {
        let set = PathSet::new([glob]);
        set.matches_partly(&Prepared::new(&Word::known(path), case, &GROUND), stance)
    }

    proptest::proptest! {
        #[test]
        fn known_paths_are_compared_alike_in_both_ways(
            glob in "(~|workspace|/|\\*\\*)?(/(\\*\\*|\\*|[aAb*?]{1,4}|\\.env|[ab]\\{c,d\\})){0,4}",
            path in "(~|/home/u|/w/app|/|\\.\\.)?(/([aAbcd]{1,3}|\\.env)){0,4}",
            ignores in proptest::bool::ANY,
        ) {
            let case = if ignores { Case::Ignored } else { Case::Sensitive };
            let set = PathSet::new([glob.as_str()]);
            let known = Known::new(&Word::known(path.as_str()), case, &GROUND);
            let fast = set.matches_known(&known, Stance::Restricts);
            proptest::prop_assert_eq!(fast, slow(&glob, &path, case, Stance::Restricts));
            let allows = set.matches_known(&known, Stance::Allows) == Truth::Yes;
            proptest::prop_assert_eq!(allows, slow(&glob, &path, case, Stance::Allows) == Truth::Yes);
        }
    }
}
