//! Any Jinja template over any data ends within its limits, and waves of calls change nothing.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ai_prompt_corpus::jinja_targets::execute(bytes));
