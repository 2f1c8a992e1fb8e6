// What there is to say of a line: words for the foot of the page, and the lines to light, each with its strength.

const data = JSON.parse(document.getElementById("data").textContent);
const why = document.getElementById("why");
const idle = [...why.childNodes];
const FILES = ["spec", "cluster"];
const MOST = 12;
let target = "";
let pinned = null;

const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const paneOf = (li) => li.id.slice(0, li.id.lastIndexOf("-"));
const numberOf = (li) => Number(li.id.slice(li.id.lastIndexOf("-") + 1));
const isFile = (pane) => FILES.includes(pane);
const reasonsNow = () => data.targets[target] || [];

const listed = (numbers) => {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const runs = [];
  for (const one of sorted) {
    const last = runs.at(-1);
    if (last && last[1] === one - 1) last[1] = one;
    else runs.push([one, one]);
  }
  const words = runs.slice(0, MOST).map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`));
  const more = runs.length > MOST ? " and more" : "";
  return `${sorted.length === 1 ? "line" : "lines"} ${words.join(", ")}${more}`;
};

const author = (by) => {
  const name = data.authors[by];
  return name === "spec" ? "carried over from the spec" : `written by the ${name === "target" ? `target ${target}` : `pass ${name}`}`;
};

const light = (lit, pane, first, last, strength) => {
  for (let n = first; n <= last; n += 1) {
    const key = `${pane}-${n}`;
    if (!lit.has(key) || strength < lit.get(key)) lit.set(key, strength);
  }
};

const PLACES = ["Value from", "There for", "Said at"];
const ofManifest = (number) => {
  const reasons = reasonsNow().filter(([first, last]) => first <= number && number <= last);
  const lit = new Map();
  const said = [["", `Line ${number} of ${target} `]];
  for (const [, , by, rule, origins] of reasons) {
    said.push(["strong", author(by), `a${by}`], ["", `. ${data.rules[rule]} `]);
    for (const strength of [0, 1, 2]) {
      const same = origins.filter((one) => one[3] === strength);
      const places = same.filter((one) => !one[1]).slice(0, 2).map((one) => data.words[one[2]]);
      FILES.forEach((file, at) => {
        const found = same.filter((one) => one[0] === at && one[1]);
        for (const [, first, last] of found) light(lit, file, first, last, strength);
        if (found.length) places.unshift(`${data.files[at]} ${listed(found.flatMap(([, first, last]) => range(first, last)))}`);
      });
      if (places.length) said.push(["em", `${PLACES[strength]} ${places.join(", ")}. `]);
    }
    if (!origins.length && by && !data.outdated) said.push(["em", "It depends on no line of the spec. "]);
  }
  if (!reasons.length) said.push(["", "holds the lines below it."]);
  return [said, lit];
};

const range = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

const ofFile = (file, number) => {
  const at = FILES.indexOf(file);
  const lit = new Map();
  const became = new Map();
  const count = [[], [], []];
  for (const [first, last, by, , origins] of reasonsNow()) {
    const found = origins.filter((one) => one[0] === at && one[1] && one[1] <= number && number <= one[2]);
    if (found.length) {
      const strength = Math.min(...found.map((one) => one[3]));
      light(lit, target, first, last, strength);
      count[strength].push(...range(first, last));
      became.set(by, true);
    }
  }
  const said = [["strong", `${data.files[at]} line ${number}.`], ["", " "]];
  const verbs = ["Its value is in", "Without it other or gone:", "It says the same as"];
  count.forEach((lines, strength) => {
    if (lines.length) said.push(["em", `${verbs[strength]} ${listed(lines)} of ${target}. `]);
  });
  const passes = data.authors.filter((name, by) => became.has(by) && by > 1);
  if (passes.length) said.push(["", `${passes.length === 1 ? "By the pass" : "By the passes"} ${passes.join(", ")}.`]);
  if (data.outdated) said.push(["", `The lines of ${target} are from an earlier version of the files.`]);
  else if (!lit.size) said.push(["", `No value of ${target} depends on it.`]);
  return [said, lit];
};

const ofAuthor = (by) => {
  const lit = new Map();
  const lines = [];
  for (const [first, last, one] of reasonsNow()) {
    if (one === by) {
      light(lit, target, first, last, 0);
      lines.push(...range(first, last));
    }
  }
  const text = author(by);
  return [[["strong", `${text[0].toUpperCase()}${text.slice(1)}`, `a${by}`], ["em", ` ${listed(lines)} of ${target}.`]], lit];
};
