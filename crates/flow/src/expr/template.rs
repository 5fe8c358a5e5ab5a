//! Text with expressions in it: `order ${{ event.id }}`.
//!
//! Rendered once: what an expression gives is never looked at for further expressions. In a key
//! every value is one part or a piece of one, whatever stands in it, so that two different lists of
//! values never give the same key.

mod rendering;

use std::sync::Arc;

use semel_ledger::{Key, KeyError};

use super::fuel::MAX_TEXT_BYTES;
use super::scan::{Token, token};
use super::{EvalError, Expr, Names};
use crate::codes::X005;
use crate::diagnostic::{Diagnostic, Span};
use crate::value::Value;
use rendering::Rendering;

/// Text with expressions in it.
#[derive(Clone, Debug)]
pub struct Template {
    /// Its parts in order.
    pub parts: Vec<Part>,
    /// Where it stands in the file.
    pub span: Span,
}

/// A part of a template.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text as it is.
    Text(Arc<str>),
    /// `${{ … }}`
    Expr(Expr),
}

/// Why a template gives no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// A part has no value.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A part has a value that cannot stand in a key.
    #[error("key part `{part}` is {kind}; a key is made of text and whole numbers")]
    Kind {
        /// The expression.
        part: String,
        /// What its value is.
        kind: &'static str,
    },
    /// The whole is not a key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

const OPEN: &str = "${{";
const LITERAL: &str = "$${{";

impl Template {
    /// Reads text with `${{ … }}` in it; `$${{` stands for a literal `${{`. The text stands at
    /// `span`; with `exact`, the file has the same bytes there, and places within it are known.
    ///
    /// # Errors
    /// [`Diagnostic`] as for [`Expr::parse`], and `X005` for a `${{` without its `}}`.
    pub fn parse(text: &str, span: Span, exact: bool) -> Result<Template, Diagnostic> {
        let place = |start: usize, end: usize| {
            if !exact {
                return span;
            }
            Span {
                start: span.start + start,
                end: span.start + end,
            }
        };
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find(OPEN) {
            let open = at + found;
            if text[at..open].ends_with('$') {
                plain.push_str(&text[at..open - 1]);
                plain.push_str(OPEN);
                at = open + OPEN.len();
                continue;
            }
            plain.push_str(&text[at..open]);
            let start = open + OPEN.len();
            let end = end_of(text, start).map_err(|quote| match quote {
                Some(quote) => unclosed_text(place(open, start), place(quote, quote + 1)),
                None => unclosed(place(open, start)),
            })?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain).into()));
            }
            let inner = &text[start..end];
            let source = inner.trim();
            let lead = start + (inner.len() - inner.trim_start().len());
            let whole = if source.is_empty() {
                (open, end + 2)
            } else {
                (lead, lead + source.len())
            };
            parts.push(Part::Expr(Expr::parse(source, place(whole.0, whole.1))?));
            at = end + 2;
        }
        plain.push_str(&text[at..]);
        if !plain.is_empty() {
            parts.push(Part::Text(plain.into()));
        }
        Ok(Template { parts, span })
    }

    /// Whether it is exactly one expression, whose value keeps its type.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Expr(_)])
    }

    /// Its expressions in order.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expr(expr) => Some(expr),
            Part::Text(_) => None,
        })
    }

    /// The value: that of its one expression, or else text.
    ///
    /// # Errors
    /// [`EvalError`] if an expression has no value or is null within text, or if the text is over
    /// [`MAX_TEXT_BYTES`].
    pub fn render(&self, names: &dyn Names) -> Result<Value, EvalError> {
        self.fill(|expr| expr.eval(names))
    }

    /// As [`Template::render`], but with every volatile expression as it is written.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn render_stable(&self, names: &dyn Names) -> Result<Value, EvalError> {
        self.fill(|expr| {
            if expr.volatile {
                Ok(Value::text(&format!("{OPEN} {} }}}}", expr.source)))
            } else {
                expr.eval(names)
            }
        })
    }

    fn fill(
        &self,
        value_of: impl Fn(&Expr) -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        match self.parts.as_slice() {
            [] => return Ok(Value::text("")),
            [Part::Text(text)] => return Ok(Value::Text(Arc::clone(text))),
            [Part::Expr(expr)] => return value_of(expr),
            _ => {}
        }
        let mut rendering = Rendering::default();
        for part in &self.parts {
            match part {
                Part::Text(text) => rendering.text(text),
                Part::Expr(expr) => rendering.value(expr, &value_of(expr)?)?,
            }
            if rendering.bytes() > MAX_TEXT_BYTES {
                return Err(EvalError {
                    message: format!("the text has more than {MAX_TEXT_BYTES} bytes"),
                    span: self.span,
                });
            }
        }
        Ok(rendering.into_value())
    }

    /// The value as a key: literal text is split into parts at `/`, values are never split.
    ///
    /// # Errors
    /// [`KeyFault`] that names the part with no value, or with one that is neither text with
    /// something in it nor a whole number.
    pub fn key(&self, names: &dyn Names) -> Result<Key, KeyFault> {
        let mut parts = vec![String::new()];
        for part in &self.parts {
            match part {
                Part::Text(text) => {
                    let mut pieces = text.split('/');
                    if let Some((piece, last)) = pieces.next().zip(parts.last_mut()) {
                        last.push_str(piece);
                    }
                    parts.extend(pieces.map(str::to_owned));
                }
                Part::Expr(expr) => {
                    let value = expr.eval(names)?;
                    if let Some(last) = parts.last_mut() {
                        last.push_str(&key_text(expr, &value)?);
                    }
                }
            }
        }
        Ok(Key::from_parts(&parts)?)
    }
}

fn key_text(expr: &Expr, value: &Value) -> Result<String, KeyFault> {
    let kind = match value {
        Value::Text(text) if text.trim().is_empty() => "empty",
        Value::Text(text) => return Ok(text.as_ref().to_owned()),
        Value::Int(int) => return Ok(int.to_string()),
        // Whole, but over 64 bits.
        Value::Decimal(decimal) if !decimal.as_str().contains(['.', 'e']) => {
            return Ok(decimal.as_str().to_owned());
        }
        other => other.kind(),
    };
    Err(KeyFault::Kind {
        part: expr.source.as_ref().to_owned(),
        kind,
    })
}

/// Where the `}}` stands that ends the expression: not within text, nor closing an object. If there
/// is none, where text starts that does not end, if there is one.
fn end_of(text: &str, start: usize) -> Result<usize, Option<usize>> {
    let bytes = text.as_bytes();
    let mut braces = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        if braces == 0 && bytes[at..].starts_with(b"}}") {
            return Ok(at);
        }
        let (token, next) = token(bytes, at);
        match token {
            Token::Open(b'{') => braces += 1,
            Token::Close(b'}') => braces = braces.saturating_sub(1),
            Token::Unclosed => return Err(Some(at)),
            _ => {}
        }
        at = next;
    }
    Err(None)
}

fn unclosed(at: Span) -> Diagnostic {
    Diagnostic::error(X005, at, "expression is not closed", "`}}` is missing")
        .help("close it with `}}`")
        .help(format!("for a literal `{OPEN}` write `{LITERAL}`"))
}

fn unclosed_text(at: Span, quote: Span) -> Diagnostic {
    unclosed(at).also(quote, "text that does not end begins here")
}
