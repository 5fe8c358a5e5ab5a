//! The functions. One table says what there is, what it takes and how it is written;
//! `docs/expressions.md` tells users the same.
//!
//! A function sees values, fuel and the few impure [`Names`]; it never sees a secret: the evaluator
//! refuses that before, and what looks into lists and objects refuses it there.

mod convert;
mod encode;
mod list;
mod math;
mod pattern;
mod text;
mod time;

pub(super) use encode::json;
pub use pattern::Pattern;

use super::Names;
use super::eval::misfit;
use super::fault::{Fault, Outcome, wrong};
use super::fuel::Fuel;
use crate::value::{Map, Value};

/// A function.
pub struct Function {
    /// What it is called.
    pub name: &'static str,
    /// How it is written, for messages.
    pub usage: &'static str,
    fewest: usize,
    most: usize,
    run: fn(&mut Call<'_>) -> Outcome,
}

/// One call of a function.
pub(super) struct Call<'c> {
    pub(super) name: &'static str,
    pub(super) args: &'c [Value],
    pub(super) pattern: Option<&'c Pattern>,
    pub(super) names: &'c dyn Names,
    pub(super) fuel: &'c mut Fuel,
}

const MANY: usize = usize::MAX;

/// Names of other dialects, and ours for the same.
const ELSEWHERE: [(&str, &str); 16] = [
    ("len", "size"),
    ("length", "size"),
    ("lower", "lowerAscii"),
    ("toLowerCase", "lowerAscii"),
    ("upper", "upperAscii"),
    ("toUpperCase", "upperAscii"),
    ("str", "string"),
    ("toString", "string"),
    ("toJSON", "toJson"),
    ("fromJSON", "parseJson"),
    ("fromJson", "parseJson"),
    ("sha256", "hash"),
    ("md5", "hash"),
    ("coalesce", "default"),
    ("orValue", "default"),
    ("float", "double"),
];

/// All functions that are not macros.
pub(super) static FUNCTIONS: &[&[Function]] = &[
    convert::FUNCTIONS,
    encode::FUNCTIONS,
    list::FUNCTIONS,
    math::FUNCTIONS,
    text::FUNCTIONS,
    time::FUNCTIONS,
];

const MACROS: [&str; 7] = [
    "all",
    "default",
    "exists",
    "exists_one",
    "filter",
    "has",
    "map",
];

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    all().find(|function| function.name == name)
}

pub(super) fn all() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().copied().flatten()
}

/// Everything that can be called.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name).chain(MACROS)
}

/// What other dialects call it.
pub(super) fn known_elsewhere(name: &str) -> Option<&'static str> {
    let known = ELSEWHERE.iter().find(|(theirs, _)| *theirs == name);
    known.map(|(_, ours)| *ours)
}

impl Function {
    /// A function of exactly so many arguments.
    const fn new(
        name: &'static str,
        args: usize,
        usage: &'static str,
        run: fn(&mut Call<'_>) -> Outcome,
    ) -> Function {
        Function {
            name,
            usage,
            fewest: args,
            most: args,
            run,
        }
    }

    /// With up to so many.
    const fn up_to(mut self, most: usize) -> Function {
        self.most = most;
        self
    }

    /// Whether it takes so many arguments, the receiver counted.
    #[must_use]
    pub fn takes(&self, count: usize) -> bool {
        (self.fewest..=self.most).contains(&count)
    }

    pub(super) fn call(&self, call: &mut Call<'_>) -> Outcome {
        (self.run)(call)
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl<'c> Call<'c> {
    fn arg(&self, index: usize) -> &'c Value {
        const NONE: &Value = &Value::Null;
        self.args.get(index).unwrap_or(NONE)
    }

    fn has(&self, index: usize) -> bool {
        index < self.args.len()
    }

    /// Says which argument has the wrong kind.
    fn misfit(&self, index: usize, wanted: &str) -> Fault {
        let name = self.name;
        let what = match index {
            0 => format!("`{name}` needs {wanted}"),
            _ => format!("`{name}` needs {wanted} as value {}", index + 1),
        };
        misfit(&what, self.arg(index))
    }

    fn text(&self, index: usize) -> Outcome<&'c str> {
        self.arg(index)
            .as_text()
            .ok_or_else(|| self.misfit(index, "text"))
    }

    fn int(&self, index: usize) -> Outcome<i64> {
        match self.arg(index) {
            Value::Int(int) => Ok(*int),
            _ => Err(self.misfit(index, "a whole number")),
        }
    }

    /// A place or a count: a whole number from 0.
    fn count(&self, index: usize) -> Outcome<usize> {
        let int = self.int(index)?;
        usize::try_from(int)
            .map_err(|_| wrong(format!("`{}` needs a number from 0, not {int}", self.name)))
    }

    fn list(&self, index: usize) -> Outcome<&'c [Value]> {
        match self.arg(index) {
            Value::List(items) => Ok(items),
            _ => Err(self.misfit(index, "a list")),
        }
    }

    fn map(&self, index: usize) -> Outcome<&'c Map> {
        match self.arg(index) {
            Value::Map(map) => Ok(map),
            _ => Err(self.misfit(index, "an object")),
        }
    }

    /// Text that was made, paid for.
    fn made(&mut self, text: String) -> Outcome {
        self.fuel.text(text.len())?;
        Ok(Value::Text(text.into()))
    }
}
