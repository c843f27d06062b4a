//! A digest of a complete config: two processes with the same digest judge by the same texts.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The digest of texts, in this order. Their names do not matter, because a config may have two
/// names.
pub fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        // The length separates texts: two texts differ from their concatenation.
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    let mut shown = String::from("sha256:");
    for byte in hash.finalize() {
        let _ = write!(shown, "{byte:02x}");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_have_another_digest() {
        let of = |texts: &[&'static str]| digest(texts.iter().copied());
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        assert_eq!(of(&[]).len(), "sha256:".len() + 64);
    }
}
