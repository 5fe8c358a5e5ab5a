//! A task's fields, read into work for a database.

use semel_act::Task;
use semel_flow::Value;
use semel_flow::value::Map;
use semel_ledger::EffectId;

use super::fields::{
    FieldError, MOST_PARAMS, Read, missing, no_secret, size, text, whole, wrong_kind,
};
use super::names::{Column, Table};
use super::rows::Room;
use super::words;
use crate::secrets::Filler;

/// The most rows of an answer if the file says nothing, and whatever it says.
const ROWS: usize = 1000;
const MOST_ROWS: i64 = 100_000;
/// The longest answer in bytes if the file says nothing.
const LIMIT: usize = 1 << 20;

const FORMS: [&str; 5] = ["query", "run", "upsert", "update", "insert"];
const OTHERS: [&str; 5] = ["on", "params", "receipt", "rows", "limit"];

/// What is to be done in the database.
#[derive(Debug)]
pub(super) enum Work {
    /// SQL that only reads.
    Query(Statement),
    /// Any SQL.
    Run(Statement),
    /// A row that is there with these values, made or changed.
    Upsert(Row),
    /// A row that is made unless it is there.
    Insert(Row),
    /// Rows that are changed if there are as many as expected.
    Update(Update),
}

/// SQL as the file has it, and the values to bind.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) params: Vec<Value>,
}

/// Columns with values.
pub(super) type Columns = Vec<(Column, Value)>;

/// One row and what it is known by.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) into: Table,
    pub(super) on: Columns,
    pub(super) others: Columns,
}

/// A conditional change.
#[derive(Debug)]
pub(super) struct Update {
    pub(super) table: Table,
    pub(super) set: Columns,
    pub(super) filter: Columns,
    pub(super) expect: u64,
}

/// All of a task.
#[derive(Debug)]
pub(super) struct Plan {
    /// The name of the connection.
    pub(super) on: String,
    pub(super) work: Work,
    /// The effect to leave a mark for.
    pub(super) receipt: Option<EffectId>,
    pub(super) room: Room,
}

impl Plan {
    /// The first word of the SQL, if it is the file's.
    pub(super) fn word(&self) -> Option<String> {
        match &self.work {
            Work::Query(statement) | Work::Run(statement) => Some(words::first(&statement.sql)),
            Work::Upsert(_) | Work::Insert(_) | Work::Update(_) => None,
        }
    }

    pub(super) fn only_reads(&self) -> bool {
        matches!(self.work, Work::Query(_))
    }
}

/// Reads a task, and puts its secrets in.
pub(super) fn read(task: &Task, filler: &Filler) -> Read<Plan> {
    let Value::Map(members) = &task.input else {
        return Err(wrong_kind(
            "sql",
            &task.input,
            "fields such as query or run",
        ));
    };
    let known = |field: &str| FORMS.contains(&field) || OTHERS.contains(&field);
    if let Some(field) = members.keys().find(|field| !known(field)) {
        return Err(FieldError::Unknown {
            field: field.as_ref().to_owned(),
        });
    }
    let receipt = match task.input.get("receipt") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(effect(task)?),
        Some(other) => return Err(wrong_kind("receipt", other, "true or false")),
    };
    let work = work(&task.input, filler)?;
    if receipt.is_some() && matches!(work, Work::Query(_)) {
        return Err(FieldError::Both {
            one: "query",
            other: "receipt",
        });
    }
    Ok(Plan {
        on: text("on", task.input.get("on"))?.to_owned(),
        work,
        receipt,
        room: room(&task.input)?,
    })
}

fn effect(task: &Task) -> Read<EffectId> {
    match (&task.scope, &task.key) {
        (Some(scope), Some(key)) => Ok(EffectId::new(scope.clone(), key.clone())),
        _ => Err(FieldError::NoKey),
    }
}

fn work(input: &Value, filler: &Filler) -> Read<Work> {
    let given: Vec<_> = FORMS
        .into_iter()
        .filter_map(|form| Some((form, input.get(form)?)))
        .collect();
    let (form, value) = match given.as_slice() {
        [] => return Err(FieldError::NoForm),
        [one] => *one,
        [(one, _), (other, _), ..] => return Err(FieldError::Both { one, other }),
    };
    let fill = |field: &'static str, value: &Value| {
        let full = filler.value(value);
        full.map_err(no_secret::<FieldError>(field))
    };
    let params = match input.get("params") {
        None | Some(Value::Null) => Vec::new(),
        Some(_) if !matches!(form, "query" | "run") => {
            return Err(FieldError::Both {
                one: "params",
                other: form,
            });
        }
        Some(value) => params(&fill("params", value)?)?,
    };
    match form {
        "query" => Ok(Work::Query(statement("query", value, params)?)),
        "run" => Ok(Work::Run(statement("run", value, params)?)),
        "upsert" => row("upsert", "set", &fill("upsert", value)?).map(Work::Upsert),
        "insert" => row("insert", "values", &fill("insert", value)?).map(Work::Insert),
        _ => update(&fill("update", value)?).map(Work::Update),
    }
}

