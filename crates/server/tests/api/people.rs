//! People: setting up, logging in and out, sessions, and what they may do.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use semel_server::{Settings, Tls};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::browser::{Browser, OWN, PASSWORD};
use crate::common::{Answer, Socket, World};
use crate::openapi::fits;

fn path_of(link: &Value) -> String {
    link.as_str().unwrap().replace(OWN, "")
}

fn is_strict(answer: &Answer) {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn the_first_admin_sets_up_by_the_link() {
    let world = World::new().await;
    let mut browser = Browser::default();
    let before = browser.ask(&world, "GET", "/login", Value::Null).await;
    assert!(before.text().contains("semel people setup"), "nobody yet");
    let made = world.call("POST", "/v1/setup", "").await;
    fits("/v1/setup", "post", &made);
    let path = path_of(&made.json()["link"]);
    let page = browser.ask(&world, "GET", &path, Value::Null).await;
    assert!(page.text().contains("name=\"again\""), "{}", page.text());
    is_strict(&page);
    let form = format!(
        "name=ada&password={p}&again={p}",
        p = "correct+horse+battery"
    );
    let elsewhere = browser
        .submit(&world, &path, &form, "https://evil.example")
        .await;
    assert_eq!(elsewhere.status, 403);
    for (form, word) in [
        ("name=ada&password=short&again=short", "at least 12"),
        (
            "name=Ada&password=correct+horse+battery&again=correct+horse+battery",
            "lower-case",
        ),
        (
            "name=ada&password=correct+horse+battery&again=correct+horse+other",
            "differ",
        ),
    ] {
        let answer = browser.submit(&world, &path, form, OWN).await;
        assert_eq!(answer.status, 422, "{form}");
        assert!(answer.text().contains(word), "{}", answer.text());
    }
    let done = browser.submit(&world, &path, &form, OWN).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, "/"));
    let session = browser.ask(&world, "GET", "/v1/session", Value::Null).await;
    fits("/v1/session", "get", &session);
    let session = session.json();
    assert_eq!(
        (&session["name"], &session["role"]),
        (&json!("ada"), &json!("admin"))
    );
    // The link counts once, and so does being the first.
    let again = Browser::default().submit(&world, &path, &form, OWN).await;
    assert_eq!(again.status, 410);
    let second = world.call("POST", "/v1/setup", "").await;
    assert_eq!(second.gist(), "409 person_there");
    for wrong in [
        "/setup/",
        "/setup/00",
        &format!("/setup/{}", "0".repeat(64)),
    ] {
        let answer = browser.ask(&world, "GET", wrong, Value::Null).await;
        assert!([404, 410].contains(&answer.status.as_u16()), "{wrong}");
    }
}

#[tokio::test]
async fn a_person_logs_in_and_out_by_the_forms() {
    let world = World::new().await;
    Browser::of_new(&world, "ada", "viewer").await;
    let mut browser = Browser::default();
    let page = browser.ask(&world, "GET", "/login", Value::Null).await;
    assert_eq!(page.status, 200);
    is_strict(&page);
    let form = "name=ada&password=correct+horse+battery";
    let elsewhere = browser
        .submit(&world, "/login", form, "https://evil.example")
        .await;
    assert_eq!(
        (elsewhere.status.as_u16(), browser.cookie.as_str()),
        (403, "")
    );
    let wrong = browser
        .submit(&world, "/login", "name=%3Cb%3E&password=x", OWN)
        .await;
    assert_eq!(wrong.status, 401);
    let done = browser.submit(&world, "/login", form, OWN).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, "/"));
    let cookie = done.header("set-cookie");
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    let again = browser.ask(&world, "GET", "/login", Value::Null).await;
    assert_eq!(again.header("location"), "/", "they are logged in");
    let page = browser.ask(&world, "GET", "/logout", Value::Null).await;
    let csrf = page.text().split("name=\"csrf\" value=\"").nth(1).unwrap();
    let csrf = csrf.split('"').next().unwrap().to_owned();
    let session = browser.ask(&world, "GET", "/v1/session", Value::Null).await;
    assert_eq!(session.json()["csrf"], csrf);
    let mut other = browser.clone();
    let forged = other.submit(&world, "/logout", "csrf=00", OWN).await;
    assert_eq!(forged.status, 403);
    let out = other
        .submit(&world, "/logout", &format!("csrf={csrf}"), OWN)
        .await;
    assert_eq!(out.header("location"), "/login");
    let gone = browser.ask(&world, "GET", "/v1/session", Value::Null).await;
    assert_eq!(gone.gist(), "401 unauthorized");
}

