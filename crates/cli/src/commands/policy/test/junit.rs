//! The report that build servers read: JUnit's XML.

use std::fmt::Write as _;

use callgate_document::Diagnostic;

use super::{Outcome, Tested};

pub(super) fn report(outcome: &Outcome) -> String {
    let mut cases = String::new();
    for Tested { case, failure, .. } in &outcome.tests {
        let place = format!("{}:{}", case.file, case.line);
        push_case(&mut cases, &case.file, &case.name, failure.as_deref().map(|why| (why, &*place)));
    }
    for counted in &outcome.examples {
        let name = format!("{} ({} examples)", counted.rule, counted.examples);
        push_case(&mut cases, &counted.policy, &name, None);
    }
    suite(outcome.tests.len() + outcome.examples.len(), outcome.failed(), &cases)
}

/// The report about a policy or test file that cannot be used.
pub(super) fn rejected(problems: &[Diagnostic], error: &str) -> String {
    let mut cases = String::new();
    for problem in problems {
        let place = format!("{}:{}:{}", problem.source, problem.span.line, problem.span.column);
        push_case(&mut cases, &problem.source, &place, Some((&problem.message, &place)));
    }
    if problems.is_empty() {
        push_case(&mut cases, "callgate", "the policy loads", Some((error, "")));
    }
    let number = problems.len().max(1);
    suite(number, number, &cases)
}

fn suite(tests: usize, failures: usize, cases: &str) -> String {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    format!(
        "{head}<testsuites {counts}>\n<testsuite name=\"callgate policy test\" {counts}>\n\
         {cases}</testsuite>\n</testsuites>\n"
    )
}

fn push_case(cases: &mut String, class: &str, name: &str, failure: Option<(&str, &str)>) {
    let (class, name) = (escaped(class), escaped(name));
    let opening = format!("<testcase classname=\"{class}\" name=\"{name}\"");
    let _ = match failure {
        None => writeln!(cases, "{opening}/>"),
        Some((why, place)) => {
            let (why, place) = (escaped(why), escaped(place));
            writeln!(cases, "{opening}><failure message=\"{why}\">{place}</failure></testcase>")
        }
    };
}

/// As the value of an attribute. XML has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.extend(character.escape_default());
            }
            other => escaped.push(other),
        }
    }
    escaped
}
