//! From events to nodes, without recursion, within the budget.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle, Tag, options};

use super::{Kind, MAX_DEPTH, MAX_NODES, Node, fault};
use crate::diagnostic::{Diagnostic, Span, Spanned};

/// The way out, boxed because diagnostics are large and faults are rare.
type Fault = Box<Diagnostic>;

/// A list or map whose end has not come yet.
struct Open {
    span: Span,
    flow: bool,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map {
        entries: Vec<(Spanned<String>, Node)>,
        /// The key whose value comes next.
        key: Option<Spanned<String>>,
        /// Where every key stands first.
        seen: HashMap<String, Span>,
    },
}

pub(super) struct Builder<'s> {
    source: &'s str,
    events: Parser<'s, StrInput<'s>>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
    pub(super) found: Vec<Diagnostic>,
}

impl<'s> Builder<'s> {
    pub(super) fn new(source: &'s str) -> Builder<'s> {
        let options = options! {
            block_nesting_limit: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
        };
        Builder {
            source,
            events: Parser::new_from_str_with_options(source, options),
            open: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            root: None,
            found: Vec::new(),
        }
    }

    /// The one document of the file.
    pub(super) fn document(&mut self) -> Result<Node, Fault> {
        let mut documents = 0;
        while let Some(event) = self.events.next_event() {
            let (event, span) = event.map_err(|error| fault::syntax(self.source, &error))?;
            let range = span.byte_range().unwrap_or_default();
            let at = Span {
                start: range.start,
                end: range.end,
            };
            if let Some(tag) = event.tag().filter(|tag| !means_text(&event, tag)) {
                let tag_at = span.tag_span().and_then(|span| span.byte_range());
                let start = tag_at.map_or(at.start, |range| range.start);
                return Err(fault::tag(self.source, tag, start));
            }
            if let Event::DocumentStart(..) = event {
                documents += 1;
                if documents > 1 {
                    return Err(fault::second_document(at));
                }
            }
            self.take(event, at)?;
        }
        self.root.take().ok_or_else(fault::empty)
    }

    fn take(&mut self, event: Event<'_>, at: Span) -> Result<(), Fault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let typed = style == ScalarStyle::Plain && tag.is_none();
                let node = self.scalar(&text, style, typed, at);
                self.place(node, anchor)
            }
            Event::SequenceStart(style, anchor, _) => {
                let content = Content::List(Vec::new());
                self.enter(content, style, anchor, at)
            }
            Event::MappingStart(style, anchor, _) => {
                let content = Content::Map {
                    entries: Vec::new(),
                    key: None,
                    seen: HashMap::new(),
                };
                self.enter(content, style, anchor, at)
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(at),
            Event::Alias(anchor) => self.alias(anchor, at),
            _ => Ok(()),
        }
    }

    fn enter(
        &mut self,
        content: Content,
        style: StructureStyle,
        anchor: usize,
        span: Span,
    ) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(fault::too_deep(span));
        }
        self.open.push(Open {
            span,
            flow: style == StructureStyle::Flow,
            anchor,
            content,
        });
        Ok(())
    }

    fn leave(&mut self, at: Span) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let mut span = open.span;
        let (kind, last) = match open.content {
            Content::List(items) => {
                let last = items.last().map(|item| item.span);
                (Kind::List(items), last)
            }
            Content::Map { entries, .. } => {
                let last = entries.last().map(|(key, value)| key.span.to(value.span));
                (Kind::Map(entries), last)
            }
        };
        // A block ends where its last part does; the event comes only with the next token. An
        // alias stands before what it is part of, so it does not count.
        let end = if open.flow { Some(at) } else { last };
        span.end = end.map_or(span.end, |last| last.end).max(span.end);
        let node = Node {
            span,
            exact: false,
            kind,
        };
        self.place(node, open.anchor)
    }

    fn alias(&mut self, anchor: usize, at: Span) -> Result<(), Fault> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(fault::inside_itself(at));
        };
        let (size, height) = measure(node);
        if self.nodes + size > MAX_NODES {
            return Err(fault::too_many_nodes(at, self.nodes + size));
        }
        if self.open.len() + height > MAX_DEPTH {
            return Err(fault::too_deep(at));
        }
        let node = node.clone();
        self.nodes += size - 1;
        self.place(node, 0)
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, mut node: Node, anchor: usize) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(fault::too_many_nodes(node.span, self.nodes));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map { entries, key, seen }) => match key.take() {
                None => *key = Some(name(&node)?),
                Some(name) => {
                    if node.span.start == node.span.end {
                        node.span = name.span;
                    }
                    if let Some(first) = seen.get(&name.it) {
                        self.found.push(fault::twice(&name, *first));
                    } else {
                        seen.insert(name.it.clone(), name.span);
                        entries.push((name, node));
                    }
                }
            },
        }
        Ok(())
    }

    fn scalar(&self, text: &str, style: ScalarStyle, typed: bool, at: Span) -> Node {
        let quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let mut span = at;
        if quoted && at.end >= at.start + 2 {
            span.start += 1;
            span.end -= 1;
        } else if block && let Some(raw) = self.source.get(at.start..at.end) {
            // The event ends only at the next token.
            span.end = at.start + raw.trim_end().len();
        }
        let kind = if typed {
            // A value that is left out comes as `~` without a place of its own.
            plain(text, at.start == at.end)
        } else {
            Kind::Text(text.to_owned())
        };
        Node {
            span,
            exact: self.source.get(span.start..span.end) == Some(text),
            kind,
        }
    }
}

/// `!!str` before a scalar says what quotes would say.
fn means_text(event: &Event<'_>, tag: &Tag) -> bool {
    matches!(event, Event::Scalar(..)) && tag.is_yaml_core_schema_tag("str")
}

fn name(node: &Node) -> Result<Spanned<String>, Fault> {
    let Some(text) = node.scalar() else {
        return Err(fault::not_a_name(node));
    };
    Ok(Spanned {
        it: text.to_owned(),
        span: node.span,
    })
}

fn plain(text: &str, left_out: bool) -> Kind {
    match text {
        _ if left_out => Kind::Null,
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        _ if is_json_number(text) => Kind::Number(text.to_owned()),
        _ => Kind::Text(text.to_owned()),
    }
}

/// Whether JSON would read it as a number.
fn is_json_number(text: &str) -> bool {
    let looks = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    looks && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// How many nodes, and how deep.
fn measure(node: &Node) -> (usize, usize) {
    let sum = |(size, height), (more, deep): (usize, usize)| (size + more, deep.max(height));
    let (size, height) = match &node.kind {
        Kind::List(items) => items.iter().map(measure).fold((0, 0), sum),
        Kind::Map(entries) => {
            let entries = entries.iter().map(|(_, value)| measure(value));
            // A key is a node too.
            entries.map(|(n, h)| (n + 1, h)).fold((0, 0), sum)
        }
        _ => (0, 0),
    };
    (size + 1, height + 1)
}
