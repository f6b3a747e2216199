/**
 * `<category-tree>`: values in groups, groups in larger groups. Things are ticked and put into a group, or dragged onto
 * one. It only says what is wanted; the server makes the tree and shows it.
 */

import { h } from "./dom.js";
import { counted, number } from "./format.js";
import { Part } from "./part.js";
import { choice, option, valueOf } from "./widgets.js";

const NEW = "\u0000new";
const TOP = "\u0000top";

/** The levels as a tree, without groups that hold only one of their name. @param {Api.Hierarchy} found @returns {Page.Branch[]} */
export function branches(found) {
  let below = /** @type {Map<number, Page.Branch[]>} */ (new Map());
  let all = /** @type {Page.Branch[]} */ ([]);
  for (const level of found.levels.slice(0, -1)) {
    const next = /** @type {Map<number, Page.Branch[]>} */ (new Map());
    all = level.listed.map((one) => {
      const children = below.get(one.node) ?? [];
      const [only] = children;
      const made = { level: level.level, node: one.node, name: one.name, count: one.count, values: one.values, children };
      const shown = only && children.length === 1 && only.name === one.name ? only : made;
      if (one.parent !== null) next.set(one.parent, [...(next.get(one.parent) ?? []), shown]);
      return shown;
    });
    below = next;
  }
  return all;
}

/** @param {Page.Branch[]} list @returns {Page.Branch[]} groups, from the top */
function groupsOf(list) {
  return list.flatMap((one) => (one.level > 0 ? [one, ...groupsOf(one.children)] : []));
}

class CategoryTree extends Part {
  /** Ticked things, by level and name. @type {Map<string, Page.Branch>} */
  #ticked = new Map();
  #target = NEW;
  #name = "";
  #wrong = "";
  #filter = "";
  #dragged = /** @type {Page.Branch | null} */ (null);

  /** @param {Page.Branch[]} nodes @param {string} target */
  #move(nodes, target) {
    const levels = new Set(nodes.map((one) => one.level));
    const level = nodes[0]?.level ?? 0;
    const name = target === NEW ? this.#name.trim() : target;
    this.#wrong = "";
    if (levels.size > 1) this.#wrong = "Tick either values or groups, not both at once.";
    else if (!name) this.#wrong = "Give the new group a name first.";
    else if (nodes.some((one) => one.name === name && one.level > 0)) this.#wrong = "A group cannot be put into itself.";
    if (this.#wrong) return this.redraw();
    const names = nodes.map((one) => one.name);
    this.#ticked = new Map();
    this.#name = "";
    /** @param {string[]} members @param {string} title */
    const group = (members, title) => ({ action: "group", level, nodes: members, name: title });
    // What stands for itself is in a group of its own name.
    if (target === TOP) this.given.edit(names.map((one) => group([one], one)), `${counted(names.length, "item")} ungrouped`);
    else this.given.edit([group(names, name)], `${counted(names.length, "item")} put into ${name}`);
  }

  view() {
    const { found } = /** @type {Page.TreeGiven} */ (this.given);
    const tree = branches(found);
    const groups = groupsOf(tree);
    const known = new Set(groups.map((one) => one.name));
    if (this.#target !== NEW && this.#target !== TOP && !known.has(this.#target)) this.#target = NEW;
    const level = found.levels[0];
    const ticked = [...this.#ticked.values()];
    return [
      h("div.row.mover", null,
        choice("Put what is ticked into", this.#target,
          [option(NEW, "a new group"), [...known].map((name) => option(name)), option(TOP, "no group")],
          this.redrawn((name) => (this.#target = name))),
        this.#target === NEW && h("label", null, "called ", h("input", {
          type: "text", value: this.#name, size: 16,
          oninput: this.redrawn((event) => (this.#name = valueOf(event))),
          onkeydown: (event) => {
            if (event.key === "Enter" && ticked.length) this.#move(ticked, NEW);
          },
        })),
        h("button", { disabled: ticked.length === 0, onclick: () => this.#move(ticked, this.#target) },
          ticked.length ? `Move ${counted(ticked.length, "item")}` : "Move"),
      ),
      this.#wrong && h("p.note.bad", { role: "alert" }, this.#wrong),
      (level?.nodes ?? 0) > 30 && h("label", null, "Find a value ", h("input", {
        type: "search", value: this.#filter,
        oninput: this.redrawn((event) => (this.#filter = valueOf(event).toLowerCase())),
      })),
      this.#list(tree, "All values"),
      level?.left_out ? h("p.faint", null, `${counted(level.left_out, "more value")} not shown.`) : null,
    ];
  }

  /** @param {Page.Branch[]} list @param {string} label @returns {import("./dom.js").Child} */
  #list(list, label) {
    const wanted = list.filter((one) => one.level > 0 || one.name.toLowerCase().includes(this.#filter));
    return h("ul.tree", { "aria-label": label }, wanted.map((one) => (one.level > 0 ? this.#group(one) : this.#leaf(one))));
  }

  /** @param {Page.Branch} one */
  #box(one) {
    const key = `${one.level} ${one.name}`;
    return h("input", {
      type: "checkbox", checked: this.#ticked.has(key), "aria-label": one.level ? `Tick group ${one.name}` : `Tick ${one.name}`,
      onchange: this.redrawn((event) => (event.target.checked ? this.#ticked.set(key, one) : this.#ticked.delete(key))),
    });
  }

  /** @param {Page.Branch} one @returns {Api.Props} */
  #draggable(one) {
    return {
      key: `${one.level} ${one.name}`,
      draggable: "true",
      ondragstart: (event) => {
        event.stopPropagation();
        event.dataTransfer?.setData("text/plain", one.name);
        this.#dragged = one;
      },
      ondragend: () => (this.#dragged = null),
    };
  }

  /** @param {Page.Branch} one */
  #leaf(one) {
    return h("li.leaf", this.#draggable(one), h("label", null, this.#box(one), h("span.value", null, one.name)),
      h("span.faint.count", null, number(one.count)));
  }

  /** @param {Page.Branch} one */
  #group(one) {
    return h("li.group", {
        ...this.#draggable(one),
        ondragover: (event) => {
          if (this.#dragged) event.preventDefault();
        },
        ondrop: (event) => {
          event.preventDefault();
          event.stopPropagation();
          if (this.#dragged && this.#dragged !== one) this.#move([this.#dragged], one.name);
          this.#dragged = null;
        },
      },
      h("div.row.head", null,
        this.#box(one),
        h("input.name", {
          type: "text", value: one.name, "aria-label": `Name of group ${one.name}`,
          onchange: (event) => {
            const name = valueOf(event).trim();
            if (name && name !== one.name) {
              this.given.edit([{ action: "rename", level: one.level, node: one.name, name }], `${one.name} renamed to ${name}`);
            }
          },
        }),
        h("span.faint.count", null, number(one.count)),
        h("button.small", {
          "aria-label": `Dissolve group ${one.name}`,
          onclick: () => this.given.edit([{ action: "dissolve", level: one.level, node: one.name }], `${one.name} dissolved`),
        }, "Dissolve")),
      this.#list(one.children, one.name),
    );
  }
}

customElements.define("category-tree", CategoryTree);
