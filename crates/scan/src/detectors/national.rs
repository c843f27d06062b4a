//! Numbers that identify a person to a state. Each has its own form and, if the scheme has one, a
//! check digit; a number that could be anything else only counts after its name.

use std::ops::Range;

use crate::checksum::{digits, luhn, mod_11_10, modulo, verhoeff, weighted};
#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{Detector, DetectorMatch, Edge, PERSONAL};

pub(super) static DETECTORS: &[Detector] = &[
    Detector {
        name: "us_ssn",
        what: "a US social security number",
        heads: &["999-"],
        pattern: "[0-9]{3}-[0-9]{2}-[0-9]{4}",
        edge: Edge::Run,
        check: us_ssn,
        #[cfg(test)]
        hits: &[Sample { before: "SSN: ", secret: &["536-22", "-8726"], after: "," }],
        #[cfg(test)]
        misses: &[&["000-22-8726 666-22-8726 900-22-8726"], &["1536-22-8726"], &["536-22-8726-1"]],
        ..PERSONAL
    },
    Detector {
        name: "ca_sin",
        what: "a Canadian social insurance number",
        heads: &["999-", "999 "],
        pattern: "[1-79][0-9]{2}(?:-[0-9]{3}-[0-9]{3}| [0-9]{3} [0-9]{3})",
        edge: Edge::Run,
        check: luhn_number,
        #[cfg(test)]
        hits: &[Sample { before: "SIN ", secret: &["130-692", "-544"], after: "" }],
        #[cfg(test)]
        misses: &[&["130-692-545"], &["046 454 286"]],
        ..PERSONAL
    },
    Detector {
        name: "uk_nino",
        what: "a British national insurance number",
        heads: &["AA9", "AA 9"],
        pattern: "[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{2}){3} ?[A-D]",
        edge: Edge::Word,
        check: uk_nino,
        #[cfg(test)]
        hits: &[
            Sample { before: "NI ", secret: &["AB 12 34", " 56 C"], after: "." },
            Sample { before: "", secret: &["CE123", "456A"], after: "" },
        ],
        #[cfg(test)]
        misses: &[&["GB123456A"], &["AB123456E"], &["XAB123456C"]],
        ..PERSONAL
    },
    Detector {
        name: "de_steuer_id",
        what: "a German tax identification number",
        heads: &["999", "99 9"],
        pattern: "[1-9][0-9]{10}|[1-9][0-9](?: [0-9]{3}){3}",
        edge: Edge::Run,
        check: de_steuer_id,
        #[cfg(test)]
        hits: &[
            Sample { before: "IdNr. ", secret: &["86 095 ", "742 719"], after: "" },
            Sample { before: "", secret: &["86095", "742719"], after: "\n" },
        ],
        #[cfg(test)]
        misses: &[&["86095742718"], &["17316288000"]],
        ..PERSONAL
    },
    Detector {
        name: "fr_nir",
        what: "a French social security number",
        heads: &["9"],
        pattern: concat!(
            "[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[AB])",
            " ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        ),
        edge: Edge::Run,
        check: fr_nir,
        #[cfg(test)]
        hits: &[Sample { before: "NIR ", secret: &["2 55 08 14", " 168 025 38"], after: "" }],
        #[cfg(test)]
        misses: &[&["2 55 08 14 168 025 39"], &["255081416802538111"]],
        ..PERSONAL
    },
    Detector {
        name: "es_dni",
        what: "a Spanish DNI or NIE number",
        heads: &["99999999", "A9999999"],
        pattern: "(?:[0-9]{8}|[XYZ][0-9]{7})-?[A-Z]",
        edge: Edge::Word,
        check: es_dni,
        #[cfg(test)]
        hits: &[
            Sample { before: "DNI ", secret: &["12345", "678Z"], after: "" },
            Sample { before: "NIE ", secret: &["X1234", "567-L"], after: "" },
        ],
        #[cfg(test)]
        misses: &[&["12345678A"], &["112345678Z"]],
        ..PERSONAL
    },
    Detector {
        name: "it_codice_fiscale",
        what: "an Italian tax code",
        heads: &["AAAAAA99"],
        pattern: "[A-Z]{6}[0-9]{2}[ABCDEHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",
        edge: Edge::Word,
        check: it_codice_fiscale,
        #[cfg(test)]
        hits: &[Sample { before: "CF ", secret: &["RSSMRA85", "T10A562S"], after: "" }],
        #[cfg(test)]
        misses: &[&["RSSMRA85T10A562T"]],
        ..PERSONAL
    },
    // Any number of nine digits could be one: only after its name.
    Detector {
        name: "nl_bsn",
        what: "a Dutch citizen service number after its name",
        keywords: &["bsn", "burgerservicenummer", "sofinummer"],
        lead: r#"(?i)(?:bsn|burgerservicenummer|sofinummer)(?:-?(?:nummer|nr\.?))?["']?[ :=#]{1,3}["']?"#,
        pattern: r"[0-9]{9}|[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}|[0-9]{3}[. ][0-9]{3}[. ][0-9]{3}",
        edge: Edge::Word,
        check: nl_bsn,
        #[cfg(test)]
        hits: &[Sample { before: "BSN: ", secret: &["1112", "22333"], after: "" }],
        #[cfg(test)]
        misses: &[&["BSN: 111222334"], &["nummer 111222333"]],
        ..PERSONAL
    },
    Detector {
        name: "se_personnummer",
        what: "a Swedish personal identity number",
        heads: &["99999999", "999999-", "999999+"],
        pattern: "(?:19|20)?[0-9]{2}(?:0[1-9]|1[0-2])(?:[0-2][0-9]|3[01]|[6-8][0-9]|9[01])[-+][0-9]{4}",
        edge: Edge::Run,
        check: se_personnummer,
        #[cfg(test)]
        hits: &[
            Sample { before: "pnr ", secret: &["811228", "-9874"], after: "" },
            Sample { before: "", secret: &["19811228", "-9874"], after: "" },
        ],
        #[cfg(test)]
        misses: &[&["811228-9873"], &["811328-9874"]],
        ..PERSONAL
    },
    Detector {
        name: "pl_pesel",
        what: "a Polish PESEL number",
        heads: &["99999999"],
        pattern: "[0-9]{2}(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{5}",
        edge: Edge::Run,
        check: pl_pesel,
        #[cfg(test)]
        hits: &[Sample { before: "PESEL ", secret: &["4405140", "1359"], after: "" }],
        #[cfg(test)]
        misses: &[&["44051401358"], &["44951401359"]],
        ..PERSONAL
    },
    Detector {
        name: "ch_ahv",
        what: "a Swiss social security number",
        heads: &["999"],
        pattern: r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}",
        edge: Edge::Run,
        check: ch_ahv,
        #[cfg(test)]
        hits: &[Sample { before: "AHV ", secret: &["756.9217", ".0769.85"], after: "" }],
        #[cfg(test)]
        misses: &[&["756.9217.0769.84"]],
        ..PERSONAL
    },
    Detector {
        name: "in_aadhaar",
        what: "an Indian Aadhaar number",
        heads: &["9999 9", "9999-9"],
        pattern: "[2-9][0-9]{3}(?: [0-9]{4} [0-9]{4}|-[0-9]{4}-[0-9]{4})",
        edge: Edge::Run,
        check: in_aadhaar,
        #[cfg(test)]
        hits: &[Sample { before: "UID ", secret: &["2341 234", "1 2346"], after: "" }],
        #[cfg(test)]
        misses: &[&["2341 2341 2347"], &["1341 2341 2346"]],
        ..PERSONAL
    },
    Detector {
        name: "br_cpf",
        what: "a Brazilian CPF number",
        heads: &["999"],
        pattern: r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}|[0-9]{11}",
        edge: Edge::Run,
        check: br_cpf,
        #[cfg(test)]
        hits: &[Sample { before: "CPF ", secret: &["529.982", ".247-25"], after: "" }],
        #[cfg(test)]
        misses: &[&["529.982.247-26"], &["111.111.111-11"]],
        ..PERSONAL
    },
    Detector {
        name: "cn_resident_id",
        what: "a Chinese resident identity number",
        heads: &["99999999"],
        pattern: "[1-8][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx]",
        edge: Edge::Run,
        check: cn_resident_id,
        #[cfg(test)]
        hits: &[Sample { before: "", secret: &["1101051949", "1231002X"], after: "" }],
        #[cfg(test)]
        misses: &[&["110105194912310021"]],
        ..PERSONAL
    },
];

