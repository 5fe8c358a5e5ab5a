//! How things look in a terminal.
//!
//! Owns the one function that makes foreign names safe to show ([`shown`]), colour, and writing
//! to stdout. A name can hold escape codes or marks that turn the reading direction around, and
//! whoever chose it may not be a friend, so no name reaches the terminal unless it went through
//! [`shown`].

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

use semel_server::is_treacherous;

/// A name as it may be shown: control characters and marks that change how the text around them
/// reads are written out, as in `\u{202e}`.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    escaped(name, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// A name with every character that must not be shown written out by `write`.
pub(crate) fn escaped(name: &str, write: impl Fn(char) -> String) -> Cow<'_, str> {
    if !name.chars().any(is_treacherous) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        if is_treacherous(c) {
            text.push_str(&write(c));
        } else {
            text.push(c);
        }
    }
    Cow::Owned(text)
}

/// A text as it may be shown, at most so many characters of it.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let text = shown(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// As [`shown`], but line breaks and tabs stay: for texts of several lines.
pub(crate) fn shown_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let parts: Vec<Cow<'_, str>> = line.split('\t').map(shown).collect();
            parts.join("\t")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a piece of text means, and so its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Doubt,
    Busy,
    Dim,
    Strong,
}

/// Whether a stream takes colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(bool);

impl Paint {
    pub(crate) fn stdout() -> Paint {
        Paint(wanted() && std::io::stdout().is_terminal())
    }

    pub(crate) fn stderr() -> Paint {
        Paint(wanted() && std::io::stderr().is_terminal())
    }

    #[cfg(test)]
    pub(crate) fn off() -> Paint {
        Paint(false)
    }

    pub(crate) fn is_on(self) -> bool {
        self.0
    }

    pub(crate) fn on(self, tone: Tone, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Doubt => "33",
            Tone::Busy => "36",
            Tone::Dim => "2",
            Tone::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

fn wanted() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !no_color && !dumb
}

/// The tone of a state or verdict, so that both look alike everywhere.
pub(crate) fn tone_of(word: &str) -> Tone {
    match word {
        "done" | "granted" | "first" | "live" | "reuse" => Tone::Good,
        "failed" | "conflict" | "blocked" | "gave_up" => Tone::Bad,
        "unknown" | "review" | "approval" | "parked" | "guarded" | "ask" | "lost" => Tone::Doubt,
        "claimed" | "busy" | "queued" | "running" | "retrying" | "waiting" | "keyed"
        | "execute" => Tone::Busy,
        _ => Tone::Dim,
    }
}

/// Writes a line of data. A reader that has gone (`| head`) ends the command in silence; data that
/// cannot be written for another reason (a full disk) is a failure.
pub(crate) fn print_line(line: &str) {
    match try_print_line(line) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            say!("semel: error: cannot write to stdout: {error}");
            std::process::exit(i32::from(crate::failure::Exit::Failed.code()));
        }
    }
}

/// Writes a line of data, for those who go on without a reader.
pub(crate) fn try_print_line(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

/// Writes a message. What the command does must not depend on whether somebody reads it.
pub(crate) fn say(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Prints a table without lines around it; the first column is coloured by its word.
pub(crate) fn print_table(header: &[&str], rows: Vec<Vec<String>>) {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(comfy_table::ContentArrangement::Disabled)
        .set_header(header.iter().map(|name| name.to_uppercase()));
    let tones: Vec<Tone> = rows
        .iter()
        .map(|row| row.first().map_or(Tone::Dim, |word| tone_of(word)))
        .collect();
    table.add_rows(rows);
    let paint = Paint::stdout();
    for (index, line) in table.lines().enumerate() {
        let line = line.trim_end();
        match index.checked_sub(1).and_then(|row| tones.get(row)) {
            None => print_line(&paint.on(Tone::Dim, line.trim_start())),
            Some(tone) => {
                let line = line.trim_start();
                let (word, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
                print_line(&format!("{}{rest}", paint.on(*tone, word)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_the_terminal() {
        for (name, text) in [
            ("plain name", "plain name"),
            ("-rf", "-rf"),
            ("\u{1f389} party", "\u{1f389} party"),
            ("שלום", "שלום"),
            ("a\x1b[31mred", "a\\u{1b}[31mred"),
            ("gpj\u{202e}exe", "gpj\\u{202e}exe"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("a\r\nb", "a\\u{d}\\u{a}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
        ] {
            assert_eq!(shown(name), text);
        }
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöü\x1b", 3), "äöü…");
        assert_eq!(shown_lines("a\tb\r\nc\x1b"), "a\tb\nc\\u{1b}");
    }
}
