//! Writing HTML: whatever is put in is text, unless it is markup that stands in this crate.

mod document;

use std::fmt::Write as _;

pub(crate) use document::{Referrer, respond};

/// A piece of a page. Only literals of this crate are markup.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Markup as it stands here.
    pub(crate) fn markup(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Anything else.
    pub(crate) fn text(&mut self, text: &str) -> &mut Html {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(c),
                c if is_treacherous(c) => {
                    let _ = write!(self.0, "\\u{{{:x}}}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self
    }

    /// A row of a table of two columns.
    pub(crate) fn row(&mut self, name: &str, value: &str) -> &mut Html {
        self.markup("<tr><th scope=\"row\">")
            .text(name)
            .markup("</th><td>")
            .text(value)
            .markup("</td></tr>\n")
    }

    /// A word on how it stands; nothing if it is empty.
    pub(crate) fn banner(&mut self, good: Option<bool>, text: &str) -> &mut Html {
        if text.is_empty() {
            return self;
        }
        self.markup(match good {
            Some(true) => "<p class=\"banner good\" role=\"status\">",
            Some(false) => "<p class=\"banner bad\" role=\"status\">",
            None => "<p class=\"banner\" role=\"status\">",
        });
        self.text(text).markup("</p>\n")
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Whether a character would change how the text around it reads, or steer a terminal: control
/// characters, invisible marks, and those that turn the reading direction around.
#[must_use]
pub fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{061c}' // invisible, or direction marks
            | '\u{202a}'..='\u{202e}' // direction embeddings and overrides
            | '\u{2060}'..='\u{206f}' // isolates and other invisible marks
            | '\u{2028}' | '\u{2029}' // line and paragraph separators
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' // invisible tags
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_put_in_is_text() {
        for (given, shown) in [
            ("plain – ä 🎉", "plain – ä 🎉"),
            (
                "<script>alert('x')</script>",
                "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;",
            ),
            ("\" onload=\"x", "&quot; onload=&quot;x"),
            ("&lt;", "&amp;lt;"),
            ("a\nb\tc", "a\nb\tc"),
            (
                "gpj\u{202e}exe\u{0}\u{1b}[31m",
                "gpj\\u{202e}exe\\u{0}\\u{1b}[31m",
            ),
        ] {
            let mut html = Html::default();
            html.text(given);
            assert_eq!(html.into_string(), shown);
        }
    }
}
