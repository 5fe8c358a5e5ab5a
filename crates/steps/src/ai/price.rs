//! What an answer costs: exact, by the prices of the configuration.

/// How many digits behind the point a price may have.
const DIGITS: usize = 9;
/// Prices are for so many tokens.
const TOKENS_DIGITS: usize = 6;

/// Why text is no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a price is a number such as \"0.15\", with at most {DIGITS} digits behind the point")]
pub struct PriceError;

/// What a million tokens cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Read, in billionths.
    input: u64,
    /// Said, in billionths.
    output: u64,
    pub(super) currency: String,
}

impl Price {
    /// The price of a million tokens read, and of a million said.
    ///
    /// # Errors
    /// [`PriceError`] if one is no decimal number.
    pub fn new(input: &str, output: &str, currency: &str) -> Result<Price, PriceError> {
        Ok(Price {
            input: billionths(input).ok_or(PriceError)?,
            output: billionths(output).ok_or(PriceError)?,
            currency: currency.to_owned(),
        })
    }

    /// The exact cost of so many tokens, as a decimal number.
    pub(super) fn of(&self, input: u64, output: u64) -> String {
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let all = cost(input, self.input) + cost(output, self.output);
        let behind = DIGITS + TOKENS_DIGITS;
        let text = format!("{all:0>width$}", width = behind + 1);
        let (whole, fraction) = text.split_at(text.len() - behind);
        match fraction.trim_end_matches('0') {
            "" => whole.to_owned(),
            fraction => format!("{whole}.{fraction}"),
        }
    }
}

fn billionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || fraction.len() > DIGITS {
        return None;
    }
    format!("{whole}{fraction:0<DIGITS$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_exact() {
        for (input, output, tokens, cost) in [
            ("0.15", "0.60", (812, 40), "0.0001458"),
            ("3", "15", (1_000_000, 1_000_000), "18"),
            ("0.000000001", "0", (1, 0), "0.000000000000001"),
            ("2.5", "10", (0, 0), "0"),
        ] {
            let price = Price::new(input, output, "USD").unwrap();
            assert_eq!(price.of(tokens.0, tokens.1), cost, "{input} {output}");
        }
    }

    #[test]
    fn prices_are_decimal_numbers() {
        for text in ["", ".5", "5.", "-1", "1e3", "0,15", "1.0000000001", "free"] {
            assert_eq!(Price::new(text, "1", "USD"), Err(PriceError), "{text}");
        }
    }
}
