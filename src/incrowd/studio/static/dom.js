/**
 * Elements as plain descriptions (`h`), and `render`, which changes a place in the page to what is described and leaves
 * alone what is the same already: focus, selection and what somebody is typing stay.
 */

import { inRoom } from "./api.js";

/**
 * @typedef {{tag: string, props: Record<string, any>, children: Node_[], key: string | undefined}} Described
 * @typedef {Described | string} Node_
 * @typedef {Node_ | number | null | undefined | false | Child[]} Child
 */

const SVG = "http://www.w3.org/2000/svg";
/** Set as properties of elements, since their attributes are only where they start. */
const LIVE = new Set(["value", "checked", "open", "selected", "indeterminate", "disabled", "readOnly"]);
const made = /** @type {WeakMap<Node, {key: string | undefined, props: Record<string, any>}>} */ (new WeakMap());
const own = /** @type {WeakSet<Node>} */ (new WeakSet());

/**
 * Describe an element. `key` tells it from its siblings, `style` is an object, `on…` are functions, other objects and
 * functions become properties, and everything else attributes.
 * @param {string} tag with classes: `p.faint`
 * @param {Api.Props | null} [props]
 * @param {...Child} children
 * @returns {Described}
 */
export function h(tag, props, ...children) {
  const [name = "div", ...classes] = tag.split(".");
  const { key, ...given } = props ?? {};
  if (given["href"]?.startsWith("/")) given["href"] = inRoom(given["href"]);
  if (classes.length) given["class"] = [...classes, given["class"]].filter(Boolean).join(" ");
  return { tag: name, props: given, children: flat(children), key: key === undefined ? undefined : String(key) };
}

/** @param {Child[]} children @returns {Node_[]} */
function flat(children) {
  const nodes = /** @type {Node_[]} */ ([]);
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) nodes.push(...flat(child));
    else nodes.push(typeof child === "number" ? String(child) : child);
  }
  return nodes;
}

/** Change what a place in the page holds to what is described. @param {Element} place @param {Child} children */
export function render(place, children) {
  if (!own.has(place)) {
    place.replaceChildren();
    own.add(place);
  }
  reconcile(place, flat([children]));
}

/** Show again what is described, where somebody has changed a field and it was refused. */
export function restore() {
  for (const node of document.querySelectorAll("input, select")) {
    const props = made.get(node)?.props ?? {};
    for (const name of ["value", "checked"]) if (name in props) assign(node, name, props[name], undefined);
  }
}

/** @param {Element} parent @param {Node_[]} wanted */
function reconcile(parent, wanted) {
  const keyed = /** @type {Map<string, ChildNode>} */ (new Map());
  const loose = /** @type {ChildNode[]} */ ([]);
  for (const node of parent.childNodes) {
    const key = made.get(node)?.key;
    if (key === undefined) loose.push(node);
    else keyed.set(key, node);
  }
  const kept = new Set();
  let next = 0;
  const nodes = wanted.map((child) => {
    /** @type {ChildNode | undefined} */
    let found;
    if (typeof child !== "string" && child.key !== undefined) {
      found = keyed.get(child.key);
      if (found && !fits(found, child)) found = undefined;
    } else {
      const place = loose.findIndex((node, at) => at >= next && fits(node, child));
      if (place >= 0) {
        found = loose[place];
        next = place + 1;
      }
    }
    const node = found ?? create(child, parent);
    kept.add(node);
    return node;
  });
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
  nodes.forEach((node, at) => {
    const child = wanted[at];
    // First amended, then put into its place: an element of ours is drawn as soon as it is in the page.
    if (typeof child !== "string") amend(/** @type {Element} */ (node), /** @type {Described} */ (child));
    else if (node.nodeValue !== child) node.nodeValue = child;
    if (parent.childNodes[at] !== node) parent.insertBefore(node, parent.childNodes[at] ?? null);
  });
}

/** @param {ChildNode} node @param {Node_} child */
function fits(node, child) {
  if (typeof child === "string") return node.nodeType === Node.TEXT_NODE;
  return node.nodeType === Node.ELEMENT_NODE && /** @type {Element} */ (node).localName === child.tag;
}

/** @param {Node_} child @param {Element} parent @returns {ChildNode} */
function create(child, parent) {
  if (typeof child === "string") return document.createTextNode(child);
  const drawn = child.tag === "svg" || (parent.namespaceURI === SVG && parent.localName !== "foreignObject");
  const node = drawn ? document.createElementNS(SVG, child.tag) : document.createElement(child.tag);
  made.set(node, { key: child.key, props: {} });
  return node;
}

/** @param {Element} node @param {Described} child */
function amend(node, child) {
  const before = made.get(node)?.props ?? {};
  const props = child.props;
  for (const name of Object.keys(before)) if (!(name in props)) assign(node, name, undefined, before[name]);
  for (const [name, value] of Object.entries(props)) {
    if (name !== "value" && !Object.is(value, before[name])) assign(node, name, value, before[name]);
  }
  made.set(node, { key: child.key, props });
  if (!node.localName.includes("-")) reconcile(node, child.children);
  // The value of a list of choices can only be one that it has by now.
  const changed = !Object.is(props["value"], before["value"]);
  const list = node.localName === "select" && node !== document.activeElement;
  if ("value" in props && (changed || list)) assign(node, "value", props["value"], undefined);
}

/** @param {Element} node @param {string} name @param {any} value @param {any} before */
function assign(node, name, value, before) {
  const target = /** @type {any} */ (node);
  if (name === "style") {
    for (const property of Object.keys(before ?? {})) {
      if (!(property in (value ?? {}))) target.style.removeProperty(property);
    }
    for (const [property, text] of Object.entries(value ?? {})) target.style.setProperty(property, String(text));
  } else if (name.startsWith("on")) {
    target[name] = value ?? null;
  } else if (LIVE.has(name) && node.namespaceURI !== SVG) {
    const plain = value ?? (name === "value" ? "" : false);
    if (target[name] !== plain) target[name] = plain;
  } else if (typeof value === "object" || typeof value === "function" || typeof before === "object") {
    target[name] = value;
  } else if (value === undefined || value === null || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}
