//! The parser's tree to ours: calls are resolved, chains are flattened, places are worked out.
//!
//! The parser knows one token of each node, such as the `.` or the `(`; from it, the operands and
//! the brackets follow where the node starts and ends.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, SourceInfo, operators};

use super::chain::{arithmetic, comparison};
use super::{Place, fault};
use crate::diagnostic::Diagnostic;
use crate::expr::MAX_DEPTH;
use crate::expr::ast::{Ast, Node};
use crate::expr::scan::Brackets;

/// Everything that is known about the text.
pub(super) struct Lowering<'s> {
    pub(super) source: &'s str,
    pub(super) place: Place,
    pub(super) brackets: Brackets,
    pub(super) info: SourceInfo,
}

/// A node before it has its place in the file.
pub(super) struct Lowered {
    pub(super) node: Node,
    /// Offsets within the expression.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Written as a decimal (`2.0`, `double(x)`), so that `/` keeps the rest.
    pub(super) decimal: bool,
}

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

impl Lowering<'_> {
    pub(super) fn expression(&self, tree: &IdedExpr) -> Result<Ast> {
        self.lower(tree, 0).map(|lowered| self.placed(lowered))
    }

    pub(super) fn placed(&self, lowered: Lowered) -> Ast {
        Ast {
            span: self.place.span(lowered.start, lowered.end),
            node: lowered.node,
        }
    }

    /// The offsets of the token that the parser knows the node by.
    pub(super) fn token(&self, id: u64) -> (usize, usize) {
        let (start, last) = self.info.offset_for(id).unwrap_or((0, 0));
        let limit = self.source.len();
        let start = (start as usize).min(limit);
        (start, (last as usize + 1).clamp(start, limit))
    }

    pub(super) fn lower(&self, tree: &IdedExpr, depth: usize) -> Result<Lowered> {
        let (start, end) = self.token(tree.id);
        if depth >= MAX_DEPTH {
            return Err(fault::too_deep(self.place, (start, end)));
        }
        let whole = |node| Lowered {
            node,
            start,
            end,
            decimal: false,
        };
        match &tree.expr {
            Expr::Literal(literal) => self.literal(literal, start, end),
            Expr::Ident(name) => {
                let name = name.trim_start_matches('.');
                if name == "secrets" {
                    return Err(fault::syntax(
                        self.place.span(start, end),
                        "all secrets at once have no value",
                    )
                    .help("write `secrets.NAME`"));
                }
                Ok(whole(Node::Ident(name.into())))
            }
            Expr::Select(select) => self.select(&select.operand, &select.field, start, depth),
            Expr::List(list) => {
                let items = self.all(&list.elements, depth)?;
                let end = self.brackets.end(start);
                Ok(Lowered {
                    end,
                    ..whole(Node::List(items))
                })
            }
            Expr::Map(map) => {
                let members = self.members(&map.entries, depth)?;
                let end = self.brackets.end(start);
                Ok(Lowered {
                    end,
                    ..whole(Node::Map(members))
                })
            }
            Expr::Call(call) => self.call(tree, call, depth),
            Expr::Struct(_) => Err(fault::syntax(
                self.place.span(start, end),
                "an object has no type name before it",
            )
            .help("write `{\"name\": value}`")),
            Expr::Comprehension(_) | Expr::Unspecified => Err(fault::syntax(
                self.place.span(start, end),
                "not part of an expression",
            )),
        }
    }

    pub(super) fn all(&self, trees: &[IdedExpr], depth: usize) -> Result<Vec<Ast>> {
        let lowered = trees.iter().map(|tree| self.lower(tree, depth + 1));
        lowered.map(|one| one.map(|one| self.placed(one))).collect()
    }

    fn members(&self, entries: &[IdedEntryExpr], depth: usize) -> Result<Vec<(Ast, Ast)>> {
        let mut members = Vec::with_capacity(entries.len());
        for entry in entries {
            if let EntryExpr::MapEntry(entry) = &entry.expr {
                let name = self.lower(&entry.key, depth + 1)?;
                let value = self.lower(&entry.value, depth + 1)?;
                members.push((self.placed(name), self.placed(value)));
            }
        }
        Ok(members)
    }

    fn select(&self, of: &IdedExpr, name: &str, dot: usize, depth: usize) -> Result<Lowered> {
        let after = &self.source[(dot + 1).min(self.source.len())..];
        let blank = after.len() - after.trim_start().len();
        let quotes = if after.trim_start().starts_with('`') {
            2
        } else {
            0
        };
        let end = (dot + 1 + blank + name.len() + quotes).min(self.source.len());
        if let Expr::Ident(root) = &of.expr
            && root == "secrets"
        {
            return Ok(Lowered {
                node: Node::Secret(name.into()),
                start: self.token(of.id).0,
                end,
                decimal: false,
            });
        }
        let of = self.lower(of, depth + 1)?;
        Ok(Lowered {
            start: of.start,
            end,
            decimal: false,
            node: Node::Select {
                of: Box::new(self.placed(of)),
                name: name.into(),
            },
        })
    }

    fn call(&self, tree: &IdedExpr, call: &CallExpr, depth: usize) -> Result<Lowered> {
        let name = call.func_name.trim_start_matches('.');
        match (name, call.args.as_slice()) {
            (operators::CONDITIONAL, [when, then, otherwise]) => {
                self.conditional(when, then, otherwise, depth)
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, _]) => {
                self.logic(tree, name, depth)
            }
            (operators::LOGICAL_NOT | operators::NEGATE, [it]) => {
                self.unary(tree.id, name, it, depth)
            }
            (operators::INDEX, [of, at]) => self.index(tree.id, of, at, depth),
            (operators::IN, [item, of]) => {
                self.pair(item, of, depth, |item, of| Node::In { item, of })
            }
            (_, [_, _]) if arithmetic(name).is_some() => self.chain(tree, depth),
            (_, [left, right]) => match comparison(name) {
                Some(by) => self.pair(left, right, depth, |left, right| Node::Compare {
                    by,
                    left,
                    right,
                }),
                None => self.function(tree.id, name, call, depth),
            },
            _ => self.function(tree.id, name, call, depth),
        }
    }

    fn pair(
        &self,
        left: &IdedExpr,
        right: &IdedExpr,
        depth: usize,
        node: impl FnOnce(Box<Ast>, Box<Ast>) -> Node,
    ) -> Result<Lowered> {
        let left = self.lower(left, depth + 1)?;
        let right = self.lower(right, depth + 1)?;
        Ok(Lowered {
            start: left.start,
            end: right.end,
            decimal: false,
            node: node(Box::new(self.placed(left)), Box::new(self.placed(right))),
        })
    }

    fn conditional(
        &self,
        when: &IdedExpr,
        then: &IdedExpr,
        otherwise: &IdedExpr,
        depth: usize,
    ) -> Result<Lowered> {
        let when = self.lower(when, depth + 1)?;
        let then = self.lower(then, depth + 1)?;
        let otherwise = self.lower(otherwise, depth + 1)?;
        Ok(Lowered {
            start: when.start,
            end: otherwise.end,
            decimal: then.decimal || otherwise.decimal,
            node: Node::If {
                when: Box::new(self.placed(when)),
                then: Box::new(self.placed(then)),
                otherwise: Box::new(self.placed(otherwise)),
            },
        })
    }

    fn unary(&self, id: u64, name: &str, it: &IdedExpr, depth: usize) -> Result<Lowered> {
        let it = self.lower(it, depth + 1)?;
        let (start, end, decimal) = (self.token(id).0, it.end, it.decimal);
        let it = Box::new(self.placed(it));
        let node = if name == operators::NEGATE {
            Node::Negate(it)
        } else {
            Node::Not(it)
        };
        Ok(Lowered {
            node,
            start,
            end,
            decimal,
        })
    }

    fn index(&self, id: u64, of: &IdedExpr, at: &IdedExpr, depth: usize) -> Result<Lowered> {
        let open = self.token(id).0;
        let of = self.lower(of, depth + 1)?;
        let at = self.lower(at, depth + 1)?;
        Ok(Lowered {
            start: of.start,
            end: self.brackets.end(open),
            decimal: false,
            node: Node::Index {
                of: Box::new(self.placed(of)),
                at: Box::new(self.placed(at)),
            },
        })
    }
}
