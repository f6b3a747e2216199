/** Publish: where to, in which kind; the files, and the recipe that makes them again. */

import { h } from "../dom.js";
import { counted, number, size } from "../format.js";
import { Part } from "../part.js";
import { base, go, jobs, looked, project, putAt, start } from "../store.js";
import {
  bullets, choice, COLOURS, heading, isRunning, more, onward, option, problemsOf, progressOf, scrolled, starter, tick, valueOf,
} from "../widgets.js";
import { explained } from "../words.js";

class PublishScreen extends Part {
  #directory = /** @type {string | null} */ (null);
  #format = /** @type {string | null} */ (null);
  #force = false;
  #safe = false;

  view() {
    const own = project.get();
    const top = heading("Publish", "The release is made, checked again on what its files say, and written whole or not at all.");
    if (!own) return [top];
    const places = /** @type {any} */ (looked(`${base()}/places`, own.version));
    const running = isRunning(jobs.get()["publish"]);
    const last = own.published.at(-1);
    const current = last?.version === own.version;
    return [
      top,
      this.#before(own),
      problemsOf(own),
      places && this.#form(own, places, current),
      this.#ledger(own),
      progressOf("publish", "Publishing"),
      last && !running && this.#done(last, current),
      onward("publish"),
    ];
  }

  /** @param {Api.Project} own */
  #before(own) {
    const audit = jobs.get()["audit"];
    const said = audit?.version === own.version ? audit.result?.recommendation : null;
    if (said) return h("p.note", { class: COLOURS[said["may go to"]] ?? "" }, said.sentence);
    return h("p.note.plain", null, "What you publish now was not attacked yet. ",
      h("button.small", { onclick: () => go("attack") }, "Attack it first"));
  }

  /** @param {Api.Project} own @param {any} places @param {boolean} current */
  #form(own, places, current) {
    const directory = this.#directory ?? places.directory ?? "";
    const format = this.#format ?? places.format;
    return h("fieldset", null,
      h("legend", null, "Where to"),
      own.uploaded
        ? h("p", null, "The files are made here, and you download them.")
        : h("label", null, "Folder for the release ", h("input.wide", {
            type: "text", value: directory,
            oninput: this.redrawn((event) => (this.#directory = valueOf(event))),
          })),
      h("div.row", null,
        choice("Kind of file", format ?? "", places.formats.map((/** @type {Api.PartKind} */ one) => option(one.name, one.name, one.about)),
          this.redrawn((name) => (this.#format = name))),
        tick("Safe to open in a spreadsheet", this.#safe, (on) => (this.#safe = on)),
        (places.exists || this.#force) && !own.uploaded &&
          tick("Replace the release that is there", this.#force, this.redrawn((on) => (this.#force = on)))),
      places.exists && !this.#force && !current &&
        h("p.note", null, "A release is in this folder already. Choose another folder, or replace it."),
      starter("publish", "Publish", {
        done: own.published.length > 0, current, begin: () => start("publish", {
          ...(own.uploaded ? {} : { directory }), format: format ?? null, force: this.#force, spreadsheet_safe: this.#safe,
        }),
      }),
    );
  }

  /** Where releases of the same people are written down. @param {Api.Project} own */
  #ledger(own) {
    const named = own.recipe?.["ledger"];
    const stamp = `${own.version} ${own.published.length} ${named}`;
    const found = /** @type {Api.Ledger | null | undefined} */ (named ? looked(`${base()}/ledger`, stamp) : null);
    const titles = ["Entry", "Time", "What", "About entry", "Method", "Price"];
    return h("details", { open: Boolean(named) }, h("summary", null, "A ledger of all releases"),
      h("p.faint.small-text", null, "Several releases about the same people tell more than one. A ledger writes all of them down, ",
        "and refuses what would cost too much privacy. On the command line, “incrowd ledger init” begins one."),
      h("label", null, explained("ledger", "Folder of the ledger"), " ", h("input", {
        type: "text", value: named ?? "", placeholder: "none", "aria-label": "Folder of the ledger",
        onchange: (event) => putAt(["ledger"])(() => valueOf(event).trim() || undefined, "the ledger"),
      })),
      found && h("p", null, `${counted(found.entries.length, "entry", "entries")}. Spent: ${found.spent}`,
        found.cap ? ` of ${found.cap}.` : "; no cap."),
      found && scrolled("Entries of the ledger", titles, found.entries.map((one) => h("tr", { key: one.number },
        [one.number, one.time, one.kind, one.about, one.method, one.price].map((cell) => h("td", null, cell))))),
    );
  }

  /** @param {Api.Published} last @param {boolean} current */
  #done(last, current) {
    const path = `${base()}/published/${last.id}`;
    return h("section", { "aria-label": "Published" },
      h("p.leading", { class: current ? "good" : "warn", role: "status" }, h("strong", null, "Published. "),
        last.directory ? `The files are in ${last.directory}.` : "Download the files below.",
        current ? "" : " You changed something since: publish again if it matters."),
      last.warnings.map((warning) => h("p.note", { key: warning }, warning)),
      h("div.row", null, h("a.button.primary", { href: `${path}/zip`, download: true }, "Download all files")),
      h("table", null,
        h("thead", null, h("tr", null, h("th", { scope: "col" }, "File"), h("th.number", { scope: "col" }, "Size"),
          h("th", { scope: "col" }, "SHA-256"))),
        h("tbody", null, last.files.map((file) => h("tr", { key: file.name },
          h("td", null, h("a", { href: `${path}/files/${encodeURIComponent(file.name)}`, download: true }, file.name)),
          h("td.number", null, size(file.size)),
          h("td.hash", { title: file.sha256 }, `${file.sha256.slice(0, 16)}…`))))),
      last.summary?.["rows"] && h("p.faint", null, `${number(last.summary["rows"].published)} rows published.`),
      h("p", null, "The same on the command line:"),
      h("pre", null, last.command),
      this.#evidence(last),
    );
  }

  /** For whoever must sign. @param {Api.Published} last */
  #evidence(last) {
    const job = jobs.get()["evidence"];
    const found = job?.result;
    return h("section", { "aria-label": "Evidence" },
      h("h2", null, explained("evidence", "Evidence")),
      h("p.faint", null, "A page for whoever must sign: what was checked, with which result, and what is still to be answered."),
      h("button", { disabled: isRunning(job), onclick: () => start("evidence", { published: last.id, learn: false }) },
        "Make the evidence"),
      progressOf("evidence", "Making the evidence"),
      found && h("p.note.good", { role: "status" }, found.directory ? `It is in ${found.directory}. ` : "It is made. ",
        h("a", { href: `/api/jobs/${job?.id}/page`, target: "_blank", rel: "noopener" }, "Open the evidence")),
      found?.open_questions?.length > 0 && more(`${counted(found.open_questions.length, "question")} for the person who signs`,
        bullets(found.open_questions)));
  }
}

customElements.define("publish-screen", PublishScreen);
