//! Any text is a template, or a clear error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| go_template_fuzz::targets::parse(bytes));
