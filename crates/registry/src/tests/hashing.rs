//! What is hashed, what is not, and what cannot be pinned.

use super::*;
use crate::{Flaw, PinHash, Unpinnable};

fn canonical(raw: &str) -> String {
    crate::canonical::write(&crate::canonical::read(raw).unwrap())
}

fn unpinnable(raw: &str) -> Unpinnable {
    Definition::read(ItemKind::Tool, raw).unwrap_err()
}

/// A tool with this value in its schema.
fn holding(value: &str) -> String {
    format!(r#"{{"name":"t","inputSchema":{{"properties":{{"a":[0,{value}]}}}}}}"#)
}

#[test]
fn the_example_of_the_rfc() {
    // RFC 8785, 3.2.2 and 3.2.3.
    let input = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
        "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
    assert_eq!(canonical(input), expected);
}

#[test]
fn keys_are_ordered_by_utf_16() {
    // RFC 8785, 3.2.3: the astral key comes before U+FB33, which UTF-8 order would put first.
    let input = r#"{"\u20ac":"Euro","\r":"CR","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Smile","\u0080":"Control","\u00f6":"O"}"#;
    let expected = "{\"\\r\":\"CR\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"O\",\"€\":\"Euro\",\"\u{1f600}\":\"Smile\",\"\u{fb33}\":\"Dalet\"}";
    assert_eq!(canonical(input), expected);
    assert!("\u{fb33}" < "\u{1f600}", "as UTF-8 they are the other way round");
}

#[test]
fn numbers_are_written_as_the_rfc_says() {
    // RFC 8785, appendix B, as far as JSON can express them.
    for (written, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("5e-324", "5e-324"),
        ("-5e-324", "-5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("9007199254740992", "9007199254740992"),
        ("-9007199254740992", "-9007199254740992"),
        ("295147905179352830000.0", "295147905179352830000"),
        ("9.999999999999997e22", "9.999999999999997e+22"),
        ("1e23", "1e+23"),
        ("1.0000000000000001e23", "1.0000000000000001e+23"),
        ("999999999999999700000.0", "999999999999999700000"),
        ("1e21", "1e+21"),
        ("9.999999999999997e-7", "9.999999999999997e-7"),
        ("0.000001", "0.000001"),
        ("333333333.3333332", "333333333.3333332"),
        ("333333333.33333325", "333333333.33333325"),
        ("333333333.3333334", "333333333.3333334"),
        ("1.0", "1"),
        ("1E2", "100"),
    ] {
        assert_eq!(canonical(written), expected, "{written}");
    }
}

#[test]
fn both_revisions_of_a_server_have_the_same_hash() {
    // The same tool of mcp-server-time in two revisions of the protocol.
    let legacy = r#"{"name":"get_current_time","description":"Get current time","inputSchema":{"type":"object","properties":{"timezone":{"type":"string","description":"IANA"}},"required":["timezone"]}}"#;
    let modern = r#"{"inputSchema":{"properties":{"timezone":{"description":"IANA","type":"string"}},"required":["timezone"],"type":"object"},
        "description":"Get current time", "name":"get_current_time"}"#;
    assert_eq!(tool(legacy), tool(modern));
}

#[test]
fn a_hash_has_a_version_and_stays_what_it_is() {
    assert_eq!(
        tool(r#"{ "name" : "now" }"#).hash().as_str(),
        "v1:0f49b85f67bcfcf5bac3c78d74425d9ad43189480439e109c5516fed5ffaaccd"
    );
    assert_eq!(
        PinHash::of("abc").as_str(),
        "v1:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(PinHash::of("abc").short(), "ba7816bf8f01");
}

#[test]
fn everything_a_model_may_see_is_pinned() {
    let plain = tool(r#"{"name":"t"}"#);
    for member in [
        r#""title":"T""#,
        r#""description":"d""#,
        r#""inputSchema":{}"#,
        r#""outputSchema":{}"#,
        r#""annotations":{"readOnlyHint":true}"#,
        r#""execution":{"taskSupport":"optional"}"#,
        r#""icons":[]"#,
        r#""title":null"#,
    ] {
        let other = tool(&format!(r#"{{"name":"t",{member}}}"#));
        assert_ne!(other.hash(), plain.hash(), "{member}");
        assert_eq!(other.hash(), other.whole(), "{member}");
    }
    for member in [r#""_meta":{"a":1}"#, r#""x-vendor":1"#] {
        let other = tool(&format!(r#"{{"name":"t",{member}}}"#));
        assert_eq!(other.hash(), plain.hash(), "{member}");
        assert_ne!(other.whole(), plain.whole(), "{member}");
    }
}

#[test]
fn prompts_and_instructions_are_pinned_too() {
    let prompt = |raw| Definition::read(ItemKind::Prompt, raw).unwrap();
    let plain = prompt(r#"{"name":"p","arguments":[{"name":"a"}]}"#);
    assert_eq!(plain.name(), "p");
    assert_ne!(plain.hash(), prompt(r#"{"name":"p","arguments":[{"name":"b"}]}"#).hash());
    let icon = prompt(r#"{"name":"p","arguments":[{"name":"a"}],"icons":[]}"#);
    assert_eq!(plain.hash(), icon.hash());
    assert_ne!(plain.whole(), icon.whole());

    let instructions = |raw| Definition::read(ItemKind::Instructions, raw).unwrap();
    assert_eq!(instructions(r#""a\u0062c""#), instructions(r#" "abc" "#));
    assert_ne!(instructions(r#""abc""#).hash(), instructions(r#""abd""#).hash());
    assert_eq!(instructions(r#""abc""#).name(), "");
}

#[test]
fn what_has_two_readings_is_refused_with_its_place() {
    for (value, flaw) in [
        ("9007199254740993", Flaw::BigInteger),
        ("-9007199254740993", Flaw::BigInteger),
        ("18446744073709551615", Flaw::BigInteger),
        ("100000000000000000000000000000", Flaw::BigInteger),
        ("1e400", Flaw::Infinite),
        ("-1e400", Flaw::Infinite),
        (r#""\ud83d""#, Flaw::LoneSurrogate),
        (r#""\ude00x""#, Flaw::LoneSurrogate),
    ] {
        let error = unpinnable(&holding(value));
        assert_eq!(error.flaw, flaw, "{value}");
        assert_eq!(error.path, "inputSchema.properties.a[1]", "{value}");
    }
    let twice = unpinnable(&holding(r#"{"b":1,"\u0062":2}"#));
    assert_eq!(
        (twice.flaw, twice.path.as_str()),
        (Flaw::DuplicateKey, "inputSchema.properties.a[1].b")
    );
    let key = unpinnable(&holding(r#"{"\ud800":1}"#));
    assert_eq!(key.flaw, Flaw::LoneSurrogate);
    assert_eq!(
        unpinnable(&holding("9007199254740993")).to_string(),
        "an integer beyond 2^53 is read as different numbers by different clients, \
         at `inputSchema.properties.a[1]`"
    );
}

#[test]
fn what_is_not_a_definition_is_refused() {
    assert!(matches!(unpinnable("[]").flaw, Flaw::Shape(ItemKind::Tool)));
    assert!(matches!(unpinnable(r#""a""#).flaw, Flaw::Shape(_)));
    assert!(matches!(unpinnable("{}").flaw, Flaw::NoName));
    assert!(matches!(unpinnable(r#"{"name":1}"#).flaw, Flaw::NoName));
    assert!(matches!(unpinnable(r#"{"name":""}"#).flaw, Flaw::Name(_)));
    assert!(matches!(unpinnable(r#"{"name":"a\u0000b"}"#).flaw, Flaw::Name(_)));
    assert!(matches!(unpinnable(r#"{"name":"a\u200bb"}"#).flaw, Flaw::Name(_)));
    for broken in ["", "{", r#"{"name":"t",}"#, r#"{"name":"t"} x"#, r#"{"name":NaN}"#] {
        assert!(matches!(unpinnable(broken).flaw, Flaw::Unreadable(_)), "{broken}");
    }
    let deep = format!(r#"{{"name":"t","inputSchema":{}1{}}}"#, "[".repeat(100), "]".repeat(100));
    assert!(matches!(unpinnable(&deep).flaw, Flaw::TooDeep));
    let long = format!(r#"{{"name":"t","title":"{}"}}"#, "x".repeat(Definition::MAX_LEN));
    assert!(matches!(unpinnable(&long).flaw, Flaw::TooLong));
    let prompt = Definition::read(ItemKind::Prompt, r#"["p"]"#).unwrap_err();
    assert!(matches!(prompt.flaw, Flaw::Shape(ItemKind::Prompt)));
    let error = Definition::read(ItemKind::Instructions, r#"{"a":1}"#).unwrap_err();
    assert!(matches!(error.flaw, Flaw::Shape(ItemKind::Instructions)));
}

#[test]
fn composed_and_decomposed_text_differ() {
    let composed = tool("{\"name\":\"t\",\"title\":\"caf\u{e9}\"}");
    let decomposed = tool("{\"name\":\"t\",\"title\":\"cafe\u{301}\"}");
    assert_ne!(composed.hash(), decomposed.hash());
}

#[test]
fn a_path_shows_invisible_characters_of_a_key() {
    let error = unpinnable("{\"name\":\"t\",\"inputSchema\":{\"a\\u202eb \\u001b[2J\":1e999}}");
    assert_eq!(error.path, r#"inputSchema["a\u{202e}b \u{1b}[2J"]"#);
}
