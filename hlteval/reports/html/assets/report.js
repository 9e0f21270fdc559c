"use strict";
// The frame of a report: what draws each kind of section, tabs, colours, copying, printing.
const Report = (() => {
  const kinds = {};
  const redraws = [];
  const papers = [];

  /** An element with attributes and children; children that are text are never HTML. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === true) made.setAttribute(key, "");
      else if (value !== false && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  /** Draw the sections of a panel that are not drawn yet: those of hidden panels wait. */
  function draw(panel) {
    for (const host of panel.querySelectorAll(".host[data-from]:not(.drawn)")) {
      host.classList.add("drawn");
      const data = JSON.parse(document.getElementById(host.dataset.from).textContent);
      kinds[host.dataset.kind](host, data);
    }
  }

  /** What a printer gets in place of what is drawn for the screen. */
  function onPaper(host, make) {
    const known = papers.find((paper) => paper.host === host);
    const remove = () => host.querySelectorAll(":scope > .paper").forEach((old) => old.remove());
    const show = () => { remove(); host.append(make()); };
    if (known) known.show = show; // what draws a special table knows better
    else papers.push({host, show, remove});
  }

  function announce(text) {
    document.querySelector(".live").textContent = text;
  }

  function select(tab, focus = false) {
    for (const other of tab.parentElement.children) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    draw(document.getElementById(tab.getAttribute("aria-controls")));
  }

  /** The address of a tab: not an identifier, so that browsers do not scroll to it. */
  const address = (tab) => `#${tab.dataset.name}`;

  const STEPS = {ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity};

  function startTabs() {
    const list = document.querySelector("[role=tablist]");
    if (!list) return document.querySelectorAll(".panel").forEach(draw);
    const tabs = [...list.children];
    const choose = (tab, focus) => {
      select(tab, focus);
      tab.scrollIntoView({block: "nearest", inline: "nearest"});
      history.replaceState(null, "", address(tab));
    };
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) choose(tab);
    });
    list.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const at = tabs.indexOf(document.activeElement) + step;
      const wrapped = Number.isFinite(step) ? (at + tabs.length) % tabs.length : at;
      choose(tabs[Math.min(Math.max(wrapped, 0), tabs.length - 1)], true);
    });
    const named = () => tabs.find((tab) => address(tab) === location.hash);
    window.addEventListener("hashchange", () => named() && select(named()));
    select(named() || tabs[0]);
  }

  /** Links to some rows of a section: its tab is opened, and the section shows these rows only. */
  function startFilters() {
    document.querySelector("main").addEventListener("click", (event) => {
      const link = event.target.closest("a[data-filter]");
      if (!link) return;
      event.preventDefault();
      const place = `.host[data-kind="${link.dataset.of}"]`;
      const host = link.closest(".panel").querySelector(place) || document.querySelector(place);
      const tab = document.querySelector(`[aria-controls="${host.closest(".panel").id}"]`);
      if (tab && tab.getAttribute("aria-selected") !== "true") {
        tab.click();
        tab.focus({preventScroll: true}); // the link is hidden now
      }
      host.filter(JSON.parse(link.dataset.filter));
      host.closest("section").scrollIntoView({block: "start"});
    });
  }

  const THEME = "hlteval-theme";

  function remembered() {
    try {
      return localStorage.getItem(THEME);
    } catch {
      return null; // the browser keeps nothing of files
    }
  }

  function startTheme() {
    const root = document.documentElement, button = document.querySelector(".theme");
    const preferred = matchMedia("(prefers-color-scheme: dark)");
    const show = (theme) => {
      root.dataset.theme = theme;
      button.textContent = theme === "dark" ? "Light" : "Dark";
      button.setAttribute("aria-label", `Switch to ${button.textContent.toLowerCase()} colours`);
      redraws.forEach((redraw) => redraw());
    };
    const current = () => remembered() || (preferred.matches ? "dark" : "light");
    button.hidden = false;
    button.addEventListener("click", () => {
      const next = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(THEME, next);
      } catch { /* it lasts as long as the page */ }
      show(next);
    });
    preferred.addEventListener("change", () => show(current()));
    show(current());
  }

  function startCopying() {
    for (const button of document.querySelectorAll(".copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const source = document.getElementById(button.dataset.copies);
        const done = await copied(source);
        button.textContent = done ? "Copied" : "Press Ctrl+C";
        announce(done ? "Copied" : "Selected: press Ctrl+C to copy");
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
    }
  }

  async function copied(source) {
    getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(source.textContent);
      return true;
    } catch {
      return document.execCommand("copy"); // where pages of files have no clipboard
    }
  }

  function start() {
    startTheme();
    startTabs();
    startCopying();
    startFilters();
    window.addEventListener("beforeprint", () => {
      document.querySelectorAll(".panel").forEach(draw);
      papers.forEach((paper) => paper.show());
    });
    window.addEventListener("afterprint", () => papers.forEach((paper) => paper.remove()));
  }

  return {kinds, redraws, element, draw, onPaper, announce, start};
})();
