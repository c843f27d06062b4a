//! Letters that look like Latin ones.
//!
//! Does not contain what normalisation (NFKC) folds anyway: full width, mathematical and circled
//! letters. This is the part of Unicode's list of confusable characters that attacks and fonts use,
//! in lower case; capitals are looked up unchanged and in lower case.

use std::sync::LazyLock;

/// The Latin letter that `c` looks like.
pub(super) fn plain_letter(c: char) -> Option<char> {
    if let Some(letter) = emoji_letter(c) {
        return Some(letter);
    }
    static SORTED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
        let pairs = |(letter, alike): &(char, &'static str)| {
            let letter = *letter;
            alike.chars().map(move |c| (c, letter))
        };
        let mut pairs: Vec<(char, char)> = TABLE.iter().flat_map(pairs).collect();
        pairs.sort();
        pairs
    });
    let at = SORTED.binary_search_by_key(&c, |(alike, _)| *alike).ok()?;
    SORTED.get(at).map(|(_, letter)| *letter)
}

/// Letters in boxes and circles without a decomposition, and those of flags.
fn emoji_letter(c: char) -> Option<char> {
    let code = u32::from(c);
    let place = [0x1F1E6, 0x1F150, 0x1F170]
        .into_iter()
        .find_map(|first: u32| code.checked_sub(first).filter(|place| *place < 26))?;
    char::from_u32(u32::from('a') + place)
}

const TABLE: [(char, &str); 26] = [
    ('a', "аАɑαΑᴀⱥꭺ"),
    ('b', "ВвʙΒƅɓᏴ"),
    ('c', "сСϲⅽᴄϹꮯ"),
    ('d', "ԁԀᴅⅾɗꓒ"),
    ('e', "еЕєЄΕᴇҽɛℯⅇ"),
    ('f', "ƒꜰϝꬵẝ"),
    ('g', "ɡɢԍƍց"),
    ('h', "һҺНнʜΗհ"),
    ('i', "іІıɪΙιӀꙇɩⅰ"),
    ('j', "јЈᴊϳ"),
    ('k', "кКκΚᴋκ"),
    ('l', "ӏʟⅼłꓡǀן"),
    ('m', "мМᴍΜⅿ"),
    ('n', "ոɴΝηпո"),
    ('o', "оОοΟօᴏσσ०ഠ"),
    ('p', "рРρΡᴘⲣ"),
    ('q', "ԛգ"),
    ('r', "ʀгᴦɾꭇ"),
    ('s', "ѕЅꜱƽ"),
    ('t', "тТτΤᴛ"),
    ('u', "υսᴜʋц"),
    ('v', "ѵνᴠⅴѴ"),
    ('w', "ԝωᴡԜшѡ"),
    ('x', "хХχΧⅹ"),
    ('y', "уУγΥүҮʏу"),
    ('z', "ᴢΖʐ"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_holds_ascii() {
        for (letter, alike) in TABLE {
            assert!(!alike.chars().any(|c| c.is_ascii()), "{letter}");
        }
        assert_eq!(plain_letter('\u{1F1EE}'), Some('i'));
        assert_eq!(plain_letter('ж'), None);
    }
}
