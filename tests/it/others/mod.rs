//! Programs of others: coding agents, SDKs, engines, a proxy.

/// Coding agents of others, against captures.
pub(crate) mod agents;
/// The providers' own clients, installed from the network.
pub(crate) mod clients;
/// Engines that pipe rows.
pub(crate) mod engines;
/// The library in a proxy.
pub(crate) mod proxy;
/// The library under WebAssembly.
pub(crate) mod wasm;
/// The program of Windows.
pub(crate) mod windows;
