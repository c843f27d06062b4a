//! How the response to a request is treated, by path. Paths in no table are not forwarded.

use callgate_dialect::Dialect;
use http::Method;

use super::apis::{self, Api};

/// How a response is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Sent through the gate, read as this dialect. Removed calls are restored in the request.
    Inspect(Dialect),
    /// Forwarded, because it carries no calls. Removed calls are restored in the request.
    PassRestored(Dialect),
    /// Forwarded, because it carries no calls. The request contains text.
    PassText(TextFormat),
    /// Forwarded, because it carries no calls.
    Pass,
    /// Forwarded without inspection, because the operator opened the path.
    Opened,
    /// Not forwarded, because it may carry calls in a format that callgate cannot read.
    Refuse(&'static str),
}

/// The format of a request that contains text but no conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFormat {
    /// JSON.
    Json,
    /// JSON, or a form with a file. Forms are not read.
    JsonOrForm,
}

/// Some paths of an API, below any of several roots.
#[derive(Debug)]
pub(super) struct PathGroup {
    /// Prefixes of the paths. The first that leads to a row counts.
    pub(super) roots: &'static [&'static str],
    /// The first row that matches decides.
    pub(super) rows: &'static [Row],
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Row {
    /// `*` matches one segment, `*:verb` a segment that ends so, and `**` at the end any number of
    /// segments, including zero.
    pattern: &'static str,
    /// The methods that it covers; empty for all methods.
    methods: &'static [&'static str],
    treatment: Treatment,
    /// The treatment of other methods.
    otherwise: Treatment,
}

pub(super) const fn any(pattern: &'static str, treatment: Treatment) -> Row {
    Row { pattern, methods: &[], treatment, otherwise: treatment }
}

pub(super) const fn posted(pattern: &'static str, treatment: Treatment) -> Row {
    let otherwise = Treatment::Refuse(OTHER_METHOD);
    Row { pattern, methods: &["POST"], treatment, otherwise }
}

/// Read or deleted, never run: some servers run models on a POST to such paths.
pub(super) const fn looked_up(pattern: &'static str) -> Row {
    let otherwise = Treatment::Refuse(OTHER_METHOD);
    Row { pattern, methods: &["GET", "HEAD", "DELETE"], treatment: Treatment::Pass, otherwise }
}

/// Something stored at the provider. Its responses show calls, unless it is deleted.
pub(super) const fn kept(pattern: &'static str, dialect: Dialect) -> Row {
    let otherwise = Treatment::Inspect(dialect);
    Row { pattern, methods: &["DELETE"], treatment: Treatment::Pass, otherwise }
}

const OTHER_METHOD: &str = "callgate does not know this method for this path";

/// The treatment of the response to a request; `None` for a path that the API does not have.
pub(super) fn treatment(api: &Api, method: &Method, path: &str) -> Option<Treatment> {
    let mut rows = api.paths.iter().flat_map(|part| part.rows(path, Spelling::Exact));
    let row = rows.next()?;
    let treatment = row.treatment_of(method);
    let passes =
        matches!(treatment, Treatment::Pass | Treatment::PassRestored(_) | Treatment::PassText(_));
    Some(match passes && row.is_open() && ends_inspected(method, path) {
        true => Treatment::Refuse(ENDS_LIKE_INSPECTED),
        false => treatment,
    })
}

const ENDS_LIKE_INSPECTED: &str = "it ends like a path whose responses callgate judges";

/// Whether a path ends like one that some API answers with calls. A server that routes by the end
/// of a path would run a model.
fn ends_inspected(method: &Method, path: &str) -> bool {
    let path = path.replace("%2F", "/").replace("%2f", "/");
    let path = path.trim_end_matches('/');
    let mut ends = path.match_indices('/').skip(1).filter_map(|(at, _)| path.get(at..));
    ends.any(|end| {
        let parts = apis::ALL.into_iter().flat_map(|api| api.paths);
        let mut rows = parts.flat_map(|part| part.rows(end, Spelling::Loose));
        rows.any(|row| matches!(row.treatment_of(method), Treatment::Inspect(_)))
    })
}

