//! The other APIs: the frames before and after the text, and a frame of text.

use bytes::Bytes;
use callgate_wire::Style;

use super::Api;

/// The events before the text, and those after.
pub(super) fn around(api: Api) -> (Vec<Bytes>, Vec<Bytes>) {
    let all = |events: &[(&str, &str)]| -> Vec<Bytes> {
        events.iter().map(|(name, data)| frame(api, name, data)).collect()
    };
    match api {
        Api::Responses => (
            all(&[
                (
                    "response.created",
                    r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[]}}"#,
                ),
                (
                    "response.output_item.added",
                    r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
                ),
                (
                    "response.content_part.added",
                    r#"{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}"#,
                ),
            ]),
            all(&[(
                "response.completed",
                r#"{"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[]}}"#,
            )]),
        ),
        Api::Converse => (
            all(&[("messageStart", r#"{"role":"assistant","p":"abc"}"#)]),
            all(&[
                ("contentBlockStop", r#"{"contentBlockIndex":0,"p":"abc"}"#),
                ("messageStop", r#"{"stopReason":"end_turn","p":"abc"}"#),
            ]),
        ),
        Api::Gemini => (
            Vec::new(),
            all(&[(
                "",
                r#"{"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}],"modelVersion": "gemini-2.5-flash","responseId": "abcdefgh"}"#,
            )]),
        ),
        _ => (
            Vec::new(),
            all(&[(
                "",
                r#"{"model":"llama3.2","created_at":"2026-11-15T10:00:00.000000Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}"#,
            )]),
        ),
    }
}

/// A frame of text.
pub(super) fn text_frame(api: Api, text: &str) -> Bytes {
    let (name, data) = match api {
        Api::Responses => (
            "response.output_text.delta",
            r#"{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"TEXT","logprobs":[],"obfuscation":"x1y2z3"}"#,
        ),
        Api::Gemini => (
            "",
            r#"{"candidates": [{"content": {"parts": [{"text": "TEXT"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 10,"candidatesTokenCount": 20,"totalTokenCount": 30},"modelVersion": "gemini-2.5-flash","responseId": "abcdefgh"}"#,
        ),
        Api::Converse => (
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"text":"TEXT"},"p":"abcdefghijkl"}"#,
        ),
        _ => (
            "",
            r#"{"model":"llama3.2","created_at":"2026-11-15T10:00:00.000000Z","message":{"role":"assistant","content":"TEXT"},"done":false}"#,
        ),
    };
    frame(api, name, &data.replace("TEXT", text))
}

fn frame(api: Api, name: &str, data: &str) -> Bytes {
    let mut out = Vec::new();
    let name = Some(name).filter(|name| !name.is_empty());
    Style::default_of(api.framing()).event(name, data, &mut out);
    out.into()
}
