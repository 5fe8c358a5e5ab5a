use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn ids(keys: &Keys) -> Vec<[u8; 8]> {
    keys.0.iter().map(Key::id).collect()
}

#[test]
fn our_own_file_is_made_once_and_for_its_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let source = KeySource::own(directory.path());
    let path = source.own_file().unwrap();
    assert!(source.read().unwrap().is_none());
    let made = make(path).unwrap();
    assert_eq!(mode(path), 0o600);
    let second = make(path).unwrap();
    assert_eq!(ids(&second), ids(&made), "a second key was made");
    let read = source.read().unwrap().unwrap();
    assert_eq!(ids(&read), ids(&made));
    let files = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, 1, "a draft was left behind");
}

#[test]
fn a_file_that_others_can_read_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let own = KeySource::own(directory.path());
    let path = own.own_file().unwrap();
    make(path).unwrap();
    for wrong in [0o640, 0o604, 0o660, 0o601] {
        let permissions = std::fs::Permissions::from_mode(wrong);
        std::fs::set_permissions(path, permissions).unwrap();
        for source in [&own, &KeySource::file(path.to_owned())] {
            let error = source.read().unwrap_err().to_string();
            let shown = path.display();
            let expected =
                format!("{shown} can be read by others (mode {wrong:03o}): chmod 600 {shown}");
            assert_eq!(error, expected);
        }
    }
}

#[test]
fn another_set_of_keys_takes_the_place_of_the_former() {
    let directory = tempfile::tempdir().unwrap();
    let source = KeySource::own(directory.path());
    let path = source.own_file().unwrap();
    let old = make(path).unwrap();
    let both = Keys::with_new(Some(old.clone()));
    replace(path, &both).unwrap();
    assert_eq!(mode(path), 0o600);
    let read = source.read().unwrap().unwrap();
    assert_eq!(ids(&read), [both.newest().id(), old.newest().id()]);
    assert_eq!(source.check(&[]).unwrap(), 2);
}

#[test]
fn what_is_no_key_is_named() {
    let key = "ab".repeat(32);
    let two = KeySource::given(&format!("{key} {}\n", "0c".repeat(32)), "SEMEL_SECRETS_KEY");
    assert_eq!(two.unwrap().check(&[]).unwrap(), 2);
    for wrong in ["", " \n", "abc", &format!("{key}0"), &format!("{key} x")] {
        let error = KeySource::given(wrong, "SEMEL_SECRETS_KEY").unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with("SEMEL_SECRETS_KEY holds no key"), "{told}");
        assert!(!told.contains("abab"), "{told}");
    }
    let none = KeySource::file("/no/such/file".into());
    assert!(none.read().unwrap().is_none());
    let told = none.missing().to_string();
    assert!(told.ends_with("there is no /no/such/file"), "{told}");
}
