//! See `checks::json_array`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolstream_fuzz::checks::json_array(bytes));
