/** Compare: ways to publish by risk and loss, one's own tries among them; a click loads one. */

import { LEGEND, scatter, shape } from "../charts.js";
import { h } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { Part } from "../part.js";
import { base, catalogue, go, jobs, looked, patch, project, start } from "../store.js";
import { choice, heading, isRunning, more, onward, option, progressOf, scrolled, starter } from "../widgets.js";
import { explained } from "../words.js";

const PARTS = ["models", "method", "form", "sample"];

class CompareScreen extends Part {
  #risk = "mean";
  #loss = "queries";
  #chosen = /** @type {string | null} */ (null);
  #tiles = false;

  /** The comparison on the axes that are chosen. */
  get #comparison() {
    const job = jobs.get()["compare"];
    if (!job?.result) return null;
    if (this.#risk === "mean" && this.#loss === "queries") return job.result.comparison;
    const found = /** @type {any} */ (looked(`/api/jobs/${job.id}/comparison?risk=${encodeURIComponent(this.#risk)}&loss=${this.#loss}`));
    return found?.comparison ?? job.result.comparison;
  }

  /** @param {Page.Way | undefined} way */
  async #load(way) {
    if (!way?.parts) return;
    const given = Object.entries(way.parts).filter(([key, part]) => PARTS.includes(key) && part !== null);
    const others = PARTS.filter((key) => !given.some(([name]) => name === key));
    this.#chosen = way.key;
    await patch(`Loaded: ${way.name}`, given.map(([key, part]) => [[key], part]), others.map((key) => [key]));
    this.redraw();
  }

  /** @returns {Page.Way[]} */
  #ways() {
    const job = jobs.get()["compare"];
    const own = project.get();
    const result = job?.result;
    const compared = /** @type {any[]} */ (this.#comparison?.candidates ?? []).map((one) => ({
      key: `c ${one.name}`, name: one.name, risk: one.risk, loss: one.loss, best: Boolean(one["on the frontier"]),
      kind: /** @type {Page.Shape} */ (one["on the frontier"] ? "best" : "way"), mark: String(one.rank),
      about: [one.promises.join(", ") || one.method, `${number(one.withheld)} withheld`,
        `strongest attack: ${one["strongest attack"] || "none"}`].join("; "),
      parts: result.candidates?.[one.name] ?? null,
    }));
    const tries = (own?.tries ?? []).flatMap((one, at, all) => {
      const point = one.point ?? one.sample;
      const [risk, loss] = [point?.risks[this.#risk], point?.losses[this.#loss]];
      if (!point || point.failed || risk === undefined || loss === undefined) return [];
      const now = at === all.length - 1 && one.version === own?.version;
      return [{
        key: `t ${one.id}`, name: one.name, risk, loss, kind: /** @type {Page.Shape} */ (now ? "now" : "try"),
        mark: now ? "now" : `try ${at + 1}`, about: one.point ? "your try, exact" : "your try, on a sample", parts: one.recipe_parts,
      }];
    });
    // What you have now may be one of the compared ways: it is drawn once.
    const now = tries.find((one) => one.kind === "now");
    const same = compared.find((one) => now && Math.abs(one.risk - now.risk) + Math.abs(one.loss - now.loss) < 1e-6);
    if (now && same) Object.assign(same, { kind: "now", mark: `${same.mark} (now)` });
    return [...compared, ...tries.filter((one) => !same || one !== now)];
  }

  view() {
    const own = project.get();
    const job = jobs.get()["compare"];
    const ways = this.#ways();
    const done = Boolean(job?.result);
    const stale = done && job?.version !== own?.version && this.#chosen === null;
    const soFar = job?.found?.["so far"];
    const failed = this.#comparison?.failed ?? [];
    return [
      heading("Compare ways to publish", [
        "Each point is a way to publish your table. ", explained("risk", "Risk"), " to the right, ", explained("loss", "loss"),
        " upwards: the lower left corner is best. Click a point to use that way.",
      ]),
      h("div.row", null,
        starter("compare", "Compare", {
          again: "Compare again", done, current: done && !stale, begin: () => {
            this.#chosen = null;
            start("compare", { risk: "mean", loss: "queries" });
          },
        }),
        this.#axis("Risk is", "risks", this.#risk, (name) => (this.#risk = name)),
        this.#axis("Loss is", "losses", this.#loss, (name) => (this.#loss = name))),
      progressOf("compare", soFar ? `Comparing (${number(soFar.outcomes.length)} of ${number(soFar.of)})` : "Comparing"),
      ways.length ? this.#chart(ways) : h("p.empty", null, "Nothing to show yet. Press “Compare”."),
      this.#comparison?.verdict?.map((/** @type {string} */ sentence) => h("p", { key: sentence }, sentence)),
      this.#chosen && h("p.note.good", { role: "status" }, "This way is in your recipe now. Try it to see the table. ",
        h("button.small", { onclick: () => go("try") }, "Go to Try")),
      ways.length ? this.#list(ways) : null,
      failed.length ? more(`${counted(failed.length, "way")} did not work`,
        h("ul", null, failed.map((/** @type {any} */ one) => h("li", null, h("strong", null, one.name), `: ${one.why}`)))) : null,
      this.#solutions(),
      onward("compare", { quiet: !done }),
    ];
  }

  /** @param {string} label @param {"risks" | "losses"} kind @param {string} value @param {(name: string) => void} set */
  #axis(label, kind, value, set) {
    const options = catalogue.get()?.[kind].map((one) => option(one.name, one.name, one.about));
    return choice(label, value, options, this.redrawn(set), { disabled: isRunning(jobs.get()["compare"]) });
  }

  /** @param {Page.Way[]} ways */
  #chart(ways) {
    const dots = ways.map((way) => ({ ...way, x: way.risk, y: way.loss }));
    return h("figure", null,
      scatter(dots, {
        x: "Risk", y: "Loss", chosen: this.#chosen, taken: (key) => this.#load(ways.find((one) => one.key === key)),
      }),
      h("figcaption.legend-row", null, LEGEND.filter(([kind]) => ways.some((way) => way.kind === kind)).map(([kind, title]) =>
        h("span", { key: kind }, shape(kind), title))));
  }

  /** @param {Page.Way[]} ways */
  #list(ways) {
    return scrolled("All ways", ["", "Way", "Risk", "Loss", "", "About"], ways.map((way) =>
      h("tr", { key: way.key, class: way.key === this.#chosen ? "chosen" : "" },
        h("td", null, shape(way.kind), h("span.visually-hidden", null, LEGEND.find(([kind]) => kind === way.kind)?.[1] ?? "")),
        h("td.free", null, h("strong", null, way.mark), ` ${way.name}`),
        h("td.number", null, percent(way.risk)),
        h("td.number", null, percent(way.loss)),
        h("td", null, way.parts && h("button.small", { "aria-label": `Use ${way.name}`, onclick: () => this.#load(way) }, "Use this")),
        h("td.free", null, way.about))));
  }

  #solutions() {
    const last = project.get()?.tries.at(-1);
    if (!last?.released?.has_solutions || !last.rows_here) return null;
    const found = /** @type {any} */ (looked(`${base()}/tries/${last.id}/solutions?offset=0&limit=200`));
    if (!found) return null;
    const columns = /** @type {string[]} */ (found.columns);
    const solutions = /** @type {any[]} */ (found.solutions);
    const method = JSON.stringify(project.get()?.recipe?.["method"]);
    const named = (/** @type {any} */ one) => columns.map((name) => `${name} ${one.levels[name]}`).join(", ");
    const use = (/** @type {any} */ one) => () => patch(`Levels by hand: ${named(one)}`, [[["method"], one.method]]);
    const isUsed = (/** @type {any} */ one) => JSON.stringify(one.method) === method;
    return h("section", { "aria-label": "Solutions that the search looked at" },
      h("h2", null, `${counted(found.total, "solution")} that the search looked at`),
      h("p.faint", null, `Each has a level for ${columns.join(", ")}, in this order, and its loss. Click one to use it.`),
      h("div.row", null, ["List", "Tiles"].map((kind) => h("button.small", {
        "aria-pressed": String(this.#tiles === (kind === "Tiles")),
        onclick: this.redrawn(() => (this.#tiles = kind === "Tiles")),
      }, kind))),
      this.#tiles
        ? h("div.tiles", null, solutions.map((one) => h("button.tile", {
            key: named(one), class: one.verdict === "optimal" ? "best" : "", "aria-pressed": String(isUsed(one)),
            "aria-label": `${named(one)}: loss ${percent(one.loss)}, ${one.verdict}`, title: named(one), onclick: use(one),
          }, Object.values(one.levels).join(" "), h("span.small-text", null, percent(one.loss)))))
        : scrolled("List of solutions", [...columns, "Loss", "Withheld", "Verdict", ""], solutions.map((one) =>
            h("tr", { key: named(one), class: isUsed(one) ? "chosen" : "" },
              columns.map((name) => h("td.number", null, one.levels[name])),
              h("td.number", null, percent(one.loss)), h("td.number", null, number(one.withheld)), h("td", null, one.verdict),
              h("td", null, h("button.small", { "aria-label": `Use ${named(one)}`, onclick: use(one) }, "Use this"))))),
    );
  }
}

customElements.define("compare-screen", CompareScreen);
