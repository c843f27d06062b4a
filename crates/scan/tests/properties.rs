//! Properties of every text and every document.

use std::borrow::Cow;

use callgate_json::{Value, quote};
use callgate_scan::{redact, redact_json, secrets};
use proptest::prelude::*;
use support::{border, noise, secret};

mod support;

fn json() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![noise(), secret(), any::<String>()];
    let key = || prop_oneof!["[a-z]{1,6}", Just("password".to_owned()), Just("token".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::Number(number.to_string())),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(key(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn write(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(text) => text.clone(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[ {} ]", items.iter().map(write).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let member =
                |(key, value): &(String, Value)| format!("{}: {}", quote(key), write(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(" ,"))
        }
    }
}

/// Whether two documents are equal except for the text of their strings.
fn same_structure(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_structure(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same_structure(a, b))
        }
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn findings_are_in_order_and_whole(text in noise()) {
        let mut last = 0;
        for found in secrets(&text) {
            prop_assert!(last <= found.span.start && found.span.start < found.span.end);
            prop_assert!(text.get(found.span.clone()).is_some());
            last = found.span.end;
        }
    }

    #[test]
    fn text_without_a_finding_is_the_same(text in noise()) {
        let redacted = redact(&text);
        if secrets(&text).is_empty() {
            prop_assert!(matches!(redacted, Cow::Borrowed(_)));
            prop_assert_eq!(redacted.as_ref(), &text);
        } else {
            prop_assert!(redacted.contains("[REDACTED:"));
        }
    }

    #[test]
    fn a_planted_secret_is_gone(
        before in noise(), left in border(), secret in secret(), right in border(), after in noise(),
    ) {
        let text = format!("{before} {left}{secret}{right} {after}");
        prop_assert!(!redact(&text).contains(&secret));
        let document = format!("{{\"a\":[{}]}}", quote(&text));
        let redacted = redact_json(&document);
        let Ok(value) = Value::parse(&redacted) else { panic!("{redacted}") };
        let quoted = quote(&secret);
        prop_assert!(!write(&value).contains(quoted.trim_matches('"')));
    }

    #[test]
    fn a_secret_in_escapes_is_gone(secret in secret()) {
        let escaped: String = secret.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        let document = format!("{{\"a\":\"x {escaped} y\"}}");
        let redacted = redact_json(&document);
        prop_assert!(redacted.starts_with("{\"a\":\"x [REDACTED:"), "{}", redacted);
        prop_assert!(redacted.ends_with("] y\"}"), "{}", redacted);
    }

    #[test]
    fn a_document_keeps_its_structure(value in json()) {
        let text = write(&value);
        let redacted = redact_json(&text);
        let again = Value::parse(&redacted);
        prop_assert!(again.is_ok_and(|again| same_structure(&value, &again)), "{}", redacted);
    }

    #[test]
    fn any_text_can_be_given(text in any::<String>()) {
        redact(&text);
        redact_json(&text);
    }
}
