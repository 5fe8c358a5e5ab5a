//! Where everything in the picture stands.

use super::words;
use crate::model::{Action, Branch, Class, Flow, Step};
use crate::written;

const CARD_WIDTH: f64 = 330.0;
const LINE: f64 = 17.0;
const PADDING: f64 = 12.0;
const GAP: f64 = 30.0;
const BESIDE: f64 = 26.0;

/// A step or a trigger.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The step's id, by which live numbers can be put on it; empty for a trigger.
    pub id: String,
    /// Its first line.
    pub title: String,
    /// What it is: `http`, `webhook`, …
    pub kind: String,
    /// Its class; `None` for a trigger.
    pub class: Option<Class>,
    /// Further lines.
    pub lines: Vec<String>,
}

/// Something in the picture, at its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A card with its left upper corner, width and height.
    Card(Box<Card>, f64, f64, f64, f64),
    /// A frame with a label.
    Frame(String, f64, f64, f64, f64),
    /// A line with an arrow at its end; `true` if it is dashed.
    Arrow(f64, f64, f64, f64, bool),
    /// A line that leads together again.
    Line(f64, f64, f64, f64),
    /// Words beside an arrow, centred.
    Label(String, f64, f64),
}

/// A picture or a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
    /// What is in it.
    pub items: Vec<Item>,
    /// Where arrows come in and leave, from the left.
    pub axis: f64,
}

/// The whole flow.
pub(super) fn picture(flow: &Flow) -> Picture {
    let run = written::flow_key(flow);
    let mut rows = vec![beside(flow.triggers.iter().map(trigger).collect())];
    if flow.triggers.is_empty() {
        rows = vec![card_of(by_hand())];
    }
    if !flow.steps.is_empty() {
        rows.push(stack(
            flow.steps
                .iter()
                .map(|step| step_picture(&run, step))
                .collect(),
        ));
    }
    let mut whole = stack(rows);
    if !flow.on_failure.is_empty() {
        let steps = flow.on_failure.iter().map(|step| step_picture(&run, step));
        let failure = frame("on failure", stack(steps.collect()));
        whole = aside(whole, failure);
    }
    whole
}

fn by_hand() -> Card {
    Card {
        id: String::new(),
        title: "by hand".to_owned(),
        kind: "trigger".to_owned(),
        class: None,
        lines: Vec::new(),
    }
}

fn trigger(trigger: &crate::model::Trigger) -> Picture {
    card_of(Card {
        id: String::new(),
        title: words::trigger(trigger),
        kind: "trigger".to_owned(),
        class: None,
        lines: Vec::new(),
    })
}

fn step_picture(run: &str, step: &Step) -> Picture {
    let own = step_card(run, step);
    let run = written::inner_key(step, run);
    let inside = |steps: &[Step]| stack(steps.iter().map(|s| step_picture(&run, s)).collect());
    match &step.action {
        Action::Switch { cases, otherwise } => {
            let mut branches: Vec<Picture> = cases
                .iter()
                .map(|case| labelled(&words::cut(&case.when.source), inside(&case.steps)))
                .collect();
            branches.push(labelled("else", inside(otherwise)));
            fan(own, branches)
        }
        Action::Parallel(branches) => {
            let one = |branch: &Branch| labelled(&branch.id.it, inside(&branch.steps));
            fan(own, branches.iter().map(one).collect())
        }
        Action::ForEach(each) => {
            let label = words::cut(&format!("each {}, once per {run}", each.name));
            stack(vec![own, frame(&label, inside(&each.steps))])
        }
        Action::Lock { steps, .. } => stack(vec![own, frame("one run at a time", inside(steps))]),
        _ => own,
    }
}

fn step_card(run: &str, step: &Step) -> Picture {
    let words = words::step(run, step);
    let mut lines: Vec<String> = [words.what, words.guard]
        .into_iter()
        .filter(|line| !line.is_empty())
        .collect();
    if let Some(unknown) = words::unknown(step) {
        lines.push(format!("unknown: {unknown}"));
    }
    if let Some(when) = &step.when {
        lines.insert(0, words::cut(&format!("if {}", when.source)));
    }
    let card = card_of(Card {
        id: step.id.it.clone(),
        title: step.id.it.clone(),
        kind: words.kind.to_owned(),
        class: Some(step.class()),
        lines,
    });
    match step.undo.as_deref().and_then(Step::act) {
        None => card,
        Some(undo) => with_undo(card, &words::act_words(undo)),
    }
}

fn card_of(card: Card) -> Picture {
    let lines = u32::try_from(card.lines.len()).unwrap_or(0);
    let height = 2.0 * PADDING + LINE * f64::from(lines + 1);
    Picture {
        width: CARD_WIDTH,
        height,
        items: vec![Item::Card(Box::new(card), 0.0, 0.0, CARD_WIDTH, height)],
        axis: CARD_WIDTH / 2.0,
    }
}

