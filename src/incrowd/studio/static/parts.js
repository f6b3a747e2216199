/** Parts of a recipe (models, methods, changes …) and their forms. What there is comes from the catalogue. */

import { h } from "./dom.js";
import { choice, more, option, optionGroup, valueOf } from "./widgets.js";
import { explained, WORDS } from "./words.js";

/** A first value for what a part needs, by its name. Whatever else is needed starts with 1. @type {Page.Values} */
const STARTS = { k: 5, l: 2, t: 0.2, c: 2, alpha: 0.5, risk: 0.09, most_days: 60, to: 1000, keep: 3, within: 0.05 };

/** A part may be written as its name alone. @param {string | Page.Values | undefined} part @returns {Page.Values} */
const asTable = (part, key = "name") => (typeof part === "string" ? { [key]: part } : (part ?? {}));

/** A list may be written as its only part. @param {any} given @returns {Page.Values[]} */
const asList = (given) => (given === undefined ? [] : [given].flat()).map((one) => asTable(one));

/** A part with a first value for all that it needs. @param {Api.PartKind} kind @param {Page.Offer} offer @returns {Page.Values} */
function fresh(kind, { key = "name", columns = [] }) {
  const values = kind.parameters.filter((one) => one.needed).map((one) => {
    const byKind = /** @type {Page.Values} */ ({ column: columns[0], choice: one.choices?.[0], table: {}, list: [], texts: [] });
    return [one.name, one.default ?? byKind[one.kind] ?? STARTS[one.name] ?? 1];
  });
  return { [key]: kind.name, ...Object.fromEntries(values) };
}

/** The kinds to choose from: those that most people ask for stand first. @param {Api.PartKind[]} kinds */
function choices(kinds) {
  const some = kinds.some((kind) => kind.common);
  /** @param {(kind: Api.PartKind) => unknown} wanted */
  const listed = (wanted) =>
    kinds.filter(wanted).map((kind) => option(kind.name, kind.plain_name ? `${kind.name}: ${kind.plain_name}` : kind.name));
  return [
    listed((kind) => kind.common || !some),
    some && optionGroup("More", listed((kind) => !kind.common && !kind.private)),
    some && optionGroup("With differential privacy", listed((kind) => kind.private)),
  ];
}

/** One part: which kind, and its options. @param {string} label @param {any} given @param {Page.Offer} offer */
export function onePart(label, given, offer) {
  const { kinds, put, key = "name", none } = offer;
  const part = asTable(given, key);
  const kind = kinds.find((one) => one.name === part[key]);
  return [
    h("div.row", null, choice(label, kind?.name ?? "", [!kind && option("", none ?? "choose …"), choices(kinds),
      kind && none && option("", none)], (name) => {
      const next = kinds.find((one) => one.name === name);
      put(() => next && fresh(next, offer), `${label}: ${name || none}`);
    })),
    kind && h("p.faint.small-text", null, kind.about),
    kind && partForm(kind, part, offer),
  ];
}

/** Several parts, each with its options; others can be added. @param {string} label @param {any} given @param {Page.Offer} offer */
export function manyParts(label, given, offer) {
  const { kinds, put } = offer;
  const parts = asList(given);
  return [
    parts.map((part, place) => {
      const name = String(part["name"]);
      const kind = kinds.find((one) => one.name === name);
      return h("div.card", { key: `${place} ${name}` },
        h("div.row", null,
          h("div.grow", null, kind ? named(kind) : name),
          h("button.small", {
            "aria-label": `Remove ${name}`, onclick: () => put((now) => asList(now).toSpliced(place, 1), `Without ${name}`),
          }, "Remove")),
        kind && partForm(kind, part, {
          ...offer, put: (update, said) => put((now) => asList(now).map((one, at) => (at === place ? update(one) : one)), said),
        }));
    }),
    h("div.row", null, choice(label, "", [
      option("", "choose …"), choices(kinds.filter((kind) => !parts.some((part) => part["name"] === kind.name))),
    ], (name, list) => {
      list.value = "";
      const kind = kinds.find((one) => one.name === name);
      if (kind) put((now) => [...asList(now), fresh(kind, offer)], `${name} asked for`);
    })),
  ];
}

