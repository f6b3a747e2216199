/** What several screens show: progress, faults, forms of parts, the way on. */

import { bars, histogram } from "./charts.js";
import { h } from "./dom.js";
import { counted, number, percent } from "./format.js";
import { busy, cancel, go, jobs, STEPS } from "./store.js";
import { explained } from "./words.js";

/**
 * @typedef {import("./store.js").Screen} Screen
 * @typedef {import("./dom.js").Child} Child
 */

/** What an event's field holds. @param {any} event @returns {string} */
export const valueOf = (event) => event.target.value;

/** The head of a screen. @param {string} title @param {Child} lead */
export function heading(title, lead) {
  return [h("h1", { tabindex: "-1" }, title), h("p.lead", null, lead)];
}

/**
 * The way on: one obvious next button.
 * @param {Screen} now
 * @param {{ready?: boolean, quiet?: boolean, why?: string}} [options] quiet: another button is the obvious one
 */
export function onward(now, { ready = true, quiet = false, why = "" } = {}) {
  const place = STEPS.findIndex(([name]) => name === now);
  const back = STEPS[place - 1];
  const next = STEPS[place + 1];
  return h("div.onward", null,
    back && h("button", { onclick: () => go(back[0]) }, `Back: ${back[1]}`),
    next &&
      h("button", {
        class: quiet ? "" : "primary", disabled: !ready, onclick: () => go(next[0]),
      }, `Next: ${next[1]}`),
    !ready && why && h("span.faint", null, why),
  );
}

/** A fault, with what to do. @param {Api.Fault} fault @param {(() => void) | null} [close] */
export function faultNote(fault, close = null) {
  return h("div.note.bad", { role: "alert" },
    h("p", null, h("strong", null, "This did not work. "), fault.message),
    fault.values?.length ? h("p", null, "For example: ", fault.values.join(", ")) : null,
    fault.hint && h("p", null, h("strong", null, "What to do: "), fault.hint),
    close && h("button.small", { onclick: close }, "Close"),
  );
}

/** Jobs that are being done. @param {Api.Job | undefined} job */
export const isRunning = (job) => job?.state === "running" || job?.state === "waiting";

/** How far a job is, with a button to stop it; why it failed; or nothing. @param {string} kind @param {string} doing */
export function progressOf(kind, doing) {
  const job = jobs.get()[kind];
  if (!job) return null;
  if (job.state === "failed" && job.error) return faultNote(job.error);
  if (job.state === "cancelled") return h("p.note.plain", { role: "status" }, "Stopped. Nothing was changed.");
  if (!isRunning(job)) return null;
  return h("div.progress", { role: "status" },
    h("div.row", null,
      h("span.grow", null, job.state === "waiting" ? "Waiting for its turn …" : `${doing}: ${job.stage || "starting"} …`),
      h("button.small", { onclick: () => cancel(job) }, "Cancel"),
    ),
    h("progress", { "aria-label": doing, max: 1, value: job.done === null ? undefined : job.done }),
  );
}

/**
 * A table that scrolls in its own place.
 * @param {string} label for those who do not see it
 * @param {Child[]} titles of the columns
 * @param {Child} rows
 */
export function scrolled(label, titles, rows) {
  const head = titles.map((title) => h("th", { scope: "col" }, title));
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": label },
    h("table", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)));
}

/** What a person may want to look at. @param {string} title @param {...Child} children */
export const more = (title, ...children) => h("details", null, h("summary", null, title), children);

/** Warnings behind one line. @param {string[]} warnings */
export function warningsOf(warnings) {
  if (!warnings.length) return null;
  return more(`${counted(warnings.length, "thing")} to know`, warnings.map((text) => h("p.note", { key: text }, text)));
}

/** Whether a button waits for the server. */
export const isBusy = () => busy.get() > 0;

/** What is in a column, drawn. @param {Api.Distribution} found @param {string} column @param {number} [most] */
export function distribution(found, column, most = 6) {
  if (found.kind === "none") return h("p.faint.small-text", null, found.why);
  if (found.kind === "numbers") {
    return histogram(found.bins.map((bin) => ({ low: bin.from, high: bin.to, count: bin.count })),
      `How the numbers of ${column} are spread`);
  }
  const shown = found.values.slice(0, most);
  const left = found.values.slice(most);
  const others = (found.others?.values ?? 0) + left.length;
  const people = (found.others?.count ?? 0) + left.reduce((sum, value) => sum + value.count, 0);
  const rows = shown.map((one) => ({ name: one.value, value: one.count }));
  /** @type {{name: string, value: number, class?: string}[]} */
  const extra = others ? [{ name: counted(others, "other value"), value: people, class: "faint" }] : [];
  const longest = Math.max(...rows.map((row) => row.value), 1);
  return bars([...rows, ...extra.map((row) => ({ ...row, text: number(row.value), value: Math.min(row.value, longest) }))]);
}

