/**
 * `<number-line>`: cuts on a number line over a histogram.
 *
 * A cut is dragged, or moved with the arrow keys (up and down: kept at more or at fewer levels; Delete: removed). The
 * list below says the same in numbers. Each level keeps some cuts of the one before, so a cut is a place and the last
 * level that has it.
 */

import { histogramBars } from "./charts.js";
import { h } from "./dom.js";
import { number } from "./format.js";
import { Part } from "./part.js";
import { choice, more, option } from "./widgets.js";

/** @param {number[][]} levels @returns {Page.Cut[]} */
export function cutsOf(levels) {
  return (levels[0] ?? []).map((at) => ({ at, level: levels.filter((level) => level.includes(at)).length }));
}

/** @param {Page.Cut[]} cuts @returns {number[][]} levels, without those that have no cut */
export function levelsOf(cuts) {
  const most = Math.max(0, ...cuts.map((cut) => cut.level));
  const sorted = cuts.toSorted((a, b) => a.at - b.at);
  return Array.from({ length: most }, (_, place) =>
    sorted.filter((cut) => cut.level > place).map((cut) => cut.at),
  );
}

/** A round step, about a hundredth of what is shown. @param {number} span @param {boolean} whole */
export function roundStep(span, whole) {
  const power = 10 ** Math.floor(Math.log10(span / 100 || 1));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size * 100 >= span) ?? power;
  return whole ? Math.max(1, Math.round(step)) : step;
}

