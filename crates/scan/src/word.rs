//! Finds the beginnings of words: letters and digits after anything else; and compares them with
//! given beginnings.

/// The places from `from` on where a word, or a sign directly before a number, begins.
pub(crate) fn starts(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let mut inside = from
        .checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = bytes.get(from..).unwrap_or(&[]);
    rest.iter().enumerate().filter_map(move |(at, byte)| {
        let alphanumeric = byte.is_ascii_alphanumeric();
        let begins = (alphanumeric && !inside) || matches!(byte, b'+' | b'(');
        inside = alphanumeric;
        begins.then_some(from + at)
    })
}

/// How much of a text is searched for digits at once.
const BLOCK: usize = 64;

/// The longest head that is compared. A longer one is truncated: then too much is tried, not too
/// little.
const LONGEST: usize = 8;

/// Beginnings of words, all compared at once: one bit is one head, and each byte of a word keeps
/// the bits that allow it there. Nearly every word of a text is done after two or three bytes.
#[derive(Debug)]
pub(crate) struct Heads {
    /// The class of each byte: a letter, a digit, one of the symbols in heads, or nothing.
    class: Box<[u8; 256]>,
    /// For each place in a word and each class, the heads that allow it there.
    allow: Vec<[u64; LONGEST]>,
    /// The heads of each length.
    ends: [u64; LONGEST],
    /// The owner of each bit. At most 64 heads: a test counts them.
    owners: Vec<usize>,
    /// Every head has a digit, so that text without digits can be skipped.
    digits: bool,
}

impl Heads {
    /// Heads with their owners, sorted by owner: `A` is a letter, `9` a digit, anything else
    /// itself.
    pub(crate) fn new<'h>(heads: impl Iterator<Item = (usize, &'h str)>) -> Self {
        let mut made = Self {
            class: Box::new([0; 256]),
            allow: vec![[0; LONGEST]],
            ends: [0; LONGEST],
            owners: Vec::new(),
            digits: true,
        };
        for (byte, class) in (0..=u8::MAX).zip(made.class.iter_mut()) {
            *class = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => 1,
                b'0'..=b'9' => 2,
                _ => 0,
            };
        }
        made.allow.resize(3, [0; LONGEST]);
        heads.take(64).for_each(|(owner, head)| made.add(owner, head));
        made
    }

    fn add(&mut self, owner: usize, head: &str) {
        let bit = 1_u64 << self.owners.len();
        self.owners.push(owner);
        self.digits &= head.contains('9');
        let bytes = head.bytes().take(LONGEST);
        if let Some(end) = bytes.len().checked_sub(1).and_then(|at| self.ends.get_mut(at)) {
            *end |= bit;
        }
        for (at, wanted) in bytes.enumerate() {
            let class = match wanted {
                b'A' => 1,
                b'9' => 2,
                sign => self.class_of_sign(sign),
            };
            let allow = self.allow.get_mut(class).and_then(|allow| allow.get_mut(at));
            allow.into_iter().for_each(|allow| *allow |= bit);
        }
    }

    fn class_of_sign(&mut self, sign: u8) -> usize {
        let known = self.class_of(sign);
        if known > 0 {
            return known;
        }
        self.allow.push([0; LONGEST]);
        let new = self.allow.len() - 1;
        if let Some(class) = self.class.get_mut(usize::from(sign)) {
            *class = u8::try_from(new).unwrap_or(0);
        }
        new
    }

    #[inline]
    fn class_of(&self, byte: u8) -> usize {
        self.class.get(usize::from(byte)).map_or(0, |class| usize::from(*class))
    }

    /// Whether there are no heads.
    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Reports the places from `from` on where a word begins with one of the heads, and the bits of
    /// these.
    #[inline]
    pub(crate) fn each(&self, bytes: &[u8], from: usize, mut report: impl FnMut(usize, u64)) {
        let mut start = from;
        while start < bytes.len() {
            let end = bytes.len().min(start + BLOCK);
            let near = bytes.get(start..bytes.len().min(end + LONGEST)).unwrap_or(&[]);
            if !self.digits || has_digit(near) {
                for at in starts(bytes.get(..end).unwrap_or(&[]), start) {
                    let found = self.of(bytes.get(at..).unwrap_or(&[]));
                    if found != 0 {
                        report(at, found);
                    }
                }
            }
            start = end;
        }
    }

    /// The heads with which `bytes` begins, a bit each.
    #[inline]
    pub(crate) fn of(&self, bytes: &[u8]) -> u64 {
        let (mut standing, mut found) = (u64::MAX, 0);
        for ((at, byte), end) in bytes.iter().enumerate().zip(self.ends) {
            let allow = self.allow.get(self.class_of(*byte)).and_then(|allow| allow.get(at));
            standing &= allow.copied().unwrap_or(0);
            if standing == 0 {
                break;
            }
            found |= standing & end;
        }
        found
    }

    /// The owners of these bits, without duplicates.
    pub(crate) fn owners(&self, mut found: u64) -> impl Iterator<Item = usize> + '_ {
        let mut before = None;
        std::iter::from_fn(move || {
            while found != 0 {
                let bit = found.trailing_zeros();
                found &= found - 1;
                let owner = self.owners.get(bit as usize).copied();
                if owner.is_some() && owner != before {
                    before = owner;
                    return owner;
                }
            }
            None
        })
    }
}

