/** Small charts as SVG: they take their colours from the style sheet. */

import { h } from "./dom.js";
import { number, percent } from "./format.js";
import { signal } from "./reactive.js";

const narrow = signal(innerWidth < 640);
addEventListener("resize", () => narrow.set(innerWidth < 640));

/** Bars with names; `most` is what a full bar stands for. @param {Api.Bar[]} list @param {number} [most] */
export function bars(list, most = Math.max(...list.map((bar) => bar.value), 0)) {
  /** @param {number} value */
  const width = (value) => `${most > 0 ? Math.min(100, (100 * value) / most) : 0}%`;
  return h("div.bars", { role: "list" }, list.map((bar) =>
    h("div.bar-row", { role: "listitem" },
      h("span.bar-name", { title: bar.name }, bar.name),
      h("span.bar-track", { "aria-hidden": "true" }, h(`span.bar.${bar.class ?? "a"}`, { style: { width: width(bar.value) } })),
      h("span.bar-text", null, bar.text ?? number(bar.value)))));
}

/**
 * The bars of a histogram, in a drawing of a given size.
 * @param {Api.Bin[]} bins
 * @param {{x: (value: number) => number, top: number, bottom: number}} place
 */
export function histogramBars(bins, { x, top, bottom }) {
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  return bins.map((bin) => {
    const height = ((bottom - top) * bin.count) / most;
    const [left, right] = [x(bin.from), x(bin.to)];
    return h("rect.bin", { x: left, y: bottom - height, width: Math.max(right - left - 1, 0.8), height },
      h("title", null, `${number(bin.from)} to ${number(bin.to)}: ${number(bin.count)}`));
  });
}

/** A histogram of numbers; `label` is for those who do not see it. @param {Api.Bin[]} bins @param {string} label */
export function histogram(bins, label) {
  const [low, high, width] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0, 300];
  /** @param {number} value */
  const x = (value) => ((value - low) / (high - low || 1)) * width;
  return h("svg.histogram", { viewBox: `0 0 ${width} 84`, role: "img", "aria-label": label },
    histogramBars(bins, { x, top: 4, bottom: 64 }),
    h("line.axis", { x1: 0, x2: width, y1: 64.5, y2: 64.5 }),
    h("text", { x: 0, y: 80 }, number(low)),
    h("text", { x: width, y: 80, "text-anchor": "end" }, number(high)),
  );
}

/** How often an attack is right, with its interval, and a mark where guessing is. @param {Api.Risk} risk @param {string} kind */
export function rate({ value, interval, baseline }, kind) {
  const [low, high] = interval;
  /** @param {number} share */
  const x = (share) => 6 + 288 * share;
  return h("svg.rate", { viewBox: "0 0 300 30", role: "img", "aria-label": `right ${percent(value)}, against ${percent(baseline)}` },
    h("rect.track", { x: 6, y: 4, width: 288, height: 12, rx: 3 }),
    h(`rect.part.${kind}`, { x: 6, y: 4, width: 288 * value, height: 12, rx: 3 }),
    h("path.whisker", { d: `M${x(low)} 6v8M${x(low)} 10H${x(high)}M${x(high)} 6v8` }),
    h("path.guess", { d: `M${x(baseline)} 4v13l-5 9h10l-5-9` }),
  );
}

/** The end of an axis a little above the largest number, and its steps. @param {number} largest @returns {[number, number]} */
function axis(largest) {
  if (!(largest > 0)) return [1, 5];
  const power = 10 ** Math.floor(Math.log10(largest));
  for (const [end, steps] of [[1, 5], [1.5, 3], [2, 4], [3, 3], [4, 4], [5, 5], [6, 3], [8, 4], [10, 5], [15, 3]]) {
    if (end && steps && end * power >= 1.02 * largest) return [end * power, steps];
  }
  return [20 * power, 4];
}

