use super::*;
use crate::secrets::EnvSecrets;
use lettre::message::header::{ContentType, Header as _, Headers};

fn draft(input: &str) -> Read<Draft> {
    let secrets = EnvSecrets::default();
    let filler = Filler::new(&secrets);
    read(&Value::read(input.as_bytes()).expect(input), &filler)
}

#[test]
fn null_is_left_out() {
    let draft = draft(
        r#"{"to":["a@b.example",null],"cc":null,"bcc":[null],"from":null,"reply_to":null,"subject":"",
            "text":null,"html":"","attachments":null,"headers":{"X-A":null},"via":null}"#,
    )
    .expect("a draft");
    assert_eq!((draft.to.len(), draft.cc.len(), draft.bcc.len()), (1, 0, 0));
    assert_eq!((draft.text, draft.html.as_deref()), (None, Some("")));
    assert!(draft.headers.is_empty() && draft.files.is_empty());
    assert!(draft.via.is_none() && draft.from.is_none());
}

#[test]
fn a_list_within_a_list_is_several() {
    let nested = |to: &str| draft(&format!(r#"{{"to":{to},"subject":"","text":""}}"#));
    let draft = nested(r#"[["a@b.example","c@d.example"],"e@f.example",[]]"#);
    assert_eq!(draft.expect("a draft").to.len(), 3);
    let error = nested(r#"[["a@b.example","c"]]"#).unwrap_err();
    assert!(error.to_string().starts_with("`to[0][1]` has no @"));
}

#[test]
fn numbers_are_text() {
    let draft = draft(r#"{"to":"a@b.example","subject":17,"text":12345678901234567890.5}"#);
    let draft = draft.expect("a draft");
    assert_eq!(draft.subject, "17");
    assert_eq!(draft.text.as_deref(), Some("12345678901234567890.5"));
}

#[test]
fn the_type_of_a_file_is_said_or_follows_from_how_it_is_given() {
    let file = |rest: &str| {
        let input = format!(
            r#"{{"to":"a@b.example","subject":"","text":"","attachments":[{{"name":"a",{rest}}}]}}"#
        );
        let draft = draft(&input).expect("a draft");
        let mut headers = Headers::new();
        headers.set(draft.files[0].content_type.clone());
        let name = ContentType::name();
        headers.get_raw(&name).expect("a type").to_owned()
    };
    for (rest, is) in [
        (r#""content":"x""#, "text/plain; charset=utf-8"),
        (
            r#""content":"x","type":"text/csv""#,
            "text/csv; charset=utf-8",
        ),
        (
            r#""content":"x","type":"text/csv; charset=utf-16""#,
            "text/csv; charset=utf-16",
        ),
        (
            r#""content":[1],"type":"application/json""#,
            "application/json",
        ),
        (r#""base64":"eA==""#, "application/octet-stream"),
        (r#""base64":"eA==","type":"text/plain""#, "text/plain"),
    ] {
        assert_eq!(file(rest), is);
    }
}
