use callgate_wire::{Framing, Splitter};
use serde_json::{Value, json};

use super::{read, write};
use crate::event::{Canonical, Fate, Reading, What};
use crate::spec::{Read, Write};
use crate::{ArgumentsPiece, Blame, Departure, Dialect, Leaving, Orders, Unreadable};

/// A stream of made-up events.
fn stream(events: &[Value]) -> String {
    let event =
        |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

/// The output for a stream, with the fate that `fate` gives each part.
fn written(
    events: &[Value],
    fate: impl Fn(&What) -> Fate,
    end: impl FnOnce(&mut write::Writer, &callgate_wire::Frame<'_>, &mut Vec<u8>),
) -> Vec<Value> {
    let (mut reader, mut writer) = (read::Reader::new(9), write::Writer::default());
    let mut out = Vec::new();
    let mut splitter = Splitter::new(Framing::Sse, 1 << 20);
    splitter.push(stream(events).as_bytes());
    let mut end = Some(end);
    let mut left = events.len();
    while let Ok(Some(frame)) = splitter.next_frame() {
        let data = std::str::from_utf8(frame.data().unwrap()).unwrap();
        let reading = reader.read(frame.event(), data).unwrap();
        let fates: Vec<Fate> = reading.parts.iter().map(|part| fate(&part.what)).collect();
        let orders = Orders { departure: &Departure::default(), fates: &fates };
        writer.write(&Leaving { frame: &frame, data, reading: &reading, orders }, &mut out);
        left -= 1;
        if left == 0 {
            end.take().unwrap()(&mut writer, &frame, &mut out);
        }
    }
    let text = String::from_utf8(out).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn item(id: &str, arguments: &str, status: &str) -> Value {
    json!({"id": id, "type": "function_call", "status": status, "arguments": arguments,
        "call_id": "call_1", "name": "t", "async": true})
}

fn response(status: &str, output: &[Value]) -> Value {
    json!({"id": "resp_1", "model": "m", "created_at": 7, "status": status, "output": output})
}

fn events(added: &Value, done: &Value, pieces: &[Value]) -> Vec<Value> {
    let mut all = vec![
        json!({"type": "response.created", "response": response("in_progress", &[]), "sequence_number": 0}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": added, "sequence_number": 1}),
    ];
    all.extend_from_slice(pieces);
    all.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done, "sequence_number": 8}));
    all.push(json!({"type": "response.completed", "response": response("completed", std::slice::from_ref(done)), "sequence_number": 9}));
    all
}

/// Other arguments in every copy.
fn rewritten(arguments: &str) -> impl Fn(&What) -> Fate {
    move |what| match what {
        What::Piece(piece) if piece.opens() || piece.is_copy() => Fate::Whole(Canonical {
            id: "call_1".into(),
            name: "t".into(),
            arguments: arguments.into(),
            free_text: false,
            anonymous: false,
        }),
        What::Piece(_) => Fate::Drop,
        _ => Fate::Keep,
    }
}

#[test]
fn other_arguments_stand_in_all_five_copies() {
    let delta = |name: &str, key: &str| {
        json!({"type": format!("response.function_call_arguments.{name}"), "item_id": "fc_1",
            "output_index": 0, key: "{\"a\":1}", "sequence_number": 2})
    };
    let pieces = [delta("delta", "delta"), delta("done", "arguments")];
    let before =
        events(&item("fc_1", "", "in_progress"), &item("fc_1", "{\"a\":1}", "completed"), &pieces);
    let after = written(&before, rewritten("{\"a\":2}"), |_, _, _| {});
    let want = events(
        &item("fc_1", "", "in_progress"),
        &item("fc_1", "{\"a\":2}", "completed"),
        &pieces.map(|piece| {
            let text = piece
                .to_string()
                .replace(":1}", ":2}")
                .replace("\"sequence_number\":2", "\"sequence_number\":1");
            serde_json::from_str(&text).unwrap()
        }),
    );
    assert_eq!(after, want);
}

#[test]
fn other_arguments_stand_in_items_without_pieces() {
    let shell = |action: Value, status: &str| json!({"id": "sh_1", "type": "shell_call", "status": status, "action": action, "call_id": "call_1"});
    let command = json!({"type": "response.shell_call_command.delta", "output_index": 0,
        "command_index": 0, "delta": "rm", "sequence_number": 2});
    let before = events(
        &shell(json!({"commands": []}), "in_progress"),
        &shell(json!({"commands": ["rm"]}), "completed"),
        &[command],
    );
    let after = written(&before, rewritten(r#"{"commands":["ls"]}"#), |_, _, _| {});
    let ls = json!({"commands": ["ls"]});
    assert_eq!(after, events(&shell(ls.clone(), "in_progress"), &shell(ls, "completed"), &[]));

    // An unknown kind: all members except those that describe it.
    let odd = |target: &str, status: &str| json!({"id": "x_1", "type": "x_call", "status": status, "call_id": "call_1", "target": target});
    let before = events(&odd("", "in_progress"), &odd("a", "completed"), &[]);
    let after = written(&before, rewritten(r#"{"target":"b"}"#), |_, _, _| {});
    assert_eq!(after, events(&odd("b", "in_progress"), &odd("b", "completed"), &[]));
}

#[test]
fn a_response_that_is_stopped_ends_as_filtered() {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []});
    let all = events(&message, &message, &[]);
    let after = written(
        &all[..2],
        |_| Fate::Keep,
        |writer, frame, out| writer.stop_early(frame, "stopped", out),
    );
    let kinds: Vec<&str> = after.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds[..3],
        ["response.created", "response.output_item.added", "response.output_item.done"]
    );
    assert_eq!(
        (&after[2]["item"]["id"], &after[2]["item"]["status"]),
        (&json!("msg_1"), &json!("incomplete"))
    );
    assert_eq!((kinds[3], &after[3]["output_index"]), ("response.output_item.added", &json!(1)));
    let last = after.last().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    let response = &last["response"];
    assert_eq!(
        (&response["id"], &response["model"], &response["created_at"]),
        (&json!("resp_1"), &json!("m"), &json!(7))
    );
    assert_eq!(response["incomplete_details"]["reason"], "content_filter");
    assert_eq!(response["output"][0]["content"][0]["text"], "stopped");

    // If nothing has left yet, the response must begin first; and a call that has begun never ends.
    let after = written(
        &all[..1],
        |_| Fate::Keep,
        |_, frame, out| {
            write::Writer::default().stop_early(frame, "stopped", out);
        },
    );
    assert_eq!(
        (&after[1]["type"], &after[1]["response"]["id"]),
        (&json!("response.created"), &json!("resp_1"))
    );
    let call = item("fc_1", "", "in_progress");
    let after = written(
        &events(&call, &call, &[])[..2],
        |_| Fate::Keep,
        |writer, frame, out| {
            writer.stop_early(frame, "stopped", out);
        },
    );
    assert!(
        !after.iter().any(|event| event["type"] == "response.output_item.done"
            && event["item"]["type"] != "message")
    );
}

fn texts(data: &Value) -> Vec<String> {
    let data = data.to_string();
    let spans = read::Reader::new(9).texts(&data);
    spans.into_iter().map(|span| span.of(&data).to_owned()).collect()
}

#[test]
fn whole_texts_are_found_wherever_they_stand() {
    let message = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]});
    let user = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]});
    let other = json!({"type": "reasoning", "content": [{"type": "reasoning_text", "text": "r"}]});
    let list = json!([message, user, other]);
    for (data, want) in [
        (json!({"type": "response.output_text.done", "text": "a"}), vec!["a"]),
        (json!({"type": "response.refusal.done", "refusal": "a"}), vec!["a"]),
        (
            json!({"type": "response.content_part.done", "part": {"type": "output_text", "text": "a"}}),
            vec!["a"],
        ),
        (json!({"type": "response.output_item.done", "item": message}), vec!["a", "b"]),
        (json!({"type": "response.output_item.done", "item": other}), vec![]),
        (json!({"type": "response.completed", "response": {"output": list}}), vec!["a", "b"]),
        (json!({"object": "response", "output": list, "output_text": "a"}), vec!["a", "b", "a"]),
        (json!({"object": "list", "data": list}), vec!["a", "b"]),
    ] {
        assert_eq!(texts(&data), want, "{data}");
    }
}

