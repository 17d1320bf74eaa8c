// Filters of the list and keys. Foreign text reaches the page through textContent only.
"use strict";
(() => {
  const STEP = 200;
  const list = window.siteList;
  const byId = (name) => document.getElementById(name);
  const fields = ["text", "outcome", "reason", "category"];

  function addOptions(select, labels) {
    labels.forEach((label, place) => {
      const option = document.createElement("option");
      option.value = String(place);
      option.textContent = label || "none";
      select.append(option);
    });
  }

  function cell(row, text, style) {
    const data = row.insertCell();
    data.textContent = text;
    if (style) data.className = style;
    return data;
  }

  function showRow([number, outcome, , category, name, why]) {
    const row = document.createElement("tr");
    cell(row, list.outcomes[outcome][0], list.outcomes[outcome][1]);
    const link = document.createElement("a");
    link.href = `cases/${String(number).padStart(5, "0")}.html`;
    link.textContent = name;
    row.insertCell().append(link);
    cell(row, list.categories[category]);
    cell(row, why);
    return row;
  }

  function startList() {
    const rows = byId("rows");
    const more = byId("more");
    let matches = list.rows;
    let shown = 0;

    addOptions(byId("outcome"), list.outcomes.map(([word]) => word));
    addOptions(byId("reason"), list.groups);
    addOptions(byId("category"), list.categories);
    byId("filters").hidden = false;

    const lower = list.rows.map((row) => `${row[4]} ${row[5]}`.toLowerCase());

    function showMore() {
      const part = document.createDocumentFragment();
      for (const row of matches.slice(shown, shown + STEP)) part.append(showRow(row));
      const first = part.firstElementChild;
      rows.append(part);
      shown = Math.min(shown + STEP, matches.length);
      more.hidden = shown >= matches.length;
      byId("count").textContent = `${matches.length} of ${list.rows.length} cases, ${shown} shown`;
      return first;
    }

    function filter() {
      const text = byId("text").value.trim().toLowerCase();
      const [outcome, reason, category] = fields.slice(1).map((name) => byId(name).value);
      matches = list.rows.filter(
        (row, place) =>
          (!outcome || row[1] === Number(outcome)) &&
          (!reason || row[2] === Number(reason)) &&
          (!category || row[3] === Number(category)) &&
          (!text || lower[place].includes(text)),
      );
      rows.replaceChildren();
      shown = 0;
      showMore();
    }

    function keepInAddress() {
      const values = new URLSearchParams();
      for (const name of fields) if (byId(name).value) values.set(name, byId(name).value);
      const hash = `#${values}`;
      if (hash !== location.hash && (location.hash || hash !== "#")) location.replace(hash);
    }

    function readAddress() {
      const values = new URLSearchParams(location.hash.slice(1));
      for (const name of fields) byId(name).value = values.get(name) || "";
      filter();
    }

    byId("filters").addEventListener("input", () => {
      filter();
      keepInAddress();
    });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => {
      const first = showMore();
      if (first) first.querySelector("a").focus();
    });
    window.addEventListener("hashchange", () => {
      if (!location.hash || location.hash.includes("=")) readAddress();
    });
    readAddress();
  }

  function stepRow(by) {
    const links = [...document.querySelectorAll("table.list tr td:nth-child(2) a")];
    if (!links.length) return false;
    const place = links.indexOf(document.activeElement);
    const next = place < 0 ? (by > 0 ? 0 : links.length - 1) : place + by;
    const link = links[Math.max(0, Math.min(links.length - 1, next))];
    link.focus();
    link.scrollIntoView({ block: "nearest" });
    return true;
  }

  function follow(key) {
    const link = document.querySelector(`a[data-key="${key}"]`);
    if (link) location.assign(link.href);
    return Boolean(link);
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function makeHelp() {
    const help = document.createElement("dialog");
    help.setAttribute("aria-labelledby", "help-title");
    const title = element("h2", "Keys");
    title.id = "help-title";
    const names = document.createElement("dl");
    for (const [keys, meaning] of HELP) names.append(element("dt", keys), element("dd", meaning));
    const close = element("button", "Close");
    close.type = "button";
    close.addEventListener("click", () => help.close());
    help.append(title, names, close);
    return help;
  }

  const HELP = [
    ["n, N", "next, previous failure; from the overview the first"],
    ["j, k", "next, previous row of a list, or case"],
    ["/", "search the list"],
    ["u", "up"],
    ["?", "these keys"],
  ];
  const dialog = makeHelp();
  const button = element("button", "Keys");
  button.type = "button";
  button.setAttribute("aria-keyshortcuts", "?");
  button.addEventListener("click", () => dialog.showModal());

  const KEYS = {
    n: () => follow("n"),
    N: () => follow("N"),
    u: () => follow("u"),
    j: () => follow("j") || stepRow(1),
    k: () => follow("k") || stepRow(-1),
    "/": () => {
      const search = byId("text");
      if (search) search.focus();
      return Boolean(search);
    },
    "?": () => {
      dialog.showModal();
      return true;
    },
  };

  document.addEventListener("keydown", (event) => {
    if (dialog.open) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target;
    if (target.matches("input, select, textarea")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (Object.hasOwn(KEYS, event.key) && KEYS[event.key]()) event.preventDefault();
  });

  document.querySelector("header").append(button);
  document.body.append(dialog);
  if (list && byId("rows")) startList();
})();
