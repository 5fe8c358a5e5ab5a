//! Flows that nobody wrote, of every kind of step, struck everywhere: none of them is seen twice.
//!
//! A few on every `./test`; as many as `SEMEL_PROVE_FLOWS` says for a long night. `SEMEL_PROVE_SEED` begins elsewhere, and a
//! flow that does not hold is printed with its seed.

mod made;

use std::sync::Arc;

use semel_prove::{Options, Stage, prove};

/// How many flows are tried on every `./test`.
const FEW: u64 = 8;

fn number(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |given| given.parse().expect("a number"))
}

#[test]
fn random_flows_are_never_seen_twice() {
    let (first, count) = (
        number("SEMEL_PROVE_SEED", 1),
        number("SEMEL_PROVE_FLOWS", FEW),
    );
    let (mut schedules, mut crashes) = (0, 0);
    for seed in first..first + count {
        let source = made::flow(seed);
        let reading = semel_flow::read(&source);
        let mut found = reading.diagnostics;
        found.extend(reading.flow.iter().flat_map(semel_flow::check));
        found.retain(|it| it.level == semel_flow::Level::Error);
        assert!(found.is_empty(), "{seed}:\n{source}\n{found:#?}");
        let stage = Stage::new(&source, Vec::new());
        let stage = stage.unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
        let options = Options {
            limit: 150,
            seed,
            ..Options::default()
        };
        let proof = prove(&Arc::new(stage), &options, &|_, _| {});
        let proof = proof.unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
        assert!(proof.holds(), "{seed}:\n{source}\n{:#?}", proof.findings);
        schedules += proof.schedules;
        crashes += proof.crashes;
    }
    let least = usize::try_from(count).expect("a number") * 10;
    assert!(
        schedules > least && crashes > least,
        "{schedules} schedules, {crashes} crashes"
    );
}
