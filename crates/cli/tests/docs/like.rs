//! Whether what is printed is what a page shows. `...` stands for anything: alone on its line for
//! any lines.

#[track_caller]
pub(crate) fn assert_like(at: &str, expected: &str, printed: &str) {
    assert!(
        is_like(expected, printed),
        "{at}\n--- the page shows\n{expected}--- it prints\n{printed}"
    );
}

pub(crate) fn is_like(expected: &str, printed: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    };
    like(&lines(expected), &lines(printed))
}

/// Whether lines fit, where the line `...` stands for any lines.
fn like(want: &[String], got: &[String]) -> bool {
    match want.split_first() {
        None => got.is_empty(),
        Some((line, rest)) if line.trim() == "..." => {
            (0..=got.len()).any(|skipped| like(rest, &got[skipped..]))
        }
        Some((line, rest)) => {
            got.split_first().is_some_and(|(first, more)| fits(line, first) && like(rest, more))
        }
    }
}

/// Whether a line fits, where `...` stands for any text.
fn fits(want: &str, got: &str) -> bool {
    match want.split_once("...") {
        None => want == got,
        Some((start, rest)) => got.strip_prefix(start).is_some_and(|got| {
            got.char_indices().map(|(at, _)| at).chain([got.len()]).any(|at| fits(rest, &got[at..]))
        }),
    }
}
