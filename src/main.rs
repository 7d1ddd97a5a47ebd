//! The binary: hands the command line to the library.

/// Requests are many small pieces of memory, made and dropped by several threads, which this allocator is better at than
/// the system's. Without huge pages, which would hold twice the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ai_prompt_shell::cli::main()
}
