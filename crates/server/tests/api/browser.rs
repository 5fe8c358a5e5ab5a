//! A browser as the server sees one: it keeps cookies, and says where its requests come from.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::common::{Answer, World};

/// Where the server's pages are, as [`semel_server::Settings::default`] has it.
pub(crate) const OWN: &str = "http://127.0.0.1:7351";
pub(crate) const PASSWORD: &str = "correct horse battery";

#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub(crate) cookie: String,
    pub(crate) csrf: String,
    /// Where the pages are that it shows.
    origin: String,
}

impl Default for Browser {
    fn default() -> Browser {
        Browser {
            cookie: String::new(),
            csrf: String::new(),
            origin: OWN.to_owned(),
        }
    }
}

impl Browser {
    fn keep(&mut self, answer: &Answer) {
        if let Some((pair, _)) = answer.header("set-cookie").split_once(';') {
            pair.clone_into(&mut self.cookie);
        }
    }

    /// A request with what a browser adds by itself.
    pub(crate) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let mut request = Request::builder().method(method).uri(path);
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        request
    }

    /// What a page of the server asks.
    pub(crate) async fn ask(&self, world: &World, method: &str, path: &str, body: Value) -> Answer {
        let mut request = self.request(method, path).header("origin", &self.origin);
        if !self.csrf.is_empty() {
            request = request.header("semel-csrf", &self.csrf);
        }
        let body = match body {
            Value::Null => Body::empty(),
            body => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
        };
        world.send(request.body(body).unwrap()).await
    }

    /// Sends a form from a page of `origin`.
    pub(crate) async fn submit(
        &mut self,
        world: &World,
        path: &str,
        form: &str,
        origin: &str,
    ) -> Answer {
        let request = self
            .request("POST", path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", origin)
            .body(Body::from(form.to_owned()));
        let answer = world.send(request.unwrap()).await;
        self.keep(&answer);
        answer
    }

    /// Logs in over the API.
    pub(crate) async fn log_in(world: &World, name: &str, password: &str) -> (Browser, Answer) {
        Browser::default().entered(world, name, password).await
    }

    /// Somebody with an account, at a server that is reached at `origin`.
    pub(crate) async fn at(world: &World, name: &str, origin: &str) -> Browser {
        let browser = Browser {
            origin: origin.to_owned(),
            ..Browser::default()
        };
        browser.entered(world, name, PASSWORD).await.0
    }

    async fn entered(self, world: &World, name: &str, password: &str) -> (Browser, Answer) {
        let mut browser = self;
        let body = json!({"name": name, "password": password});
        let answer = browser.ask(world, "POST", "/v1/session", body).await;
        browser.keep(&answer);
        if answer.status == 201 {
            browser.csrf = answer.json()["csrf"].as_str().unwrap().to_owned();
        }
        (browser, answer)
    }

    /// Somebody new who is logged in.
    pub(crate) async fn of_new(world: &World, name: &str, role: &str) -> Browser {
        let account = json!({"name": name, "role": role, "password": PASSWORD});
        let made = world.call("POST", "/v1/people", account).await;
        assert_eq!(made.gist(), "201", "{}", made.text());
        let (browser, answer) = Browser::log_in(world, name, PASSWORD).await;
        assert_eq!(answer.gist(), "201", "{}", answer.text());
        browser
    }
}
