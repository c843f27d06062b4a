//! The definition of an item of a server, as it is pinned.

use std::fmt;

use callgate_call::{NameError, ToolName};
use callgate_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical;
use crate::path::DefinitionPath;

/// The kinds of items that can be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// A tool, from a response to `tools/list`.
    Tool,
    /// A prompt, from a response to `prompts/list`.
    Prompt,
    /// A server's instructions for the model.
    Instructions,
}

impl ItemKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Instructions];

    /// The word for it in the store and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Instructions => "instructions",
        }
    }

    /// The kind with that word.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The members that are pinned. A change to any other member changes only the hash of the whole
    /// definition.
    const fn pinned(self) -> &'static [&'static str] {
        match self {
            Self::Tool => &[
                "name",
                "title",
                "description",
                "inputSchema",
                "outputSchema",
                "annotations",
                "execution",
                "icons",
            ],
            Self::Prompt => &["name", "title", "description", "arguments"],
            Self::Instructions => &[],
        }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The hash of a definition: the version of the hashing method, and a SHA-256 in hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PinHash(String);

impl PinHash {
    /// The prefix of every hash. Another hashing method gets another version, so that its hashes
    /// are not taken for changed definitions.
    pub const VERSION: &str = "v1:";

    pub(crate) fn of(canonical: &str) -> Self {
        let mut text = String::with_capacity(Self::VERSION.len() + 64);
        text.push_str(Self::VERSION);
        for byte in Sha256::digest(canonical) {
            for digit in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(u32::from(digit), 16));
            }
        }
        Self(text)
    }

    /// A hash from the store or a configuration. It is not checked: an invalid one equals no other
    /// hash.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The whole hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 characters, without the version, for people.
    pub fn short(&self) -> &str {
        let hex = self.0.strip_prefix(Self::VERSION).unwrap_or(&self.0);
        hex.get(..12).unwrap_or(hex)
    }
}

impl fmt::Display for PinHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A definition that every client reads the same way, and its hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    kind: ItemKind,
    name: String,
    hash: PinHash,
    whole: PinHash,
    canonical: String,
}

impl Definition {
    /// The longest definition that can be pinned, in bytes. Real servers have a few thousand; a
    /// longer one is unpinnable.
    pub const MAX_LEN: usize = 256 * 1024;

    /// Parses one definition from the server's message: a JSON object, or a JSON string for
    /// instructions.
    pub fn read(kind: ItemKind, raw: &str) -> Result<Self, Unpinnable> {
        if raw.len() > Self::MAX_LEN {
            return Err(Unpinnable::new(Flaw::TooLong, &DefinitionPath::default()));
        }
        let value = canonical::read(raw)?;
        match (kind, &value) {
            (ItemKind::Instructions, Value::String(_)) => {
                let canonical = canonical::write(&value);
                let hash = PinHash::of(&canonical);
                Ok(Self { kind, name: String::new(), whole: hash.clone(), hash, canonical })
            }
            (ItemKind::Tool | ItemKind::Prompt, Value::Object(members)) => {
                Self::object(kind, members)
            }
            _ => Err(Unpinnable::new(Flaw::Shape(kind), &DefinitionPath::default())),
        }
    }

    fn object(kind: ItemKind, members: &[(String, Value)]) -> Result<Self, Unpinnable> {
        let name = members.iter().find(|(key, _)| key == "name").and_then(|(_, it)| it.as_str());
        let mut path = DefinitionPath::default();
        path.enter_key("name");
        let name = name.ok_or_else(|| Unpinnable::new(Flaw::NoName, &path))?.to_owned();
        ToolName::parse(&name).map_err(|error| Unpinnable::new(Flaw::Name(error), &path))?;
        let pinned = kind.pinned();
        let (all, canonical) = canonical::write_both(members, |key| pinned.contains(&key));
        let hash = PinHash::of(&canonical);
        let whole = if all == canonical { hash.clone() } else { PinHash::of(&all) };
        Ok(Self { kind, name, hash, whole, canonical })
    }

    /// The kind of item that it defines.
    pub fn kind(&self) -> ItemKind {
        self.kind
    }

    /// The exact name from the server; empty for instructions.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash of the pinned part.
    pub fn hash(&self) -> &PinHash {
        &self.hash
    }

    /// The hash of the whole definition, including `_meta` and unknown members.
    pub fn whole(&self) -> &PinHash {
        &self.whole
    }

    /// The pinned part as canonical JSON.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }
}

/// Why a definition cannot be pinned: it is ambiguous or unreadable. What cannot be pinned is not
/// shown to a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flaw}{}", at(.path))]
pub struct Unpinnable {
    /// What is wrong.
    pub flaw: Flaw,
    /// Where, such as `inputSchema.properties.limit.maximum`; empty for the whole definition.
    pub path: String,
}

impl Unpinnable {
    pub(crate) fn new(flaw: Flaw, path: &DefinitionPath) -> Self {
        Self { flaw, path: path.as_str().to_owned() }
    }
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(", at `{path}`") }
}

/// What is wrong with a definition that cannot be pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is not strict JSON.
    #[error("it cannot be read: {0}")]
    Unreadable(callgate_json::Error),
    /// An object has a duplicate key.
    #[error("a key occurs twice in one object, and clients differ in which one they keep")]
    DuplicateKey,
    /// An integer that a double cannot hold.
    #[error("an integer beyond 2^53 is read as different numbers by different clients")]
    BigInteger,
    /// A number that is too large for a double.
    #[error("a number is larger than any that clients can hold")]
    Infinite,
    /// A lone surrogate.
    #[error("a text contains half of a surrogate pair, which is not a character")]
    LoneSurrogate,
    /// Nested too deeply.
    #[error("it is nested more than {} levels deep", callgate_json::MAX_DEPTH)]
    TooDeep,
    /// Longer than [`Definition::MAX_LEN`].
    #[error("it is longer than {} bytes", Definition::MAX_LEN)]
    TooLong,
    /// Not an object, or not a string for instructions.
    #[error("{}", shape(*.0))]
    Shape(ItemKind),
    /// The name is missing or not a string.
    #[error("it has no name")]
    NoName,
    /// The name cannot be compared with rules.
    #[error("{0}")]
    Name(NameError),
}

fn shape(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Tool => "a tool must be an object",
        ItemKind::Prompt => "a prompt must be an object",
        ItemKind::Instructions => "instructions must be a string",
    }
}
