//! Models that the configuration gives a name to, as `ai` steps take them.
//!
//! Owns what each field means and which are needed. The invariant: no key stands in the
//! configuration, only its name.

use semel_flow::nearest;
use semel_steps::{Api, Model, Models, Price};

use super::places::{number, of, secret, wrong};
use crate::config::{Config, Origin, Place};

/// The models that `ai` steps may name.
pub(super) fn models(config: &Config) -> anyhow::Result<Models> {
    let mut models = Models::default();
    for (place, origin) in of(config, "models") {
        models.add(&place.name, model(place, &origin)?);
    }
    Ok(models)
}

fn model(place: &Place, origin: &Origin) -> anyhow::Result<Model> {
    let field = |name: &str| place.fields.get(name).map(String::as_str);
    let wrong = |why: &str| wrong(place, origin, why);
    let not_so = |error: &dyn std::error::Error| wrong(&error.to_string());
    let api = api(place, origin)?;
    let name = field("model").ok_or_else(|| wrong("it has no `model`: what the API calls it"))?;
    let mut model = Model::new(api, name).map_err(|error| not_so(&error))?;
    if let Some(url) = field("url") {
        model = model.at(url).map_err(|error| not_so(&error))?;
    }
    if let Some(key) = field("key") {
        let key = secret(key).ok_or_else(|| {
            wrong("key is written in clear").fix("write key = \"${{ secrets.NAME }}\"")
        })?;
        model.key = Some(key);
    }
    if let Some(most) = number(place, origin, "max_tokens")? {
        model = model
            .with_max_tokens(most)
            .map_err(|error| not_so(&error))?;
    }
    if let Some(text) = field("temperature") {
        model = model
            .with_temperature(text)
            .map_err(|error| not_so(&error))?;
    }
    model.price = price(place, origin)?;
    Ok(model)
}

fn api(place: &Place, origin: &Origin) -> anyhow::Result<Api> {
    let names = Api::ALL.map(Api::name);
    let known = names.join(", ");
    let Some(word) = place.fields.get("api") else {
        let why = format!("it has no `api`: one of {known}");
        return Err(wrong(place, origin, &why).into());
    };
    Api::named(word).ok_or_else(|| {
        let failure = wrong(place, origin, &format!("api is one of {known}"));
        match nearest(word, names) {
            Some(near) => failure.fix(format!("write api = {near:?}")).into(),
            None => failure.into(),
        }
    })
}

/// Both prices or none: half of a cost is no cost.
fn price(place: &Place, origin: &Origin) -> anyhow::Result<Option<Price>> {
    let field = |name: &str| place.fields.get(name).map(String::as_str);
    let (input, output) = (field("input_per_million"), field("output_per_million"));
    match (input, output, field("currency")) {
        (None, None, None) => Ok(None),
        (Some(input), Some(output), currency) => {
            let price = Price::new(input, output, currency.unwrap_or("USD"));
            let price = price.map_err(|error| wrong(place, origin, &error.to_string()))?;
            Ok(Some(price))
        }
        _ => {
            let why = "input_per_million and output_per_million go together";
            Err(wrong(place, origin, why).into())
        }
    }
}
