//! The member names that determine what a text is.

use callgate_json::Text;

/// A relevant member name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Word {
    Annotation,
    Audio,
    Candidates,
    ChatHistory,
    Choices,
    /// A quote of a source, or a list of them.
    Citation,
    CitationsContent,
    CitedText,
    Completion,
    Content,
    Delta,
    Generation,
    Index,
    Message,
    /// A number that distinguishes items, parts and blocks.
    OtherIndex,
    OutputText,
    Part,
    Parts,
    Quote,
    Reasoning,
    ReasoningContent,
    ReasoningDetails,
    Refusal,
    Response,
    /// A result of a search, or a file.
    Source,
    Summary,
    Text,
    Thinking,
    Thought,
    Title,
    Transcript,
    Type,
    /// A container for the arguments of a call, or for the definitions of tools.
    Call,
    #[default]
    Other,
}

/// Longer keys are never relevant.
const LONGEST: usize = 24;

impl Word {
    /// The word for a key, ignoring case and underscores.
    pub(super) fn of(key: &Text<'_>) -> Self {
        let decoded;
        let raw = match key.is_escaped() {
            false => key.bytes(),
            true => {
                decoded = key.decode().unwrap_or_default();
                decoded.as_bytes()
            }
        };
        let mut folded = [0; LONGEST];
        let mut length = 0;
        for byte in raw.iter().filter(|byte| !matches!(byte, b'_' | b'-')) {
            let Some(place) = folded.get_mut(length) else { return Self::Other };
            *place = byte.to_ascii_lowercase();
            length += 1;
        }
        Self::folded(folded.get(..length).unwrap_or_default())
    }

    fn folded(key: &[u8]) -> Self {
        match key {
            b"annotation" | b"annotations" => Self::Annotation,
            b"audio" => Self::Audio,
            b"candidates" => Self::Candidates,
            b"chathistory" => Self::ChatHistory,
            b"choices" => Self::Choices,
            b"citation" | b"citations" | b"citationsources" | b"urlcitation" | b"filecitation" => {
                Self::Citation
            }
            b"citationscontent" => Self::CitationsContent,
            b"citedtext" => Self::CitedText,
            b"completion" => Self::Completion,
            b"content" => Self::Content,
            b"delta" => Self::Delta,
            b"generation" => Self::Generation,
            b"index" => Self::Index,
            b"message" => Self::Message,
            b"outputindex" | b"contentindex" | b"summaryindex" | b"contentblockindex" => {
                Self::OtherIndex
            }
            b"outputtext" => Self::OutputText,
            b"part" => Self::Part,
            b"parts" => Self::Parts,
            b"quote" | b"snippet" => Self::Quote,
            b"reasoning" => Self::Reasoning,
            b"reasoningcontent" | b"reasoningtext" => Self::ReasoningContent,
            b"reasoningdetails" => Self::ReasoningDetails,
            b"refusal" => Self::Refusal,
            b"response" => Self::Response,
            b"segment" | b"sourcecontent" | b"retrievedcontext" | b"web" | b"maps"
            | b"searchresults" => Self::Source,
            b"summary" => Self::Summary,
            b"text" => Self::Text,
            b"thinking" => Self::Thinking,
            b"thought" => Self::Thought,
            b"title" | b"documenttitle" => Self::Title,
            b"transcript" => Self::Transcript,
            b"type" => Self::Type,
            b"args" | b"arguments" | b"input" | b"parameters" | b"partialargs" | b"toolcalls"
            | b"toolcall" | b"functioncall" | b"tooluse" | b"tools" | b"functions"
            | b"executedtools" => Self::Call,
            _ => Self::Other,
        }
    }
}
