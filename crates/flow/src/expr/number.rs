//! Arithmetic that keeps what can be kept.
//!
//! Two whole numbers stay whole, and going over 64 bits is an error. With a decimal, `+ - *` and
//! comparison are exact (`0.1 + 0.2 == 0.3`) as long as the digits fit; only what does not fit, and
//! `/`, goes through binary fractions.

use std::cmp::Ordering;

use super::fault::{Outcome, wrong};
use crate::value::Value;

/// Decimal digits and a power of ten.
struct Exact {
    digits: i128,
    exponent: i32,
}

/// Sign, where the point stands counted from the first digit, and the digits.
struct Spelled {
    negative: bool,
    point: i64,
    digits: String,
}

/// Whether it is a number.
pub(super) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Decimal(_))
}

/// The number as a binary fraction.
#[allow(clippy::cast_precision_loss, reason = "asked for")]
pub(super) fn to_f64(value: &Value) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Decimal(decimal) => decimal.to_f64(),
        _ => f64::NAN,
    }
}

/// The value of a binary fraction.
pub(super) fn of_f64(number: f64) -> Outcome {
    Value::number(number).ok_or_else(|| wrong("the result is not a finite number"))
}

pub(super) fn add(left: &Value, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => whole(left.checked_add(*right)),
        _ => exactly(left, right, |a, b| aligned(a, b, i128::checked_add))
            .map_or_else(|| of_f64(to_f64(left) + to_f64(right)), Ok),
    }
}

pub(super) fn subtract(left: &Value, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => whole(left.checked_sub(*right)),
        _ => exactly(left, right, |a, b| aligned(a, b, i128::checked_sub))
            .map_or_else(|| of_f64(to_f64(left) - to_f64(right)), Ok),
    }
}

pub(super) fn multiply(left: &Value, right: &Value) -> Outcome {
    let product = |a: &Exact, b: &Exact| {
        Some(Exact {
            digits: a.digits.checked_mul(b.digits)?,
            exponent: a.exponent.checked_add(b.exponent)?,
        })
    };
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => whole(left.checked_mul(*right)),
        _ => exactly(left, right, product).map_or_else(|| of_f64(to_f64(left) * to_f64(right)), Ok),
    }
}

/// `/`, and with `keep` what is written as a decimal division.
pub(super) fn divide(left: &Value, right: &Value, keep: bool) -> Outcome {
    match (left, right) {
        (_, Value::Int(0)) => Err(wrong("division by zero")),
        (Value::Int(left), Value::Int(right)) if !keep => whole(left.checked_div(*right)),
        _ => of_f64(to_f64(left) / to_f64(right)),
    }
}

pub(super) fn remainder(left: &Value, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) => Err(wrong("division by zero")),
        (Value::Int(left), Value::Int(right)) => whole(left.checked_rem(*right)),
        _ => Err(wrong("`%` needs whole numbers")),
    }
}

pub(super) fn negate(it: &Value) -> Outcome {
    match it {
        Value::Int(int) => whole(int.checked_neg()),
        other => subtract(&Value::Int(0), other),
    }
}

/// Which of two numbers is larger, to the last digit.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    if let (Value::Int(left), Value::Int(right)) = (left, right) {
        return Some(left.cmp(right));
    }
    let (left, right) = (Spelled::of(left)?, Spelled::of(right)?);
    Some(match (left.negative, right.negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (negative, _) => {
            let size = left.size(&right);
            if negative { size.reverse() } else { size }
        }
    })
}

/// Where a number goes that has more digits than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// To the next lower.
    Down,
    /// To the next higher.
    Up,
    /// Towards zero.
    Cut,
    /// To the nearest; half goes away from zero, as people round.
    Nearest,
}

