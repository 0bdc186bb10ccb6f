//! One line of a trace as the raw text of its members, without building a tree.
//!
//! A trace is read for a few members of each record, and most records look like thousands of others. So a line is cut into
//! its top-level members, and what is nested stays text until somebody wants it. The scanner finds every byte that cannot
//! be JSON at the top level and every unbalanced nesting; it does not look at the grammar inside nested values.

use std::borrow::Cow;

/// Why a line is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The line ends in the middle of a value.
    CutOff,
    /// Something that JSON does not allow, at this byte of the line (from 0).
    Byte(usize),
    /// The bytes are not UTF-8, from this byte of the line on.
    Encoding(usize),
    /// The line is JSON but not a trace record.
    NotARecord,
    /// Longer than [`super::reader::LONGEST`].
    TooLong,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CutOff => out.write_str("the line is cut off"),
            Self::Byte(at) => write!(out, "not JSON at column {}", at + 1),
            Self::Encoding(at) => write!(out, "not UTF-8 at column {}", at + 1),
            Self::NotARecord => out.write_str("JSON, but not a trace record"),
            Self::TooLong => out.write_str("the line is too long for a record"),
        }
    }
}

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// High bit of each byte of `word` that is zero; bytes above the first zero may be flagged wrongly.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(splat(0x01)) & !word & splat(0x80)
}

/// The end of the string whose first character is at `at`: the place of the closing quote, and whether it has escapes.
#[inline]
fn string_end(text: &[u8], mut at: usize) -> Result<(usize, bool), Damage> {
    let mut escaped = false;
    loop {
        // Eight bytes at a time up to the first quote, backslash or control character.
        while let Some(chunk) = text.get(at..at + 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) {
            let word = u64::from_le_bytes(chunk);
            let control = word.wrapping_sub(splat(0x20)) & !word & splat(0x80);
            let stop = zero_bytes(word ^ splat(b'"')) | zero_bytes(word ^ splat(b'\\')) | control;
            if stop == 0 {
                at += 8;
                continue;
            }
            // Only bytes above a true hit can be flagged wrongly, so the first flag is a true one.
            at += stop.trailing_zeros() as usize / 8;
            break;
        }
        match text.get(at) {
            None => return Err(Damage::CutOff),
            Some(b'"') => return Ok((at, escaped)),
            Some(b'\\') => {
                escaped = true;
                if at + 1 >= text.len() {
                    return Err(Damage::CutOff);
                }
                at += 2;
            }
            Some(0..=0x1f) => return Err(Damage::Byte(at)),
            Some(_) => at += 1,
        }
    }
}

#[inline]
fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

