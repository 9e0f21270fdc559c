"use strict";
// Curves and dots (Observable Plot): SVG whose colours follow the page, each with its values as a table.
//
// All charts have one style: the title of an axis is below its numbers, marks are named where they are, and
// no two things have one colour. Room for names follows the number of their characters, not the font, so
// that a chart is the same everywhere.
const Charts = (() => {
  const {element} = Report;
  const COLOURS = Array.from({length: 8}, (_, at) => `var(--series-${at + 1})`), GREY = "var(--context)";
  const MOST_ROWS = 40, DOTS = 200, NAMED = 40, ROW = 24, LANE = 12, CELL = 6.8, BOLD = 7.8, ALL = "all";
  const NARROW = 480;

  const width = (host) => Math.max(260, Math.min(host.clientWidth || 680, 880));
  const WIDE = [[/[^\u0000-\u10ff]/u, 2], [/[mwMW@%]/, 1.6], [/[A-Z]/, 1.25], [/./su, 1]];
  const wideness = (letter) => WIDE.find(([letters]) => letters.test(letter))[1];
  const cells = (text) => [...text].reduce((sum, letter) => sum + wideness(letter), 0);

  /** A name in so many cells: a long one loses its middle. */
  function fitted(name, most) {
    const letters = [...Values.visible(name)];
    if (cells(letters.join("")) <= most) return letters.join("");
    const half = Math.max(1, Math.floor((most - 1) / 2));
    const part = (of) => {
      let taken = 0;
      return of.filter((letter) => (taken += cells(letter)) <= half);
    };
    return `${part(letters).join("")}…${part(letters.reverse()).reverse().join("")}`;
  }

  /** Draw again where the width changes. */
  function responsive(host, draw) {
    let last = 0;
    const observer = new ResizeObserver(() => {
      if (host.clientWidth && Math.abs(host.clientWidth - last) > 8) {
        last = host.clientWidth;
        draw();
      }
    });
    last = host.clientWidth;
    draw();
    observer.observe(host);
  }

  /** A table of the values of a chart, made when somebody opens it. */
  function values(host, title, columns) {
    const details = element("details", {class: "values"}, element("summary", {}, "Values as a table"));
    const inner = element("div", {class: "host"});
    details.append(inner);
    details.addEventListener("toggle", () => {
      if (details.open && !inner.table) Tables.draw(inner, {title, pageSize: 10, columns});
    });
    host.append(details);
    return details;
  }

  /** An axis of values: its title is in the middle below the numbers, which are as many as fit. */
  function axis(title, size, rates) {
    return {
      label: fitted(title, Math.floor(size / CELL)), labelAnchor: "center", labelArrow: "none", labelOffset: 36,
      grid: true, ticks: size < NARROW / 2 ? 3 : 5, ...(rates ? {domain: [0, 1]} : {}),
    };
  }

  /** Draw a chart as one image with a label; its values are in the table. */
  function plot(place, options) {
    place.replaceChildren(Plot.plot({marginTop: 26, marginBottom: 46, ...options}));
    place.querySelector("svg").setAttribute("role", "img");
    place.querySelectorAll("g[aria-label]").forEach((g) => g.removeAttribute("aria-label"));
  }

  function choice(label, options, change) {
    const list = element("select", {}, ...options.map((name) => new Option(Values.visible(name), name)));
    list.addEventListener("change", () => change(list.value));
    return [element("label", {}, `${label} `, list), list];
  }

  // Curves

  function points(line) {
    const columns = line.columns.map((column) => ({...column, all: Values.unpacked(column)}));
    return columns[0].all.map((_, row) => ({
      line: line.name,
      x: columns[0].all[row],
      y: columns[1].all[row],
      label: [...columns.map((c) => `${c.title} ${Values.shown(c.all[row], c.kind)}`)].join("\n"),
    }));
  }

  /** Curves in one diagram: the first have a colour each, and all others are grey until one is chosen. */
  function curves(host, data) {
    const place = element("div", {class: "chart"}), note = element("p", {class: "intro"});
    const every = data.lines.map(points), names = data.lines.map((line) => line.name);
    const many = names.length > 1, coloured = new Map(names.map((name, at) => [name, COLOURS[at] || GREY]));
    let chosen = ALL;
    const color = (name) => {
      if (chosen !== ALL) return name === chosen ? COLOURS[0] : GREY;
      return coloured.get(name);
    };
    const draw = () => {
      // What is grey is below what has a colour.
      const lines = every.filter((line) => line.length).sort((a, b) => (color(b[0].line) === GREY) - (color(a[0].line) === GREY));
      diagram(place, data, lines, color, {many, size: width(host)});
    };
    if (many) {
      const [label] = choice("Curve", [ALL, ...names], (name) => { chosen = name; draw(); });
      host.append(element("div", {class: "choices"}, label));
      if (names.length > COLOURS.length) {
        note.textContent = `The first ${COLOURS.length} of ${names.length} curves have colours; choose another one to see it.`;
      }
    }
    host.append(place, note);
    responsive(host, draw);
    values(host, `${data.title}: points`, pointColumns(data.lines, many));
  }

  function diagram(place, data, lines, color, {many, size}) {
    const drawn = lines.flat(), coloured = drawn.filter((d) => color(d.line) !== GREY);
    const ends = lines.map((line) => line.at(-1));
    const named = !many ? [] : ends.length > NAMED ? ends.filter((d) => color(d.line) !== GREY) : ends;
    const right = many ? Math.min(size * 0.32, 22 + BOLD * Math.ceil(Math.max(0, ...named.map((d) => cells(Values.visible(d.line)))))) : 16;
    const wide = Math.min(size, 520 + right), left = 44;
    const height = Math.max(Math.round((wide - left - right) * 0.75), 15 * named.length) + 72;
    const last = data.rates ? 1 : Math.max(...drawn.map((d) => d.x));
    const labels = apart(named, 15 / (height - 72)).map((d) => ({
      ...d, last, text: fitted(d.line, Math.floor((right - 14) / BOLD)), color: color(d.line),
    }));
    const rest = {fill: "var(--ground)", stroke: "var(--rule)"};
    plot(place, {
      ariaLabel: `${data.title}: ${data.axes[1]} by ${data.axes[0]}, ${drawn.length} points`,
      width: wide, height, marginLeft: left, marginRight: right,
      x: axis(data.axes[0], wide - left - right, data.rates),
      y: {label: data.axes[1], labelArrow: "none", grid: true, domain: [0, 1], ticks: 5},
      marks: [
        Plot.ruleX([0]), Plot.ruleY([0]),
        Plot.link(labels, {x1: "x", y1: "y", x2: "last", y2: "at", stroke: "color", strokeOpacity: 0.5, strokeDasharray: "1,3"}),
        Plot.line(drawn, {x: "x", y: "y", z: "line", stroke: (d) => color(d.line), strokeWidth: (d) => (color(d.line) === GREY ? 1 : 2)}),
        coloured.length <= DOTS ? Plot.dot(coloured, {x: "x", y: "y", fill: (d) => color(d.line), r: 3}) : null,
        Plot.text(labels, {
          frameAnchor: "right", y: "at", text: "text", dx: 8, textAnchor: "start", fontWeight: 600,
          // Colours are for lines: words need more contrast.
          fill: (d) => (d.color === GREY ? "var(--muted)" : `color-mix(in srgb, ${d.color} 65%, var(--ink))`),
        }),
        Plot.dot(drawn, Plot.pointer({x: "x", y: "y", stroke: "var(--ink)", r: 5})),
        Plot.tip(drawn, Plot.pointer({
          x: "x", y: "y", ...rest, title: (d) => (many ? `${Values.visible(d.line)}\n` : "") + d.label,
        })),
      ],
    });
  }

  /** Where the names of curves are at the right: at their ends, but not one above another. */
  function apart(ends, gap) {
    const sorted = ends.map((end) => ({...end, at: end.y})).sort((a, b) => b.at - a.at);
    sorted.forEach((own, at) => { own.at = Math.min(own.at, at ? sorted[at - 1].at - gap : 1); });
    for (let at = sorted.length - 1, least = 0; at >= 0; at -= 1, least += gap) {
      sorted[at].at = Math.max(sorted[at].at, least);
    }
    return sorted;
  }

  /** The points of all curves as columns, with the name of the curve if there are several. */
  function pointColumns(lines, many) {
    const joined = lines[0].columns.map((column, at) => ({
      ...column, words: undefined, at: undefined,
      values: lines.flatMap((line) => Values.unpacked(line.columns[at])),
    }));
    const name = {
      name: "curve", title: "curve", kind: "text",
      values: lines.flatMap((line) => Values.unpacked(line.columns[0]).map(() => line.name)),
    };
    return many ? [name, ...joined] : joined;
  }

  // Dots

  const ORDERS = {
    "as listed": (rows) => rows,
    "highest first": (rows) => [...rows].sort((a, b) => b.value - a.value),
    "lowest first": (rows) => [...rows].sort((a, b) => a.value - b.value),
  };

  /** The values of a measure: items without one are counted below, not drawn as 0. */
  function dots(host, data) {
    const byName = new Map(data.breakdowns.map((each) => [each.name, each]));
    const chosen = {breakdown: data.breakdowns[0], measure: "", order: "as listed"};
    const place = element("div", {class: "chart"}), note = element("p", {class: "intro"});
    const measures = element("span", {});
    const redraw = () => drawDots(place, note, chosen, width(host));
    const [ordering, orders] = choice("Order", Object.keys(ORDERS), (o) => { chosen.order = o; redraw(); });
    const [of] = choice("By", [...byName.keys()], (name) => choose(name));
    const choose = (name) => {
      chosen.breakdown = byName.get(name);
      const names = Object.keys(chosen.breakdown.measures);
      chosen.measure = names.includes(chosen.measure) ? chosen.measure : names[0];
      const [label, list] = choice("Measure", names, (m) => { chosen.measure = m; redraw(); });
      list.value = chosen.measure;
      measures.replaceChildren(...(names.length > 1 ? [label] : []));
      chosen.order = !data.ordered && chosen.breakdown.items.length > MOST_ROWS ? "lowest first" : chosen.order;
      orders.value = chosen.order;
      redraw();
    };
    const chooses = data.breakdowns.length > 1;
    host.append(...(data.ordered ? [] : [element("div", {class: "choices"}, ...(chooses ? [of] : []), measures, ordering)]), place, note);
    choose(chosen.breakdown.name);
    responsive(host, redraw);
  }

  function drawDots(place, note, {breakdown, measure, order}, size) {
    const values_ = breakdown.measures[measure], limits = breakdown.intervals[measure] || [];
    const rate = breakdown.rates.includes(measure);
    const kind = values_.every((value) => value === null || Number.isInteger(value)) && !rate ? "number" : "rate";
    const rows = breakdown.items.map((item, at) => ({
      item, at, value: values_[at], low: (limits[at] || [])[0], high: (limits[at] || [])[1],
    }));
    const defined = ORDERS[order](rows.filter((row) => row.value !== null));
    const shown = defined.slice(0, MOST_ROWS), bounded = shown.filter((d) => d.low !== undefined);
    const between = (d) => (d.low === undefined ? "" : ` [${Values.shown(d.low, kind)}, ${Values.shown(d.high, kind)}]`);
    const texts = shown.map((d) => Values.shown(d.value, kind) + (size < NARROW ? "" : between(d)));
    const label = `${Values.visible(measure)} by ${Values.visible(breakdown.name)}`;
    const longest = (names) => Math.ceil(Math.max(4, ...names.map(cells)));
    const left = Math.min(size * 0.38, 14 + CELL * longest(shown.map((d) => nameOf(d.item))));
    const groups = order === "as listed" ? lanes(breakdown.groups, shown.map((d) => d.at)) : [];
    const beside = (groups.length ? 24 : 18) + CELL * longest(texts), right = beside + LANE * (1 + Math.max(-1, ...groups.map((g) => g.lane)));
    const [all, [low, high] = []] = (breakdown.overall[measure] || []).map((each) => each ?? undefined);
    plot(place, {
      ariaLabel: `${label}: ${shown.length} values`,
      width: size, height: 72 + ROW * Math.max(1, shown.length), marginLeft: left, marginRight: right,
      x: {...axis(measure, size - left - right, rate), nice: !rate},
      y: {
        type: "band", label: null, domain: shown.map((d) => d.at), tickSize: 0, grid: true,
        tickFormat: (at) => fitted(nameOf(breakdown.items[at]), (left - 10) / CELL),
      },
      marks: [
        all === undefined ? null : [
          low === undefined ? null : Plot.rect([0], {x1: low, x2: high, fill: "var(--muted)", fillOpacity: 0.13}),
          Plot.ruleX([all], {stroke: "var(--muted)", strokeDasharray: "4,3"}),
          Plot.text([all], {x: (d) => d, frameAnchor: "top", dy: -12, text: (d) => `all ${Values.shown(d, kind)}`, fill: "var(--muted)"}),
        ],
        rate ? Plot.ruleX([0]) : Plot.ruleX([0], {stroke: "var(--rule)"}),
        Plot.ruleY(bounded, {x1: "low", x2: "high", y: "at", stroke: COLOURS[0], strokeWidth: 4, strokeOpacity: 0.4}),
        Plot.dot(shown, {x: "value", y: "at", fill: COLOURS[0], r: 4.5}),
        Plot.text(shown, {frameAnchor: "right", y: "at", dx: 10, textAnchor: "start", text: (_, at) => texts[at], fill: "var(--ink)"}),
        groups.length ? brackets(groups, beside) : null,
        Plot.tip(shown, Plot.pointerY({
          x: "value", y: "at", fill: "var(--ground)", stroke: "var(--rule)",
          title: (d) => `${nameOf(d.item)}\n${Values.visible(measure)} ${Values.shown(d.value, kind)}${between(d)}`,
        })),
      ],
    });
    note.textContent = remarks(rows.length, defined.length, shown.length, order);
    values(place, label, [
      {name: "item", title: breakdown.name, kind: "text", values: breakdown.items},
      {name: "value", title: measure, kind, values: values_},
      ...(limits.length ? [0, 1].map((end) => ({
        name: `end${end}`, title: ["low", "high"][end], kind, values: limits.map((each) => (each ? each[end] : null)),
      })) : []),
    ]);
  }

  /** Groups of rows that are drawn, each in a lane where it overlaps no other. */
  function lanes(groups, rows) {
    const ends = [];
    return groups.filter(([first, last]) => rows.includes(first) && rows.includes(last)).map(([first, last]) => {
      const free = ends.findIndex((end) => end < first), lane = free < 0 ? ends.length : free;
      ends[lane] = last;
      return {first, last, lane};
    });
  }

  /** A mark: brackets at the right of the numbers, from the first row of a group to the last. */
  function brackets(groups, beside) {
    return (_index, {y}, _values, {width: size, marginRight}) => {
      const inset = y.bandwidth() / 4, all = d3.create("svg:g").attr("class", "brackets");
      for (const {first, last, lane} of groups) {
        const x = size - marginRight + beside + LANE * lane, top = y(first) + inset, end = y(last) + 3 * inset;
        all.append("path").attr("d", `M${x - 5},${top}H${x}V${end}H${x - 5}`)
          .attr("fill", "none").attr("stroke", "var(--ink)").attr("stroke-width", 1.5);
      }
      return all.node();
    };
  }

  /** The name of a row: no row is without one. */
  const nameOf = (item) => (item === null || item === "" ? "(no name)" : Values.visible(item));

  function remarks(all, defined, shown, order) {
    const parts = [];
    if (shown < defined) parts.push(`${shown} of ${defined} rows are shown, ${order}.`);
    if (defined < all) parts.push(`Undefined for ${all - defined} of ${all}.`);
    return parts.join(" ");
  }

  Report.kinds.curves = curves;
  Report.kinds.dots = dots;
  return {responsive, values};
})();
