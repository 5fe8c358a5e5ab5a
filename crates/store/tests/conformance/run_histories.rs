//! The same history of runs on two backends: every answer and everything on record must be equal.
//!
//! As in `differential`, memory is what the others are held against. Runs are few and lanes narrow,
//! so that they meet. Positions of mail are the backends' own: a happening says which piece of mail it
//! means, and each world looks up where that stands.

use semel_ledger::Millis;
use semel_store::run::{
    CursorChange, Loaded, Next, ReleaseChange, ReleaseId, RunFilter, RunState, Start, WhenFull,
};
use semel_store::{Answer, Change};

use crate::crew::Crew;
use crate::fixture::{Kind, World};
use crate::shared::runs::{
    FLOW, Starting as _, advance, finish, finish_and_tell, lane, mail, rest, rest_until, run_id,
    show, start,
};
use crate::shared::seeded::Seeded;
use crate::shared::{Saying as _, once};

crate::cases![random_histories_of_runs_are_answered_as_in_memory];

/// How many histories; half of them where each takes seconds.
fn seeds(kind: Kind) -> u64 {
    if kind == Kind::Postgres { 4 } else { 8 }
}

const ROUNDS: u64 = 250;
const RUNS: u64 = 9;

async fn random_histories_of_runs_are_answered_as_in_memory(first: World) {
    let kind = first.kind;
    let mut fresh = Some(first);
    for seed in 0..seeds(kind) {
        let subject = match fresh.take() {
            Some(world) => world,
            None => World::fresh(kind).await,
        };
        let subject = Crew::join(subject).await;
        let model = Crew::join(World::fresh(Kind::Memory).await).await;
        let mut random = Seeded::new(seed);
        for round in 0..ROUNDS {
            let happening = happening(&mut random, round);
            let found = lives(&subject, &happening).await;
            let expected = lives(&model, &happening).await;
            assert_eq!(found, expected, "seed {seed}, round {round}: {happening:?}");
            if round % 5 < 4 {
                continue;
            }
            let (found, expected) = (everything(&subject).await, everything(&model).await);
            let differs = found.iter().zip(&expected).find(|(a, b)| a != b);
            assert_eq!(differs, None, "seed {seed}, round {round}: {happening:?}");
            assert_eq!(found.len(), expected.len());
        }
    }
}

/// What happens next, to both.
#[derive(Clone, Debug)]
enum Happening {
    Start(Box<Start>),
    Commit(Vec<Said>),
    TimePasses(Millis),
    Sweep,
    LeaveAndJoin,
}

#[derive(Clone, Debug)]
enum Said {
    Change(Change),
    /// A row at the end of a journal, or `back` places before, after reading so much mail.
    Advance {
        run: u64,
        back: u32,
        reads: usize,
        silent: bool,
        next: Next,
    },
}

fn happening(random: &mut Seeded, round: u64) -> Happening {
    match random.below(20) {
        0..=2 => Happening::Start(Box::new(a_start(random, round))),
        3..=16 => {
            let mut said: Vec<Said> = (0..=random.below(4)).map(|_| said(random, round)).collect();
            // A store may start everything of a commit before anything else of it moves.
            said.sort_by_key(|said| !matches!(said, Said::Change(Change::Start(_))));
            Happening::Commit(said)
        }
        17 => Happening::TimePasses(Millis::seconds(random.below(20))),
        18 if random.once_in(4) => Happening::TimePasses(Millis::days(31)),
        18 => Happening::LeaveAndJoin,
        _ => Happening::Sweep,
    }
}

fn a_start(random: &mut Seeded, round: u64) -> Start {
    let n = 1 + random.below(RUNS);
    let mut start = start(n);
    if random.once_in(2) {
        let policies = [
            WhenFull::Queue,
            WhenFull::Queue,
            WhenFull::Skip,
            WhenFull::Replace,
        ];
        let width = u32::try_from(1 + random.below(2)).expect("few");
        let narrow = lane(
            u8::try_from(random.below(2)).expect("few"),
            width,
            random.one_of(&policies),
        );
        start = start.in_lane(narrow);
    }
    if random.once_in(3) {
        start = start.child_of(1 + random.below(RUNS));
    }
    if random.once_in(3) {
        let key = format!("order/{}", random.below(40));
        let with = once(&key, round).of_scope(FLOW).result("\"run\"");
        start = start.once(with).otherwise("\"not\"");
    }
    if random.once_in(4) {
        start = start.latest(1, i64::try_from(random.below(6)).expect("few"));
    }
    if random.once_in(5) {
        start = start.run(|run| run.contents = vec![vec![1; 40_000]]);
    }
    match random.below(6) {
        0 => start.state(RunState::Parked),
        1 => start.run(|run| run.wake = Some(crate::shared::START.after(Millis::seconds(round)))),
        _ => start,
    }
}

