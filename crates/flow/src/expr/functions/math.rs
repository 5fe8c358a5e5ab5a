//! Numbers.

use std::cmp::Ordering;

use super::{Call, Function, MANY};
use crate::expr::eval::order;
use crate::expr::fault::{Outcome, wrong};
use crate::expr::number::{self, Rounding};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("min", 1, "`min(a, b)` or `min(list)`", min).up_to(MANY),
    Function::new("max", 1, "`max(a, b)` or `max(list)`", max).up_to(MANY),
    Function::new("abs", 1, "`abs(number)`", abs),
    Function::new(
        "round",
        1,
        "`round(number)` or `round(number, digits)`",
        round,
    )
    .up_to(2),
    Function::new("floor", 1, "`floor(number)`", floor),
    Function::new("ceil", 1, "`ceil(number)`", ceil),
];

/// The most digits that `round` keeps.
const MAX_DIGITS: u32 = 15;

fn min(call: &mut Call<'_>) -> Outcome {
    extreme(call, Ordering::is_lt)
}

fn max(call: &mut Call<'_>) -> Outcome {
    extreme(call, Ordering::is_gt)
}

fn extreme(call: &mut Call<'_>, better: fn(Ordering) -> bool) -> Outcome {
    let items = match call.args {
        [Value::List(items)] => items.as_slice(),
        several => several,
    };
    let Some((first, rest)) = items.split_first() else {
        return Err(wrong(format!("`{}` of an empty list", call.name)));
    };
    // Even alone it must be something that has an order.
    order(first, first, call.fuel)?;
    let mut best = first;
    for item in rest {
        if better(order(item, best, call.fuel)?) {
            best = item;
        }
    }
    Ok(best.clone())
}

fn abs(call: &mut Call<'_>) -> Outcome {
    match call.arg(0) {
        Value::Span(millis) => millis
            .checked_abs()
            .map(Value::Span)
            .ok_or_else(|| wrong("the duration is too long")),
        number if number::is_number(number) => match number::order(number, &Value::Int(0)) {
            Some(order) if order.is_lt() => number::negate(number),
            _ => Ok(number.clone()),
        },
        _ => Err(call.misfit(0, "a number")),
    }
}

fn round(call: &mut Call<'_>) -> Outcome {
    let number = number_of(call)?;
    let digits = if call.has(1) { call.count(1)? } else { 0 };
    let digits = u32::try_from(digits)
        .ok()
        .filter(|digits| *digits <= MAX_DIGITS)
        .ok_or_else(|| wrong(format!("`round` keeps at most {MAX_DIGITS} digits")))?;
    number::round(number, digits, Rounding::Nearest)
}

fn floor(call: &mut Call<'_>) -> Outcome {
    number::round(number_of(call)?, 0, Rounding::Down)
}

fn ceil(call: &mut Call<'_>) -> Outcome {
    number::round(number_of(call)?, 0, Rounding::Up)
}

fn number_of<'c>(call: &Call<'c>) -> Outcome<&'c Value> {
    let number = call.arg(0);
    if number::is_number(number) {
        Ok(number)
    } else {
        Err(call.misfit(0, "a number"))
    }
}