/** @param {any} value */
function written(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((one) => (Array.isArray(one) ? one.join(" ") : one)).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {string} text @param {Api.Parameter} parameter */
function read(text, parameter) {
  const clean = text.trim();
  if (clean === "") return undefined;
  if (parameter.kind === "whole" || parameter.kind === "number") return Number(clean);
  if (parameter.kind === "table") {
    try {
      return JSON.parse(clean);
    } catch {
      return clean;
    }
  }
  if (parameter.kind === "list") {
    const parts = clean.split(",").map((part) => part.trim()).filter(Boolean);
    return parts.every((part) => Number.isFinite(Number(part))) ? parts.map(Number) : parts;
  }
  return clean;
}

/**
 * Fields for what a part may be made with. Those that are needed stand first, all others behind "More options".
 * @param {Api.PartKind} kind
 * @param {Record<string, any>} values
 * @param {(name: string, value: any) => void} changed undefined: left out
 * @param {{columns: string[], first?: string[]}} options
 */
export function partForm(kind, values, changed, { columns, first = [] }) {
  const shown = (one) => one.needed || first.includes(one.name) || values[one.name] !== undefined;
  const front = kind.parameters.filter(shown);
  const behind = kind.parameters.filter((one) => !shown(one));
  const fields = (list) => list.map((one) => field(one, values[one.name], changed, columns));
  return [
    front.length ? h("div.row", null, fields(front)) : null,
    behind.length
      ? h("details", null, h("summary", null, "More options"), h("div.row", null, fields(behind)))
      : null,
  ];
}

/** @param {Api.Parameter} parameter @param {any} value @param {(name: string, value: any) => void} changed @param {string[]} columns */
function field(parameter, value, changed, columns) {
  const { name, kind, about } = parameter;
  const title = name.replaceAll("_", " ");
  const label = about ? explained(name, title, about) : title;
  const standing = parameter.default;
  const given = (event) => changed(name, read(valueOf(event), parameter));
  const attributes = { "aria-label": title, "data-parameter": name, onchange: given };
  let input;
  if (kind === "truth") {
    input = h("input", {
      type: "checkbox", "aria-label": title, "data-parameter": name, checked: Boolean(value ?? standing),
      onchange: (event) => changed(name, event.target.checked),
    });
  } else if (kind === "choice" || kind === "column") {
    const choices = kind === "column" ? columns : (parameter.choices ?? []);
    const none = standing === null || standing === undefined ? "–" : `${standing} (default)`;
    input = h("select", { ...attributes, value: written(value) },
      h("option", { value: "" }, none),
      choices.filter((choice) => choice !== standing).map((choice) => h("option", { value: choice }, choice)),
    );
  } else if (kind === "whole" || kind === "number") {
    input = h("input", {
      ...attributes, type: "number", step: kind === "whole" ? 1 : "any", value: written(value),
      placeholder: written(standing),
    });
  } else {
    input = h("input", {
      ...attributes, type: "text", value: written(value), placeholder: written(standing) || "none",
      list: kind === "columns" ? "columns-of-table" : undefined,
    });
  }
  return h("span.field", { key: name }, h("span", null, label), " ", input);
}

/** A part in a list of choices. @param {Api.PartKind} kind */
export const partOption = (kind) =>
  h("option", { value: kind.name }, kind.plain_name ? `${kind.name}: ${kind.plain_name}` : kind.name);

/** Risk and loss as two large numbers. @param {Api.Point} point */
export function pointCards(point) {
  return h("div.cards.three", null,
    h("div.card", null, h("h3", null, explained("risk", "Risk")), h("p.big", { "data-number": "risk" }, percent(point.risk)),
      h("p.faint.small-text", null, point.strongest ? `Strongest attack: ${point.strongest}.` : "No attack got through.")),
    h("div.card", null, h("h3", null, explained("loss", "Loss")), h("p.big", { "data-number": "loss" }, percent(point.loss)),
      h("p.faint.small-text", null, "Median error of counts that an analyst asks for.")),
    h("div.card", null, h("h3", null, explained("withheld", "Withheld")),
      h("p.big", { "data-number": "withheld" }, number(point.withheld)),
      h("p.faint.small-text", null, `${counted(point.published, "row")} ${point.published === 1 ? "is" : "are"} published.`)),
  );
}
