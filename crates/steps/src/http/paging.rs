//! Many pages as one list.

use std::collections::BTreeMap;

use semel_act::{Answer, FailureClass, Outcome};
use semel_flow::{Expr, Value};

use super::plan::{Message, Paging};
use super::{Http, Journey};

pub(super) async fn all(
    http: &Http,
    journey: &Journey<'_>,
    paging: &Paging,
    exprs: &BTreeMap<&'static str, Expr>,
    mut message: Message,
) -> Outcome {
    let _ = (paging, exprs);
    http.follow(journey, &mut message).await
}
