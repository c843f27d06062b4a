//! What servers say, inspected: nothing panics, findings lie in the text, and what was stripped
//! needs no stripping and is still the same kind of document.

use callgate_json::Reader;
use callgate_scan::inspect::{
    InspectionContext, OtherTools, TextSource, inspect_definition, inspect_json, inspect_text,
    strip, strip_definition,
};

/// Checks one input.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let known = OtherTools::new(["read_file", "send_email", "query"]);
    for place in [TextSource::Definition, TextSource::Result] {
        let context = InspectionContext { place, known: &known };
        let found = [inspect_text(text, &context), inspect_json(text, &context)];
        for finding in found.into_iter().flatten() {
            assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
            assert!(!finding.detail.chars().any(char::is_control), "{finding:?}");
        }
    }
    for finding in inspect_definition(text, &known) {
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
    }
    for stripped in [strip(text), strip_definition(text)].into_iter().flatten() {
        assert!(stripped.len() < text.len(), "stripping takes away");
        assert!(!is_document(text) || is_document(&stripped), "{stripped:?}");
    }
    if let Some(stripped) = strip(text) {
        assert_eq!(strip(&stripped), None, "stripped twice");
    }
}

/// Whether the text is one JSON object, array or string.
fn is_document(text: &str) -> bool {
    let begins = text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with(['{', '[', '"']);
    let mut reader = Reader::new(text);
    begins && reader.skip().and_then(|_| reader.end()).is_ok()
}
