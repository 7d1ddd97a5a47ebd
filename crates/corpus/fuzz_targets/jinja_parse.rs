//! Any text is a Jinja template, or a clear error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ai_prompt_corpus::jinja_targets::parse(bytes));
