"use strict";
// Runs a program of the package that npm chose for this machine, with these arguments and streams, and ends as it ends.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const self = require("./package.json");

function fail(what, fix) {
  process.stderr.write(`small-gate: ${what}\nfix: ${fix}\n`);
  process.exit(2);
}

function find(program) {
  const name = `@small-gate/${process.platform}-${process.arch}`;
  if (!self.optionalDependencies[name]) {
    fail(`there are no programs for ${process.platform} on ${process.arch} in npm`, `with Go: \`go install github.com/small-gate/small-gate/cmd/${program}@v${self.version}\``);
  }
  try {
    return require.resolve(`${name}/bin/${program}${process.platform === "win32" ? ".exe" : ""}`);
  } catch (error) {
    return fail(
      `the package ${name}, which holds ${program} for this machine, is missing (${error.code})`,
      `install small-gate ${self.version} again, without --omit=optional; if a package-lock.json from another system left it out, delete that and node_modules first`,
    );
  }
}

module.exports = function launch(program) {
  const file = find(program);
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  child.on("error", (error) => fail(`cannot run ${file}: ${error.message}`, `install small-gate ${self.version} again`));
  child.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal has sent Ctrl-C to the program as well, and a second one would kill it.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
};
