"use strict";
(() => {
  // The colour scheme: what the system says, until the button says otherwise.
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const schemes = ["auto", "light", "dark"];
  const remembered = () => {
    // A page from a file may not have storage.
    try { return localStorage.getItem("samplin-theme"); } catch { return null; }
  };
  const choose = (scheme) => {
    if (scheme === "auto") delete root.dataset.theme; else root.dataset.theme = scheme;
    theme.querySelector("span").textContent = scheme;
    theme.title = scheme === "auto" ? "Colour scheme: follows the system" : `Colour scheme: ${scheme}`;
    theme.setAttribute("aria-label", theme.title);
    theme.dataset.scheme = scheme;
  };
  const first = remembered();
  choose(schemes.includes(first) ? first : "auto");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = schemes[(schemes.indexOf(theme.dataset.scheme) + 1) % schemes.length];
    choose(next);
    try { localStorage.setItem("samplin-theme", next); } catch { /* it holds until the page is closed */ }
  });

  // On narrow screens a row is a card, in which each cell says what it is.
  for (const table of document.querySelectorAll("table")) {
    const labels = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, index) => {
        const inner = document.createElement("span");
        inner.className = "cell";
        inner.append(...cell.childNodes);
        cell.append(inner);
        cell.dataset.label = labels[index];
      });
    }
  }

  const table = document.getElementById("table");
  if (!table) return;
  const STEP = 300;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const keys = heads.map((head) => head.dataset.key);
  const rows = [...body.rows].map((row, index) => ({
    row,
    index,
    values: [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent.trim()),
    text: row.textContent.toLowerCase(),
  }));
  const form = document.getElementById("filters");
  const query = document.getElementById("query");
  const selects = ["rule", "format", "path"].map((id) => document.getElementById(id));
  const shown = document.getElementById("shown");
  const more = document.getElementById("more");
  const state = { sort: "count", dir: "desc", all: false };
  const compare = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

  const update = () => {
    const column = Math.max(0, keys.indexOf(state.sort));
    const sign = state.dir === "asc" ? 1 : -1;
    const numeric = "numeric" in heads[column].dataset;
    const order = [...rows].sort((a, b) => {
      const [x, y] = [a.values[column], b.values[column]];
      const difference = numeric ? Number(x) - Number(y) : compare(x, y);
      return sign * difference || a.index - b.index;
    });
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = selects.map((select) => [keys.indexOf(select.id), select.value]).filter(([, value]) => value);
    const matches = ({ text, values }) =>
      words.every((word) => text.includes(word)) && wanted.every(([index, value]) => values[index] === value);
    let count = 0;
    for (const entry of order) {
      const fits = matches(entry);
      if (fits) count += 1;
      entry.row.hidden = !fits || (!state.all && count > STEP);
    }
    body.append(...order.map(({ row }) => row));
    heads.forEach((head, index) => {
      if (index === column) head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    more.hidden = state.all || count <= STEP;
    const visible = state.all ? count : Math.min(count, STEP);
    shown.textContent = visible < count ? `${visible} of ${count} rows` : `${count} of ${rows.length} rows`;
    remember();
  };

  // What is shown is in the address, so that it can be passed on.
  const remember = () => {
    const parts = new URLSearchParams();
    if (query.value) parts.set("q", query.value);
    for (const select of selects) if (select.value) parts.set(select.id, select.value);
    if (state.sort !== "count" || state.dir !== "desc") {
      parts.set("sort", state.sort);
      parts.set("dir", state.dir);
    }
    const hash = parts.size ? `#${parts}` : "";
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
  };
  const recall = () => {
    if (!location.hash.includes("=")) return;
    const parts = new URLSearchParams(location.hash.slice(1));
    query.value = parts.get("q") ?? "";
    for (const select of selects) {
      const value = parts.get(select.id) ?? "";
      select.value = [...select.options].some((option) => (option.value || "") === value) ? value : "";
    }
    if (keys.includes(parts.get("sort"))) state.sort = parts.get("sort");
    if (["asc", "desc"].includes(parts.get("dir"))) state.dir = parts.get("dir");
  };

  heads.forEach((head) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const key = head.dataset.key;
      const again = state.sort === key;
      // Numbers are wanted from the largest first.
      const start = "numeric" in head.dataset ? "desc" : "asc";
      state.dir = again ? (state.dir === "asc" ? "desc" : "asc") : start;
      state.sort = key;
      update();
    });
  });
  query.addEventListener("input", update);
  selects.forEach((select) => select.addEventListener("change", update));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    Object.assign(state, { sort: "count", dir: "desc", all: false });
    update();
  }));
  more.firstElementChild.addEventListener("click", () => { state.all = true; update(); });
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      query.focus();
    } else if (event.key === "Escape" && document.activeElement === query) {
      query.value = "";
      update();
    }
  });
  window.addEventListener("hashchange", () => { recall(); update(); });
  recall();
  form.hidden = false;
  update();
})();
