//! The page: what a browser shows of this server.
//!
//! Owns how the built page is served: one document for every address under `/app/`, its script and its
//! style. They are made from the folder `page` of the repository and are part of the binary. What is on the page comes from the
//! API, as for every other caller; what a viewer may do is decided there.
//!
//! Invariants: nothing is loaded from anywhere else, no text is ever taken for a script or a style
//! ([`POLICY`]), and a file that is named by its hash never changes.

use std::io::Write as _;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::app::App;
use crate::code::Code;
use crate::people::{pages, session};
use crate::problem::Problem;
use crate::target::Segment;

const DOCUMENT: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");

/// What the browser lets the page do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A file as it is sent.
struct Served {
    /// As the page asks for it.
    name: String,
    kind: &'static str,
    tag: HeaderValue,
    plain: Bytes,
    gzipped: Bytes,
}

impl Served {
    fn new(stem: &str, ending: &str, kind: &'static str, text: String) -> Served {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let hash = &hash[..16];
        Served {
            name: format!("{stem}-{hash}.{ending}"),
            kind,
            tag: HeaderValue::try_from(format!("\"{hash}\""))
                .unwrap_or(HeaderValue::from_static("\"\"")),
            gzipped: gzipped(&text),
            plain: text.into(),
        }
    }

    fn respond(&self, asked: &HeaderMap, caching: &'static str) -> Response {
        let known = asked.get(header::IF_NONE_MATCH) == Some(&self.tag);
        let packed = asked
            .get(header::ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.split(',').any(|word| word.trim().starts_with("gzip")));
        let body = match (known, packed) {
            (true, _) => Bytes::new(),
            (false, true) => self.gzipped.clone(),
            (false, false) => self.plain.clone(),
        };
        let mut response = Response::new(Body::from(body));
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.tag.clone());
        if packed && !known {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        for (name, value) in [
            (header::CONTENT_TYPE, self.kind),
            (header::CACHE_CONTROL, caching),
            (header::VARY, "Accept-Encoding"),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

fn gzipped(text: &str) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Into memory: it cannot fail.
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default().into()
}

/// The document, the script and the style. Compressed when they are first asked for.
struct Files {
    document: Served,
    assets: [Served; 2],
}

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let script = Served::new(
        "page",
        "js",
        "text/javascript; charset=utf-8",
        SCRIPT.to_owned(),
    );
    let style = Served::new("page", "css", "text/css; charset=utf-8", STYLE.to_owned());
    let document = DOCUMENT
        .replace("page.js", &script.name)
        .replace("page.css", &style.name);
    Files {
        document: Served::new("index", "html", "text/html; charset=utf-8", document),
        assets: [script, style],
    }
});

/// `GET /` and `GET /app/…`: the page finds out by the address what to show.
pub(crate) async fn document(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    match session::find(&app, request.headers()).await? {
        Some(_) => Ok(FILES.document.respond(request.headers(), "no-cache")),
        None => Ok(pages::to("/login", None)),
    }
}

/// `GET /assets/{file}`
pub(crate) async fn asset(Segment(name): Segment, request: Request) -> Result<Response, Problem> {
    let found = FILES.assets.iter().find(|file| file.name == name);
    let file = found.ok_or_else(|| {
        Problem::new(Code::NotFound, "there is no such file")
            .fix("load the page anew: it names the files of this version")
    })?;
    Ok(file.respond(request.headers(), "public, max-age=31536000, immutable"))
}