/// The end (exclusive) of the object or array that starts at `at`.
fn nested_end(text: &[u8], start: usize) -> Result<usize, Damage> {
    // One bit per level, 1 for an object.
    let mut kinds: u64 = 0;
    let mut depth = 0_u32;
    let mut at = start;
    loop {
        match text.get(at) {
            None => return Err(Damage::CutOff),
            Some(b'"') => at = string_end(text, at + 1)?.0,
            Some(open @ (b'{' | b'[')) => {
                if depth == 64 {
                    return Err(Damage::Byte(at));
                }
                kinds = (kinds << 1) | u64::from(*open == b'{');
                depth += 1;
            }
            Some(close @ (b'}' | b']')) => {
                if (kinds & 1 == 1) != (*close == b'}') {
                    return Err(Damage::Byte(at));
                }
                kinds >>= 1;
                depth -= 1;
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            Some(0..=0x1f) => return Err(Damage::Byte(at)),
            Some(_) => {}
        }
        at += 1;
    }
}

fn scalar_end(text: &[u8], start: usize) -> Result<usize, Damage> {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().position(|b| matches!(b, b',' | b'}' | b' ' | b'\t' | b'\r')).unwrap_or(rest.len());
    let (word, end) = (rest.get(..length).unwrap_or_default(), start + length);
    if end == text.len() {
        return Err(Damage::CutOff);
    }
    let is_number = || {
        let mut digits = word.strip_prefix(b"-").unwrap_or(word).iter();
        digits.next().is_some_and(u8::is_ascii_digit)
            && digits.all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
    };
    if matches!(word, b"true" | b"false" | b"null") || is_number() { Ok(end) } else { Err(Damage::Byte(start)) }
}

/// Calls `member` with the name and the raw value of each member of the object that `text` is, in order.
///
/// Names are as written, without their quotes; an escaped one is passed on escaped.
///
/// # Errors
///
/// When `text` is anything but one object. Members before the fault have been passed on by then.
#[inline]
pub fn members<'t>(text: &'t [u8], mut member: impl FnMut(&'t [u8], Raw<'t>)) -> Result<(), Damage> {
    let mut at = skip_space(text, 0);
    match text.get(at) {
        None => return Err(Damage::CutOff),
        Some(b'{') => at = skip_space(text, at + 1),
        Some(b'[' | b'"' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n')
            if serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok() =>
        {
            return Err(Damage::NotARecord);
        }
        Some(_) => return Err(Damage::Byte(at)),
    }
    if text.get(at) == Some(&b'}') {
        return end_of_object(text, at);
    }
    loop {
        match text.get(at) {
            None => return Err(Damage::CutOff),
            Some(b'"') => {}
            Some(_) => return Err(Damage::Byte(at)),
        }
        let (quote, _) = string_end(text, at + 1)?;
        let name = text.get(at + 1..quote).unwrap_or_default();
        at = skip_space(text, quote + 1);
        match text.get(at) {
            None => return Err(Damage::CutOff),
            Some(b':') => at = skip_space(text, at + 1),
            Some(_) => return Err(Damage::Byte(at)),
        }
        let end = match text.get(at) {
            None => return Err(Damage::CutOff),
            Some(b'"') => string_end(text, at + 1)?.0 + 1,
            Some(b'{' | b'[') => nested_end(text, at)?,
            Some(_) => scalar_end(text, at)?,
        };
        member(name, Raw(text.get(at..end).unwrap_or_default()));
        at = skip_space(text, end);
        match text.get(at) {
            None => return Err(Damage::CutOff),
            Some(b',') => at = skip_space(text, at + 1),
            Some(b'}') => return end_of_object(text, at),
            Some(_) => return Err(Damage::Byte(at)),
        }
    }
}

fn end_of_object(text: &[u8], brace: usize) -> Result<(), Damage> {
    let after = skip_space(text, brace + 1);
    if after == text.len() { Ok(()) } else { Err(Damage::Byte(after)) }
}

/// The text of one JSON value, as written. Empty when the member is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raw<'t>(pub &'t [u8]);

impl<'t> Raw<'t> {
    /// Whether the member was there.
    pub fn is_present(self) -> bool {
        !self.0.is_empty()
    }

    /// Whether the member is missing or `null`.
    pub fn is_null(self) -> bool {
        matches!(self.0, b"" | b"null")
    }

    /// Whether this is an array without elements.
    pub fn is_empty_array(self) -> bool {
        matches!(self.0, [b'[', inner @ .., b']'] if inner.iter().all(u8::is_ascii_whitespace))
    }

    /// The string; `None` if it is anything else, or badly escaped.
    pub fn text(self) -> Option<Cow<'t, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        if memchr::memchr(b'\\', inner).is_some() {
            serde_json::from_slice(self.0).ok().map(Cow::Owned)
        } else {
            std::str::from_utf8(inner).ok().map(Cow::Borrowed)
        }
    }

    /// The same as a text of its own.
    pub fn owned(self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// The unsigned integer; `None` if it is anything else.
    pub fn number(self) -> Option<u64> {
        if self.0.is_empty() || self.0.len() > 20 {
            return None;
        }
        self.0.iter().try_fold(0_u64, |value, digit| match digit {
            b'0'..=b'9' => value.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
            _ => None,
        })
    }

    /// The value as a tree.
    ///
    /// # Errors
    ///
    /// When it is not JSON, which the scanner does not find out about nested values.
    pub fn parse<T: serde::de::DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Result<Vec<(String, String)>, Damage> {
        let mut found = Vec::new();
        members(text.as_bytes(), |name, value| {
            found.push((String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(value.0).into_owned()));
        })?;
        Ok(found)
    }

    #[test]
    fn members_come_in_order_as_written() {
        let found = scan(r#"{"seq":0, "name" : "a\"}b","list":[{"x":"]"},[1]],"none":null ,"f":-1.5e3}"#).unwrap();
        let values: Vec<_> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["seq=0", r#"name="a\"}b""#, r#"list=[{"x":"]"},[1]]"#, "none=null", "f=-1.5e3"]);
        assert_eq!(scan("{}").unwrap(), []);
        assert_eq!(scan(" { } ").unwrap(), []);
    }

    #[test]
    fn every_cut_is_found() {
        let whole = r#"{"seq":12,"event":"pair","names":{"a":["b\\",null]},"x":true}"#;
        assert!(scan(whole).is_ok());
        for end in 0..whole.len() {
            assert_eq!(scan(&whole[..end]), Err(Damage::CutOff), "cut at {end}: {}", &whole[..end]);
        }
    }

    #[test]
    fn faults_are_placed() {
        assert_eq!(scan(r#"{"a":tru,"b":1}"#), Err(Damage::Byte(5)));
        assert_eq!(scan(r#"{"a":1 "b":1}"#), Err(Damage::Byte(7)));
        assert_eq!(scan(r#"{"a":1}x"#), Err(Damage::Byte(7)));
        assert_eq!(scan(r#"{"a":[1}]}"#), Err(Damage::Byte(7)));
        assert_eq!(scan("{\"a\":\"\u{0}\"}"), Err(Damage::Byte(6)));
        assert_eq!(scan("{\"abcdefghijklm\u{1}\":0}"), Err(Damage::Byte(15)));
        assert_eq!(scan(r#"[1,2]"#), Err(Damage::NotARecord));
        assert_eq!(scan(r#""text""#), Err(Damage::NotARecord));
        assert_eq!(scan("garbage"), Err(Damage::Byte(0)));
        let deep = format!("{{\"a\":{}", "[".repeat(100));
        assert!(matches!(scan(&deep), Err(Damage::Byte(_))));
    }

    #[test]
    fn the_string_search_agrees_with_a_plain_one() {
        // Every length and place, so that each path of the word loop is taken.
        for length in 0..40 {
            for place in 0..=length {
                for (stop, expected) in [('"', true), ('é', false), ('\u{7f}', false), ('!', false)] {
                    let mut body: String = "x".repeat(length);
                    body.insert(place.min(body.len()), stop);
                    let text = format!("{body}\"");
                    let (end, escaped) = string_end(text.as_bytes(), 0).unwrap();
                    assert_eq!(end, if expected { place } else { text.len() - 1 }, "{text}");
                    assert!(!escaped);
                }
            }
        }
    }

    #[test]
    fn raw_values_are_read() {
        assert_eq!(Raw(br#""a\u0041""#).text().as_deref(), Some("aA"));
        assert_eq!(Raw(br#""plain""#).text().as_deref(), Some("plain"));
        assert_eq!(Raw(b"null").text(), None);
        assert_eq!(Raw(b"18446744073709551615").number(), Some(u64::MAX));
        assert_eq!(Raw(b"18446744073709551616").number(), None);
        assert_eq!(Raw(b"-1").number(), None);
        assert!(Raw(b"[ ]").is_empty_array() && !Raw(b"[1]").is_empty_array());
    }
}
