use serde_json::{Value, json};

use super::*;

/// What is left of a body that has to change.
fn cleaned(body: &str) -> Value {
    let cleaned = clean_error(Dialect::OpenAiChat, body).unwrap_or_else(|| panic!("as is: {body}"));
    assert_eq!(clean_error(Dialect::OpenAiChat, &cleaned), None, "{cleaned}");
    serde_json::from_str(&cleaned).unwrap()
}

#[test]
fn the_text_of_a_refused_call_is_taken_out() {
    let body = r#"{ "error" : {"message":"no","failed_generation":"{\"name\":\"rm\"}" ,"code":1}}"#;
    let clean = clean_error(Dialect::OpenAiChat, body).unwrap();
    assert_eq!(clean, r#"{ "error" : {"message":"no","failed_generation":"" ,"code":1}}"#);
    for generation in ["<function=rm>", "rm(\\\"/\\\")", "[rm]", "\\ud83d"] {
        let body = format!(r#"{{"error":{{"failed_generation":"{generation}"}}}}"#);
        assert_eq!(cleaned(&body), json!({"error": {"failed_generation": ""}}));
    }
    let body = r#"{"error":{"failed\u005fgeneration":{"name":"rm"}}}"#;
    assert_eq!(cleaned(body), json!({"error": {"failed_generation": ""}}));
}

#[test]
fn calls_are_taken_out_wherever_they_stand() {
    for (body, left) in [
        (json!({"tool_calls": [{"id": "c"}], "a": 1}), json!({"tool_calls": [], "a": 1})),
        (
            json!({"x": [{"function_call": {"name": "rm"}}]}),
            json!({"x": [{"function_call": null}]}),
        ),
        (
            json!({"content": [{"type": "tool_use", "id": "t", "name": "rm", "input": {"a": 1}}]}),
            json!({"content": [{"type": "tool_use", "id": "t", "name": "", "input": null}]}),
        ),
        (
            json!({"type": "mcp_tool_use", "name": "rm"}),
            json!({"type": "mcp_tool_use", "name": ""}),
        ),
        (
            json!({"item": {"arguments": {"tool_calls": [1]}, "name": "rm"}}),
            json!({"item": {"arguments": null, "name": ""}}),
        ),
        (
            json!({"input": {"tool_calls": [1], "b": 2}}),
            json!({"input": {"tool_calls": [], "b": 2}}),
        ),
    ] {
        assert_eq!(cleaned(&body.to_string()), left, "{body}");
    }
}

#[test]
fn quoted_errors_are_cleaned_too() {
    let inner = json!({"error": {"failed_generation": "{\"name\":\"rm\"}", "message": "m"}});
    let once = json!({"error": {"metadata": {"raw": inner.to_string()}}});
    let twice = json!({"raw": once.to_string()});
    for body in [once, twice] {
        let left = cleaned(&body.to_string()).to_string();
        assert!(!left.contains("rm") && left.contains("message"), "{left}");
    }
}

#[test]
fn other_errors_leave_as_they_came() {
    for body in [
        "",
        "<html>Bad gateway</html>",
        "upstream connect error {",
        r#"{"error":{"message":"no {such} tool","type":"tool_use_failed","param":null}}"#,
        r#"{"error":{"failed_generation":"maybe","name":"x"}}"#,
        r#"{"error":{"failed_generation":null,"tool_calls":[ ],"function_call":null}}"#,
        r#"{"detail":[{"type":"missing","loc":["body"],"input":{"a":1}}]}"#,
        r#"{"raw":"{not json"}"#,
        "[1,\"a\"]",
    ] {
        for dialect in Dialect::ALL {
            assert_eq!(clean_error(dialect, body), None, "{body}");
        }
    }
}

#[test]
fn what_cannot_be_read_and_speaks_of_calls_is_replaced() {
    for body in [
        r#"{"error":{"failed_generation":"{\"name\":\"rm\"}",}}"#,
        "data: {\"error\":{\"failed_generation\":\"x\"}}\n\n",
        r#"{"tool\u005fcalls":[1],}"#,
        "tool_use: rm",
    ] {
        for dialect in Dialect::ALL {
            let left = clean_error(dialect, body).unwrap();
            assert!(left.contains(UNREADABLE) && !left.contains("rm\\"), "{left}");
            serde_json::from_str::<Value>(&left).unwrap();
        }
    }
}
