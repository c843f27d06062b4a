use super::*;

fn read(line: &str) -> Result<Option<RpcMessage<'_>>, Unfit> {
    RpcMessage::read(line.as_bytes())
}

fn why(line: &[u8]) -> UnfitReason {
    RpcMessage::read(line).unwrap_err().why
}

fn problem(line: &str) -> callgate_json::Problem {
    match why(line.as_bytes()) {
        UnfitReason::Json(error) => error.what,
        why => panic!("{why}"),
    }
}

#[test]
fn the_three_kinds() {
    let request = read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap().unwrap();
    assert!(matches!(request.kind, RpcMessageKind::Request { id: Id::Number(n), .. } if n == "1"));
    let notification =
        read(r#"{"method":"notifications/x","params":{},"jsonrpc":"2.0"}"#).unwrap().unwrap();
    assert!(matches!(notification.kind, RpcMessageKind::Notification { params: Some(_), .. }));
    // TypeScript servers write the result first.
    let text = r#"{"result":{"a":1},"jsonrpc":"2.0","id":"x"}"#;
    let answer = read(text).unwrap().unwrap();
    let RpcMessageKind::Answer { id: Some(Id::Text(id)), outcome: AnswerContent::Result(span) } =
        answer.kind
    else {
        panic!("{answer:?}")
    };
    assert_eq!((id.as_str(), span.of(text)), ("x", r#"{"a":1}"#));
    let failed = read(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#);
    assert!(matches!(failed.unwrap().unwrap().kind, RpcMessageKind::Answer { id: None, .. }));
    assert!(read("\n").unwrap().is_none());
    assert!(read(" \r\n").unwrap().is_none());
}

#[test]
fn ambiguous_messages_are_unfit() {
    use callgate_json::Problem::DuplicateKey;
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":{"c":1,"\u0063":2}}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","other":1,"other":2}"#,
    ] {
        assert_eq!(problem(line), DuplicateKey, "{line}");
    }
    for id in ["1.5", "11.0", "null", "1e3", "[1]", "{}", "true", "-0"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(why(line.as_bytes()), UnfitReason::Id, "{id}");
    }
    for (line, expected) in [
        (
            &b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"[..],
            UnfitReason::ByteOrderMark,
        ),
        (b"{\"jsonrpc\":\"2.0\",\r\"id\":1,\"method\":\"ping\"}\n", UnfitReason::CarriageReturn),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1}\r{\"jsonrpc\":\"2.0\",\"id\":2}\n",
            UnfitReason::CarriageReturn,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", UnfitReason::Utf8),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", UnfitReason::Batch),
        (b"1", UnfitReason::NotAMessage),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}", UnfitReason::NotAMessage),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"result\":{}}",
            UnfitReason::NotAMessage,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", UnfitReason::NotAMessage),
        (b"{\"id\":1,\"method\":\"ping\"}", UnfitReason::Version),
        (b"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", UnfitReason::Version),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", UnfitReason::Method),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[1]}", UnfitReason::Params),
    ] {
        assert_eq!(why(line), expected, "{}", String::from_utf8_lossy(line));
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}"#,
        "{",
        "{}{}",
        "{\"a\":\"\u{1}\"}",
    ] {
        assert_eq!(why(line.as_bytes()).code(), -32700, "{line}");
    }
}

#[test]
fn the_waiting_id_is_found() {
    for (text, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}"#, Some(Id::Number("7".into()))),
        (r#"{"method":"a","method":"b","id":"x"}"#, Some(Id::Text("x".into()))),
        (r#"{"id":1,"id":2}"#, None),
        (r#"{"id":1.5}"#, None),
        (r#"{"id":5,"params":{"name":"cut o"#, Some(Id::Number("5".into()))),
        ("", None),
    ] {
        assert_eq!(id_of(text), id, "{text}");
    }
}

#[test]
fn a_lone_surrogate_is_forwarded() {
    // JavaScript cuts emoji in half.
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"t":"\ud83d","\ud83d":1}}}"#;
    assert!(read(line).unwrap().is_some());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of messages, complete and broken: together they form near-messages.
    fn piece() -> impl Strategy<Value = String> {
        let words = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"jsonrpc\":\"2.0\"",
            "\"id\":1",
            "\"id\":\"a\"",
            "\"id\":1.0",
            "\"id\":null",
            "\"method\":\"ping\"",
            "\"method\":\"tools/call\"",
            "\"Method\":\"x\"",
            "\"m\\u0065thod\":\"x\"",
            "\"params\":{}",
            "\"params\":[]",
            "\"params\":{\"name\":\"a\"}",
            "\"params\":{\"name\":\"a\",\"name\":\"b\"}",
            "\"result\":{}",
            "\"error\":{}",
            "\"x\":\"\\ud83d\"",
            "NaN",
            " ",
            "\r",
            "\u{feff}",
            "1",
        ];
        prop_oneof![
            8 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
            1 => ".{0,3}",
        ]
    }

    /// An object of pieces.
    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            proptest::collection::vec(piece(), 0..8).prop_map(|pieces| pieces.concat()),
            proptest::collection::vec(piece(), 0..6)
                .prop_map(|pieces| format!("{{{}}}", pieces.join(","))),
        ]
    }

    proptest! {
        /// A fit message is read the same by readers that keep the last of two keys, that keep the
        /// first, or that treat a carriage return as a line end.
        #[test]
        fn fit_messages_are_read_the_same_way(line in line()) {
            let Ok(Some(message)) = RpcMessage::read(line.as_bytes()) else { return Ok(()) };
            prop_assert!(!message.text.contains('\r'));
            let last: serde_json::Value = match serde_json::from_str(message.text) {
                Ok(value) => value,
                // A lone surrogate is fit for us, and invalid for that reader.
                Err(_) => { prop_assert!(message.text.contains("\\ud83d")); return Ok(()) }
            };
            let method = match &message.kind {
                RpcMessageKind::Request { method, .. } | RpcMessageKind::Notification { method, .. } => Some(method.as_ref()),
                RpcMessageKind::Answer { .. } => None,
            };
            prop_assert_eq!(last.get("method").and_then(|method| method.as_str()), method);
            if let RpcMessageKind::Request { id, .. } = &message.kind {
                prop_assert_eq!(last["id"].to_string(), id.json());
            }
        }

        /// The bytes decide, never where they were split.
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = RpcMessage::read(&bytes);
            let _ = id_of(&String::from_utf8_lossy(&bytes));
        }
    }
}