#[tokio::test]
async fn a_refused_login_tells_nothing() {
    let world = World::new().await;
    Browser::of_new(&world, "ada", "viewer").await;
    let unready = json!({"name": "new", "role": "viewer"});
    world.call("POST", "/v1/people", unready).await;
    let mut texts = Vec::new();
    for (name, password) in [
        ("ada", "wrong"),
        ("nobody", PASSWORD),
        ("new", ""),
        ("new", "x"),
    ] {
        let (browser, answer) = Browser::log_in(&world, name, password).await;
        assert_eq!(answer.gist(), "401 login_refused", "{name}");
        fits("/v1/session", "post", &answer);
        assert_eq!(browser.cookie, "");
        texts.push(answer.bytes);
    }
    texts.dedup();
    assert_eq!(texts.len(), 1);
    for (body, gist) in [
        (json!({"name": "ada"}), "400 field_missing"),
        (
            json!({"name": "ada", "password": "x".repeat(2000)}),
            "400 field_invalid",
        ),
        (json!({"user": "ada"}), "400 field_unknown"),
    ] {
        let answer = Browser::default()
            .ask(&world, "POST", "/v1/session", body)
            .await;
        assert_eq!(answer.gist(), gist);
    }
    // Ten wrong ones of a name, known or not, are enough for a while.
    for name in ["ada", "nobody"] {
        let mut last = None;
        for _ in 0..11 {
            last = Some(Browser::log_in(&world, name, "wrong").await.1);
        }
        let last = last.unwrap();
        assert_eq!(last.gist(), "429 too_many_attempts", "{name}");
        assert_eq!(last.header("retry-after"), "300");
        fits("/v1/session", "post", &last);
    }
    assert_eq!(Browser::log_in(&world, "ada", PASSWORD).await.1.status, 429);
    world.pass("5m");
    assert_eq!(Browser::log_in(&world, "ada", PASSWORD).await.1.status, 201);
}

#[tokio::test]
async fn what_a_browser_sends_by_itself_changes_nothing() {
    let world = World::new().await;
    let admin = Browser::of_new(&world, "ada", "admin").await;
    let body = || Body::from(json!({"name": "stolen"}).to_string());
    let asked = |browser: &Browser, headers: &[(&str, &str)]| {
        let mut request = browser
            .request("POST", "/v1/tokens")
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(body()).unwrap()
    };
    let (own, csrf) = (("origin", OWN), ("semel-csrf", admin.csrf.as_str()));
    for headers in [
        &[][..],
        &[own],
        &[csrf],
        &[csrf, ("origin", "https://evil.example")],
        &[csrf, ("origin", "null")],
        &[csrf, own, ("sec-fetch-site", "cross-site")],
        &[own, ("semel-csrf", "00")],
        &[own, ("semel-csrf", "")],
    ] {
        let answer = world.send(asked(&admin, headers)).await;
        assert_eq!(answer.gist(), "403 cross_site", "{headers:?}");
    }
    let listed = world.call("GET", "/v1/tokens", "").await;
    assert!(!listed.text().contains("stolen"));
    for headers in [&[csrf, own][..], &[csrf, ("sec-fetch-site", "same-origin")]] {
        assert_eq!(
            world.send(asked(&admin, headers)).await.gist(),
            "201",
            "{headers:?}"
        );
    }
    // A token that is wrong is not made good by a cookie.
    let mixed = asked(&admin, &[csrf, own, ("authorization", "Bearer smt_0")]);
    assert_eq!(world.send(mixed).await.gist(), "401 unauthorized");
}

