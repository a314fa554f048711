"""Runs a WASI module on files: wasm.py MODULE FOLDER < PATHS. Its output of the first is FOLDER/0, and so on."""

import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

engine = Engine()
module = Module.from_file(engine, sys.argv[1])
linker = Linker(engine)
linker.define_wasi()
for number, path in enumerate(sys.stdin.read().splitlines()):
    store, config = Store(engine), WasiConfig()
    config.stdin_file = path
    config.stdout_file = f"{sys.argv[2]}/{number}"
    store.set_wasi(config)
    try:
        linker.instantiate(store, module).exports(store)["_start"](store)
    except ExitTrap as trap:
        if trap.code != 0:
            sys.exit(f"{path}: exit status {trap.code}")
