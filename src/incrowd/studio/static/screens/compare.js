/** Compare: ways to publish by risk and loss, one's own tries among them; a click loads one. */

import { LEGEND, scatter, shape } from "../charts.js";
import { h } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { Part } from "../part.js";
import { base, catalogue, go, jobs, looked, patch, project, start } from "../store.js";
import { heading, isBusy, isRunning, more, onward, progressOf, scrolled, valueOf } from "../widgets.js";
import { explained } from "../words.js";

/**
 * @typedef {{key: string, name: string, risk: number, loss: number, kind: "way" | "best" | "try" | "now", mark: string,
 *   about: string, parts: Record<string, any> | null}} Way `parts` are those of a recipe
 */

const PARTS = ["models", "method", "form", "sample"];

class CompareScreen extends Part {
  #resized = () => this.redraw();
  #risk = "mean";
  #loss = "queries";
  /** @type {string | null} */
  #chosen = null;
  #tiles = false;

  started() {
    addEventListener("resize", this.#resized);
  }

  disconnectedCallback() {
    removeEventListener("resize", this.#resized);
    super.disconnectedCallback();
  }

  /** The comparison on the axes that are chosen. */
  get #comparison() {
    const job = jobs.get()["compare"];
    if (!job?.result) return null;
    if (this.#risk === "mean" && this.#loss === "queries") return job.result.comparison;
    const found = /** @type {any} */ (looked(`/api/jobs/${job.id}/comparison?risk=${encodeURIComponent(this.#risk)}&loss=${this.#loss}`));
    return found?.comparison ?? job.result.comparison;
  }

  /** @param {Way} way */
  async #load(way) {
    if (!way.parts) return;
    const recipe = project.peek()?.recipe ?? {};
    const parts = way.parts;
    /** @type {[(string | number)[], any][]} */
    const set = PARTS.filter((key) => parts[key] !== undefined && parts[key] !== null).map((key) => [[key], parts[key]]);
    const remove = PARTS.filter((key) => (parts[key] === undefined || parts[key] === null) && key in recipe).map((key) => [key]);
    this.#chosen = way.key;
    await patch(`Loaded: ${way.name}`, set, remove);
    this.redraw();
  }

  /** @returns {Way[]} */
  #ways() {
    const job = jobs.get()["compare"];
    const own = project.get();
    const result = job?.result;
    /** @type {any[]} */
    const candidates = this.#comparison?.candidates ?? [];
    const compared = candidates.map((one) => ({
      key: `c ${one.name}`, name: one.name, risk: one.risk, loss: one.loss,
      kind: /** @type {"best" | "way"} */ (one["on the frontier"] ? "best" : "way"), mark: String(one.rank),
      about: [one.promises.join(", ") || one.method, `${number(one.withheld)} withheld`,
        `strongest attack: ${one["strongest attack"] || "none"}`].join("; "),
      parts: result.candidates?.[one.name] ?? null,
    }));
    const tries = (own?.tries ?? []).flatMap((one, at, all) => {
      const point = one.point ?? one.sample;
      if (!point || point.failed || point.risk === null) return [];
      const worst = Math.max(...Object.values(point.risks));
      const risk = this.#risk === "mean" ? point.risk : this.#risk === "worst" ? worst : point.risks[this.#risk];
      const loss = this.#loss === "queries" ? point.loss : point.losses[this.#loss];
      if (risk === undefined || loss === undefined || loss === null) return [];
      const now = at === all.length - 1 && one.version === own?.version;
      return [{
        key: `t ${one.id}`, name: one.name, risk, loss, kind: /** @type {"now" | "try"} */ (now ? "now" : "try"),
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
    const running = isRunning(job);
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
        h("button", { class: done ? "" : "primary", disabled: running || isBusy() || !own || own.problems.length > 0,
          onclick: () => {
            this.#chosen = null;
            start("compare", { risk: "mean", loss: "queries" });
          } }, done ? "Compare again" : "Compare"),
        this.#axis("Risk is", "risks", this.#risk, (name) => (this.#risk = name), running),
        this.#axis("Loss is", "losses", this.#loss, (name) => (this.#loss = name), running),
        stale && h("span.badge.warn", null, "You changed something since")),
      progressOf("compare", soFar ? `Comparing (${number(soFar.outcomes.length)} of ${number(soFar.of)})` : "Comparing"),
      ways.length ? this.#chart(ways) : h("p.empty", null, "Nothing to show yet. Press “Compare”."),
      this.#comparison?.verdict?.map((sentence) => h("p", { key: sentence }, sentence)),
      this.#chosen && h("p.note.good", { role: "status" }, "This way is in your recipe now. Try it to see the table. ",
        h("button.small", { onclick: () => go("try") }, "Go to Try")),
      ways.length ? this.#list(ways) : null,
      failed.length ? more(`${counted(failed.length, "way")} did not work`,
        h("ul", null, failed.map((one) => h("li", null, h("strong", null, one.name), `: ${one.why}`)))) : null,
      this.#solutions(),
      onward("compare", { quiet: !done }),
    ];
  }

  /**
   * @param {string} label
   * @param {"risks" | "losses"} kind
   * @param {string} value
   * @param {(name: string) => void} set
   * @param {boolean} disabled
   */
  #axis(label, kind, value, set, disabled) {
    const choices = catalogue.get()?.[kind] ?? [];
    return h("label", null, `${label} `, h("select", {
      value, disabled,
      onchange: (event) => {
        set(valueOf(event));
        this.redraw();
      },
    }, choices.map((one) => h("option", { value: one.name, title: one.about }, one.name))));
  }

