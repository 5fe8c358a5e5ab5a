//! Which members of two canonical values differ, as JSON pointers. Never shows a value: the
//! place is enough to find the mistake, and values may be secret.

use std::collections::{HashMap, HashSet};

use super::Canonical;

/// The places at which two values differ, at most `limit` of them.
///
/// The empty pointer stands for the whole value.
#[must_use]
pub fn differences(a: &Canonical, b: &Canonical, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    walk(
        a.as_str(),
        b.as_str(),
        &mut String::new(),
        limit,
        &mut found,
    );
    found
}

fn walk(a: &str, b: &str, path: &mut String, limit: usize, found: &mut Vec<String>) {
    if a == b || found.len() >= limit {
        return;
    }
    let pairs = match (a.as_bytes()[0], b.as_bytes()[0]) {
        (b'{', b'{') => paired_members(a, b),
        (b'[', b'[') => paired_elements(a, b),
        _ => return found.push(path.clone()),
    };
    for (step, a, b) in pairs {
        let length = path.len();
        path.push('/');
        path.push_str(&step);
        match (a, b) {
            (Some(a), Some(b)) => walk(a, b, path, limit, found),
            _ if found.len() < limit => found.push(path.clone()),
            _ => {}
        }
        path.truncate(length);
    }
}

type Pair<'a> = (String, Option<&'a str>, Option<&'a str>);

fn paired_elements<'a>(a: &'a str, b: &'a str) -> Vec<Pair<'a>> {
    let (a, b): (Vec<_>, Vec<_>) = (items(a), items(b));
    let count = a.len().max(b.len());
    (0..count)
        .map(|i| (i.to_string(), a.get(i).copied(), b.get(i).copied()))
        .collect()
}

fn paired_members<'a>(a: &'a str, b: &'a str) -> Vec<Pair<'a>> {
    let split = |item: &'a str| {
        let end = value_end(item, 0);
        (&item[1..end - 1], &item[end + 1..])
    };
    let (a, b): (Vec<_>, Vec<_>) = (
        items(a).into_iter().map(split).collect(),
        items(b).into_iter().map(split).collect(),
    );
    let by_name: HashMap<&str, &'a str> = b.iter().copied().collect();
    let names: HashSet<&str> = a.iter().map(|(name, _)| *name).collect();
    let only_b = b.iter().filter(|(name, _)| !names.contains(name));
    a.iter()
        .map(|(name, value)| (pointer_step(name), Some(*value), by_name.get(name).copied()))
        .chain(only_b.map(|(name, value)| (pointer_step(name), None, Some(*value))))
        .collect()
}

fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The top-level items between the brackets of a canonical array or object.
fn items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut at = 1;
    while at < text.len() - 1 {
        let mut end = value_end(text, at);
        if text.as_bytes().get(end) == Some(&b':') {
            end = value_end(text, end + 1);
        }
        items.push(&text[at..end]);
        at = end + 1;
    }
    items
}

/// Where the canonical value that starts at `at` ends.
fn value_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0;
    let mut in_string = false;
    let mut i = at;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' if in_string => i += 1,
            b'"' => {
                in_string = !in_string;
                if !in_string && depth == 0 {
                    return i + 1;
                }
            }
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return i,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return i + 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}
