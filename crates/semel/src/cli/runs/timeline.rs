//! A run's timeline, line by line: when, which step, what, and in words.

use serde::Deserialize;

use crate::term::{Paint, Tone, print_line, shortened, tone_of};
use crate::when;

/// How wide the column of steps is: wide enough from the start that few names move it.
const LEAST: usize = 8;
const STEP: usize = 24;
/// How wide the column of words is.
const WHAT: usize = 9;
/// How much of a text is shown.
const TEXT: usize = 300;

/// One thing that happened.
#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    at: String,
    step: Option<String>,
    what: String,
    text: String,
    attempt: Option<u64>,
    next_at: Option<String>,
}

impl Entry {
    /// How wide its step's name is.
    fn width(&self) -> usize {
        let step = self.step.as_deref().unwrap_or_default();
        step.chars().count().min(STEP)
    }
}

/// Prints entries as they come; a new day is said once.
#[derive(Debug)]
pub(super) struct Timeline {
    paint: Paint,
    day: String,
    width: usize,
}

impl Timeline {
    pub(super) fn new() -> Timeline {
        Timeline {
            paint: Paint::stdout(),
            day: String::new(),
            width: LEAST,
        }
    }

    /// Makes room for the longest name among these steps.
    pub(super) fn fit<'a>(&mut self, steps: impl Iterator<Item = &'a str>) {
        let widest = steps.map(|step| step.chars().count().min(STEP)).max();
        self.width = self.width.max(widest.unwrap_or(0));
    }

    pub(super) fn print(&mut self, entry: &Entry) {
        let (day, time) = when::day_and_time(&entry.at);
        if day != self.day {
            print_line(&self.paint.on(Tone::Dim, &format!("  {day} (UTC)")));
            self.day = day;
        }
        self.width = self.width.max(entry.width());
        let step = shortened(entry.step.as_deref().unwrap_or_default(), STEP);
        let word = entry.what.replace('_', " ");
        let line = format!(
            "  {}  {step:<width$}  {} {}{}{}",
            self.paint.on(Tone::Dim, &time),
            self.paint
                .on(tone_of(&entry.what), &format!("{word:<WHAT$}")),
            shortened(&entry.text, TEXT),
            self.paint.on(Tone::Dim, &attempt(entry)),
            self.paint.on(Tone::Dim, &next(entry)),
            width = self.width,
        );
        print_line(line.trim_end());
    }
}

fn attempt(entry: &Entry) -> String {
    match entry.attempt {
        Some(attempt) if attempt > 0 => format!(" (attempt {attempt})"),
        _ => String::new(),
    }
}

fn next(entry: &Entry) -> String {
    let Some(next) = &entry.next_at else {
        return String::new();
    };
    let ((day, time), (today, _)) = (when::day_and_time(next), when::day_and_time(&entry.at));
    if day == today {
        format!(", again at {time}")
    } else {
        format!(", again at {day} {time}")
    }
}
