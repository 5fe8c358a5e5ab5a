//! Looking at the ledger, and moving what is on it.

use crate::support::{Home, ends, stderr, stdout};

#[test]
fn import_and_export_are_each_others_reverse() {
    let home = Home::new();
    let file = home.file(
        "sent.csv",
        "\u{feff}key,scope,external_id,at,result,remember\r\n\
        order/1,mail,msg_1,2026-03-01,\"{\"\"n\"\": 9007199254740993}\",3000d\r\n\
        order/2,,msg_2,2026-03-01T12:00:00Z,plain text,3000d\r\n\
        \"a,b\",mail,,2026-03-01,,3000d\r\n",
    );
    let imported = home.run(&["ledger", "import", &file, "--scope", "welcome"]);
    ends(&imported, 0, &["3 imported, 0 were on record already"]);
    ends(
        &home.run(&["ledger", "import", &file, "--scope", "welcome"]),
        0,
        &["0 imported, 3 were"],
    );
    let export = home.run(&["ledger", "export"]);
    ends(&export, 0, &[]);
    let lines = stdout(&export);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.contains("\"n\": 9007199254740993"), "{lines}");
    let copy = home.file("copy.jsonl", &lines);
    let other = home.path("other");
    let other = other.to_str().unwrap();
    ends(
        &home.run(&["ledger", "import", &copy, "--data", other]),
        0,
        &["3 imported"],
    );
    let again = home.run(&["ledger", "export", "--data", other]);
    for field in ["scope", "key", "state", "external_id", "at", "remember"] {
        let of = |text: &str| -> Vec<String> {
            let value = |line: &str| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()[field].to_string()
            };
            let mut values: Vec<String> = text.lines().map(value).collect();
            values.sort();
            values
        };
        assert_eq!(of(&lines), of(&stdout(&again)), "{field}");
    }
    let words = [
        "once",
        "--data",
        other,
        "--scope",
        "mail",
        "--key",
        "order/1",
        "--",
        "sh",
        "-c",
        "echo never >> seen",
    ];
    ends(
        &home.run(&words),
        0,
        &["already done", "no output is on record"],
    );
    assert_eq!(home.read("seen"), "");
}

#[test]
fn every_wrong_line_is_told_and_nothing_is_imported() {
    let home = Home::new();
    let csv = home.file(
        "bad.csv",
        "key,at,remember\ngood,2026-03-01,30d\nbad%,,\n,,\nx,2026-13-01,\ny,,30\nz,\n",
    );
    let refused = home.run(&["ledger", "import", &csv, "--scope", "s"]);
    ends(
        &refused,
        2,
        &[
            "bad.csv:3: key has a bare `%`",
            "bad.csv:4: has no key",
            "bad.csv:5: at \"2026-13-01\"",
            "bad.csv:6: remember \"30\"",
            "bad.csv:7: has 2 fields where 3",
            "5 of 6 lines are wrong",
            "--skip-bad",
        ],
    );
    assert!(!home.data().exists());
    let skipped = home.run(&[
        "ledger",
        "import",
        &csv,
        "--scope",
        "s",
        "--skip-bad",
        "--json",
    ]);
    ends(&skipped, 0, &["1 imported", "5 wrong"]);
    let counts: serde_json::Value = serde_json::from_slice(&skipped.stdout).unwrap();
    assert_eq!(
        (&counts["imported"], &counts["skipped"]),
        (&1.into(), &5.into())
    );
    for (name, text, says) in [
        ("a.csv", "scope,id\ns,1\n", "column \"id\""),
        ("b.csv", "scope\ns\n", "no column key"),
        ("c.csv", "key\n\"open\n", "never closed"),
        (
            "d.jsonl",
            "{\"key\":\"k\",\"colour\":1}\n",
            "d.jsonl:1: unknown field",
        ),
        (
            "e.jsonl",
            "{\"key\":\"k\"}\n{\"key\":",
            "e.jsonl:2: is not JSON",
        ),
        ("f.jsonl", "{\"key\":\"k\",\"key\":\"l\"}", "is not JSON"),
    ] {
        let file = home.file(name, text);
        ends(
            &home.run(&["ledger", "import", &file, "--scope", "s"]),
            2,
            &[says],
        );
    }
    let latin = home.file("latin.csv", b"key\ncaf\xe9\n");
    ends(
        &home.run(&["ledger", "import", &latin]),
        2,
        &["latin.csv:2: is not UTF-8"],
    );
}

