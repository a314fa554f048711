//! Writes the rows of formats as Rust, and links the program at a fixed address: it begins 0.4 ms
//! earlier than where half a megabyte of pointers is relocated first. What a random one makes harder
//! is what `unsafe` code makes possible, and this program has none of its own. A static program has
//! an address of its own choice.

// What is printed is for cargo.
#![allow(clippy::print_stdout)]

#[path = "../src/format/named.rs"]
mod named;
mod rows;

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=.cargo");
    println!("cargo::rerun-if-changed=src/format/named.rs");
    println!("cargo::rerun-if-changed=src/format/rows");
    let folder_of = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_default());
    let rows = folder_of("CARGO_MANIFEST_DIR").join("src/format/rows");
    rows::write(&rows, &folder_of("OUT_DIR").join("rows.rs"));
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = of_target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if of_target("OS") == "linux" && of_target("ENV") == "gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
