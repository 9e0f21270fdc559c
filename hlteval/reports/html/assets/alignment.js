"use strict";
// The alignment: a card per row, the reference above the system, and the text around both.
(() => {
  const {element} = Report;
  const {visible, shown, unpacked, UNDEFINED} = Values;
  const ERRORS = new Set(["different", "missing", "extra"]);
  const SIDES = ["reference", "system"];
  const PAGE = 20, PRINTED = 100, CHOICES = 300, COMPARED = 400;
  const collator = new Intl.Collator("en", {numeric: true});

  /** What is filtered by: the values of a column as numbers, and how many rows have each. */
  function numbered(column) {
    const values = unpacked(column), known = new Map(), at = new Int32Array(values.length);
    values.forEach((value, row) => {
      if (!known.has(value)) known.set(value, known.size);
      at[row] = known.get(value);
    });
    const counts = new Array(known.size).fill(0);
    at.forEach((number) => { counts[number] += 1; });
    return {title: column.title, kind: column.kind, values: [...known.keys()], at, counts, list: values};
  }

  /** The rows of an alignment, and which of them are seen. */
  class Rows {
    constructor(data) {
      this.data = data;
      this.height = data.rows;
      this.outcome = numbered(data.outcome);
      this.document = numbered(data.document);
      this.label = data.label && numbered(data.label);
      this.facets = data.facets.map((facet) => ({...numbered(facet), single: facet.single}));
      const outcomes = new Map(data.outcomes.map((outcome) => [outcome.name, outcome]));
      this.outcomes = this.outcome.values.map((name) => outcomes.get(name));
      // of several systems, each has its own outcome of an item
      this.systems = data.systems && data.systems.map((system) => ({...system, list: unpacked(system.became)}));
      const keys = this.systems ? ["reference", ...data.systems.map(({key}) => key)] : SIDES;
      this.sides = this.systems ? ["reference", ...data.systems.map(({title}) => title)] : SIDES;
      this.cells = data.cells.map((cell) => ({
        ...cell,
        sides: keys.map((side) => cell[side] && unpacked(cell[side])),
        kinds: keys.map((side) => cell[side] && cell[side].kind),
        differs: keys.map((side) => new Set(this.systems ? cell.differs[side] : cell.differs)),
      }));
      this.details = data.details.map((detail) => ({...detail, list: unpacked(detail)}));
      this.texts = null;
      this.chunks = [];
    }

    /** The texts around a row; they are decoded when they are first shown or searched. */
    context(row) {
      const number = this.data.context[row], {chunk, contexts} = this.data;
      if (number === null) return [];
      const at = Math.floor(number / chunk);
      this.chunks[at] = this.chunks[at] || JSON.parse(contexts[at]);
      return this.chunks[at][number % chunk];
    }

    info(row) {
      return this.outcomes[this.outcome.at[row]];
    }

    /** Whether a side has nothing in a row. */
    lacks(row, at) {
      const {kind} = this.info(row);
      if (at === 0) return kind === "extra";
      if (!this.systems) return kind === "missing";
      return this.cells.every(({sides}) => !sides[at] || sides[at][row] === null);
    }

    /** The numbers of the rows that pass the filters, in the order that is wanted. */
    found(state) {
      const wrong = this.outcomes.map((outcome) => ERRORS.has(outcome.kind));
      const chosen = [
        [this.outcome, state.outcome], [this.document, state.document], [this.label, state.label],
        ...this.facets.map((facet, at) => [facet, state.facets[at]]),
      ].filter(([column, value]) => column && value !== null).map(([{at}, value]) => [at, value]);
      const words = state.words.toLowerCase(), texts = words ? this.searched() : null;
      const found = [];
      for (let row = 0; row < this.height; row += 1) {
        if (state.errors && !wrong[this.outcome.at[row]]) continue;
        if (!chosen.every(([at, value]) => at[row] === value)) continue;
        if (texts && !texts[row].includes(words)) continue;
        found.push(row);
      }
      return state.order ? this.sorted(found, state.order) : found;
    }

    /** Rows by a column; what is undefined comes last. */
    sorted(found, {list, down}) {
      const order = (a, b) => (typeof a === "number" ? a - b : collator.compare(a, b));
      return found.sort((one, two) => {
        const a = list[one], b = list[two];
        if (a === null || b === null) return (a === null) - (b === null) || one - two;
        return (down ? order(b, a) : order(a, b)) || one - two;
      });
    }

    /** What is searched of each row, in small letters. */
    searched() {
      if (this.texts) return this.texts;
      this.texts = Array.from({length: this.height}, (_, row) => {
        const sides = this.cells.flatMap((cell) => cell.sides.map((side) => side && side[row]));
        const context = this.context(row).map((parts) => parts.filter((_, at) => at % 2 === 0).join(""));
        return [...sides, this.document.list[row], ...context]
          .flat().filter((value) => value !== null && value !== undefined).join("\n").toLowerCase();
      });
      return this.texts;
    }
  }

  // Cards

  const quiet = (text) => element("span", {class: "unseen"}, text);

  /** A value with what differs of it marked. */
  function marked(text, side) {
    return element("mark", {class: side}, quiet("differs: "), visible(text));
  }

  /** The words of a text, those that the other text lacks at their place marked. */
  function words(text, other, side) {
    const own = text.split(/(\s+)/), kept = common(own.filter(isWord), other.split(/\s+/).filter(Boolean));
    let at = 0;
    const parts = [];
    for (const piece of own) {
      const wrong = isWord(piece) && !kept[at];
      if (isWord(piece)) at += 1;
      parts.push(wrong ? marked(piece, side) : visible(piece));
    }
    return parts;
  }

  const isWord = (piece) => /\S/.test(piece);

  /** Which words are in the longest common subsequence; of very long texts, which occur at all. */
  function common(ours, theirs) {
    if (ours.length > COMPARED || theirs.length > COMPARED) {
      const known = new Set(theirs);
      return ours.map((word) => known.has(word));
    }
    const width = theirs.length + 1, lengths = new Uint16Array((ours.length + 1) * width);
    for (let i = ours.length - 1; i >= 0; i -= 1) {
      for (let j = theirs.length - 1; j >= 0; j -= 1) {
        lengths[i * width + j] = ours[i] === theirs[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
      }
    }
    const kept = new Array(ours.length).fill(false);
    for (let i = 0, j = 0; i < ours.length && j < theirs.length;) {
      if (ours[i] === theirs[j]) { kept[i] = true; i += 1; j += 1; }
      else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return kept;
  }

  /** The value of a side, line by line where it is a list. */
  function value(rows, cell, at, row) {
    const side = at ? "system" : "reference", own = cell.sides[at][row];
    const beside = at ? 0 : rows.systems ? -1 : 1;
    const other = cell.sides[beside] && cell.sides[beside][row];
    if (own === null) return [element("span", {class: "nothing"}, UNDEFINED)];
    const lines = [own].flat(), others = other === null || other === undefined ? null : [other].flat();
    const compared = (rows.systems || rows.info(row).kind === "different") && others;
    return lines.map((line) => {
      const text = element("div", {dir: "auto"});
      if (cell.kind === "words" && compared) text.append(...words(line, others[0] || "", side));
      else if (Array.isArray(own) && compared && !others.includes(line)) text.append(marked(line, side));
      else if (cell.differs[at].has(row)) text.append(marked(shown(line, cell.kinds[at]), side));
      else text.append(shown(line, cell.kinds[at]));
      return text;
    });
  }

  /** Both sides, one above the other. */
  function sides(rows, row) {
    const cells = rows.cells.filter((cell) => cell.sides.some((side) => side && side[row] !== null));
    const head = element("tr", {}, element("td", {}),
      ...cells.map((cell) => element("th", {scope: "col"}, visible(cell.title))));
    const lines = rows.sides.map((side, at) => {
      const own = rows.lacks(row, at)
        ? [element("td", {class: "nothing", colspan: String(cells.length)}, "nothing")]
        : cells.map((cell) => element("td", {}, ...(cell.sides[at] ? value(rows, cell, at, row) : [])));
      const outcome = rows.systems && at ? rows.systems[at - 1].list[row] : "-";
      const became = outcome === "-" ? [] : [element("small", {}, visible(outcome))];
      const head = element("th", {scope: "row"}, element("bdi", {}, visible(side)), " ", ...became);
      return element("tr", {class: at ? "system" : "reference"}, head, ...own);
    });
    return element("table", {class: "sides"},
      element("thead", {}, head), element("tbody", {}, ...lines));
  }

  const MARKS = [null, "reference", "system", "both"];

  function context(rows, row) {
    const texts = rows.context(row);
    return texts.map((parts, at) => {
      const line = element("p", {class: "context", dir: "auto"});
      if (texts.length > 1) line.append(element("b", {}, `${SIDES[at]}: `));
      for (let part = 0; part < parts.length; part += 2) {
        const side = MARKS[parts[part + 1]], text = visible(parts[part]);
        line.append(side ? element("mark", {class: side, title: side}, text) : text);
      }
      return line;
    });
  }

  function card(rows, row) {
    const info = rows.info(row);
    const about = [rows.document, rows.label].filter((column) => column && column.list[row] !== null)
      .map((column) => element("span", {class: "of"}, element("bdi", {}, visible(column.list[row]))));
    const details = rows.details.filter(({list}) => list[row] !== null && list[row] !== "")
      .map(({title, kind, list}) => element("div", {},
        element("dt", {}, visible(title)), element("dd", {dir: "auto"}, shown(list[row], kind))));
    return element("article", {class: `pair ${info.kind}`},
      element("header", {}, element("span", {class: "outcome"}, visible(info.title)), ...about),
      sides(rows, row), ...context(rows, row),
      ...(details.length ? [element("dl", {class: "details"}, ...details)] : []));
  }

  // What is chosen

  function labelled(title, control) {
    const said = visible(title);
    return element("label", {}, `${said.charAt(0).toUpperCase()}${said.slice(1)} `, control);
  }

  const count = (number) => number.toLocaleString("en-US");

  /** A list of the values of a column; long lists are searched as they are written. */
  function chooser(column, choose, {titles, single} = {}) {
    const order = column.values.map((_, at) => at);
    if (!titles) order.sort((a, b) => collator.compare(column.values[a] ?? "", column.values[b] ?? ""));
    const said = (at) => (titles ? titles[at] : shown(column.values[at], column.kind));
    if (order.length > CHOICES) return written(column, choose);
    const list = element("select", {});
    if (!single) list.append(new Option("all", ""));
    for (const at of order) list.append(new Option(`${said(at)} (${count(column.counts[at])})`, at));
    if (single) list.value = "0";
    list.addEventListener("change", () => choose(list.value === "" ? null : Number(list.value)));
    return labelled(column.title, list);
  }

  /** A field for one of many values. */
  function written(column, choose) {
    const known = new Map(column.values.map((value, at) => [String(value), at]));
    const field = element("input", {type: "search", placeholder: `one of ${count(known.size)}`, spellcheck: "false"});
    field.addEventListener("input", () => {
      const text = field.value.trim(), at = known.get(text);
      field.setAttribute("aria-invalid", String(Boolean(text) && at === undefined));
      choose(text && at !== undefined ? at : null);
    });
    return labelled(column.title, field);
  }

  /** What rows can be ordered by, beside the order of the table. */
  function orders(rows) {
    const columns = [rows.document, rows.label, ...rows.facets, ...rows.details].filter(Boolean);
    const seen = new Set();
    const own = columns.filter(({title}) => !seen.has(title) && seen.add(title));
    return own.flatMap(({title, list, kind}) => {
      const numeric = kind === "rate" || kind === "number";
      return [
        {title: `${title} ${numeric ? "↑" : "A–Z"}`, list, down: false},
        ...(numeric ? [{title: `${title} ↓`, list, down: true}] : []),
      ];
    });
  }

  function toolbar(rows, state, changed) {
    const set = (name) => (value) => { state[name] = value; changed(); };
    const keep = (name) => (value) => { state[name] = value; };
    const known = [];
    /** A list of the values of a column that links can set, too. */
    const listed = (column, put, settings) => {
      const label = chooser(column, (value) => { put(value); changed(); }, settings);
      known.push({column, put, control: label.lastChild});
      return label;
    };
    const errors = element("input", {type: "checkbox", role: "switch", class: "errors"});
    errors.addEventListener("change", () => set("errors")(errors.checked));
    const search = element("input", {type: "search", placeholder: "words", spellcheck: "false"});
    let waiting;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => set("words")(search.value.trim()), 200);
    });
    const every = orders(rows), order = element("select", {}, new Option("the table", ""));
    every.forEach(({title}, at) => order.append(new Option(visible(title), at)));
    order.addEventListener("change", () => set("order")(every[Number(order.value)] || null));
    if (order.value !== "") state.order = every[Number(order.value)];
    const facets = rows.facets.map((facet, at) => listed(facet, (value) => { state.facets[at] = value; }, facet));
    const titles = rows.outcomes.map((outcome) => visible(outcome.title));
    const bar = element("div", {class: "choices", role: "group", "aria-label": "Filters of the alignment"},
      element("label", {}, errors, " Errors only"),
      listed({...rows.outcome, title: "outcome"}, keep("outcome"), {titles}),
      ...(rows.label ? [listed(rows.label, keep("label"))] : []),
      ...(rows.document.values.length > 1 ? [listed(rows.document, keep("document"))] : []),
      ...facets, labelled("Search", search),
      ...(every.length ? [labelled("Order by", order)] : []));
    /** Show the rows with some values only, by the titles of their columns. */
    const filter = (values) => {
      [errors.checked, search.value, state.errors, state.words] = [false, "", false, ""];
      for (const {column, put, control} of known) {
        const at = column.title in values ? column.values.indexOf(values[column.title]) : -1;
        if (control.tagName === "SELECT") {
          control.value = at >= 0 ? String(at) : control.options[0].value;
          put(control.value === "" ? null : Number(control.value));
        } else {
          control.value = at >= 0 ? column.values[at] : "";
          put(at >= 0 ? at : null);
        }
      }
      changed();
    };
    return [bar, filter];
  }

  function legend(rows) {
    if (!rows.data.contexts.length) return [];
    const systems = rows.systems ? "systems" : "system";
    const sides = [["reference", "reference only"], ["system", `${systems} only`], ["both", "both"]];
    return [element("p", {class: "intro marks"}, "In the text: ",
      ...sides.flatMap(([side, said]) => [element("mark", {class: side}, said), " "]))];
  }

  Report.kinds.alignment = (host, data) => {
    const rows = new Rows(data);
    const state = {
      errors: false, outcome: null, label: null, document: null, words: "", order: null,
      facets: rows.facets.map((facet) => (facet.single ? 0 : null)),
    };
    let found = rows.found(state);
    const status = element("p", {class: "intro found"}), place = element("div", {});
    const say = () => { status.textContent = `${count(found.length)} of ${count(rows.height)} ${rows.height === 1 ? "row" : "rows"}`; };
    const changed = () => {
      found = rows.found(state);
      say();
      Report.announce(status.textContent);
      if (table.initialized) table.setData(); // what is not built yet asks for rows by itself
    };
    say();
    const pager = element("div", {class: "pager"});
    const [bar, filter] = toolbar(rows, state, changed);
    host.append(bar, ...legend(rows), status, place, pager);
    host.filter = filter;
    const table = new Tabulator(place, {
      columns: [{
        title: data.title, field: "id", headerSort: false, variableHeight: true,
        formatter: (cell) => card(rows, cell.getValue()),
      }],
      layout: "fitColumns",
      headerVisible: false,
      renderVertical: "basic",
      placeholder: "No row passes the filters",
      pagination: true,
      paginationElement: pager,
      paginationMode: "remote",
      paginationSize: PAGE,
      paginationSizeSelector: [10, 20, 50, 100],
      paginationButtonCount: 3,
      // Only the rows of a page are given to the table; nothing is requested.
      ajaxURL: "rows",
      ajaxRequestFunc: (_url, _config, {page, size}) => Promise.resolve({
        data: found.slice((page - 1) * size, page * size).map((id) => ({id})),
        last_page: Math.max(1, Math.ceil(found.length / size)),
        last_row: found.length,
      }),
    });
    place.setAttribute("aria-label", data.title);
    table.on("tableBuilt", () => Tables.describe(place, found.length));
    host.table = table;
    Tables.onPaper(host, () => {
      const some = found.slice(0, PRINTED), left = found.length - some.length;
      const note = left > 0 ? [element("p", {}, `The first ${PRINTED} of ${count(found.length)} rows.`)] : [];
      return element("div", {class: "paper pairs"}, ...note, ...some.map((row) => card(rows, row)));
    });
  };
})();
