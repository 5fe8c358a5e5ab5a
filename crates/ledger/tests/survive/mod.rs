//! What must hold whatever a key is made of: one list of parts, one spelling, one key.
//!
//! Run over generated text by the tests, and over whatever libFuzzer finds by a target in `fuzz`,
//! which includes this very file.

use semel_ledger::key::{MAX_NAME_BYTES, MAX_PARTS};
use semel_ledger::{EffectId, Key, Scope};

/// Takes a text for a key's text form, and for its parts with a sign between them.
pub(crate) fn key(text: &str) {
    match text.parse::<Key>() {
        Ok(key) => {
            assert_eq!(key.as_str(), text, "a text form has one spelling");
            known(&key);
        }
        Err(error) => assert!(!error.to_string().is_empty(), "{text:?}"),
    }
    let parts: Vec<&str> = text.split('|').collect();
    match Key::from_parts(&parts) {
        Ok(key) => {
            assert_eq!(key.parts().collect::<Vec<_>>(), parts, "{text:?}");
            known(&key);
        }
        Err(error) => assert!(!error.to_string().is_empty(), "{text:?}"),
    }
}

/// A key is made again from its text and from its parts, and stays within its limits.
fn known(key: &Key) {
    let text = key.as_str();
    assert_eq!(text.parse::<Key>().as_ref(), Ok(key), "its own text form");
    let parts: Vec<String> = key.parts().collect();
    assert_eq!(Key::from_parts(&parts).as_ref(), Ok(key), "its own parts");
    assert!(parts.len() <= MAX_PARTS, "{text:?}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
    for part in &parts {
        assert!(part.len() <= MAX_NAME_BYTES && !part.trim().is_empty());
    }
    let scope = Scope::new("s").expect("a scope");
    let effect = EffectId::new(scope.clone(), key.clone());
    assert_eq!(effect.hash(), EffectId::new(scope, key.clone()).hash());
}
