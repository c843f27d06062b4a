//! Edits JSON by splicing: everything else stays byte for byte.

use super::{Reader, Span, Text};

/// The splices for one text. Everything else stays byte for byte.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<(Span, String)>,
}

impl Edits {
    /// Whether there are no splices.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Replaces a span.
    pub fn replace(&mut self, at: Span, text: impl Into<String>) {
        self.list.push((at, text.into()));
    }

    /// Inserts a text at a position.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(Span { start: at, end: at }, text);
    }

    /// Adds the splices of another.
    pub fn append(&mut self, mut others: Self) {
        self.list.append(&mut others.list);
    }

    /// Removes some of the `items` (all members or elements, in order) together with their commas:
    /// those for whose position `gone` returns true.
    pub fn remove(&mut self, items: &[Span], gone: impl Fn(usize) -> bool) {
        let mut first = 0;
        while first < items.len() {
            if !gone(first) {
                first += 1;
                continue;
            }
            let mut last = first;
            while last + 1 < items.len() && gone(last + 1) {
                last += 1;
            }
            let (Some(from), Some(to)) = (items.get(first), items.get(last)) else { return };
            let before = first.checked_sub(1).and_then(|i| items.get(i));
            let cut = match (items.get(last + 1), before) {
                (Some(next), _) => Span { start: from.start, end: next.start },
                (None, Some(before)) => Span { start: before.end, end: to.end },
                (None, None) => from.to(*to),
            };
            self.replace(cut, "");
            first = last + 1;
        }
    }

    /// The text with all splices made.
    pub fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|(span, _)| (span.start, span.end));
        let grown: usize = self.list.iter().map(|(_, new)| new.len()).sum();
        let mut out = String::with_capacity(text.len() + grown);
        let mut at = 0;
        for (span, new) in &self.list {
            // A splice inside a span that was replaced is dropped.
            if span.start < at && span.end > span.start {
                continue;
            }
            out.push_str(text.get(at..span.start).unwrap_or(""));
            out.push_str(new);
            at = at.max(span.end);
        }
        out.push_str(text.get(at..).unwrap_or(""));
        out
    }
}

/// One member of an object, for edits: from its key to the end of its value.
#[derive(Debug)]
pub struct Member<'a> {
    /// Its key.
    pub key: Text<'a>,
    /// Key and value.
    pub span: Span,
    /// Its value.
    pub value: Span,
}

/// All members of the object at `object`.
pub fn members(data: &str, object: Span) -> Vec<Member<'_>> {
    let mut reader = Reader::at(data, object);
    let mut list = Vec::new();
    let Ok(mut object) = reader.object() else { return list };
    while let Ok(Some(key)) = object.next(&mut reader) {
        let Ok(value) = reader.skip() else { break };
        list.push(Member { key, span: key.span().to(value), value });
    }
    list
}

/// The value of `key` in the object at `object`.
pub fn member(data: &str, object: Span, key: &str) -> Option<Span> {
    let mut reader = Reader::at(data, object);
    let mut object = reader.object().ok()?;
    while let Ok(Some(found)) = object.next(&mut reader) {
        let value = reader.skip().ok()?;
        if found.is(key) {
            return Some(value);
        }
    }
    None
}

/// The spans of all elements of the array at `array`.
pub fn elements(data: &str, array: Span) -> Vec<Span> {
    let mut reader = Reader::at(data, array);
    let mut list = Vec::new();
    let Ok(mut array) = reader.array() else { return list };
    while let Ok(true) = array.next(&mut reader) {
        let Ok(value) = reader.skip() else { break };
        list.push(value);
    }
    list
}

/// The whole document, without the white space around it.
pub fn document(data: &str) -> Span {
    let start = data.len() - data.trim_start().len();
    Span { start, end: data.trim_end().len().max(start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, gone: &[usize]) -> String {
        let mut edits = Edits::default();
        edits.remove(&elements(text, document(text)), |i| gone.contains(&i));
        edits.apply(text)
    }

    #[test]
    fn removal_takes_the_right_commas() {
        let text = "[1, 2 ,3 , 4]";
        assert_eq!(without(text, &[0]), "[2 ,3 , 4]");
        assert_eq!(without(text, &[3]), "[1, 2 ,3]");
        assert_eq!(without(text, &[1, 2]), "[1, 4]");
        assert_eq!(without(text, &[0, 1, 2, 3]), "[]");
        assert_eq!(without(text, &[0, 2]), "[2 ,4]");
        for mask in 0..16_u32 {
            let gone: Vec<usize> = (0..4).filter(|i| mask & (1 << i) != 0).collect();
            let left = without(text, &gone);
            let left: Vec<u32> = elements(&left, document(&left))
                .into_iter()
                .map(|span| span.of(&left).parse().unwrap())
                .collect();
            let want: Vec<u32> = (1..=4).filter(|n| !gone.contains(&(*n as usize - 1))).collect();
            assert_eq!(left, want);
        }
    }
}
