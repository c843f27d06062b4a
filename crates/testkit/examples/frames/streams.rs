//! One stream of text in each API: how it begins, and a frame like hundreds that follow.

use callgate_dialect::Dialect;
use callgate_wire::{Framing, Framings, Style};

/// A stream: the events it begins with, and the event that is repeated.
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) dialect: Dialect,
    open: &'static [(&'static str, &'static str)],
    event: (&'static str, &'static str),
}

/// What every frame says.
const TEXT: &str = "TEXT";

/// As long as what models send at once.
const WORDS: &str = " and then the answer goes on";

impl Stream {
    /// The bytes before the text.
    pub(crate) fn open(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.open.iter().for_each(|event| self.write(event, &mut out));
        out
    }

    /// One frame of text.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let data = self.event.1.replace(TEXT, WORDS);
        self.write(&(self.event.0, data.as_str()), &mut out);
        out
    }

    fn write(&self, (name, data): &(&str, &str), out: &mut Vec<u8>) {
        let framing = match self.dialect.framings() {
            Framings::Lines => Framing::Lines,
            Framings::EventStream => Framing::EventStream,
            _ => Framing::Sse,
        };
        let name = Some(*name).filter(|name| !name.is_empty());
        Style::default_of(framing).event(name, data, out);
    }
}

/// The APIs, their frames shaped and sized like the recorded ones. InvokeModel is another one in an
/// envelope.
pub(crate) const STREAMS: [Stream; 8] = [
    Stream {
        name: "messages",
        dialect: Dialect::Anthropic,
        open: &[
            ("message_start", r#"{"type":"message_start","message":{"content":[]}}"#),
            (
                "content_block_start",
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            ),
        ],
        event: (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"TEXT"}     }"#,
        ),
    },
    Stream {
        name: "chat",
        dialect: Dialect::OpenAiChat,
        open: &[],
        event: (
            "",
            r#"{"id":"chatcmpl-9xYbLwRcDLkGq2tQmJ3vH0pZ","object":"chat.completion.chunk","created":1756221269,"model":"gpt-4o-2024-08-06","system_fingerprint":"fp_07871e2ad8","choices":[{"index":0,"delta":{"content":"TEXT"},"finish_reason":null}]}"#,
        ),
    },
    Stream {
        name: "responses",
        dialect: Dialect::Responses,
        open: &[
            (
                "response.created",
                r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","output":[]}}"#,
            ),
            (
                "response.output_item.added",
                r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
            ),
            (
                "response.content_part.added",
                r#"{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}"#,
            ),
        ],
        event: (
            "response.output_text.delta",
            r#"{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"TEXT","logprobs":[],"obfuscation":"x1y2z3"}"#,
        ),
    },
    Stream {
        name: "gemini",
        dialect: Dialect::Gemini,
        open: &[],
        event: (
            "",
            r#"{"candidates": [{"content": {"parts": [{"text": "TEXT"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 10,"candidatesTokenCount": 20,"totalTokenCount": 30},"modelVersion": "gemini-2.5-flash","responseId": "abcdefgh"}"#,
        ),
    },
    Stream {
        name: "interactions",
        dialect: Dialect::Interactions,
        open: &[
            (
                "interaction.created",
                r#"{"interaction":{"id":"i_1","status":"in_progress","object":"interaction","model":"gemini-2.5-flash"},"event_type":"interaction.created"}"#,
            ),
            (
                "step.start",
                r#"{"index":0,"step":{"type":"model_output"},"event_type":"step.start"}"#,
            ),
        ],
        event: (
            "step.delta",
            r#"{"index":0,"delta":{"text":"TEXT","type":"text"},"event_type":"step.delta"}"#,
        ),
    },
    Stream {
        name: "ollama",
        dialect: Dialect::Ollama,
        open: &[],
        event: (
            "",
            r#"{"model":"llama3.2","created_at":"2026-11-15T10:00:00.000000Z","message":{"role":"assistant","content":"TEXT"},"done":false}"#,
        ),
    },
    Stream {
        name: "cohere",
        dialect: Dialect::Cohere,
        open: &[
            (
                "message-start",
                r#"{"id":"1","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}"#,
            ),
            (
                "content-start",
                r#"{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}"#,
            ),
        ],
        event: (
            "content-delta",
            r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"TEXT"}}}}"#,
        ),
    },
    Stream {
        name: "converse",
        dialect: Dialect::Converse,
        open: &[("messageStart", r#"{"role":"assistant","p":"abc"}"#)],
        event: (
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"text":"TEXT"},"p":"abcdefghijkl"}"#,
        ),
    },
];
