use serde_json::{Value, json};

use super::*;

/// The rest of a body that has to change.
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

/// Every call that the readers know, as an item of an error.
#[test]
fn a_call_named_by_its_type_loses_its_input() {
    for (kind, member) in [
        ("function_call", "arguments"),
        ("custom_tool_call", "input"),
        ("local_shell_call", "action"),
        ("shell_call", "action"),
        ("apply_patch_call", "operation"),
        ("computer_call", "actions"),
        ("file_search_call", "queries"),
        ("code_interpreter_call", "code"),
        ("mcp_approval_request", "arguments"),
        ("some_later_call", "whatever"),
        ("Shell-Call", "Action"),
        ("tool_use", "input"),
    ] {
        let body = json!({"output": [{"type": kind, "call_id": "c", member: {"a": "EVIL"}}]});
        let left = json!({"output": [{"type": kind, "call_id": "c", member: null}]});
        assert_eq!(cleaned(&body.to_string()), left, "{kind}");
    }
    let error = json!({"type": "invalid_function_call", "message": "no", "param": "input[1]"});
    assert_eq!(clean_error(Dialect::Responses, &error.to_string()), None);
    let result = json!({"type": "shell_call_output", "call_id": "c", "output": "x", "action": 1});
    assert_eq!(clean_error(Dialect::Responses, &result.to_string()), None);
}

#[test]
fn calls_are_known_in_any_spelling() {
    for (body, left) in [
        (json!({"Name": "rm", "Input": {"a": 1}}), json!({"Name": "", "Input": null})),
        (json!({"NAME": "rm", "ARGS": "x"}), json!({"NAME": "", "ARGS": null})),
        (json!({"toolCalls": [{"id": "c"}]}), json!({"toolCalls": []})),
        (json!({"Function_Call": {"n": 1}}), json!({"Function_Call": null})),
        (json!({"toolUse": {"toolUseId": "t"}}), json!({"toolUse": null})),
        (json!({"Failed_Generation": "{rm}"}), json!({"Failed_Generation": ""})),
        (json!({"failed-generation": "<rm>"}), json!({"failed-generation": ""})),
        (json!({"call_id": "c", "action": {"a": 1}}), json!({"call_id": "c", "action": null})),
        (
            json!({"type": "tool_use", "Type": "x", "q": 1}),
            json!({"type": "tool_use", "Type": "x", "q": null}),
        ),
    ] {
        assert_eq!(cleaned(&body.to_string()), left, "{body}");
    }
}

#[test]
fn quoted_text_that_cannot_be_read_is_withheld_if_it_mentions_calls() {
    for (raw, left) in [
        (r#"{"tool_calls":[{"id":"c"}"#, ""),
        (r#"[{"type":"shell_call","action":{}},"#, ""),
        ("{some text}", "{some text}"),
    ] {
        let body = json!({ "raw": raw }).to_string();
        let clean = clean_error(Dialect::OpenAiChat, &body).unwrap_or(body);
        assert_eq!(serde_json::from_str::<Value>(&clean).unwrap(), json!({ "raw": left }));
    }
    let mut deep = json!({ "tool_calls": [1] });
    for _ in 0..6 {
        deep = json!({ "raw": deep.to_string() });
    }
    let clean = clean_error(Dialect::OpenAiChat, &deep.to_string()).unwrap();
    assert!(!clean.contains("tool_calls"), "{clean}");
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
fn unparsable_text_that_mentions_calls_is_replaced() {
    for body in [
        r#"{"error":{"failed_generation":"{\"name\":\"rm\"}",}}"#,
        "data: {\"error\":{\"failed_generation\":\"x\"}}\n\n",
        r#"{"tool\u005fcalls":[1],}"#,
        "tool_use: rm",
        "event: x\ndata: {\"item\":{\"type\":\"custom_tool_call\",\"input\":\"rm\\n\"}}\n\n",
        "data: {\"item\":{\"type\":\"shell_call\",\"action\":{\"commands\":[\"rm\\n\"]}}}\n\n",
        "data: {\"item\":{\"type\":\"mcp_approval_request\",\"x\":\"rm\\n\"}}\n\n",
        "data: {\"Name\":\"rm\\n\",\"Args\":{}}\n\n",
    ] {
        for dialect in Dialect::ALL {
            let left = clean_error(dialect, body).unwrap();
            assert!(left.contains(UNREADABLE) && !left.contains("rm\\"), "{left}");
            serde_json::from_str::<Value>(&left).unwrap();
        }
    }
}
