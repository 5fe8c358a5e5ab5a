//! The picture in the terminal: what was sent, what was blocked, and what the world saw.
//!
//! Owns drawing. On a terminal the picture is drawn over the last one; elsewhere a line tells the same once
//! in a while.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use super::world::{Effect, Traffic, World};
use crate::term::{Paint, Tone};

/// How long the longest bar is.
const BAR: u64 = 24;

/// What is shown beside the counts of the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    pub(super) world: &'a World,
    /// Where to look at it.
    pub(super) page: &'a str,
    pub(super) passed: Duration,
    /// How many wait for a person, as the server said last.
    pub(super) parked: u64,
    /// What is going on.
    pub(super) doing: &'a str,
}

/// Where the picture is drawn.
#[derive(Debug)]
pub(super) struct Screen {
    paint: Paint,
    terminal: bool,
    /// How many lines the last picture has.
    drawn: usize,
    /// When the last line was written where there is no terminal.
    told: Duration,
}

impl Screen {
    pub(super) fn new() -> Screen {
        Screen {
            paint: Paint::stderr(),
            terminal: std::io::stderr().is_terminal(),
            drawn: 0,
            told: Duration::ZERO,
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(super) fn draw(&mut self, shown: Shown<'_>) {
        if !self.terminal {
            if shown.passed.saturating_sub(self.told) >= Duration::from_secs(2) {
                self.told = shown.passed;
                say!("{}", line(shown));
            }
            return;
        }
        let picture = picture(shown, self.paint);
        let mut out = String::new();
        if self.drawn > 0 {
            let _ = write!(out, "\x1b[{}A", self.drawn);
        }
        for line in picture.lines() {
            let _ = writeln!(out, "\x1b[2K{line}");
        }
        self.drawn = picture.lines().count();
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(out.as_bytes());
        let _ = stderr.flush();
    }
}

fn line(shown: Shown<'_>) -> String {
    let Traffic {
        deliveries,
        blocked,
        kills,
        ..
    } = shown.world.traffic();
    let seen: Vec<String> = Effect::ALL
        .into_iter()
        .map(|effect| format!("{} {}", shown.world.tally(effect).once, effect.name()))
        .collect();
    format!(
        "{}  {deliveries} sent, {blocked} blocked, {kills} kills; the world saw {}, twice: {}; {} wait for a person",
        clock(shown.passed),
        seen.join(", "),
        shown.world.twice(),
        shown.parked
    )
}

fn clock(passed: Duration) -> String {
    format!("{:02}:{:02}", passed.as_secs() / 60, passed.as_secs() % 60)
}

fn bar(count: u64, most: u64) -> String {
    let length = (count * BAR).checked_div(most).unwrap_or(0);
    let length = usize::try_from(length).unwrap_or(0);
    format!("{:<24}", "█".repeat(length))
}

fn picture(shown: Shown<'_>, paint: Paint) -> String {
    let traffic = shown.world.traffic();
    let mut out = String::new();
    let head = format!("semel demo  {}", clock(shown.passed));
    let _ = writeln!(
        out,
        "{}   {}",
        paint.on(Tone::Strong, &head),
        paint.on(Tone::Dim, shown.doing)
    );
    let _ = writeln!(out, "{}", paint.on(Tone::Busy, shown.page));
    out.push('\n');
    storm(&mut out, traffic, paint);
    out.push('\n');
    seen(&mut out, shown.world, paint);
    out.push('\n');
    let parked = match shown.parked {
        0 => paint.on(Tone::Dim, "nothing waits for a person"),
        1 => paint.on(Tone::Doubt, "1 waits for a person, never sent twice"),
        some => paint.on(
            Tone::Doubt,
            &format!("{some} wait for a person, none is sent twice"),
        ),
    };
    let _ = writeln!(out, "  {parked}");
    let last: String = shown.world.last().chars().take(76).collect();
    let _ = writeln!(out, "  {}", paint.on(Tone::Dim, &last));
    out
}

/// What came over the wires.
fn storm(out: &mut String, traffic: Traffic, paint: Paint) {
    let most = traffic.deliveries;
    let mut row = |name: &str, count: u64, tone: Tone, words: &str| {
        let bar = paint.on(tone, &bar(count, most));
        let name = paint.on(Tone::Dim, &format!("{name:<9}"));
        let _ = writeln!(
            out,
            "  {name} {bar} {count:>6}  {}",
            paint.on(Tone::Dim, words)
        );
    };
    row(
        "sent",
        traffic.deliveries,
        Tone::Busy,
        "signed webhooks, many more than once",
    );
    row(
        "accepted",
        traffic.accepted,
        Tone::Good,
        "events, each of them one run",
    );
    row(
        "blocked",
        traffic.blocked,
        Tone::Strong,
        "duplicates, told of the first run",
    );
    let kills = format!("{:>6}", traffic.kills);
    let lost = format!("times by kill -9; {} answers lost", traffic.answers_lost);
    let name = paint.on(Tone::Dim, &format!("{:<9}", "killed"));
    let _ = writeln!(
        out,
        "  {name} {:<24} {}  {}",
        "",
        paint.on(Tone::Bad, &kills),
        paint.on(Tone::Dim, &lost)
    );
}

/// What the world saw.
fn seen(out: &mut String, world: &World, paint: Paint) {
    let head = format!(
        "  {:<26} {:>8} {:>8} {:>10}",
        "THE WORLD SAW", "ONCE", "TWICE", "TO COME"
    );
    let _ = writeln!(out, "{}", paint.on(Tone::Dim, &head));
    for effect in Effect::ALL {
        let tally = world.tally(effect);
        let name = format!("{} {}", effect.name(), effect.place());
        let once = paint.on(Tone::Good, &format!("{:>8}", tally.once));
        let tone = if tally.twice == 0 {
            Tone::Good
        } else {
            Tone::Bad
        };
        let twice = paint.on(tone, &format!("{:>8}", tally.twice));
        let to_come = paint.on(Tone::Dim, &format!("{:>10}", tally.to_come));
        let _ = writeln!(out, "  {name:<26} {once} {twice} {to_come}");
    }
}