/// A step's undo stands beside it, with a dashed arrow.
fn with_undo(mut picture: Picture, undo: &str) -> Picture {
    let card = Card {
        id: String::new(),
        title: "undo".to_owned(),
        kind: "undo".to_owned(),
        class: None,
        lines: vec![words::cut(undo)],
    };
    let (from, middle) = (picture.width, picture.height / 2.0);
    let height = 2.0 * PADDING + 2.0 * LINE;
    let top = middle - height / 2.0;
    picture
        .items
        .push(Item::Arrow(from, middle, from + BESIDE, middle, true));
    let left = from + BESIDE;
    picture
        .items
        .push(Item::Card(Box::new(card), left, top, CARD_WIDTH, height));
    picture.width = left + CARD_WIDTH;
    picture
}

/// Under each other, joined by arrows along one axis.
fn stack(rows: Vec<Picture>) -> Picture {
    let rows: Vec<Picture> = rows.into_iter().filter(|row| row.height > 0.0).collect();
    let axis = rows.iter().map(|row| row.axis).fold(0.0, f64::max);
    let right = rows
        .iter()
        .map(|row| row.width - row.axis)
        .fold(0.0, f64::max);
    let mut whole = Picture {
        width: axis + right,
        axis,
        ..Picture::default()
    };
    for row in rows {
        if whole.height > 0.0 {
            let end = whole.height + GAP;
            whole
                .items
                .push(Item::Arrow(axis, whole.height, axis, end, false));
            whole.height = end;
        }
        let (left, top) = (axis - row.axis, whole.height);
        whole.height += row.height;
        whole
            .items
            .extend(row.items.into_iter().map(|item| moved(item, left, top)));
    }
    whole
}

/// Beside each other, nothing joined.
fn beside(columns: Vec<Picture>) -> Picture {
    let mut whole = Picture::default();
    for column in columns {
        if whole.width > 0.0 {
            whole.width += BESIDE;
        }
        let left = whole.width;
        whole.width += column.width;
        whole.height = whole.height.max(column.height);
        whole
            .items
            .extend(column.items.into_iter().map(|item| moved(item, left, 0.0)));
    }
    whole.axis = whole.width / 2.0;
    whole
}

/// A head with branches under it that come together again.
fn fan(head: Picture, branches: Vec<Picture>) -> Picture {
    let mut entries = Vec::new();
    let mut left = 0.0;
    for branch in &branches {
        entries.push((left + branch.axis, branch.height));
        left += branch.width + BESIDE;
    }
    let row = beside(branches);
    let axis = head.axis.max(row.axis);
    let right = (head.width - head.axis).max(row.width - row.axis);
    let mut whole = Picture {
        width: axis + right,
        axis,
        ..Picture::default()
    };
    let (offset, top) = (axis - row.axis, head.height + GAP);
    let head_left = axis - head.axis;
    let bottom = top + row.height + GAP / 2.0;
    for (x, height) in entries {
        let x = x + offset;
        whole
            .items
            .push(Item::Arrow(axis, head.height, x, top, false));
        whole.items.push(Item::Line(x, top + height, axis, bottom));
    }
    whole.items.extend(
        head.items
            .into_iter()
            .map(|item| moved(item, head_left, 0.0)),
    );
    whole
        .items
        .extend(row.items.into_iter().map(|item| moved(item, offset, top)));
    whole.height = bottom;
    whole
}

/// A branch with its name above it.
fn labelled(label: &str, branch: Picture) -> Picture {
    let width = branch.width.max(150.0);
    let axis = if branch.height > 0.0 {
        branch.axis
    } else {
        width / 2.0
    };
    let mut whole = Picture {
        width,
        height: branch.height + LINE + 8.0,
        items: vec![Item::Label(label.to_owned(), axis, LINE - 2.0)],
        axis,
    };
    let moved = branch
        .items
        .into_iter()
        .map(|item| moved(item, 0.0, LINE + 8.0));
    whole.items.extend(moved);
    whole
}

/// A frame around what belongs together.
fn frame(label: &str, inside: Picture) -> Picture {
    let (left, top) = (PADDING * 1.5, PADDING * 2.0 + LINE);
    let width = inside.width + 2.0 * left;
    let height = inside.height + top + PADDING * 1.5;
    let mut items = vec![Item::Frame(label.to_owned(), 0.0, 0.0, width, height)];
    items.extend(inside.items.into_iter().map(|item| moved(item, left, top)));
    Picture {
        width,
        height,
        items,
        axis: inside.axis + left,
    }
}

/// What is done on failure stands to the right.
fn aside(main: Picture, failure: Picture) -> Picture {
    let left = main.width + BESIDE * 2.0;
    let mut whole = Picture {
        width: left + failure.width,
        height: main.height.max(failure.height),
        axis: main.axis,
        items: main.items,
    };
    whole
        .items
        .extend(failure.items.into_iter().map(|item| moved(item, left, 0.0)));
    whole
}

fn moved(item: Item, dx: f64, dy: f64) -> Item {
    match item {
        Item::Card(card, x, y, w, h) => Item::Card(card, x + dx, y + dy, w, h),
        Item::Frame(label, x, y, w, h) => Item::Frame(label, x + dx, y + dy, w, h),
        Item::Arrow(a, b, c, d, dashed) => Item::Arrow(a + dx, b + dy, c + dx, d + dy, dashed),
        Item::Line(a, b, c, d) => Item::Line(a + dx, b + dy, c + dx, d + dy),
        Item::Label(label, x, y) => Item::Label(label, x + dx, y + dy),
    }
}