#[tokio::test]
async fn a_role_is_what_a_person_may_do() {
    let world = World::new().await;
    for (role, path, method, gist) in [
        ("viewer", "/v1/runs", "GET", "200"),
        ("viewer", "/v1/runs/run_x/cancel", "POST", "403 forbidden"),
        (
            "operator",
            "/v1/runs/run_x/cancel",
            "POST",
            "404 run_missing",
        ),
        ("operator", "/v1/people", "GET", "403 forbidden"),
        ("approver", "/v1/guard/s/k", "POST", "403 forbidden"),
        ("approver", "/v1/inbox", "GET", "200"),
        ("admin", "/v1/people", "GET", "200"),
    ] {
        let name = format!("{role}.{}", path.len());
        let browser = Browser::of_new(&world, &name, role).await;
        let answer = browser.ask(&world, method, path, Value::Null).await;
        assert_eq!(answer.gist(), gist, "{role} {method} {path}");
        // It counts from the next request on.
        let other = json!({"role": "admin"});
        let path = format!("/v1/people/{name}");
        let changed = world.call("PATCH", &path, other).await;
        fits("/v1/people/{name}", "patch", &changed);
        let now = browser.ask(&world, "GET", "/v1/people", Value::Null).await;
        assert_eq!(now.gist(), "200");
        fits("/v1/people", "get", &now);
    }
}

#[tokio::test]
async fn accounts_are_made_changed_and_removed() {
    let world = World::new().await;
    for (body, gist) in [
        (json!({"name": "ada", "role": "viewer"}), "201"),
        (json!({"name": "ada", "role": "admin"}), "409 person_there"),
        (
            json!({"name": "Ada", "role": "viewer"}),
            "400 field_invalid",
        ),
        (
            json!({"name": "local", "role": "viewer"}),
            "400 field_invalid",
        ),
        (json!({"name": "eve", "role": "boss"}), "400 field_invalid"),
        (json!({"name": "eve"}), "400 field_missing"),
        (
            json!({"name": "eve", "role": "viewer", "password": "short"}),
            "400 field_invalid",
        ),
    ] {
        let answer = world.call("POST", "/v1/people", &body).await;
        assert_eq!(answer.gist(), gist, "{body}");
        fits("/v1/people", "post", &answer);
    }
    // Whoever has no password yet chooses it by a link.
    let made = world.call("POST", "/v1/people/ada/link", "").await;
    fits("/v1/people/{name}/link", "post", &made);
    let path = path_of(&made.json()["link"]);
    let form = "password=correct+horse+battery&again=correct+horse+battery";
    let mut ada = Browser::default();
    assert_eq!(ada.submit(&world, &path, form, OWN).await.status, 303);
    let session = ada.ask(&world, "GET", "/v1/session", Value::Null).await;
    assert_eq!(session.json()["role"], "viewer");
    // Another password ends the session, and so does the end of the account.
    let other = json!({"password": "another horse entirely"});
    let changed = world.call("PATCH", "/v1/people/ada", other).await;
    assert_eq!(changed.gist(), "200");
    assert!(!changed.text().contains("argon2") && !changed.text().contains("entirely"));
    let gone = ada.ask(&world, "GET", "/v1/session", Value::Null).await;
    assert_eq!(gone.gist(), "401 unauthorized");
    let (ada, answer) = Browser::log_in(&world, "ada", "another horse entirely").await;
    assert_eq!(answer.gist(), "201");
    let removed = world.call("DELETE", "/v1/people/ada", "").await;
    fits("/v1/people/{name}", "delete", &removed);
    let gone = ada.ask(&world, "GET", "/v1/session", Value::Null).await;
    assert_eq!(gone.gist(), "401 unauthorized");
    for (method, path, body) in [
        ("DELETE", "/v1/people/ada", Value::Null),
        ("PATCH", "/v1/people/ada", json!({"role": "admin"})),
        ("POST", "/v1/people/ada/link", Value::Null),
    ] {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = world.call(method, path, body).await;
        assert_eq!(answer.gist(), "404 person_missing", "{method}");
    }
    // Nobody gives what they do not have.
    let some = json!({"name": "some", "scopes": ["admin", "read"]});
    let some = world.call("POST", "/v1/tokens", some).await.json();
    let bearer = format!("Bearer {}", some["token"].as_str().unwrap());
    let request = Request::post("/v1/people")
        .header("authorization", bearer)
        .header("content-type", "application/json")
        .body(Body::from(
            json!({"name": "eve", "role": "admin"}).to_string(),
        ));
    assert_eq!(world.send(request.unwrap()).await.gist(), "403 forbidden");
}

