//! Asking the ledger: filters, states as they are at the time of asking, pages that do not slip.

use semel_ledger::{Decision, Millis, Outcome, Scope, State};
use semel_store::{Filter, Page, Record};

use crate::fixture::World;
use crate::shared::{LEASE, START, Saying as _, claim, decide, effect, once, settle, undo};

crate::cases![
    newest_come_first,
    by_scope,
    by_state,
    a_claim_whose_lease_ran_out_is_listed_as_unknown,
    by_external_id,
    by_key_prefix,
    by_when_the_present_state_began,
    by_the_beginning_of_the_names_hash,
    filters_add_up,
    pages_neither_repeat_nor_miss_while_effects_are_added,
    a_page_tells_whether_there_is_more,
    an_effect_claimed_anew_is_listed_once,
];

async fn page(world: &World, filter: Filter) -> Page<Record> {
    world.store.list(&filter).await.expect("a page")
}

fn keys(page: &Page<Record>) -> Vec<&str> {
    let keys = page.items.iter().map(|record| record.effect.key.as_str());
    keys.collect()
}

async fn listed(world: &World, filter: Filter) -> Vec<String> {
    let page = page(
        world,
        Filter {
            limit: 100,
            ..filter
        },
    )
    .await;
    assert_eq!(page.next, None);
    keys(&page).into_iter().map(str::to_owned).collect()
}

async fn in_states(world: &World, states: &[State]) -> Vec<String> {
    let states = states.to_vec();
    let filter = Filter {
        states,
        ..Filter::default()
    };
    listed(world, filter).await
}

async fn newest_come_first(world: World) {
    for (n, key) in (1..).zip(["b", "a", "c"]) {
        world.step(claim(key, n)).await;
    }
    world.step(settle("b", 1, Outcome::Done)).await;
    assert_eq!(listed(&world, Filter::default()).await, ["c", "a", "b"]);
}

async fn by_scope(world: World) {
    world.step(claim("a", 1)).await;
    world.step(claim("b", 2).of_scope("sms")).await;
    let scope = |name| Filter {
        scope: Some(Scope::new(name).expect("a scope")),
        ..Filter::default()
    };
    assert_eq!(listed(&world, scope("sms")).await, ["b"]);
    assert_eq!(listed(&world, scope("mail")).await, ["a"]);
    assert_eq!(listed(&world, scope("never")).await, [""; 0]);
}

/// One effect in each state, named after it.
async fn one_of_each(world: &World) {
    for (n, state) in (1..).zip(State::ALL) {
        world.step(claim(state.name(), n)).await;
    }
    for (n, state) in (1..).zip(State::ALL) {
        let outcome = match state {
            State::Claimed => continue,
            State::Done | State::Undone => Outcome::Done,
            State::Failed => Outcome::Failed,
            State::Unknown | State::Review => Outcome::Unknown,
            State::Released => Outcome::Released,
        };
        world.step(settle(state.name(), n, outcome)).await;
    }
    world.step(claim("review", 99)).await;
    world.step(undo("undone")).await;
}

async fn by_state(world: World) {
    one_of_each(&world).await;
    for state in State::ALL {
        assert_eq!(in_states(&world, &[state]).await, [state.name()]);
    }
    let open = [State::Claimed, State::Unknown, State::Review];
    let found = in_states(&world, &open).await;
    assert_eq!(found, ["review", "unknown", "claimed"]);
    let mixed = [State::Review, State::Done];
    assert_eq!(in_states(&world, &mixed).await, ["review", "done"]);
    assert_eq!(in_states(&world, &[]).await.len(), State::ALL.len());
}

async fn a_claim_whose_lease_ran_out_is_listed_as_unknown(world: World) {
    world.step(claim("gone", 1)).await;
    world.step(claim("here", 2).lease(Millis::days(1))).await;
    world.pass(LEASE);
    assert_eq!(in_states(&world, &[State::Unknown]).await, ["gone"]);
    assert_eq!(in_states(&world, &[State::Claimed]).await, ["here"]);
    let both = [State::Done, State::Unknown, State::Claimed];
    assert_eq!(in_states(&world, &both).await, ["here", "gone"]);
    // No duty has been by: this is how it reads, not what is written.
    assert_eq!(world.record("gone").await.entry.state, State::Claimed);
}

async fn by_external_id(world: World) {
    for (n, (key, id)) in (1..).zip([("a", "m-1"), ("b", "m-2"), ("c", "m-1")]) {
        world.step(claim(key, n)).await;
        world
            .step(settle(key, n, Outcome::Done).external_id(id))
            .await;
    }
    world.step(claim("d", 9)).await;
    let with_id = |id: &str| Filter {
        external_id: Some(id.to_owned()),
        ..Filter::default()
    };
    assert_eq!(listed(&world, with_id("m-1")).await, ["c", "a"]);
    assert_eq!(listed(&world, with_id("m-2")).await, ["b"]);
    assert_eq!(listed(&world, with_id("M-1")).await, [""; 0]);
    assert_eq!(world.record("b").await.external_id.as_deref(), Some("m-2"));
    // A decision names it too, and nothing that comes later takes the name away.
    world.pass(LEASE);
    let said = decide("d", Decision::Happened).external_id("m-2");
    world.step(said).await;
    world.step(undo("d")).await;
    assert_eq!(listed(&world, with_id("m-2")).await, ["d", "b"]);
}

