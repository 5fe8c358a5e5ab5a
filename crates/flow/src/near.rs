//! "Did you mean": the names that are spelled almost like a given one.

/// Longer names are not compared.
const MAX_NAME: usize = 64;
/// No more candidates than this are looked at.
const MAX_CANDIDATES: usize = 1000;

/// The nearest of the candidates, if one is near enough to be a slip of the fingers.
#[must_use]
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let folded = name.to_ascii_lowercase();
    let slips = if name.len() < 4 {
        1
    } else {
        1 + name.len() / 4
    };
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len() <= MAX_NAME)
        .map(|candidate| {
            let other = candidate.to_ascii_lowercase();
            (strsim::osa_distance(&folded, &other), candidate)
        })
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let names = ["amount", "amounts", "currency", "id"];
        for (name, expected) in [
            ("amuont", Some("amount")),
            ("Amount", Some("amount")),
            ("curency", Some("currency")),
            ("ID", Some("id")),
            ("email", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
        assert_eq!(nearest(&"a".repeat(65), ["a"]), None);
    }
}
