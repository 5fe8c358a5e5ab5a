//! Settings: where each comes from, and what is wrong with them.

use crate::support::{Home, ends, stdout, told};

#[test]
fn origins_are_told() {
    let home = Home::new();
    home.file(
        "semel.toml",
        "# here\nkeep = \"10d\"\nremember = \"20d\"\n[groups]\nfinance = [\"ann\", \"bob\"]\n",
    );
    std::fs::create_dir_all(home.path(".config/semel")).unwrap();
    home.file(
        ".config/semel/config.toml",
        "keep = \"1d\"\nlisten = \"127.0.0.1:9\"\n",
    );
    let output = home
        .command(&["config", "show", "--origin"])
        .env("SEMEL_STORE", "postgres://u:hidden@h/d")
        .env("SEMEL_SERVER", "http://u:hidden@h")
        .env("SEMEL_REMEMBER", "2d")
        .env("SEMEL_TOKEN", "smt_hidden")
        .output()
        .unwrap();
    ends(&output, 0, &[]);
    let text = stdout(&output);
    for says in [
        "environment SEMEL_DATA",
        "2d  (environment SEMEL_REMEMBER)",
        "10d  (semel.toml:2)",
        "config/semel/config.toml:2",
        "info  (default)",
        "postgres://u:…@h/d  (environment SEMEL_STORE)",
        "(set)  (environment SEMEL_TOKEN)",
        "groups.finance       ann, bob  (semel.toml:5)",
    ] {
        assert!(text.contains(says), "{says:?} is not in:\n{text}");
    }
    assert!(!text.contains("hidden"), "{text}");
    let json = home.json(&["config", "show", "--json"]);
    assert_eq!(json["keep"]["value"], "10d");
    assert_eq!(json["groups.finance"]["value"][1], "bob");
    assert_eq!(json["server"]["value"], serde_json::Value::Null);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let home = Home::new();
    home.file("semel.toml", "keep = \"10d\"\nlistne = \"x\"\n");
    ends(
        &home.run(&["config", "show"]),
        2,
        &["semel.toml:2:", "did you mean \"listen\"?"],
    );
    home.file("semel.toml", "store = \"mysql:x\"\n");
    ends(
        &home.run(&["ledger", "ls"]),
        2,
        &["is not an address", "semel.toml:1"],
    );
    home.file("semel.toml", "");
    let both = home
        .command(&["config", "show"])
        .env("SEMEL_KEEP", "1d")
        .env("SEMEL_KEEP_FILE", "x")
        .output()
        .unwrap();
    ends(&both, 2, &["both SEMEL_KEEP and SEMEL_KEEP_FILE"]);
}

#[test]
fn a_password_is_not_taken_as_an_argument() {
    let home = Home::new();
    for (flag, value, says) in [
        ("--store", "postgres://u:hidden@h/d", "SEMEL_STORE_FILE"),
        ("--server", "http://u:hidden@h", "--token-file"),
    ] {
        let output = home.run(&["config", "show", flag, value]);
        ends(&output, 2, &[says]);
        assert!(!told(&output).contains("hidden"), "{}", told(&output));
    }
}

#[test]
fn protection_is_not_switched_off_by_a_span_of_nothing() {
    let home = Home::new();
    for name in ["remember", "keep"] {
        let output = home
            .once("k", "echo x >> seen")
            .env(format!("SEMEL_{}", name.to_uppercase()), "0s")
            .output()
            .unwrap();
        ends(&output, 2, &[name, "at least 1s"]);
    }
    let words = [
        "once",
        "--scope",
        "s",
        "--key",
        "k",
        "--remember",
        "0s",
        "--",
        "true",
    ];
    ends(&home.run(&words), 2, &["--remember", "1s to 3650d"]);
    assert_eq!(home.read("seen"), "");
}

#[test]
fn settings_of_flows_are_told_with_their_origin() {
    let home = Home::new();
    home.file(
        "semel.toml",
        "flows = \"flows\"\nruns = 7\n[outgoing]\nallow = [\"10.0.0.0/8\", \"::1\"]\n\
         [destinations.\"api.example.com\"]\nrate = \"10/s\"\nconcurrency = 4\n",
    );
    let output = home
        .command(&["config", "show", "--origin"])
        .env("SEMEL_DRAIN", "5s")
        .output()
        .unwrap();
    let text = stdout(&output);
    for says in [
        "flows  (semel.toml:1)",
        "7  (semel.toml:2)",
        "5s  (environment SEMEL_DRAIN)",
        "10.0.0.0/8,::1  (semel.toml:4)",
        "destinations.\"api.example.com\" rate 10/s, concurrency 4",
        "breaker 20/10s  (semel.toml:5)",
    ] {
        assert!(text.contains(says), "{says:?} is not in:\n{text}");
    }
    let json = home.json(&["config", "show", "--json"]);
    let origin = &json["destinations"]["api.example.com"]["origin"];
    assert_eq!(origin, "semel.toml:5", "{json}");
}

#[test]
fn a_server_with_wrong_settings_does_not_start() {
    let home = Home::new();
    for (variable, value, says) in [
        (
            "SEMEL_RUNS",
            "0",
            "from 1 to 1000000 (environment SEMEL_RUNS)",
        ),
        ("SEMEL_RUNS", "many", "runs \"many\" is not a whole number"),
        ("SEMEL_DRAIN", "soon", "drain \"soon\""),
        ("SEMEL_OUTGOING_ALLOW", "10.0.0.0/40", "outgoing.allow: "),
    ] {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        let output = command.env(variable, value).output().unwrap();
        ends(&output, 2, &[says]);
    }
    assert!(!home.data().join("semel.db").exists());
}