fn us_ssn(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let mut parts = candidate.secret().split('-');
    let (area, group, serial) = (parts.next()?, parts.next()?, parts.next()?);
    let given = area != "000" && area != "666" && !area.starts_with('9');
    candidate.when(given && group != "00" && serial != "0000")
}

fn luhn_number(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    candidate.when(luhn(&digits(candidate.secret())))
}

fn uk_nino(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    const NOT_GIVEN: [&str; 7] = ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"];
    let prefix = candidate.secret().get(..2)?;
    candidate.when(!NOT_GIVEN.contains(&prefix))
}

/// Of the first ten digits exactly one occurs two or three times, and never three times in a row.
fn de_steuer_id(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let digits = digits(candidate.secret());
    let first = digits.get(..10)?;
    let count = |digit: u32| first.iter().filter(|it| **it == digit).count();
    let often: Vec<usize> = (0..10).map(count).filter(|count| *count > 1).collect();
    let in_a_row = first.windows(3).any(|three| matches!(three, [a, b, c] if a == b && b == c));
    candidate.when(matches!(often.as_slice(), [2 | 3]) && !in_a_row && mod_11_10(&digits))
}

/// The two departments of Corsica have a letter and count as 19 and 18.
fn fr_nir(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let plain: String = candidate.secret().chars().filter(|letter| *letter != ' ').collect();
    let (number, key) = plain.split_at_checked(13)?;
    let number = number.replace("2A", "19").replace("2B", "18");
    candidate.when(97 - modulo(&number, 97)? == key.parse().ok()?)
}

