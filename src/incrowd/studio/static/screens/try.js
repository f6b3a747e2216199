/** Try: what safe means, how to get there; risk and loss; the table before and after, and why a row looks like that. */

import { get } from "../api.js";
import { h } from "../dom.js";
import { counted, number } from "../format.js";
import { Part } from "../part.js";
import { fields, manyParts, onePart } from "../parts.js";
import { base, catalogue, jobs, looked, project, putAt, start, told, withRole } from "../store.js";
import {
  bullets, choice, heading, isRunning, more, onward, option, pointCards, problemsOf, progressOf, scrolled, starter, warningsOf,
} from "../widgets.js";
import { explained } from "../words.js";

const PAGE = 50;
const SHOWN = { all: "all rows", changed: "rows that changed", withheld: "withheld rows" };

class TryScreen extends Part {
  #show = "all";
  #offset = 0;
  #row = -1;
  #why = /** @type {any} */ (null);

  view() {
    const own = project.get();
    const all = catalogue.get();
    const top = heading("Try it", "Say what “safe” means. Then see what the table looks like, and what it costs.");
    if (!own?.recipe || !all) return [top, h("p.faint", null, "Loading …")];
    const secrets = withRole(own, "sensitive");
    const job = jobs.get()["try"];
    const last = own.tries[own.tries.length - 1];
    const running = isRunning(job);
    const point = job?.found?.["measured"] ?? job?.found?.["sample"];
    const shown = running ? point : (last?.point ?? last?.sample ?? point);
    const current = !running && last?.version === own.version;
    return [
      top,
      h("div.pair", null, this.#models(own.recipe, all, secrets), this.#method(own.recipe, all, secrets)),
      problemsOf(own),
      starter("try", "Try it", {
        again: "Try again", done: Boolean(last), current, begin: () => {
          [this.#offset, this.#row] = [0, -1];
          start("try");
        },
      }),
      progressOf("try", "Trying"),
      shown && this.#outcome(shown, running ? job?.found?.["exact"] : last?.released),
      last?.released && (!running || job?.parts.includes("rows")) && this.#tables(last),
      onward("try", { ready: Boolean(last), why: "Press “Try it” first.", quiet: !current }),
    ];
  }

  /** @param {Api.Recipe} recipe @param {Api.Catalogue} all @param {string[]} columns */
  #models(recipe, all, columns) {
    const kinds = [...all.models, ...(withRole(project.get(), "items").length ? all.set_models : [])];
    return h("fieldset", null,
      h("legend", null, explained("model", "What does “safe” mean?")),
      !recipe["models"]?.length && h("p.faint", null, "Nothing is asked for yet. Add at least one."),
      manyParts("Add", recipe["models"], { kinds, columns, put: putAt(["models"]) }),
    );
  }

  /** @param {Api.Recipe} recipe @param {Api.Catalogue} all @param {string[]} columns */
  #method(recipe, all, columns) {
    const usual = all.methods.find((kind) => kind.usual)?.name;
    /** @param {string} name @param {any} value */
    const changed = (name, value) => putAt([name])(() => value, `${name}: ${value ?? "left out"}`);
    return h("fieldset", null,
      h("legend", null, explained("method", "How to get there?")),
      onePart("Method", recipe["method"] ?? usual, { kinds: all.methods, columns, put: putAt(["method"]) }),
      withRole(project.get(), "items").length > 0 &&
        onePart("Sets of items", recipe["items"], { kinds: all.set_methods, put: putAt(["items"]) }),
      more("How it is shown, and how much of it",
        onePart("Crowds are shown", recipe["form"], { kinds: all.forms, columns, put: putAt(["form"]), none: "as the method does it" }),
        h("div.row", null, fields(all.recipe, recipe, changed))),
    );
  }

