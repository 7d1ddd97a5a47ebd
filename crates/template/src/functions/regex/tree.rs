//! The tree of a regular expression: what the reader makes, and what is compiled.

use regex_syntax::hir::Look;

/// A part of an expression.
pub enum Node {
    /// Nothing.
    Empty,
    /// A character of ASCII.
    Byte(u8),
    /// One character of a set, by its number.
    Set(usize),
    /// A test of a place.
    Look(Look),
    /// A part again and again.
    Repeat(Box<Repeat>),
    /// A group that captures, by its number from 1.
    Group(usize, Box<Node>),
    /// One after another.
    Sequence(Vec<Node>),
    /// One of these, the first one that leads to a match.
    Choice(Vec<Node>),
}

/// A repetition.
pub struct Repeat {
    pub node: Node,
    pub least: u32,
    /// `None`: without end.
    pub most: Option<u32>,
    /// Whether it takes as much as it can.
    pub greedy: bool,
}

impl Node {
    /// One after another; a single one is itself.
    pub fn sequence(nodes: Vec<Node>) -> Node {
        Node::of_several(nodes, Node::Sequence)
    }

    /// One of these; a single one is itself.
    pub fn choice(nodes: Vec<Node>) -> Node {
        Node::of_several(nodes, Node::Choice)
    }

    fn of_several(mut nodes: Vec<Node>, whole: fn(Vec<Node>) -> Node) -> Node {
        if nodes.len() > 1 {
            return whole(nodes);
        }
        nodes.pop().unwrap_or(Node::Empty)
    }

    /// How many parts the expression has when its counted repetitions are written out; a set counts as `of_set` says.
    pub fn size(&self, of_set: &impl Fn(usize) -> usize) -> usize {
        let all = |nodes: &[Node]| {
            nodes.iter().fold(nodes.len(), |sum, node| sum.saturating_add(node.size(of_set)))
        };
        match self {
            Node::Empty | Node::Byte(_) | Node::Look(_) => 1,
            Node::Set(number) => of_set(*number),
            Node::Repeat(repeat) => {
                let times = repeat.most.unwrap_or(repeat.least).max(1) as usize;
                repeat.node.size(of_set).saturating_add(1).saturating_mul(times)
            }
            Node::Group(_, node) => node.size(of_set).saturating_add(2),
            Node::Sequence(nodes) => {
                nodes.iter().map(|node| node.size(of_set)).fold(0, usize::saturating_add)
            }
            Node::Choice(nodes) => all(nodes),
        }
    }
}
