//! `semel people`: who may log in to the page, and what they may do there.

use clap::{Args, Subcommand};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Context;
use super::secrets::value;
use crate::client::{Access, Call, Client, segment};
use crate::failure::Failure;
use crate::term::{print_line, print_table, shown};
use crate::when;

/// List, add, change and remove people who log in
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct People {
    #[command(subcommand)]
    verb: PeopleVerb,
}

const AFTER_HELP: &str = "\
Roles: viewer looks; operator also starts and steers runs; approver looks and answers requests; admin does everything.

EXAMPLE
  semel people setup
  semel people add ada --role operator --link
  semel people role ada admin
  semel people remove ada";

#[derive(Debug, Subcommand)]
enum PeopleVerb {
    /// List everybody with an account
    #[command(after_help = "EXAMPLE\n  semel people ls --json")]
    Ls,
    /// Make an account; its password is read from stdin, or asked for and not shown
    #[command(after_help = "EXAMPLE\n  semel people add ada --role operator --link")]
    Add {
        /// What they log in with: lower-case letters, digits and . _ - @ +
        name: String,
        /// viewer, operator, approver or admin
        #[arg(long, value_name = "ROLE")]
        role: String,
        /// Print a link with which they choose the password themselves
        #[arg(long)]
        link: bool,
        /// Refused: everybody on the machine can read the arguments of a process
        #[arg(hide = true, allow_hyphen_values = true)]
        password: Vec<String>,
    },
    /// Give somebody another role
    #[command(after_help = "EXAMPLE\n  semel people role ada approver")]
    Role {
        /// Who
        name: String,
        /// viewer, operator, approver or admin
        role: String,
    },
    /// Set somebody's password, read from stdin or asked for; they are logged out everywhere
    #[command(after_help = "EXAMPLE\n  semel people password ada < ada.password")]
    Password {
        /// Who
        name: String,
        /// Refused: everybody on the machine can read the arguments of a process
        #[arg(hide = true, allow_hyphen_values = true)]
        password: Vec<String>,
    },
    /// Print a link with which somebody chooses a new password: good once, and for a day
    #[command(after_help = "EXAMPLE\n  semel people link ada")]
    Link {
        /// Who
        name: String,
    },
    /// End an account; they are logged out everywhere
    #[command(alias = "rm", after_help = "EXAMPLE\n  semel people remove ada")]
    Remove {
        /// Who
        name: String,
    },
    /// Print a link with which the first admin chooses a name and a password
    #[command(after_help = "EXAMPLE\n  semel people setup")]
    Setup,
}

#[derive(Debug, Deserialize, Serialize)]
struct Person {
    name: String,
    role: String,
    password: bool,
    created_at: Option<String>,
    changed_at: Option<String>,
    #[serde(flatten)]
    link: Option<Link>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Link {
    link: String,
    until: String,
}

#[derive(Debug, Deserialize, Serialize)]
struct Listed {
    people: Vec<Person>,
}

impl People {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let json = context.json;
        match self.verb {
            PeopleVerb::Ls => list(&client, json).await,
            PeopleVerb::Add { password, .. } | PeopleVerb::Password { password, .. }
                if !password.is_empty() =>
            {
                let why = "a password is not taken as an argument: everybody on this machine can read those";
                Err(Failure::usage(why).fix("give it on stdin").into())
            }
            PeopleVerb::Add {
                name, role, link, ..
            } => {
                let password = (!link).then(|| value::password(&name)).transpose()?;
                let asked = json!({"name": name, "role": role, "password": password});
                add(&client, &asked, json).await
            }
            PeopleVerb::Role { name, role } => {
                let done = format!("has the role {role}");
                change(&client, &name, &json!({"role": role}), (&done, json)).await
            }
            PeopleVerb::Password { name, .. } => {
                let password = value::password(&name)?;
                let asked = json!({"password": password});
                let done = "has another password, and is logged out everywhere";
                change(&client, &name, &asked, (done, json)).await
            }
            PeopleVerb::Link { name } => {
                let path = format!("/v1/people/{}/link", segment(&name));
                print_link(&client, path, json).await
            }
            PeopleVerb::Remove { name } => remove(&client, &name, json).await,
            PeopleVerb::Setup => print_link(&client, "/v1/setup".to_owned(), json).await,
        }?;
        Ok(0)
    }
}

async fn list(client: &Client, json: bool) -> anyhow::Result<()> {
    let call = Call::get("/v1/people");
    let listed: Listed = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&listed);
    }
    let time = |time: &Option<String>| time.as_deref().map(when::short).unwrap_or_default();
    let row = |person: &Person| {
        let chosen = if person.password { "set" } else { "not chosen" };
        vec![
            shown(&person.name).into_owned(),
            person.role.clone(),
            chosen.to_owned(),
            time(&person.created_at),
            time(&person.changed_at),
        ]
    };
    let rows = listed.people.iter().map(row).collect();
    print_table(&["name", "role", "password", "created", "changed"], rows);
    Ok(())
}

async fn add(client: &Client, asked: &Value, json: bool) -> anyhow::Result<()> {
    let call = Call::json(Method::POST, "/v1/people".to_owned(), asked);
    let person: Person = client.ask(Access::Create, call).await?.read()?;
    if json {
        return Context::print_json(&person);
    }
    if let Some(link) = &person.link {
        tell(link);
    }
    say!("semel: {} is {}", shown(&person.name), person.role);
    Ok(())
}

async fn change(
    client: &Client,
    name: &str,
    asked: &Value,
    (done, json): (&str, bool),
) -> anyhow::Result<()> {
    let path = format!("/v1/people/{}", segment(name));
    let call = Call::json(Method::PATCH, path, asked);
    let person: Person = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&person);
    }
    say!("semel: {} {done}", shown(&person.name));
    Ok(())
}

async fn remove(client: &Client, name: &str, json: bool) -> anyhow::Result<()> {
    let call = Call::delete(format!("/v1/people/{}", segment(name)));
    let person: Person = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&person);
    }
    say!("semel: {} is removed", shown(&person.name));
    Ok(())
}

async fn print_link(client: &Client, path: String, json: bool) -> anyhow::Result<()> {
    let call = Call::post(path);
    let link: Link = client.ask(Access::Create, call).await?.read()?;
    if json {
        return Context::print_json(&link);
    }
    tell(&link);
    Ok(())
}

fn tell(link: &Link) {
    print_line(&link.link);
    let until = when::short(&link.until);
    say!("semel: this link is good once, until {until}; whoever has it can use it");
}
