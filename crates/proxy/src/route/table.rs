//! What becomes of the answer to a request, by its path. What no table has is not forwarded.

use callgate_dialect::Dialect;
use http::Method;

use super::apis::{self, Api};

/// What is done with the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It goes through the gate, read as this dialect. Removed calls are restored in the request.
    Inspect(Dialect),
    /// It carries no calls and passes; removed calls are restored in the request.
    PassRestored(Dialect),
    /// It carries no calls and passes; the request says something.
    PassSaid(Said),
    /// It carries no calls and passes.
    Pass,
    /// The operator let it pass unread.
    Opened,
    /// It may carry calls in a shape that callgate does not read.
    Refuse(&'static str),
}

/// How a request says something that is no conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// In JSON.
    Json,
    /// In JSON, or beside a file in a form. Forms are not read.
    JsonOrForm,
}

/// Some paths of an API, below any of some roots.
#[derive(Debug)]
pub(super) struct Part {
    /// What may stand before the paths; the first that leads to a row counts.
    pub(super) roots: &'static [&'static str],
    /// The first row that fits decides.
    pub(super) rows: &'static [Row],
}

/// One line of a table.
#[derive(Debug)]
pub(super) struct Row {
    /// `*` stands for one segment, `*:verb` for one that ends so, `**` at the end for any number,
    /// none included.
    pattern: &'static str,
    /// The methods it is about; every method if none.
    methods: &'static [&'static str],
    treatment: Treatment,
    /// What becomes of other methods.
    otherwise: Treatment,
}

pub(super) const fn any(pattern: &'static str, treatment: Treatment) -> Row {
    Row { pattern, methods: &[], treatment, otherwise: treatment }
}

pub(super) const fn posted(pattern: &'static str, treatment: Treatment) -> Row {
    let otherwise = Treatment::Refuse(OTHER_METHOD);
    Row { pattern, methods: &["POST"], treatment, otherwise }
}

/// Read or deleted, never asked anything: some servers run models by a POST to such paths.
pub(super) const fn looked_up(pattern: &'static str) -> Row {
    let otherwise = Treatment::Refuse(OTHER_METHOD);
    Row { pattern, methods: &["GET", "HEAD", "DELETE"], treatment: Treatment::Pass, otherwise }
}

/// Something kept at the provider: it shows calls unless it is deleted.
pub(super) const fn kept(pattern: &'static str, dialect: Dialect) -> Row {
    let otherwise = Treatment::Inspect(dialect);
    Row { pattern, methods: &["DELETE"], treatment: Treatment::Pass, otherwise }
}

const OTHER_METHOD: &str = "this method is not known of this path";

/// What becomes of the answer to a request; `None` for a path that the API does not have.
pub(super) fn treatment(api: Api, method: &Method, path: &str) -> Option<Treatment> {
    let mut rows = apis::parts(api).iter().flat_map(|part| part.rows(path, Spelling::Exact));
    let row = rows.next()?;
    let treatment = row.treatment_of(method);
    let passes =
        matches!(treatment, Treatment::Pass | Treatment::PassRestored(_) | Treatment::PassSaid(_));
    Some(match passes && row.is_open() && ends_inspected(method, path) {
        true => Treatment::Refuse(ENDS_LIKE_INSPECTED),
        false => treatment,
    })
}

const ENDS_LIKE_INSPECTED: &str = "it ends like a path whose answers callgate reads";

/// Whether a path ends like one that some API answers with calls. A server that routes by the end of
/// a path would run a model.
fn ends_inspected(method: &Method, path: &str) -> bool {
    let path = path.replace("%2F", "/").replace("%2f", "/");
    let path = path.trim_end_matches('/');
    let mut ends = path.match_indices('/').skip(1).filter_map(|(at, _)| path.get(at..));
    ends.any(|end| {
        let parts = Api::ALL.into_iter().flat_map(apis::parts);
        let mut rows = parts.flat_map(|part| part.rows(end, Spelling::Loose));
        rows.any(|row| matches!(row.treatment_of(method), Treatment::Inspect(_)))
    })
}

/// Whether callgate reads the answers of this path, whatever the method and however it is spelled:
/// it is never opened. Nor is one that ends like a path of any API, root and all.
pub(super) fn is_inspected(api: Api, path: &str) -> bool {
    let path = path.replace("%2F", "/").replace("%2f", "/");
    let path = path.trim_end_matches('/');
    let own = apis::parts(api).iter().flat_map(|part| part.rows(path, Spelling::Loose));
    let ends = || path.match_indices('/').filter_map(|(at, _)| path.get(at..));
    let parts = Api::ALL.into_iter().flat_map(apis::parts);
    let others = parts.flat_map(|part| {
        ends().flat_map(|end| part.rooted_rows(end, Spelling::Loose)).collect::<Vec<_>>()
    });
    own.chain(others).any(Row::is_inspected)
}

impl Part {
    /// Whether it has this path below one of its roots.
    pub(super) fn has(&'static self, path: &str) -> bool {
        self.rooted_rows(path, Spelling::Exact).next().is_some()
    }

    /// The rows that fit a path, the deciding one first.
    fn rows(&'static self, path: &str, spelling: Spelling) -> impl Iterator<Item = &'static Row> {
        let rests = self.roots.iter().filter_map(move |root| below(root, path, spelling));
        rests.flat_map(move |rest| self.rows.iter().filter(move |row| row.fits(rest, spelling)))
    }

    /// The same, without those below no root at all.
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

    /// Whether it takes any number of segments at its end.
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
    /// Capital letters or small ones.
    Loose,
}

/// What is left of a path below a root.
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
        // What follows the first colon is the verb, so that no name can bring one of its own.
        (Some(verb), Some((name, given))) => {
            !name.is_empty() && verb.strip_prefix(':').is_some_and(|verb| same(verb, given))
        }
        (Some(_), None) => false,
        (None, _) => same(wanted, segment),
    }
}
