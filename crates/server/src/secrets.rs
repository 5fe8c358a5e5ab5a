//! The API of secrets: which there are, setting, removing, another key. Never a value.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_act::LEAST_BYTES;
use semel_store::secret::Sealed;

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::target::Segment;
use crate::vault::{KeyError, LINKS, VaultError};

/// The longest name.
const MAX_NAME: usize = 255;
/// The longest value: a private key with room to spare.
const MAX_VALUE: usize = 16 * 1024;
/// Shorter values are likely to stand in texts by chance.
const SHORT: usize = 8;

impl From<VaultError> for Problem {
    fn from(error: VaultError) -> Problem {
        let fix = error.fix();
        let problem = match error {
            VaultError::Store(error) => error.into(),
            VaultError::Shared | VaultError::NoNewKey | VaultError::Restless => {
                Problem::new(Code::RotationRefused, error.to_string())
            }
            VaultError::Key(KeyError::Io { path, source }) => {
                let detail = format!("{} cannot be read or written: {source}", path.display());
                Problem::new(Code::SecretsKey, detail)
            }
            error => Problem::new(Code::SecretsKey, error.to_string()),
        };
        match fix {
            Some(fix) => problem.fix(fix),
            None => problem,
        }
    }
}

/// One secret, as it is shown.
struct Shown<'a> {
    name: &'a str,
    /// The environment has it, and counts.
    overridden: bool,
    sealed: Option<&'a Sealed>,
}

impl Shown<'_> {
    fn write(&self, out: &mut Object) {
        let source = if self.overridden {
            "environment"
        } else {
            "sealed"
        };
        out.text("name", self.name)
            .text("source", source)
            .flag("sealed", self.sealed.is_some())
            .time_or_null("changed_at", self.sealed.map(|it| it.changed_at))
            .text_or_null("by", self.sealed.and_then(|it| it.by.as_deref()));
    }
}

/// `GET /v1/secrets`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let (mut sealed, environment) = (app.store.secrets().await?, app.vault.environment());
    sealed.retain(|it| *it.name != *LINKS);
    let of_environment = environment.iter().map(|(name, _)| Shown {
        name,
        overridden: true,
        sealed: sealed.iter().find(|it| *it.name == **name),
    });
    let others = sealed
        .iter()
        .filter(|it| environment.get(&it.name).is_none());
    let others = others.map(|it| Shown {
        name: &it.name,
        overridden: false,
        sealed: Some(it),
    });
    let mut all: Vec<Shown<'_>> = of_environment.chain(others).collect();
    all.sort_by_key(|it| it.name);
    let mut out = Object::new();
    out.list("secrets", &all, |out, shown| shown.write(out));
    Ok(out.respond(StatusCode::OK))
}

/// `PUT /v1/secrets/{name}`
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Caller { name: by, .. }: Caller,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    check_name(&name)?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["value"])?;
    let value = fields.note("value", MAX_VALUE)?;
    let value = fields.need("value", value)?;
    if value.trim().is_empty() {
        return Err(fields.invalid("value", "is empty or blank"));
    }
    app.vault.set(&app.store, &name, &value, &by).await?;
    let mut out = Object::new();
    let overridden = app.vault.environment().get(&name).is_some();
    let sealed = app.store.secrets().await?;
    Shown {
        name: &name,
        overridden,
        sealed: sealed.iter().find(|it| *it.name == *name),
    }
    .write(&mut out);
    out.texts("warnings", warnings(&name, &value, overridden));
    Ok(out.respond(StatusCode::OK))
}

fn warnings(name: &str, value: &str, overridden: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if overridden {
        warnings.push(format!(
            "the server's environment has SEMEL_SECRET_{name} too, and that one counts"
        ));
    }
    if value.len() < LEAST_BYTES {
        warnings.push(format!(
            "under {LEAST_BYTES} bytes it is too common to be looked for: if a destination repeats it, it will be in history"
        ));
    } else if value.len() < SHORT {
        warnings.push(format!(
            "under {SHORT} bytes it is likely to stand in other texts by chance, and is replaced there too"
        ));
    }
    warnings
}

/// `DELETE /v1/secrets/{name}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let removed = app.vault.remove(&app.store, &name).await?;
    let overridden = app.vault.environment().get(&name).is_some();
    if !removed {
        let problem = Problem::new(
            Code::SecretMissing,
            "there is no sealed secret of that name",
        );
        return Err(if overridden {
            problem.fix("it comes from the server's environment: take it out there")
        } else {
            problem.fix("GET /v1/secrets lists the names")
        });
    }
    let mut out = Object::new();
    out.text("name", &name)
        .text_or_null("source", overridden.then_some("environment"));
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/secrets/rotate`
pub(crate) async fn rotate(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let rotated = app.vault.rotate(&app.store).await?;
    let mut out = Object::new();
    out.number("resealed", rotated.resealed as u64)
        .hex("key", &rotated.key);
    Ok(out.respond(StatusCode::OK))
}

/// A name as flows can write it behind `secrets.`
fn check_name(name: &str) -> Result<(), Problem> {
    let wrong = |why: String| Problem::new(Code::FieldInvalid, why).field("name");
    if name.len() > MAX_NAME {
        let why = format!("the name has {} bytes; the limit is {MAX_NAME}", name.len());
        return Err(wrong(why).limit(MAX_NAME));
    }
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_well = !name.starts_with(|c: char| c.is_ascii_digit());
    if name.is_empty() || !starts_well || !name.chars().all(letters) {
        let why = "a secret's name is letters, digits and _, and begins with no digit";
        return Err(wrong(why.to_owned()).fix("such as STRIPE_KEY, used as secrets.STRIPE_KEY"));
    }
    Ok(())
}
