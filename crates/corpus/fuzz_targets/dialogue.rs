//! Any text can be read as an answer and cleaned as an output.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ai_prompt_corpus::dialogue_targets::dialogue(bytes));