fn reading(events: &[Value]) -> Result<Reading, Unreadable> {
    let mut reader = read::Reader::new(2);
    let mut last = Err(Unreadable::Nothing);
    for event in events {
        last = reader.read(None, &event.to_string());
    }
    last
}

#[test]
fn more_calls_than_the_limit_are_refused() {
    let added = |index: u32| json!({"type": "response.output_item.added", "output_index": index, "item": item("fc_1", "", "")});
    assert!(reading(&[added(0), added(1)]).is_ok());
    assert_eq!(reading(&[added(0), added(1), added(2)]).unwrap_err(), Unreadable::TooManyCalls);
}

#[test]
fn a_name_in_a_namespace_has_both_parts() {
    let named = |extra: Value| {
        let mut item =
            json!({"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}"});
        item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let event = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
        let reading = reading(&[event]).unwrap();
        match &reading.parts[0].what {
            What::Piece(piece) => (piece.name.clone().unwrap(), format!("{:?}", piece.arguments)),
            other => panic!("{other:?}"),
        }
    };
    let again = |text: &str| format!("{:?}", ArgumentsPiece::Again(text.into()));
    for (extra, name) in [
        (json!({}), "run"),
        (json!({"namespace": "fs"}), "fs.run"),
        (json!({"namespace": "mcp__fs__"}), "fs.run"),
        (json!({"namespace": "a.b"}), "mcp__a.b__run"),
        (json!({"namespace": "fs", "name": "a__b"}), "mcp__fs__a__b"),
        (json!({"type": "mcp_approval_request", "server_label": "fs"}), "fs.run"),
        (json!({"type": "shell_call"}), "shell"),
        (json!({"type": "new_call", "name": null}), "new"),
    ] {
        assert_eq!(named(extra.clone()).0, name, "{extra}");
    }
    assert_eq!(named(json!({})).1, again("{}"));
    assert_eq!(
        named(json!({"type": "computer_call", "actions": [1]})).1,
        again("{\"actions\":[1]}")
    );
}