/// The number with at most so many digits after the point.
pub(super) fn round(value: &Value, digits: u32, how: Rounding) -> Outcome {
    if let Value::Int(_) = value {
        return Ok(value.clone());
    }
    let exact = Exact::of(value).and_then(|exact| exact.rounded(digits, how)?.into_value());
    let unit = 10_f64.powi(i32::try_from(digits).unwrap_or(0));
    exact.map_or_else(|| of_f64(how.of(to_f64(value) * unit) / unit), Ok)
}

fn whole(result: Option<i64>) -> Outcome {
    result
        .map(Value::Int)
        .ok_or_else(|| wrong("the whole number does not fit 64 bits"))
}

fn exactly(
    left: &Value,
    right: &Value,
    by: impl Fn(&Exact, &Exact) -> Option<Exact>,
) -> Option<Value> {
    by(&Exact::of(left)?, &Exact::of(right)?)?.into_value()
}

/// Both with the smaller exponent.
fn aligned(a: &Exact, b: &Exact, by: fn(i128, i128) -> Option<i128>) -> Option<Exact> {
    let exponent = a.exponent.min(b.exponent);
    let scaled = |it: &Exact| {
        let up = u32::try_from(it.exponent.checked_sub(exponent)?).ok()?;
        it.digits.checked_mul(10_i128.checked_pow(up)?)
    };
    Some(Exact {
        digits: by(scaled(a)?, scaled(b)?)?,
        exponent,
    })
}

impl Exact {
    fn of(value: &Value) -> Option<Exact> {
        if let Value::Int(int) = value {
            return Some(Exact {
                digits: (*int).into(),
                exponent: 0,
            });
        }
        let spelled = Spelled::of(value)?;
        let digits: i128 = spelled.digits.parse().ok()?;
        let count = i64::try_from(spelled.digits.len()).ok()?;
        Some(Exact {
            digits: if spelled.negative { -digits } else { digits },
            exponent: i32::try_from(spelled.point - count).ok()?,
        })
    }
}

impl Exact {
    fn into_value(self) -> Option<Value> {
        Value::read(format!("{}e{}", self.digits, self.exponent).as_bytes()).ok()
    }

    fn rounded(self, digits: u32, how: Rounding) -> Option<Exact> {
        let kept = i32::try_from(digits).ok()?.checked_neg()?;
        let Ok(surplus) = u32::try_from(kept.checked_sub(self.exponent)?) else {
            return Some(self);
        };
        let unit = 10_i128.checked_pow(surplus)?;
        let down = self.digits.div_euclid(unit);
        let rest = self.digits.rem_euclid(unit);
        let up = match how {
            Rounding::Down => false,
            Rounding::Up => rest > 0,
            Rounding::Cut => rest > 0 && self.digits < 0,
            Rounding::Nearest if self.digits < 0 => rest > unit / 2,
            Rounding::Nearest => rest >= unit - unit / 2,
        };
        Some(Exact {
            digits: down + i128::from(up),
            exponent: kept,
        })
    }
}

impl Rounding {
    fn of(self, number: f64) -> f64 {
        match self {
            Rounding::Down => number.floor(),
            Rounding::Up => number.ceil(),
            Rounding::Cut => number.trunc(),
            Rounding::Nearest => number.round(),
        }
    }
}

impl Spelled {
    fn of(value: &Value) -> Option<Spelled> {
        let text = match value {
            Value::Int(int) => int.to_string(),
            Value::Decimal(decimal) => decimal.as_str().to_owned(),
            _ => return None,
        };
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let leading = i64::try_from(all.len() - digits.len()).ok()?;
        let point = i64::try_from(whole.len()).ok()? - leading + exponent.parse::<i64>().ok()?;
        Some(Spelled {
            negative,
            point: if digits.is_empty() { i64::MIN } else { point },
            digits: digits.to_owned(),
        })
    }

    /// Compares without the sign.
    fn size(&self, other: &Spelled) -> Ordering {
        let plain = |it: &Spelled| it.digits.trim_end_matches('0').to_owned();
        self.point
            .cmp(&other.point)
            .then_with(|| plain(self).cmp(&plain(other)))
    }
}
