//! Any template over any data ends within its limits.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ai_prompt_corpus::targets::execute(bytes));
