//! Whatever is sent to a hook: nobody gets in by chance, and nothing breaks.

use proptest::prelude::*;

#[path = "../survive/mod.rs"]
mod survive;

/// Header values as senders write them, rightly or nearly so; then a body.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let written = prop::sample::select(vec![
        "t=1767225600,v1=[0-9a-f]{64}",
        "(sha256=|v0=)?[0-9a-f]{64}",
        "(sha256=|v1,)?[A-Za-z0-9+/]{42}[AEIM]=",
        "Bearer [a-z_A-Z0-9]{0,40}",
        "(t=[0-9]{0,14},?)?(v[01][,=])?(sha256=)?[0-9a-f=+/,]{0,70}",
        "-?[0-9]{0,20}",
    ]);
    let written = written.prop_flat_map(|form| form.prop_map(String::into_bytes));
    let line = prop_oneof![3 => written, 1 => prop::collection::vec(any::<u8>(), 0..80)];
    let body = prop_oneof![
        Just(Vec::new()),
        prop::collection::vec(any::<u8>(), 0..64),
        r#"[{]("[a-z]{0,3}":[\[{"0-9]{0,6}[\]}"]{0,3},?){0,4}[}]"#.prop_map(String::into_bytes),
        "[a-z=&%0-9+]{0,40}".prop_map(String::into_bytes),
    ];
    let lines = prop::collection::vec(line, 0..4);
    (any::<u8>(), lines, body).prop_map(|(how, lines, body)| {
        let mut bytes = vec![how];
        for line in lines {
            bytes.extend(line.iter().filter(|byte| **byte != b'\n'));
            bytes.push(b'\n');
        }
        bytes.extend(body);
        bytes
    })
}

#[test]
fn nobody_is_let_in_by_chance() {
    let doors = survive::Doors::new();
    let config = ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(bytes in request())| doors.knock(&bytes));
}
