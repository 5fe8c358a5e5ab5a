//! People, their sessions, and the links with which they choose a password.

use semel_ledger::{Millis, Time};
use semel_store::access::Role;
use semel_store::person::{Invitation, Person, PersonChange, Session};

use crate::fixture::World;
use crate::shared::START;

crate::cases![
    people_are_added_changed_and_removed,
    the_first_account_is_made_once_by_its_link,
    a_link_sets_the_password_of_its_person_once,
    a_session_needs_the_password_of_now,
    a_new_password_ends_every_session,
    whoever_is_removed_is_logged_out,
    a_session_ends_in_time_unless_it_is_used,
    what_has_ended_is_swept,
    of_two_first_admins_one_wins,
];

async fn change(world: &World, change: PersonChange) -> bool {
    world.store.change_person(change).await.expect("an answer")
}

fn add(name: &str, password: &str) -> PersonChange {
    PersonChange::Add {
        name: name.into(),
        role: Role::Operator,
        password: Some(password.into()),
    }
}

fn password(name: &str, password: &str) -> PersonChange {
    PersonChange::Password {
        name: name.into(),
        password: password.into(),
    }
}

fn remove(name: &str) -> PersonChange {
    PersonChange::Remove { name: name.into() }
}

const HOUR: Millis = Millis::seconds(3600);

fn invite(hash: u8, person: Option<&str>) -> PersonChange {
    PersonChange::Invite(Invitation {
        hash: [hash; 32],
        person: person.map(Into::into),
        until: START.after(HOUR),
    })
}

fn accept(hash: u8, name: &str, password: &str) -> PersonChange {
    PersonChange::Accept {
        hash: [hash; 32],
        name: name.into(),
        password: password.into(),
    }
}

fn log_in(hash: u8, person: &str, password: &str) -> PersonChange {
    PersonChange::LogIn {
        session: Session {
            hash: [hash; 32],
            person: person.into(),
            created_at: START,
            until: START.after(HOUR),
        },
        password: password.into(),
    }
}

/// Whose session it is.
async fn whose(world: &World, hash: u8) -> Option<Box<str>> {
    let found = world.store.session([hash; 32]).await.expect("an answer");
    found.map(|(session, person)| {
        assert_eq!(session.person, person.name);
        person.name
    })
}

async fn names(world: &World) -> Vec<Box<str>> {
    let people = world.store.people().await.expect("people");
    people.into_iter().map(|person| person.name).collect()
}

async fn people_are_added_changed_and_removed(world: World) {
    assert!(names(&world).await.is_empty());
    assert!(change(&world, add("eve", "one")).await);
    assert!(change(&world, add("ada", "one")).await);
    assert!(
        !change(&world, add("ada", "two")).await,
        "the name is taken"
    );
    world.pass(Millis::seconds(1));
    let later = START.after(Millis::seconds(1));
    let role = |name: &str| PersonChange::Role {
        name: name.into(),
        role: Role::Admin,
    };
    assert!(change(&world, role("ada")).await);
    assert!(!change(&world, role("Ada")).await);
    assert!(!change(&world, password("bob", "two")).await);
    let ada = Person {
        name: "ada".into(),
        role: Role::Admin,
        password: Some("one".into()),
        created_at: START,
        changed_at: later,
    };
    let found = world.store.person("ada").await.expect("an answer");
    assert_eq!(found, Some(ada));
    assert_eq!(names(&world).await, ["ada".into(), "eve".into()]);
    assert!(change(&world, remove("ada")).await);
    assert!(!change(&world, remove("ada")).await);
    assert_eq!(names(&world).await, ["eve".into()]);
}

async fn the_first_account_is_made_once_by_its_link(world: World) {
    assert!(change(&world, invite(1, None)).await);
    assert!(change(&world, invite(2, None)).await);
    assert!(!change(&world, accept(9, "ada", "x")).await, "no such link");
    assert!(change(&world, accept(1, "ada", "x")).await);
    let ada = world.store.person("ada").await.expect("an answer");
    assert_eq!(ada.map(|ada| ada.role), Some(Role::Admin));
    for hash in [1, 2] {
        assert!(!change(&world, accept(hash, "eve", "x")).await);
    }
    assert!(!change(&world, invite(3, None)).await, "somebody is there");
    // Nor when nobody is there again.
    change(&world, remove("ada")).await;
    assert!(!change(&world, accept(2, "eve", "x")).await);
    assert!(change(&world, invite(4, None)).await);
    world.pass(HOUR);
    assert!(!change(&world, accept(4, "eve", "x")).await, "it has ended");
    assert_eq!(world.store.invitation([4; 32]).await.expect("it"), None);
}

