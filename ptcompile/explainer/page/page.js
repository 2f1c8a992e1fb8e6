// Showing it: pointer, keys, tabs. reasons.js stands before it, in the same function.

const clear = () => {
  for (const li of all(".here, .lit")) li.classList.remove("here", "lit", ...data.strengths);
  for (const li of all('[aria-selected="true"]:not([role="tab"])')) li.setAttribute("aria-selected", "false");
};

const say = (pieces) => {
  why.replaceChildren(
    ...pieces.map(([tag, text, kind]) => {
      if (!tag) return document.createTextNode(text);
      const node = document.createElement(tag);
      node.textContent = text;
      if (kind) node.className = kind;
      return node;
    }),
  );
};

const mark = ([pieces, lit]) => {
  const panes = new Map();
  for (const [id, strength] of lit) {
    const li = document.getElementById(id);
    li.classList.add("lit", data.strengths[strength]);
    panes.set(li.parentElement, [...(panes.get(li.parentElement) || []), li]);
  }
  for (const [pane, found] of panes) bring(pane, found);
  say(pieces);
};

const bring = (pane, found) => {
  const top = pane.getBoundingClientRect().top + pane.clientTop;
  const strong = found.filter((li) => li.classList.contains("value"));
  const places = (strong.length ? strong : found).map((li) => li.getBoundingClientRect().top - top).sort((a, b) => a - b);
  const seen = places.some((place) => place >= 0 && place < pane.clientHeight - 20);
  if (!seen && places.length) pane.scrollTop += places[0] - pane.clientHeight / 3;
};

const show = (li) => {
  clear();
  if (!li) {
    why.replaceChildren(...idle);
    return;
  }
  li.classList.add("here");
  li.setAttribute("aria-selected", "true");
  const pane = paneOf(li);
  mark(isFile(pane) ? ofFile(pane, numberOf(li)) : ofManifest(numberOf(li)));
};

const rest = () => {
  const focused = document.activeElement;
  show(pinned || (focused && focused.matches(".code li") ? focused : null));
};

// Pointer: a line shows its kin while it is pointed at, and for good when clicked.

const ofEvent = (event) => (event.target.closest ? event.target.closest(".code li") : null);

document.addEventListener("mouseover", (event) => {
  const li = ofEvent(event);
  const button = event.target.closest(".legend button");
  if (pinned) return;
  if (li) show(li);
  else if (button) {
    clear();
    mark(ofAuthor(Number(button.dataset.by)));
  } else rest();
});
document.documentElement.addEventListener("mouseleave", rest);
document.addEventListener("click", (event) => {
  const li = ofEvent(event);
  if (String(window.getSelection())) return; // somebody copies
  pinned = li && li !== pinned ? li : null;
  if (li) focus(li);
  rest();
});

// Keyboard: each list is one stop of Tab; arrows move in it, and over to the other side.

const focus = (li) => {
  for (const other of all('[tabindex="0"]', li.parentElement)) other.tabIndex = -1;
  li.tabIndex = 0;
  li.focus({ preventScroll: true });
  li.scrollIntoView({ block: "nearest" });
};

const across = (li) => {
  const file = isFile(paneOf(li));
  const found = all(".lit.value, .lit").filter((other) => isFile(paneOf(other)) !== file);
  const best = found.find((other) => other.classList.contains("value")) || found[0];
  if (best) focus(best);
};

document.addEventListener("focusin", (event) => {
  if (event.target.matches(".code li")) {
    if (pinned !== event.target) pinned = null;
    show(event.target);
  } else if (event.target.matches(".legend button")) {
    pinned = null;
    clear();
    mark(ofAuthor(Number(event.target.dataset.by)));
  } else if (!pinned) show(null);
});

const MOVES = {
  ArrowDown: (li) => li.nextElementSibling,
  ArrowUp: (li) => li.previousElementSibling,
  Home: (li) => li.parentElement.firstElementChild,
  End: (li) => li.parentElement.lastElementChild,
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") {
    pinned = null;
    if (document.activeElement) document.activeElement.blur();
    show(null);
    return;
  }
  const li = document.activeElement;
  if (!li || !li.matches(".code li")) return;
  const file = isFile(paneOf(li));
  if (MOVES[event.key]) {
    const next = MOVES[event.key](li);
    if (next) focus(next);
  } else if (event.key === "Enter" || event.key === (file ? "ArrowRight" : "ArrowLeft")) across(li);
  else return;
  event.preventDefault();
});

// Tabs.

const tabs = all(".tabs a");
const key = `ptcompile ${location.pathname}`;
const remember = (name) => {
  try {
    sessionStorage.setItem(key, name);
  } catch {} // a page without storage opens at the first choice
};
const remembered = () => {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
};
const select = (name) => {
  target = name;
  pinned = null;
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
  for (const part of all("[data-target]")) part.hidden = part.dataset.target !== name;
  for (const note of all("[data-for]")) note.hidden = !note.dataset.for.split(" ").includes(name);
  show(null);
};

const arm = () => {
  document.documentElement.classList.add("js");
  for (const list of all(".code")) {
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", `Lines of ${list.id.replace(/-lines$/, "").replace("cluster", "the profile")}`);
    for (const li of list.children) {
      li.setAttribute("role", "option");
      li.setAttribute("aria-selected", "false");
      li.tabIndex = -1;
    }
    if (list.firstElementChild) list.firstElementChild.tabIndex = 0;
  }
  const bar = document.querySelector(".tabs");
  bar.setAttribute("role", "tablist");
  bar.setAttribute("aria-label", "Targets");
  tabs.forEach((tab, at) => {
    const name = tab.id.slice("tab-".length);
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", name);
    const panel = document.getElementById(name);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      select(name);
      remember(name);
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (event.key === " ") tab.click();
      else if (step === undefined) return;
      else {
        const next = tabs[(step + tabs.length) % tabs.length];
        next.focus();
        next.click();
      }
      event.preventDefault();
    });
  });
  const isTab = (name) => tabs.some((tab) => tab.id === `tab-${name}`);
  if (tabs.length) select([location.hash.slice(1), remembered()].find(isTab) || data.chosen);
};

arm();
