//! Keys of any text: read back as they were written, or refused.

use proptest::prelude::*;

mod survive;

#[test]
fn odd_texts_are_survived() {
    for text in [
        "",
        "|",
        "/",
        "%",
        "%2",
        "%2F",
        "%25",
        "%252F",
        "a|b",
        "a/|b%",
        "\u{85}",
        "é|e\u{301}",
        "\u{3000}",
        "a\0b",
    ] {
        survive::key(text);
    }
    survive::key(&"x".repeat(255));
    survive::key(&"/".repeat(255));
    survive::key(&"%25".repeat(255));
    survive::key(&"a|".repeat(20));
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC{0,40}|[a%25F/|\\n ]{0,24}|(%25|%2F|%2|a|/|[|]){0,8}") {
        survive::key(&text);
    }

    #[test]
    fn parts_are_survived(parts in prop::collection::vec("[^\\p{Cc}|]{0,5}[!-{}~]", 1..=16)) {
        survive::key(&parts.join("|"));
    }
}
