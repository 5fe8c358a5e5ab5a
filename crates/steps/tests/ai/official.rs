//! The official client libraries against the same server.

use crate::*;

#[tokio::test]
async fn official_clients_take_it_for_the_real_one() {
    let server = Server::new().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/ask-officially");
    let asking = tokio::process::Command::new(script)
        .args([server.url().as_str(), KEY])
        .output();
    let output = asking.await.expect("scripts/ask-officially");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let seen = Value::read(output.stdout.trim_ascii()).expect("JSON");
    insta::assert_snapshot!(pretty(&seen));
}

/// One line for each answer.
fn pretty(seen: &Value) -> String {
    let Value::Map(members) = seen else {
        panic!("{seen:?}");
    };
    let lines = members.iter().flat_map(|(name, answers)| {
        let Value::List(answers) = answers else {
            panic!("{answers:?}");
        };
        let answers = answers.iter();
        answers.map(move |answer| format!("{name}: {}", answer.to_json()))
    });
    lines.collect::<Vec<_>>().join("\n")
}
