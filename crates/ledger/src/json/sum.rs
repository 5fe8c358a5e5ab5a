//! Adding two numbers to the last digit, however many digits that takes.

use std::cmp::Ordering;

use super::Canonical;
use super::number::{Spelled, scan, write};

/// The exact sum of two numbers; `None` if one of them is no number, or the sum is out of range.
#[must_use]
pub fn sum(a: &Canonical, b: &Canonical) -> Option<Canonical> {
    let (a, b) = (number(a)?, number(b)?);
    let lowest = a.lowest()?.min(b.lowest()?);
    let (left, right) = (a.digits_from(lowest)?, b.digits_from(lowest)?);
    let (negative, digits) = if a.is_negative() == b.is_negative() {
        (a.is_negative(), added(&left, &right))
    } else if size(&left, &right) == Ordering::Less {
        (b.is_negative(), taken(&right, &left))
    } else {
        (a.is_negative(), taken(&left, &right))
    };
    let mut text = String::new();
    write(&Spelled::whole(negative, &digits, lowest), &mut text)?;
    Some(Canonical(text.into()))
}

fn number(value: &Canonical) -> Option<Spelled> {
    let bytes = value.as_str().as_bytes();
    let (length, number) = scan(bytes);
    number.filter(|_| length == bytes.len())
}

/// Digits stand with the last one first, so that they grow at the end.
fn size(a: &[u8], b: &[u8]) -> Ordering {
    let digit = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(0);
    let places = (0..a.len().max(b.len())).rev();
    let mut differing = places.map(|at| digit(a, at).cmp(&digit(b, at)));
    differing
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn added(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let mut sum = Vec::with_capacity(a.len().max(b.len()) + 1);
    for at in 0..a.len().max(b.len()) {
        let digit = a.get(at).unwrap_or(&0) + b.get(at).unwrap_or(&0) + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    sum.push(carry);
    sum
}

/// `a` less `b`, which is not larger.
fn taken(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut borrowed = 0;
    let mut rest = Vec::with_capacity(a.len());
    for (at, digit) in a.iter().enumerate() {
        let take = b.get(at).unwrap_or(&0) + borrowed;
        borrowed = u8::from(*digit < take);
        rest.push(digit + 10 * borrowed - take);
    }
    rest
}
