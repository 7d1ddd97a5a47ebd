//! Any words are a command with a level, and no wrapper lowers it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ai_prompt_corpus::policy_targets::classify(bytes));
