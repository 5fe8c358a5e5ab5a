//! The tables of `docs/people.md` are those of the code.
//!
//! With `SEMEL_WRITE_DOCS=1` the document is written anew instead of compared.

use std::fmt::Write as _;

use semel_server::{Access, ROUTES};
use semel_store::access::{Role, Scope};

const OPEN: &str = "<!-- table: ";
const CLOSE: &str = "<!-- end -->";

fn scopes() -> String {
    let mut table = "| scope | lets one |\n|---|---|\n".to_owned();
    for scope in Scope::ALL {
        let _ = writeln!(table, "| `{}` | {} |", scope.name(), scope.about());
    }
    table
}

fn roles() -> String {
    let mut table = "| role |".to_owned();
    for scope in Scope::ALL {
        let _ = write!(table, " {} |", scope.name());
    }
    let _ = writeln!(table, "\n|---|{}", "---|".repeat(Scope::ALL.len()));
    for role in Role::ALL {
        let _ = write!(table, "| {} |", role.name());
        for scope in Scope::ALL {
            let has = if role.scopes().has(scope) { "✓" } else { "" };
            let _ = write!(table, " {has} |");
        }
        table.push('\n');
    }
    table
}

fn routes() -> String {
    let mut table = "| route | needs |\n|---|---|\n".to_owned();
    for route in ROUTES {
        for (method, access) in route.methods {
            let needs = match access {
                Access::Open => "nothing".to_owned(),
                Access::Local => "nothing on this machine, else `read`".to_owned(),
                Access::Known => "any token or session".to_owned(),
                Access::Needs(scopes) => {
                    let names: Vec<_> =
                        scopes.iter().map(|it| format!("`{}`", it.name())).collect();
                    names.join(" or ")
                }
                Access::Nowhere => continue,
            };
            let method = method.to_uppercase();
            let _ = writeln!(table, "| `{method} {}` | {needs} |", route.path);
        }
    }
    table
}

#[test]
fn tables_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/people.md");
    let document = std::fs::read_to_string(path).unwrap();
    let mut parts = document.split(OPEN);
    let mut fresh = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, rest) = rest.split_once(CLOSE).unwrap();
        let table = match name {
            "scopes" => scopes(),
            "roles" => roles(),
            "routes" => routes(),
            other => panic!("there is no table {other}"),
        };
        fresh.extend([OPEN, name, " -->\n", &table, CLOSE, rest]);
    }
    if std::env::var_os("SEMEL_WRITE_DOCS").is_some() {
        std::fs::write(path, fresh).unwrap();
        return;
    }
    assert!(document == fresh, "run it once with SEMEL_WRITE_DOCS=1");
}
