//! Rows as they come in, within limits.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::value::Map;

use super::fault::Fault;

/// How much of an answer is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

/// What a statement gave.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// The rows it returned; `None` if it is of a kind that returns none.
    pub(super) rows: Option<Vec<Value>>,
    /// How many rows it changed, or returned.
    pub(super) count: u64,
}

/// Takes rows in until there is no room.
pub(super) struct Gather {
    names: Vec<Arc<str>>,
    rows: Vec<Value>,
    room: Room,
    bytes: usize,
}

impl Gather {
    /// For rows with these columns.
    pub(super) fn new<'n>(
        names: impl IntoIterator<Item = &'n str>,
        room: Room,
    ) -> Result<Gather, Fault> {
        let names: Vec<Arc<str>> = names.into_iter().map(Into::into).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(Fault::wrong(format!(
                    "two columns of the answer are called `{name}`; give one another name with AS"
                )));
            }
        }
        Ok(Gather {
            names,
            rows: Vec::new(),
            room,
            bytes: 0,
        })
    }

    pub(super) fn push(&mut self, values: Vec<Value>) -> Result<(), Fault> {
        if self.rows.len() == self.room.rows {
            return Err(Fault::wrong(format!(
                "the answer has more than {} rows; ask for fewer, or raise `rows`",
                self.room.rows
            )));
        }
        self.bytes += values.iter().map(weight).sum::<usize>();
        if self.bytes > self.room.bytes {
            return Err(Fault::wrong(format!(
                "the answer has more than {} bytes; ask for less, or raise `limit`",
                self.room.bytes
            )));
        }
        let members = self.names.iter().cloned().zip(values);
        self.rows
            .push(Value::Map(Arc::new(members.collect::<Map>())));
        Ok(())
    }

    pub(super) fn rows(self) -> Vec<Value> {
        self.rows
    }

    /// The name of a column, for messages.
    pub(super) fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", |name| name)
    }
}

/// How many bytes a value takes, roughly.
fn weight(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.iter().map(weight).sum(),
        Value::Map(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| name.len() + weight(value))
                .sum()
        }
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { rows: 2, bytes: 20 };

    #[test]
    fn rows_are_taken_until_there_is_no_room() {
        let mut gather = Gather::new(["a"], ROOM).unwrap();
        gather.push(vec![Value::Int(1)]).unwrap();
        gather.push(vec![Value::Int(2)]).unwrap();
        let full = gather.push(vec![Value::Int(3)]).unwrap_err();
        assert_eq!(
            full.message,
            "the answer has more than 2 rows; ask for fewer, or raise `rows`"
        );
        let mut gather = Gather::new(["a"], ROOM).unwrap();
        let full = gather.push(vec![Value::text(&"x".repeat(21))]).unwrap_err();
        assert!(full.message.contains("more than 20 bytes"), "{full:?}");
    }

    #[test]
    fn columns_of_one_name_are_refused() {
        let Err(twice) = Gather::new(["a", "b", "a"], ROOM) else {
            panic!("two columns of one name");
        };
        assert!(twice.message.contains("`a`"), "{twice:?}");
    }
}
