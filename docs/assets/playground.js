// The page of the playground: its examples, and a worker that runs the commands. Without the worker's files it says so.
(() => {
  const base = new URL("playground/", document.currentScript.src);
  const find = (name) => document.getElementById(`playground-${name}`);
  const [example, input, output, status] = ["example", "input", "output", "status"].map(find);
  const buttons = [...find("commands").children];
  let worker;

  const finish = (message) => {
    status.textContent = message;
    for (const button of buttons) button.disabled = false;
  };

  const start = () => {
    worker = new Worker(new URL("../playground-worker.js", base), { type: "module" });
    worker.onmessage = ({ data }) => {
      output.textContent = data.output;
      finish(data.problem ?? "");
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      worker = undefined;
      finish(`The playground could not start: ${event.message ?? "its files did not load"}.`);
    };
  };

  const run = (command) => {
    status.textContent = worker ? "Running…" : "Starting Python…";
    for (const button of buttons) button.disabled = true;
    output.textContent = "";
    if (!worker) start();
    worker.postMessage({ command, text: input.value });
  };

  const show = (examples) => {
    example.replaceChildren(...examples.map(({ title }, at) => new Option(title, at)));
    example.onchange = () => {
      input.value = examples[example.value].text;
      output.textContent = "";
    };
    example.onchange();
    for (const button of buttons) button.onclick = () => run(button.value);
    find("form").hidden = false;
    finish("");
  };

  fetch(new URL("examples.json", base))
    .then((response) => (response.ok ? response.json() : Promise.reject(response.status)))
    .then(show, () => finish("This copy of the site was built without the playground."));
})();
