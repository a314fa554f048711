//! See `checks::cassette`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolstream_fuzz::checks::cassette(bytes));
