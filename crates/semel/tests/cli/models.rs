//! Questions to models, from a flow file to what the model was asked: once, whatever happens to the server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::hostile::request;
use crate::support::{Home, stderr, stdout, told};

/// The model of the tests of steps, as a process of its own.
struct Model {
    process: Child,
    url: String,
}

impl Model {
    fn new(home: &Home) -> Model {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../steps/tests/ai/server.py");
        let mut process = Command::new("python3")
            .arg(script)
            .arg(home.path("asked"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut port).unwrap();
        Model {
            process,
            url: format!("http://127.0.0.1:{}", port.trim()),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SECRET: (&str, &str) = ("SEMEL_SECRET_MODEL_KEY", "sk-c4nary-key");

/// A home with a model, and a flow that asks it twice, in two ways, and then fails.
fn shop() -> (Home, Model) {
    let home = Home::new();
    std::fs::create_dir(home.path("flows")).unwrap();
    let model = Model::new(&home);
    let url = &model.url;
    home.file(
        "semel.toml",
        format!(
            "[outgoing]\nallow = [\"127.0.0.0/8\"]
[models.small]
api = \"openai-chat\"
url = \"{url}/v1\"
model = \"echo\"
key = \"${{{{ secrets.MODEL_KEY }}}}\"
temperature = 0.2
input_per_million = \"0.15\"
output_per_million = 0.60
[models.shaky]
api = \"anthropic\"
url = \"{url}\"
model = \"cut-once\"
key = \"${{{{ secrets.MODEL_KEY }}}}\"
"
        ),
    );
    home.file("flows/ticket.yaml", TICKET);
    (home, model)
}

const TICKET: &str = r#"name: ticket
on: manual
key: ticket/${{ event.id }}
retry: {max: 3, backoff: 1ms..2ms}
steps:
  - id: sort
    ai:
      model: small
      prompt: What is this about? ${{ event.text }}
      schema:
        type: object
        properties: {topic: {type: string, enum: [billing, other]}, urgent: {type: boolean}}
        required: [topic, urgent]
        additionalProperties: false
      cache: 30d
  - id: note
    ai: {model: shaky, prompt: "One sentence about ${{ steps.sort.result.topic }}."}
  - id: route
    switch:
      - if: steps.sort.result.topic == "billing"
        steps: [{id: done, fail: "${{ steps.note.result }}"}]
      - else: [{id: never, fail: never}]
"#;

/// How often the model was asked.
fn asked(home: &Home) -> usize {
    home.read("asked").lines().count()
}

fn trigger(home: &Home, flow: &str, id: &str) -> String {
    let data = format!(r#"{{"id":"{id}","text":"Where is my invoice?"}}"#);
    let output = home.run(&["trigger", flow, "--key", id, "--wait", "--data", &data]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    stdout(&output).trim().to_owned()
}

#[test]
fn a_question_is_paid_once_through_resends_restarts_and_reruns() {
    let (home, _model) = shop();
    let server = home.serve_with(&["--flows", "flows"], &[SECRET]);
    let run = trigger(&home, "ticket", "17");
    // The first answer to the second question was lost; nobody could say whether it was made.
    assert_eq!(asked(&home), 3, "{}", home.read("asked"));
    trigger(&home, "ticket", "17");
    assert_eq!(server.stop().0, Some(0));
    let server = home.serve_with(&["--flows", "flows"], &[SECRET]);
    trigger(&home, "ticket", "17");
    assert_eq!(asked(&home), 3);
    // Another ticket with the same text: the first question is answered from memory.
    trigger(&home, "ticket", "18");
    assert_eq!(asked(&home), 4, "{}", home.read("asked"));
    let plan = home.json(&["rerun", &run, "--plan", "--json"]);
    let hash = plan["plan_hash"].as_str().unwrap();
    home.run(&["rerun", &run, "--plan-hash", hash, "--wait"]);
    assert_eq!(asked(&home), 4);
    let shown = stdout(&home.run(&["runs", "show", &run]));
    for wanted in [
        "(echo-2026: 8 in, 4 out, 0.0000036 USD)",
        "(cut-once-2026: 4 in, 6 out)",
        "You said: One sentence about billing.",
        "may or may not have happened",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let story = home.json(&["runs", "show", &run, "--json"]);
    let timeline = story["timeline"].as_array().unwrap().iter();
    let paid: Vec<String> = timeline
        .filter(|entry| !entry["usage"].is_null())
        .map(|entry| entry["usage"].to_string())
        .collect();
    assert_eq!(
        paid,
        [
            r#"{"cost":"0.0000036","currency":"USD","input":8,"model":"echo-2026","output":4}"#,
            r#"{"cost":null,"currency":null,"input":4,"model":"cut-once-2026","output":6}"#,
        ]
    );
    // Only what this process was answered counts.
    let metrics = request(&server, "GET /metrics HTTP/1.1", "");
    let mut metrics: Vec<&str> = metrics
        .lines()
        .filter(|line| line.starts_with("semel_ai_tokens_total"))
        .collect();
    metrics.sort_unstable();
    assert_eq!(
        metrics,
        [
            r#"semel_ai_tokens_total{model="cut-once-2026",direction="input"} 4"#,
            r#"semel_ai_tokens_total{model="cut-once-2026",direction="output"} 6"#,
        ]
    );
    let shared = home.json(&["ledger", "ls", "--scope", "ai", "--json"]);
    assert!(!shared.to_string().contains(SECRET.1), "{shared}");
}

#[test]
fn a_model_that_is_not_there_is_named_with_what_there_is() {
    let (home, _model) = shop();
    home.file(
        "flows/slip.yaml",
        "name: slip\non: manual\nkey: slip/${{ event.id }}\nsteps:\n  - id: note\n    ai: {model: smal, prompt: hi}\n",
    );
    let _server = home.serve_with(&["--flows", "flows"], &[SECRET]);
    let run = trigger(&home, "slip", "1");
    let shown = stdout(&home.run(&["runs", "show", &run]));
    let wanted =
        "there is no model `smal` (did you mean `small`?); the configuration has shaky, small";
    assert!(shown.contains(wanted), "{shown}");
    assert_eq!(asked(&home), 0);
}

#[test]
fn models_that_cannot_be_are_told_at_the_start() {
    let home = Home::new();
    for (text, wanted) in [
        ("model = \"m\"", "it has no `api`: one of openai-chat"),
        (
            "api = \"openai\"\nmodel = \"m\"",
            "api is one of openai-chat, openai-responses, anthropic",
        ),
        (
            "api = \"antropic\"\nmodel = \"m\"",
            "write api = \"anthropic\"",
        ),
        ("api = \"anthropic\"", "it has no `model`"),
        ("api = \"anthropic\"\nmodel = \" \"", "model is empty"),
        (
            "api = \"anthropic\"\nmodel = \"m\"\nurl = \"ftp://a\"",
            "url does not begin with http",
        ),
        (
            "api = \"anthropic\"\nmodel = \"m\"\nkey = \"sk-ant-x\"",
            "key is written in clear",
        ),
        (
            "api = \"anthropic\"\nmodel = \"m\"\nmax_tokens = 0",
            "max_tokens is a whole number from 1",
        ),
        (
            "api = \"anthropic\"\nmodel = \"m\"\nmax_tokens = \"some\"",
            "max_tokens \"some\" is not a number",
        ),
        (
            "api = \"anthropic\"\nmodel = \"m\"\ntemperature = 3",
            "temperature is a number from 0 to 2",
        ),
        (
            "api = \"anthropic\"\nmodel = \"m\"\ninput_per_million = 3",
            "go together",
        ),
        (
            "api = \"anthropic\"\nmodel = \"m\"\ninput_per_million = \"3 USD\"\noutput_per_million = 15",
            "a price is a number",
        ),
        (
            "api = \"anthropic\"\nmodell = \"m\"",
            "models.small has no field \"modell\"",
        ),
    ] {
        home.file("semel.toml", format!("[models.small]\n{text}"));
        let output = home.run(&["serve"]);
        assert_eq!(output.status.code(), Some(2), "{text}: {}", told(&output));
        let said = stderr(&output);
        assert!(
            said.contains(wanted) && said.contains("semel.toml:"),
            "{text}: {said}"
        );
        assert!(!said.contains("sk-ant-x"), "{said}");
    }
}
