//! Every kind of secret that is known, from special to general: where two see the same text, the
//! first one names it.
//!
//! To add one, add an entry with its samples to a file here; the tests sweep the list. The forms
//! are those the vendors publish: prefix, alphabet, length. Checksums are not checked: a key with a
//! mistyped last letter is still nothing to show.

mod assignment;
mod format;
mod http;
mod vendor;

use crate::detector::Detector;

/// All detectors, in order.
pub(crate) fn all() -> impl Iterator<Item = &'static Detector> {
    format::DETECTORS
        .iter()
        .chain(&vendor::DETECTORS)
        .chain(&http::DETECTORS)
        .chain(&assignment::DETECTORS)
}

#[cfg(test)]
mod tests;
