/** Try: what safe means, how to get there; risk and loss; the table before and after, and why a row looks like that. */

import { get } from "../api.js";
import { h } from "../dom.js";
import { counted, number } from "../format.js";
import { Part } from "../part.js";
import { base, catalogue, jobs, looked, patch, project, roles, start, told } from "../store.js";
import {
  faultNote, heading, isBusy, isRunning, onward, partForm, partOption, pointCards, progressOf, scrolled, valueOf, warningsOf,
} from "../widgets.js";
import { explained, WORDS } from "../words.js";


const PAGE = 50;
/** What people ask for most; all others stand behind them. */
const COMMON_MODELS = ["k-anonymity", "distinct-l-diversity", "t-closeness"];
const COMMON_METHODS = ["mondrian", "full-domain", "local-recoding"];
const SHOWN = { all: "all rows", changed: "rows that changed", withheld: "withheld rows" };
/** Options that are shown at once. */
const FRONT = ["max_withheld", "k", "l", "t", "epsilon"];

/** @param {string | Record<string, any> | undefined} part @returns {Record<string, any>} */
const asTable = (part) => (typeof part === "string" ? { name: part } : (part ?? {}));

class TryScreen extends Part {
  #show = "all";
  #offset = 0;
  #row = -1;
  /** @type {any} */
  #why = null;

