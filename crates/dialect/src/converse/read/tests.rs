use super::*;
use crate::event::{FrameForm, Host, What};

fn reader() -> Reader {
    Reader::new(EventNames::OfEvents, 8)
}

fn read(reader: &mut Reader, name: &str, data: &str) -> Result<Reading, Unreadable> {
    reader.read(Some(name.as_bytes()), data)
}

const START: &str =
    r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t1","name":"rm"}},"p":"ab"}"#;
const INPUT: &str = r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}"#;
const TEXT: &str = r#"{"contentBlockIndex":0,"delta":{"text":"Hi"}}"#;
const STOP: &str = r#"{"contentBlockIndex":0}"#;

#[test]
fn a_call_has_a_start_pieces_and_an_end() {
    let mut reader = reader();
    let start = read(&mut reader, "contentBlockStart", START).unwrap();
    let What::Piece(piece) = &start.parts[0].what else { panic!("{start:?}") };
    assert_eq!((piece.name.as_deref(), piece.id.as_deref()), (Some("rm"), Some("t1")));
    assert!(piece.opens() && !piece.ends());
    let input = read(&mut reader, "contentBlockDelta", INPUT).unwrap();
    let What::Piece(piece) = &input.parts[0].what else { panic!("{input:?}") };
    assert_eq!(piece.arguments, ArgumentsPiece::Fragment("{}".into()));
    let stop = read(&mut reader, "contentBlockStop", STOP).unwrap();
    assert!(matches!(stop.parts[0].what, What::End(crate::Slot(0))));
}

#[test]
fn text_begins_with_its_first_piece() {
    let mut reader = reader();
    let does = |reading: &Reading| reading.block.unwrap().does;
    let first = read(&mut reader, "contentBlockDelta", TEXT).unwrap();
    assert_eq!((does(&first), first.text.unwrap().of(TEXT)), (BlockStep::Open, "Hi"));
    assert_eq!(does(&read(&mut reader, "contentBlockDelta", TEXT).unwrap()), BlockStep::Add);
    assert_eq!(does(&read(&mut reader, "contentBlockStop", STOP).unwrap()), BlockStep::Close);
}

#[test]
fn the_name_determines_the_event() {
    for (name, data) in [
        ("messageStart", START),
        ("metadata", START),
        ("somethingNew", START),
        ("contentBlockStart", INPUT),
        ("messageStop", TEXT),
    ] {
        let read = read(&mut reader(), name, data);
        assert!(matches!(read, Err(Unreadable::Ambiguous(_))), "{name} {read:?}");
    }
}

#[test]
fn pieces_without_a_block_are_dropped() {
    assert_eq!(read(&mut reader(), "contentBlockDelta", INPUT).unwrap_err(), Unreadable::Orphan);
    let reading = read(&mut reader(), "contentBlockStop", STOP).unwrap();
    assert_eq!(reading.form, FrameForm::LeaveOut);
    let no_index = r#"{"delta":{"text":"Hi"}}"#;
    let read = read(&mut reader(), "contentBlockDelta", no_index);
    assert!(matches!(read, Err(Unreadable::Ambiguous(_))));
}

#[test]
fn guarded_keys_stand_once_and_in_one_case() {
    for data in [
        r#"{"contentBlockIndex":0,"start":{"toolUse":{"name":"a","name":"b"}}}"#,
        r#"{"contentBlockIndex":0,"start":{"ToolUse":{"name":"a"}}}"#,
        r#"{"contentBlockIndex":0,"start":{"toolUse":{"name":"a"},"tool\u0055se":{"name":"b"}}}"#,
        r#"{"contentBlockIndex":0,"Start":{"toolUse":{"name":"a"}}}"#,
    ] {
        let read = read(&mut reader(), "contentBlockStart", data);
        assert!(matches!(read, Err(Unreadable::Json(_))), "{data} {read:?}");
    }
}

#[test]
fn only_tools_of_the_service_are_its_own() {
    for (name, host) in [("nova_grounding", Host::Provider), ("rm", Host::Client)] {
        let data = format!(
            r#"{{"contentBlockIndex":0,"start":{{"toolUse":{{"toolUseId":"t","name":"{name}","type":"server_tool_use"}}}}}}"#
        );
        let reading = read(&mut reader(), "contentBlockStart", &data).unwrap();
        let What::Piece(piece) = &reading.parts[0].what else { panic!("{reading:?}") };
        assert_eq!(piece.host, host);
    }
}

#[test]
fn tokens_and_reason() {
    let mut reader = reader();
    let stop = read(&mut reader, "messageStop", r#"{"stopReason":"tool_use"}"#).unwrap();
    assert_eq!(stop.tally.unwrap().stop_reason.as_deref(), Some("tool_use"));
    let usage = r#"{"usage":{"inputTokens":3,"cacheReadInputTokens":4,"outputTokens":5}}"#;
    let tally = read(&mut reader, "metadata", usage).unwrap().tally.unwrap();
    assert_eq!((tally.whole_input(), tally.output), (Some(7), Some(5)));
}

#[test]
fn names_that_are_keys() {
    let mut reader = Reader::new(EventNames::OfKeys, 8);
    let data =
        format!(r#"{{"contentBlockStart":{START},"amazon-bedrock-invocationMetrics":{{}}}}"#);
    assert_eq!(reader.read(None, &data).unwrap().parts.len(), 1);
    let two = format!(r#"{{"contentBlockStop":{STOP},"contentBlockStart":{START}}}"#);
    assert!(matches!(reader.read(None, &two), Err(Unreadable::Ambiguous(_))));
    assert_eq!(reader.read(None, r#"{"other":1}"#).unwrap_err(), Unreadable::Foreign);
}
