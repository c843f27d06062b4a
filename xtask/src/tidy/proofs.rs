//! Who may make the proofs that a call was judged and recorded. The types make sure that none is
//! forgotten; these constructors bypass that, so each may be used in one file only.

use super::files::File;

/// What makes a proof, and the file that may. Code for tests may, too. The words are written in two
/// pieces, so that this file does not find itself.
const MAKERS: [(&str, &str); 3] = [
    (concat!("WriteProof::by_", "the_store"), "crates/store/src/receipt.rs"),
    (
        concat!("Recorded::although_", "the_store_failed"),
        "crates/decide/src/pipeline/write_record.rs",
    ),
    (concat!("Recorded::without_", "a_store"), "crates/cli/src/judge.rs"),
];

/// Crates that no user runs.
const TEST_CODE: [&str; 2] = ["crates/testkit/", "fuzz/"];

pub(crate) fn check(file: &File) -> Vec<String> {
    let is_test =
        file.name.contains("/tests/") || TEST_CODE.iter().any(|it| file.name.starts_with(it));
    if !file.is("rs") || is_test {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (maker, home) in MAKERS.iter().filter(|(_, home)| file.name != *home) {
        let found = file.lines().filter(|(_, line)| line.contains(maker));
        wrong.extend(
            found.map(|(number, _)| {
                format!("{}:{number}: only {home} may say `{maker}`", file.name)
            }),
        );
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> File {
        File { name: name.to_owned(), bytes: text.as_bytes().to_vec(), text: Some(text.to_owned()) }
    }

    #[test]
    fn a_proof_is_made_in_one_place() {
        for (maker, home) in MAKERS {
            let line = format!("let proof = {maker}(permit);\n");
            assert_eq!(check(&file(home, &line)), [""; 0]);
            assert_eq!(check(&file("crates/gate/tests/gate.rs", &line)), [""; 0]);
            let elsewhere = check(&file("crates/mcp/src/session.rs", &line));
            assert!(elsewhere[0].starts_with("crates/mcp/src/session.rs:1: only"), "{elsewhere:?}");
        }
    }
}
