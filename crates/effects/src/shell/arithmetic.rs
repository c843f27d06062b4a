//! `$((…))`: plain numbers are computed, anything else is unknown.

use crate::word::{Fill, Word};

/// The value of an expression of numbers, names and `+ - * / %`, read from left to right. An
/// expression that needs more than that is an unknown number.
pub(crate) fn value(expression: &Word, mut lookup: impl FnMut(&str) -> Option<i64>) -> Word {
    let computed = expression.text().and_then(|text| compute(text, &mut lookup));
    computed.map_or_else(unknown_number, |number| Word::known(number.to_string()))
}

/// One digit stands for all of them: a number never makes `/tmp/run.$i` a `.pem`.
pub(crate) fn unknown_number() -> Word {
    let mut word = Word::default();
    word.push_gap(Fill::Character);
    word
}

fn compute(text: &str, lookup: &mut impl FnMut(&str) -> Option<i64>) -> Option<i64> {
    let text = text.trim();
    let mut total: Option<i64> = None;
    let mut operator = b'+';
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let length =
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (token, after) = rest.split_at_checked(length)?;
        let number = match token.parse::<i64>() {
            Ok(number) if !token.starts_with('0') || token == "0" => number,
            Ok(_) => i64::from_str_radix(token, 8).ok()?,
            Err(_) if token.starts_with("0x") => i64::from_str_radix(token.get(2..)?, 16).ok()?,
            Err(_) => lookup(token)?,
        };
        total = Some(match (total, operator) {
            (None, _) => number,
            (Some(total), b'+') => total.checked_add(number)?,
            (Some(total), b'-') => total.checked_sub(number)?,
            // Without precedence, a product is only right as the first operation.
            (Some(total), b'*') => total.checked_mul(number)?,
            (Some(total), b'/') => total.checked_div(number)?,
            (Some(total), _) => total.checked_rem(number)?,
        });
        rest = after.trim_start();
        let Some(next) = rest.bytes().next() else { return total };
        let is_mixed = matches!(next, b'*' | b'/' | b'%') && matches!(operator, b'-')
            || operator == b'+' && matches!(next, b'*' | b'/' | b'%') && total != Some(number);
        if is_mixed || !matches!(next, b'+' | b'-' | b'*' | b'/' | b'%') {
            return None;
        }
        operator = next;
        rest = rest.get(1..)?;
    }
}
