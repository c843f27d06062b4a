//! Contact and payment data, for any country.

use std::ops::Range;

use crate::checksum::{digits, luhn, modulo};
#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{Detector, DetectorMatch, Edge, PERSONAL};

pub(super) static DETECTORS: &[Detector] = &[
    Detector {
        name: "email",
        what: "an e-mail address",
        keywords: &["@"],
        form: Some("[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9.-]*"),
        pattern: r"@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9][A-Za-z0-9-]{0,62}){1,4}",
        edge: Edge::Free,
        check: email,
        #[cfg(test)]
        hits: &[
            Sample { before: "Write to ", secret: &["ann.lee+x@", "acme.org"], after: ". Bye" },
            Sample { before: "<", secret: &["o'hara_9@", "mail.acme.co.uk"], after: ">" },
            Sample { before: r"a\n", secret: &["ann@", "acme.org"], after: r"\n" },
            Sample { before: "mailto:", secret: &["ann@", "acme.org"], after: "-" },
        ],
        #[cfg(test)]
        misses: &[
            &["git", "@github.com:acme/x.git"],
            &["logo@2x.png and lodash@4.17.21"],
            &["import x from '@scope/package.js'"],
            &["https://acme.org/@ann"],
            &["@decorator.method"],
            &["ann@localhost"],
        ],
        ..PERSONAL
    },
    // International form, or the North American one with its parts separated.
    Detector {
        name: "phone",
        what: "a telephone number with its country code, or in North American form",
        heads: &["+9", "(9", "999"],
        pattern: concat!(
            r"\+[1-9](?:[ .()/-]{0,2}[0-9]){7,14}",
            r"|(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[.-][0-9]{4}",
        ),
        edge: Edge::Free,
        check: phone,
        #[cfg(test)]
        hits: &[
            Sample { before: "Tel. ", secret: &["+49 (0)30 90", "18 20"], after: "." },
            Sample { before: "call ", secret: &["+1 212 555", " 0123"], after: " 4111" },
            Sample { before: "call ", secret: &["(212) 555", "-0123"], after: "" },
            Sample { before: "call ", secret: &["212.555", ".0123"], after: "," },
            Sample { before: "tel:", secret: &["+44207", "9460958"], after: "" },
        ],
        #[cfg(test)]
        misses: &[
            &["+1731628800 seconds"],
            &["x+4930901820"],
            &["v2.345.6789 and 1212-555-0123"],
            &["+12 points, +1,000,000"],
            &["212-155-0123"],
            &["+999 123 456 789"],
        ],
        ..PERSONAL
    },
    Detector {
        name: "card",
        what: "the number of a payment card",
        heads: &["9999"],
        pattern: concat!(
            "[2-6][0-9]{13,18}|[2-6][0-9]{3}(?:[ -][0-9]{4}){3}",
            "|3[0-9]{3}[ -][0-9]{6}[ -][0-9]{4,5}",
        ),
        edge: Edge::Run,
        check: card,
        #[cfg(test)]
        hits: &[
            Sample { before: "card ", secret: &["4111 1111", " 1111 1111"], after: " 123" },
            Sample { before: "\"", secret: &["5555555", "555554444"], after: "\"" },
            Sample { before: "", secret: &["3782-822463", "-10005"], after: "" },
            Sample { before: "n=", secret: &["6011-0009-", "9013-9424"], after: "" },
        ],
        #[cfg(test)]
        misses: &[
            &["4111 1111 ", "1111 1112"],
            &["1731628800000000"],
            &["0.4111111111111111"],
            &["9111111111111111"],
            &["a4111111111111111 4111111111111111f"],
            &["4444444444444444"],
        ],
        ..PERSONAL
    },
    Detector {
        name: "iban",
        what: "an international bank account number",
        heads: &["AA99"],
        pattern: "[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?",
        edge: Edge::Free,
        check: iban,
        #[cfg(test)]
        hits: &[
            Sample {
                before: "IBAN ",
                secret: &["DE89 3704 0044", " 0532 0130 00"],
                after: " BIC COBADEFF",
            },
            Sample { before: "", secret: &["GB82WEST", "12345698765432"], after: ", x" },
            Sample { before: "(", secret: &["NO93 8601", " 1117 947"], after: ")" },
        ],
        #[cfg(test)]
        misses: &[
            &["DE88 3704 0044 ", "0532 0130 00"],
            &["DE89 3704 0044 ", "0532 0130 001"],
            &["XX89370400440532013000"],
            &["AB12 CDEF 3456 GHIJ"],
        ],
        ..PERSONAL
    },
];

/// File extensions that may follow an `@` (`logo@2x.png`) and are not domains.
const FILES: [&str; 16] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "json", "html", "lock",
    "toml", "yaml", "txt",
];

fn email(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let local = before_the_at(candidate)?;
    let mut domain = candidate.secret().get(1..)?.trim_end_matches('-');
    // A sentence may continue without a space, or with a number.
    while !domain.rsplit('.').next().is_some_and(is_top_level) {
        domain = domain.rsplit_once('.')?.0.trim_end_matches('-');
    }
    let dotted = domain.contains('.');
    dotted.then_some(local..candidate.whole.start + 1 + domain.len())
}

fn is_top_level(label: &str) -> bool {
    label.len() >= 2
        && label.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !FILES.contains(&label.to_ascii_lowercase().as_str())
}

