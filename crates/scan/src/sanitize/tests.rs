//! Documents, before and after.

use crate::{Replace, Set};

fn set(how: Replace) -> Set {
    let mut builder = Set::builder();
    builder.detector(0, "secret").unwrap();
    builder.detector(0, "personal").unwrap();
    builder.replace(0, how);
    builder.build().unwrap()
}

fn cleaned(how: Replace, json: &str) -> String {
    set(how).clean_json(json).unwrap().text.unwrap_or_else(|| json.to_owned())
}

fn key() -> String {
    ["AKI", "AIOSFODNN7ABCDEFG"].concat()
}

#[test]
fn only_hits_are_changed() {
    let json = format!(
        "{{ \"to\" : [\"ann@acme.org\", \"caf\\u00e9\"],\n\"n\":1.50, \"card\":4111111111111111, \"x\":\"a {} b\"}}",
        key()
    );
    assert_eq!(
        cleaned(Replace::Typed, &json),
        "{ \"to\" : [\"[REDACTED:email]\", \"caf\\u00e9\"],\n\"n\":1.50, \"card\":\"[REDACTED:card]\", \"x\":\"a [REDACTED:aws_access_key_id] b\"}"
    );
    assert_eq!(
        cleaned(Replace::Mask, r#"{"to":"ann@acme.org","card":4111111111111111}"#),
        r#"{"to":"a**********g","card":"41************11"}"#
    );
    assert_eq!(cleaned(Replace::Drop, r#"{"to":"x ann@acme.org"}"#), r#"{"to":"x "}"#);
}

#[test]
fn numbers_in_every_spelling() {
    for card in ["4.111111111111111e15", "4111111111111111.0", "41111111111111110e-1"] {
        let left = cleaned(Replace::Typed, &format!(r#"{{"card":{card}}}"#));
        assert!(left.contains("[REDACTED:card]") && !left.contains("4111"), "{left}");
    }
    let plain = r#"{"n":[1.50,1e3,0.00001,-0,12345678901234567890]}"#;
    assert_eq!(cleaned(Replace::Typed, plain), plain);
}

#[test]
fn keys_and_fields_with_telling_names() {
    let json = r#"{"ann@acme.org":1,"bob@acme.org":2,"password":"hunter2","token":"${X}"}"#;
    assert_eq!(
        cleaned(Replace::Typed, json),
        r###"{"[REDACTED:email]":1,"[REDACTED:email]#2":2,"password":"[REDACTED:secret_field]","token":"${X}"}"###
    );
    // Selecting personal data does not select passwords.
    let mut builder = Set::builder();
    builder.detector(0, "personal").unwrap();
    let personal = builder.build().unwrap();
    assert_eq!(personal.clean_json(r#"{"password":"hunter2"}"#).unwrap().text, None);
}

#[test]
fn neither_escapes_nor_documents_in_strings_hide_anything() {
    let escaped: String = key().chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    assert_eq!(
        cleaned(Replace::Typed, &format!(r#"{{"a":"{escaped}"}}"#)),
        r#"{"a":"[REDACTED:aws_access_key_id]"}"#
    );
    let inside = format!(r#"{{"a":"{escaped}"}}"#).replace('\\', "\\\\").replace('"', "\\\"");
    assert_eq!(
        cleaned(Replace::Typed, &format!(r#"{{"json":"{inside}"}}"#)),
        r#"{"json":"{\"a\":\"[REDACTED:aws_access_key_id]\"}"}"#
    );
}

#[test]
fn an_invalid_document_is_an_error() {
    for text in ["", "{", "{}{}", "a"] {
        assert!(set(Replace::Typed).clean_json(text).is_err(), "{text}");
    }
}

#[test]
fn hits_are_reported() {
    let json = r#"{"a":"ann@acme.org","password":"x"}"#;
    let hits = set(Replace::Typed).clean_json(json).unwrap().hits;
    let told: Vec<_> = hits.iter().map(|hit| (&*hit.kind, &json[hit.span.clone()])).collect();
    assert_eq!(told, [("email", "\"ann@acme.org\""), ("secret_field", "\"x\"")]);
}