/// Whether there is a digit. The loop has no early exit, so that many bytes are processed at once.
fn has_digit(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |any, byte| any | (byte.wrapping_sub(b'0') < 10))
}

#[cfg(test)]
mod tests {
    use super::{Heads, starts};

    #[test]
    fn words_and_signs() {
        let text = "ab 12-c é4 +49 (030)".as_bytes();
        let found: Vec<usize> = starts(text, 0).collect();
        assert_eq!(found, [0, 3, 6, 10, 12, 13, 16, 17]);
        assert_eq!(starts(text, 1).next(), Some(3));
    }

    fn owners(heads: &[(usize, &str)], word: &str) -> Vec<usize> {
        let heads = Heads::new(heads.iter().copied());
        heads.owners(heads.of(word.as_bytes())).collect()
    }

    #[test]
    fn heads() {
        let heads = [(0, "AA99"), (1, "AA9"), (1, "AA 9"), (3, "+9"), (4, "999-"), (5, "A9999999")];
        assert_eq!(owners(&heads, "DE89 x"), [0, 1]);
        assert_eq!(owners(&heads, "de 8"), [1]);
        assert_eq!(owners(&heads, "+49"), [3]);
        assert_eq!(owners(&heads, "123-45"), [4]);
        assert_eq!(owners(&heads, "X1234567"), [5]);
        for none in ["", "DE", "D189", "123", "1234", "answer", "-9", "X123456"] {
            assert!(owners(&heads, none).is_empty(), "{none}");
        }
        assert!(owners(&[], "x").is_empty());
    }

    /// Wherever a word is, also across the ends of blocks.
    #[test]
    fn places() {
        let heads = Heads::new([(7, "AA 9"), (8, "999-")].into_iter());
        for before in 0..200 {
            let text = format!("{}de 8 and 123-4 x", "- ".repeat(before));
            let mut found = Vec::new();
            heads.each(text.as_bytes(), 0, |at, bits| found.push((at, bits)));
            assert_eq!(found, [(2 * before, 1), (2 * before + 9, 2)], "{before}");
        }
    }

    /// There is a bit for each.
    #[test]
    fn no_more_heads_than_bits() {
        let detectors = crate::detectors::all();
        let heads: Vec<&str> = detectors.flat_map(|it| it.heads.iter().copied()).collect();
        assert!(heads.len() <= 64);
        assert!(heads.iter().all(|head| !head.is_empty() && head.len() <= super::LONGEST));
    }
}
