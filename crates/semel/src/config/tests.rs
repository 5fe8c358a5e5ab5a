use super::*;

fn gathered(flags: Flags, variables: &[(&str, &str)], files: &[PathBuf]) -> anyhow::Result<Config> {
    let environment = |name: &str| {
        variables
            .iter()
            .find(|(variable, _)| *variable == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let surroundings = Surroundings {
        environment: &environment,
        files: files.to_vec(),
    };
    Config::gather(flags, &surroundings)
}

#[test]
fn the_nearest_origin_wins() {
    let dir = tempfile::tempdir().unwrap();
    let (near, far) = (
        dir.path().join("semel.toml"),
        dir.path().join("config.toml"),
    );
    std::fs::write(&near, "keep = \"3d\"\nremember = \"3d\"\n").unwrap();
    std::fs::write(&far, "# mine\n\nlisten = \"127.0.0.1:4\"\nkeep = \"4d\"\n").unwrap();
    let flags = vec![(Name::Data, "--data", "/one".to_owned())];
    let variables = [
        ("SEMEL_DATA", "/two"),
        ("SEMEL_REMEMBER", "2d"),
        ("HOME", "/h"),
    ];
    let config = gathered(flags, &variables, &[near, far.clone()]).unwrap();
    let of = |name| config.setting(name).unwrap();
    assert_eq!(of(Name::Data).value, "/one");
    assert_eq!(of(Name::Data).origin, Origin::Flag("--data"));
    assert_eq!(of(Name::Remember).value, "2d");
    assert_eq!(of(Name::Keep).value, "3d");
    assert_eq!(of(Name::Listen).origin, Origin::File(far, 3));
    assert_eq!(of(Name::Log).origin, Origin::Default);
}

#[test]
fn the_data_directory_follows_a_named_database() {
    let flags = vec![(Name::Store, "--store", "sqlite:/x/y.db".to_owned())];
    let config = gathered(flags, &[("HOME", "/h")], &[]).unwrap();
    assert_eq!(config.data().unwrap(), Path::new("/x"));
    let config = gathered(Vec::new(), &[("HOME", "/h")], &[]).unwrap();
    assert_eq!(config.data().unwrap(), Path::new("/h/.local/share/semel"));
    let config = gathered(Vec::new(), &[], &[]).unwrap();
    assert!(config.data().unwrap_err().to_string().contains("HOME"));
}

#[test]
fn mistakes_in_a_file_are_told_with_line_and_help() {
    for (text, line, help) in [
        ("\nlistne = \"x\"", 2, "did you mean \"listen\"?"),
        ("keep = 30", 1, "text in quotes"),
        ("colour = \"blue\"", 1, "there are data"),
        ("token = \"smt_x\"", 1, "token_file"),
        ("keep = \"1d\"\nkeep = \"2d\"", 2, "duplicate"),
    ] {
        let (found, problem, fix) = file::parse(text).expect_err(text);
        let said = format!("{problem} {}", fix.unwrap_or_default());
        assert_eq!(found, line, "{text}: {said}");
        assert!(said.contains(help), "{text}: {said}");
    }
}

#[test]
fn a_variable_may_name_a_file_but_not_both() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    std::fs::write(&path, "postgres://u:pw@h/d\n").unwrap();
    let path = path.to_str().unwrap();
    let config = gathered(Vec::new(), &[("SEMEL_STORE_FILE", path)], &[]).unwrap();
    assert_eq!(config.text(Name::Store), Some("postgres://u:pw@h/d"));
    let both = [("SEMEL_STORE_FILE", path), ("SEMEL_STORE", "memory:")];
    let error = gathered(Vec::new(), &both, &[]).unwrap_err().to_string();
    assert!(
        error.contains("both SEMEL_STORE and SEMEL_STORE_FILE"),
        "{error}"
    );
}

#[test]
fn where_the_world_reaches_the_server_is_an_address() {
    let of = |text| gathered(Vec::new(), &[("SEMEL_PUBLIC_URL", text)], &[]).unwrap();
    for text in ["https://semel.example", "http://10.1.2.3:80/semel/"] {
        let url = of(text).public_url().unwrap();
        assert_eq!(url.as_deref(), Some(text));
    }
    for text in [
        "semel.example",
        "https://",
        "ftp://x",
        "https://me:pw@x",
        "https://x?y",
    ] {
        let error = of(text).public_url().unwrap_err().to_string();
        assert!(error.contains("is not an address"), "{text}: {error}");
    }
}

#[test]
fn passwords_are_not_shown() {
    for (address, text) in [
        ("postgres://u:pw@h/d", "postgres://u:…@h/d"),
        (
            "postgres://h/d?user=u&password=pw&x=1",
            "postgres://h/d?user=u&password=…&x=1",
        ),
        ("postgres://u@h/d", "postgres://u@h/d"),
        ("sqlite:/x.db", "sqlite:/x.db"),
    ] {
        assert_eq!(redacted(address), text);
    }
    assert_eq!(format!("{:?}", Secret::new("smt_x")), "Secret(…)");
}

#[test]
fn destinations_and_tables_are_read() {
    let text = "runs = 7\n[outgoing]\nallow = [\"127.0.0.0/8\", \"::1\"]\n\
                [destinations.\"API.example.com:8443\"]\nrate = \"10/s\"\nburst = 3\nconcurrency = 4\n\
                [destinations.\"*\"]\nbreaker = false\nwait = \"5s\"\nqueue = 9\n\
                [destinations.slow]\nrate = \"5/2m\"\nbreaker = \"3/1m\"\n";
    let contents = file::parse(text).unwrap();
    let found: Vec<_> = contents
        .settings
        .iter()
        .map(|found| (found.name, found.value.as_str(), found.line))
        .collect();
    let allow = (Name::OutgoingAllow, "127.0.0.0/8,::1", 3);
    assert_eq!(found, [(Name::Runs, "7", 1), allow]);
    let shown: Vec<_> = contents
        .destinations
        .iter()
        .map(|it| format!("{}:{} {}", it.line, it.host, it.text()))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    4:api.example.com:8443 rate 10/s, burst 3, concurrency 4, queue 1024, wait 10s, breaker 20/10s
    8:* concurrency 64, queue 9, wait 5s, breaker false
    12:slow rate 5/2m, concurrency 64, queue 1024, wait 10s, breaker 3/1m
    ");
}

#[test]
fn named_places_are_read_and_mistakes_told_with_their_line() {
    let text = "[channels.ops]\nslack = \"${{ secrets.OPS }}\"\n[channels.all]\nwebhook = \"https://a.example\"\n";
    let contents = file::parse(text).unwrap();
    let shown = contents.places.iter();
    let shown: Vec<_> = shown
        .map(|it| format!("{}:{}.{} {}", it.line, it.section, it.name, it.text()))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    1:channels.ops slack ${{ secrets.OPS }}
    3:channels.all webhook https://a.example
    ");
    for (text, line, wanted) in [
        ("channels = 3", 1, "must hold tables"),
        ("[channels]\nops = 3", 2, "must hold tables"),
        ("[channels.ops]\n\nslak = \"x\"", 3, "has no field \"slak\""),
        ("[channels.ops]\nslack = [1]", 2, "text in quotes"),
        ("[chanels.ops]", 1, "there is no setting"),
    ] {
        let (at, problem, _) = file::parse(text).unwrap_err();
        assert!(
            at == line && problem.contains(wanted),
            "{text}: {at} {problem}"
        );
    }
}

#[test]
fn groups_are_read_and_mistakes_told_with_their_line() {
    let contents =
        file::parse("[groups]\nfinance = [\"ann\", \"bob\"]\nops = [\"eve\"]\n").unwrap();
    let shown = contents.groups.iter();
    let shown: Vec<_> = shown
        .map(|it| format!("{}:{} {}", it.line, it.name, it.members.join(", ")))
        .collect();
    assert_eq!(shown, ["2:finance ann, bob", "3:ops eve"]);
    for (text, line, wanted) in [
        ("groups = 3", 1, "must be a table"),
        ("[groups]\nfinance = \"ann\"", 2, "must be a list of names"),
        ("[groups]\nfinance = []", 2, "nobody could decide"),
        ("[groups]\nfinance = [\n\"ann\",\n3]", 4, "names in quotes"),
        ("[groups]\nfinance = [\" \"]", 2, "names in quotes"),
        ("[groups]\na = [\"x\", \"x\"]", 2, "twice"),
        ("[groups]\na = [\"group:b\"]", 2, "persons only"),
    ] {
        let (at, problem, fix) = file::parse(text).unwrap_err();
        assert!(
            at == line && problem.contains(wanted) && fix.is_some(),
            "{text}: {at} {problem}"
        );
    }
}

#[test]
fn mistakes_in_destinations_are_told_with_their_line() {
    for (text, line, help) in [
        ("destinations = 3", 1, "must be a table"),
        ("[destinations]\nx = 3", 2, "must be a table"),
        ("[destinations.\"https://x\"]", 1, "without https://"),
        (
            "[destinations.x]\nrat = \"1/s\"",
            2,
            "did you mean \"rate\"?",
        ),
        ("[destinations.x]\nrate = \"fast\"", 2, "\"10/s\""),
        ("[destinations.x]\nrate = \"0/s\"", 2, "\"10/s\""),
        ("[destinations.x]\nrate = \"1/0s\"", 2, "\"10/s\""),
        (
            "[destinations.x]\n\nconcurrency = 0",
            3,
            "from 1 to 1000000",
        ),
        (
            "[destinations.x]\nconcurrency = \"4\"",
            2,
            "from 1 to 1000000",
        ),
        ("[destinations.x]\nwait = 10", 2, "such as \"10s\""),
        (
            "[destinations.x]\nbreaker = true",
            2,
            "\"20/10s\", or false",
        ),
        (
            "[outgoing]\nalow = \"::1\"",
            2,
            "did you mean \"outgoing.allow\"?",
        ),
        ("[outgoing]\nallow = [1]", 2, "texts in quotes"),
        ("runs = \"x\"\nruns = 1", 2, "duplicate"),
        ("runs = true", 1, "must be a whole number"),
    ] {
        let (found, problem, fix) = file::parse(text).expect_err(text);
        let said = format!("{problem} {}", fix.unwrap_or_default());
        assert_eq!(found, line, "{text}: {said}");
        assert!(said.contains(help), "{text}: {said}");
    }
}
