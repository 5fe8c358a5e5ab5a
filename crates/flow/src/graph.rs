//! The picture of a flow: what starts it, its steps with class and guard, branches, undo.
//!
//! Owns the layout ([`Picture`]), drawn as SVG and as text. A flow is a tree of blocks, so the layout is
//! too: steps stand under each other, branches beside each other, and what belongs together stands in
//! a frame. The same file always gives the same picture.

mod layout;
mod svg;
mod text;
mod words;

pub use layout::{Card, Item, Picture};
pub use svg::escaped;
pub(crate) use words::act_words;

use crate::model::Flow;

/// The flow as an SVG document; light and dark by the viewer's choice.
#[must_use]
pub fn svg(flow: &Flow) -> String {
    svg::draw(flow, &layout::picture(flow))
}

/// The flow as text for a terminal.
#[must_use]
pub fn text(flow: &Flow) -> String {
    text::draw(flow)
}

#[cfg(test)]
mod tests;
