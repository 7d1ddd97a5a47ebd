//! Visitors for the parts of a syntax tree, without recursion into its blocks.

use std::collections::BTreeSet;

use super::ast::{Expr, List, Node, Pipe, Tree};
use super::set::Set;

/// Calls `visit` for every statement of the tree, nested ones included.
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

/// The pipeline of a statement, if it has one.
pub(super) fn pipe_of(node: &Node) -> Option<&Pipe> {
    match node {
        Node::Action(pipe) => Some(pipe),
        Node::Branch(branch) => Some(&branch.pipe),
        Node::Template(invoke) => invoke.pipe.as_ref(),
        Node::Text { .. } | Node::Break | Node::Continue => None,
    }
}

/// Calls `visit` for every operand of the pipeline, those of nested pipelines included.
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
    /// The names of the templates that are called in the set but not defined in it, sorted.
    ///
    /// Further calls of [`parse`](Set::parse) can define them. As in Go, running a call of an undefined template is an error.
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

    /// The names of all functions that are called in the set and are not built-in, sorted.
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
