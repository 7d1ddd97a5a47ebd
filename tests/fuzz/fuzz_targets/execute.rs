//! Any template over any data ends within its limits.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| go_template_fuzz::targets::execute(bytes));
