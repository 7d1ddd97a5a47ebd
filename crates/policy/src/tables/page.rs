//! The tables as a page for readers: what each program may do by itself, and why not more.

use std::fmt::Write;

use super::{Class, Program, Tables};
use crate::decision::Rule;

/// The page, in Markdown.
pub fn page() -> String {
    let tables = Tables::built_in();
    let mut page = String::from(include_str!("page.md"));
    let (harmless, others): (Vec<&Program>, Vec<&Program>) =
        tables.all().partition(|program| tables.is_harmless(program));
    page.push_str("\n## What runs by itself\n");
    for program in harmless {
        of_program(&mut page, program);
    }
    page.push_str("\n## What needs your agreement, or is refused\n\n| program | what it does | because it |\n| --- | --- | --- |\n");
    for program in others {
        let names = names(program);
        _ = writeln!(page, "| {names} | {} | {} |", program.does, because(program));
    }
    page.push_str("\n## The rules\n\n| rule | level | what it finds |\n| --- | --- | --- |\n");
    for (rule, levels, about) in Rule::ALL {
        _ = writeln!(page, "| `{rule}` | {levels} | {} |", about.trim());
    }
    page
}

fn names(program: &Program) -> String {
    let names = std::iter::once(&program.name).chain(&program.aliases);
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn because(program: &Program) -> String {
    let interpreter = program.interpreter.map(|_| Class::Code);
    let effects = program.effects.iter().copied().chain(interpreter);
    let mut sentences = effects.map(|effect| effect.sentence().to_owned()).collect::<Vec<_>>().join("; ");
    if !program.why.is_empty() {
        _ = write!(sentences, ". {}", program.why);
    }
    sentences
}

fn of_program(page: &mut String, program: &Program) {
    _ = writeln!(page, "\n### {}\n\n{}", names(program), upper(&program.does));
    if !program.why.is_empty() {
        _ = writeln!(page, "\n{}", program.why);
    }
    let safe = listed(program, Class::Safe);
    if !safe.is_empty() {
        _ = writeln!(page, "\n- by itself: {safe}");
    }
    if !program.needs.is_empty() {
        _ = writeln!(page, "- only with one of: `{}`", program.needs.join("` `"));
    }
    let classes = [
        Class::Write,
        Class::Run,
        Class::Shell,
        Class::Code,
        Class::Wait,
        Class::Environment,
        Class::Links,
        Class::Unseen,
        Class::Network,
        Class::System,
        Class::Variables,
        Class::Destroy,
        Class::Privilege,
    ];
    for class in classes {
        let options = listed(program, class);
        if !options.is_empty() {
            _ = writeln!(page, "- {}: {options}", class.sentence());
        }
    }
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    format!("{}.", first.chain(letters).collect::<String>())
}

fn listed(program: &Program, class: Class) -> String {
    let options = program.options.iter().filter(|option| option.class == class);
    options.map(|option| format!("`{}`", option.name)).collect::<Vec<_>>().join(" ")
}