class NumberLine extends Part {
  #cuts = /** @type {Page.Cut[]} */ ([]);
  #shown = /** @type {number[][] | null} */ (null);
  #levels = 1;
  #width = 600;
  #dragged = -1;
  #watching = new ResizeObserver(() => {
    const width = Math.max(260, Math.round(this.clientWidth));
    if (width !== this.#width) {
      this.#width = width;
      this.redraw();
    }
  });

  started() {
    this.#watching.observe(this);
  }

  disconnectedCallback() {
    this.#watching.disconnect();
    super.disconnectedCallback();
  }

  get #range() {
    const bins = /** @type {Api.Bin[]} */ (this.given.bins);
    const low = bins[0]?.from ?? 0;
    const high = bins.at(-1)?.to ?? 1;
    return { low, high, step: roundStep(high - low || 1, this.given.whole) };
  }

  /** @param {number} value */
  #x = (value) => {
    const { low, high } = this.#range;
    return 14 + ((value - low) / (high - low || 1)) * (this.#width - 28);
  };

  /** @param {number} value @param {number} step */
  #round(value, step) {
    const { low, high } = this.#range;
    return Number(Math.min(high, Math.max(low, Math.round(value / step) * step)).toPrecision(12));
  }

  #tell() {
    this.#shown = levelsOf(this.#cuts);
    this.given.changed(this.#shown);
    this.redraw();
  }

  /** @param {number} place @param {Partial<Page.Cut>} change */
  #change(place, change) {
    const { low, high, step } = this.#range;
    const least = (this.#cuts[place - 1]?.at ?? low - step) + step;
    const most = (this.#cuts[place + 1]?.at ?? high + step) - step;
    // A cut does not pass its neighbours.
    if (change.at !== undefined) change = { ...change, at: Math.max(least, Math.min(most, change.at)) };
    this.#cuts = this.#cuts.map((cut, at) => (at === place ? { ...cut, ...change } : cut));
    if (change.level) this.#levels = Math.max(this.#levels, change.level);
    this.redraw();
  }

  /** @param {number} place */
  #remove(place) {
    this.#cuts = this.#cuts.filter((_, at) => at !== place);
    this.#tell();
  }

  /** Put a cut into the middle of the range with the most people. */
  #add() {
    const { low, high, step } = this.#range;
    const starts = [low, ...this.#cuts.map((cut) => cut.at)];
    const bins = /** @type {Api.Bin[]} */ (this.given.bins);
    const [best] = starts.map((from, place) => {
      const to = starts[place + 1] ?? high;
      const inside = bins.filter((bin) => bin.from < to && bin.to > from);
      return { from, to, at: this.#round((from + to) / 2, step), people: inside.reduce((sum, bin) => sum + bin.count, 0) };
    }).filter(({ from, to, at }) => from < at && at < to).toSorted((a, b) => b.people - a.people);
    if (!best) return;
    this.#cuts = [...this.#cuts, { at: best.at, level: 1 }].toSorted((a, b) => a.at - b.at);
    this.#tell();
  }

  /** @param {KeyboardEvent} event @param {number} place */
  #key(event, place) {
    const cut = this.#cuts[place];
    if (!cut) return;
    const { step } = this.#range;
    const moves = /** @type {Record<string, number>} */ ({
      ArrowLeft: -step, ArrowRight: step, PageDown: -10 * step, PageUp: 10 * step,
    });
    const move = moves[event.key];
    if (move !== undefined) this.#change(place, { at: this.#round(cut.at + move, step) });
    else if (event.key === "ArrowUp") this.#change(place, { level: Math.min(cut.level + 1, this.#levels) });
    else if (event.key === "ArrowDown") this.#change(place, { level: Math.max(cut.level - 1, 1) });
    else if (event.key === "Delete" || event.key === "Backspace") this.#remove(place);
    else return;
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const box = this.querySelector("svg")?.getBoundingClientRect();
    if (this.#dragged < 0 || !box) return;
    const { low, high, step } = this.#range;
    const at = low + ((event.clientX - box.left - 14) / (this.#width - 28)) * (high - low);
    this.#change(this.#dragged, { at: this.#round(at, step) });
  }

  #settle() {
    this.#dragged = -1;
    if (JSON.stringify(levelsOf(this.#cuts)) !== JSON.stringify(this.#shown)) this.#tell();
  }

  view() {
    const given = /** @type {Page.LineGiven} */ (this.given);
    if (!given.bins?.length) return h("p.faint", null, "This column has no numbers to draw.");
    if (this.#dragged < 0 && JSON.stringify(given.cuts) !== JSON.stringify(this.#shown)) {
      this.#cuts = cutsOf(given.cuts);
      this.#shown = given.cuts;
      this.#levels = Math.max(1, given.cuts.length);
    }
    return [
      this.#line(given),
      h("div.row", null,
        h("button", { onclick: () => this.#add() }, "Add a cut"),
        h("button", { onclick: this.redrawn(() => (this.#levels += 1)) }, "Add a level"),
        h("span.faint", null, "Drag a cut, or move it with the arrow keys ← →. Up and down: at how many levels it stays.")),
      this.#list(),
    ];
  }

  /** @param {Page.LineGiven} given */
  #line(given) {
    const { low, high } = this.#range;
    const [top, bottom] = [22, 132];
    const apart = roundStep(100 * (high - low) / Math.max(2, Math.floor(this.#width / 80)), given.whole);
    const first = Math.ceil(low / apart);
    return h("svg.line", {
        width: this.#width, height: 160, viewBox: `0 0 ${this.#width} 160`, role: "group",
        "aria-label": "Number line with cuts",
        onpointermove: (event) => this.#drag(event),
        onpointerup: () => this.#settle(),
      },
      histogramBars(given.bins, { x: this.#x, top, bottom }),
      h("line.axis", { x1: 14, x2: this.#width - 14, y1: bottom + 0.5, y2: bottom + 0.5 }),
      Array.from({ length: Math.floor(high / apart) - first + 1 }, (_, mark) => {
        const value = Number(((first + mark) * apart).toPrecision(12));
        return h("text", { x: this.#x(value), y: bottom + 20, "text-anchor": "middle" }, number(value));
      }),
      this.#cuts.map((cut, place) => this.#handle(cut, place, top, bottom)),
    );
  }

  /** @param {Page.Cut} cut @param {number} place @param {number} top @param {number} bottom */
  #handle(cut, place, top, bottom) {
    const x = this.#x(cut.at);
    const { low, high } = this.#range;
    const start = bottom - ((bottom - top) * cut.level) / this.#levels;
    return h("g.cut", {
        role: "slider", tabindex: "0", "aria-label": `Cut ${place + 1}`, "aria-valuemin": low, "aria-valuemax": high,
        "aria-valuenow": cut.at, "aria-valuetext": `${number(cut.at)}, kept up to level ${cut.level}`,
        "data-cut": cut.at,
        onpointerdown: (event) => {
          this.#dragged = place;
          /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
        },
        onkeydown: (event) => this.#key(event, place),
        onkeyup: () => this.#settle(),
        onblur: () => this.#settle(),
      },
      h("rect.target", { x: x - 12, y: top - 20, width: 24, height: bottom - top + 24 }),
      h("line", { x1: x, x2: x, y1: start, y2: bottom }),
      h("circle", { cx: x, cy: start, r: 7 }),
      h("text", { x, y: start - 10, "text-anchor": "middle" }, number(cut.at)),
    );
  }

  #list() {
    if (!this.#cuts.length) return h("p.faint", null, "No cuts yet: all numbers are one range.");
    const { step } = this.#range;
    const levels = Array.from({ length: this.#levels }, (_, level) => option(String(level + 1)));
    /** @param {number} place @param {Partial<Page.Cut>} change */
    const changed = (place, change) => {
      this.#change(place, change);
      this.#settle();
    };
    return more(`The ${this.#cuts.length === 1 ? "cut" : `${this.#cuts.length} cuts`} as numbers`,
      h("ul.plain.cuts", null, this.#cuts.map((cut, place) =>
        h("li.row", null,
          h("label", null, `Cut ${place + 1} `, h("input", {
            type: "number", step: "any", value: String(cut.at),
            onchange: (event) => changed(place, { at: this.#round(Number(event.target.value) || 0, Math.min(step, 1e-6)) }),
          })),
          choice("kept up to level", String(cut.level), levels, (level) => changed(place, { level: Number(level) })),
          h("button.small", { onclick: () => this.#remove(place) }, `Remove cut ${place + 1}`)))),
    );
  }
}

customElements.define("number-line", NumberLine);
