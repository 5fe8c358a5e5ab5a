//! Requests that need more than one yes, and people who decide at the same moment.

use serde_json::json;

use crate::common::Answer;
use crate::gates::{Asking, Gates, on_each_store};

on_each_store![
    votes_are_counted_once_for_each_person,
    one_no_is_enough,
    votes_do_not_count_for_the_next_request,
    of_two_opposite_decisions_at_once_one_wins,
    of_many_votes_at_once_each_counts_once,
];

async fn votes_are_counted_once_for_each_person(world: Gates) {
    let it = world
        .asks(
            "1",
            &Asking {
                needed: 3,
                ..Asking::default()
            },
        )
        .await;
    for (who, status, left) in [
        ("ann", "recorded", 2),
        ("ann", "already_recorded", 2),
        ("bob", "recorded", 1),
        ("ann", "already_recorded", 1),
        ("bob", "already_recorded", 1),
    ] {
        let answer = world.decide(who, &it, "approve").await;
        assert_eq!(answer.gist(), "200", "{}", answer.text());
        let told = answer.json();
        assert_eq!(
            (&told["status"], &told["left"]),
            (&json!(status), &json!(left))
        );
        assert_eq!(told["decided"], json!(null));
    }
    let shown = world.item(&it.id).await;
    assert_eq!(shown["state"], "waiting");
    assert_eq!(shown["votes"], 2);
    assert_eq!(shown["voters"][0]["by"], "ann");
    let open = world.call("GET", "/v1/inbox?for=ann", "").await.json();
    assert_eq!(open["items"], json!([]), "ann has said what she can");
    let open = world.call("GET", "/v1/inbox?for=cas", "").await.json();
    assert_eq!(open["items"][0]["votes"], 2);
    let own = world.decide("ann", &it, "reject").await;
    assert_eq!(own.gist(), "409 decided_otherwise");
    assert_eq!(own.json()["winner"]["by"], "ann");
    assert_eq!(
        world.decide("mallory", &it, "approve").await.gist(),
        "403 not_allowed"
    );
    let last = world.decide("cas", &it, "approve").await.json();
    assert_eq!(
        (&last["status"], &last["left"]),
        (&json!("recorded"), &json!(0))
    );
    let record = world.store.load(&it.effect).await.unwrap().unwrap();
    let result = world
        .store
        .text(&record.result.unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        &*result,
        r#"{"approved":true,"by":["ann","bob","cas"],"note":null}"#
    );
    let again = world.decide("ann", &it, "approve").await.json();
    assert_eq!(again["status"], "already_recorded");
    assert_eq!(again["decided"]["by"], "cas");
}

async fn one_no_is_enough(world: Gates) {
    let it = world
        .asks(
            "1",
            &Asking {
                needed: 2,
                ..Asking::default()
            },
        )
        .await;
    assert_eq!(world.decide("ann", &it, "approve").await.gist(), "200");
    assert_eq!(world.decide("bob", &it, "reject").await.gist(), "200");
    let late = world.decide("cas", &it, "approve").await;
    assert_eq!(late.gist(), "409 decided_otherwise");
    assert_eq!(late.json()["winner"]["by"], "bob");
    assert_eq!(
        world.decide("ann", &it, "approve").await.gist(),
        "409 decided_otherwise"
    );
}

async fn votes_do_not_count_for_the_next_request(world: Gates) {
    let asking = Asking {
        needed: 2,
        ..Asking::default()
    };
    let it = world.asks("1", &asking).await;
    assert_eq!(world.decide("ann", &it, "approve").await.json()["left"], 1);
    world.untold(&it, semel_ledger::Decision::Failed).await;
    let again = world.asks_again(&it, &asking).await;
    assert_eq!(world.item(&again.id).await["votes"], 0);
    assert_eq!(
        world.decide("bob", &again, "approve").await.json()["left"],
        1
    );
    assert_eq!(
        world.decide("ann", &again, "approve").await.json()["left"],
        0
    );
}

async fn of_two_opposite_decisions_at_once_one_wins(world: Gates) {
    for round in 0..8 {
        let it = world.asks(&round.to_string(), &Asking::default()).await;
        let (yes, no) = tokio::join!(
            world.decide("ann", &it, "approve"),
            world.decide("bob", &it, "reject")
        );
        let mut gists = [yes.gist(), no.gist()];
        gists.sort();
        assert_eq!(gists, ["200", "409 decided_otherwise"]);
        let (winner, loser) = if yes.gist() == "200" {
            ("ann", no)
        } else {
            ("bob", yes)
        };
        assert_eq!(loser.json()["winner"]["by"], winner);
        assert_eq!(world.item(&it.id).await["decided"]["by"], winner);
    }
}

async fn of_many_votes_at_once_each_counts_once(world: Gates) {
    for round in 0..4 {
        let asking = Asking {
            needed: 3,
            ..Asking::default()
        };
        let it = world.asks(&round.to_string(), &asking).await;
        let vote = |who| world.decide(who, &it, "approve");
        let answers: [Answer; 5] = tokio::join!(
            vote("ann"),
            vote("bob"),
            vote("ann"),
            vote("bob"),
            vote("ann")
        )
        .into();
        for answer in answers {
            assert_eq!(answer.gist(), "200", "{}", answer.text());
            assert_eq!(answer.json()["decided"], json!(null), "two are not three");
        }
        assert_eq!(world.item(&it.id).await["votes"], 2);
        assert_eq!(world.decide("cas", &it, "approve").await.json()["left"], 0);
    }
}
