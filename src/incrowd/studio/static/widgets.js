/** What several screens show: progress, faults, forms of parts, the way on. */

import { bars, histogram } from "./charts.js";
import { h } from "./dom.js";
import { counted, number, percent } from "./format.js";
import { busy, cancel, go, jobs, project, STEPS } from "./store.js";
import { explained } from "./words.js";

/**
 * @typedef {import("./store.js").Screen} Screen
 * @typedef {import("./dom.js").Child} Child
 */

/** The colour of a recommendation, by whom the release may go to. @type {Record<string, string>} */
export const COLOURS = { "the public": "good", "known recipients": "warn", "nobody outside": "bad" };

/** What an event's field holds. @param {any} event @returns {string} */
export const valueOf = (event) => event.target.value;

/** @param {string} value @param {string} [text] @param {string} [title] */
export const option = (value, text = value, title) => h("option", { value, title }, text);

/** @param {string} label @param {Child[]} options */
export const optionGroup = (label, options) => options.length > 0 && h("optgroup", { label }, options);

/**
 * A list to choose from, with its label.
 * @param {Child} label
 * @param {string} value
 * @param {Child} options
 * @param {(value: string, list: HTMLSelectElement) => unknown} taken
 * @param {Api.Props} [props]
 */
export const choice = (label, value, options, taken, props) =>
  h("label", null, label, " ", h("select", { ...props, value, onchange: (event) => taken(valueOf(event), event.target) }, options));

/** A box to tick. @param {string} label @param {boolean} checked @param {(on: boolean) => unknown} taken */
export const tick = (label, checked, taken) =>
  h("label", null, h("input", { type: "checkbox", checked, onchange: (event) => taken(event.target.checked) }), label);

/** What keeps a recipe from being run. @param {Api.Project | null} own */
export const problemsOf = (own) => own?.problems.map((one) => h("div", { key: one.message }, faultNote(one, null, "Still to do:")));

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

/** A fault, with what to do. @param {Api.Fault} fault @param {(() => void) | null} [close] @param {string} [title] */
export function faultNote(fault, close = null, title = "This did not work.") {
  return h("div.note.bad", { role: "alert" },
    h("p", null, h("strong", null, title), ` ${fault.message}`),
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

/** A list of texts, unless there is none. @param {string[] | undefined} texts @param {string} [tag] */
export const bullets = (texts, tag = "ul") => Boolean(texts?.length) && h(tag, null, texts?.map((text) => h("li", null, text)));

/** What a person may want to look at. @param {string} title @param {...Child} children */
export const more = (title, ...children) => h("details", null, h("summary", null, title), children);

/** Warnings behind one line. @param {string[]} warnings */
export function warningsOf(warnings) {
  if (!warnings.length) return null;
  return more(`${counted(warnings.length, "thing")} to know`, warnings.map((text) => h("p.note", { key: text }, text)));
}

/**
 * The button that begins long work, and a note where its outcome is no longer that of the recipe.
 * @param {string} kind
 * @param {string} title
 * @param {{again?: string, done: boolean, current: boolean, begin: () => unknown}} options `again` is its title once it is done
 */
export function starter(kind, title, { again = title, done, current, begin }) {
  const own = project.get();
  const running = isRunning(jobs.get()[kind]);
  const disabled = running || busy.get() > 0 || !own || own.problems.length > 0;
  return h("div.row", null,
    h("button", { class: current ? "" : "primary", disabled, onclick: begin }, done ? again : title),
    done && !current && !running && h("span.badge.warn", { role: "status" }, "You changed something since"));
}

/** What is in a column, drawn. @param {Api.Distribution} found @param {string} column @param {number} [most] */
export function distribution(found, column, most = 6) {
  if (found.kind === "none") return h("p.faint.small-text", null, found.why);
  if (found.kind === "numbers") return histogram(found.bins, `How the numbers of ${column} are spread`);
  const left = found.values.slice(most);
  const others = (found.others?.values ?? 0) + left.length;
  const people = (found.others?.count ?? 0) + left.reduce((sum, one) => sum + one.count, 0);
  const rows = found.values.slice(0, most).map((one) => ({ name: one.value, value: one.count }));
  const rest = others ? [{ name: counted(others, "other value"), value: people, class: "faint" }] : [];
  return bars([...rows, ...rest], Math.max(...rows.map((row) => row.value), 1));
}

/** Risk, loss and what is withheld as large numbers. @param {Api.Point} point */
export function pointCards(point) {
  /** @param {string} word @param {string} title @param {string} text @param {string} about */
  const card = (word, title, text, about) => h("div.card", null,
    h("h3", null, explained(word, title)), h("p.big", { "data-number": word }, text), h("p.faint.small-text", null, about));
  return h("div.cards.three", null,
    card("risk", "Risk", percent(point.risk), point.strongest ? `Strongest attack: ${point.strongest}.` : "No attack got through."),
    card("loss", "Loss", percent(point.loss), "Median error of counts that an analyst asks for."),
    card("withheld", "Withheld", number(point.withheld),
      `${counted(point.published, "row")} ${point.published === 1 ? "is" : "are"} published.`));
}
