/** Open: a file that is dropped, a path, a query; what was found out about it, to be corrected with the rows in view. */

import { ask, inRoom, post } from "../api.js";
import { h } from "../dom.js";
import { counted, size } from "../format.js";
import { Part } from "../part.js";
import { base, doing, jobs, looked, open, project, state, upload } from "../store.js";
import { faultNote, heading, isRunning, more, onward, option as choiceOf, progressOf, scrolled, valueOf } from "../widgets.js";

/** What separates cells, in words. @type {Record<string, string>} */
const SPOKEN = { ",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |", " ": "space", ".": "point .", "": "automatic" };

/** Whether an option is shown at once. @param {Api.SourceOption} one */
const isPlain = (one) => ["separator", "encoding", "decimal"].includes(one.name) || (one.value !== null && one.value !== "");

class OpenScreen extends Part {
  #over = false;
  #another = false;
  #folder = /** @type {string | null} */ (null);
  #url = "";
  #query = "";
  #link = "";

  /** @param {File | undefined | null} file */
  #take(file) {
    if (!file) return;
    this.#another = false;
    upload(file);
  }

  /** @param {Record<string, any>} where */
  #open(where) {
    this.#another = false;
    open(where);
  }

  view() {
    const own = project.get();
    if (!own || this.#another) return this.#choose(own !== null);
    if (own.state === "needs file") {
      return [
        heading("Drop the file again", `Your choices for ${own.name} are here, but not its rows: they are never stored.`),
        this.#dropZone(),
      ];
    }
    return [
      heading("Is this your table?", "This is how it was read. Look at the first rows. Correct what is wrong."),
      progressOf("open", "Reading"),
      own.state === "failed" && own.error && !jobs.get()["open"]?.error && faultNote(own.error),
      this.#found(),
      h("p", null, h("button", { onclick: this.redrawn(() => (this.#another = true)) }, "Open another table")),
      this.#besides(own),
      onward("open", { ready: own.state === "ready", why: own.state === "opening" ? "Still reading …" : "" }),
    ];
  }

  /** @param {boolean} back */
  #choose(back) {
    return [
      heading("Open a table about people", "The table stays on this computer. Nothing is sent anywhere."),
      this.#dropZone(),
      this.#files(),
      this.#database(),
      this.#earlier(),
      back && h("div.onward", null, h("button", {
        onclick: this.redrawn(() => (this.#another = false)),
      }, "Back to the open table")),
    ];
  }

  #dropZone() {
    /** @param {boolean} over */
    const mark = (over) => this.redrawn((event) => {
      event.preventDefault();
      this.#over = over;
    });
    return h("div.drop-zone", {
        class: this.#over ? "over" : "", ondragover: mark(true), ondragleave: mark(false),
        ondrop: (event) => {
          mark(false)(event);
          this.#take(event.dataTransfer?.files[0]);
        },
      },
      h("p", null, h("strong", null, "Drop a file here")),
      h("p.faint", null, "CSV, Excel, Parquet, SPSS, Stata, SAS …"),
      h("label", null, "or choose one: ", h("input", {
        type: "file",
        onchange: (event) => this.#take(event.target.files?.[0]),
      })),
      h("p.faint.small-text", null, `Up to ${size(state.get().upload_limit)}. Larger files: choose them from the list below.`),
    );
  }

  #files() {
    const query = this.#folder === null ? "" : `?folder=${encodeURIComponent(this.#folder)}`;
    const found = /** @type {any} */ (looked(`/api/files${query}`));
    if (!found) return null;
    /** @param {string} folder */
    const enter = (folder) => this.redrawn(() => (this.#folder = folder));
    return h("section", null,
      h("h2", null, "Files on this computer"),
      h("p.faint.small-text", null, found.folder),
      state.get().folders.length > 1 && h("div.row", null, state.get().folders.map((/** @type {string} */ folder) =>
        h("button.small", { onclick: enter(folder) }, folder))),
      h("ul.plain", null,
        found.parent && h("li", null, h("button.link", { onclick: enter(found.parent) }, "↑ folder above")),
        found.folders.map((/** @type {string} */ name) =>
          h("li", { key: `d${name}` }, h("button.link", { onclick: enter(`${found.folder}/${name}`) }, `${name}/`))),
        found.files.map((/** @type {any} */ file) =>
          h("li", { key: file.path }, h("button.link", { onclick: () => this.#open({ path: file.path }) }, file.name),
            h("span.faint.small-text", null, ` ${size(file.size)}`)))),
      !found.files.length && h("p.empty", null, "There is no table in this folder."),
    );
  }

  #database() {
    /** @param {string} label @param {string} placeholder @param {(text: string) => void} taken */
    const text = (label, placeholder, taken) => h("label.grow", null, `${label} `, h("input.wide", {
      type: "text", placeholder, oninput: (event) => taken(valueOf(event)),
    }));
    return more("A database", h("div.row.ends", null,
      text("Address", "sqlite:////home/ann/clinic.db", (url) => (this.#url = url)),
      text("Query", "SELECT age, sex, zip FROM patients", (query) => (this.#query = query)),
      h("button", { onclick: () => this.#open({ url: this.#url, query: this.#query }) }, "Open the query")));
  }

  /** @param {Api.Project} own */
  #besides(own) {
    const linked = async () => (this.#link = (await post("/api/links")).url);
    const forgotten = async () => {
      await ask("DELETE", base());
      location.assign(inRoom("/"));
    };
    return more("Another browser, or forget this table",
      h("div.row", null, h("button", { onclick: () => doing(linked).then(() => this.redraw()) }, "Make a link for another browser"),
        h("code", { role: "status" }, this.#link)),
      h("div.row", null, h("button", { onclick: () => doing(forgotten) }, `Forget ${own.name}`),
        h("span.faint", null, "The recipe with all its steps is removed. The file stays as it is.")));
  }

  #earlier() {
    const { projects, recent = [] } = /** @type {Api.State} */ (state.get());
    const list = [...projects, ...recent.filter((one) => !projects.some((other) => other.id === one.id))];
    if (!list.length) return null;
    return h("section", null, h("h2", null, "Opened before"), h("ul.plain", null, list.map((one) =>
      h("li", { key: one.id }, h("a", { href: `/project/${one.id}/roles` }, one.name)))));
  }

  #found() {
    const own = project.get();
    const job = jobs.get()["open"];
    const there = own?.state === "ready" || job?.parts.includes("found");
    if (!there) return null;
    const opened = /** @type {Api.Opened | null | undefined} */ (
      looked(`${base()}/opened`, `${job?.id ?? ""} ${job?.state ?? ""}`)
    );
    if (!opened) return h("p.faint", null, "Looking at the first rows …");
    return [
      opened.notes.map((note) => h("p.note", { key: note }, note)),
      opened.options.length ? h("fieldset", null, h("legend", null, "How the file is read"),
        h("p.faint.small-text", null, "What is marked “found out” was not told but seen. Change it if the rows below look wrong."),
        h("div.row", null, opened.options.filter(isPlain).map((option) => this.#option(option, opened))),
        more("More options", h("div.row", null,
          opened.options.filter((one) => !isPlain(one)).map((one) => this.#option(one, opened))))) : null,
      h("h2", null, `First rows, ${counted(opened.columns.length, "column")}`),
      scrolled("First rows", opened.columns.map(({ name, type, written }) =>
        [name, h("div.faint.small-text", null, written ? `${type}, written ${written}` : type)]),
      opened.first.rows.map((row) => h("tr", null, row.map((cell) => h("td", null, cell ?? h("span.faint", null, "missing")))))),
    ];
  }

  /** @param {Api.SourceOption} option @param {Api.Opened} opened */
  #option(option, opened) {
    const value = option.value === null || option.value === undefined ? "" : String(option.value);
    const busy = isRunning(jobs.get()["open"]);
    const changed = (/** @type {any} */ event) => {
      const text = valueOf(event);
      const stated = Object.fromEntries(opened.options.filter((one) => !one.found_out).map((one) => [one.name, one.value]));
      const given = { ...stated, [option.name]: option.kind === "truth" ? text === "true" : text };
      if (text === "") delete given[option.name];
      doing(() => post(`${base()}/reading`, { version: project.peek()?.version, options: given }));
    };
    const choices = option.kind === "truth" ? ["true", "false"] : option.choices;
    const label = [option.name.replaceAll("_", " "), option.found_out && h("span.badge", null, "found out")];
    return h("label", { key: option.name, title: option.about }, label, " ", choices
      ? h("select", { value, disabled: busy, onchange: changed },
          [...new Set([value, ...choices])].map((one) => choiceOf(one, SPOKEN[one])))
      : h("input", { type: "text", size: 8, value, disabled: busy, onchange: changed }));
  }
}

customElements.define("open-screen", OpenScreen);
