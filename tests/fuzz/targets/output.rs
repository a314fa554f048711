//! See `checks::output`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolstream_fuzz::checks::output(bytes));
