//! "Did you mean …?"

/// The known name nearest to `given`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    // Nobody means a name that is much longer, and comparing it would take long.
    let near = |name: &&'a str| given.len() <= name.len() + 8;
    let measured = known
        .iter()
        .copied()
        .filter(near)
        .map(|name| (distance(&given.to_ascii_lowercase(), name), name));
    let (distance, name) = measured.min_by_key(|(distance, _)| *distance)?;
    (distance <= name.chars().count().div_ceil(3)).then_some(name)
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["input", "lease", "on_unknown", "remember"];
        for (given, meant) in [
            ("imput", Some("input")),
            ("Lease", Some("lease")),
            ("laese", Some("lease")),
            ("on-unknown", Some("on_unknown")),
            ("onUnknown", Some("on_unknown")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, &known), meant, "{given}");
        }
    }
}
