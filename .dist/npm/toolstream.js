#!/usr/bin/env node
// Runs the program for this machine, and ends as it does.
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { constants } = require("node:os");
const { join } = require("node:path");

const program = join(__dirname, "bin", `toolstream-${process.arch}`);
if (!existsSync(program)) {
  console.error(`toolstream: this package has no program for ${process.platform} ${process.arch}`);
  process.exit(2);
}

// The program gets the signals of the terminal itself; those of others are passed on.
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`toolstream: ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // A signal that Node ignores, SIGPIPE, ends it in the shell's way.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
});
