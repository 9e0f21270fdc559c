"use strict";
// Findings: what is wrong, where, the line with a caret, the fix and the rule.
(() => {
  const {element} = Report;
  const NARROW = 640;

  function note(label, text) {
    return text ? [element("div", {class: "note"},
      element("span", {class: "label"}, `${label}: `), element("bdi", {}, Values.visible(text)))] : [];
  }

  function excerpt(f) {
    if (f.number === null) return [];
    const margin = " ".repeat(String(f.number).length);
    return [element("pre", {},
      element("span", {class: "gutter"}, `${f.number} | `), f.before || "",
      element("mark", {}, f.marked || ""), f.after || "",
      element("span", {class: "gutter"}, `\n${margin} | `),
      element("span", {class: "caret", "aria-hidden": "true"}, " ".repeat(f.indent) + "^".repeat(f.width)))];
  }

  /** A finding as a compiler shows it. */
  function block(f, titles) {
    const severity = f.severity.split(",")[0];
    const more = f.count > 1 ? ` (${f.count.toLocaleString("en-US")} of these are only counted)` : "";
    return element("div", {class: "finding"},
      element("div", {class: "head"},
        element("span", {class: `severity ${severity}`, title: titles[f.code]}, `${f.severity}[${f.code}]`), " ",
        element("bdi", {}, Values.visible(f.message)), more),
      ...(f.place ? [element("div", {class: "place"}, element("bdi", {}, Values.visible(f.place)))] : []),
      ...excerpt(f), ...note("record", f.record), ...note("help", f.help), ...note("rule", f.clause));
  }

  /** Scroll long lines to what is marked. */
  function reveal(row) {
    const line = row.querySelector("pre"), mark = row.querySelector("mark");
    if (mark && mark.offsetLeft + mark.offsetWidth > line.clientWidth) {
      line.scrollLeft = mark.offsetLeft - line.clientWidth / 3;
    }
  }

  /** The text of each row that is searched. */
  function searched({message, help, place, marked}) {
    return (row) => [message[row], help[row], place[row], marked[row]].filter(Boolean).join(" ");
  }

  function draw(host, data) {
    const named = Object.fromEntries(data.columns.map((c) => [c.name, Values.unpacked(c)]));
    const names = Object.keys(named), sides = new Set(named.side);
    const chosen = ["severity", "code", ...(sides.size > 1 ? ["side"] : []), "file", "message"];
    const columns = chosen.map((name) => ({...data.columns.find((c) => c.name === name), kind: "text"}));
    // A row has the cells that sort and filter; the parts of a finding are looked up when it is shown.
    const finding = (row) => Object.fromEntries(names.map((name) => [name, named[name][row.id]]));
    const cell = (name) => (name === "message" ? searched(named) : (row) => named[name][row]);
    const values = chosen.map(cell);
    const rows = named.code.map((_, id) => {
      const row = {id};
      for (let at = 0; at < values.length; at += 1) row[`c${at}`] = values[at](id);
      return row;
    });
    const shown = host.clientWidth === 0 || host.clientWidth > NARROW;
    const settings = {
      layout: "fitColumns",
      rowFormatter: (row) => requestAnimationFrame(() => reveal(row.getElement())),
    };
    const hidden = {visible: shown, width: 120};
    const shownOnly = element("p", {class: "intro found"});
    host.append(shownOnly);
    const table = Tables.draw(host, {title: data.title, pageSize: 25, columns}, {
      rows,
      settings,
      columns: {
        severity: hidden, code: {...hidden, width: 96}, side: {...hidden, width: 110},
        file: {...hidden, width: 150},
        message: {
          formatter: (cell) => block(finding(cell.getData()), data.titles),
          variableHeight: true, maxInitialWidth: undefined, headerSort: false, cssClass: "long",
        },
      },
    });
    /** Show the findings with some values only, until somebody wants all again. */
    host.filter = (values) => {
      const wanted = Object.entries(values);
      const all = element("button", {type: "button", class: "copy"}, "Show all");
      all.addEventListener("click", () => { table.clearFilter(); shownOnly.replaceChildren(); });
      const words = wanted.map(([, value]) => (value === null ? "no file" : Values.visible(value))).join(", ");
      shownOnly.replaceChildren("Only ", element("bdi", {}, words), " ", all);
      const apply = () => table.setFilter((row) => wanted.every(([name, value]) => named[name][row.id] === value));
      if (table.initialized) apply();
      else table.on("tableBuilt", apply);
    };
    Tables.onPaper(host, () => {
      const found = host.active().slice(0, 500);
      return element("div", {class: "paper blocks"}, ...found.map((row) => block(finding(row), data.titles)));
    });
  }

  Report.kinds.findings = draw;
})();
