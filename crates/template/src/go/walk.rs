//! Goes through every part of a template, without recursion into its blocks.

use std::collections::BTreeSet;

use super::ast::{Expr, List, Node, Pipe, Tree};
use super::set::Set;

/// Shows every statement of the tree to `visit`, those inside of others included.
pub(super) fn nodes<'a>(tree: &'a Tree, visit: &mut impl FnMut(&'a Node)) {
    let mut lists: Vec<&'a List> = vec![&tree.root];
    while let Some(list) = lists.pop() {
        for node in list {
            visit(node);
            if let Node::Branch(branch) = node {
                lists.push(&branch.list);
                lists.extend(&branch.else_list);
            }
        }
    }
}

/// The pipeline of a statement.
pub(super) fn pipe_of(node: &Node) -> Option<&Pipe> {
    match node {
        Node::Action(pipe) => Some(pipe),
        Node::Branch(branch) => Some(&branch.pipe),
        Node::Template(invoke) => invoke.pipe.as_ref(),
        Node::Text { .. } | Node::Break | Node::Continue => None,
    }
}

/// Shows every operand of the pipeline to `visit`, inner pipelines included.
pub(super) fn operands<'a>(pipe: &'a Pipe, visit: &mut impl FnMut(&'a Expr)) {
    let mut pipes = vec![pipe];
    while let Some(pipe) = pipes.pop() {
        for arg in pipe.cmds.iter().flat_map(|command| &command.args) {
            let mut operand = arg;
            if let Expr::Chain { base, .. } = arg {
                visit(arg);
                operand = base;
            }
            visit(operand);
            if let Expr::Pipe(inner) = operand {
                pipes.push(inner);
            }
        }
    }
}

impl Set {
    /// The names of the templates that templates of the set call and that are not in it, sorted.
    ///
    /// In Go a call of such a template fails when it is run. They can be supplied by further calls of
    /// [`parse`](Set::parse).
    pub fn undefined(&self) -> Vec<&str> {
        let mut names = BTreeSet::new();
        for tree in self.trees() {
            nodes(tree, &mut |node| {
                if let Node::Template(invoke) = node
                    && !self.contains(&invoke.name)
                {
                    names.insert(&*invoke.name);
                }
            });
        }
        names.into_iter().collect()
    }

    /// The names of the functions that are called anywhere in the set and are not built-in, sorted.
    pub fn functions(&self) -> Vec<&str> {
        let mut names = BTreeSet::new();
        for tree in self.trees() {
            nodes(tree, &mut |node| {
                let Some(pipe) = pipe_of(node) else { return };
                operands(pipe, &mut |operand| {
                    if let Expr::Ident { name, builtin: None, .. } = operand {
                        names.insert(&**name);
                    }
                });
            });
        }
        names.into_iter().collect()
    }
}
