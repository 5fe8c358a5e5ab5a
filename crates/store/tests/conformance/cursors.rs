//! A saved position moves only from where it is.

use semel_store::run::CursorChange;
use semel_store::{Answer, Change};

use crate::fixture::World;

crate::cases!(
    a_position_moves_from_where_it_is,
    positions_are_apart,
    of_many_movers_one_wins,
);

fn cursor(name: &str, was: Option<&str>, becomes: &str) -> Change {
    Change::Cursor(CursorChange {
        name: name.into(),
        was: was.map(Into::into),
        becomes: becomes.into(),
    })
}

impl World {
    async fn moves(&self, change: Change) -> bool {
        match self.store.commit(vec![change]).await.expect("answers")[..] {
            [Answer::Moved(moved)] => moved,
            ref other => panic!("{other:?} is not of a position"),
        }
    }

    async fn position(&self, name: &str) -> Option<Box<str>> {
        self.store.cursor(name).await.expect("an answer")
    }
}

async fn a_position_moves_from_where_it_is(world: World) {
    assert_eq!(world.position("tick").await, None);
    assert!(!world.moves(cursor("tick", Some("1"), "2")).await);
    assert!(world.moves(cursor("tick", None, "1")).await);
    assert!(!world.moves(cursor("tick", None, "9")).await);
    assert!(!world.moves(cursor("tick", Some("2"), "9")).await);
    assert!(world.moves(cursor("tick", Some("1"), "2")).await);
    assert_eq!(world.position("tick").await.as_deref(), Some("2"));
}

async fn positions_are_apart(world: World) {
    assert!(world.moves(cursor("a", None, "1")).await);
    assert!(world.moves(cursor("b", None, "2")).await);
    assert!(world.moves(cursor("a", Some("1"), "3")).await);
    assert_eq!(world.position("b").await.as_deref(), Some("2"));
}

async fn of_many_movers_one_wins(world: World) {
    let movers = (0..20).map(|n| {
        let store = std::sync::Arc::clone(&world.store);
        tokio::spawn(async move {
            let answers = store
                .commit(vec![cursor("tick", None, &n.to_string())])
                .await;
            matches!(answers.expect("answers")[..], [Answer::Moved(true)])
        })
    });
    let mut won = 0;
    for mover in movers.collect::<Vec<_>>() {
        won += usize::from(mover.await.expect("it ends"));
    }
    assert_eq!(won, 1);
}
