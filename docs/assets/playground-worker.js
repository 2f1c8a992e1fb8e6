// Runs the commands of the playground: ptcompile in Pyodide, loaded from this site alone.
import { loadPyodide } from "./playground/pyodide.mjs";

const base = new URL("playground/", import.meta.url);

const start = async () => {
  const [python, packages] = await Promise.all([
    loadPyodide({ indexURL: base.href }),
    fetch(new URL("python.zip", base)).then((response) => response.arrayBuffer()),
  ]);
  python.unpackArchive(packages, "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path.insert(0, '/packages')");
  return python.pyimport("console");
};
const ready = start();

onmessage = async ({ data: { command, text } }) => {
  try {
    const console = await ready;
    postMessage({ output: console.run(command, text) });
  } catch (error) {
    postMessage({ output: "", problem: `The command failed: ${error.message}` });
  }
};
