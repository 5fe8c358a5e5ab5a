use super::*;
use proptest::prelude::*;

fn address(text: &str) -> IpAddr {
    text.parse().expect(text)
}

#[test]
fn addresses_are_judged_by_where_they_lead() {
    let rules = OutgoingRules::default();
    for (text, reason) in [
        ("0.0.0.0", "this network"),
        ("0.1.2.3", "this network"),
        ("10.0.0.1", "private"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("100.100.100.200", "carrier-grade NAT"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("168.63.129.16", "cloud metadata"),
        ("169.254.169.254", "link-local"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.170", "reserved"),
        ("192.0.2.1", "documentation"),
        ("192.88.99.1", "6to4 relay"),
        ("192.168.1.1", "private"),
        ("198.19.255.255", "benchmarking"),
        ("198.51.100.7", "documentation"),
        ("203.0.113.9", "documentation"),
        ("224.0.0.1", "multicast"),
        ("240.0.0.1", "reserved or broadcast"),
        ("255.255.255.255", "reserved or broadcast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::127.0.0.1", "not public"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::ffff:0:127.0.0.1", "not public"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::808:808", "not public"),
        ("2002:7f00:1::", "loopback"),
        ("2002:a9fe:a9fe::1", "link-local"),
        ("2002:0a00:0001::", "private"),
        ("2001:0:4136:e378:8000:63bf:80ff:fffe", "loopback"),
        ("2001:0:4136:e378:8000:63bf:5601:5601", "link-local"),
        ("2001:2::1", "reserved"),
        ("2001:10::1", "reserved"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("100::1", "discard-only"),
        ("fc00::1", "unique-local"),
        ("fd00:ec2::254", "unique-local"),
        ("fe80::1", "link-local"),
        ("febf::1", "link-local"),
        ("fec0::1", "not public"),
        ("ff02::1", "multicast"),
        ("4000::1", "not public"),
    ] {
        assert_eq!(rules.denies(address(text)), Some(reason), "{text}");
    }
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:4860:4860::8888",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ] {
        assert_eq!(rules.denies(address(text)), None, "{text}");
    }
}

#[test]
fn the_operator_opens_ranges() {
    let rules = OutgoingRules::parse("127.0.0.0/8, ::1  10.2.0.0/16").unwrap();
    for text in ["127.0.0.1", "::1", "10.2.3.4", "::ffff:127.0.0.1"] {
        assert_eq!(rules.denies(address(text)), None, "{text}");
    }
    for text in ["10.3.0.1", "::2", "169.254.169.254", "192.168.0.1"] {
        assert!(rules.denies(address(text)).is_some(), "{text}");
    }
    let all = OutgoingRules::parse("0.0.0.0/0,::/0").unwrap();
    assert_eq!(all.denies(address("169.254.169.254")), None);
    assert_eq!(all.denies(address("fe80::1")), None);
}

#[test]
fn wrong_ranges_say_what_to_write() {
    let messages: Vec<String> = ["localhost", "10.0.0.0/33", "10.0.0.1/8", "::1/x", "10/8"]
        .into_iter()
        .map(|text| OutgoingRules::parse(text).expect_err(text).to_string())
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    `localhost` is not an address range; write 10.0.0.0/8, ::1 or several with commas
    `10.0.0.0/33` has a prefix over 32 bits
    `10.0.0.1/8` has bits set after its prefix; write 10.0.0.0/8
    `::1/x` is not an address range; write 10.0.0.0/8, ::1 or several with commas
    `10/8` is not an address range; write 10.0.0.0/8, ::1 or several with commas
    ");
}

proptest! {
    /// Whatever carries an address that is not reached is not reached either.
    #[test]
    fn no_wrapping_opens_an_address(bits: u32) {
        let v4 = Ipv4Addr::from(bits);
        let [a, b, c, d] = v4.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let rules = OutgoingRules::default();
        let expected = rules.denies(v4.into());
        for wrapped in [
            v4.to_ipv6_mapped(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 7, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, 1, 2, 3, 4, !high, !low),
        ] {
            prop_assert_eq!(rules.denies(wrapped.into()), expected, "{}", wrapped);
        }
    }
}
