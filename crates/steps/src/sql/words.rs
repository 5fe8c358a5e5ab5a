//! The first word of an SQL text, as far as it must be known.
//!
//! A step is one statement inside a transaction of ours, so nothing that begins or ends one may be
//! run; and some statements of MySQL commit by themselves. The text is never changed.

/// What begins, ends or splits a transaction, on any of the databases.
const CONTROL: [&str; 10] = [
    "ABORT",
    "BEGIN",
    "COMMIT",
    "END",
    "PREPARE",
    "RELEASE",
    "ROLLBACK",
    "SAVEPOINT",
    "START",
    "XA",
];

/// What changes only rows: it ends with our transaction, and leaves the session as it was.
const ROWS: [&str; 5] = ["DELETE", "INSERT", "MERGE", "REPLACE", "UPDATE"];

/// The first word in capitals; empty if there is none.
pub(super) fn first(sql: &str) -> String {
    let rest = skip(sql);
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    word.map(str::to_ascii_uppercase).next().unwrap_or_default()
}

/// Whether a statement that begins so would interfere with our transaction.
pub(super) fn controls(word: &str) -> bool {
    CONTROL.contains(&word)
}

/// Whether a statement that begins so changes only rows.
pub(super) fn changes_rows(word: &str) -> bool {
    ROWS.contains(&word)
}

/// Whether MySQL and MariaDB keep a statement that begins so within our transaction. Whatever else
/// there is may commit by itself.
pub(super) fn stays_inside(word: &str) -> bool {
    changes_rows(word) || matches!(word, "SELECT" | "WITH" | "VALUES")
}

/// What follows after spaces, comments and empty statements. A comment that MySQL runs (`/*! … */`)
/// is no comment.
fn skip(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '('));
        if rest.starts_with("--") || rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if rest.starts_with("/*") && !rest.starts_with("/*!") && !rest.starts_with("/*M!") {
            rest = after_comment(rest);
        } else {
            return rest;
        }
    }
}

/// PostgreSQL nests comments, the others do not; where that makes a difference, the text ends
/// here, and a text without a first word is refused.
fn after_comment(text: &str) -> &str {
    let body = &text[2..];
    match body.split_once("*/") {
        Some((inside, after)) if !inside.contains("/*") => after,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_found_behind_what_is_skipped() {
        for (sql, word) in [
            ("select 1", "SELECT"),
            ("  \n\tUpdate t", "UPDATE"),
            ("-- a; b\n/* c */ ;; COMMIT", "COMMIT"),
            ("# MySQL\nINSERT INTO t", "INSERT"),
            ("((SELECT 1))", "SELECT"),
            ("commit;", "COMMIT"),
            ("/*! COMMIT */", ""),
            ("/*M!100100 COMMIT */", ""),
            ("/* a /* b */ COMMIT", ""),
            ("/* open", ""),
            ("", ""),
            ("-- only this", ""),
        ] {
            assert_eq!(first(sql), word, "{sql}");
        }
    }

    #[test]
    fn what_ends_a_transaction_is_known() {
        for sql in [
            "COMMIT",
            "end",
            "Rollback to x",
            "PREPARE TRANSACTION 'x'",
            "begin",
            "xa end",
        ] {
            assert!(controls(&first(sql)), "{sql}");
        }
        for sql in [
            "select 1",
            "update t set a = 1",
            "create table t (a int)",
            "call p()",
        ] {
            assert!(!controls(&first(sql)), "{sql}");
        }
        assert!(!stays_inside("CREATE") && !stays_inside("CALL") && !stays_inside(""));
    }
}
