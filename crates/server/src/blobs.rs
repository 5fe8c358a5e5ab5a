//! `/v1/blobs`: large values, by the hash of their content.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, ETAG, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use semel_store::blob::{MAX_BLOB_BYTES, unhex};
use semel_store::{BlobRef, Change};

use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::target::Segment;

/// `PUT /v1/blobs`
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let (parts, content) = request.into_parts();
    let kind = parts.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind.is_none_or(|kind| kind != b"application/octet-stream") {
        let detail = "only the content type application/octet-stream is accepted here";
        return Err(Problem::new(Code::ContentTypeUnsupported, detail)
            .field("Content-Type")
            .fix("send the header `Content-Type: application/octet-stream`"));
    }
    let (bytes, _room) = body::read(content, &parts.headers, &app, MAX_BLOB_BYTES).await?;
    let blob = BlobRef::of(&bytes);
    app.store.commit(vec![Change::Blob(bytes.into())]).await?;
    let mut out = Object::new();
    out.hex("blob", &blob.hash).number("bytes", blob.bytes);
    Ok(out.respond(StatusCode::CREATED))
}

/// `GET /v1/blobs/{hash}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let missing = || {
        let detail = "no blob of that name is here; names are 64 lower-case hex digits";
        Problem::new(Code::BlobMissing, detail)
    };
    let hash = unhex(&name).ok_or_else(missing)?;
    let content = app.store.blob(hash).await?.ok_or_else(missing)?;
    let mut response = Response::new(Body::from(content));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, kind);
    // A blob is whatever somebody sent: a browser must not guess that it is a page.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(tag) = HeaderValue::try_from(format!("\"{name}\"")) {
        headers.insert(ETAG, tag);
    }
    Ok(response)
}
