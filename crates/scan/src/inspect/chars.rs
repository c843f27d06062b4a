//! Relevant kinds of characters.

/// Tag characters: an invisible copy of ASCII.
pub(super) fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

/// Embeddings, overrides, isolates, and the Arabic letter mark.
pub(super) fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{061C}')
}

pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// Characters of zero width, except for the two joiners: they have no use inside a word of any
/// script.
pub(super) fn is_zero_width(c: char) -> bool {
    matches!(c,
        '\u{200B}' | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}' | '\u{180E}')
}

/// Left-to-right and right-to-left marks, and the soft hyphen: honest text contains them.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{200E}' | '\u{200F}' | '\u{00AD}' | '\u{034F}')
}

pub(super) fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// The byte that a variation selector encodes, if a run of them carries data.
pub(super) fn selector_byte(c: char) -> Option<u8> {
    let byte = match u32::from(c) {
        code @ 0xFE00..=0xFE0F => code - 0xFE00,
        code @ 0xE0100..=0xE01EF => code - 0xE0100 + 16,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

/// Letters and symbols that are drawn as nothing.
pub(super) fn is_filler(c: char) -> bool {
    matches!(c, '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' | '\u{2800}')
}

pub(super) fn is_annotation(c: char) -> bool {
    matches!(c, '\u{FFF9}'..='\u{FFFB}')
}

pub(super) fn is_private(c: char) -> bool {
    matches!(c,
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}')
}

/// All invisible characters, which are removed before words are compared.
pub(super) fn is_invisible(c: char) -> bool {
    is_tag(c)
        || is_bidi(c)
        || is_joiner(c)
        || is_zero_width(c)
        || is_mark(c)
        || is_variation_selector(c)
        || is_filler(c)
        || is_annotation(c)
}

/// Control characters that no text needs: all except tab, line feed, carriage return, and next
/// line.
pub(super) fn is_odd_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')
}

/// Letters that are written from right to left.
pub(super) fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// The length of the flag at the start of `rest`: a black flag, the letters of a region, a cancel
/// tag. Only those three are drawn; tags have no other honest use.
pub(super) fn flag_len(rest: &str) -> Option<usize> {
    let tags = rest.strip_prefix('\u{1F3F4}')?;
    let run: usize = tags.chars().take(6).map(char::len_utf8).sum();
    let spelled: String = tags.get(..run)?.chars().filter_map(tag_letter).collect();
    matches!(spelled.as_str(), "gbeng\u{7f}" | "gbsct\u{7f}" | "gbwls\u{7f}")
        .then(|| '\u{1F3F4}'.len_utf8() + run)
}

/// The ASCII character of a tag character.
pub(super) fn tag_letter(c: char) -> Option<char> {
    u32::from(c).checked_sub(0xE0000).filter(|code| *code < 0x80).and_then(char::from_u32)
}
