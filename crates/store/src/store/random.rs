//! Bytes that nobody can guess, each given out once.

use std::cell::RefCell;

/// Asked for at a time: a system call for each fence would cost more than the fence.
const STOCK: usize = 1024;

struct Stock {
    bytes: [u8; STOCK],
    used: usize,
}

thread_local! {
    static RANDOM: RefCell<Stock> = const {
        RefCell::new(Stock { bytes: [0; STOCK], used: STOCK })
    };
}

/// Bytes that nobody can guess.
///
/// # Panics
/// If the operating system has no randomness to give; nothing is safe without it.
#[must_use]
pub fn random_bytes<const N: usize>() -> [u8; N] {
    const { assert!(N <= STOCK) };
    RANDOM.with_borrow_mut(|stock| {
        if stock.used + N > STOCK {
            getrandom::fill(&mut stock.bytes).expect("the operating system gives randomness");
            stock.used = 0;
        }
        let given = &mut stock.bytes[stock.used..stock.used + N];
        let mut bytes = [0; N];
        bytes.copy_from_slice(given);
        // What was given out is a secret of whoever asked.
        given.fill(0);
        stock.used += N;
        bytes
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_bytes_are_given_out_twice() {
        let given: HashSet<[u8; 16]> = (0..10 * STOCK).map(|_| random_bytes()).collect();
        assert_eq!(given.len(), 10 * STOCK);
        assert!(!given.contains(&[0; 16]));
    }
}