#[test]
fn errors_have_the_form_of_the_api() {
    let body: Value =
        serde_json::from_str(&Dialect::Responses.error_body(Blame::Upstream, "x\"y")).unwrap();
    assert_eq!(
        (&body["error"]["message"], &body["error"]["type"]),
        (&json!("x\"y"), &json!("server_error"))
    );
    for (blame, code) in [(Blame::Upstream, "server_error"), (Blame::Refused, "invalid_prompt")] {
        let events = Dialect::Responses.error_events(blame, "no");
        let names: Vec<_> = events.iter().map(|event| event.name).collect();
        assert_eq!(names, [Some("error"), Some("response.failed")]);
        let failed: Value = serde_json::from_str(&events[1].data).unwrap();
        assert_eq!(failed["response"]["error"], json!({"code": code, "message": "no"}));
    }
}

/// Some servers omit the index: the item that is done is the one that was added.
#[test]
fn an_item_without_an_index_is_known_by_its_ids() {
    let event = |does: &str, arguments: &str| json!({"type": format!("response.output_item.{does}"), "item": item("fc_1", arguments, "")});
    let reading = reading(&[event("added", ""), event("done", "{}")]).unwrap();
    assert!(
        matches!(&reading.parts[0].what, What::Piece(piece) if piece.is_copy() && !piece.opens())
    );
}