fn said(random: &mut Seeded, round: u64) -> Said {
    let run = 1 + random.below(RUNS);
    let flow = random.one_of(&["a", "b"]);
    let id = ReleaseId([u8::try_from(random.below(4)).expect("few"); 32]);
    Said::Change(match random.below(16) {
        0..=2 => Change::Start(Box::new(a_start(random, round))),
        3..=8 => {
            return Said::Advance {
                run,
                back: u32::from(random.once_in(6)),
                reads: usize::try_from(random.below(3)).expect("few"),
                silent: random.once_in(6),
                next: a_next(random, round),
            };
        }
        9..=10 => mail(run, &round.to_string()),
        11..=13 => Change::Take {
            limit: u32::try_from(random.below(4)).expect("few"),
        },
        14 if random.once_in(2) => Change::Cursor(CursorChange {
            name: "tick".into(),
            was: random.once_in(2).then(|| "1".into()),
            becomes: random.one_of(&["1", "2"]).into(),
        }),
        14 => Change::from(once(&run.to_string(), round)),
        _ => Change::Release(match random.below(4) {
            0..=1 => ReleaseChange::Deploy {
                id,
                flow: flow.into(),
                source: "text".into(),
                by: None,
                live: random.once_in(2),
            },
            2 => ReleaseChange::GoLive {
                flow: flow.into(),
                id,
                was: random.once_in(2).then_some(ReleaseId([1; 32])),
            },
            _ => ReleaseChange::Retire { flow: flow.into() },
        }),
    })
}

fn a_next(random: &mut Seeded, round: u64) -> Next {
    match random.below(8) {
        0..=1 => Next::GoOn,
        2 => show(random.one_of(&[RunState::Running, RunState::Retrying])),
        3 => rest(random.one_of(&[RunState::Waiting, RunState::Parked])),
        4 => rest_until(crate::shared::START.after(Millis::seconds(round))),
        5 => Next::Rest {
            state: RunState::Parked,
            why: "yields".into(),
            wake: None,
            yields: true,
        },
        6 => finish(random.one_of(&[RunState::Done, RunState::Failed, RunState::Cancelled])),
        _ => finish_and_tell(&round.to_string()),
    }
}

async fn resolve(crew: &Crew, said: Said) -> Change {
    match said {
        Said::Change(change) => change,
        Said::Advance {
            run,
            back,
            reads,
            silent,
            next,
        } => {
            let loaded = crew.store().load_run(run_id(run)).await.expect("an answer");
            let rows = loaded.as_ref().map_or(0, |loaded| loaded.journal.len());
            let rows = u32::try_from(rows).expect("few");
            let mut advance = advance(run, rows.saturating_sub(back), next);
            let mail = loaded.iter().flat_map(|loaded| &loaded.mail);
            advance.read_mail = mail.take(reads).last().map(|mail| mail.seq);
            if silent {
                advance.row = None;
            }
            // Going on with a run that is not there writes a row that belongs to nobody.
            if loaded.is_none() && matches!(advance.next, Next::GoOn) {
                advance.next = show(RunState::Running);
            }
            Change::Advance(Box::new(advance))
        }
    }
}

async fn lives(crew: &Crew, happening: &Happening) -> Vec<String> {
    match happening.clone() {
        Happening::Start(start) => {
            let answered = Box::new(crew.start(*start).await);
            vec![told(Answer::Started(answered))]
        }
        Happening::Commit(said) => {
            let mut changes = Vec::new();
            for said in said {
                changes.push(resolve(crew, said).await);
            }
            let answers = crew.changes(changes).await;
            answers.into_iter().map(told).collect()
        }
        Happening::TimePasses(span) => {
            crew.pass(span);
            Vec::new()
        }
        Happening::Sweep => {
            let swept = crew.store().sweep_runs_bite(None).await.expect("a sweep");
            crew.store().give_back().await.expect("it gives back");
            vec![format!("{swept:?}")]
        }
        Happening::LeaveAndJoin => {
            crew.store().leave().await.expect("it leaves");
            let node = crew.store().join("again").await.expect("it joins");
            vec![node.node.to_string()]
        }
    }
}

fn told(mut answer: Answer) -> String {
    let answered = match &mut answer {
        Answer::Effect(answered) => Some(&mut **answered),
        Answer::Started(started) => started.answered.as_mut(),
        _ => None,
    };
    if let Some(answered) = answered {
        answered.receipt = None;
        if let Some(record) = &mut answered.record {
            record.seq = 0;
        }
    }
    format!("{answer:?}")
}

/// All that is on record of runs, a line for each.
async fn everything(crew: &Crew) -> Vec<String> {
    let store = crew.store();
    let ids: Vec<_> = (1..=RUNS).map(run_id).collect();
    let loaded = store.load_runs(&ids).await.expect("an answer");
    let line = |mut loaded: Loaded| {
        for mail in &mut loaded.mail {
            mail.seq = 0;
        }
        format!("{loaded:?}")
    };
    let mut lines: Vec<String> = loaded.into_iter().map(line).collect();
    for parent in [None, Some(run_id(1)), Some(run_id(2))] {
        let filter = RunFilter {
            parent,
            states: vec![RunState::Parked, RunState::Waiting, RunState::Running],
            limit: 100,
            ..RunFilter::default()
        };
        lines.push(format!("{:?}", store.runs(&filter).await.expect("runs")));
        if let Some(parent) = parent {
            lines.push(format!(
                "{:?}",
                store.children(parent).await.expect("children")
            ));
        }
    }
    lines.push(format!("{:?}", store.next_wake().await.expect("a wake")));
    lines.push(format!(
        "{:?}",
        store.releases(None).await.expect("releases")
    ));
    lines.push(format!("{:?}", store.live().await.expect("releases")));
    lines.push(format!(
        "{:?}",
        store.live_revision().await.expect("a number")
    ));
    lines.push(format!(
        "{:?}",
        store.cursor("tick").await.expect("a position")
    ));
    lines
}
