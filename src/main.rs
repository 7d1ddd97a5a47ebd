//! The binary: hands the command line to the library.

fn main() -> std::process::ExitCode {
    ai_prompt_shell::cli::main()
}
