//! Text from a file as it may be shown: nothing in it moves the cursor, hides or reorders.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::diagnostic::Span;

/// A source with its escapes written out, and where every byte went.
pub(super) struct Shown {
    text: String,
    /// For every change: the offset in the source behind it, and the one in the text.
    moved: Vec<(usize, usize)>,
}

impl Shown {
    pub(super) fn of(source: &str) -> Shown {
        let mut text = String::with_capacity(source.len());
        let mut moved = Vec::new();
        for (at, c) in source.char_indices() {
            if !is_deceptive(c) {
                text.push(c);
                continue;
            }
            // A mark of byte order at the start says nothing, and a line may end with a return.
            let silent = at == 0 && c == '\u{feff}' || source[at..].starts_with("\r\n");
            if !silent {
                write_escape(&mut text, c);
            }
            moved.push((at + c.len_utf8(), text.len()));
        }
        Shown { text, moved }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the source stands in the text.
    pub(super) fn place(&self, at: Span) -> Span {
        let end = self.offset(at.end);
        Span {
            start: self.offset(at.start).min(end),
            end,
        }
    }

    fn offset(&self, source: usize) -> usize {
        let behind = self.moved.partition_point(|(at, _)| *at <= source);
        let (from, to) = match behind.checked_sub(1) {
            Some(last) => self.moved[last],
            None => (0, 0),
        };
        // An offset inside of what was changed is that of its beginning.
        let next = self.moved.get(behind);
        let most = next.map_or(self.text.len(), |(_, end)| *end);
        self.text
            .floor_char_boundary((to + source - from).min(most))
    }

    /// The whole lines that hold a part of the source.
    pub(super) fn lines(&self, at: Span) -> Span {
        let Span { start, end } = self.place(at);
        Span {
            start: self.text[..start].rfind('\n').map_or(0, |at| at + 1),
            end: self.text[end..]
                .find('\n')
                .map_or(self.text.len(), |length| end + length),
        }
    }

    /// The number of the line that begins at an offset of the text.
    pub(super) fn line_of(&self, start: usize) -> usize {
        self.text[..start].matches('\n').count() + 1
    }
}

/// Text with every deceptive sign written out, such as `\u{1b}`.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) {
            write_escape(&mut shown, c);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn write_escape(text: &mut String, c: char) {
    let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
}

/// Signs that move the cursor, reorder what is read, or cannot be seen.
fn is_deceptive(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    invisible || (c.is_control() && !matches!(c, '\n' | '\t'))
}
