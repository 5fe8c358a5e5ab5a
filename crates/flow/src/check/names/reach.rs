//! Steps whose result is not known where it is asked for.

use super::super::index::Reach;
use super::super::visit::Sees;
use super::Names;
use crate::codes::{C003, C004, C005};
use crate::diagnostic::{Diagnostic, Level, Span};

impl Names<'_, '_, '_> {
    /// Why a step has no result there, if it has none.
    pub(super) fn unreached(
        &self,
        id: &str,
        span: Span,
        reach: Reach<'_>,
        there: Span,
    ) -> Option<Diagnostic> {
        let (code, title, label) = match reach {
            Reach::Seen => return None,
            Reach::Itself if self.place.sees == Sees::OwnResult => return None,
            Reach::Perhaps(_) if self.guarded => return None,
            Reach::Itself => (
                C004,
                format!("`{id}` refers to itself"),
                "its result is not known before it has ended".to_owned(),
            ),
            Reach::Around => (
                C004,
                format!("`{id}` is the step that this one is inside of"),
                "its result is not known before it has ended".to_owned(),
            ),
            Reach::Later => (
                C003,
                format!("`{id}` comes later"),
                "it has no result yet".to_owned(),
            ),
            Reach::InLoop(each) => (
                C005,
                format!("`{id}` cannot be seen from here"),
                format!("it is inside `{each}`: every item has its own"),
            ),
            Reach::Aside(other) => (
                C005,
                format!("`{id}` cannot be seen from here"),
                format!("it is in another branch of `{other}`"),
            ),
            Reach::Perhaps(switch) => (
                C005,
                format!("`{id}` may not have run"),
                format!("it is in one case of `{switch}`; in the others it has no result"),
            ),
        };
        let found = Diagnostic::error(code, span, title, label);
        let found = found.also(there, format!("`{id}` is here"));
        Some(match reach {
            Reach::Perhaps(switch) => Diagnostic {
                level: Level::Warning,
                ..found
            }
            .help(format!(
                "write default(steps.{id}.result, …), or give `{switch}` a `result`"
            )),
            Reach::Later => found.help(format!("move `{id}` up, or this step down")),
            _ => found,
        })
    }
}
