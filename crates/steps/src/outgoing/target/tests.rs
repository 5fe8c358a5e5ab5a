use super::*;

fn read(text: &str) -> String {
    Target::parse(text).map_or_else(|error| error.to_string(), |target| target.to_string())
}

#[test]
fn urls_are_read_and_written() {
    for (text, expected) in [
        ("https://A.example", "https://a.example/"),
        ("HTTP://a.example:80/x", "http://a.example/x"),
        ("https://a.example:443?q", "https://a.example/?q"),
        (
            "http://[::1]:8080/a b?c=é#f",
            "http://[::1]:8080/a%20b?c=%C3%A9",
        ),
        ("http://a/%2F%20", "http://a/%2F%20"),
        ("http://localhost./", "http://localhost./"),
        ("http://0x7f.1/", "http://0x7f.1/"),
        ("https://a.example/@b", "https://a.example/@b"),
    ] {
        assert_eq!(read(text), expected);
    }
}

#[test]
fn what_two_readers_could_read_differently_is_refused() {
    for (text, message) in [
        ("", "http://"),
        ("a.example/x", "http://"),
        ("ftp://a.example", "http://"),
        ("file:///etc/passwd", "http://"),
        ("http:/a.example", "http://"),
        ("http://", "no host"),
        ("http:///x", "no host"),
        ("http://u:p@a.example/", "user or password"),
        ("http://good.example@127.0.0.1/", "user or password"),
        ("http://127.0.0.1\\@good.example/", "user or password"),
        ("http://127.0.0.1\\.good.example/", "`\\` in its host"),
        ("http://127.0.0.1%2f.good.example/", "`%` in its host"),
        ("http://a b/", "` ` in its host"),
        ("http://[::1/", "`[` in its host"),
        ("http://[fe80::1%25eth0]/", "`[` in its host"),
        ("http://[::1]x/", "port"),
        ("http://①②⑦.0.0.1/", "xn--"),
        ("http://a.example:0/", "port"),
        ("http://a.example:65536/", "port"),
        ("http://a.example:+80/", "port"),
        (
            "http://a.example/x\r\nHost: b",
            "control character at byte 18",
        ),
    ] {
        let error = Target::parse(text).expect_err(text).to_string();
        assert!(error.contains(message), "{text:?}: {error}");
    }
}

#[test]
fn relative_urls_follow_rfc_3986() {
    let base = Target::parse("http://a/b/c/d;p?q").unwrap();
    for (text, expected) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("https://x/y", "https://x/y"),
    ] {
        assert_eq!(base.join(text).expect(text).to_string(), expected, "{text}");
    }
    for text in ["javascript:alert(1)", "gopher://x/", "mailto:a@b"] {
        assert_eq!(base.join(text), Err(UrlError::Scheme), "{text}");
    }
}

#[test]
fn parameters_come_and_go() {
    let mut target = Target::parse("http://a/?x=1&c%26=0").unwrap();
    target.add("c&", "a=b c");
    assert_eq!(target.path, "/?x=1&c%26=0&c%26=a%3Db%20c");
    target.remove("c&");
    assert_eq!(target.path, "/?x=1");
    target.remove("x");
    assert_eq!(target.path, "/");
}
