/** Roles: a card per column; which columns together single out how many; who is one person; which rule is asked for. */

import { post } from "../api.js";
import { bars } from "../charts.js";
import { h } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { Part } from "../part.js";
import { manyParts, onePart } from "../parts.js";
import { base, catalogue, columnsOf, looked, patch, project, putAt, putRecipe, told, withRole } from "../store.js";
import {
  bullets, choice, distribution, heading, onward, option, optionGroup, problemsOf, progressOf, valueOf,
} from "../widgets.js";
import { explained, WORDS } from "../words.js";

/** The roles that most tables need, in plain words; all others come behind them. @type {Record<string, string>} */
const PLAIN = {
  identifier: "Names a person: remove it",
  quasi: "Others may know it: less exact",
  sensitive: "Secret: protect it",
  keep: "Harmless: publish as it is",
  drop: "Not needed: leave it out",
};

/** What a column says besides its role, and the roles that it goes with. @type {Record<string, string[]>} */
const GOES_WITH = { hierarchy: ["quasi"], show: ["quasi"], date: ["date"], change: ["sensitive", "keep"] };

class RolesScreen extends Part {
  #asked = "";
  #rule = "";
  #singling = /** @type {{together: Api.Separation, fewest: Api.Separation[] | null} | null} */ (null);

