//! What was proved, at a terminal: a matrix, and a story for each thing that went wrong.

use std::fmt::Write as _;
use std::path::Path;

use semel_prove::examples::{Event, From};
use semel_prove::report::{Report, Story};
use semel_prove::{Family, Schedule, Verdict};

use crate::term::{Paint, Tone, print_line, shown};

/// How wide the column of classes is.
const CLASS: usize = 9;
/// The least width of a column of the matrix.
const COLUMN: usize = 8;
/// The widest line of the matrix; what does not fit stands below.
const LINE: usize = 120;

/// A report with what was asked for.
pub(super) struct Told<'a> {
    pub(super) report: &'a Report,
    pub(super) file: &'a Path,
    pub(super) replay: Option<&'a Schedule>,
    pub(super) seed: u64,
}

/// What a verdict means, and so its colour.
pub(super) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Unreached | Verdict::Failed => Tone::Dim,
        Verdict::Once => Tone::Good,
        Verdict::Parked => Tone::Doubt,
        Verdict::Skipped | Verdict::Missing | Verdict::Twice(_) => Tone::Bad,
    }
}

/// How a story is told once more.
pub(super) fn again(file: &Path, event: &Event, schedule: &Schedule) -> String {
    let quoted = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,@:".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.to_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let file = quoted(&shown(&file.to_string_lossy()));
    let event = match event.from {
        From::MadeUp => String::new(),
        From::Example => format!(" --example {}", quoted(&shown(&event.name))),
        From::Given => format!(" --event {}", quoted(&shown(&event.name))),
    };
    format!("semel prove {file}{event} --replay {schedule}")
}

impl Told<'_> {
    pub(super) fn print(&self) {
        let paint = Paint::stdout();
        let name = shown(&self.report.flow().name.it).into_owned();
        let title = format!("{name} ({})", shown(&self.file.to_string_lossy()));
        print_line(&paint.on(Tone::Strong, &title));
        self.events(paint);
        self.matrix(paint);
        for story in self.report.stories() {
            self.story(paint, &story);
        }
        for step in self.report.unreached() {
            print_line(&format!(
                "{}: no event leads there; give one that does under `examples`, or with --event",
                shown(&step)
            ));
        }
        self.summary(paint);
    }

    fn events(&self, paint: Paint) {
        let tried = self.report.tried();
        let made_up = tried.iter().find(|it| it.event.from == From::MadeUp);
        let line = match (made_up, tried) {
            (Some(tried), _) => format!("event made up: {}", shown(&tried.event.event.to_json())),
            (None, [one]) => format!("event: {}", shown(&one.event.name)),
            (None, all) => {
                let names: Vec<_> = all.iter().map(|it| shown(&it.event.name)).collect();
                format!("events: {}", names.join(", "))
            }
        };
        print_line(&paint.on(Tone::Dim, &line));
    }

    fn matrix(&self, paint: Paint) {
        let steps = self.report.steps();
        let width = steps.iter().map(|(step, _)| step.chars().count()).max();
        let width = width.unwrap_or(0).max(4) + 2;
        let mut families = self.report.families();
        print_line("");
        while !families.is_empty() {
            let mut room = LINE.saturating_sub(width + CLASS);
            let fits = families.iter().take_while(|family| {
                let fits = room >= column(**family);
                room = room.saturating_sub(column(**family));
                fits
            });
            let rest = families.split_off(fits.count().max(1));
            self.block(paint, width, &families);
            families = rest;
            print_line("");
        }
    }

    /// As many columns as fit a line.
    fn block(&self, paint: Paint, width: usize, families: &[Family]) {
        let cells = self.report.cells();
        let mut head = format!("{:<width$}{:<CLASS$}", "STEP", "CLASS");
        for family in families {
            let (name, column) = (family.name().to_uppercase(), column(*family));
            let _ = write!(head, "{name:>column$}");
        }
        print_line(&paint.on(Tone::Dim, head.trim_end()));
        for (step, class) in self.report.steps() {
            let mut line = format!("{:<width$}{:<CLASS$}", shown(&step), class.name());
            for family in families {
                let cell = cells.get(&(step.clone(), *family));
                let (word, tone) = cell.map_or((String::new(), Tone::Dim), |(verdict, _)| {
                    (verdict.word(), tone(*verdict))
                });
                line += &" ".repeat(column(*family).saturating_sub(word.chars().count()));
                line += &paint.on(tone, &word);
            }
            print_line(line.trim_end());
        }
    }

    fn story(&self, paint: Paint, story: &Story<'_>) {
        let (found, finding) = (&story.told, story.told.finding);
        let step = shown(&finding.step);
        let mut title = format!("{step} {} ({})", found.said(), found.family.name());
        if self.report.tried().len() > 1 {
            let _ = write!(title, " with {}", shown(&found.event.name));
        }
        print_line(&paint.on(Tone::Bad, &title));
        for line in found.course() {
            let what = shown(&line.what).into_owned();
            let what = if line.is_seen {
                paint.on(Tone::Strong, &what)
            } else {
                what
            };
            print_line(&format!("  {:>10}  {what}", line.at));
        }
        print_line(&format!("  = help: {}", shown(&finding.help)));
        let again = again(self.file, found.event, &finding.schedule);
        print_line(&paint.on(Tone::Dim, &format!("  {again}")));
        for also in &story.also {
            let (family, schedule) = (also.family.name(), &also.finding.schedule);
            let line = format!("  also {}: {family}, --replay {schedule}", also.said());
            print_line(&paint.on(Tone::Dim, &line));
        }
        print_line("");
    }

    fn summary(&self, paint: Paint) {
        let report = self.report;
        if let Some(schedule) = self.replay {
            if report.holds() {
                print_line(&format!("{schedule}: every effect was seen as it should"));
            }
            return;
        }
        let (tone, said) = verdict(report);
        print_line(&paint.on(tone, said));
        let seconds = report.took.as_secs_f64();
        say!(
            "semel: {} schedules, {} faults of which {} crashes happened, in {seconds:.1} s",
            report.schedules(),
            report.fired(),
            report.crashes()
        );
        if report.left_out() > 0 {
            let (left, seed) = (report.left_out(), self.seed);
            say!("semel: {left} more were not tried: --limit; these were chosen by --seed {seed}");
        }
    }
}

/// How wide the column of a family is.
fn column(family: Family) -> usize {
    COLUMN.max(family.name().len() + 2)
}

/// The whole in one sentence.
pub(super) fn verdict(report: &Report) -> (Tone, &'static str) {
    let found = report.found();
    let twice = found
        .iter()
        .any(|it| matches!(it.finding.verdict, Verdict::Twice(_)));
    if found.is_empty() {
        let said = "every effect was seen once, or never twice with a person asked";
        (Tone::Good, said)
    } else if twice {
        (Tone::Bad, "the world would have seen something twice")
    } else {
        (
            Tone::Bad,
            "something would not have been done, and nobody asked",
        )
    }
}
