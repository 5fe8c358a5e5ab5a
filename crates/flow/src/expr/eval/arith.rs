//! `+ - * / %` on numbers, text, lists, times and durations.

use std::sync::Arc;

use jiff::Timestamp;
use semel_ledger::Time;

use super::{Evaluation, Locals, misfit};
use crate::expr::ast::{Arith, Ast};
use crate::expr::fault::{Fault, Outcome, secret, wrong};
use crate::expr::fuel::Fuel;
use crate::expr::number;
use crate::value::{Piece, Value};

/// What a chain has come to; text is grown in place, so that a long chain is not copied at each `+`.
enum Sum {
    Value(Value),
    Text(String),
}

impl Evaluation<'_> {
    pub(super) fn chain(
        &mut self,
        first: &Ast,
        rest: &[(Arith, Ast)],
        locals: Locals<'_>,
    ) -> Outcome {
        let mut sum = Sum::Value(self.value(first, locals)?);
        for (arith, operand) in rest {
            let right = self.value(operand, locals)?;
            sum = self
                .step(sum, *arith, right)
                .map_err(|fault| fault.at(operand.span))?;
        }
        Ok(sum.into_value())
    }

    fn step(&mut self, sum: Sum, arith: Arith, right: Value) -> Outcome<Sum> {
        match (sum, arith, right) {
            (Sum::Text(mut text), Arith::Add, Value::Text(right)) => {
                self.fuel.text(text.len() + right.len())?;
                text.push_str(&right);
                Ok(Sum::Text(text))
            }
            (Sum::Value(Value::Text(left)), Arith::Add, Value::Text(right)) => {
                self.fuel.text(left.len() + right.len())?;
                let mut text = String::with_capacity((left.len() + right.len()) * 2);
                text.push_str(&left);
                text.push_str(&right);
                Ok(Sum::Text(text))
            }
            (Sum::Value(Value::List(mut left)), Arith::Add, Value::List(right)) => {
                self.fuel.items(left.len() + right.len(), right.len())?;
                if Arc::get_mut(&mut left).is_none() {
                    self.fuel.use_up(left.len())?;
                }
                Arc::make_mut(&mut left).extend_from_slice(&right);
                Ok(Sum::Value(Value::List(left)))
            }
            (sum, arith, right) => {
                let left = sum.into_value();
                apply(arith, &left, &right, &mut self.fuel).map(Sum::Value)
            }
        }
    }
}

impl Sum {
    fn into_value(self) -> Value {
        match self {
            Sum::Value(value) => value,
            Sum::Text(text) => Value::Text(text.into()),
        }
    }
}

fn apply(arith: Arith, left: &Value, right: &Value, fuel: &mut Fuel) -> Outcome {
    match (arith, left, right) {
        (_, left, right) if number::is_number(left) && number::is_number(right) => {
            numeric(arith, left, right)
        }
        (Arith::Add, Value::Sealed(_), Value::Text(_) | Value::Sealed(_))
        | (Arith::Add, Value::Text(_), Value::Sealed(_)) => sealed(left, right, fuel),
        (_, Value::Sealed(_), _) | (_, _, Value::Sealed(_)) => Err(secret()),
        (Arith::Add, Value::Time(time), Value::Span(span))
        | (Arith::Add, Value::Span(span), Value::Time(time)) => instant(time.0.checked_add(*span)),
        (Arith::Subtract, Value::Time(time), Value::Span(span)) => {
            instant(time.0.checked_sub(*span))
        }
        (Arith::Subtract, Value::Time(left), Value::Time(right)) => {
            span(left.0.checked_sub(right.0))
        }
        (Arith::Add, Value::Span(left), Value::Span(right)) => span(left.checked_add(*right)),
        (Arith::Subtract, Value::Span(left), Value::Span(right)) => span(left.checked_sub(*right)),
        _ => Err(mismatch(arith, left, right)),
    }
}

fn numeric(arith: Arith, left: &Value, right: &Value) -> Outcome {
    match arith {
        Arith::Add => number::add(left, right),
        Arith::Subtract => number::subtract(left, right),
        Arith::Multiply => number::multiply(left, right),
        Arith::Divide => number::divide(left, right, false),
        Arith::Ratio => number::divide(left, right, true),
        Arith::Remainder => number::remainder(left, right),
    }
}

fn mismatch(arith: Arith, left: &Value, right: &Value) -> Fault {
    let (sign, left_kind, right_kind) = (arith.sign(), left.kind(), right.kind());
    let text = |value: &Value| matches!(value, Value::Text(_));
    let hint = match (arith, left, right) {
        (_, Value::Null, _) | (_, _, Value::Null) => "; write `default(value, fallback)`",
        (Arith::Add, left, right) if text(left) != text(right) => "; write `string(value)`",
        _ => "",
    };
    wrong(format!(
        "`{sign}` does not go with {left_kind} and {right_kind}{hint}"
    ))
}

/// Text with a secret in it stays sealed.
fn sealed(left: &Value, right: &Value, fuel: &mut Fuel) -> Outcome {
    let mut pieces = Vec::new();
    for value in [left, right] {
        match value {
            Value::Sealed(more) => pieces.extend(more.iter().cloned()),
            Value::Text(text) => pieces.push(Piece::Plain(Arc::clone(text))),
            _ => {}
        }
    }
    fuel.items(pieces.len(), pieces.len())?;
    Ok(Value::Sealed(pieces.into()))
}

/// A time that the calendar has.
pub(in crate::expr) fn instant(millis: Option<i64>) -> Outcome {
    millis
        .filter(|millis| Timestamp::from_millisecond(*millis).is_ok())
        .map(|millis| Value::Time(Time(millis)))
        .ok_or_else(|| wrong("the time is beyond the calendar"))
}

fn span(millis: Option<i64>) -> Outcome {
    millis
        .map(Value::Span)
        .ok_or_else(|| wrong("the duration is too long"))
}

pub(super) fn negate(it: &Value) -> Outcome {
    match it {
        it if number::is_number(it) => number::negate(it),
        Value::Span(millis) => span(millis.checked_neg()),
        other => Err(misfit("`-` needs a number or a duration", other)),
    }
}
