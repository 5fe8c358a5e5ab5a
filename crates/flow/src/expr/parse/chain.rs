//! Chains of operators, made flat: the parser's tree of a thousand `+` is a thousand levels deep.

use cel::common::ast::{Expr, IdedExpr, operators};

use super::lower::{Lowered, Lowering, Result};
use crate::expr::ast::{Arith, Ast, Compare, Node};

impl Lowering<'_> {
    /// `a + b * c - d`: down the left side first, without recursion.
    pub(super) fn chain(&self, tree: &IdedExpr, depth: usize) -> Result<Lowered> {
        let mut operations: Vec<(Arith, &IdedExpr)> = Vec::new();
        let mut leftmost = tree;
        while let Some((operation, left, right)) = operation(leftmost) {
            operations.push((operation, right));
            leftmost = left;
        }
        let first = self.lower(leftmost, depth + 1)?;
        let (start, mut end, mut decimal) = (first.start, first.end, first.decimal);
        let first = Box::new(self.placed(first));
        let mut rest = Vec::with_capacity(operations.len());
        for (operation, operand) in operations.into_iter().rev() {
            let operand = self.lower(operand, depth + 1)?;
            decimal |= operand.decimal;
            end = operand.end;
            let operation = match operation {
                Arith::Divide if decimal => Arith::Ratio,
                other => other,
            };
            rest.push((operation, self.placed(operand)));
        }
        Ok(Lowered {
            node: Node::Arith { first, rest },
            start,
            end,
            decimal,
        })
    }

    /// `a && b && c`; the parser balances these, so recursion is short.
    pub(super) fn logic(&self, tree: &IdedExpr, name: &str, depth: usize) -> Result<Lowered> {
        let mut operands = Vec::new();
        flatten(tree, name, &mut operands);
        let mut parts: Vec<Ast> = Vec::with_capacity(operands.len());
        let (mut start, mut end) = (None, 0);
        for operand in operands {
            let operand = self.lower(operand, depth + 1)?;
            start.get_or_insert(operand.start);
            end = operand.end;
            parts.push(self.placed(operand));
        }
        let node = if name == operators::LOGICAL_AND {
            Node::And(parts)
        } else {
            Node::Or(parts)
        };
        Ok(Lowered {
            node,
            start: start.unwrap_or(0),
            end,
            decimal: false,
        })
    }
}

fn operation(tree: &IdedExpr) -> Option<(Arith, &IdedExpr, &IdedExpr)> {
    match &tree.expr {
        Expr::Call(call) => match call.args.as_slice() {
            [left, right] => arithmetic(&call.func_name).map(|op| (op, left, right)),
            _ => None,
        },
        _ => None,
    }
}

fn flatten<'t>(tree: &'t IdedExpr, name: &str, operands: &mut Vec<&'t IdedExpr>) {
    match &tree.expr {
        Expr::Call(call) if call.func_name == name => {
            for arg in &call.args {
                flatten(arg, name, operands);
            }
        }
        _ => operands.push(tree),
    }
}

pub(super) fn arithmetic(name: &str) -> Option<Arith> {
    Some(match name {
        operators::ADD => Arith::Add,
        operators::SUBSTRACT => Arith::Subtract,
        operators::MULTIPLY => Arith::Multiply,
        operators::DIVIDE => Arith::Divide,
        operators::MODULO => Arith::Remainder,
        _ => return None,
    })
}

pub(super) fn comparison(name: &str) -> Option<Compare> {
    Some(match name {
        operators::EQUALS => Compare::Equal,
        operators::NOT_EQUALS => Compare::Unequal,
        operators::LESS => Compare::Less,
        operators::LESS_EQUALS => Compare::AtMost,
        operators::GREATER => Compare::Greater,
        operators::GREATER_EQUALS => Compare::AtLeast,
        _ => return None,
    })
}