#[tokio::test]
async fn a_session_ends_in_time() {
    let world = World::new().await;
    let idle = Browser::of_new(&world, "ada", "viewer").await;
    let used = Browser::of_new(&world, "eve", "viewer").await;
    let seen = async |browser: &Browser| {
        let answer = browser.ask(&world, "GET", "/v1/session", Value::Null).await;
        answer.status.as_u16()
    };
    for _ in 0..3 {
        world.pass("8h");
        assert_eq!(seen(&used).await, 200);
    }
    assert_eq!(seen(&idle).await, 401, "it was not used for a day");
    for _ in 0..(29 * 3 - 1) {
        world.pass("8h");
        assert_eq!(seen(&used).await, 200);
    }
    world.pass("8h");
    assert_eq!(seen(&used).await, 401, "thirty days are enough");
}

#[tokio::test]
async fn under_tls_the_cookie_is_bound_to_the_host() {
    let settings = Settings {
        public_url: "https://semel.example".to_owned(),
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let account = json!({"name": "ada", "role": "admin", "password": PASSWORD});
    world.call("POST", "/v1/people", account).await;
    let login = json!({"name": "ada", "password": PASSWORD}).to_string();
    let request = Request::post("/v1/session").header("content-type", "application/json");
    let answer = world.send(request.body(Body::from(login)).unwrap()).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-semel="), "{cookie}");
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"),
        "{cookie}"
    );
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|at| &text[at..text.len().min(at + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

#[tokio::test]
async fn connections_are_encrypted_with_the_certificate_of_now() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let write = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let (cert, key) = (made.cert.der(), made.signing_key.serialize_der());
        std::fs::write(path("cert.pem"), pem("CERTIFICATE", cert)).unwrap();
        std::fs::write(path("key.pem"), pem("PRIVATE KEY", &key)).unwrap();
        made.cert.der().clone()
    };
    let first = write("first.example");
    let tls = Tls::load(&path("cert.pem"), &path("key.pem")).unwrap();
    let tls = Arc::new(tls);
    let server = Socket::with(Settings {
        tls: Some(Arc::clone(&tls)),
        ..Settings::default()
    })
    .await;
    let healthy = async |root: &CertificateDer<'static>, name: &str| {
        let mut roots = RootCertStore::empty();
        roots.add(root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(server.address).await.unwrap();
        let name = name.to_owned().try_into().unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect(name, stream).await.ok()?;
        let ask = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(ask).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        Some(String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"))
    };
    assert_eq!(healthy(&first, "first.example").await, Some(true));
    let plain = server
        .raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        .await;
    assert!(!plain.contains("200 OK"), "{plain}");
    // A pair that does not belong together changes nothing; one that does comes into force.
    let key = std::fs::read(path("key.pem")).unwrap();
    let second = write("second.example");
    let right = std::fs::read(path("key.pem")).unwrap();
    for (content, word) in [(&key[..], "is not the key of"), (b"x", "cannot be used")] {
        std::fs::write(path("key.pem"), content).unwrap();
        let error = tls.reload().unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("key.pem"), "{error}");
    }
    assert_eq!(healthy(&first, "first.example").await, Some(true));
    std::fs::write(path("key.pem"), right).unwrap();
    tls.reload().unwrap();
    assert_eq!(healthy(&first, "first.example").await, None);
    assert_eq!(healthy(&second, "second.example").await, Some(true));
    server.stop().await.unwrap();
}
