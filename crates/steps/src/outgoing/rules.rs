//! Which addresses may be reached.
//!
//! Owns one judgement: an address, as the socket would use it, is public or allowed by the
//! operator, or it is not reached. Never looks at text: `2130706433` and `0x7f.1` are whatever
//! the resolver makes of them. Addresses that carry an IPv4 address (mapped, NAT64, 6to4,
//! Teredo) are judged by what they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Why the operator's list cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// Not an address.
    #[error("`{text}` is not an address range; write 10.0.0.0/8, ::1 or several with commas")]
    Unreadable {
        /// What stands there.
        text: String,
    },
    /// More bits than an address has.
    #[error("`{text}` has a prefix over {most} bits")]
    Prefix {
        /// What stands there.
        text: String,
        /// How many an address of its kind has.
        most: u8,
    },
    /// Bits after the prefix: likely another range was meant.
    #[error("`{text}` has bits set after its prefix; write {network}/{bits}")]
    Host {
        /// What stands there.
        text: String,
        /// The network it lies in.
        network: IpAddr,
        /// The length of the prefix.
        bits: u8,
    },
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cidr {
    network: IpAddr,
    bits: u8,
}

impl Cidr {
    const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Cidr {
        Cidr {
            network: IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
            bits,
        }
    }

    const fn v6(head: [u16; 3], bits: u8) -> Cidr {
        let [a, b, c] = head;
        Cidr {
            network: IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)),
            bits,
        }
    }

    pub(super) fn contains(self, address: IpAddr) -> bool {
        match (self.network, address) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => {
                masked(address, self.bits) == self.network
            }
            _ => false,
        }
    }
}

/// The address without what follows its first bits.
fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            Ipv4Addr::from(u32::from(v4) & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            Ipv6Addr::from(u128::from(v6) & mask).into()
        }
    }
}

impl FromStr for Cidr {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Cidr, RulesError> {
        let unreadable = || RulesError::Unreadable {
            text: text.to_owned(),
        };
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let written: IpAddr = address.parse().map_err(|_| unreadable())?;
        let most = if written.is_ipv4() { 32 } else { 128 };
        let bits: u8 = match bits {
            Some(bits) => bits.parse().map_err(|_| unreadable())?,
            None => most,
        };
        if bits > most {
            return Err(RulesError::Prefix {
                text: text.to_owned(),
                most,
            });
        }
        let network = masked(written, bits);
        if network != written {
            return Err(RulesError::Host {
                text: text.to_owned(),
                network,
                bits,
            });
        }
        Ok(Cidr { network, bits })
    }
}

/// IPv4 ranges that lead to this machine, its neighbours, many machines at once, or nowhere.
const DENIED_V4: [(Cidr, &str); 16] = [
    (Cidr::v4(0, 0, 0, 0, 8), "this network"),
    (Cidr::v4(10, 0, 0, 0, 8), "private"),
    (Cidr::v4(100, 64, 0, 0, 10), "carrier-grade NAT"),
    (Cidr::v4(127, 0, 0, 0, 8), "loopback"),
    // Public by number, but only the machine below a virtual one answers there.
    (Cidr::v4(168, 63, 129, 16, 32), "cloud metadata"),
    (Cidr::v4(169, 254, 0, 0, 16), "link-local"),
    (Cidr::v4(172, 16, 0, 0, 12), "private"),
    (Cidr::v4(192, 0, 0, 0, 24), "reserved"),
    (Cidr::v4(192, 0, 2, 0, 24), "documentation"),
    (Cidr::v4(192, 88, 99, 0, 24), "6to4 relay"),
    (Cidr::v4(192, 168, 0, 0, 16), "private"),
    (Cidr::v4(198, 18, 0, 0, 15), "benchmarking"),
    (Cidr::v4(198, 51, 100, 0, 24), "documentation"),
    (Cidr::v4(203, 0, 113, 0, 24), "documentation"),
    (Cidr::v4(224, 0, 0, 0, 4), "multicast"),
    (Cidr::v4(240, 0, 0, 0, 4), "reserved or broadcast"),
];

