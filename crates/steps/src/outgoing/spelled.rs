//! Which address a host is, as far as that can be said without a resolver.
//!
//! Owns the spellings that resolvers take for an address (`127.1`, `0x7f.1`, `2130706433`) and the
//! few names that stand for one wherever they are asked. Needed where another machine does the
//! resolving; where this one does, what it answers is judged and no spelling matters.

use std::net::{IpAddr, Ipv4Addr};

/// What a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelled {
    /// An address, in one of its spellings.
    Address(IpAddr),
    /// A name that stands for this address wherever it is known.
    Known(IpAddr),
    /// A name.
    Name,
    /// Neither: it ends as only addresses do.
    Neither,
}

const METADATA: IpAddr = IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254));
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Names that lead to the machine that resolves them, or to what runs it. One with a dot before it
/// stands for all below it too.
const KNOWN: [(&str, IpAddr); 9] = [
    (".localhost", LOOPBACK),
    (".localhost.localdomain", LOOPBACK),
    (".localhost6", LOOPBACK),
    (".ip6-localhost", LOOPBACK),
    (".ip6-loopback", LOOPBACK),
    (".metadata.google.internal", METADATA),
    (".metadata.goog", METADATA),
    (".metadata", METADATA),
    (".instance-data", METADATA),
];

/// What a host in lower case is.
pub(super) fn spelled(host: &str) -> Spelled {
    let host = host.strip_suffix('.').unwrap_or(host);
    if let Ok(address) = host.parse::<IpAddr>() {
        return Spelled::Address(address.to_canonical());
    }
    let last = host.rsplit('.').next().unwrap_or(host);
    if is_number(last) {
        return numbers(host).map_or(Spelled::Neither, |v4| Spelled::Address(v4.into()));
    }
    let known = KNOWN.iter().find(|(name, _)| is_below(host, name));
    known.map_or(Spelled::Name, |(_, address)| Spelled::Known(*address))
}

/// Whether a host is the name after the dot, or below it.
pub(super) fn is_below(host: &str, dotted: &str) -> bool {
    host.ends_with(dotted) || Some(host) == dotted.strip_prefix('.')
}

fn is_number(part: &str) -> bool {
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits || part.starts_with("0x")
}

/// One to four numbers, decimal, octal or hexadecimal; the last fills what the others leave.
fn numbers(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = host.split('.').collect();
    let (last, heads) = parts.split_last()?;
    if heads.len() > 3 {
        return None;
    }
    let mut bits: u32 = 0;
    for (index, head) in heads.iter().enumerate() {
        let byte = u8::try_from(number(head)?).ok()?;
        bits |= u32::from(byte) << (24 - 8 * index);
    }
    let last = u32::try_from(number(last)?).ok()?;
    let room = u32::MAX.checked_shr(8 * u32::try_from(heads.len()).ok()?)?;
    (last <= room).then(|| Ipv4Addr::from(bits | last))
}

fn number(part: &str) -> Option<u64> {
    match (part.strip_prefix("0x"), part.strip_prefix('0')) {
        (Some(""), _) => Some(0),
        (Some(hex), _) => u64::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        (None, _) => part.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_addresses_are_seen_through() {
        for (host, address) in [
            ("127.0.0.1", "127.0.0.1"),
            ("127.0.0.1.", "127.0.0.1"),
            ("127.1", "127.0.0.1"),
            ("127.0.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("0x7f000001", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("0", "0.0.0.0"),
            ("0x", "0.0.0.0"),
            ("10.65535", "10.0.255.255"),
            ("::ffff:169.254.169.254", "169.254.169.254"),
            ("::1", "::1"),
            ("4294967295", "255.255.255.255"),
        ] {
            let expected = Spelled::Address(address.parse().unwrap());
            assert_eq!(spelled(host), expected, "{host}");
        }
        for host in [
            "256.1.1.1",
            "1.2.3.4.5",
            "4294967296",
            "10.16777216",
            "1.2.65536",
            "08.1",
            "0xg.0x1g",
            "a.1",
            "1..1",
        ] {
            assert_eq!(spelled(host), Spelled::Neither, "{host}");
        }
    }

    #[test]
    fn names_that_stand_for_an_address_are_known() {
        for host in ["localhost", "localhost.", "a.b.localhost", "ip6-localhost"] {
            assert_eq!(spelled(host), Spelled::Known(LOOPBACK), "{host}");
        }
        for host in ["metadata.google.internal", "metadata", "x.metadata.goog."] {
            assert_eq!(spelled(host), Spelled::Known(METADATA), "{host}");
        }
        for host in ["api.example.com", "notlocalhost", "1.example", "x0", ""] {
            assert_eq!(spelled(host), Spelled::Name, "{host}");
        }
    }
}