/** @type {Record<Page.Shape, (x: number, y: number) => import("./dom.js").Child>} */
const SHAPES = {
  way: (x, y) => h("circle.dot", { cx: x, cy: y, r: 6 }),
  best: (x, y) => h("rect.dot", { x: x - 6, y: y - 6, width: 12, height: 12, transform: `rotate(45 ${x} ${y})` }),
  try: (x, y) => h("polygon.dot", { points: `${x},${y - 8} ${x + 8},${y + 6} ${x - 8},${y + 6}` }),
  now: (x, y) => [h("circle.ring", { cx: x, cy: y, r: 12 }), h("circle.dot", { cx: x, cy: y, r: 5 })],
};

/** The shapes of points in a list, to stand beside their meaning. */
export const LEGEND = /** @type {const} */ ([
  ["best", "nothing else is better on both"], ["way", "another way"], ["try", "your try"], ["now", "what you have now"],
]);

/** @param {Page.Shape} kind */
export function shape(kind) {
  return h(`svg.key.${kind}`, { viewBox: "0 0 28 28", "aria-hidden": "true" }, SHAPES[kind](14, 14));
}

/**
 * Points by two numbers. Each can be clicked, or reached with Tab and taken with Enter.
 * @param {Page.Dot[]} dots
 * @param {{x: string, y: string, taken: (key: string) => void, chosen?: string | null}} options
 */
export function scatter(dots, options) {
  const [width, height, left, right, top, bottom] = narrow.get() ? [360, 340, 66, 16, 18, 54] : [720, 420, 72, 26, 18, 54];
  const [xTop, xSteps] = axis(Math.max(...dots.map((dot) => dot.x), 0));
  const [yTop, ySteps] = axis(Math.max(...dots.map((dot) => dot.y), 0));
  /** @param {number} value */
  const x = (value) => left + (value / xTop) * (width - left - right);
  /** @param {number} value */
  const y = (value) => height - bottom - (value / yTop) * (height - top - bottom);
  const best = dots.filter((dot) => dot.best).toSorted((a, b) => a.x - b.x || b.y - a.y);
  const steps = /** @type {string[]} */ ([]);
  best.forEach((dot, at) => {
    const before = best[at - 1];
    if (before) steps.push(`${x(dot.x)},${y(before.y)}`);
    steps.push(`${x(dot.x)},${y(dot.y)}`);
  });
  const middle = (top + height - bottom) / 2;
  return h("svg.scatter", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${options.y} by ${options.x}` },
    ticks(xTop, xSteps).map((at) =>
      h("text", { x: x(at), y: height - bottom + 20, "text-anchor": "middle" }, `${number(100 * at)} %`)),
    ticks(yTop, ySteps).map((at) => [
      h("line.grid", { x1: left, x2: width - right, y1: y(at), y2: y(at) }),
      h("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, `${number(100 * at)} %`),
    ]),
    h("text", { x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" }, `${options.x} →`),
    h("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, `${options.y} →`),
    steps.length > 1 && h("polyline.frontier", { points: steps.join(" ") }),
    dots.map((dot) =>
      h(`g.point.${dot.kind}`, {
          key: dot.key,
          class: dot.key === options.chosen ? "chosen" : "",
          role: "button",
          tabindex: "0",
          "data-point": dot.key,
          "aria-label": `${dot.name}: ${options.x} ${percent(dot.x)}, ${options.y} ${percent(dot.y)}`,
          "aria-pressed": String(dot.key === options.chosen),
          onclick: () => options.taken(dot.key),
          onkeydown: (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            options.taken(dot.key);
          },
        },
        h("title", null, `${dot.name}: ${percent(dot.x)}, ${percent(dot.y)}`),
        h("circle.target", { cx: x(dot.x), cy: y(dot.y), r: 15 }),
        SHAPES[dot.kind](x(dot.x), y(dot.y)),
        h("text", {
          x: x(dot.x) + (dot.x < 0.9 * xTop ? 12 : -12), y: y(dot.y) + (dot.kind === "now" || dot.kind === "try" ? 20 : -9),
          "text-anchor": dot.x < 0.9 * xTop ? "start" : "end",
        }, dot.mark),
      ),
    ),
  );
}

/** @param {number} top @param {number} steps */
const ticks = (top, steps) => Array.from({ length: steps + 1 }, (_, step) => (top * step) / steps);
