//! What a run of a skill shows. Whatever a model or a file says is shown with its control characters written out.

use std::path::Path;

use console::style;
use policy::{Decision, Level};

use super::machine::Ran;
use super::source::Source;
use super::verdict::Choice;
use crate::cli::output::{on_one_line, say, visible};

/// Says which skill runs, from where, and where its files are.
pub fn beginning(source: &Source, skill_dir: Option<&Path>, host: Option<&str>) {
    let skill = &source.skill;
    say(format_args!(
        "Skill {}, from {}",
        style(on_one_line(&skill.name)).bold(),
        on_one_line(&source.place)
    ));
    if !skill.description.is_empty() {
        say(format_args!("  {}", crate::cli::output::summary(&skill.description)));
    }
    if let Some(folder) = skill_dir {
        say(format_args!("  its files: {} ($SKILL_DIR)", on_one_line(&folder.display().to_string())));
    }
    if let Some(host) = host {
        say(format_args!("  commands run on {}", on_one_line(host)));
    }
}

/// Says what runs without a question.
pub fn freedom(allowed: &[String], is_elsewhere: bool, is_safe_run: bool, is_attended: bool) {
    let tools = match allowed {
        [] => "it names no allowed-tools".to_owned(),
        tools => format!("its allowed-tools: {}", on_one_line(&tools.join(", "))),
    };
    let told = match (is_safe_run, is_elsewhere, is_attended) {
        (false, _, true) => format!("every command is asked about ({tools}; they count with --yes safe)"),
        (false, _, false) => {
            format!("no command runs: nobody is there to be asked ({tools}; they count with --yes safe)")
        }
        (true, false, _) => format!("without a question: what only reads (L0); {tools}"),
        (true, true, _) => format!("without a question, on a host: {tools}"),
    };
    say(format_args!("  {told}"));
}

/// Shows a command, with its level and every reason.
pub fn command(command: &str, decision: &Decision) {
    say("");
    // `lines` would hide a carriage return at the end of one.
    let mut lines = command.split('\n');
    say(format_args!("{} {}", style("$").bold(), style(visible(lines.next().unwrap_or_default())).bold()));
    lines.for_each(|line| say(format_args!("{} {}", style("|").dim(), style(visible(line)).bold())));
    say(format_args!("  {}", level(decision.level)));
    for reason in &decision.reasons {
        say(format_args!(
            "  {}",
            style(format!("- {} ({})", on_one_line(&reason.message), reason.rule)).dim()
        ));
    }
}

fn level(level: Level) -> String {
    match level {
        Level::L0 => style("L0: only reads").green(),
        Level::L1 => style("L1: needs your agreement").yellow(),
        Level::L2 => style("L2: is refused").red(),
    }
    .to_string()
}

/// Says why a command runs, or does not.
pub fn choice(choice: Choice) {
    let told = match choice {
        Choice::Asked | Choice::Edited => return,
        Choice::Safe => "runs by itself: --yes safe",
        Choice::Allowed => "runs by itself: the skill's allowed-tools name it",
        Choice::Skipped => "is skipped",
        Choice::Refused => "is refused, and never run; the model is told that it was skipped",
    };
    say(format_args!("  {}", style(told).dim()));
}

/// Says how a command ended.
pub fn end(ran: &Ran) {
    let told = format!("[{}, {:.1} s]", ran.end_in_words(), ran.duration.as_secs_f64());
    say(match ran.exit_code {
        0 => style(told).dim(),
        _ => style(told).red(),
    });
}

/// Shows a message of the skill.
pub fn message(text: &str) {
    say(format_args!("\n{}", visible(text)));
}

/// Shows the message with which a skill ends.
pub fn done(text: &str) {
    say(format_args!("\n{} {}", style("Done:").green().bold(), visible(text)));
}

/// Shows a question of the skill.
pub fn question(text: &str, required: bool) {
    let note = if required { String::new() } else { style(" (Enter for nothing)").dim().to_string() };
    say(format_args!("\n{} {}{note}", style("?").cyan().bold(), visible(text)));
}

/// Shows how far the run is.
pub fn step(step: u64, max_steps: u64) {
    say(format_args!("{}", style(format!("[step {step} of {max_steps}]")).dim()));
}
