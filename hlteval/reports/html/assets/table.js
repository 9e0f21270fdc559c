"use strict";
// Tables that sort, filter and page (Tabulator); all cells and headers are text, never HTML.
const Tables = (() => {
  const {element} = Report;
  const CHOICES = 40, PRINTED = 200, FILTERED = 8, DELAY = 200, WORD = 32;

  function heading(column) {
    return (_cell, _params, onRendered) => {
      const button = element("button", {type: "button", class: "sort", title: column.meaning});
      button.textContent = Values.visible(column.title);
      return button;
    };
  }

  function cell(column, links) {
    return (cellComponent) => {
      const value = cellComponent.getValue();
      const text = element("span", {class: "cell", dir: "auto"});
      text.textContent = Values.shown(value, column.kind);
      const file = links ? links[cellComponent.getData().id] : column.kind === "link" && value;
      if (!file) return text;
      const link = element("a", {href: encodeURI(file)});
      link.append(text);
      return link;
    };
  }

  /** A number with a bar before it: all bars of a column are parts of 1, or of its largest number. */
  function bar(column) {
    const all = Values.unpacked(column).filter((value) => value !== null);
    const most = column.kind === "rate" ? Math.max(1, ...all) : Math.max(...all);
    return (cellComponent) => {
      const value = cellComponent.getValue();
      const text = element("span", {class: "cell"}, Values.shown(value, column.kind));
      const share = value === null || !(most > 0) ? 0 : Math.max(0, value / most);
      const track = element("span", {class: "track", "aria-hidden": "true"}, element("span", {}));
      track.firstChild.style.width = `${100 * share}%`;
      return element("span", {class: "barred"}, track, text);
    };
  }

  /** A switch that shows the columns with details. */
  function detailed(table, title, fields) {
    const box = element("input", {type: "checkbox"});
    box.addEventListener("change", () => {
      fields.forEach((field) => (box.checked ? table.showColumn(field) : table.hideColumn(field)));
      table.redraw(true);
    });
    return element("div", {class: "choices"}, element("label", {}, box, ` ${title}`));
  }

  /** Numbers by value and texts by character; what is undefined comes last. */
  function sorter(column) {
    const order = Values.isNumeric(column)
      ? (a, b) => Number(a) - Number(b)
      : (a, b) => collator.compare(text(a), text(b));
    return (a, b, _aRow, _bRow, _column, direction) => {
      if (a === null || b === null) {
        const last = (a === null) - (b === null);
        return direction === "desc" ? -last : last;
      }
      return order(a, b);
    };
  }

  const collator = new Intl.Collator("en", {numeric: true});
  const text = (value) => (Array.isArray(value) ? value.join(", ") : String(value));

  /** A filter below a header: a list of a few values, or a field for text or limits. */
  function filter(column, choices) {
    const label = `Filter ${column.title}`;
    if (!choices) {
      const numeric = Values.isNumeric(column);
      return {
        headerFilter: (_cell, _onRendered, success) => {
          const field = element("input", {
            type: "text", "aria-label": label, spellcheck: "false",
          });
          let waiting;
          field.addEventListener("input", () => {
            clearTimeout(waiting);
            waiting = setTimeout(() => success(field.value), DELAY);
          });
          return field;
        },
        headerFilterPlaceholder: numeric ? ">0.5" : "filter",
        headerFilterFunc: numeric ? numbers() : contains,
        headerFilterLiveFilter: false,
      };
    }
    return {
      headerFilter: (_cell, _onRendered, success) => {
        const list = element("select", {"aria-label": label}, new Option("all", ""));
        choices.forEach((value, at) => {
          list.append(new Option(Values.shown(value, column.kind), String(at + 1)));
        });
        list.addEventListener("change", () => success(list.value));
        return list;
      },
      headerFilterFunc: (at, value) => text(value) === text(choices[at - 1]),
      headerFilterEmptyCheck: (value) => !value,
      headerFilterLiveFilter: false,
    };
  }

  const contains = (written, value) => value !== null
    && text(value).toLowerCase().includes(written.toLowerCase());

  /** What is written is understood once, not for every row. */
  function numbers() {
    let known, test;
    return (written, value) => {
      if (written !== known) [known, test] = [written, Values.numberTest(written)];
      return test(value === null ? null : Number(value));
    };
  }

  /** The values of a column, if they are few. */
  function choices(column, height) {
    if (column.kind !== "text") return null;
    const few = column.words || column.values;
    const values = [...new Set(few)].filter((value) => value !== null).sort(collator.compare);
    const repeated = values.length < height && values.length > 1;
    return repeated && values.length <= CHOICES && values.every((v) => text(v).length < WORD)
      ? values : null;
  }

  /** Whether a column has sentences, which need some room. */
  function isLong(column) {
    if (column.kind !== "text" && column.kind !== "list") return false;
    return (column.words || column.values).some((value) => value !== null && text(value).length > WORD);
  }

  function definition(column, at, height, links) {
    const numeric = Values.isNumeric(column);
    return {
      title: column.title,
      field: `c${at}`,
      titleFormatter: heading(column),
      formatter: cell(column, links),
      sorter: sorter(column),
      hozAlign: numeric ? "right" : "left",
      headerHozAlign: numeric ? "right" : "left",
      headerSortTristate: true,
      minWidth: isLong(column) ? 200 : 72,
      maxInitialWidth: 420,
      resizable: "header",
      ...(column.kind === "text" || column.kind === "list"
        ? {variableHeight: true, cssClass: "long"} : {}),
      ...(height >= FILTERED ? filter(column, choices(column, height)) : {}),
    };
  }

  /** A plain table of the rows that are shown first, for printers. */
  function printed(active, columns, title) {
    const head = element("tr", {}, ...columns.map((c) => element("th", {scope: "col"}, c.title)));
    const body = active.slice(0, PRINTED).map((row) => element("tr", {}, ...columns.map((c, at) => {
      const numeric = Values.isNumeric(c) ? "number" : "";
      return element("td", {class: numeric}, Values.shown(row[`c${at}`], c.kind));
    })));
    const left = active.length - body.length;
    const caption = left > 0 ? `${title} (the first ${PRINTED} of ${active.length} rows)` : title;
    return element("table", {class: "paper"}, element("caption", {class: left > 0 ? "" : "known"}, caption),
      element("thead", {}, head), element("tbody", {}, ...body));
  }

  /** Shows which rows a page has, in the first element of the pager. */
  function counted(pager) {
    const place = element("span", {class: "counter"});
    pager.append(place);
    return (size, first, _page, all) => {
      const last = Math.min(first + size - 1, all), shown = (n) => Values.shown(n, "number");
      place.textContent = all ? `${shown(first)}-${shown(last)} of ${shown(all)} ${all === 1 ? "row" : "rows"}` : "0 rows";
      return "";
    };
  }

  /**
   * Draw a table.
   *
   * options: `rows`, objects to show in place of those of the columns; `settings`, of Tabulator;
   * `columns`, changes to the definition of each column by its name.
   */
  function draw(host, data, options = {}) {
    const rows = options.rows || Values.rows(data.columns);
    const paged = rows.length > data.pageSize;
    const place = element("div", {}), pager = element("div", {class: "pager"});
    const details = data.columns.flatMap((column, at) => ((data.details || []).includes(column.name) ? [`c${at}`] : []));
    const shown = data.columns.filter((_, at) => !details.includes(`c${at}`)), barred = data.bars || [];
    const room = Math.min(220, Math.max(130, (host.clientWidth - 90 * shown.length) / Math.max(1, barred.length)));
    host.append(place, ...(paged ? [pager] : []));
    const table = new Tabulator(place, {
      data: rows,
      columns: data.columns.map((column, at) => ({
        ...definition(column, at, rows.length, (data.links || {})[column.name]),
        ...(barred.includes(column.name) ? {formatter: bar(column), minWidth: room} : {}),
        ...(details.includes(`c${at}`) ? {visible: false} : {}),
        ...(options.columns || {})[column.name],
      })),
      layout: Values.isNumeric(shown.at(-1)) ? "fitDataTable" : "fitDataStretch",
      renderHorizontal: data.columns.length > 30 ? "virtual" : "basic",
      placeholder: rows.length ? "No row passes the filters" : "No rows",
      headerSortElement: "<span class='arrow' aria-hidden='true'></span>",
      pagination: paged,
      paginationSize: data.pageSize,
      paginationSizeSelector: [10, 25, 50, 100, 500],
      paginationCounter: paged ? counted(pager) : undefined,
      paginationElement: paged ? pager : undefined, // beside the grid, which has rows only
      paginationButtonCount: 3,
      ...options.settings,
    });
    place.setAttribute("aria-label", data.title);
    if (details.length) place.before(detailed(table, data.detailsTitle, details));
    host.active = () => rows; // until it is built, which printing does not wait for
    table.on("tableBuilt", () => {
      describe(place, rows.length);
      host.active = () => table.getData("active");
    });
    table.on("dataFiltered", (filters, found) => {
      if (filters.length) Report.announce(`${found.length} of ${rows.length} ${rows.length === 1 ? "row" : "rows"}`);
    });
    Report.onPaper(host, () => printed(host.active(), data.columns, data.title));
    host.table = table;
    return table;
  }

  /** The roles of the parts: a grid of a header and rows. */
  function describe(place, height) {
    place.setAttribute("aria-rowcount", height + 1);
    place.removeAttribute("aria-owns");
    place.querySelector(".tabulator-tableholder").setAttribute("role", "rowgroup");
    place.querySelector(".tabulator-table").setAttribute("role", "presentation");
  }

  Report.kinds.table = (host, data) => draw(host, data);
  return {draw, onPaper: Report.onPaper, describe};
})();