/// An item of some kind is added under an index.
fn added(index: Value, id: &str) -> Value {
    let item = json!({"id": id, "type": "function_call", "status": "in_progress", "arguments": "",
        "call_id": format!("call_{id}"), "name": "t"});
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn piece(index: Value, id: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": "{}"})
}

fn list(kind: &str, output: &[Value]) -> Value {
    json!({"type": format!("response.{kind}"), "response": response("in_progress", output)})
}

fn indices(events: &[Value]) -> Vec<&Value> {
    events.iter().filter_map(|event| event.get("output_index")).collect()
}

/// Some clients find an item by its position in a list, others by its index: both are the same
/// number.
#[test]
fn items_leave_under_their_places() {
    let before = [
        list("created", &[]),
        added(json!(7), "fc_1"),
        added(json!("0"), "fc_2"),
        added(json!(-1), "fc_3"),
        piece(json!("0"), "fc_2"),
        piece(json!(7.0), "fc_1"),
        piece(json!(-1), "fc_3"),
    ];
    let after = written(&before, |_| Fate::Keep, |_, _, _| {});
    assert_eq!(indices(&after), [0, 1, 2, 1, 0, 2]);

    // Items of the first list have positions too.
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
    let before = [list("created", &[message]), added(json!(4), "fc_1"), piece(json!(4), "fc_1")];
    let after = written(&before, |_| Fate::Keep, |_, _, _| {});
    assert_eq!(indices(&after), [1, 1]);

    // A resumed stream continues where it was.
    let before = [added(json!(3), "fc_1"), added(json!(9), "fc_2"), piece(json!(9), "fc_2")];
    let after = written(&before, |_| Fate::Keep, |_, _, _| {});
    assert_eq!(indices(&after), [3, 4, 4]);
}

/// A removed item leaves no gap, wherever it was.
#[test]
fn places_move_up_after_removed_items() {
    let first = item("fc_0", "{}", "completed");
    let before = [list("created", &[first]), added(json!(5), "fc_1"), piece(json!(5), "fc_1")];
    let drop_first = |what: &What| match what {
        What::Piece(piece) if piece.slot.0 == 0 => Fate::Drop,
        _ => Fate::Keep,
    };
    let after = written(&before, drop_first, |_, _, _| {});
    assert_eq!(after[0]["response"]["output"], json!([]));
    assert_eq!(indices(&after), [0, 0]);

    // A message for an item that was never added is one more than clients would count.
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item("fc_0", "{}", "completed")});
    let before = [list("created", &[]), done, added(json!(1), "fc_1"), piece(json!(1), "fc_1")];
    let notice = |what: &What| match what {
        What::Piece(piece) if piece.slot.0 == 0 => Fate::Notice("no".into()),
        _ => Fate::Keep,
    };
    let after = written(&before, notice, |_, _, _| {});
    assert_eq!(after[1]["type"], "response.output_item.added");
    assert_eq!(indices(&after[1..7]), [0; 6]);
    assert_eq!(indices(&after[7..]), [1, 1]);
}

#[test]
fn items_that_clients_count_differently_are_refused() {
    let whole = item("fc_9", "{}", "completed");
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item("fc_0", "{}", "completed")});
    let refused = |events: &[Value]| {
        let mut reader = read::Reader::new(9);
        let (last, before) = events.split_last().unwrap();
        for event in before {
            reader.read(None, &event.to_string()).unwrap();
        }
        matches!(reader.read(None, &last.to_string()), Err(Unreadable::Ambiguous(_)))
    };
    let created = || list("created", &[]);
    let listed = std::slice::from_ref(&whole);
    for events in [
        // An index that is used again.
        vec![created(), added(json!(0), "fc_0"), done, added(json!(0), "fc_1")],
        vec![list("created", listed), added(json!(0), "fc_1")],
        vec![created(), list("completed", listed), added(json!(0), "fc_1")],
        // A list that some clients ignore.
        vec![created(), list("in_progress", listed), added(json!(1), "fc_1")],
        vec![created(), list("incomplete", listed), added(json!(1), "fc_1")],
        vec![created(), list("created", listed), added(json!(1), "fc_1")],
        // A list without what was added before.
        vec![created(), added(json!(0), "fc_0"), list("queued", &[]), piece(json!(0), "fc_0")],
        // Numbers that are not positions.
        vec![created(), added(json!(1.5), "fc_0")],
        vec![created(), added(json!(true), "fc_0")],
        vec![created(), added(json!(1e300), "fc_0")],
    ] {
        assert!(refused(&events), "{events:#?}");
    }
    // A list that matches what clients have is no reason to refuse later items.
    let known = json!({"id": "fc_0", "type": "function_call", "call_id": "call_fc_0", "name": "t", "arguments": "{}"});
    let agrees = [
        created(),
        added(json!(0), "fc_0"),
        piece(json!(0), "fc_0"),
        list("in_progress", &[known]),
        added(json!(1), "fc_1"),
    ];
    assert!(!refused(&agrees));
    assert!(!refused(&[created(), list("completed", listed), added(json!(1), "fc_1")]));
}
