"use strict";
// Values of columns: unpacking, and how people read them.
const Values = (() => {
  // What moves the cursor, reorders or breaks lines; people see its number instead.
  const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const UNDEFINED = "–";

  function visible(text) {
    return String(text)
      .replace(/\t/g, "→").replace(/\n/g, "↵")
      .replace(INVISIBLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }

  /** The values of a packed column, one per row. */
  function unpacked(column) {
    if (column.values) return column.values;
    return column.at.map((at) => (at === null ? null : column.words[at]));
  }

  function shown(value, kind) {
    if (value === null || value === undefined) return UNDEFINED;
    if (kind === "figure") return value;
    if (Array.isArray(value)) return visible(value.join(", "));
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "number") return number(value, kind);
    return visible(value);
  }

  function number(value, kind) {
    if (kind === "rate") return value.toFixed(4);
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    return String(Number(value.toFixed(4)));
  }

  const isNumeric = (column) => ["rate", "number", "figure"].includes(column.kind);

  /** Rows as objects whose fields are the numbers of the columns. */
  function rows(columns) {
    const every = columns.map(unpacked), height = every.length ? every[0].length : 0;
    const made = new Array(height);
    for (let row = 0; row < height; row += 1) {
      const object = {id: row};
      for (let column = 0; column < every.length; column += 1) {
        object[`c${column}`] = every[column][row];
      }
      made[row] = object;
    }
    return made;
  }

  /** A test of numbers from what a user writes: >0.5, <=3, 0.2..0.5, or the number itself. */
  function numberTest(written) {
    const text = written.trim().replace(/,/g, ""), range = text.split("..");
    if (range.length === 2) {
      const low = range[0].trim() === "" ? -Infinity : Number(range[0]);
      const high = range[1].trim() === "" ? Infinity : Number(range[1]);
      return (value) => value !== null && value >= low && value <= high;
    }
    const found = /^(>=|<=|>|<|=)?\s*(.+)$/.exec(text);
    if (!found) return () => true;
    if (found[2] === UNDEFINED || found[2] === "-") return (value) => value === null;
    const limit = Number(found[2]);
    const tests = {
      ">": (v) => v > limit, "<": (v) => v < limit,
      ">=": (v) => v >= limit, "<=": (v) => v <= limit, "=": (v) => v === limit,
    };
    const test = tests[found[1]];
    if (test) return (value) => value !== null && test(value);
    return (value) => value !== null && (value === limit || String(value).startsWith(found[2])
      || value.toFixed(4).startsWith(found[2]));
  }

  return {visible, unpacked, shown, isNumeric, rows, numberTest, UNDEFINED};
})();
