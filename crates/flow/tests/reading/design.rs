//! Small readings: what each form of the grammar becomes.

use semel_flow::model::{Action, Class, Missed, Order, OverlapPolicy, Timing, Tree, Trigger};
use semel_flow::{Flow, read};

/// A flow that must have no problems.
fn flow(source: &str) -> Flow {
    let said = crate::messages("flow", source);
    assert_eq!(said, "no problems\n", "{source}");
    read(source).flow.expect("a flow")
}

fn with_step(step: &str) -> Flow {
    flow(&format!("name: f\nsteps:\n  - id: s\n    {step}\n"))
}

fn with_trigger(on: &str) -> Vec<Trigger> {
    flow(&format!("name: f\non: {on}\nsteps: [{{id: s, stop: }}]\n")).triggers
}

#[test]
fn classes_follow_from_the_kind() {
    for (step, class) in [
        ("http: {get: https://a.example}", Class::Read),
        ("http: {head: https://a.example}", Class::Read),
        ("http: {put: https://a.example}", Class::Set),
        ("http: {delete: https://a.example}", Class::Set),
        ("http: {post: https://a.example}", Class::Guarded),
        ("http: {patch: https://a.example}", Class::Guarded),
        ("http: {method: get, url: https://a.example}", Class::Read),
        (
            "http: {method: REPORT, url: https://a.example}",
            Class::Guarded,
        ),
        (
            "http: {post: https://a.example, idempotency: {header: K, window: 1h}}",
            Class::Keyed,
        ),
        (
            "http: {put: https://a.example, idempotency: {header: K, window: 1h}}",
            Class::Set,
        ),
        (
            "http: {post: https://a.example}\n    effect: set",
            Class::Set,
        ),
        ("set: {a: 1}", Class::Pure),
        ("emit: {event: a.b}", Class::Pure),
        ("stop: done", Class::Pure),
    ] {
        assert_eq!(with_step(step).steps[0].class(), class, "{step}");
    }
}

#[test]
fn triggers_have_several_forms() {
    assert!(with_trigger("manual").is_empty());
    assert!(with_trigger("{manual: }").is_empty());
    assert_eq!(with_trigger("[{event: a}, {event: {name: b.c}}]").len(), 2);
    assert_eq!(with_trigger("{event: a, schedule: {every: 5m}}").len(), 2);
    let triggers = with_trigger("{schedule: {cron: 0 9 * * *, missed: all}}");
    let [Trigger::Schedule(schedule)] = triggers.as_slice() else {
        panic!("{triggers:?}");
    };
    assert_eq!(schedule.missed, Missed::All);
    let Timing::Cron { zone, .. } = &schedule.timing else {
        panic!("{schedule:?}");
    };
    assert_eq!(zone.it, "UTC");
}

#[test]
fn words_that_yaml_1_1_took_for_booleans_stay_words() {
    let flow = flow(
        "name: off\ndescription: no\non: manual\nsteps:\n  - id: yes\n    set: {n: NO, on: on, y: y, zip: 01234, big: 12345678901234567890, one: 1.0, t: true, nothing: }\n",
    );
    assert_eq!(flow.name.it, "off");
    assert_eq!(flow.description.as_deref(), Some("no"));
    assert_eq!(flow.steps[0].id.it, "yes");
    let Action::Set(values) = &flow.steps[0].action else {
        panic!("{:?}", flow.steps[0]);
    };
    let shown: Vec<_> = values
        .iter()
        .map(|(name, tree)| match tree {
            Tree::Number(text) => format!("{} number {text}", name.it),
            Tree::Bool(it) => format!("{} bool {it}", name.it),
            Tree::Null => format!("{} null", name.it),
            other => format!("{} text {}", name.it, other.constant().expect("text")),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "n text NO",
            "on text on",
            "y text y",
            "zip text 01234",
            "big number 12345678901234567890",
            "one number 1.0",
            "t bool true",
            "nothing null",
        ]
    );
}

#[test]
fn short_and_long_forms_mean_the_same() {
    let short = flow("name: f\noverlap: skip\norder: loose\nsteps: [{id: s, fail: why}]\n");
    let overlap = short.overlap.expect("overlap");
    assert_eq!(overlap.policy, OverlapPolicy::Skip);
    assert!(overlap.per.is_none());
    assert_eq!(short.order, Order::Loose);
    for step in ["fail: why", "fail: {message: why}"] {
        let flow = with_step(step);
        let Action::Fail { message } = &flow.steps[0].action else {
            panic!("{:?}", flow.steps[0]);
        };
        assert_eq!(Tree::Text(message.clone()).constant(), Some("why"));
    }
}

#[test]
fn parts_of_a_body_become_a_list() {
    let by_name = "http:\n      post: https://a.example\n      multipart: {note: hi, file: {content: x, filename: a.txt}}";
    let in_order = "http:\n      post: https://a.example\n      multipart: [{name: note, value: hi}, {name: file, content: x, filename: a.txt}]";
    let shapes = [by_name, in_order].map(|step| {
        let flow = with_step(step);
        let Action::Act(act) = &flow.steps[0].action else {
            panic!("{:?}", flow.steps[0]);
        };
        let Some(Tree::List(parts)) = act.member("multipart") else {
            panic!("{act:?}");
        };
        let fields = ["name", "value", "content", "filename"];
        let shape = |part: &Tree| {
            fields.map(|name| {
                part.member(name)
                    .and_then(Tree::constant)
                    .map(str::to_owned)
            })
        };
        parts.iter().map(shape).collect::<Vec<_>>()
    });
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(shapes[0][1][3].as_deref(), Some("a.txt"));
}

#[test]
fn an_alias_stands_for_what_it_names() {
    let flow = flow(
        "name: f\nsteps:\n  - {id: a, http: {get: https://a.example, headers: &h {X-A: b}}}\n  - {id: b, http: {get: https://a.example, headers: *h}}\n",
    );
    for step in &flow.steps {
        let Action::Act(act) = &step.action else {
            panic!("{step:?}");
        };
        let header = act.member("headers").and_then(|it| it.member("X-A"));
        assert_eq!(header.and_then(Tree::constant), Some("b"), "{}", step.id.it);
    }
}
