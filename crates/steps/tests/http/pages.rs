//! Many pages as one list.

use crate::sink::{Manner, Sink, answer};
use crate::{message, paged, perform, result, steps, word};

fn page(body: &str) -> String {
    answer("200 OK", "", body)
}

#[tokio::test]
async fn cursors_are_followed_to_the_end() {
    let sink = Sink::new(Manner::ByPath(vec![
        ("/list?n=2&after=b%26", page(r#"{"items":[3],"next":null}"#)),
        ("/list?n=2", page(r#"{"items":[1,2],"next":"b&"}"#)),
    ]))
    .await;
    let url = sink.url("/list?n=2");
    let input = format!(r#"{{"get":"{url}","paging":{{"cursor_in":"after"}}}}"#);
    let task = paged(&input, "body.items", "body.next");
    let (outcome, sent) = perform(&steps(), &task).await;
    assert_eq!((result(&outcome).as_str(), sent), ("[1,2,3]", 2));
    assert_eq!(sink.connections(), 1);
}

#[tokio::test]
async fn urls_are_followed_without_credentials_to_others() {
    let other = Sink::new(Manner::Answer(page(r#"{"items":[3],"next":""}"#))).await;
    let away = format!(r#"{{"items":[2],"next":"{}"}}"#, other.url("/c"));
    let sink = Sink::new(Manner::ByPath(vec![
        ("/a", page(r#"{"items":[1],"next":"b?x=1"}"#)),
        ("/b", page(&away)),
    ]))
    .await;
    let input = format!(
        r#"{{"get":"{}","paging":{{}},"bearer":"{{{{TOKEN}}}}"}}"#,
        sink.url("/a")
    );
    let (outcome, _) = perform(&steps(), &paged(&input, "body.items", "body.next")).await;
    assert_eq!(result(&outcome), "[1,2,3]");
    assert!(
        sink.seen()
            .iter()
            .all(|seen| seen.header("authorization").is_some())
    );
    assert_eq!(other.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_list_is_never_cut_short_in_silence() {
    let sink = Sink::new(Manner::ByPath(vec![
        ("/list?c=2", page(r#"{"items":[2],"next":3}"#)),
        ("/list?c=3", answer("503 Busy", "retry-after: 1\r\n", "")),
        ("/list", page(r#"{"items":[1],"next":2}"#)),
        ("/same", page(r#"{"items":[],"next":"/same"}"#)),
        ("/text", page(r#"{"items":"none"}"#)),
        ("/map", page(r#"{"items":[],"next":{}}"#)),
    ]))
    .await;
    let steps = steps();
    for (path, paging, known, told) in [
        (
            "/list",
            r#"{"cursor_in":"c","max":2}"#,
            "permanent",
            "more than 2 pages; raise `paging.max`",
        ),
        ("/list", r#"{"cursor_in":"c"}"#, "transient", "503"),
        ("/same", "{}", "permanent", "page 1 has itself"),
        ("/text", "{}", "permanent", "`paging.items` is text"),
        ("/map", "{}", "permanent", "`paging.next` is an object"),
    ] {
        let input = format!(r#"{{"get":"{}","paging":{paging}}}"#, sink.url(path));
        let (outcome, _) = perform(&steps, &paged(&input, "body.items", "body.next")).await;
        assert_eq!(word(&outcome), known, "{path}: {outcome:?}");
        assert!(message(&outcome).contains(told), "{path}: {outcome:?}");
    }
}
