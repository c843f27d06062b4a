//! All detectors, from specific to general: if two match the same text, the first one names it.
//!
//! To add one, add an entry with its samples to a file here; the tests go through the whole list.
//! The forms are those that the vendors publish: prefix, alphabet, length. Checksums are not
//! verified: a key with a mistyped last letter must not be shown either.

mod address;
mod assignment;
pub(crate) mod format;
mod http;
mod national;
mod personal;
mod vendor;

use crate::detector::{Detector, DetectorGroup};

/// All detectors, in order.
pub(crate) fn all() -> impl Iterator<Item = &'static Detector> {
    format::DETECTORS
        .iter()
        .chain(vendor::DETECTORS)
        .chain(http::DETECTORS)
        .chain(assignment::DETECTORS)
        .chain(personal::DETECTORS)
        .chain(national::DETECTORS)
        .chain(address::DETECTORS)
}

/// What a name selects.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Selection {
    Group(DetectorGroup),
    One(&'static str),
}

impl Selection {
    pub(crate) fn has(self, detector: &Detector) -> bool {
        match self {
            Self::Group(group) => detector.group == group,
            Self::One(name) => detector.name == name,
        }
    }
}

const GROUPS: [(&str, DetectorGroup); 2] =
    [("secret", DetectorGroup::Secret), ("personal", DetectorGroup::Personal)];

/// The detector or group with this name.
pub(crate) fn choose(name: &str) -> Option<Selection> {
    let group = GROUPS.iter().find(|(word, _)| *word == name);
    let group = group.map(|(_, group)| Selection::Group(*group));
    group.or_else(|| all().find(|it| it.name == name).map(|it| Selection::One(it.name)))
}

/// The name that was probably meant.
pub(crate) fn near(name: &str) -> Option<&'static str> {
    let known = GROUPS.iter().map(|(word, _)| *word).chain(all().map(|it| it.name));
    let (steps, word) = known.map(|word| (distance(name, word), word)).min()?;
    (steps <= 2.max(name.len() / 3)).then_some(word)
}

/// The edit distance (Levenshtein), one row of the table at a time.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, pair) in b.bytes().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (left + 1).min(above + 1).min(diagonal + usize::from(x != y));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// The description of a detector, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetectorInfo {
    /// The name with which rules select it.
    pub name: &'static str,
    /// The group it belongs to.
    pub group: DetectorGroup,
    /// What it finds.
    pub what: &'static str,
}

/// All detectors, from specific to general.
pub fn detectors() -> impl Iterator<Item = DetectorInfo> {
    all().map(|it| DetectorInfo { name: it.name, group: it.group, what: it.what })
}

#[cfg(test)]
mod tests;
