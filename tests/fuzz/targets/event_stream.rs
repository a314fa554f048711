//! See `checks::event_stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolstream_fuzz::checks::event_stream(bytes));
