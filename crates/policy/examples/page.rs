//! Prints the page of the rules, `docs/commands.md`.

fn main() {
    print!("{}", policy::page());
}
