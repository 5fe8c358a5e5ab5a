use std::path::Path;

use semel_act::{SecretSet, Secrets as _};
use semel_engine::token::LinkKeys as _;
use semel_store::{Location, Options};

use super::*;

struct World {
    store: Store,
    directory: tempfile::TempDir,
}

impl World {
    async fn new() -> World {
        let store = Store::open(&Location::Memory, Options::default()).await;
        World {
            store: store.unwrap(),
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self) -> std::path::PathBuf {
        self.directory.path().join("secrets.key")
    }

    /// As after a start: nothing is known but what is on disk.
    async fn started(&self) -> Result<Vault, VaultError> {
        self.with(KeySource::own(self.directory.path())).await
    }

    async fn with(&self, source: KeySource) -> Result<Vault, VaultError> {
        let vault = Vault::new(Arc::new(SecretSet::default()), source);
        vault.refresh(&self.store).await.map(|()| vault)
    }

    async fn two_secrets(&self) -> Vault {
        let vault = self.started().await.unwrap();
        vault
            .set(&self.store, "A", "value of a", "ann")
            .await
            .unwrap();
        vault
            .set(&self.store, "B", "value of b", "ann")
            .await
            .unwrap();
        vault
    }

    /// Which keys have sealed something.
    async fn in_use(&self) -> Vec<[u8; 8]> {
        let all = self.store.secrets().await.unwrap();
        let mut keys: Vec<_> = all.iter().map(|sealed| sealed.key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

fn assert_both(vault: &Vault) {
    assert_eq!(vault.secret("A").as_deref(), Some("value of a"));
    assert_eq!(vault.secret("B").as_deref(), Some("value of b"));
}

fn keys_in(path: &Path) -> usize {
    KeySource::file(path.to_owned()).check(&[]).unwrap()
}

#[tokio::test]
async fn what_is_set_is_in_force_and_found_again() {
    let world = World::new().await;
    let vault = world.two_secrets().await;
    assert_both(&vault);
    assert_both(&world.started().await.unwrap());
    assert!(vault.remove(&world.store, "A").await.unwrap());
    assert!(!vault.remove(&world.store, "A").await.unwrap());
    assert_eq!(vault.secret("A"), None);
}

#[tokio::test]
async fn the_environment_counts_over_what_is_sealed() {
    let world = World::new().await;
    world.two_secrets().await;
    let environment = SecretSet::from_iter([("A", "of the environment")]);
    let source = KeySource::own(world.directory.path());
    let vault = Vault::new(Arc::new(environment), source);
    vault.refresh(&world.store).await.unwrap();
    assert_eq!(vault.secret("A").as_deref(), Some("of the environment"));
    assert_eq!(vault.secret("B").as_deref(), Some("value of b"));
    vault
        .set(&world.store, "A", "another a", "ann")
        .await
        .unwrap();
    assert_eq!(vault.secret("A").as_deref(), Some("of the environment"));
}

#[tokio::test]
async fn another_node_notices_what_was_changed() {
    let world = World::new().await;
    let (one, other) = (world.two_secrets().await, world.started().await.unwrap());
    let before = other.now();
    other.refresh(&world.store).await.unwrap();
    assert!(
        other.now().is(&before),
        "it was read although nothing changed"
    );
    one.set(&world.store, "A", "changed", "bob").await.unwrap();
    assert_both(&other);
    other.refresh(&world.store).await.unwrap();
    assert_eq!(other.secret("A").as_deref(), Some("changed"));
}

#[tokio::test]
async fn nothing_is_sealed_or_started_without_the_right_key() {
    let world = World::new().await;
    let running = world.two_secrets().await;
    let kept = std::fs::read(world.file()).unwrap();
    std::fs::remove_file(world.file()).unwrap();

    let told = world.started().await.unwrap_err().to_string();
    assert!(told.contains("secrets.key"), "{told}");
    let refused = running.set(&world.store, "C", "c", "ann").await;
    assert!(matches!(refused, Err(VaultError::Key(_))), "{refused:?}");
    assert!(!world.file().exists(), "a key was made that opens nothing");

    let wrong = KeySource::given(&"5e".repeat(32), "x").unwrap();
    let told = world.with(wrong.clone()).await.unwrap_err().to_string();
    assert!(told.contains("which is not here"), "{told}");
    let stranger = Vault::new(Arc::new(SecretSet::default()), wrong);
    let refused = stranger.set(&world.store, "C", "c", "ann").await;
    assert!(
        matches!(refused, Err(VaultError::Strange { .. })),
        "{refused:?}"
    );

    // A running node keeps what it had, and goes on when the key is back.
    let elsewhere = world.store.secrets().await.unwrap();
    let touched = SecretChange::Reseal {
        name: "A".into(),
        was: elsewhere[0].bytes.clone(),
        key: elsewhere[0].key,
        becomes: elsewhere[0].bytes.clone(),
    };
    world
        .store
        .commit(vec![Change::Secret(touched)])
        .await
        .unwrap();
    running.refresh(&world.store).await.unwrap_err();
    assert_both(&running);
    super::keys::make(&world.file()).unwrap();
    std::fs::write(world.file(), kept).unwrap();
    running.refresh(&world.store).await.unwrap();
    assert_both(&running);
}

#[tokio::test]
async fn a_value_under_another_name_is_not_opened() {
    let world = World::new().await;
    world.two_secrets().await;
    let all = world.store.secrets().await.unwrap();
    let swapped = SecretChange::Reseal {
        name: "A".into(),
        was: all[0].bytes.clone(),
        key: all[1].key,
        becomes: all[1].bytes.clone(),
    };
    world
        .store
        .commit(vec![Change::Secret(swapped)])
        .await
        .unwrap();
    let refused = world.started().await;
    assert!(
        matches!(&refused, Err(VaultError::Changed { name }) if &**name == "A"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn rotating_seals_everything_again() {
    let world = World::new().await;
    let vault = world.two_secrets().await;
    let before = world.store.secrets().await.unwrap();
    let rotated = vault.rotate(&world.store).await.unwrap();
    assert_eq!(rotated.resealed, 2);
    assert_eq!(world.in_use().await, [rotated.key]);
    assert_ne!(before[0].key, rotated.key);
    assert_eq!(keys_in(&world.file()), 1, "the old key is gone");
    let after = world.store.secrets().await.unwrap();
    assert_eq!(after[0].changed_at, before[0].changed_at);
    assert_eq!(after[0].by, before[0].by);
    assert_both(&vault);
    assert_both(&world.started().await.unwrap());
}

/// A rotation that ends after any of its steps leaves everything readable, and the next one ends it.
#[tokio::test]
async fn a_rotation_may_be_interrupted_anywhere() {
    for steps in 0..=4 {
        let world = World::new().await;
        let vault = world.two_secrets().await;
        if steps > 0 {
            let keys = vault.begin(&world.store).await.unwrap();
            if steps == 2 {
                reseal_one(&world, &vault, &keys).await;
            }
            if steps > 2 {
                vault.reseal(&world.store, &keys).await.unwrap();
            }
            if steps > 3 {
                vault.finish(&keys).unwrap();
            }
        }
        drop(vault);
        let again = world.started().await.unwrap();
        assert_both(&again);
        again
            .set(&world.store, "C", "value of c", "ann")
            .await
            .unwrap();
        let rotated = again.rotate(&world.store).await.unwrap();
        assert_eq!(world.in_use().await, [rotated.key], "after {steps} steps");
        assert_eq!(keys_in(&world.file()), 1, "after {steps} steps");
        let last = world.started().await.unwrap();
        assert_both(&last);
        assert_eq!(last.secret("C").as_deref(), Some("value of c"));
    }
}

/// Half of what a rotation writes: the store may fail in the middle.
async fn reseal_one(world: &World, vault: &Vault, keys: &Keys) {
    let one = world.store.secrets().await.unwrap().remove(0);
    let value = vault.source.open(Some(keys), &one).unwrap();
    let change = SecretChange::Reseal {
        becomes: keys.newest().seal(&one.name, &value).unwrap(),
        name: one.name,
        was: one.bytes,
        key: keys.newest().id(),
    };
    let answers = world.store.commit(vec![Change::Secret(change)]).await;
    assert!(matches!(answers.unwrap()[..], [Answer::Secret(true)]));
    assert_eq!(world.in_use().await.len(), 2);
}

#[tokio::test]
async fn given_keys_are_rotated_by_whoever_gives_them() {
    let world = World::new().await;
    let (old, new) = ("0a".repeat(32), "0b".repeat(32));
    let given = |text: &str| KeySource::given(text, "x").unwrap();
    let vault = world.with(given(&old)).await.unwrap();
    vault
        .set(&world.store, "A", "value of a", "ann")
        .await
        .unwrap();
    vault
        .set(&world.store, "B", "value of b", "ann")
        .await
        .unwrap();
    let refused = vault.rotate(&world.store).await;
    assert!(matches!(refused, Err(VaultError::NoNewKey)), "{refused:?}");

    let both = world.with(given(&format!("{new} {old}"))).await.unwrap();
    assert_both(&both);
    assert_eq!(both.rotate(&world.store).await.unwrap().resealed, 2);
    assert_both(&world.with(given(&new)).await.unwrap());
    world.with(given(&old)).await.unwrap_err();
    assert!(!world.file().exists());
}

#[tokio::test]
async fn without_any_place_for_a_key_nothing_is_sealed() {
    let world = World::new().await;
    let vault = world.with(KeySource::none()).await.unwrap();
    let refused = vault.set(&world.store, "A", "a", "ann").await;
    assert!(matches!(
        refused,
        Err(VaultError::Key(KeyError::Missing { .. }))
    ));
    assert!(world.store.secrets().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_key_of_links_is_made_once_and_survives_a_rotation() {
    let world = World::new().await;
    let vault = world.started().await.unwrap();
    assert!(vault.link_key().is_none(), "it is made when it is needed");
    vault.ready_links(&world.store).await.unwrap();
    let (run, step) = (semel_store::run::RunId([1; 16]), "paid");
    let links = |vault: Vault| semel_engine::token::Links::new("", Arc::new(vault));
    let other = world.started().await.unwrap();
    other.ready_links(&world.store).await.unwrap();
    // As if both had made one at the same moment: the first counts.
    other
        .put(&world.store, LINKS, &hex(&[7; 32]), "semel", true)
        .await
        .unwrap();
    let given = links(vault).callback(run, step);
    assert!(given.is_some());
    assert_eq!(given, links(other).callback(run, step));
    let vault = world.started().await.unwrap();
    vault.rotate(&world.store).await.unwrap();
    assert_eq!(
        given,
        links(world.started().await.unwrap()).callback(run, step)
    );
}