  view() {
    const own = project.get();
    const all = catalogue.get();
    const top = heading("Try it", "Say what “safe” means. Then see what the table looks like, and what it costs.");
    if (!own?.recipe || !all) return [top, h("p.faint", null, "Loading …")];
    const job = jobs.get()["try"];
    const last = own.tries[own.tries.length - 1];
    const running = isRunning(job);
    const point = job?.found?.["measured"] ?? job?.found?.["sample"];
    const shown = running ? point : (last?.point ?? last?.sample ?? point);
    const current = !running && last?.version === own.version;
    return [
      top,
      h("div.pair", null, this.#models(own.recipe, all.models), this.#method(own.recipe, all.methods)),
      own.problems.map((problem) => h("div", { key: problem.message }, faultNote(problem))),
      h("div.row", null, h("button", {
        class: current ? "" : "primary", disabled: running || isBusy() || own.problems.length > 0,
        onclick: () => {
          this.#offset = 0;
          this.#row = -1;
          start("try");
        },
      }, last ? "Try again" : "Try it"),
        last && !current && !running && h("span.badge.warn", null, "You changed something: try again")),
      progressOf("try", "Trying"),
      shown && this.#outcome(shown, running ? job?.found?.["exact"] : last?.released),
      last?.released && (!running || job?.parts.includes("rows")) && this.#tables(last),
      onward("try", { ready: Boolean(last), why: "Press “Try it” first.", quiet: !current }),
    ];
  }

  /** @param {Record<string, any>} recipe @param {Api.PartKind[]} kinds */
  #models(recipe, kinds) {
    const models = /** @type {any[]} */ (recipe["models"] ?? []).map(asTable);
    const columns = Object.keys(roles(project.peek())).filter((name) => roles(project.peek())[name] === "sensitive");
    const free = (kind) => !models.some((one) => one["name"] === kind.name);
    const common = kinds.filter((kind) => COMMON_MODELS.includes(kind.name) && free(kind));
    return h("fieldset", null,
      h("legend", null, explained("model", "What does “safe” mean?")),
      models.length === 0 && h("p.faint", null, "Nothing is asked for yet. Add at least one."),
      models.map((model, place) => {
        const kind = kinds.find((one) => one.name === model["name"]);
        if (!kind) return h("p", { key: place }, model["name"]);
        return h("div.card", { key: `${place} ${kind.name}` },
          h("div.row", null, h("div.grow", null, this.#named(kind)), h("button.small", {
            "aria-label": `Remove ${kind.name}`,
            onclick: () => patch(`Without ${kind.name}`, [[["models"], models.filter((_, at) => at !== place)]]),
          }, "Remove")),
          partForm(kind, model, (name, value) => value === undefined
            ? patch(`${kind.name}: ${name} left out`, [], [["models", place, name]])
            : patch(`${kind.name}: ${name} is ${value}`, [[["models", place, name], value]]),
          { columns, first: FRONT }));
      }),
      h("div.row", null, h("label", null, "Add ", h("select", {
        value: "",
        onchange: (event) => {
          const kind = kinds.find((one) => one.name === valueOf(event));
          event.target.value = "";
          if (kind) patch(`${kind.name} asked for`, [[["models"], [...models, this.#fresh(kind, columns)]]]);
        },
      }, h("option", { value: "" }, "choose …"),
        common.map(partOption),
        h("optgroup", { label: "More" }, kinds.filter((kind) => !COMMON_MODELS.includes(kind.name) && free(kind)).map(partOption))))),
    );
  }

  /** @param {Api.PartKind} kind */
  #named(kind) {
    const about = WORDS[kind.name] ?? [kind.about, kind.more].filter(Boolean).join(" ");
    return [explained(kind.name, kind.name, about), kind.plain_name && h("div.faint.small-text", null, kind.plain_name)];
  }

  /** A part with a first value for all that it needs. @param {Api.PartKind} kind @param {string[]} columns */
  #fresh(kind, columns) {
    /** @type {Record<string, any>} */
    const starts = { k: 5, l: 2, t: 0.2, epsilon: 1, e: 1, alpha: 0.5, beta: 1, delta: 1, c: 2 };
    const needed = kind.parameters.filter((one) => one.needed);
    const values = needed.map((one) => {
      if (one.default !== null && one.default !== undefined) return [one.name, one.default];
      if (one.kind === "column") return [one.name, columns[0]];
      if (one.kind === "choice") return [one.name, one.choices?.[0]];
      return [one.name, starts[one.name] ?? 1];
    });
    return { name: kind.name, ...Object.fromEntries(values) };
  }

  /** @param {Record<string, any>} recipe @param {Api.PartKind[]} kinds */
  #method(recipe, kinds) {
    const method = asTable(recipe["method"]);
    const kind = kinds.find((one) => one.name === (method["name"] ?? "mondrian"));
    return h("fieldset", null,
      h("legend", null, explained("method", "How to get there?")),
      h("div.row", null, h("label", null, "Method ", h("select", {
        value: kind?.name ?? "",
        onchange: (event) => {
          const next = kinds.find((one) => one.name === valueOf(event));
          if (next) patch(`Method ${next.name}`, [[["method"], this.#fresh(next, [])]]);
        },
      },
        kinds.filter((one) => COMMON_METHODS.includes(one.name)).map(partOption),
        h("optgroup", { label: "More" }, kinds.filter((one) => !COMMON_METHODS.includes(one.name) && !one.private).map(partOption)),
        h("optgroup", { label: "With differential privacy" }, kinds.filter((one) => one.private).map(partOption))))),
      kind && h("p.faint.small-text", null, kind.about),
      kind && partForm(kind, method, (name, value) => value === undefined
        ? patch(`${kind.name}: ${name} left out`, [], [["method", name]])
        : patch(`${kind.name}: ${name} is ${value}`, [[["method"], { ...method, name: kind.name, [name]: value }]]),
      { columns: [], first: FRONT }),
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
    const turn = (by) => () => {
      this.#offset = Math.max(0, this.#offset + by);
      this.redraw();
    };
    return h("section", { "aria-label": "Rows before and after" },
      h("h2", null, "Before and after"),
      h("div.row", null, h("label", null, "Show ", h("select", {
        value: this.#show,
        onchange: (event) => {
          this.#show = valueOf(event);
          this.#offset = 0;
          this.redraw();
        },
      }, Object.entries(SHOWN).map(([name, title]) => h("option", { value: name }, title)))),
        h("span.faint", null, "≈ marks a cell that changed. Click a row to see why.")),
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
    const table = (side) => {
      const columns = (side === "after" && found.after_columns) || found.columns;
      const made = scrolled(`Rows ${side}`, ["Row", ...columns], found.rows.map((row, at) => {
        const place = row.row ?? at;
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
    return row[side].map((cell, at) => {
      const changed = side === "after" && row.changed?.[at];
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
      h("ul", null, why.sentences.map((sentence) => h("li", null, sentence))),
      why.columns?.length ? h("ul.small-text", null, why.columns.map((column) =>
        h("li", null, column.sentence ?? `${column.name}: ${column.before} → ${column.after}`))) : null,
      why.models?.length ? h("ul.small-text", null, why.models.map((model) =>
        h("li", null, model.holds ? "✓ " : "✗ ", model.sentence ?? model.statement))) : null,
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
