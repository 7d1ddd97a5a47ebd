//! Reads arguments as the program itself would: bundled short options, attached values, abbreviated long options, operands between
//! options, `--`.

use crate::tables::{Kind, OptionSpec, Program, Takes};

/// The arguments of a program, read by its table.
#[derive(Debug, Default)]
pub struct Parsed<'a> {
    /// The options, in order.
    pub options: Vec<Given<'a>>,
    /// What is no option and no option's value.
    pub operands: Vec<&'a str>,
    /// Arguments that look like options and are not listed.
    pub unknown: Vec<&'a str>,
    /// The commands that options name, with their arguments.
    pub commands: Vec<Vec<&'a str>>,
    /// Where the first operand stands among the arguments, if options end there.
    pub rest: Option<usize>,
}

/// An option as it is given.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// What the table says of it.
    pub option: &'a OptionSpec,
    /// Its value.
    pub value: Option<&'a str>,
    /// Whether it comes after an operand, with a value that is an argument of its own.
    pub is_behind_operands: bool,
}

impl<'a> Parsed<'a> {
    /// Reads the arguments; options may end at the first operand.
    pub fn read(table: &'a Program, args: &[&'a str], options_end: bool) -> Parsed<'a> {
        let mut reader = Reader { table, args, options_end, at: 0, parsed: Parsed::default() };
        reader.read();
        reader.parsed
    }

    /// Whether an option is given.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|given| given.option.name == name)
    }

    /// The values that these options are given, in order.
    pub fn values<'n>(&'n self, names: &'n [&str]) -> impl DoubleEndedIterator<Item = &'a str> + 'n {
        let named = self.options.iter().filter(|given| names.contains(&given.option.name.as_str()));
        named.filter_map(|given| given.value)
    }

    /// Whether one of these options is given.
    pub fn has_any(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.has(name))
    }
}

struct Reader<'a, 'b> {
    table: &'a Program,
    args: &'b [&'a str],
    options_end: bool,
    at: usize,
    parsed: Parsed<'a>,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self) {
        while let Some(arg) = self.next() {
            match arg {
                "--" => return self.operands_from(self.at),
                _ if arg.starts_with("--") => self.long(arg),
                _ if arg.starts_with('-') && arg.len() > 1 => self.short(arg),
                _ if self.options_end => return self.operands_from(self.at - 1),
                _ => self.parsed.operands.push(arg),
            }
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        let arg = self.args.get(self.at).copied();
        self.at += usize::from(arg.is_some());
        arg
    }

    fn operands_from(&mut self, at: usize) {
        self.parsed.rest = Some(at);
        self.parsed.operands.extend(self.args.iter().skip(at));
    }

    fn give(&mut self, option: &'a OptionSpec, value: Option<&'a str>, is_separate: bool) {
        let is_behind_operands = is_separate && !self.parsed.operands.is_empty();
        self.parsed.options.push(Given { option, value, is_behind_operands });
        if option.takes == Takes::Value(Kind::Command) {
            let mut words: Vec<&str> = value.into_iter().collect();
            while let Some(word) = self.next().filter(|word| *word != ";") {
                words.push(word);
            }
            self.parsed.commands.push(words);
        }
    }

    /// `--name`, `--name=value`, `--name value`, or an abbreviation of one of them.
    fn long(&mut self, arg: &'a str) {
        let (name, attached) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg, None),
        };
        let meant = match self.table.option(name) {
            Some(option) => vec![option],
            None => self.table.abbreviated(name),
        };
        let takes_next =
            attached.is_none() && meant.iter().any(|option| matches!(option.takes, Takes::Value(_)));
        let is_sure = self.options_end || meant.first().is_some_and(|option| option.name == name);
        // What could mean several options is an error of the program; whatever it could mean is judged. Not every program knows
        // abbreviations: where one would take the next argument, that may be an option.
        if meant.len() != 1 || (takes_next && !is_sure) {
            self.parsed.unknown.push(arg);
        }
        let value = match takes_next {
            true if is_sure => self.next(),
            true => self.args.get(self.at).copied(),
            false => attached,
        };
        for option in meant {
            if option.takes == Takes::Nothing && attached.is_some() {
                self.parsed.unknown.push(arg);
            }
            self.give(option, value, takes_next);
        }
    }

    /// `-x`, `-xyz`, `-xVALUE`, `-x VALUE`, `-20`.
    fn short(&mut self, arg: &'a str) {
        if let Some(option) = self.table.option(arg).filter(|option| option.name.len() > 2) {
            let takes_next = matches!(option.takes, Takes::Value(_));
            let value = if takes_next { self.next() } else { None };
            return self.give(option, value, takes_next);
        }
        let body = arg.get(1..).unwrap_or_default();
        if body.bytes().all(|byte| byte.is_ascii_digit())
            && let Some(number) = self.table.option("-NUM")
        {
            return self.give(number, Some(body), false);
        }
        let mut is_known = true;
        for (at, letter) in body.char_indices() {
            let rest = body.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
            match self.table.option(&format!("-{letter}")) {
                None => is_known = false,
                Some(option) if option.takes == Takes::Nothing => self.give(option, None, false),
                Some(option) => {
                    let takes_next = rest.is_none() && matches!(option.takes, Takes::Value(_));
                    let value = if takes_next { self.next() } else { rest };
                    self.give(option, value, takes_next);
                    break;
                }
            }
        }
        if !is_known {
            self.parsed.unknown.push(arg);
        }
    }
}
