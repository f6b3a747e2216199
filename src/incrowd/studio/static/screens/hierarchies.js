/** Hierarchies: how values become less exact. What is shown is what will be applied. */

import { ask, post } from "../api.js";
import "../category-tree.js";
import { h } from "../dom.js";
import { counted, number } from "../format.js";
import "../number-line.js";
import { Part } from "../part.js";
import { onePart } from "../parts.js";
import { base, catalogue, columnsOf, doing, looked, project, putHierarchy } from "../store.js";
import { distribution, heading, more, onward, scrolled } from "../widgets.js";
import { explained } from "../words.js";

class HierarchiesScreen extends Part {
  #column = "";
  /** A hierarchy from a file, looked at before it replaces anything. @type {Api.Hierarchy | null} */
  #waiting = null;
  #draft = /** @type {Record<string, any> | null} */ (null);

  /** @param {string} column */
  #choose(column) {
    [this.#column, this.#waiting, this.#draft] = [column, null, null];
    this.redraw();
  }

  get #path() {
    return `${base()}/hierarchies/${encodeURIComponent(this.#column)}`;
  }

  /** @param {any} hierarchy @param {string} label */
  async #put(hierarchy, label) {
    await putHierarchy(this.#column, hierarchy, `${this.#column}: ${label}`);
    [this.#waiting, this.#draft] = [null, null];
    this.redraw();
  }

  /** One change after the other, and then all of them as one step. @param {any[]} edits @param {string} label */
  async #edit(edits, label) {
    let made = /** @type {any} */ (null);
    for (const edit of edits) {
      made = await doing(() => post(`${this.#path}/edit`, { hierarchy: made?.hierarchy ?? null, edit }));
      if (!made) break;
    }
    if (made) await this.#put(made.hierarchy, label);
    else this.redraw();
  }

  view() {
    const own = project.get();
    const now = columnsOf(own);
    const using = catalogue.get()?.changes.filter((kind) => kind.uses_hierarchy).map((kind) => kind.name) ?? [];
    /** @param {any} change */
    const uses = (change) => [change ?? []].flat().some((one) => using.includes(one.name ?? one));
    const columns = Object.entries(now).filter(([, one]) => one["role"] === "quasi" || uses(one["change"])).map(([name]) => name);
    const top = heading("How may values become less exact?", [
      "34 becomes “30 to 40”, Italy becomes Europe. Each such way is a ", explained("hierarchy", "hierarchy"),
      ". A proposal is there for each column. You may go on without changing anything.",
    ]);
    if (!columns.length) return [top, h("p.empty", null, "No column is marked “Others may know it”. Go back to Roles and mark one.")];
    if (!columns.includes(this.#column)) this.#column = columns[0] ?? "";
    const found = /** @type {Api.Hierarchy | null | undefined} */ (looked(this.#path, own?.version));
    return [
      top,
      h("div.tabs.row", { role: "tablist", "aria-label": "Column" }, columns.map((name) =>
        h("button", {
          key: name, role: "tab", "aria-selected": String(name === this.#column), onclick: () => this.#choose(name),
        }, name))),
      found && found.column === this.#column ? this.#editor(found) : h("p.faint", null, "Looking it up …"),
      onward("hierarchies"),
    ];
  }

  /** @param {Api.Hierarchy} found */
  #editor(found) {
    const shown = this.#waiting ?? found;
    return h("section", { key: found.column, "aria-label": found.column },
      this.#waiting && this.#check(this.#waiting),
      !found.covered && found.uncovered && h("p.note.bad", { role: "alert" },
        `${counted(found.uncovered.count, "value is", "values are")} not in this hierarchy: ${found.uncovered.values.join(", ")} … `,
        "Put them into a group, or choose another kind."),
      this.#drawing(found),
      this.#levels(shown),
      this.#kinds(found),
      this.#files(found),
    );
  }

  /** @param {Api.Hierarchy} found */
  #drawing(found) {
    if (found.numeric && found.histogram.kind === "numbers") {
      const { bins } = found.histogram;
      return h("number-line", {
        given: {
          bins, whole: found.whole ?? bins.every((bin) => Number.isInteger(bin.from)), cuts: found.cuts ?? [],
          changed: (/** @type {number[][]} */ cuts) =>
            cuts.length ? this.#put({ kind: "intervals", cuts }, `${counted(cuts[0]?.length ?? 0, "cut")}`) : this.#put(null, "no cuts"),
        },
      });
    }
    if (found.kind === "categories" || found.kind === "flat" || found.kind === "automatic" || found.levels.length <= 2) {
      return h("category-tree", { given: { found, edit: this.#edit.bind(this) } });
    }
    return distribution(found.histogram, found.column, 12);
  }

  /** @param {Api.Hierarchy} shown */
  #levels(shown) {
    if (!shown.levels.length) return null;
    return [
      h("h2", null, explained("level", "Level by level")),
      scrolled("Levels", ["Level", "Different", "For example, with rows"], shown.levels.map((level) =>
        h("tr", { key: level.level }, h("td", null, level.level), h("td.number", null, number(level.nodes)),
          h("td.free", null, level.listed.slice(0, 5).map((node) => `${node.name} (${number(node.count)})`).join("   "),
            level.nodes > 5 ? " …" : "")))),
    ];
  }

  /** @param {Api.Hierarchy} found */
  #kinds(found) {
    const kinds = catalogue.get()?.hierarchies ?? [];
    const draft = this.#draft ?? found.hierarchy ?? {};
    return more("Another kind of hierarchy",
      onePart("Kind", draft, { kinds, key: "kind", put: this.redrawn((update) => (this.#draft = update(draft))) }),
      h("div.row", null,
        h("button", { disabled: !this.#draft, onclick: () => this.#put(this.#draft, `kind ${draft["kind"]}`) }, "Use this kind"),
        found.proposed && h("button", { onclick: () => this.#put(found.proposed, "as proposed") }, "Back to the proposal")),
    );
  }

  /** @param {Api.Hierarchy} found */
  #files(found) {
    return more("Import or export",
      h("div.row", null,
        h("label", null, "Import a CSV file (value;level 1;level 2;…) ", h("input", {
          type: "file", accept: ".csv,.txt",
          onchange: async (event) => {
            const file = event.target.files?.[0];
            if (!file) return;
            const text = await file.text();
            this.#waiting = (await doing(() => ask("POST", `${this.#path}/file`, text, "text/csv"))) ?? null;
            this.redraw();
          },
        })),
        h("a.button", { href: `${this.#path}/file`, download: true }, `Export ${found.column}`)),
    );
  }

  /** @param {Api.Hierarchy} waiting */
  #check(waiting) {
    const good = waiting.covered;
    return h("div.note", { class: good ? "good" : "bad", role: "alert" },
      h("p", null, good
        ? "The file covers every value of this column. The old hierarchy is still in use."
        : [`The file lacks ${counted(waiting.uncovered?.count ?? 0, "value")} of this column: `,
            `${(waiting.uncovered?.values ?? []).join(", ")} … It cannot be used. The old hierarchy stays.`]),
      h("div.row", null,
        good && h("button.primary", { onclick: () => this.#put(waiting.hierarchy, "imported") }, "Use the file"),
        h("button", { onclick: this.redrawn(() => (this.#waiting = null)) }, "Keep the old one")),
    );
  }
}

customElements.define("hierarchies-screen", HierarchiesScreen);
