//! Properties of random definitions.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::diff;

/// JSON with at least one number, text and key of each odd kind.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-c]{0,3}", "[\u{1f600}\u{fb33}é\"\\\\\n\u{1b}]{0,3}"];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=1_i64 << 53).prop_map(Value::from),
        any::<f64>().prop_filter("cannot be pinned", |it| is_exact(*it)).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((text.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Whether the canonical form of a number can be pinned: it has whole numbers of up to 21 digits
/// without an exponent, and not every reader keeps those beyond 2^53.
fn is_exact(number: f64) -> bool {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e21;
    number.is_finite() && (!is_whole || number.abs() <= 2_f64.powi(53))
}

fn definition(schema: &Value) -> Value {
    json!({ "name": "t", "inputSchema": schema, "annotations": { "b": 1, "a": schema } })
}

/// The same document with its keys in reverse order, and with white space.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let turned: Vec<_> =
                members.iter().rev().map(|(k, v)| (k.clone(), turned(v))).collect();
            Value::Object(turned.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(turned).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn order_and_white_space_change_nothing(schema in value()) {
        let whole = definition(&schema);
        let plain = tool(&whole.to_string());
        let other = tool(&format!("\t{} \n", serde_json::to_string_pretty(&turned(&whole)).unwrap()));
        prop_assert_eq!(&plain, &other);
        prop_assert_eq!(diff(plain.canonical(), other.canonical()), vec![]);
        // The canonical form is a fixed point.
        let again = tool(plain.canonical());
        prop_assert_eq!(again.canonical(), plain.canonical());
    }

    #[test]
    fn different_documents_have_different_hashes(one in value(), two in value()) {
        let (a, b) = (tool(&definition(&one).to_string()), tool(&definition(&two).to_string()));
        let same = a.canonical() == b.canonical();
        prop_assert_eq!(a.hash() == b.hash(), same);
        prop_assert_eq!(diff(a.canonical(), b.canonical()).is_empty(), same);
    }

    #[test]
    fn another_implementation_writes_the_same(schema in value()) {
        let whole = definition(&schema);
        let expected = serde_json_canonicalizer::to_string(&whole).unwrap();
        let canonical = tool(&whole.to_string()).canonical().to_owned();
        prop_assert_eq!(canonical, expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}", json in "[\\[\\]{}\",:0-9eE+.\\\\u -]{0,60}") {
        for kind in ItemKind::ALL {
            let _ = Definition::read(kind, &text);
            let _ = Definition::read(kind, &json);
        }
        let _ = diff(&text, &json);
    }
}