/// The only IPv6 range with public addresses; all outside it is denied.
const PUBLIC_V6: Cidr = Cidr::v6([0x2000, 0, 0], 3);

/// What is not public within it.
const DENIED_V6: [(Cidr, &str); 3] = [
    (Cidr::v6([0x2001, 0, 0], 23), "reserved"),
    (Cidr::v6([0x2001, 0xdb8, 0], 32), "documentation"),
    (Cidr::v6([0x3fff, 0, 0], 20), "documentation"),
];

/// Why an address outside the public range is not reached.
const NAMED_V6: [(Cidr, &str); 4] = [
    (Cidr::v6([0xfc00, 0, 0], 7), "unique-local"),
    (Cidr::v6([0xfe80, 0, 0], 10), "link-local"),
    (Cidr::v6([0xff00, 0, 0], 8), "multicast"),
    (Cidr::v6([0x100, 0, 0], 64), "discard-only"),
];

fn denied_v4(address: Ipv4Addr) -> Option<&'static str> {
    within(&DENIED_V4, address.into())
}

fn within(ranges: &[(Cidr, &'static str)], address: IpAddr) -> Option<&'static str> {
    let range = ranges.iter().find(|(range, _)| range.contains(address));
    range.map(|(_, name)| *name)
}

/// The IPv4 address that an IPv6 address stands for on its way.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // NAT64 and 6to4.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(v4(high, low)),
        // Teredo hides the client's address by flipping its bits.
        [0x2001, 0, .., high, low] => Some(v4(!high, !low)),
        _ => None,
    }
}

fn denied_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(v4) = carried(address) {
        return denied_v4(v4);
    }
    if PUBLIC_V6.contains(address.into()) {
        return within(&DENIED_V6, address.into());
    }
    let plain = if address.is_loopback() {
        "loopback"
    } else if address.is_unspecified() {
        "unspecified"
    } else {
        "not public"
    };
    Some(within(&NAMED_V6, address.into()).unwrap_or(plain))
}

/// Which addresses may be reached: public ones, and what the operator adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutgoingRules {
    allowed: Vec<Cidr>,
}

impl OutgoingRules {
    /// Reads the ranges that may be reached although they are not public, separated by commas
    /// or spaces, as `SEMEL_OUTGOING_ALLOW` gives them.
    ///
    /// # Errors
    /// [`RulesError`] for the first range that cannot be read.
    pub fn parse(text: &str) -> Result<OutgoingRules, RulesError> {
        let ranges = text.split([',', ' ', '\n', '\t']);
        let allowed = ranges
            .filter(|range| !range.is_empty())
            .map(Cidr::from_str)
            .collect::<Result<_, _>>()?;
        Ok(OutgoingRules { allowed })
    }

    /// For places that the operator named and no flow can: naming them is the allowance.
    pub(crate) fn anywhere() -> OutgoingRules {
        let everything = |any: IpAddr| Cidr {
            network: any,
            bits: 0,
        };
        let v4 = everything(Ipv4Addr::UNSPECIFIED.into());
        let v6 = everything(Ipv6Addr::UNSPECIFIED.into());
        OutgoingRules {
            allowed: vec![v4, v6],
        }
    }

    /// Why an address may not be reached; `None` if it may.
    #[must_use]
    pub fn denies(&self, address: IpAddr) -> Option<&'static str> {
        // A mapped address is the IPv4 address: the socket connects to that.
        let address = address.to_canonical();
        if self.allowed.iter().any(|range| range.contains(address)) {
            return None;
        }
        match address {
            IpAddr::V4(v4) => denied_v4(v4),
            IpAddr::V6(v6) => match carried(v6) {
                Some(v4) if self.allowed.iter().any(|range| range.contains(v4.into())) => None,
                _ => denied_v6(v6),
            },
        }
    }
}

#[cfg(test)]
mod tests;