  /** @param {Way[]} ways */
  #chart(ways) {
    const dots = ways.map((way) => ({ key: way.key, name: way.name, x: way.risk, y: way.loss, kind: way.kind, mark: way.mark }));
    return h("figure", null,
      scatter(dots, {
        x: "Risk", y: "Loss", chosen: this.#chosen,
        taken: (key) => {
          const way = ways.find((one) => one.key === key);
          if (way) this.#load(way);
        },
      }),
      h("figcaption.legend-row", null, LEGEND.filter(([kind]) => ways.some((way) => way.kind === kind)).map(([kind, title]) =>
        h("span", { key: kind }, shape(kind), title))));
  }

  /** @param {Way[]} ways */
  #list(ways) {
    return scrolled("All ways", ["", "Way", "Risk", "Loss", "", "About"], ways.map((way) =>
      h("tr", { key: way.key, class: way.key === this.#chosen ? "chosen" : "" },
        h("td", null, shape(way.kind), h("span.visually-hidden", null, LEGEND.find(([kind]) => kind === way.kind)?.[1] ?? "")),
        h("td.free", null, h("strong", null, way.mark), ` ${way.name}`),
        h("td.number", null, percent(way.risk)),
        h("td.number", null, percent(way.loss)),
        h("td", null, way.parts && h("button.small", { "aria-label": `Use ${way.name}`, onclick: () => this.#load(way) }, "Use this")),
        h("td", null, way.about))));
  }

  #solutions() {
    const last = project.get()?.tries.at(-1);
    if (!last?.released?.has_solutions || !last.rows_here) return null;
    const found = /** @type {any} */ (looked(`${base()}/tries/${last.id}/solutions?offset=0&limit=200`));
    if (!found) return null;
    const use = (one) => patch("Levels chosen by hand", [[["method"], one.method]]);
    const named = (one) => found.columns.map((name) => `${name} ${one.levels[name]}`).join(", ");
    return h("section", { "aria-label": "Solutions that the search looked at" },
      h("h2", null, `${counted(found.total, "solution")} that the search looked at`),
      h("div.row", null, ["List", "Tiles"].map((kind) => h("button.small", {
        "aria-pressed": String(this.#tiles === (kind === "Tiles")),
        onclick: this.redrawn(() => (this.#tiles = kind === "Tiles")),
      }, kind))),
      this.#tiles
        ? h("div.tiles", null, found.solutions.map((one) => h("button.tile", {
            key: named(one), class: one.verdict === "optimal" ? "best" : "",
            "aria-label": `${named(one)}: loss ${percent(one.loss)}, ${one.verdict}`, onclick: () => use(one),
          }, Object.values(one.levels).join(" "), h("span.small-text", null, percent(one.loss)))))
        : scrolled("List of solutions", [...found.columns, "Loss", "Withheld", "Verdict", ""], found.solutions.map((one) =>
            h("tr", { key: named(one) },
              found.columns.map((name) => h("td.number", null, one.levels[name])),
              h("td.number", null, percent(one.loss)), h("td.number", null, number(one.withheld)), h("td", null, one.verdict),
              h("td", null, h("button.small", { "aria-label": `Use ${named(one)}`, onclick: () => use(one) }, "Use this"))))),
    );
  }
}

customElements.define("compare-screen", CompareScreen);
