//! What can be seen of an expression without parsing it: where text literals and comments end, and
//! which brackets belong together.
//!
//! The parser recurses on its own stack, so how deep it will go is counted here, before it is asked.

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `(`, `[` or `{`
    Open(u8),
    /// `)`, `]` or `}`
    Close(u8),
    /// A text literal without its end.
    Unclosed,
    /// Anything else.
    Other,
}

/// The token at `at` and where the next one starts. A comment is skipped to the end of its line.
pub(super) fn token(source: &[u8], at: usize) -> (Token, usize) {
    let rest = &source[at..];
    match rest.first() {
        Some(open @ (b'(' | b'[' | b'{')) => (Token::Open(*open), at + 1),
        Some(close @ (b')' | b']' | b'}')) => (Token::Close(*close), at + 1),
        Some(b'"' | b'\'') => literal(source, at, false),
        Some(b'`') => match rest[1..].iter().position(|b| *b == b'`') {
            Some(length) => (Token::Other, at + length + 2),
            None => (Token::Other, at + 1),
        },
        Some(b'/') if rest.get(1) == Some(&b'/') => {
            let length = rest.iter().position(|b| *b == b'\n');
            (Token::Other, at + length.unwrap_or(rest.len()))
        }
        Some(byte) if is_word(*byte) => {
            let length = rest.iter().take_while(|b| is_word(**b)).count();
            let next = at + length;
            let raw = matches!(&rest[..length], b"r" | b"R" | b"br" | b"bR" | b"Br" | b"BR");
            match rest.get(length) {
                Some(b'"' | b'\'') if raw => literal(source, next, true),
                _ => (Token::Other, next),
            }
        }
        _ => (Token::Other, at + 1),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The text literal whose opening quote stands at `at`.
fn literal(source: &[u8], at: usize, raw: bool) -> (Token, usize) {
    let quote = source[at];
    let triple = source[at..].starts_with(&[quote; 3]);
    let mut next = at + if triple { 3 } else { 1 };
    while let Some(byte) = source.get(next) {
        match byte {
            b'\\' if !raw => next += 2,
            b'\n' | b'\r' if !triple => break,
            b if *b == quote && !triple => return (Token::Other, next + 1),
            b if *b == quote && source[next..].starts_with(&[quote; 3]) => {
                return (Token::Other, next + 3);
            }
            _ => next += 1,
        }
    }
    (Token::Unclosed, next.min(source.len()))
}

/// Which brackets belong together.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    /// Offsets of opening and closing ones, ordered by the first.
    pairs: Vec<(usize, usize)>,
}

/// Brackets nested too deeply: where the first one too many stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooDeep {
    pub(super) at: usize,
}

impl Brackets {
    /// Reads all of an expression.
    pub(super) fn of(source: &str, limit: usize) -> Result<Brackets, TooDeep> {
        let bytes = source.as_bytes();
        let mut pairs = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (token, next) = token(bytes, at);
            match token {
                Token::Open(_) if open.len() == limit => return Err(TooDeep { at }),
                Token::Open(_) => {
                    open.push(pairs.len());
                    pairs.push((at, source.len()));
                }
                Token::Close(_) => {
                    if let Some(index) = open.pop() {
                        pairs[index].1 = at;
                    }
                }
                Token::Unclosed | Token::Other => {}
            }
            at = next;
        }
        Ok(Brackets { pairs })
    }

    /// One past the bracket that closes the one at `open`.
    pub(super) fn end(&self, open: usize) -> usize {
        match self.pairs.binary_search_by_key(&open, |pair| pair.0) {
            Ok(index) => self.pairs[index].1 + 1,
            Err(_) => open + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_text_and_comments_do_not_count() {
        let source = r#"f("(" + '[\'(' + r"\" + """"(""" // (((
            )"#;
        let brackets = Brackets::of(source, 1).expect("one level");
        assert_eq!(brackets.end(1), source.len());
        assert_eq!(Brackets::of("[(1)]", 1).err(), Some(TooDeep { at: 1 }));
    }

    #[test]
    fn text_without_an_end_is_noticed() {
        for source in ["'a", "\"a\\\"", "'''a''", "'a\nb'", "'a\\"] {
            assert_eq!(token(source.as_bytes(), 0).0, Token::Unclosed, "{source}");
        }
    }
}