  /** @param {string} column @param {string} role @param {any} proposed hierarchy */
  #set(column, role, proposed) {
    const path = ["columns", column];
    /** @type {[(string | number)[], any][]} */
    const set = [[[...path, "role"], role]];
    const before = columnsOf(project.peek())[column] ?? {};
    const date = catalogue.peek()?.dates.find((kind) => !kind.needs_person)?.name;
    if (role === "quasi" && proposed && !before["hierarchy"]) set.push([[...path, "hierarchy"], proposed]);
    if (role === "date" && !before["date"]) set.push([[...path, "date"], { kind: date }]);
    const gone = Object.keys(GOES_WITH).filter((key) => before[key] && !GOES_WITH[key]?.includes(role));
    patch(`${column}: ${this.#title(role)}`, set, gone.map((key) => [...path, key]));
  }

  /** @param {string} role */
  #title(role) {
    return PLAIN[role] ?? catalogue.peek()?.roles.find((one) => one.name === role)?.plain_name ?? role;
  }

  /** Ask how many stand out, once for the same columns. @param {string[]} columns @param {{fewest?: boolean}} [more] */
  #measure(columns, more) {
    const key = columns.join("\n");
    if (key === this.#asked && !more) return;
    this.#asked = key;
    if (!columns.length) this.#singling = null;
    else post(`${base()}/singling`, { columns, ...more }).then(this.redrawn((found) => {
      if (this.#asked === key) this.#singling = found;
    }), told);
  }

  view() {
    const own = project.get();
    if (!own) return h("p.empty", null, "Open a table first.");
    const profile = /** @type {Api.Profile | null | undefined} */ (
      looked(`${base()}/profile`, own.state)
    );
    const all = catalogue.get();
    const now = columnsOf(own);
    const top = heading("What is in each column?",
      "Say of each column whether it names people, whether others may know it, or whether it is the secret. A proposal is there already.");
    if (!profile || !all) return [top, progressOf("open", "Reading"), h("p.faint", null, "Counting …")];
    const quasi = profile.columns.map((one) => one.name).filter((name) => now[name]?.["role"] === "quasi");
    this.#measure(quasi);
    const missing = profile.columns.filter((one) => !now[one.name]?.["role"]);
    return [
      top,
      this.#exposed(quasi),
      this.#person(profile),
      this.#rules(own, all.rules),
      problemsOf(own),
      profile.notes.map((note) => h("p.note", { key: note }, note)),
      h("h2", null, counted(profile.columns.length, "column")),
      h("div.cards", null, profile.columns.map((column) => this.#card(column, now[column.name] ?? {}, all))),
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
      fewest === null && h("button.small", { onclick: () => this.#measure(quasi, { fewest: true }) }, "Which few columns are enough?"),
      fewest && fewest.length > 1 && h("details", null, h("summary", null, "Which few columns are enough?"),
        bars(fewest.map(({ columns, unique_share: share }) =>
          ({ name: columns.join(" + "), value: share, text: percent(share), class: "bad" })), 1)),
    );
  }

  /** @param {Api.Profile} profile */
  #person(profile) {
    const now = project.get();
    const own = ["person", "person-pseudonym", "person-household"].flatMap((role) => withRole(now, role));
    const each = now?.recipe?.["each_row_a_person"] === true;
    const { proposed, candidates } = profile.people;
    const chosen = own[0] ?? (each || !proposed ? "" : "?");
    const names = [...new Set([...candidates.map((one) => one.column), ...own])];
    /** @param {string} column */
    const pick = (column) => () => {
      /** @type {[(string | number)[], any][]} */
      const set = own.filter((name) => name !== column).map((name) => [["columns", name, "role"], "identifier"]);
      if (column) patch(`${column} tells who is who`, [...set, [["columns", column, "role"], "person"]],
        each ? [["each_row_a_person"]] : []);
      else patch("Each row is one person", [...set, [["each_row_a_person"], true]]);
    };
    return h("fieldset", null,
      h("legend", null, explained("person", "Who is one person?")),
      h("label", null, h("input", { type: "radio", name: "person", checked: chosen === "", onchange: pick("") }), "Each row is one person"),
      names.map((column) => {
        const found = candidates.find((one) => one.column === column);
        return h("div", { key: column }, h("label", null,
          h("input", { type: "radio", name: "person", checked: chosen === column, onchange: pick(column) }),
          `The column ${column} tells whose a row is`,
          found && h("span.faint", null, ` (${counted(found.distinct, "person", "people")})`),
          column === proposed && h("span.badge", null, "proposed")));
      }),
    );
  }

  /** What a rule makes of this table, to be looked at before it is taken. @param {Api.Project} own @param {Api.PartKind[]} rules */
  #rules(own, rules) {
    const found = /** @type {Api.ByRule | null | undefined} */ (this.#rule ? looked(`${base()}/rules/${this.#rule}`, own.version) : null);
    const chosen = rules.find((one) => one.name === this.#rule);
    const label = chosen ? `Rule: ${chosen.title}` : "As proposed";
    return h("details", null, h("summary", null, "Must it follow a rule?"),
      h("div.row", null, choice("Rule", this.#rule, [
        option("", "choose …"), rules.map((one) => option(one.name, one.title)), option("none", "no rule: as it was proposed"),
      ], this.redrawn((name) => (this.#rule = name)))),
      chosen && h("p", null, chosen.about),
      found && [
        chosen && h("h3", null, "What it does not establish"), bullets(found.not_established, "ul.small-text"),
        chosen && h("h3", null, "What a person has to answer"), bullets(found.questions, "ul.small-text"),
        h("div.row", null,
          h("button", { onclick: () => putRecipe(found.recipe, label) }, chosen ? "Use this rule" : "Use the proposal"),
          own.can_undo === label && h("span.badge.good", { role: "status" }, "in use")),
      ]);
  }

  /** @param {Api.ColumnProfile} column @param {Record<string, any>} entry of the recipe @param {Api.Catalogue} all */
  #card(column, entry, all) {
    const role = entry["role"] ?? "";
    const meant = all.roles.find((one) => one.name === role);
    const rare = all.roles.filter((one) => !(one.name in PLAIN));
    const unsure = column.unsure && role === column.role;
    return h("article.card", { key: column.name, class: unsure ? "unsure" : "", "aria-label": column.name },
      h("h3", null, column.name, unsure && [" ", h("span.badge.warn", null, "please check")]),
      h("div.role", null, h("select", {
        value: role, "aria-label": `Role of ${column.name}`,
        onchange: (event) => this.#set(column.name, valueOf(event), column.hierarchy),
      },
        !role && option("", "choose …"),
        Object.entries(PLAIN).map(([name, title]) => option(name, title)),
        optionGroup("More", rare.map((one) => option(one.name, one.plain_name)))),
        h("help-word", { given: { word: role, name: this.#title(role), text: WORDS[role] ?? meant?.about } })),
      this.#besides(column, entry, all),
      h("p.small-text.faint", null, role === column.role ? "Proposed: " : `Proposed was: ${this.#title(column.role)}. `, column.reason),
      distribution(column.distribution, column.name, 5),
      h("p.small-text", null, `${column.distinct_exact ? "" : "about "}${counted(column.distinct, "different value")}`,
        column.missing ? `, ${number(column.missing)} missing` : "", ". ",
        explained("unique", `Stand alone: ${percent(column.unique_share)}`)),
    );
  }

  /** What else is said of a column. @param {Api.ColumnProfile} column @param {Record<string, any>} entry @param {Api.Catalogue} all */
  #besides({ name, distribution: values }, entry, all) {
    const { role, date, change, show } = entry;
    /** @param {string} key @returns {Page.Put} */
    const put = (key) => (update, label) => putAt(["columns", name, key])(update, `${name}: ${label}`);
    if (role === "date") return onePart(`Dates of ${name}`, date, { kinds: all.dates, key: "kind", put: put("date") });
    if (role === "quasi" && values.kind === "numbers") {
      return h("p.small-text", null, choice("Crowds show", show ?? "", [option("", "as usual"),
        all.shows.map((one) => option(one.name, one.about))], (next) => put("show")(() => next || undefined, next || "shown as usual"),
      { "aria-label": `What crowds show of ${name}` }));
    }
    if (!GOES_WITH["change"]?.includes(role)) return null;
    return h("details", { open: Boolean(change) }, h("summary", null, "Change it before it is published"),
      manyParts(`Change ${name} by`, change, { kinds: all.changes, put: (update, label) => put("change")((now) => {
        const list = update(now);
        return list.length ? list : undefined;
      }, label) }));
  }
}

customElements.define("roles-screen", RolesScreen);
