//! Compares how pydantic and a policy read the same arguments. `cargo xtask test` installs pydantic
//! and sets `CALLGATE_SDK_PYTHON` to its Python.

use std::process::Command;

use super::support::*;
use crate::Verdict;

/// Prints each of its arguments as a number and as a boolean.
const READ: &str = r#"
import json, sys
from pydantic import BaseModel, ValidationError

class Int(BaseModel):
    a: int

class Float(BaseModel):
    a: float

class Bool(BaseModel):
    a: bool

def read(model, text):
    try:
        return model.model_validate_json(text).a
    except ValidationError:
        return None

for text in sys.argv[1:]:
    number = read(Int, text)
    number = read(Float, text) if number is None else number
    print(json.dumps([number, read(Bool, text)]))
"#;

const VALUES: [&str; 34] = [
    "5",
    "5.0",
    r#""5""#,
    r#""05""#,
    r#"" 5""#,
    r#""5 ""#,
    r#""5.0""#,
    r#""5.""#,
    r#""+5""#,
    r#""5e0""#,
    r#""0_5""#,
    r#""\n5""#,
    r#""5\u00a0""#,
    r#""50e-1""#,
    r#""5 apples""#,
    r#""five""#,
    "true",
    "false",
    "1",
    "0",
    "1.0",
    r#""1""#,
    r#""0""#,
    r#""true""#,
    r#""TRUE""#,
    r#""t""#,
    r#""Y""#,
    r#""yes""#,
    r#""On""#,
    r#""f""#,
    r#""N""#,
    r#""no""#,
    r#""off""#,
    r#""maybe""#,
];

#[test]
fn what_pydantic_takes_for_the_value_of_a_rule_counts() {
    let Ok(python) = std::env::var("CALLGATE_SDK_PYTHON") else {
        return skipped("`cargo xtask test` sets up the official clients");
    };
    let arguments = VALUES.map(|value| format!(r#"{{"a":{value}}}"#));
    let ran = Command::new(python).args(["-c", READ]).args(&arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let read = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(read.lines().count(), VALUES.len());
    let denies = |test: &str, arguments: &str| {
        let policies = rules(&[&format!("id: r, when: {{ arg: a, {test} }}, verdict: deny")]);
        policies.verdict("t", arguments) == Verdict::Deny
    };
    let mut taken = 0;
    for (arguments, read) in arguments.iter().zip(read.lines()) {
        let (number, truth) = read.trim_matches(['[', ']']).split_once(", ").unwrap();
        for (is, test) in [
            (number.parse() == Ok(5.0), "equals: 5"),
            (number.parse() == Ok(1.0), "in: [1, 7]"),
            (truth == "true", "equals: true"),
            (truth == "false", "equals: false"),
        ] {
            taken += usize::from(is);
            assert!(!is || denies(test, arguments), "{test} on {arguments}, read as {read}");
        }
    }
    assert!(taken > 25, "{read}");
}
