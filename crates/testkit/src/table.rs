//! Tables in the documentation that tests make.

use std::path::Path;

/// Compares a table with the one in a page between `<!-- NAME -->` and `<!-- end of NAME -->`.
/// `CALLGATE_BLESS=1` rewrites the page.
pub fn keep(page: &str, name: &str, table: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{page}: {error}"));
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let place = text.split_once(&begin).and_then(|(before, rest)| {
        let (stored, after) = rest.split_once(&end)?;
        Some((before, stored, after))
    });
    let Some((before, stored, after)) = place else { panic!("{page} has no {begin}{end}") };
    let wanted = format!("\n{}\n\n", table.trim_end());
    if stored == wanted {
        return;
    }
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        std::fs::write(&file, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
        return;
    }
    panic!("{page} is stale: run this test with CALLGATE_BLESS=1. The {name} is now:\n{table}");
}
