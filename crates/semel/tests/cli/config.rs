//! Settings: where each comes from, and what is wrong with them.

use crate::support::{Home, ends, stdout};

#[test]
fn origins_are_told() {
    let home = Home::new();
    home.file("semel.toml", "# here\nkeep = \"10d\"\nremember = \"20d\"\n");
    std::fs::create_dir_all(home.path(".config/semel")).unwrap();
    home.file(
        ".config/semel/config.toml",
        "keep = \"1d\"\nlisten = \"127.0.0.1:9\"\n",
    );
    let output = home
        .command(&[
            "config",
            "show",
            "--origin",
            "--store",
            "postgres://u:hidden@h/d",
        ])
        .env("SEMEL_REMEMBER", "2d")
        .env("SEMEL_TOKEN", "smt_hidden")
        .output()
        .unwrap();
    ends(&output, 0, &["password in --store"]);
    let text = stdout(&output);
    for says in [
        "environment SEMEL_DATA",
        "2d  (environment SEMEL_REMEMBER)",
        "10d  (semel.toml:2)",
        "config/semel/config.toml:2",
        "info  (default)",
        "postgres://u:…@h/d  (flag --store)",
        "(set)  (environment SEMEL_TOKEN)",
    ] {
        assert!(text.contains(says), "{says:?} is not in:\n{text}");
    }
    assert!(!text.contains("hidden"), "{text}");
    let json = home.json(&["config", "show", "--json"]);
    assert_eq!(json["keep"]["value"], "10d");
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