#[test]
fn import_reads_stdin_and_more_than_one_call_holds() {
    let home = Home::new();
    let lines: String = (0..2500)
        .map(|n| format!("{{\"key\":\"k{n}\"}}\n"))
        .collect();
    let output = home.feed(&["ledger", "import", "-", "--scope", "s"], lines.as_bytes());
    ends(&output, 0, &["2500 imported"]);
    let all = home.json(&["ledger", "ls", "--all", "--json"]);
    assert_eq!(all["effects"].as_array().unwrap().len(), 2500);
    let page = home.json(&["ledger", "ls", "--json", "--limit", "2"]);
    assert_eq!(page["effects"].as_array().unwrap().len(), 2);
    let next = page["next"].as_str().unwrap();
    let second = home.json(&["ledger", "ls", "--json", "--limit", "2", "--after", next]);
    assert_ne!(page["effects"], second["effects"]);
}

#[test]
fn filters_do_what_they_say() {
    let home = Home::new();
    home.once("done", "true").output().unwrap();
    home.command(&[
        "once",
        "--scope",
        "t",
        "--key",
        "failed",
        "--retry-on",
        "1",
        "--",
        "false",
    ])
    .output()
    .unwrap();
    let keys = |words: &[&str]| {
        let all = [&["ledger", "ls", "--json"], words].concat();
        let listed = home.json(&all);
        let key = |effect: &serde_json::Value| effect["key"].as_str().unwrap().to_owned();
        listed["effects"]
            .as_array()
            .unwrap()
            .iter()
            .map(key)
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&[]), ["failed", "done"]);
    assert_eq!(keys(&["--state", "done"]), ["done"]);
    assert_eq!(keys(&["--state", "done,failed"]), ["failed", "done"]);
    assert_eq!(keys(&["--scope", "t"]), ["failed"]);
    assert_eq!(keys(&["--prefix", "do"]), ["done"]);
    assert_eq!(keys(&["--since", "1h"]), ["failed", "done"]);
    assert_eq!(keys(&["--since", "2100-01-01"]), Vec::<String>::new());
    ends(
        &home.run(&["ledger", "ls", "--state", "dnoe"]),
        2,
        &["dnoe"],
    );
    ends(
        &home.run(&["ledger", "ls", "--since", "2026-13-01"]),
        2,
        &["--since", "is not a time"],
    );
    ends(
        &home.run(&["ledger", "get", "s", "nothing"]),
        1,
        &["nothing is on record"],
    );
    ends(
        &home.run(&["ledger", "decide", "s", "done", "--decision", "resend"]),
        1,
        &["only what is unknown"],
    );
    let receipts = home.json(&["receipts", "--json"]);
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 0);
    home.once("done", "true").output().unwrap();
    let receipts = home.json(&["receipts", "--scope", "s", "--key", "done", "--json"]);
    assert_eq!(receipts["receipts"][0]["verdict"], "done");
    let tally = home.json(&["receipts", "--tally", "--by", "hour", "--json"]);
    assert_eq!(tally["tallies"][0]["count"], 1);
}

#[test]
fn there_is_nothing_to_look_at_before_the_first_use() {
    let home = Home::new();
    for words in [
        &["ledger", "ls"][..],
        &["receipts"],
        &["tokens", "ls"],
        &["ledger", "export"],
    ] {
        ends(
            &home.run(words),
            1,
            &["there is no ledger at", "--data DIR"],
        );
    }
    assert!(!home.data().exists());
}

#[test]
fn names_are_shown_escaped_and_kept_exact() {
    let home = Home::new();
    let scope = "mail\u{202e}liam\u{9}".trim_end();
    let key = "-rf \u{1f389} \u{2066}x";
    let key_flag = format!("--key={key}");
    let words = [
        "once",
        "--scope",
        scope,
        &key_flag,
        "--owner",
        "o\u{200f}",
        "--",
        "true",
    ];
    ends(&home.run(&words), 0, &[]);
    let table = home.run(&["ledger", "ls"]);
    assert!(
        stdout(&table).contains("mail\\u{202e}liam"),
        "{}",
        stdout(&table)
    );
    assert!(
        stdout(&table).contains("-rf \u{1f389} \\u{2066}x"),
        "{}",
        stdout(&table)
    );
    assert!(!stdout(&table).contains(['\u{202e}', '\u{2066}', '\u{1b}']));
    let card = home.run(&["ledger", "get", "--", scope, key]);
    assert!(stdout(&card).contains("o\\u{200f}"), "{}", stdout(&card));
    let listed = home.json(&["ledger", "ls", "--json"]);
    assert_eq!(listed["effects"][0]["scope"], scope);
    assert_eq!(listed["effects"][0]["key"], key);
    let escape = home.run(&["once", "--scope", "a\u{1b}[31m", "--key", "k", "--", "true"]);
    ends(&escape, 2, &["control character U+001B"]);
    assert!(!stderr(&escape).contains('\u{1b}'));
}
