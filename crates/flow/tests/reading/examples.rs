//! The flows in `examples` are read without a word, and are what they look like.

use semel_flow::model::{Action, Class, OverlapPolicy, Trigger};
use semel_flow::{Flow, read};

fn example(name: &str) -> Flow {
    let path = crate::root().join("examples").join(name);
    let source = std::fs::read_to_string(path).expect(name);
    read(&source).flow.expect(name)
}

#[test]
fn examples_have_no_problems() {
    for (name, source) in crate::flows(&crate::root().join("examples")) {
        let said = crate::messages(&name, &source);
        assert_eq!(said, "no problems\n", "{name}");
        let flow = read(&source).flow.expect("a flow");
        assert_eq!(flow.name.it, name, "the file is called as its flow");
        let found = semel_flow::check::check(&flow);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn a_payment_is_understood() {
    let flow = example("invoice-on-payment.yaml");
    let [Trigger::Webhook(hook)] = flow.triggers.as_slice() else {
        panic!("{:?}", flow.triggers);
    };
    assert_eq!(hook.path.it, "/hooks/stripe");
    assert_eq!(hook.verify.preset.it.name(), "stripe");
    assert_eq!(hook.verify.secrets[0].it, "STRIPE_WEBHOOK");
    assert!(hook.filter.is_some() && hook.latest.is_some());
    let overlap = flow.overlap.as_ref().expect("overlap");
    assert_eq!(overlap.policy, OverlapPolicy::Queue);
    assert_eq!(
        flow.remember.as_ref().expect("remember").it.to_string(),
        "90d"
    );
    let classes: Vec<_> = flow
        .steps
        .iter()
        .map(|step| (step.id.it.as_str(), step.class()))
        .collect();
    assert_eq!(
        classes,
        [
            ("customer", Class::Guarded),
            ("invoice", Class::Keyed),
            ("receipt", Class::Guarded)
        ]
    );
    let invoice = &flow.steps[1];
    assert_eq!(invoice.scope_name(&flow), "invoice-on-payment/invoice");
    let retry = invoice.retry.expect("retry");
    assert_eq!((retry.max, retry.first.0, retry.cap.0), (8, 2_000, 600_000));
    let Action::Act(act) = &invoice.action else {
        panic!("{:?}", invoice.action);
    };
    assert_eq!(act.constant("method"), Some("POST"));
    assert_eq!(
        act.constant("url"),
        Some("https://billing.example/v1/invoices")
    );
    assert!(invoice.lookup.is_some() && invoice.undo.is_some());
    assert_eq!(flow.on_failure.len(), 1);
}

#[test]
fn a_loop_is_understood() {
    let flow = example("renewal-reminders.yaml");
    let Action::Act(ending) = &flow.steps[0].action else {
        panic!("{:?}", flow.steps[0]);
    };
    assert_eq!(
        ending.exprs.keys().copied().collect::<Vec<_>>(),
        ["paging.items", "paging.next"]
    );
    assert_eq!(ending.class(), Class::Read);
    let Action::ForEach(each) = &flow.steps[1].action else {
        panic!("{:?}", flow.steps[1]);
    };
    assert_eq!((each.name.as_str(), each.parallel), ("sub", 8));
    assert!(flow.steps[1].key.is_none(), "the key is that of an item");
    let Action::Switch { cases, otherwise } = &each.steps[0].action else {
        panic!("{:?}", each.steps);
    };
    assert_eq!((cases.len(), otherwise.len()), (1, 1));
}