/** @param {Api.PartKind} kind */
function named(kind) {
  const about = WORDS[kind.name] ?? [kind.about, kind.more].filter(Boolean).join(" ");
  return [explained(kind.name, kind.name, about), kind.plain_name && h("div.faint.small-text", null, kind.plain_name)];
}

/** The options of a part, the seldom ones behind. @param {Api.PartKind} kind @param {Page.Values} values @param {Page.Offer} offer */
function partForm(kind, values, { put, columns, key = "name" }) {
  // What is drawn elsewhere, such as a tree of values, is no text to write.
  const simple = kind.parameters.filter((one) => one.kind !== "text" || typeof (values[one.name] ?? "") === "string");
  const needy = simple.some((one) => one.needed);
  const front = simple.filter((one, at) => one.needed || values[one.name] !== undefined || (!needy && at < 2));
  const behind = simple.filter((one) => !front.includes(one));
  /** @param {string} name @param {any} value */
  const changed = (name, value) => {
    const said = `${kind.name}: ${name.replaceAll("_", " ")}`;
    put((now) => {
      const { [name]: _, ...others } = { [key]: kind.name, ...asTable(now, key) };
      return value === undefined ? others : { ...others, [name]: value };
    }, value === undefined ? `${said} left out` : `${said} is ${written(value)}`);
  };
  return [
    front.length > 0 && h("div.row", null, fields(front, values, changed, columns)),
    behind.length > 0 && more("More options", h("div.row", null, fields(behind, values, changed, columns))),
  ];
}

/** @type {(parameters: Api.Parameter[], values: Page.Values, changed: Page.Changed, columns?: string[]) => import("./dom.js").Child} */
export const fields = (parameters, values, changed, columns = []) =>
  parameters.map((one) => field(one, values[one.name], changed, columns));

/** @param {Api.Parameter} parameter @param {any} value @param {Page.Changed} changed @param {string[]} columns */
function field(parameter, value, changed, columns) {
  const { name, kind, about, default: usual } = parameter;
  const title = name.replaceAll("_", " ");
  const common = /** @type {Api.Props} */ ({
    "aria-label": title, "data-parameter": name, value: written(value),
    onchange: (event) => changed(name, read(valueOf(event), parameter)),
  });
  const placeholder = written(usual) || (kind === "table" ? '{"name": 1}' : "none");
  let input;
  if (kind === "truth") {
    const onchange = (/** @type {any} */ event) => changed(name, event.target.checked);
    input = h("input", { ...common, type: "checkbox", value: "on", checked: Boolean(value ?? usual), onchange });
  } else if (kind === "choice" || kind === "column") {
    const all = kind === "column" ? columns : (parameter.choices ?? []);
    input = h("select", common, option("", usual === null || usual === undefined ? "–" : `${usual} (default)`),
      all.filter((one) => one !== usual).map((one) => option(one)));
  } else if (kind === "whole" || kind === "number") {
    input = h("input", { ...common, type: "number", step: kind === "whole" ? 1 : "any", placeholder: written(usual) });
  } else input = h("input", { ...common, type: "text", placeholder });
  return h("span.field", { key: name }, h("span", null, about ? explained(name, title, about) : title), " ", input);
}

/** @param {any} value */
function written(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((one) => (Array.isArray(one) ? one.join(" + ") : one)).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {string} text @param {Api.Parameter} parameter */
function read(text, { kind }) {
  const clean = text.trim();
  /** @param {string} sign */
  const parts = (sign, whole = clean) => whole.split(sign).map((part) => part.trim()).filter(Boolean);
  if (clean === "") return undefined;
  if (kind === "whole" || kind === "number") return Number(clean);
  if (kind === "columns" || kind === "list" || kind === "texts") {
    /** @param {string} one */
    const item = (one) => (kind === "list" && !Number.isNaN(Number(one)) ? Number(one) : one);
    const groups = parts(",").map((group) => parts("+", group).map(item));
    return kind === "columns" || groups.some((group) => group.length > 1) ? groups : groups.flat();
  }
  try {
    return kind === "table" ? JSON.parse(clean) : clean;
  } catch {
    return clean;
  }
}
