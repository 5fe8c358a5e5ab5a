use proptest::prelude::*;

use super::super::address;
use super::super::files::File;
use super::*;
use lettre::message::header::{ContentType, HeaderName};

fn draft(subject: &str, text: &str) -> Draft {
    Draft {
        via: None,
        from: None,
        to: vec![address::read("ann@example.org").expect("an address")],
        cc: Vec::new(),
        bcc: Vec::new(),
        reply_to: Vec::new(),
        subject: subject.to_owned(),
        text: Some(text.to_owned()),
        html: None,
        files: Vec::new(),
        headers: Vec::new(),
    }
}

fn sender() -> Mailbox {
    address::read("Shop <shop@example.com>").expect("an address")
}

fn bytes(draft: Draft) -> Result<Vec<u8>, MessageError> {
    written(draft, &sender(), "<1@example.com>".to_owned()).map(|finished| finished.bytes)
}

/// The names of the headers before the first empty line.
fn header_names(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let head = text.split("\r\n\r\n").next().unwrap_or("");
    let lines = head
        .split("\r\n")
        .filter(|line| !line.starts_with([' ', '\t']));
    lines
        .map(|line| line.split(':').next().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn what_stands_alone_in_a_line_is_refused() {
    for (bytes, good) in [
        (&b"a: b\r\n\r\nc\r\n"[..], true),
        (b"a\r\n.\r\nb\r\n", true),
        (b"a\nb\r\n", false),
        (b"a\rb\r\n", false),
        (b"a\r\r\n", false),
        (b"a\0\r\n", false),
        (b"a", false),
    ] {
        assert_eq!(check_lines(bytes).is_ok(), good, "{bytes:?}");
    }
    let longest = [&[b'x'; MOST_LINE][..], b"\r\n"].concat();
    assert!(check_lines(&longest).is_ok());
    let longer = [b"x", &longest[..]].concat();
    assert!(matches!(check_lines(&longer), Err(MessageError::LongLine)));
}

#[test]
fn the_same_mail_has_the_same_parts_between_the_same_lines() {
    let made = || {
        let mut draft = draft("Hi", "part-0\n--part\n");
        draft.html = Some("<p>".to_owned());
        draft.files = vec![File {
            name: "a".to_owned(),
            content_type: ContentType::TEXT_PLAIN,
            content: b"--part".to_vec(),
        }];
        let text = String::from_utf8(bytes(draft).expect("a message")).expect("text");
        let from = text.find("MIME-Version").expect("the rest");
        text[from..].to_owned()
    };
    assert_eq!(made(), made());
    assert_eq!(made().matches("\r\n--part-").count(), 3);
}

proptest! {
    /// Whatever stands in a mail, it is one mail with the headers that were asked for.
    #[test]
    fn nothing_breaks_out(
        subject in "[^\\p{Cc}]{0,200}",
        name in "[^\\p{Cc}\"\\\\]{1,60}",
        value in "[^\\p{Cc}]{0,200}",
        text in "(?s).{0,300}",
    ) {
        let mut draft = draft(&subject, &text.replace('\0', ""));
        let to = address::read(&format!("\"{name}\" <ann@example.org>"));
        draft.to = vec![to.expect("an address")];
        let header = HeaderName::new_from_ascii("X-Own".to_owned()).expect("a name");
        draft.headers = vec![(header, value)];
        match bytes(draft) {
            Ok(bytes) => {
                prop_assert!(bytes.is_ascii());
                let names = header_names(&bytes);
                let expected = ["Date", "Message-ID", "From", "To", "Subject", "X-Own", "MIME-Version",
                    "Content-Type", "Content-Transfer-Encoding"];
                prop_assert_eq!(names, expected);
            }
            Err(error) => prop_assert!(matches!(error, MessageError::LongLine), "{}", error),
        }
    }
}
