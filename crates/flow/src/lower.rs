//! From nodes to a [`Flow`]: names become fields, text becomes templates, expressions and durations.
//!
//! Owns what the file alone can tell: unknown and missing fields, types, ranges, names. What needs the
//! whole flow (keys, references between steps) is the check's business.
//!
//! The invariant: reading goes on after a problem, so that one look shows all of them. A step that
//! could not be understood is replaced by one that does nothing known, so that those after it may
//! still refer to it; a flow with errors is never run.

mod act;
mod address;
mod approve;
mod control;
mod ensure;
mod entry;
mod examples;
mod flow;
mod http;
mod kind;
mod multipart;
mod scalar;
mod step;
mod text;
mod timing;
mod trigger;
mod wait;
mod webhook;

pub use text::secret_name;

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Level, Spanned};
use crate::model::Flow;
use crate::yaml;

/// The most problems that are kept: nobody reads more, and each is drawn with its lines.
const MAX_FOUND: usize = 1_000;

/// What became of a file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The flow, if enough could be read to say more about it; to be run only if there are no errors.
    pub flow: Option<Flow>,
    /// What was found, in the order of the file; of a file with over a thousand problems not all.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reading {
    /// Whether something keeps the flow from being deployed.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|found| found.level == Level::Error)
    }
}

/// Reads a flow file.
#[must_use]
pub fn read(source: &str) -> Reading {
    let (node, found) = yaml::parse(source);
    let mut lower = Lower {
        found,
        ids: HashMap::new(),
    };
    let flow = node.and_then(|node| lower.flow(&node));
    let mut diagnostics = lower.found;
    diagnostics.sort_by_key(|found| (found.at, found.code));
    Reading { flow, diagnostics }
}

/// What is known while a file is lowered.
struct Lower {
    found: Vec<Diagnostic>,
    /// The ids of the steps so far, by their lower-case spelling.
    ids: HashMap<String, Spanned<String>>,
}

impl Lower {
    fn report(&mut self, found: Diagnostic) {
        if self.found.len() < MAX_FOUND {
            self.found.push(found);
        }
    }
}
