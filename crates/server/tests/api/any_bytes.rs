//! Whatever is sent to a hook: nobody gets in by chance, and nothing breaks.

use proptest::prelude::*;

#[path = "../survive/mod.rs"]
mod survive;

/// Header values as senders write them, or nearly; then a body.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        "(t=[0-9]{0,14},?)?(v[01][,=])?(sha256=)?(Bearer )?[0-9a-f=+/,]{0,70}"
            .prop_map(String::into_bytes),
        "-?[0-9]{0,20}".prop_map(String::into_bytes),
    ];
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        r#"[{]("[a-z]{0,3}":[\[{"0-9]{0,6}[\]}"]{0,3},?){0,4}[}]"#.prop_map(String::into_bytes),
        "[a-z=&%0-9+]{0,40}".prop_map(String::into_bytes),
    ];
    let lines = prop::collection::vec(line, 0..4);
    (any::<u8>(), lines, body).prop_map(|(how, lines, body)| {
        let mut bytes = vec![how];
        for line in lines.iter().chain([&body]) {
            bytes.extend(line.iter().filter(|byte| **byte != b'\n'));
            bytes.push(b'\n');
        }
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
