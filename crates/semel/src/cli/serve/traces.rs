//! Where traces of runs go, as it is set.

use std::sync::Arc;

use semel_server::{Deliver, DeliverError, Delivering, Traces};
use semel_steps::Poster;

use crate::config::{Config, Name};
use crate::failure::Failure;

/// Where collectors take traces, behind the address that is set.
const PATH: &str = "/v1/traces";
/// What others who send traces are told about headers, such as a key: `name=value,name=value`.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// The collector, if one is set.
pub(super) fn traces(config: &Config) -> anyhow::Result<Option<Traces>> {
    let Some(setting) = config.setting(Name::OtlpEndpoint) else {
        return Ok(None);
    };
    let mut headers = headers(std::env::var(HEADERS).ok().as_deref())?;
    headers.push(("content-type".to_owned(), "application/json".to_owned()));
    let url = format!("{}{PATH}", setting.value.trim_end_matches('/'));
    let poster = Poster::new(&url, &headers, Vec::new()).map_err(|error| {
        let (name, value) = (Name::OtlpEndpoint.text(), &setting.value);
        Failure::usage(format!("{name} {value:?}: {error} ({})", setting.origin))
            .fix("write http://HOST:PORT, such as http://127.0.0.1:4318")
    })?;
    Ok(Some(Traces(Arc::new(Collector(poster)))))
}

/// The values stay out of messages: one of them may be a key.
fn headers(text: Option<&str>) -> anyhow::Result<Vec<(String, String)>> {
    let pairs = text.unwrap_or_default().split(',').map(str::trim);
    pairs
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                Failure::usage(format!("{HEADERS} has a part without `=`"))
                    .fix("write name=value, several with commas")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

struct Collector(Poster);

impl Deliver for Collector {
    fn deliver(&self, body: Vec<u8>) -> Delivering<'_> {
        Box::pin(async move {
            match self.0.post(body).await {
                Ok(200..300) => Ok(()),
                Ok(status) => Err(DeliverError {
                    message: format!("the collector answered {status}"),
                    again: matches!(status, 429 | 502 | 503 | 504),
                }),
                Err(error) => Err(DeliverError {
                    message: error.to_string(),
                    again: true,
                }),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::headers;

    #[test]
    fn headers_are_read_as_others_write_them() {
        let read = headers(Some("api-key=a=b, x = 1,")).unwrap();
        let read: Vec<(&str, &str)> = read.iter().map(|(n, v)| (&**n, &**v)).collect();
        assert_eq!(read, [("api-key", "a=b"), ("x", "1")]);
        assert!(headers(None).unwrap().is_empty());
        let error = headers(Some("hidden")).unwrap_err().to_string();
        assert!(!error.contains("hidden"), "{error}");
    }
}
