//! Keys that name only whom something is about: two orders of one customer would become one.

use super::super::index::{Inside, blocks};
use super::super::trace::Source;
use super::Key;
use crate::expr::Part;
use crate::model::Block;

/// Those who come back with something else.
const SUBJECTS: [&str; 20] = [
    "account",
    "buyer",
    "client",
    "company",
    "contact",
    "customer",
    "email",
    "mail",
    "member",
    "organisation",
    "organization",
    "owner",
    "person",
    "phone",
    "plan",
    "product",
    "sku",
    "team",
    "tenant",
    "user",
];

/// Words for what is done once for anybody.
const ONCE: [&str; 7] = [
    "birthday", "invite", "onboard", "register", "signup", "verify", "welcome",
];

/// Whom the key names, if it names nothing else.
pub(super) fn subject(key: &Key<'_, '_, '_>) -> Option<String> {
    if !key.role.is_identity() || says_once(key) {
        return None;
    }
    let mut found = None;
    for trace in key.traces.iter().filter(|trace| trace.source.varies()) {
        let subject = match &trace.source {
            Source::Event(path) => named(path)?,
            Source::Item { of, path } => {
                let each = key.place.loops.iter().rev();
                let mut each = each.filter(|step| Some(step.id.it.as_str()) == of.as_deref());
                let name = each
                    .next()
                    .and_then(|step| super::super::trace::item_of(step));
                let path: Vec<String> = name
                    .into_iter()
                    .map(str::to_owned)
                    .chain(path.iter().cloned())
                    .collect();
                named(&path)?
            }
            Source::Header { name } => name.clone()?,
            // Anything else may tell two things apart.
            _ => return None,
        };
        found.get_or_insert(subject);
    }
    found
}

/// The text around the values says that once is meant.
fn says_once(key: &Key<'_, '_, '_>) -> bool {
    key.template.parts.iter().any(|part| match part {
        Part::Text(text) => {
            let text = text.to_ascii_lowercase().replace(['-', '_'], "");
            ONCE.iter().any(|word| text.contains(word))
        }
        Part::Expr(_) => false,
    })
}

/// The subject that a path ends with: `customer`, `customer_id`, `customerId` or `customer.id`.
fn named(path: &[String]) -> Option<String> {
    let last = path.last()?;
    let owner = match last.as_str() {
        "id" | "email" | "phone" | "uuid" | "name" if path.len() > 1 => &path[path.len() - 2],
        _ => last,
    };
    [last, owner].into_iter().find_map(|name| {
        let name = name.to_ascii_lowercase();
        let name = name.trim_end_matches("id").trim_end_matches('_');
        let name = name.rsplit('_').next().unwrap_or(name);
        SUBJECTS.contains(&name).then(|| name.to_owned())
    })
}

/// Whether a step stands inside a `for_each` of this path.
pub(super) fn is_inside(path: &[Inside<'_>], each: &str, step: &str) -> bool {
    fn holds(block: &Block, id: &str) -> bool {
        block
            .iter()
            .any(|step| step.id.it == id || blocks(step).into_iter().any(|block| holds(block, id)))
    }
    path.iter()
        .filter(|inside| inside.step.id.it == each)
        .any(|inside| {
            blocks(inside.step)
                .into_iter()
                .any(|block| holds(block, step))
        })
}
