//! The same for every item: `all exists exists_one map filter`.

use std::sync::Arc;

use super::{Evaluation, Local, Locals, misfit};
use crate::expr::ast::{Each, What};
use crate::expr::fault::{Fault, FaultKind, Outcome};
use crate::value::Value;

impl Evaluation<'_> {
    pub(super) fn each(&mut self, each: &Each, locals: Locals<'_>) -> Outcome {
        match self.value(&each.of, locals)? {
            Value::List(items) => self.over(each, items.iter().cloned(), locals),
            Value::Map(map) => {
                let names = map.keys().map(|name| Value::Text(Arc::clone(name)));
                self.over(each, names, locals)
            }
            other => Err(misfit("only lists and objects have items", &other).at(each.of.span)),
        }
    }

    fn over(
        &mut self,
        each: &Each,
        items: impl Iterator<Item = Value>,
        locals: Locals<'_>,
    ) -> Outcome {
        match each.what {
            What::All => self.quantify(each, items, false, locals),
            What::Exists => self.quantify(each, items, true, locals),
            What::ExistsOne => {
                let mut count = 0_usize;
                for item in items {
                    count += usize::from(self.holds(each, &item, locals)?);
                }
                Ok(Value::Bool(count == 1))
            }
            What::Filter => {
                let mut kept = Vec::new();
                for item in items {
                    if self.holds(each, &item, locals)? {
                        self.fuel.items(kept.len() + 1, 1)?;
                        kept.push(item);
                    }
                }
                Ok(Value::list(kept))
            }
            What::Map => self.collect(each, items, locals),
        }
    }

    fn collect(
        &mut self,
        each: &Each,
        items: impl Iterator<Item = Value>,
        locals: Locals<'_>,
    ) -> Outcome {
        let mut made = Vec::with_capacity(items.size_hint().0);
        for item in items {
            let local = local(each, &item, locals);
            if let Some(only) = &each.only
                && !self.truth(only, Some(&local))?
            {
                continue;
            }
            self.fuel.items(made.len() + 1, 1)?;
            made.push(self.value(&each.body, Some(&local))?);
        }
        Ok(Value::list(made))
    }

    /// `all` and `exists`: one item that decides is enough, as with `&&` and `||`.
    fn quantify(
        &mut self,
        each: &Each,
        items: impl Iterator<Item = Value>,
        decisive: bool,
        locals: Locals<'_>,
    ) -> Outcome {
        let mut doubt: Option<Fault> = None;
        for item in items {
            match self.holds(each, &item, locals) {
                Ok(bool) if bool == decisive => return Ok(Value::Bool(decisive)),
                Ok(_) => {}
                Err(fault) if fault.kind() == FaultKind::Stop => return Err(fault),
                Err(fault) => {
                    doubt.get_or_insert(fault);
                }
            }
        }
        match doubt {
            Some(fault) => Err(fault),
            None => Ok(Value::Bool(!decisive)),
        }
    }

    fn holds(&mut self, each: &Each, item: &Value, locals: Locals<'_>) -> Outcome<bool> {
        self.truth(&each.body, Some(&local(each, item, locals)))
    }
}

fn local<'l>(each: &'l Each, value: &'l Value, outer: Locals<'l>) -> Local<'l> {
    Local {
        name: &each.name,
        value,
        outer,
    }
}
