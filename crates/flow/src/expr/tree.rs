//! Trees of literals and templates to values.

use std::sync::Arc;

use super::{EvalError, Names, Template};
use crate::diagnostic::Span;
use crate::model::Tree;
use crate::value::{Map, Value};

impl Tree {
    /// The value, with every template rendered.
    ///
    /// # Errors
    /// [`EvalError`] of the first template that has no value.
    pub fn render(&self, names: &dyn Names) -> Result<Value, EvalError> {
        self.fill(&|template| template.render(names))
    }

    /// The value with every volatile expression as it is written: the same however often and
    /// whenever it is rendered, for fingerprints.
    ///
    /// # Errors
    /// As [`Tree::render`].
    pub fn render_stable(&self, names: &dyn Names) -> Result<Value, EvalError> {
        self.fill(&|template| template.render_stable(names))
    }

    /// Whether an expression in it has another value at another moment.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        match self {
            Tree::Text(template) => template.exprs().any(|expr| expr.volatile),
            Tree::List(items) => items.iter().any(Tree::is_volatile),
            Tree::Map(members) => members.iter().any(|(_, it)| it.is_volatile()),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => false,
        }
    }

    fn fill(
        &self,
        render: &dyn Fn(&Template) -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        Ok(match self {
            Tree::Null => Value::Null,
            Tree::Bool(bool) => Value::Bool(*bool),
            Tree::Number(text) => Value::read(text.as_bytes()).map_err(|error| EvalError {
                message: format!("the number `{text}` cannot be read: {error}"),
                span: Span::default(),
            })?,
            Tree::Text(template) => render(template)?,
            Tree::List(items) => {
                let items: Result<Vec<Value>, EvalError> =
                    items.iter().map(|item| item.fill(render)).collect();
                Value::list(items?)
            }
            Tree::Map(members) => {
                let mut map = Map::new();
                for (name, value) in members {
                    map.insert(name.it.as_str().into(), value.fill(render)?);
                }
                Value::Map(Arc::new(map))
            }
        })
    }
}
