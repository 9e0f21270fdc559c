"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const JOBS = `${location.pathname}jobs`;
  const PAUSE = 400; // milliseconds between two looks at a job
  const PHASES = {
    starting: "Waiting for other jobs", checking: "Checking", fixing: "Trying corrections",
    scoring: "Scoring", comparing: "Comparing",
  };
  const chosen = new Map(); // name of the input → list of {name, file}
  let job = "", stopping = null;

  /* Elements: texts are only ever texts. */

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element && name !== "form") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const task = () => data.tasks.find((each) => each.name === $("task").value);

  /* Files: several, a folder, an archive; chosen or dropped. */

  function zone(name, title, help, how = "Drop files, a folder or an archive here.") {
    const files = make("input", { type: "file", multiple: true, tabIndex: -1, id: `file-${name}`, "aria-label": `${title}: files` });
    const folder = make("input", { type: "file", webkitdirectory: true, tabIndex: -1, id: `folder-${name}`, "aria-label": `${title}: folder` });
    const list = make("p", { className: "chosen", role: "status", id: `chosen-${name}` });
    const clear = make("button", { type: "button", textContent: "Remove", hidden: true });
    const show = () => {
      const items = chosen.get(name) || [];
      list.textContent = described(items);
      clear.hidden = !items.length;
      clear.setAttribute("aria-label", `Remove the files of ${title}`);
      box.classList.toggle("full", items.length > 0);
    };
    const take = (items) => {
      if (items.length) chosen.set(name, items);
      files.value = folder.value = "";
      show();
    };
    const pick = (label, input) => {
      const button = make("button", { type: "button", textContent: label, "aria-label": `${title}: ${label.toLowerCase()}` });
      button.addEventListener("click", () => input.click());
      input.addEventListener("change", () => take([...input.files].map(
        (file) => ({ name: file.webkitRelativePath || file.name, file }))));
      return button;
    };
    clear.addEventListener("click", () => { chosen.delete(name); show(); files.previousSibling.querySelector("button").focus(); });
    const buttons = make("div", { className: "buttons" }, pick("Choose files", files), pick("Choose a folder", folder), clear);
    const box = make("fieldset", { className: "zone", id: `zone-${name}` }, make("legend", { textContent: title }),
      make("p", { className: "help", textContent: `${help} ${how}` }), buttons, files, folder, list);
    box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", async (event) => {
      event.preventDefault();
      box.classList.remove("over");
      take(await dropped(event.dataTransfer));
    });
    show();
    return box;
  }

  function described(items) {
    if (!items.length) return "No files selected";
    const size = items.reduce((sum, item) => sum + item.file.size, 0);
    const first = items.length === 1 ? items[0].name : `${items.length.toLocaleString("en")} files, ${items[0].name} …`;
    return `${first} (${bytes(size)})`;
  }

  function bytes(size) {
    if (size < 10_000) return `${size.toLocaleString("en")} bytes`;
    return size < 10_000_000 ? `${Math.round(size / 1000).toLocaleString("en")} kB` : `${Math.round(size / 1e6).toLocaleString("en")} MB`;
  }

  async function dropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) return [...transfer.files].map((file) => ({ name: file.name, file }));
    const found = [];
    for (const entry of entries) await walk(entry, found);
    return found;
  }

  async function walk(entry, found) {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push({ name: entry.fullPath.replace(/^\//, ""), file });
    } else if (entry.isDirectory && found.length <= data.limits.files) {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some.length) return;
        for (const each of some) await walk(each, found);
      }
    }
  }

  /* The form. */

  function showForm() {
    const own = task();
    const zones = [zone("submission", "Submission", own.folder ? "A folder or an archive." : "A file or an archive.")];
    if (own.reference !== "none") zones.push(referenceZone(own));
    if (own.scored) zones.push(zone("second", "Second submission (optional)", "It is compared with the first one."));
    $("zones").replaceChildren(...zones);
    $("options").replaceChildren(...commonOptions(own), ...own.options.map(option).filter(Boolean));
    for (const name of [...chosen.keys()]) if (!$(`zone-${name}`)) chosen.delete(name); // of another task
    $("start").textContent = own.scored ? "Check and score" : "Check";
    complain("");
  }

  function referenceZone(own) {
    const needed = own.reference === "needed" ? "needed" : "optional";
    const title = `Reference (${needed})`;
    if (data.given.reference) {
      return make("fieldset", { className: "zone full", id: "zone-reference" }, make("legend", { textContent: "Reference" }),
        make("p", { className: "given", textContent: `${data.given.reference} (from the organizer)` }));
    }
    const use = own.scored ? "Scores need it." : "The submission is checked against it.";
    return zone("reference", title, use);
  }

  function commonOptions(own) {
    const found = [];
    if (!data.profile && own.profiles.length > 1) {
      found.push(field("profile", "profile", "Follow the written specification (plan), or the official software with its bugs.",
        select("profile", own.profiles)));
    }
    if (!data.encoding) {
      found.push(field("encoding", "encoding", "Encoding of the files.", make("input", { type: "text", value: "utf-8" })));
    }
    if (own.scored) {
      found.push(field("lenient", "score despite blocking findings", "Score the rest of a submission with blocking findings (--lenient).", box(), true));
      found.push(field("intervals", "confidence intervals", "Compute 95% confidence intervals of the scores, which takes longer.", box(), true));
    }
    return found;
  }

  function option(declared) {
    const id = `option-${declared.name}`;
    if (declared.fixed) return null;
    if (declared.kind === "file") {
      const own = zone(id, declared.label, declared.help, "Drop it here.");
      own.classList.add("option");
      return own;
    }
    const kinds = {
      switch: () => box(),
      choice: () => select(id, ["", ...declared.choices]),
      text: () => make("input", { type: "text", placeholder: declared.placeholder, maxLength: 500 }),
    };
    return field(id, declared.label, declared.help, kinds[declared.kind](), declared.kind === "switch");
  }

  const box = () => make("input", { type: "checkbox" });

  function select(id, values) {
    return make("select", {}, ...values.map((value) => make("option", { value, textContent: value || "default" })));
  }

  function field(id, label, help, input, isSwitch = false) {
    input.id = id;
    input.setAttribute("aria-describedby", `help-${id}`);
    const name = make("label", { htmlFor: id, textContent: label });
    const text = make("p", { className: "help", id: `help-${id}`, textContent: help });
    return make("div", { className: isSwitch ? "option switch" : "option" }, ...(isSwitch ? [input, name, text] : [name, text, input]));
  }

  function order() {
    const own = task(), options = {};
    for (const each of own.options) {
      const input = $(`option-${each.name}`);
      if (each.fixed || each.kind === "file" || !input) continue;
      const value = each.kind === "switch" ? (input.checked ? "yes" : "") : input.value.trim();
      if (value) options[each.name] = value;
    }
    return {
      task: own.name, options,
      profile: $("profile")?.value || data.profile || own.profiles[0],
      encoding: $("encoding")?.value.trim() || data.encoding || "utf-8",
      lenient: Boolean($("lenient")?.checked), intervals: Boolean($("intervals")?.checked),
    };
  }

  function complain(text) {
    $("problem").textContent = text;
    $("problem").hidden = !text;
  }

  function missing() {
    if (!chosen.has("submission")) return "Choose the submission first.";
    if (task().reference === "needed" && !data.given.reference && !chosen.has("reference")) return "Choose the reference: this task needs it.";
    for (const items of chosen.values()) {
      if (items.length > data.limits.files) return `More than ${data.limits.files.toLocaleString("en")} files cannot be uploaded.`;
      if (items.reduce((sum, item) => sum + item.file.size, 0) > data.limits.total) return `More than ${bytes(data.limits.total)} cannot be uploaded.`;
    }
    return "";
  }

  /* Requests. */

  async function ask(method, path, body, signal) {
    let answer;
    try {
      answer = await fetch(`${JOBS}${path}`, { method, body, signal, credentials: "same-origin", redirect: "error" });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Error("The server cannot be reached, or it rejected the files: they may be too large, or have changed.");
    }
    if (answer.status === 204) return null;
    const value = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
    if (!answer.ok) throw new Error(value.error);
    return value;
  }

  function framed(items) {
    const parts = [];
    for (const { name, file } of items) parts.push(`${JSON.stringify({ name: name.toWellFormed?.() ?? name, size: file.size })}\n`, file);
    return new Blob(parts);
  }

  async function run() {
    stopping = new AbortController();
    const { signal } = stopping;
    const before = job;
    job = (await ask("POST", "", JSON.stringify(order()), signal)).job;
    if (before) ask("DELETE", `/${before}`).catch(() => {});
    for (const [name, items] of chosen) {
      say(`Uploading ${name.replace("option-", "").replaceAll("_", " ")}`);
      await ask("PUT", `/${job}/inputs/${name}`, framed(items), signal);
    }
    await ask("POST", `/${job}/begin`, undefined, signal);
    for (;;) {
      const state = await ask("GET", `/${job}`, undefined, signal);
      if (state.state === "done") return state;
      showProgress(state);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  function say(text) {
    if ($("phase").textContent !== text) $("phase").textContent = text;
  }

  function showProgress({ state, progress }) {
    const { phase, done, total } = progress;
    say(state === "waiting" ? "Waiting for other jobs" : PHASES[phase]);
    if (total) Object.assign($("progress"), { max: total, value: done });
    else $("progress").removeAttribute("value");
  }

  function view(name, focus) {
    for (const [id, shown] of [["form", "form"], ["working", "working"], ["results", "results"]]) $(id).hidden = shown !== name;
    if (focus) $(focus).focus();
  }

  /* Results. */

  function showResults(state) {
    $("error").textContent = state.error;
    $("error").hidden = !state.error;
    const tabs = state.parts.map((part, index) => tab(part, index));
    const panels = state.parts.map((part, index) => panel(part, index));
    $("tabs").replaceChildren(...tabs);
    $("panels").replaceChildren(...panels);
    $("tabs").hidden = !tabs.length;
    const open = (index, focus) => {
      tabs.forEach((each, at) => {
        each.setAttribute("aria-selected", at === index ? "true" : "false");
        each.tabIndex = at === index ? 0 : -1;
        panels[at].hidden = at !== index;
      });
      panels[index].querySelector("iframe").loading = "eager";
      if (focus) tabs[index].focus();
    };
    tabs.forEach((each, index) => {
      each.addEventListener("click", () => open(index));
      each.addEventListener("keydown", (event) => {
        const last = tabs.length - 1;
        const next = { ArrowRight: index === last ? 0 : index + 1, ArrowLeft: index ? index - 1 : last, Home: 0, End: last }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        open(next, true);
      });
    });
    view("results", "title-results");
    if (tabs.length) open(0);
  }

  function tab(part, index) {
    return make("button", { type: "button", role: "tab", id: `tab-${index}`, textContent: part.title, "aria-controls": `panel-${index}` });
  }

  function panel(part, index) {
    const facts = make("dl", { className: "summary" });
    if (part.outcome) facts.append(make("div", {}, make("dt", { textContent: "result" }), make("dd", {}, make("span", { className: `outcome ${part.outcome}`, textContent: part.outcome }))));
    for (const [name, value] of part.facts) facts.append(make("div", {}, make("dt", {}, make("bdi", { textContent: name })), make("dd", {}, make("bdi", { textContent: value }))));
    const files = make("ul", { className: "files", "aria-label": "Downloads" }, ...part.files.map(
      (file) => make("li", {}, make("a", { href: `${JOBS}/${job}/files/${file.key}`, textContent: file.label, download: "" }))));
    const address = `${JOBS}/${job}/parts/${part.key}`;
    files.append(make("li", {}, make("a", { href: address, target: "_blank", rel: "noopener noreferrer", textContent: "Open in a new tab" })));
    const frame = make("iframe", { title: `Report: ${part.title}`, src: address, loading: "lazy", allow: "clipboard-write" });
    frame.setAttribute("sandbox", "allow-scripts");
    return make("div", { role: "tabpanel", id: `panel-${index}`, "aria-labelledby": `tab-${index}` }, facts, files, frame);
  }

  /* Start. */

  async function submit(event) {
    event.preventDefault();
    const reason = missing();
    complain(reason);
    if (reason) return;
    say("Uploading");
    $("progress").removeAttribute("value");
    view("working", "title-working");
    try {
      showResults(await run());
    } catch (error) {
      const cancelled = stopping.signal.aborted;
      view("form", "start");
      complain(cancelled ? "" : error.message);
    }
  }

  function cancel() {
    stopping.abort();
    if (job) ask("DELETE", `/${job}`).catch(() => {});
    job = "";
  }

  $("task").append(...data.tasks.map((each) => make("option", { value: each.name, textContent: each.title })));
  $("task").disabled = data.tasks.length === 1;
  $("task").addEventListener("change", showForm);
  $("form").addEventListener("submit", submit);
  $("cancel").addEventListener("click", cancel);
  $("again").addEventListener("click", () => {
    view("form");
    $("zones").querySelector("button").focus();
  });
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
  showForm();
  view("form");
})();
