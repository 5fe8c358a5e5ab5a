//! `[groups]`: lists of persons under a name, for whoever may decide what waits for `group:NAME`.

use std::collections::BTreeSet;

use toml::de::DeValue;

use super::file::{Problem, line_at};

/// A group, and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// The names of their tokens.
    pub(crate) members: Vec<String>,
    pub(crate) line: usize,
}

/// Reads the table `groups`.
pub(super) fn read(text: &str, value: &DeValue<'_>, at: usize) -> Result<Vec<Group>, Problem> {
    let wrong = |line: usize, problem: String| {
        let fix = "write NAME = [\"ann\", \"bob\"] below [groups]".to_owned();
        (line, problem, Some(fix))
    };
    let DeValue::Table(table) = value else {
        let problem = "groups must be a table".to_owned();
        return Err(wrong(line_at(text, at), problem));
    };
    let mut found = Vec::new();
    for (name, members) in table {
        let line = line_at(text, name.span().start);
        let name = name.get_ref().to_string();
        let DeValue::Array(items) = members.get_ref() else {
            let problem = format!("groups.{name} must be a list of names");
            return Err(wrong(line, problem));
        };
        let mut members = Vec::new();
        let mut seen = BTreeSet::new();
        for item in items {
            let line = line_at(text, item.span().start);
            let member = match item.get_ref() {
                DeValue::String(text) if !text.trim().is_empty() => text.to_string(),
                _ => {
                    let problem = format!("groups.{name} must hold names in quotes");
                    return Err(wrong(line, problem));
                }
            };
            // A group in a group would say who may decide in two places.
            if member.starts_with("group:") {
                let problem = format!("groups.{name} has {member:?}: a group holds persons only");
                return Err(wrong(line, problem));
            }
            if !seen.insert(member.clone()) {
                let problem = format!("groups.{name} names {member:?} twice");
                return Err(wrong(line, problem));
            }
            members.push(member);
        }
        if members.is_empty() {
            let problem = format!("groups.{name} is empty: nobody could decide");
            return Err(wrong(line, problem));
        }
        found.push(Group {
            name,
            members,
            line,
        });
    }
    found.sort_by_key(|group| group.line);
    Ok(found)
}