/// Where the part before the `@` begins, if it is valid.
fn before_the_at(candidate: &DetectorMatch<'_>) -> Option<usize> {
    const MAX: usize = 64;
    let before = candidate.text.as_bytes().get(..candidate.whole.start)?;
    let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._%+'-".contains(byte);
    let length = before.iter().rev().take(MAX + 1).take_while(inside).count();
    let start = candidate.whole.start - length;
    let (outside, local) = candidate.text.split_at_checked(start)?;
    let local = local.get(..length)?;
    // The letter of an escape belongs to the escape.
    let escaped = outside.ends_with('\\') && local.starts_with(['n', 'r', 't']);
    let local = if escaped { local.get(1..)? } else { local };
    let name = local.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let known = ["git", "hg", "svn"].contains(&name);
    let possible = !name.is_empty() && length <= MAX && !known && !outside.ends_with('/');
    possible.then_some(candidate.whole.start - name.len())
}

fn phone(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let before = candidate.text.as_bytes().get(..candidate.whole.start)?.last();
    let joined = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(byte);
    if before.is_some_and(joined) {
        return None;
    }
    if !candidate.secret().starts_with('+') {
        let more = candidate.next_byte().is_some_and(|byte| joined(&byte) && byte != b'.');
        return candidate.when(!more);
    }
    let number = whole_groups(candidate);
    let digits = digits(number);
    let length = match digits.as_slice() {
        // North America: ten more digits, and neither part begins with 0 or 1.
        [1, 2..=9, _, _, 2..=9, rest @ ..] if rest.len() >= 6 => end_of_digit(number, 11)?,
        [1, ..] => return None,
        all if all.len() >= 9 && is_country(all) => number.len(),
        _ => return None,
    };
    Some(candidate.secret.start..candidate.secret.start + length)
}

/// The match without an incomplete last group of digits.
fn whole_groups<'t>(candidate: &DetectorMatch<'t>) -> &'t str {
    let number = candidate.secret();
    match candidate.next_byte().is_some_and(|byte| byte.is_ascii_digit()) {
        false => number,
        true => number
            .trim_end_matches(|letter: char| letter.is_ascii_digit())
            .trim_end_matches(|letter: char| !letter.is_ascii_digit()),
    }
}

/// Where the digit with that number ends.
fn end_of_digit(text: &str, count: usize) -> Option<usize> {
    text.bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
        .nth(count - 1)
        .map(|(at, _)| at + 1)
}

/// Whether a country or an international service has this code (ITU-T E.164).
fn is_country(digits: &[u32]) -> bool {
    let [a, b, c, ..] = *digits else { return false };
    match (a, b, c) {
        (7, ..) => true,
        (2, 0 | 7, _) | (3, 0..=4 | 6 | 9, _) | (4, 0 | 1 | 3..=9, _) => true,
        (5, 1..=8, _) | (6, 0..=6, _) | (8, 1 | 2 | 4 | 6, _) | (9, 0..=5 | 8, _) => true,
        (2, 1, c) => [1, 2, 3, 6, 8].contains(&c),
        (2, 2 | 3 | 4 | 6, _) | (3, 5 | 7, _) | (4, 2, _) => true,
        (2, 5, c) => c != 9,
        (2, 9, c) => [0, 1, 7, 8, 9].contains(&c),
        (3, 8, c) => c != 4 && c != 8,
        (5, 0 | 9, _) | (6, 7 | 9, _) => true,
        (8, 0, c) => c == 0 || c == 8,
        (8, 5, c) => [0, 2, 3, 5, 6].contains(&c),
        (8, 7 | 8, c) => c != 4,
        (9, 6, c) => c != 9,
        (9, 7, c) => c != 8,
        (9, 9, c) => c != 9 && c != 7,
        _ => false,
    }
}

fn card(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let digits = digits(candidate.secret());
    let before = candidate.text.get(..candidate.whole.start)?;
    let fraction = before
        .strip_suffix(['.', ','])
        .is_some_and(|it| it.ends_with(|c: char| c.is_ascii_digit()));
    let varied = digits.iter().any(|digit| Some(digit) != digits.first());
    candidate.when(!fraction && varied && is_issued(&digits) && luhn(&digits))
}

/// Whether a network issues numbers with this prefix and length.
fn is_issued(digits: &[u32]) -> bool {
    let first =
        |count: usize| digits.iter().take(count).fold(0, |number, digit| number * 10 + digit);
    match digits.len() {
        14 => matches!(first(3), 300..=305) || matches!(first(2), 36 | 38 | 39),
        15 => matches!(first(2), 34 | 37),
        16 => {
            first(1) == 4
                || matches!(first(2), 51..=55 | 62 | 65)
                || matches!(first(3), 644..=649)
                || matches!(first(4), 2221..=2720 | 3528..=3589 | 6011)
        }
        17..=19 => first(1) == 4 && digits.len() == 19 || first(2) == 62,
        _ => false,
    }
}

/// The length of the numbers of each country (ISO 13616).
const LENGTHS: [(&str, usize); 78] = [
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NL", 18),
    ("NO", 15),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("SA", 24),
    ("SC", 31),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
];

fn iban(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let before = candidate.text.as_bytes().get(..candidate.whole.start)?.last();
    if before.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let found = candidate.secret();
    let (_, length) = LENGTHS.iter().find(|(country, _)| found.starts_with(country))?;
    let signs = found.bytes().enumerate().filter(|(_, byte)| *byte != b' ');
    let (last, _) = signs.clone().nth(length - 1)?;
    let end = candidate.secret.start + last + 1;
    let longer = candidate.text.as_bytes().get(end).is_some_and(u8::is_ascii_alphanumeric);
    let plain: String = signs.take(*length).map(|(_, byte)| char::from(byte)).collect();
    let (head, body) = plain.split_at_checked(4)?;
    let holds = modulo(&format!("{body}{head}"), 97) == Some(1);
    (holds && !longer).then_some(candidate.secret.start..end)
}
