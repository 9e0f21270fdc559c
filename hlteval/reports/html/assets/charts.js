"use strict";
// Curves and bars (Observable Plot): SVG whose colours follow the page, each with its values as a table.
const Charts = (() => {
  const {element} = Report;
  const COLOURS = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)",
    "var(--series-5)", "var(--series-6)", "var(--series-7)", "var(--series-8)"];
  const MOST_BARS = 40, DOTS = 200, LONG = 34;

  const width = (host) => Math.max(260, Math.min(host.clientWidth || 680, 880));
  const shortened = (name) => {
    const text = Values.visible(name);
    return text.length > LONG ? `${text.slice(0, LONG / 2)}…${text.slice(-LONG / 2)}` : text;
  };

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

  /** A chart is one image with a label; its values are in the table. */
  function asImage(place) {
    place.querySelector("svg").setAttribute("role", "img");
    place.querySelectorAll("g[aria-label]").forEach((g) => g.removeAttribute("aria-label"));
  }

  function points(line) {
    const columns = line.columns.map((column) => ({...column, all: Values.unpacked(column)}));
    return columns[0].all.map((_, row) => ({
      line: line.name,
      x: columns[0].all[row],
      y: columns[1].all[row],
      label: [...columns.map((c) => `${c.title} ${Values.shown(c.all[row], c.kind)}`)].join("\n"),
    }));
  }

  function curves(host, data) {
    const place = element("div", {class: "chart"});
    const every = data.lines.map(points), names = data.lines.map((line) => line.name);
    const many = names.length > 1;
    const color = (name) => COLOURS[names.indexOf(name) % COLOURS.length];
    let chosen = ALL;
    const draw = () => {
      const drawn = every.filter((_, at) => chosen === ALL || names[at] === chosen).flat();
      place.replaceChildren(diagram(data, drawn, {color, many, size: Math.min(width(host), 560)}));
      asImage(place);
    };
    if (many) {
      const [label] = choice("Curve", [ALL, ...names], (name) => { chosen = name; draw(); });
      host.append(element("div", {class: "choices"}, label));
    }
    host.append(place);
    responsive(host, draw);
    if (many) legend(host, names, color);
    values(host, `${data.title}: points`, pointColumns(data.lines, many));
  }

  const ALL = "all";

  function diagram(data, drawn, {color, many, size}) {
    const unit = data.rates ? {domain: [0, 1]} : {};
    return Plot.plot({
      ariaLabel: `${data.title}: ${data.axes[1]} by ${data.axes[0]}, ${drawn.length} points`,
      width: size,
      height: Math.round(size * 0.72),
      marginLeft: 48,
      marginBottom: 40,
      x: {label: data.axes[0], grid: true, ...unit},
      y: {label: data.axes[1], grid: true, domain: [0, 1]},
      marks: [
        Plot.ruleX([0]), Plot.ruleY([0]),
        Plot.line(drawn, {x: "x", y: "y", z: "line", stroke: (d) => color(d.line), strokeWidth: 2}),
        drawn.length <= DOTS
          ? Plot.dot(drawn, {x: "x", y: "y", fill: (d) => color(d.line), r: 3}) : null,
        Plot.dot(drawn, Plot.pointer({x: "x", y: "y", stroke: "var(--ink)", r: 5})),
        Plot.tip(drawn, Plot.pointer({
          x: "x", y: "y", title: (d) => (many ? `${Values.visible(d.line)}\n` : "") + d.label,
        })),
      ],
    });
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

  function legend(host, names, color) {
    const items = names.map((name) => {
      const swatch = element("span", {class: "swatch", "aria-hidden": "true"});
      swatch.style.background = color(name);
      return element("li", {}, swatch, element("bdi", {}, Values.visible(name)));
    });
    host.append(element("ul", {class: "legend"}, ...items));
  }

  function choice(label, options, change) {
    const list = element("select", {}, ...options.map((name) => new Option(Values.visible(name), name)));
    list.addEventListener("change", () => change(list.value));
    return [element("label", {}, `${label} `, list), list];
  }

  const ORDERS = {
    "as listed": (rows) => rows,
    "highest first": (rows) => [...rows].sort((a, b) => b.value - a.value),
    "lowest first": (rows) => [...rows].sort((a, b) => a.value - b.value),
  };

  /** The bars of a measure: items without a value are named below, not drawn as 0. */
  function bars(host, data) {
    const byName = new Map(data.breakdowns.map((each) => [each.name, each]));
    const chosen = {breakdown: data.breakdowns[0], measure: "", order: "as listed"};
    const place = element("div", {class: "chart"}), note = element("p", {class: "intro"});
    const measures = element("span", {});
    const redraw = () => drawBars(place, note, chosen, host);
    const choose = (name) => {
      chosen.breakdown = byName.get(name);
      const names = Object.keys(chosen.breakdown.measures);
      chosen.measure = names.includes(chosen.measure) ? chosen.measure : names[0];
      const [label, list] = choice("Measure", names, (m) => { chosen.measure = m; redraw(); });
      list.value = chosen.measure;
      measures.replaceChildren(label);
      chosen.order = chosen.breakdown.items.length > MOST_BARS ? "lowest first" : chosen.order;
      orders.value = chosen.order;
      redraw();
    };
    const [ordering, orders] = choice("Order", Object.keys(ORDERS), (o) => { chosen.order = o; redraw(); });
    const [of] = choice("By", [...byName.keys()], choose);
    host.append(element("div", {class: "choices"}, of, measures, ordering), place, note);
    choose(chosen.breakdown.name);
    responsive(host, redraw);
  }

  function drawBars(place, note, {breakdown, measure, order}, host) {
    const values_ = breakdown.measures[measure], limits = breakdown.intervals[measure] || [];
    const rate = breakdown.rates.includes(measure), kind = rate ? "rate" : "number";
    const rows = breakdown.items.map((item, at) => ({
      item, at, value: values_[at], low: (limits[at] || [])[0], high: (limits[at] || [])[1],
    }));
    const defined = ORDERS[order](rows.filter((row) => row.value !== null));
    const shown = defined.slice(0, MOST_BARS);
    const between = (d) => (d.low === undefined ? ""
      : ` [${Values.shown(d.low, kind)}, ${Values.shown(d.high, kind)}]`);
    const label = `${Values.visible(measure)} by ${Values.visible(breakdown.name)}`;
    const size = width(host), names = shown.map((d) => shortened(d.item));
    const margin = Math.min(size * 0.42, 24 + 7.2 * Math.max(4, ...names.map((n) => n.length)));
    place.replaceChildren(Plot.plot({
      ariaLabel: `${label}: ${shown.length} bars`,
      width: size,
      marginLeft: margin,
      marginRight: 64,
      height: 44 + 24 * Math.max(1, shown.length),
      x: {label: Values.visible(measure), grid: true, ...(rate ? {domain: [0, 1]} : {}), nice: !rate},
      y: {label: null, domain: shown.map((d) => d.at), tickFormat: (at) => shortened(breakdown.items[at])},
      marks: [
        Plot.barX(shown, {x: "value", y: "at", fill: "var(--series-1)", insetTop: 3, insetBottom: 3}),
        Plot.link(shown.filter((d) => d.low !== undefined), {
          x1: "low", x2: "high", y: "at", stroke: "var(--ink)", strokeWidth: 1.5,
        }),
        Plot.text(shown, {
          x: (d) => Math.max(d.value, d.high ?? d.value), y: "at", dx: 6, textAnchor: "start",
          text: (d) => Values.shown(d.value, kind), fill: "var(--ink)",
        }),
        Plot.ruleX([0]),
        Plot.tip(shown, Plot.pointerY({
          x: "value", y: "at",
          title: (d) => `${Values.visible(d.item)}\n${Values.visible(measure)} `
            + Values.shown(d.value, kind) + between(d),
        })),
      ],
    }));
    asImage(place);
    note.textContent = remarks(rows.length, defined.length, shown.length, order);
    place.querySelectorAll("details").forEach((old) => old.remove());
    const paired = [
      {name: "item", title: breakdown.name, kind: "text", values: breakdown.items},
      {name: "value", title: measure, kind, values: values_},
    ];
    values(place, label, paired);
  }

  function remarks(all, defined, shown, order) {
    const parts = [];
    if (shown < defined) parts.push(`${shown} of ${defined} bars are shown, ${order}.`);
    if (defined < all) parts.push(`Undefined for ${all - defined} of ${all}.`);
    return parts.join(" ");
  }

  Report.kinds.curves = curves;
  Report.kinds.bars = bars;
  return {responsive, values};
})();