  /** @param {Api.Point} point @param {Api.Released | null | undefined} released */
  #outcome(point, released) {
    const sample = point.basis === "sample";
    const sizes = released?.group_sizes;
    return h("section", { "aria-live": "polite", "aria-label": "Outcome" },
      h("h2", null, "Outcome ", h("span.badge", { class: sample ? "warn" : "good" }, sample ? "on a sample" : "exact, all rows"),
        h("help-word", { given: { word: sample ? "sample" : "exact" } })),
      point.failed ? h("p.note.bad", null, point.failed) : pointCards(point),
      released && h("ul", null, released.guarantees.map((one) =>
        h("li", null, h("span.badge.good", null, "✓ guaranteed"), ` ${one.statement} (${one.basis})`))),
      sizes && h("p", null, explained("crowd", "Crowds"),
        `: ${number(sizes.groups)}; the smallest has ${counted(sizes.smallest, "row")}, the largest ${number(sizes.largest)}.`),
      released && warningsOf(released.warnings),
    );
  }

  /** @param {Api.Try} last */
  #tables(last) {
    if (!last.rows_here) {
      return h("p.note.plain", null, "To see the rows before and after, press “Try again”.");
    }
    const query = `offset=${this.#offset}&limit=${PAGE}&show=${this.#show}`;
    const found = /** @type {any} */ (looked(`${base()}/tries/${last.id}/rows?${query}`));
    /** @param {number} by */
    const turn = (by) => this.redrawn(() => (this.#offset = Math.max(0, this.#offset + by)));
    return h("section", { "aria-label": "Rows before and after" },
      h("h2", null, "Before and after"),
      h("div.row", null, choice("Show", this.#show, Object.entries(SHOWN).map(([name, title]) => option(name, title)),
        this.redrawn((name) => [this.#show, this.#offset] = [name, 0])),
        h("span.faint", null, found?.linked === false
          ? "No published row is anybody’s own here, so the tables are shown apart."
          : "≈ marks a cell that changed. Click a row to see why.")),
      found === undefined && h("p.faint", null, "Fetching rows …"),
      found && this.#pair(found, last),
      found && h("div.row", null,
        h("button.small", { disabled: this.#offset === 0, onclick: turn(-PAGE) }, "Earlier rows"),
        found.rows.length > 0 && h("span.faint", null, `Rows ${number(this.#offset + 1)} to ${number(this.#offset + found.rows.length)}`,
          found.total === null ? "" : ` of ${number(found.total)}`),
        h("button.small", {
          disabled: found.rows.length < PAGE || this.#offset + PAGE >= (found.total ?? Infinity), onclick: turn(PAGE),
        }, "Later rows")),
      this.#explained(),
    );
  }

  /** @param {any} found @param {Api.Try} last */
  #pair(found, last) {
    if (!found.rows.length) return h("p.empty", null, this.#show === "withheld" ? "No row is withheld." : "There are no such rows.");
    /** @param {number} row */
    const asked = (row) => {
      if (!found.linked) return;
      this.#row = row;
      this.#why = null;
      this.redraw();
      get(`${base()}/tries/${last.id}/rows/${row}/why`).then((why) => {
        this.#why = why;
        this.redraw();
      }, told);
    };
    /** @param {"before" | "after"} side */
    const table = (side) => {
      const columns = (side === "after" && found.after_columns) || found.columns;
      const made = scrolled(`Rows ${side}`, ["Row", ...columns], found.rows.map((/** @type {any} */ row, /** @type {number} */ nth) => {
        const place = row.row ?? nth;
        const kind = [found.linked && "asked", place === this.#row && "chosen", row.withheld && "withheld"];
        const first = found.linked && side === "before"
          ? h("button.link", { "aria-label": `Why row ${place + 1}?`, onclick: () => asked(place) }, place + 1)
          : h("span.faint", null, found.linked ? place + 1 : "");
        return h("tr", { key: place, class: kind.filter(Boolean).join(" "), onclick: () => asked(place) },
          h("td.first", null, first), this.#cells(row, side, columns.length));
      }));
      Object.assign(made.props, { onscroll: follow });
      return h("div", null, h("h3", null, side === "before" ? "Before" : "After"), made);
    };
    return h("div.pair", null, table("before"), table("after"));
  }

  /** @param {any} row @param {"before" | "after"} side @param {number} columns */
  #cells(row, side, columns) {
    if (!row[side]) return h("td", { colspan: columns }, row.sampled_out ? "not drawn" : row.withheld ? "withheld" : "");
    return row[side].map((/** @type {string | null} */ cell, /** @type {number} */ nth) => {
      const changed = side === "after" && row.changed?.[nth];
      return h("td", { class: changed ? "changed" : "" }, changed && h("span.visually-hidden", null, "changed: "),
        cell ?? h("span.faint", null, changed ? "removed" : "missing"));
    });
  }

  #explained() {
    const why = this.#why;
    if (this.#row < 0) return null;
    if (!why) return h("p.faint", null, "Asking why …");
    return h("section.leading", { "aria-live": "polite", "aria-label": "Why does this row look like that?" },
      h("h3", null, why.withheld ? "Why was this row withheld?" : "Why does this row look like that?"),
      bullets(why.sentences),
      bullets(why.columns?.map((/** @type {any} */ one) => one.sentence), "ul.small-text"),
      bullets(why.models?.map((/** @type {any} */ one) => `${one.holds ? "✓" : "✗"} ${one.sentence}`), "ul.small-text"),
    );
  }
}

/** The two tables scroll together. @param {Event} event */
function follow(event) {
  const one = /** @type {HTMLElement} */ (event.target);
  for (const other of one.closest(".pair")?.querySelectorAll(".scroll") ?? []) {
    if (other === one) continue;
    if (other.scrollTop !== one.scrollTop) other.scrollTop = one.scrollTop;
    if (other.scrollLeft !== one.scrollLeft) other.scrollLeft = one.scrollLeft;
  }
}

customElements.define("try-screen", TryScreen);