async fn a_link_sets_the_password_of_its_person_once(world: World) {
    assert!(!change(&world, invite(1, Some("ada"))).await, "nobody");
    change(&world, add("ada", "one")).await;
    change(&world, add("eve", "one")).await;
    assert!(change(&world, invite(1, Some("ada"))).await);
    assert!(change(&world, invite(2, Some("ada"))).await);
    let found = world.store.invitation([1; 32]).await.expect("an answer");
    assert_eq!(found.and_then(|it| it.person).as_deref(), Some("ada"));
    change(&world, log_in(7, "ada", "one")).await;
    change(&world, log_in(8, "eve", "one")).await;
    assert!(!change(&world, accept(1, "eve", "two")).await, "not theirs");
    assert!(change(&world, accept(1, "ada", "two")).await);
    assert_eq!(whose(&world, 7).await, None);
    assert_eq!(whose(&world, 8).await.as_deref(), Some("eve"));
    for hash in [1, 2] {
        assert!(!change(&world, accept(hash, "ada", "three")).await);
    }
    assert!(change(&world, log_in(9, "ada", "two")).await);
}

async fn a_session_needs_the_password_of_now(world: World) {
    assert!(!change(&world, log_in(1, "ada", "one")).await);
    change(&world, add("ada", "one")).await;
    let nameless = PersonChange::Add {
        name: "new".into(),
        role: Role::Viewer,
        password: None,
    };
    change(&world, nameless).await;
    assert!(!change(&world, log_in(2, "new", "")).await);
    // It was changed between the comparison and the session.
    change(&world, password("ada", "two")).await;
    assert!(!change(&world, log_in(1, "ada", "one")).await);
    assert!(change(&world, log_in(1, "ada", "two")).await);
    assert!(
        !change(&world, log_in(1, "ada", "two")).await,
        "it is taken"
    );
    assert_eq!(whose(&world, 1).await.as_deref(), Some("ada"));
    let out = |hash: u8| PersonChange::LogOut { hash: [hash; 32] };
    assert!(change(&world, out(1)).await);
    assert!(!change(&world, out(1)).await);
    assert_eq!(whose(&world, 1).await, None);
}

async fn a_new_password_ends_every_session(world: World) {
    change(&world, add("ada", "one")).await;
    change(&world, add("eve", "one")).await;
    for (hash, name) in [(1, "ada"), (2, "ada"), (3, "eve")] {
        assert!(change(&world, log_in(hash, name, "one")).await);
    }
    change(&world, invite(5, Some("ada"))).await;
    assert!(change(&world, password("ada", "two")).await);
    assert_eq!(whose(&world, 1).await, None);
    assert_eq!(whose(&world, 2).await, None);
    assert_eq!(whose(&world, 3).await.as_deref(), Some("eve"));
    assert!(!change(&world, accept(5, "ada", "three")).await);
}

async fn whoever_is_removed_is_logged_out(world: World) {
    change(&world, add("ada", "one")).await;
    change(&world, log_in(1, "ada", "one")).await;
    change(&world, remove("ada")).await;
    change(&world, add("ada", "one")).await;
    assert_eq!(whose(&world, 1).await, None);
}

async fn a_session_ends_in_time_unless_it_is_used(world: World) {
    change(&world, add("ada", "one")).await;
    change(&world, log_in(1, "ada", "one")).await;
    let extend = |until: Time| PersonChange::Extend {
        hash: [1; 32],
        until,
    };
    world.pass(Millis(HOUR.0 - 1));
    assert_eq!(whose(&world, 1).await.as_deref(), Some("ada"));
    let later = START.after(HOUR).after(HOUR);
    assert!(change(&world, extend(later)).await);
    world.pass(HOUR);
    assert_eq!(whose(&world, 1).await.as_deref(), Some("ada"));
    world.pass(Millis(1));
    assert_eq!(whose(&world, 1).await, None);
    change(&world, PersonChange::LogOut { hash: [1; 32] }).await;
    assert!(!change(&world, extend(later)).await);
}

async fn what_has_ended_is_swept(world: World) {
    change(&world, add("ada", "one")).await;
    change(&world, log_in(1, "ada", "one")).await;
    change(&world, invite(1, Some("ada"))).await;
    assert!(!change(&world, PersonChange::Sweep).await);
    world.pass(HOUR);
    assert!(change(&world, PersonChange::Sweep).await);
    assert!(!change(&world, PersonChange::Sweep).await);
}

async fn of_two_first_admins_one_wins(world: World) {
    change(&world, invite(1, None)).await;
    change(&world, invite(2, None)).await;
    let store = std::sync::Arc::new(world.store);
    let both = [(1, "ada"), (2, "eve")].map(|(hash, name)| {
        let store = std::sync::Arc::clone(&store);
        tokio::spawn(async move { store.change_person(accept(hash, name, "x")).await })
    });
    let mut won = 0;
    for one in both {
        won += i32::from(one.await.expect("it ends").expect("an answer"));
    }
    assert_eq!(won, 1);
    assert_eq!(store.people().await.expect("people").len(), 1);
}
