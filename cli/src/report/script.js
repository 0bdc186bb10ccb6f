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
  root.classList.add("js");
  for (const table of document.querySelectorAll("table")) {
    const labels = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
      if (row.classList.contains("inside")) continue;
      [...row.cells].forEach((cell, index) => {
        const inner = document.createElement("span");
        inner.className = "cell";
        inner.append(...cell.childNodes);
        cell.append(inner);
        cell.dataset.label = labels[index];
      });
    }
  }

  // The repair of a rule stands once in the page, and is shown where it is asked for.
  for (const details of document.querySelectorAll("details.repair")) {
    details.addEventListener("toggle", () => {
      const text = document.getElementById(`repair-${details.dataset.rule}`)?.querySelector(".text");
      if (text && !details.querySelector(".text")) details.lastElementChild.replaceWith(text.cloneNode(true));
    });
  }

  const columns = document.querySelector("main").dataset.columns.split(" ");
  // As `samplin report --csv` writes it: no name is a formula to a spreadsheet.
  const cell = (text) => {
    const isFormula = /^[=+\-@\t]/.test(text) && !/^[-+.\deE]*$/.test(text) && text !== "-Infinity";
    const safe = isFormula ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const valuesOf = (elements) => {
    const line = columns.map(() => "");
    for (const element of elements) line[element.dataset.c] = element.dataset.v ?? element.textContent;
    return line;
  };
  const marked = (element) => [element, ...element.querySelectorAll("[data-c]")].filter((e) => "c" in e.dataset);
  const save = (name, lines) => {
    const link = document.createElement("a");
    const text = lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  const STEP = 300;
  const compare = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

  // A table with a search, filters and an order. What it shows is in the address, so that it can be passed on.
  const live = (section) => {
    const { prefix } = section.dataset;
    const find = (id) => document.getElementById(prefix + id);
    const table = find("table");
    const heads = [...table.tHead.rows[0].cells];
    const keys = heads.map((head) => head.dataset.key);
    const entries = [...table.tBodies].map((body, index) => ({
      body,
      index,
      values: [...body.rows[0].cells].map((cell) => cell.dataset.v ?? cell.textContent.trim()),
      text: [body.rows[0], ...body.querySelectorAll(".members tbody")].map((part) => part.textContent).join(" ").toLowerCase(),
    }));
    const [form, query, shown, more] = ["filters", "query", "shown", "more"].map(find);
    const selects = [...form.querySelectorAll("select")];
    const state = { sort: "count", dir: "desc", all: false };

    // A cell of several values has a comma and a space between them.
    const has = (text, value) => text === value || text.split(", ").includes(value);
    const matching = () => {
      const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = selects.map((select) => [keys.indexOf(select.name), select.value]).filter(([, value]) => value);
      return ({ text, values }) =>
        words.every((word) => text.includes(word)) && wanted.every(([index, value]) => has(values[index], value));
    };
    const ordered = () => {
      const column = Math.max(0, keys.indexOf(state.sort));
      const sign = state.dir === "asc" ? 1 : -1;
      const numeric = "numeric" in heads[column].dataset;
      heads.forEach((head, index) => {
        if (index === column) head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      return [...entries].sort((a, b) => {
        const [x, y] = [a.values[column], b.values[column]];
        const difference = numeric ? Number(x) - Number(y) : compare(x, y);
        return sign * difference || a.index - b.index;
      });
    };
    const update = () => {
      const order = ordered();
      const matches = matching();
      let count = 0;
      for (const entry of order) {
        const fits = matches(entry);
        if (fits) count += 1;
        entry.body.hidden = !fits || (!state.all && count > STEP);
      }
      table.append(...order.map(({ body }) => body));
      more.hidden = state.all || count <= STEP;
      const visible = state.all ? count : Math.min(count, STEP);
      shown.textContent = visible < count ? `${visible} of ${count} rows` : `${count} of ${entries.length} rows`;
      remember();
    };
    const lines = () => {
      const path = selects.find((select) => select.name === "path")?.value;
      const column = columns.indexOf("path");
      return ordered().filter(matching()).flatMap(({ body }) => {
        const common = [table, ...marked(body.rows[0])].filter((e) => "c" in e.dataset);
        const members = [...body.querySelectorAll(".members tbody tr")];
        if (!members.length) return [valuesOf(common)];
        const changes = (row) => [...row.querySelectorAll(".change")];
        const all = members.flatMap((row) => changes(row).map((change) => valuesOf([...common, ...marked(row), ...marked(change)])));
        return all.filter((line) => !path || line[column] === path);
      });
    };
    const write = (parts) => {
      if (query.value) parts.set(`${prefix}q`, query.value);
      for (const select of selects) if (select.value) parts.set(prefix + select.name, select.value);
      if (state.sort !== "count" || state.dir !== "desc") {
        parts.set(`${prefix}sort`, state.sort);
        parts.set(`${prefix}dir`, state.dir);
      }
    };
    const recall = (parts) => {
      query.value = parts.get(`${prefix}q`) ?? "";
      for (const select of selects) {
        const value = parts.get(prefix + select.name) ?? "";
        select.value = [...select.options].some((option) => (option.value || "") === value) ? value : "";
      }
      const [sort, dir] = [parts.get(`${prefix}sort`), parts.get(`${prefix}dir`)];
      if (keys.includes(sort)) state.sort = sort;
      if (["asc", "desc"].includes(dir)) state.dir = dir;
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
    query.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      query.value = "";
      update();
    });
    selects.forEach((select) => select.addEventListener("change", update));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => {
      Object.assign(state, { sort: "count", dir: "desc", all: false });
      update();
    }));
    find("csv").addEventListener("click", () => save(`samplin-${table.dataset.v}.csv`, [columns, ...lines()]));
    more.firstElementChild.addEventListener("click", () => { state.all = true; update(); });
    form.hidden = false;
    return { query, recall, update, write };
  };

  const remember = () => {
    const parts = new URLSearchParams();
    for (const table of tables) table.write(parts);
    const hash = parts.size ? `#${parts}` : "";
    // An address of a place in the page is left alone.
    if (hash !== location.hash && (hash || location.hash.includes("="))) {
      history.replaceState(null, "", hash || location.pathname + location.search);
    }
  };
  const recall = () => {
    if (location.hash.includes("=")) {
      const parts = new URLSearchParams(location.hash.slice(1));
      for (const table of tables) table.recall(parts);
    }
    for (const table of tables) table.update();
  };
  const tables = [];
  for (const section of document.querySelectorAll(".live")) tables.push(live(section));
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
    if (event.key === "/" && tables.length && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      tables[0].query.focus();
    }
  });
  window.addEventListener("hashchange", recall);
  recall();
})();
