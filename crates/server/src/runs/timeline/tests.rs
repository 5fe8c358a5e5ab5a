//! Every happening has its line.

use semel_act::FailureClass;
use semel_engine::journal::{Again, Headers, Kept};
use semel_flow::Value;
use semel_ledger::Fence;

use super::*;

fn opening(by: Origin, from: Option<&str>) -> Opening {
    Opening {
        by,
        event: Kept::Is(Value::Null),
        at: Time(1_700_000_000_000),
        from: from.map(Into::into),
        raw: None,
        headers: Headers::new(),
        within: None,
        again: None,
    }
}

fn step() -> Arc<str> {
    "pay".into()
}

fn done(how: How) -> Happening {
    Happening::Done(Box::new(Done {
        how,
        attempt: Some(2),
        took: Some(12),
        ..Done::plain(step(), Kept::Is(Value::Null))
    }))
}

fn usage(cost: Option<Box<str>>) -> Usage {
    Usage {
        model: "gpt-small".into(),
        input: 812,
        output: 40,
        cost,
    }
}

fn failed(
    class: FailureClass,
    message: &str,
    again_at: Option<Time>,
    usage: Option<Usage>,
) -> Happening {
    Happening::Failed(Box::new(Failed {
        step: step(),
        attempt: 1,
        class,
        message: message.into(),
        at: Time(0),
        again_at,
        maybe: false,
        usage: usage.map(Box::new),
    }))
}

fn spawned(run: Option<&str>) -> Happening {
    Happening::Spawned(Box::new(Spawned {
        step: step(),
        total: 10,
        begun: 3,
        reused: 1,
        pieces: Vec::new(),
        run: run.map(Into::into),
        waits: true,
    }))
}

fn happenings() -> Vec<Happening> {
    let again = Opening {
        again: Some(Again {
            of: "run_a".into(),
            reuse: Vec::new(),
            own: Vec::new(),
            earlier: Vec::new(),
        }),
        ..opening(Origin::Rerun, Some("ada"))
    };
    let (later, effect) = (Some(Time(9_000)), Some(("s".into(), "k".into())));
    vec![
        Happening::Opened(Box::new(opening(Origin::Webhook, Some("stripe evt_1")))),
        Happening::Opened(Box::new(opening(Origin::Manual, None))),
        Happening::Opened(Box::new(opening(Origin::Schedule, None))),
        Happening::Opened(Box::new(again)),
        Happening::Skipped { step: step() },
        Happening::Entered {
            step: step(),
            case: None,
        },
        Happening::Entered {
            step: step(),
            case: Some(0),
        },
        Happening::Asked {
            step: step(),
            attempt: 1,
            fence: Fence([0; 16]),
            scope: "s".into(),
            key: "k".into(),
        },
        done(How::Act),
        done(How::Reused("run_a".into())),
        done(How::LookedUp),
        done(How::Decided),
        done(How::TakenAsDone),
        done(How::TakenOver("run_a".into())),
        failed(FailureClass::NeverSent, "no such host", later, None),
        failed(
            FailureClass::Permanent,
            "it was cut",
            None,
            Some(usage(None)),
        ),
        Happening::Done(Box::new(Done {
            took: Some(12),
            usage: Some(Box::new(usage(Some("0.0004 USD".into())))),
            ..Done::plain(step(), Kept::Is(Value::Null))
        })),
        Happening::Lost {
            step: step(),
            attempt: 1,
            message: "reset".into(),
            at: Time(0),
            noticed: None,
        },
        Happening::Probed {
            step: step(),
            found: Some(false),
            evidence: Kept::Is(Value::Null),
            again_at: None,
        },
        Happening::Probed {
            step: step(),
            found: None,
            evidence: Kept::Is(Value::Null),
            again_at: later,
        },
        Happening::Busy {
            step: step(),
            until: Time(9_000),
            since: Time(0),
        },
        Happening::Parked {
            step: step(),
            why: "nobody knows".into(),
            effect,
        },
        Happening::Resumed {
            step: step(),
            by: "ada".into(),
            note: Some("seen".into()),
        },
        Happening::Woken,
        spawned(None),
        spawned(Some("run_b")),
        Happening::Returned { step: step() },
        Happening::GaveUp {
            step: step(),
            message: "422".into(),
        },
        Happening::Stopped {
            step: step(),
            message: "enough".into(),
        },
    ]
}

/// How a run ends, and what it goes back over before.
fn endings() -> Vec<Happening> {
    vec![
        Happening::Cancelled {
            by: "ada".into(),
            undo: false,
        },
        Happening::Cancelled {
            by: "ada".into(),
            undo: true,
        },
        Happening::Cancelled {
            by: "replaced".into(),
            undo: false,
        },
        Happening::Ended {
            how: Ending::Failed,
            why: "pay failed".into(),
        },
        Happening::Ended {
            how: Ending::Done,
            why: "done".into(),
        },
        Happening::Ended {
            how: Ending::Undone,
            why: "mail failed; undone: pay".into(),
        },
        Happening::Begun { step: step() },
        Happening::NotDone { step: step() },
        requested(1),
        requested(2),
        done(How::Answered("approved by ann".into())),
    ]
}

fn requested(round: u32) -> Happening {
    Happening::Requested(Box::new(Requested {
        step: step(),
        round,
        fence: Fence([0; 16]),
        scope: "s".into(),
        key: "k/1".into(),
        until: Time(9_000),
        shown: Kept::Is(Value::map([("ask", Value::text("Pay 10?"))])),
        hash: "0123".into(),
    }))
}

#[test]
fn every_happening_has_its_line() {
    let all = [happenings(), endings()].concat();
    let lines: Vec<String> = all
        .iter()
        .map(|happening| {
            let entry = entry(Time(0), happening);
            let step = entry.step.as_deref().unwrap_or("-");
            let next = entry
                .next_at
                .map_or(String::new(), |at| format!(" → {}", at.0));
            format!("{:<10} {step:<4} {}{next}", entry.what, entry.text)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert!(lines.iter().all(|line| !line.starts_with("noted")));
}
