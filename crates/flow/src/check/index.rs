//! Where steps stand: which is inside which, and which comes before which.

use std::collections::HashMap;

use crate::model::{Action, Block, Flow, Step};

/// Every step of a flow by its id.
#[derive(Debug)]
pub(super) struct Index<'f> {
    steps: HashMap<&'f str, At<'f>>,
}

/// Where a step stands.
#[derive(Clone, Debug)]
pub(super) struct At<'f> {
    pub(super) step: &'f Step,
    /// How many come before it in the file.
    pub(super) number: usize,
    /// The number of the last step inside it, or its own.
    pub(super) last: usize,
    /// What it is inside of, the outermost first.
    pub(super) path: Vec<Inside<'f>>,
    pub(super) on_failure: bool,
}

/// A step with others inside, and which of its blocks is meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside<'f> {
    pub(super) step: &'f Step,
    pub(super) block: usize,
}

/// Whether an expression sees the result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach<'f> {
    /// It does.
    Seen,
    /// Only if that case of the `switch` is chosen.
    Perhaps(&'f str),
    /// It is the step itself.
    Itself,
    /// The step is around it and has not ended.
    Around,
    /// The step comes later.
    Later,
    /// Every item of that `for_each` has its own.
    InLoop(&'f str),
    /// It is in another block of that step.
    Aside(&'f str),
}

impl<'f> Index<'f> {
    pub(super) fn of(flow: &'f Flow) -> Index<'f> {
        let mut index = Index {
            steps: HashMap::new(),
        };
        let mut number = 0;
        index.block(&flow.steps, &[], false, &mut number);
        index.block(&flow.on_failure, &[], true, &mut number);
        index
    }

    fn block(
        &mut self,
        block: &'f Block,
        path: &[Inside<'f>],
        on_failure: bool,
        number: &mut usize,
    ) {
        for step in block {
            let own = *number;
            *number += 1;
            for (block, steps) in blocks(step).into_iter().enumerate() {
                let mut path = path.to_vec();
                path.push(Inside { step, block });
                self.block(steps, &path, on_failure, number);
            }
            // Two of one id are refused elsewhere; the first is the one that is meant.
            self.steps.entry(step.id.it.as_str()).or_insert(At {
                step,
                number: own,
                last: *number - 1,
                path: path.to_vec(),
                on_failure,
            });
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&At<'f>> {
        self.steps.get(id)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &'f str> {
        self.steps.keys().copied()
    }
}

impl<'f> At<'f> {
    /// The `for_each` steps that it is inside of, the innermost last.
    pub(super) fn loops(&self) -> Vec<&'f Step> {
        let around = self.path.iter().map(|inside| inside.step);
        around.filter(|step| is_loop(step)).collect()
    }

    /// Whether an expression of this step sees the result of another. With `ended`, what is inside
    /// this step has ended.
    pub(super) fn reaches(&self, other: &At<'f>, ended: bool) -> Reach<'f> {
        if self.number == other.number {
            return Reach::Itself;
        }
        if self.path.iter().any(|inside| {
            inside.step.id.it == other.step.id.it && inside.step.span == other.step.span
        }) {
            return Reach::Around;
        }
        let mut mine = self.path.iter();
        let mut theirs = other.path.iter();
        let mut inside = theirs.next();
        let mut own = mine.next();
        while let (Some(a), Some(b)) = (own, inside) {
            if a.step.span != b.step.span {
                break;
            }
            if a.block != b.block {
                return Reach::Aside(a.step.id.it.as_str());
            }
            (own, inside) = (mine.next(), theirs.next());
        }
        let beyond = || inside.into_iter().chain(theirs.clone());
        if let Some(each) = beyond().find(|inside| is_loop(inside.step)) {
            return Reach::InLoop(&each.step.id.it);
        }
        let bound = if ended { self.last } else { self.number };
        if other.number > bound {
            return Reach::Later;
        }
        match beyond().find(|it| matches!(it.step.action, Action::Switch { .. })) {
            Some(switch) => Reach::Perhaps(&switch.step.id.it),
            None => Reach::Seen,
        }
    }
}

/// The blocks inside a step, in the order of the file.
pub(crate) fn blocks(step: &Step) -> Vec<&Block> {
    match &step.action {
        Action::Switch { cases, otherwise } => {
            let cases = cases.iter().map(|case| &case.steps);
            cases.chain([otherwise]).collect()
        }
        Action::ForEach(each) => vec![&each.steps],
        Action::Parallel(branches) => branches.iter().map(|branch| &branch.steps).collect(),
        Action::Lock { steps, .. } => vec![steps],
        _ => Vec::new(),
    }
}

fn is_loop(step: &Step) -> bool {
    matches!(step.action, Action::ForEach(_))
}