fn es_dni(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    const LETTERS: &str = "TRWAGMYFPDXBNJZSQVHLCKE";
    let (number, letter) = candidate.secret().split_at_checked(candidate.secret.len() - 1)?;
    let number = number.trim_end_matches('-').replace('X', "0").replace('Y', "1");
    let number: usize = number.replace('Z', "2").parse().ok()?;
    candidate.when(LETTERS.get(number % 23..number % 23 + 1) == Some(letter))
}

/// The value of a character at an odd position; at an even one it is the character's own.
fn odd_value(value: u32) -> u32 {
    const LETTERS: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    LETTERS.get(value as usize).copied().unwrap_or(0)
}

fn it_codice_fiscale(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    // A digit counts like the letter at its place in the alphabet.
    let value = |byte: u8| match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        _ => u32::from(byte.saturating_sub(b'A')),
    };
    let (code, check) = candidate.secret().as_bytes().split_at_checked(15)?;
    let sum: u32 = (1..)
        .zip(code)
        .map(|(place, byte)| match place % 2 {
            1 => odd_value(value(*byte)),
            _ => value(*byte),
        })
        .sum();
    candidate.when(check.first().map(|byte| value(*byte)) == Some(sum % 26))
}

fn nl_bsn(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let digits = digits(candidate.secret());
    let (last, first) = digits.split_last()?;
    let sum = weighted(first, &[9, 8, 7, 6, 5, 4, 3, 2]);
    candidate.when(sum % 11 == *last && sum > 0)
}

/// The century does not count.
fn se_personnummer(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let digits = digits(candidate.secret());
    candidate.when(luhn(digits.get(digits.len().checked_sub(10)?..)?))
}

fn pl_pesel(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let sum = weighted(&digits(candidate.secret()), &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    candidate.when(sum.is_multiple_of(10))
}

fn ch_ahv(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let sum = weighted(&digits(candidate.secret()), &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]);
    candidate.when(sum.is_multiple_of(10))
}

fn in_aadhaar(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    candidate.when(verhoeff(&digits(candidate.secret())))
}

fn br_cpf(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let digits = digits(candidate.secret());
    let varied = digits.iter().any(|digit| Some(digit) != digits.first());
    let check = |count: u32| {
        let weights: Vec<u32> = (2..=count + 1).rev().collect();
        weighted(&digits, &weights) * 10 % 11 % 10
    };
    let given = [digits.get(9).copied(), digits.get(10).copied()];
    candidate.when(varied && given == [Some(check(9)), Some(check(10))])
}

fn cn_resident_id(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let (number, check) = candidate.secret().split_at_checked(17)?;
    let sum = weighted(&digits(number), &WEIGHTS) % 11;
    let expected = "10X98765432".get(sum as usize..sum as usize + 1)?;
    candidate.when(expected.eq_ignore_ascii_case(check))
}
