//! Values as they are written.

use cel::common::ast::LiteralValue;

use super::fault;
use super::lower::{Lowered, Lowering, Result};
use crate::expr::ast::Node;
use crate::value::Value;

impl Lowering<'_> {
    pub(super) fn literal(
        &self,
        literal: &LiteralValue,
        start: usize,
        end: usize,
    ) -> Result<Lowered> {
        let decimal = matches!(literal, LiteralValue::Double(_));
        let text = &self.source[start..end];
        let mut negative = false;
        let value = match literal {
            LiteralValue::Null => Value::Null,
            LiteralValue::Boolean(bool) => Value::Bool(*bool.inner()),
            LiteralValue::String(text) => Value::text(text.inner()),
            LiteralValue::Int(int) => {
                negative = *int.inner() < 0;
                Value::Int(*int.inner())
            }
            LiteralValue::UInt(int) => i64::try_from(*int.inner())
                .map(Value::Int)
                .or_else(|_| Value::read(int.inner().to_string().as_bytes()))
                .unwrap_or(Value::Null),
            LiteralValue::Double(double) => {
                negative = double.inner().is_sign_negative();
                self.decimal(text, negative, start, end)?
            }
            LiteralValue::Bytes(_) => {
                let span = self.place.span(start, end);
                return Err(fault::syntax(span, "bytes are not supported; write text"));
            }
        };
        // The parser's token is the digits alone.
        let before = self.source[..start].trim_end();
        let start = match before.strip_suffix('-') {
            Some(sign) if negative => sign.len(),
            _ => start,
        };
        Ok(Lowered {
            node: Node::Literal(value),
            start,
            end,
            decimal,
        })
    }

    /// A decimal to the last digit, which the parser's binary fraction would lose.
    fn decimal(&self, text: &str, negative: bool, start: usize, end: usize) -> Result<Value> {
        let sign = if negative { "-" } else { "" };
        let digits = text.trim_start_matches('0');
        let zero = if digits.starts_with(|c: char| c.is_ascii_digit()) {
            ""
        } else {
            "0"
        };
        Value::read(format!("{sign}{zero}{digits}").as_bytes())
            .map_err(|_| fault::syntax(self.place.span(start, end), "out of range for a number"))
    }
}
