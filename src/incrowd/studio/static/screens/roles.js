/** Roles: a card per column; which columns together single out how many; who is one person. */

import { post } from "../api.js";
import { bars } from "../charts.js";
import { h } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { Part } from "../part.js";
import { base, catalogue, looked, patch, project, roles, told } from "../store.js";
import { distribution, heading, onward, progressOf, valueOf } from "../widgets.js";
import { explained, WORDS } from "../words.js";

/** The roles that most tables need, in plain words; all others come behind them. @type {Record<string, string>} */
const PLAIN = {
  identifier: "Names a person: remove it",
  quasi: "Others may know it: make it less exact",
  sensitive: "Secret: protect it",
  keep: "Harmless: publish as it is",
  drop: "Not needed: leave it out",
};

class RolesScreen extends Part {
  #asked = "";
  /** @type {{together: Api.Separation, fewest: Api.Separation[] | null} | null} */
  #singling = null;

  /** @param {string} column @param {string} role @param {any} proposed hierarchy */
  #set(column, role, proposed) {
    /** @type {[(string | number)[], any][]} */
    const set = [[["columns", column, "role"], role]];
    /** @type {(string | number)[][]} */
    const remove = [];
    const before = /** @type {any} */ (project.peek()?.recipe?.["columns"]?.[column]) ?? {};
    if (role === "quasi" && proposed && !before.hierarchy) set.push([["columns", column, "hierarchy"], proposed]);
    if (role !== "quasi" && before.hierarchy) remove.push(["columns", column, "hierarchy"]);
    if (role === "date") set.push([["columns", column, "date"], { kind: catalogue.peek()?.dates[0]?.name ?? "shift" }]);
    else if (before.date) remove.push(["columns", column, "date"]);
    patch(`${column}: ${this.#title(role)}`, set, remove);
  }

  /** @param {string} role */
  #title(role) {
    return PLAIN[role] ?? catalogue.peek()?.roles.find((one) => one.name === role)?.plain_name ?? role;
  }

  /** @param {string[]} columns */
  #measure(columns) {
    const key = columns.join("\n");
    if (key === this.#asked) return;
    this.#asked = key;
    if (!columns.length) {
      this.#singling = null;
      return;
    }
    this.#ask(columns, {});
  }

  /** @param {string[]} columns @param {{fewest?: boolean}} more */
  #ask(columns, more) {
    post(`${base()}/singling`, { columns, ...more }).then((found) => {
      if (this.#asked !== columns.join("\n")) return;
      this.#singling = found;
      this.redraw();
    }, told);
  }

  view() {
    const own = project.get();
    if (!own) return h("p.empty", null, "Open a table first.");
    const profile = /** @type {Api.Profile | null | undefined} */ (
      looked(`${base()}/profile`, own.state)
    );
    const now = roles(own);
    const top = heading("What is in each column?",
      "Say of each column whether it names people, whether others may know it, or whether it is the secret. A proposal is there already.");
    if (!profile) return [top, progressOf("open", "Reading"), h("p.faint", null, "Counting …")];
    const quasi = profile.columns.map((one) => one.name).filter((name) => now[name] === "quasi");
    this.#measure(quasi);
    const missing = profile.columns.filter((one) => !now[one.name]);
    return [
      top,
      this.#exposed(quasi),
      this.#person(profile, now),
      profile.notes.map((note) => h("p.note", { key: note }, note)),
      h("h2", null, counted(profile.columns.length, "column")),
      h("div.cards", null, profile.columns.map((column) => this.#card(column, now[column.name] ?? ""))),
      onward("roles", {
        ready: missing.length === 0 && quasi.length > 0,
        why: missing.length ? `Choose a role for ${missing[0]?.name}.` : "Choose at least one column that others may know.",
      }),
    ];
  }

  /** @param {string[]} quasi */
  #exposed(quasi) {
    const found = this.#singling;
    if (!quasi.length) return h("p.note", null, "No column is marked “Others may know it”. Then nobody is hidden in a crowd.");
    if (!found) return h("p.faint", null, "Counting who stands out …");
    const { together, fewest } = found;
    const kind = together.unique_share > 0.05 ? "bad" : together.unique_rows ? "warn" : "good";
    return h("section.leading", { class: kind, "aria-live": "polite" },
      h("p", null, h("strong", null, `${percent(together.unique_share)} of the rows stand alone. `),
        `Whoever knows ${quasi.join(", ")} of a person can find that one row: `,
        `${number(together.unique_rows)} of ${number(together.rows)} rows.`,
        explained("singled out", "")),
      fewest === null && h("button.small", { onclick: () => this.#ask(quasi, { fewest: true }) }, "Which few columns are enough?"),
      fewest && fewest.length > 1 && h("details", null, h("summary", null, "Which few columns are enough?"),
        bars(fewest.map(({ columns, unique_share: share }) =>
          ({ name: columns.join(" + "), value: share, text: percent(share), class: "bad" })), 1)),
    );
  }

  /** @param {Api.Profile} profile @param {Record<string, string>} now */
  #person(profile, now) {
    const own = Object.keys(now).filter((name) => now[name]?.startsWith("person"));
    const each = project.get()?.recipe?.["each_row_a_person"] === true;
    const { proposed, candidates } = profile.people;
    const choice = own[0] ?? (each || !proposed ? "" : "?");
    const names = [...new Set([...candidates.map((one) => one.column), ...own])];
    const pick = (column) => () => {
      /** @type {[(string | number)[], any][]} */
      const set = own.filter((name) => name !== column).map((name) => [["columns", name, "role"], "identifier"]);
      if (column) patch(`${column} tells who is who`, [...set, [["columns", column, "role"], "person"]],
        each ? [["each_row_a_person"]] : []);
      else patch("Each row is one person", [...set, [["each_row_a_person"], true]]);
    };
    return h("fieldset", null,
      h("legend", null, explained("person", "Who is one person?")),
      h("label", null, h("input", { type: "radio", name: "person", checked: choice === "", onchange: pick("") }), "Each row is one person"),
      names.map((column) => {
        const found = candidates.find((one) => one.column === column);
        return h("div", { key: column }, h("label", null,
          h("input", { type: "radio", name: "person", checked: choice === column, onchange: pick(column) }),
          `The column ${column} tells whose a row is`,
          found && h("span.faint", null, ` (${counted(found.distinct, "person", "people")})`),
          column === proposed && h("span.badge", null, "proposed")));
      }),
    );
  }

  /** @param {Api.ColumnProfile} column @param {string} role */
  #card(column, role) {
    const all = catalogue.get()?.roles ?? [];
    const meant = all.find((one) => one.name === role);
    const rare = all.filter((one) => !(one.name in PLAIN));
    const unsure = column.unsure && role === column.role;
    return h("article.card", { key: column.name, class: unsure ? "unsure" : "", "aria-label": column.name },
      h("h3", null, column.name, unsure && [" ", h("span.badge.warn", null, "please check")]),
      h("div.role", null, h("select", {
        value: role, "aria-label": `Role of ${column.name}`,
        onchange: (event) => this.#set(column.name, valueOf(event), column.hierarchy),
      },
        !role && h("option", { value: "" }, "choose …"),
        Object.entries(PLAIN).map(([name, title]) => h("option", { value: name }, title)),
        h("optgroup", { label: "More" }, rare.map((one) => h("option", { value: one.name }, one.plain_name)))),
        h("help-word", { given: { word: role, name: this.#title(role), text: WORDS[role] ?? meant?.about } })),
      h("p.small-text.faint", null, role === column.role ? "Proposed: " : `Proposed was: ${this.#title(column.role)}. `, column.reason),
      distribution(column.distribution, column.name, 5),
      h("p.small-text", null, `${column.distinct_exact ? "" : "about "}${counted(column.distinct, "different value")}`,
        column.missing ? `, ${number(column.missing)} missing` : "", ". ",
        explained("unique", `Stand alone: ${percent(column.unique_share)}`)),
    );
  }
}

customElements.define("roles-screen", RolesScreen);
