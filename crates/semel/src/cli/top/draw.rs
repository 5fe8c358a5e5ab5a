//! What a screen of `semel top` looks like: lines of text from what the server said.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::term::{Paint, Tone, shortened, tone_of};

/// The steps of a small chart.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// How wide the words before a chart are.
const MARGIN: usize = 12;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Size {
    /// Where nobody says how much there is.
    pub(super) const PLAIN: Size = Size {
        columns: 80,
        rows: 40,
    };

    pub(super) fn of_terminal() -> Size {
        let found = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
        let found = found.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        found.map_or(
            Size {
                rows: 24,
                ..Size::PLAIN
            },
            |size| Size {
                columns: usize::from(size.ws_col).clamp(64, 160),
                rows: usize::from(size.ws_row),
            },
        )
    }
}

type Counts = BTreeMap<String, u64>;

/// The document of `GET /v1/overview`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Overview {
    now: String,
    states: Counts,
    inbox: u64,
    totals: Counts,
    series: Series,
    destinations: Vec<Destination>,
    flows: Vec<Flow>,
}

/// What is told of it while it changes.
#[derive(Debug, Deserialize)]
pub(super) struct Tally {
    now: String,
    states: Counts,
    inbox: u64,
    totals: Counts,
}

#[derive(Debug, Default, Deserialize)]
struct Series {
    events: Vec<u64>,
    duplicates: Vec<u64>,
    effects: Vec<u64>,
    blocked: Vec<u64>,
    failed: Vec<u64>,
}

#[derive(Debug, Deserialize)]
struct Destination {
    name: String,
    calls: u64,
    failed: u64,
    unknown: u64,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
    breaker: String,
}

#[derive(Debug, Deserialize)]
struct Flow {
    #[serde(rename = "flow")]
    name: String,
    runs: u64,
    failed: u64,
    duplicates: u64,
}

/// A run as it is listed.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    run: String,
    flow: String,
    key: String,
    state: String,
    why: String,
    changed_at: String,
}

/// Everything that is shown.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub(super) overview: Overview,
    /// The newest first.
    pub(super) runs: Vec<Row>,
    pub(super) trouble: Option<String>,
}

impl Overview {
    pub(super) fn tally(&mut self, tally: Tally) {
        self.now = tally.now;
        self.states = tally.states;
        self.inbox = tally.inbox;
        self.totals = tally.totals;
    }

    fn total(&self, what: &str) -> u64 {
        self.totals.get(what).copied().unwrap_or(0)
    }
}

impl Screen {
    /// Takes in a run that changed; at most so many are kept.
    pub(super) fn changed(&mut self, row: Row, most: usize) {
        self.runs.retain(|it| it.run != row.run);
        // Names of runs grow with time.
        let place = self.runs.partition_point(|it| it.run > row.run);
        self.runs.insert(place, row);
        self.runs.truncate(most);
    }

    /// The picture, no line longer than there is room.
    pub(super) fn lines(&self, size: Size, paint: Paint) -> Vec<String> {
        let mut lines = self.head(size, paint);
        lines.extend(self.charts(size, paint));
        lines.push(String::new());
        lines.push(self.standing(paint));
        lines.extend(self.flows(size, paint));
        lines.extend(self.destinations(size, paint));
        let room = size.rows.saturating_sub(lines.len() + 2);
        lines.extend(self.newest(size, paint, room));
        lines
    }

    fn head(&self, size: Size, paint: Paint) -> Vec<String> {
        let time = self.overview.now.get(11..19).unwrap_or("");
        let right = format!("last hour · {time} UTC");
        let left = match &self.trouble {
            Some(trouble) => format!("semel · {trouble}"),
            None => "semel".to_owned(),
        };
        let gap = size
            .columns
            .saturating_sub(width(&left) + width(&right))
            .max(1);
        let tone = match self.trouble {
            Some(_) => Tone::Bad,
            None => Tone::Strong,
        };
        let left = paint.on(tone, &left);
        let right = paint.on(Tone::Dim, &right);
        vec![format!("{left}{}{right}", " ".repeat(gap)), String::new()]
    }

    fn charts(&self, size: Size, paint: Paint) -> Vec<String> {
        let it = &self.overview;
        let rows = [
            ("events", &it.series.events, Tone::Strong),
            ("duplicates", &it.series.duplicates, Tone::Doubt),
            ("effects", &it.series.effects, Tone::Good),
            ("blocked", &it.series.blocked, Tone::Doubt),
            ("failed", &it.series.failed, Tone::Bad),
        ];
        let room = size.columns.saturating_sub(MARGIN + 12);
        let line = |(name, series, tone): (&str, &Vec<u64>, Tone)| {
            let total = it.total(name);
            let tone = if total == 0 { Tone::Dim } else { tone };
            let number = paint.on(tone, &format!("{:>10}", grouped(total)));
            let bars = paint.on(tone, &bars(series, room));
            format!("{name:<MARGIN$}{number}  {bars}")
        };
        rows.into_iter().map(line).collect()
    }