fn statement(field: &'static str, value: &Value, params: Vec<Value>) -> Read<Statement> {
    let sql = text(field, Some(value))?.to_owned();
    let word = words::first(&sql);
    if word.is_empty() {
        return Err(FieldError::NoStatement { field });
    }
    if words::controls(&word) {
        return Err(FieldError::Control { field, word });
    }
    Ok(Statement { sql, params })
}

fn params(value: &Value) -> Read<Vec<Value>> {
    let Value::List(items) = value else {
        return Err(wrong_kind("params", value, "a list of values"));
    };
    if items.len() > MOST_PARAMS {
        return Err(FieldError::TooManyParams { count: items.len() });
    }
    Ok(items.as_ref().clone())
}

fn row(form: &'static str, others_name: &'static str, value: &Value) -> Read<Row> {
    members(form, value, &["into", "on", others_name])?;
    let on = columns(form, "on", value)?;
    if let Some((column, _)) = on.iter().find(|(_, value)| *value == Value::Null) {
        return Err(FieldError::NullKey {
            field: format!("{form}.on.{}", column.as_str()),
        });
    }
    let others = match value.get(others_name) {
        // A row may be nothing but what it is known by, if it is never changed.
        None if form == "insert" => Vec::new(),
        _ => columns(form, others_name, value)?,
    };
    if let Some((column, _)) = others
        .iter()
        .find(|(column, _)| on.iter().any(|(name, _)| name == column))
    {
        return Err(FieldError::Twice {
            column: column.as_str().to_owned(),
            one: "on",
            other: others_name,
        });
    }
    Ok(Row {
        into: table(form, "into", value)?,
        on,
        others,
    })
}

fn update(value: &Value) -> Read<Update> {
    members("update", value, &["table", "set", "where", "expect"])?;
    let expect = match value.get("expect") {
        None => 1,
        Some(expect) => whole("update.expect", expect, 0, i64::from(u32::MAX))?.unsigned_abs(),
    };
    Ok(Update {
        table: table("update", "table", value)?,
        set: columns("update", "set", value)?,
        filter: columns("update", "where", value)?,
        expect,
    })
}

/// Refuses members that the object does not have.
fn members(form: &str, value: &Value, known: &[&str]) -> Read<()> {
    let Value::Map(members) = value else {
        return Err(wrong_kind(form, value, "an object"));
    };
    match members.keys().find(|name| !known.contains(&name.as_ref())) {
        Some(name) => Err(FieldError::Unknown {
            field: format!("{form}.{name}"),
        }),
        None => Ok(()),
    }
}

fn table(form: &str, name: &str, value: &Value) -> Read<Table> {
    let field = format!("{form}.{name}");
    let name = text(&field, value.get(name))?;
    Table::parse(name).map_err(|source| FieldError::Name { field, source })
}

fn columns(form: &str, name: &str, value: &Value) -> Read<Columns> {
    let field = format!("{form}.{name}");
    let members: &Map = match value.get(name) {
        None => return Err(missing(field)),
        Some(Value::Map(members)) => members,
        Some(other) => return Err(wrong_kind(field, other, "columns with values")),
    };
    if members.is_empty() {
        return Err(FieldError::NoColumn { field });
    }
    let read = members.iter().map(|(name, value)| {
        let column = Column::parse(name).map_err(|source| FieldError::Name {
            field: format!("{field}.{name}"),
            source,
        })?;
        Ok((column, value.clone()))
    });
    read.collect()
}

fn room(input: &Value) -> Read<Room> {
    let rows = match input.get("rows") {
        None => ROWS,
        Some(value) => whole("rows", value, 1, MOST_ROWS)?
            .try_into()
            .unwrap_or(ROWS),
    };
    let bytes = match input.get("limit") {
        None => LIMIT,
        Some(value) => size::<FieldError>("limit", value)?,
    };
    Ok(Room { rows, bytes })
}