/// Whether callgate reads the responses of this path, for any method and spelling. Such a path is
/// never opened, nor is one that ends like a full path of any API.
pub(super) fn is_inspected(api: &Api, path: &str) -> bool {
    let path = path.replace("%2F", "/").replace("%2f", "/");
    let path = path.trim_end_matches('/');
    let own = api.paths.iter().flat_map(|part| part.rows(path, Spelling::Loose));
    let ends = || path.match_indices('/').filter_map(|(at, _)| path.get(at..));
    let parts = apis::ALL.into_iter().flat_map(|api| api.paths);
    let others = parts.flat_map(|part| {
        ends().flat_map(|end| part.rooted_rows(end, Spelling::Loose)).collect::<Vec<_>>()
    });
    own.chain(others).any(Row::is_inspected)
}

impl PathGroup {
    /// Whether it has this path below one of its roots.
    pub(super) fn has(&'static self, path: &str) -> bool {
        self.rooted_rows(path, Spelling::Exact).next().is_some()
    }

    /// The rows that match a path, the deciding one first.
    fn rows(&'static self, path: &str, spelling: Spelling) -> impl Iterator<Item = &'static Row> {
        let rests = self.roots.iter().filter_map(move |root| below(root, path, spelling));
        rests.flat_map(move |rest| self.rows.iter().filter(move |row| row.fits(rest, spelling)))
    }

    /// Like [`Self::rows`], without the empty root.
    fn rooted_rows(
        &'static self,
        path: &str,
        spelling: Spelling,
    ) -> impl Iterator<Item = &'static Row> {
        let roots = self.roots.iter().filter(|root| !root.is_empty());
        let rests = roots.filter_map(move |root| below(root, path, spelling));
        rests.flat_map(move |rest| self.rows.iter().filter(move |row| row.fits(rest, spelling)))
    }
}

impl Row {
    fn treatment_of(&self, method: &Method) -> Treatment {
        let known = self.methods.is_empty() || self.methods.contains(&method.as_str());
        if known { self.treatment } else { self.otherwise }
    }

    /// Whether it matches any number of segments at its end.
    fn is_open(&self) -> bool {
        self.pattern.ends_with("/**")
    }

    fn is_inspected(&self) -> bool {
        let inspected = |treatment| matches!(treatment, Treatment::Inspect(_));
        inspected(self.treatment) || inspected(self.otherwise)
    }

    fn fits(&self, path: &str, spelling: Spelling) -> bool {
        let mut rest = path;
        for wanted in self.pattern.split('/').skip(1) {
            if wanted == "**" {
                return true;
            }
            let Some((segment, after)) = first_segment(rest) else { return false };
            if !segment_fits(wanted, segment, spelling) {
                return false;
            }
            rest = after;
        }
        rest.is_empty()
    }
}

/// How exactly a path must be spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Exact,
    /// Ignoring case.
    Loose,
}

/// The rest of a path below a root.
fn below<'p>(root: &str, path: &'p str, spelling: Spelling) -> Option<&'p str> {
    let mut rest = path;
    for wanted in root.split('/').skip(1) {
        let (segment, after) = first_segment(rest)?;
        if !segment_fits(wanted, segment, spelling) {
            return None;
        }
        rest = after;
    }
    rest.starts_with('/').then_some(rest)
}

fn first_segment(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix('/')?;
    let end = path.find('/').unwrap_or(path.len());
    path.split_at_checked(end)
}

fn segment_fits(wanted: &str, segment: &str, spelling: Spelling) -> bool {
    let same = |wanted: &str, given: &str| match spelling {
        Spelling::Exact => wanted == given,
        Spelling::Loose => wanted.eq_ignore_ascii_case(given),
    };
    match (wanted.strip_prefix('*'), segment.split_once(':')) {
        (Some(""), _) => !segment.is_empty(),
        // The verb is what follows the first colon, so that no name can add a verb of its own.
        (Some(verb), Some((name, given))) => {
            !name.is_empty() && verb.strip_prefix(':').is_some_and(|verb| same(verb, given))
        }
        (Some(_), None) => false,
        (None, _) => same(wanted, segment),
    }
}
