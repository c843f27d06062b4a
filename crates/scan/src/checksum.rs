//! Check digits, as defined by the bodies that issue the numbers.

/// The digits of a text that may have other characters between them.
pub(crate) fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|letter| letter.to_digit(10)).collect()
}

/// ISO/IEC 7812-1: every second digit from the right, except for the last, counts double.
pub(crate) fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = (0..)
        .zip(digits.iter().rev())
        .map(|(place, digit)| match place % 2 {
            0 => *digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    !digits.is_empty() && sum.is_multiple_of(10)
}

/// The number in the text modulo `by`; a letter counts as 10 to 35, as in an IBAN.
pub(crate) fn modulo(text: &str, by: u32) -> Option<u32> {
    text.chars().try_fold(0, |rest, letter| {
        let value = letter.to_digit(36)?;
        Some((rest * if value < 10 { 10 } else { 100 } + value) % by)
    })
}

/// The sum of each digit times its weight.
pub(crate) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// ISO/IEC 7064, MOD 11,10: a product runs through all digits, the last one completes it.
pub(crate) fn mod_11_10(digits: &[u32]) -> bool {
    let Some((check, rest)) = digits.split_last() else { return false };
    let product = rest.iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == *check
}

/// Verhoeff's scheme: the digits act on each other as rotations and reflections of a pentagon.
pub(crate) fn verhoeff(digits: &[u32]) -> bool {
    let turn = |digit: u32, places: usize| {
        (0..places % 8).fold(digit, |digit, _| {
            [1, 5, 7, 6, 2, 8, 3, 0, 9, 4].get(digit as usize).copied().unwrap_or(0)
        })
    };
    let joined = digits.iter().rev().enumerate().fold(0, |sum, (place, digit)| {
        let digit = turn(*digit, place);
        match (sum < 5, digit < 5) {
            (true, true) => (sum + digit) % 5,
            (true, false) => (sum + digit) % 5 + 5,
            (false, true) => (sum + 5 - digit) % 5 + 5,
            (false, false) => (sum + 5 - digit) % 5,
        }
    });
    !digits.is_empty() && joined == 0
}

#[cfg(test)]
mod tests {
    use super::{digits, luhn, mod_11_10, modulo, verhoeff};

    #[test]
    fn published_examples() {
        assert!(luhn(&digits("4111 1111 1111 1111")));
        assert!(!luhn(&digits("4111 1111 1111 1112")));
        assert_eq!(modulo("370400440532013000DE89", 97), Some(1));
        // From the German tax office's description of the tax number.
        assert!(mod_11_10(&digits("86095742719")));
        assert!(!mod_11_10(&digits("86095742718")));
        assert!(verhoeff(&digits("2363")));
        assert!(!verhoeff(&digits("2364")));
        assert!(!luhn(&[]) && !verhoeff(&[]) && !mod_11_10(&[]));
    }

    /// The purpose of the schemes: every single wrong digit is detected.
    #[test]
    fn a_wrong_digit_is_noticed() {
        for (number, holds) in [
            ("4111111111111111", luhn as fn(&[u32]) -> bool),
            ("86095742719", mod_11_10),
            ("2363", verhoeff),
        ] {
            let right = digits(number);
            for place in 0..right.len() {
                for other in (0..10).filter(|digit| *digit != right[place]) {
                    let mut wrong = right.clone();
                    wrong[place] = other;
                    assert!(!holds(&wrong), "{wrong:?}");
                }
            }
        }
    }
}
