//! A write as bytes, for the store: a letter for its kind, then each text with its length before it.

use super::{FileWrite, WrittenContent};

impl FileWrite {
    /// The bytes that [`decode`](Self::decode) reads.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, texts): (u8, Vec<&str>) = match &self.content {
            WrittenContent::Whole(text) => (b'W', vec![text]),
            WrittenContent::Appended(text) => (b'A', vec![text]),
            WrittenContent::Replaced { old, new } => (b'R', vec![old, new]),
            WrittenContent::Fetched(addresses) => {
                (b'F', addresses.iter().map(String::as_str).collect())
            }
        };
        let mut bytes = vec![kind];
        for text in std::iter::once(self.path.as_str()).chain(texts) {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// The write with these bytes; `None` if they are not one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let mut texts = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk() {
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (text, after) = after.split_at_checked(length)?;
            texts.push(std::str::from_utf8(text).ok()?.to_owned());
            rest = after;
        }
        let mut texts = texts.into_iter();
        let path = texts.next()?;
        let content = match kind {
            b'W' => WrittenContent::Whole(texts.next()?),
            b'A' => WrittenContent::Appended(texts.next()?),
            b'R' => WrittenContent::Replaced { old: texts.next()?, new: texts.next()? },
            b'F' => WrittenContent::Fetched(texts.by_ref().collect()),
            _ => return None,
        };
        (rest.is_empty() && texts.next().is_none()).then_some(Self { path, content })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents() -> impl Strategy<Value = WrittenContent> {
        prop_oneof![
            ".*".prop_map(WrittenContent::Whole),
            ".*".prop_map(WrittenContent::Appended),
            (".*", ".*").prop_map(|(old, new)| WrittenContent::Replaced { old, new }),
            prop::collection::vec(".*", 0..4).prop_map(WrittenContent::Fetched),
        ]
    }

    proptest! {
        #[test]
        fn every_write_is_read_back(path in ".*", content in contents()) {
            let write = FileWrite { path, content };
            prop_assert_eq!(FileWrite::decode(&write.encode()), Some(write));
        }

        #[test]
        fn other_bytes_are_refused_or_one_write(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(write) = FileWrite::decode(&bytes) {
                prop_assert_eq!(write.encode(), bytes);
            }
        }
    }
}
