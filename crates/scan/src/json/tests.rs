//! Documents, before and after.

use super::redact_json;

fn key() -> String {
    ["AKI", "AIOSFODNN7ABCDEFG"].concat()
}

#[test]
fn only_the_string_with_the_secret_changes() {
    let json = format!("{{ \"a\" : \"caf\\u00e9\", \"n\":1.0e5,\n\"b\":[\"x {} y\"] }} ", key());
    assert_eq!(
        redact_json(&json),
        "{ \"a\" : \"caf\\u00e9\", \"n\":1.0e5,\n\"b\":[\"x [REDACTED:aws_access_key_id] y\"] } "
    );
}

#[test]
fn escapes_hide_nothing() {
    let json = format!(r#"{{"a":"say \"\u0041{}\"\n"}}"#, &key()[1..]);
    assert_eq!(redact_json(&json), r#"{"a":"say \"[REDACTED:aws_access_key_id]\"\n"}"#);
    // Nor does half a surrogate pair, which is not text.
    let json = format!(r#"{{"a":"\ud83d {}"}}"#, key());
    assert_eq!(redact_json(&json), r#"{"a":" [REDACTED:aws_access_key_id]"}"#);
    // The name of a field may be escaped too.
    assert_eq!(
        redact_json(r#"{"pass\u0077ord":"hunter2"}"#),
        r#"{"pass\u0077ord":"[REDACTED:secret_field]"}"#
    );
}

#[test]
fn fields_with_telling_names() {
    for (json, expected) in [
        (r#"{"password":"x"}"#, r#"{"password":"[REDACTED:secret_field]"}"#),
        (r#"{"Api-Key":"a b"}"#, r#"{"Api-Key":"[REDACTED:secret_field]"}"#),
        (
            r#"{"headers":{"Authorization":["Token abc"]}}"#,
            r#"{"headers":{"Authorization":["[REDACTED:secret_field]"]}}"#,
        ),
        (
            r#"{"credentials":{"user":"ann","password":"p"}}"#,
            r#"{"credentials":{"user":"ann","password":"[REDACTED:secret_field]"}}"#,
        ),
    ] {
        assert_eq!(redact_json(json), expected);
    }
}

#[test]
fn harmless_fields_stay() {
    for json in [
        r#"{"max_tokens":"4096","token_count":"12345678","tokens":["abc"]}"#,
        r#"{"token":"","secret":"any","password":null,"api_key":12345678}"#,
        r#"{"password":{"type":"string","description":"of the user"}}"#,
        r#"{"token":"${TOKEN}","next_page_token":"abcdef0123456789"}"#,
        r#"[{"token":" hello","logprob":-0.25}]"#,
        "12",
        "null",
        r#""password""#,
    ] {
        assert!(matches!(redact_json(json), std::borrow::Cow::Borrowed(_)), "{json}");
        assert_eq!(redact_json(json), json);
    }
}

#[test]
fn keys_that_hold_a_secret_stay_apart() {
    let json = format!("{{\"{}\":1,\"b\":2,\"{}\":3}}", key(), key().replace('7', "6"));
    assert_eq!(
        redact_json(&json),
        "{\"[REDACTED:aws_access_key_id]\":1,\"b\":2,\"[REDACTED:aws_access_key_id]#2\":3}"
    );
}

#[test]
fn a_key_twice_hides_nothing() {
    assert_eq!(
        redact_json(r#"{"password":"a","password":"b"}"#),
        r#"{"password":"[REDACTED:secret_field]","password":"[REDACTED:secret_field]"}"#
    );
}

#[test]
fn an_invalid_document_is_text() {
    let cut = format!(r#"{{"a":"x\n{}\n","password":"hunter22","b":"#, key());
    assert_eq!(
        redact_json(&cut),
        r#"{"a":"x\n[REDACTED:aws_access_key_id]\n","password":"[REDACTED:secret_assignment]","b":"#
    );
    let twice = format!(r#"{{"a":"{}"}}{{}}"#, key());
    assert_eq!(redact_json(&twice), r#"{"a":"[REDACTED:aws_access_key_id]"}{}"#);
    let deep = format!("{}\"{}\"{}", "[".repeat(200), key(), "]".repeat(200));
    assert!(!redact_json(&deep).contains(&key()));
    assert_eq!(redact_json(""), "");
}
