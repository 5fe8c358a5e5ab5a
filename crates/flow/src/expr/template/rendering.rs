//! Text as it is filled in, with the secrets in it kept apart.

use crate::expr::fuel::Fuel;
use crate::expr::functions::json;
use crate::expr::{EvalError, Expr};
use crate::value::{Piece, Value};

/// Text under way.
#[derive(Default)]
pub(super) struct Rendering {
    pieces: Vec<Piece>,
    /// What comes after the last secret.
    text: String,
    /// What came before it.
    earlier: usize,
}

impl Rendering {
    /// How long it has become, without the secrets.
    pub(super) fn bytes(&self) -> usize {
        self.earlier + self.text.len()
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn value(&mut self, expr: &Expr, value: &Value) -> Result<(), EvalError> {
        match value {
            Value::Null => {
                let source = &expr.source;
                return Err(EvalError {
                    message: format!(
                        "`{source}` is null and cannot stand in text; write `default({source}, \"…\")`"
                    ),
                    span: expr.span,
                });
            }
            Value::Text(text) => self.text(text),
            Value::Sealed(pieces) => pieces.iter().for_each(|piece| self.piece(piece)),
            Value::List(_) | Value::Map(_) => {
                let json = json(value, &mut Fuel::full());
                self.text(&json.map_err(|fault| fault.into_error(expr.span))?);
            }
            other => self.text(&other.shown()),
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Plain(text) => self.text(text),
            Piece::Secret(_) => {
                self.flush();
                self.pieces.push(piece.clone());
            }
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.earlier += text.len();
            self.pieces.push(Piece::Plain(text.into()));
        }
    }

    pub(super) fn into_value(mut self) -> Value {
        if self.pieces.is_empty() {
            return Value::Text(self.text.into());
        }
        self.flush();
        Value::Sealed(self.pieces.into())
    }
}
