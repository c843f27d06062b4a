//! A small writer of JSON objects.

use callgate_json::escape_into;

/// Writes an object: `object! { "type": "text", "index": 1, "inner": { "text": text } }`.
/// A value is text, a number, [`Raw`], [`EscapedText`], a nested object or a list.
macro_rules! object {
    (@members $out:ident;) => {};
    (@members $out:ident; $key:literal: { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $crate::object::key(&mut $out, $key);
        $out.push('{');
        object!(@members $out; $($inner)*);
        $out.push('}');
        object!(@members $out; $($($rest)*)?);
    };
    (@members $out:ident; $key:literal: [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $crate::object::key(&mut $out, $key);
        $out.push('[');
        object!(@items $out; $($inner)*);
        $out.push(']');
        object!(@members $out; $($($rest)*)?);
    };
    (@members $out:ident; $key:literal: $value:expr $(, $($rest:tt)*)?) => {
        $crate::object::key(&mut $out, $key);
        $crate::object::WriteJson::write(&$value, &mut $out);
        object!(@members $out; $($($rest)*)?);
    };
    (@items $out:ident;) => {};
    (@items $out:ident; { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $crate::object::separate(&mut $out);
        $out.push('{');
        object!(@members $out; $($inner)*);
        $out.push('}');
        object!(@items $out; $($($rest)*)?);
    };
    (@items $out:ident; $value:expr $(, $($rest:tt)*)?) => {
        $crate::object::separate(&mut $out);
        $crate::object::WriteJson::write(&$value, &mut $out);
        object!(@items $out; $($($rest)*)?);
    };
    ($($members:tt)*) => {{
        let mut out = String::from("{");
        object!(@members out; $($members)*);
        out.push('}');
        out
    }};
}

pub(crate) use object;

/// JSON that is already written.
pub(crate) struct Raw<'a>(pub(crate) &'a str);

/// Text as it is between its quotes.
pub(crate) struct EscapedText<'a>(pub(crate) &'a str);

/// What a member can be.
pub(crate) trait WriteJson {
    fn write(&self, out: &mut String);
}

impl WriteJson for Raw<'_> {
    fn write(&self, out: &mut String) {
        out.push_str(self.0);
    }
}

impl WriteJson for EscapedText<'_> {
    fn write(&self, out: &mut String) {
        out.push('"');
        out.push_str(self.0);
        out.push('"');
    }
}

impl<T: WriteJson + ?Sized> WriteJson for &T {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
}

impl WriteJson for str {
    fn write(&self, out: &mut String) {
        out.push('"');
        escape_into(self, out);
        out.push('"');
    }
}

impl WriteJson for String {
    fn write(&self, out: &mut String) {
        self.as_str().write(out);
    }
}

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl WriteJson for $type {
            fn write(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }
        }
    )+};
}

plain!(bool, i32, u16, u32, u64);

/// Writes a key, after a comma if it is not the first.
pub(crate) fn key(out: &mut String, key: &str) {
    separate(out);
    key.write(out);
    out.push(':');
}

/// A value never ends with an opening bracket.
pub(crate) fn separate(out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_without_spaces() {
        let (text, raw) = ("a\"b{", Raw("[1,{}]"));
        let written = object! {
            "type": text, "n": 3, "in": { "is": true, "empty": {} }, "list": [{ "x": raw }, "y"],
            "after": "{",
        };
        let expected = r#"{"type":"a\"b{","n":3,"in":{"is":true,"empty":{}},"list":[{"x":[1,{}]},"y"],"after":"{"}"#;
        assert_eq!(written, expected);
        assert_eq!(object! {}, "{}");
    }
}
