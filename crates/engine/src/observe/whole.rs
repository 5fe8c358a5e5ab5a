//! Answers that the ledger keeps whole.
//!
//! What a model said may be found by other steps and other flows, each with a `result` of its own: so
//! that is read when the answer is used, not before it is kept. What became of a value is written with it
//! by the store, which reads no expressions.

use semel_flow::Value;
use semel_flow::model::Step;

use crate::decide::{Scene, names};
use crate::kv;
use crate::read;
use crate::resolve;
use crate::state::State;

/// The part of the answer that is the result, if the ledger keeps the answer of this step whole.
pub(super) fn main_name(step: &Step) -> Option<&'static str> {
    let act = resolve::main_act(step)?;
    act.main_name().or_else(|| kv::main_name(act))
}

/// What later steps see of an answer as the ledger has it.
pub(crate) fn result(
    scene: &Scene<'_>,
    state: &State,
    step: &Step,
    kept: &Value,
) -> Result<Value, String> {
    let Some(main) = main_name(step) else {
        return Ok(kept.clone());
    };
    let Some(plain) = kept.get(main) else {
        // What a person said instead of it stands as it is.
        return match kept {
            Value::Null => Err("what was answered is not on record any more".to_owned()),
            said => Ok(said.clone()),
        };
    };
    match &step.result {
        None => Ok(plain.clone()),
        expr => {
            let read = read::result(expr.as_ref(), kept, &names(scene, state, &[]));
            read.map_err(|error| format!("result: {error}"))
        }
    }
}
