//! Which effect a request is about: two path segments and, for composite keys, `?part=`.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use semel_ledger::{EffectId, Key, Scope};

use crate::app::App;
use crate::code::Code;
use crate::problem::Problem;
use crate::query::Query;

/// The effect that the path names.
#[derive(Debug)]
pub(crate) struct Target(pub(crate) EffectId);

impl FromRequestParts<Arc<App>> for Target {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Target, Problem> {
        let segments = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| not_utf8())?;
        let segment = |name| segments.iter().find(|(other, _)| *other == name);
        let (Some((_, scope)), Some((_, key))) = (segment("scope"), segment("key")) else {
            return Err(Problem::new(Code::KeyMissing, "the path names no effect"));
        };
        let query = Query::parse(parts.uri.query(), &["part"])?;
        let all: Vec<&str> = std::iter::once(key).chain(query.all("part")).collect();
        Ok(Target(EffectId::new(
            Scope::new(scope)?,
            Key::from_parts(&all)?,
        )))
    }
}

/// The one name in the path of something that is not an effect.
#[derive(Debug)]
pub(crate) struct Segment(pub(crate) String);

impl FromRequestParts<Arc<App>> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Segment, Problem> {
        let segments = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| not_utf8())?;
        let name = segments.iter().next().map(|(_, value)| value.to_owned());
        Ok(Segment(name.unwrap_or_default()))
    }
}

fn not_utf8() -> Problem {
    let detail = "a name in the path is not valid UTF-8 after percent-decoding";
    Problem::new(Code::KeyInvalid, detail).fix("percent-encode the UTF-8 bytes of the text")
}