    fn standing(&self, paint: Paint) -> String {
        let order = [
            "running", "queued", "retrying", "waiting", "unknown", "parked",
        ];
        let count = |state: &str| self.overview.states.get(state).copied().unwrap_or(0);
        let some: Vec<String> = order
            .into_iter()
            .filter(|state| count(state) > 0)
            .map(|state| {
                paint.on(
                    tone_of(state),
                    &format!("{} {state}", grouped(count(state))),
                )
            })
            .collect();
        let runs = if some.is_empty() {
            paint.on(Tone::Dim, "nothing")
        } else {
            some.join(" · ")
        };
        let inbox = match self.overview.inbox {
            0 => paint.on(Tone::Dim, "nobody is asked"),
            1 => paint.on(Tone::Doubt, "1 waits for a person: semel inbox ls"),
            n => paint.on(
                Tone::Doubt,
                &format!("{} wait for a person: semel inbox ls", grouped(n)),
            ),
        };
        format!("{:<MARGIN$}{runs}   {inbox}", "under way")
    }

    fn flows(&self, size: Size, paint: Paint) -> Vec<String> {
        let mut flows: Vec<&Flow> = self.overview.flows.iter().collect();
        flows.sort_by(|a, b| b.runs.cmp(&a.runs).then(a.name.cmp(&b.name)));
        let name = size.columns.saturating_sub(36);
        let head = format!(
            "{:<name$}{:>12}{:>12}{:>12}",
            "FLOW", "RUNS", "FAILED", "DUPLICATES"
        );
        let line = |it: &&Flow| {
            let failed = count(paint, it.failed, 12, Tone::Bad);
            let duplicates = count(paint, it.duplicates, 12, Tone::Doubt);
            let flow = padded(&it.name, name);
            format!("{flow}{:>12}{failed}{duplicates}", grouped(it.runs))
        };
        table(paint, &head, flows.iter().take(5).map(line))
    }

    fn destinations(&self, size: Size, paint: Paint) -> Vec<String> {
        let name = size.columns.saturating_sub(53);
        let head = format!(
            "{:<name$}{:>9}{:>8}{:>9}{:>8}{:>8}  BREAKER",
            "DESTINATION", "CALLS", "FAILED", "UNKNOWN", "P50", "P95"
        );
        let took = |ms: Option<u64>| match ms {
            None => "–".to_owned(),
            Some(ms) if ms < 1000 => format!("{ms} ms"),
            Some(ms) => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        };
        let line = |it: &Destination| {
            let tone = match it.breaker.as_str() {
                "closed" => Tone::Good,
                "open" => Tone::Bad,
                _ => Tone::Doubt,
            };
            format!(
                "{}{:>9}{}{}{:>8}{:>8}  {}",
                padded(&it.name, name),
                grouped(it.calls),
                count(paint, it.failed, 8, Tone::Bad),
                count(paint, it.unknown, 9, Tone::Doubt),
                took(it.p50_ms),
                took(it.p95_ms),
                paint.on(tone, &shortened(&it.breaker, 9))
            )
        };
        table(paint, &head, self.overview.destinations.iter().map(line))
    }

    fn newest(&self, size: Size, paint: Paint, room: usize) -> Vec<String> {
        let now = self.overview.now.parse::<Timestamp>().ok();
        let rest = size.columns.saturating_sub(10 + 8 + 18);
        let (key, why) = (rest / 2, rest - rest / 2);
        let head = format!(
            "{:<10}{:<18}{:<key$}{:<why$}{:>8}",
            "STATE", "FLOW", "KEY", "WHY", "AGO"
        );
        let line = |it: &Row| {
            let said = if it.why == it.state { "" } else { &it.why };
            format!(
                "{}{}{}{}{:>8}",
                paint.on(tone_of(&it.state), &padded(&it.state, 10)),
                padded(&it.flow, 18),
                padded(&it.key, key),
                paint.on(Tone::Dim, &padded(said, why)),
                ago(now, &it.changed_at)
            )
        };
        table(paint, &head, self.runs.iter().take(room).map(line))
    }
}

/// A table with an empty line before it; nothing if there are no rows.
fn table(paint: Paint, head: &str, rows: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines = vec![String::new(), paint.on(Tone::Dim, head)];
    lines.extend(rows);
    if lines.len() == 2 {
        return Vec::new();
    }
    lines
}

fn count(paint: Paint, number: u64, width: usize, tone: Tone) -> String {
    let tone = if number == 0 { Tone::Dim } else { tone };
    paint.on(tone, &format!("{:>width$}", grouped(number)))
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// A foreign text in a column: cut, or filled up; a space always follows.
fn padded(text: &str, columns: usize) -> String {
    let text = shortened(text, columns.saturating_sub(2));
    let gap = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(gap))
}

/// `1,204`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The newest numbers as bars; the highest is full.
fn bars(series: &[u64], room: usize) -> String {
    let shown = &series[series.len().saturating_sub(room)..];
    let most = shown.iter().copied().max().unwrap_or(0);
    let bar = |number: &u64| match (*number, most) {
        (0, _) => ' ',
        (number, most) => {
            let place = (number * 8).div_ceil(most).clamp(1, 8) - 1;
            BARS[usize::try_from(place).unwrap_or(7)]
        }
    };
    shown
        .iter()
        .map(bar)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

fn ago(now: Option<Timestamp>, then: &str) -> String {
    let then = then.parse::<Timestamp>().ok();
    let Some((now, then)) = now.zip(then) else {
        return String::new();
    };
    match (now.as_second() - then.as_second()).max(0) {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests;