async fn by_key_prefix(world: World) {
    // Wildcards of SQL and letters of several bytes are letters like any other.
    let all = ["ab", "a_c", "a%25c", "aé1", "aé2", "b/a", "B/a"];
    for (n, key) in (1..).zip(all) {
        world.step(claim(key, n)).await;
    }
    let prefixed = |prefix: &str| Filter {
        key_prefix: Some(prefix.to_owned()),
        ..Filter::default()
    };
    for prefix in ["a", "a_", "a%", "aé", "aé2", "b", "b/a", "c", "_", ""] {
        let mut expected: Vec<&str> = all.into_iter().collect();
        expected.retain(|key| key.starts_with(prefix));
        expected.reverse();
        assert_eq!(listed(&world, prefixed(prefix)).await, expected, "{prefix}");
    }
}

async fn by_when_the_present_state_began(world: World) {
    world.step(claim("lapses", 1)).await;
    world.step(claim("settled", 2).lease(Millis::days(1))).await;
    world.step(claim("held", 3).lease(Millis::days(1))).await;
    world.pass(Millis::seconds(30));
    world.step(settle("settled", 2, Outcome::Done)).await;
    world.pass(Millis::seconds(60));
    let since = |seconds| Filter {
        since: Some(START.after(Millis::seconds(seconds))),
        ..Filter::default()
    };
    let all = ["held", "settled", "lapses"];
    assert_eq!(listed(&world, since(0)).await, all);
    assert_eq!(listed(&world, since(1)).await, ["settled", "lapses"]);
    assert_eq!(listed(&world, since(30)).await, ["settled", "lapses"]);
    assert_eq!(listed(&world, since(31)).await, ["lapses"], "at 60");
    assert_eq!(listed(&world, since(60)).await, ["lapses"]);
    assert_eq!(listed(&world, since(61)).await, [""; 0]);
    let until = |seconds| Filter {
        until: Some(START.after(Millis::seconds(seconds))),
        ..Filter::default()
    };
    assert_eq!(listed(&world, until(0)).await, [""; 0]);
    assert_eq!(listed(&world, until(30)).await, ["held"]);
    assert_eq!(listed(&world, until(60)).await, ["held", "settled"]);
    assert_eq!(listed(&world, until(61)).await, all);
}

async fn by_the_beginning_of_the_names_hash(world: World) {
    let keys: Vec<String> = (0..40).map(|n| format!("k{n}")).collect();
    for (n, key) in (1..).zip(&keys) {
        world.step(claim(key, n)).await;
    }
    for wanted in &keys {
        let hash = effect(wanted).hash();
        let (mut from, mut to) = (hash, hash);
        from[1..].fill(0x00);
        to[1..].fill(0xff);
        for hashes in [(hash, hash), (from, to)] {
            let within = |key: &&String| (hashes.0..=hashes.1).contains(&effect(key).hash());
            let expected: Vec<String> = keys.iter().rev().filter(within).cloned().collect();
            let filter = Filter {
                hashes: Some(hashes),
                ..Filter::default()
            };
            assert_eq!(listed(&world, filter).await, expected);
            assert!(expected.contains(wanted));
        }
    }
}

async fn filters_add_up(world: World) {
    for n in 1..=12 {
        let key = format!("{}{n}", if n % 2 == 0 { "even" } else { "odd" });
        let scope = ["mail", "sms", "fax"][usize::from(n % 3 == 1) + usize::from(n % 3 == 2) * 2];
        world.step(claim(&key, n).of_scope(scope)).await;
        if n > 6 {
            let done = settle(&key, n, Outcome::Done).external_id("x");
            world.step(done.of_scope(scope)).await;
        }
    }
    let filter = Filter {
        scope: Some(Scope::new("mail").expect("a scope")),
        states: vec![State::Done, State::Unknown],
        external_id: Some("x".to_owned()),
        key_prefix: Some("even".to_owned()),
        since: Some(START),
        ..Filter::default()
    };
    assert_eq!(listed(&world, filter).await, ["even12"]);
}

async fn pages_neither_repeat_nor_miss_while_effects_are_added(world: World) {
    for n in 0..25 {
        world.step(once(&format!("old{n:02}"), n)).await;
    }
    let mut seen = Vec::new();
    let mut after = None;
    for round in 0.. {
        let limit = 4;
        let states = vec![State::Done];
        let filter = Filter {
            after,
            limit,
            states,
            ..Filter::default()
        };
        let page = page(&world, filter).await;
        seen.extend(keys(&page).into_iter().map(str::to_owned));
        world.step(once(&format!("new{round}"), 100 + round)).await;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (0..25).rev().map(|n| format!("old{n:02}")).collect();
    assert_eq!(seen, expected);
}

async fn a_page_tells_whether_there_is_more(world: World) {
    for n in 0..4 {
        world.step(once(&format!("k{n}"), n)).await;
    }
    let first = |limit| Filter {
        limit,
        ..Filter::default()
    };
    let three = page(&world, first(3)).await;
    assert_eq!(three.next, Some(three.items[2].seq));
    assert_eq!(page(&world, first(4)).await.next, None);
    assert_eq!(page(&world, first(0)).await.items.len(), 1, "at least one");
    assert_eq!(page(&world, first(usize::MAX)).await.items.len(), 4);
}

async fn an_effect_claimed_anew_is_listed_once(world: World) {
    world.step(once("a", 1).remember(LEASE)).await;
    world.step(once("b", 2)).await;
    world.pass(LEASE);
    world.step(claim("a", 3)).await;
    assert_eq!(listed(&world, Filter::default()).await, ["a", "b"]);
}
