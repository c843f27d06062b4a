//! The list of kinds is complete, and the reference says what it says.

use std::collections::BTreeSet;
use std::path::Path;

use super::condition_keys;
use super::list::KINDS;
use crate::operator::OPERATORS;

#[test]
fn every_key_belongs_to_one_kind() {
    let keys: Vec<&str> = condition_keys().flat_map(|row| row.keys).copied().collect();
    let unique: BTreeSet<&str> = keys.iter().copied().collect();
    assert_eq!(keys.len(), unique.len(), "{keys:?}");
    for kind in KINDS {
        assert!(kind.heads.iter().all(|head| kind.has(head)), "{:?}", kind.heads);
    }
    assert!(OPERATORS.iter().all(|(word, _)| unique.contains(word)));
}

/// `CALLGATE_BLESS=1` writes the table instead.
#[test]
fn the_reference_has_a_row_for_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/policy.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let head = "## Keys of a condition\n\n| key | meaning |\n|---|---|\n";
    let start = page.find(head).unwrap() + head.len();
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    let code = |key: &&str| format!("`{key}`");
    let row = |keys: &[&str], meaning| {
        format!("| {} | {meaning} |\n", keys.iter().map(code).collect::<Vec<_>>().join(", "))
    };
    let expected: String = condition_keys().map(|it| row(it.keys, it.meaning)).collect();
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        let page = [&page[..start], &expected, &page[end..]].concat();
        std::fs::write(&path, page).unwrap();
    } else {
        assert_eq!(page[start..end], expected, "run again with CALLGATE_BLESS=1");
    }
}
