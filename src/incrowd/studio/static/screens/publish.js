/** Publish: where to, in which kind; the files, and the recipe that makes them again. */

import { h } from "../dom.js";
import { number, size } from "../format.js";
import { Part } from "../part.js";
import { base, go, jobs, looked, project, start } from "../store.js";
import { faultNote, heading, isBusy, isRunning, onward, progressOf, valueOf } from "../widgets.js";
import { explained } from "../words.js";

/** @type {Record<string, string>} */
const COLOURS = { "the public": "good", "nobody outside": "bad" };

class PublishScreen extends Part {
  /** @type {string | null} */
  #directory = null;
  /** @type {string | null} */
  #format = null;
  #force = false;
  #safe = false;

  view() {
    const own = project.get();
    const top = heading("Publish", "The release is made, checked again on what its files say, and written whole or not at all.");
    if (!own) return [top];
    const places = /** @type {any} */ (looked(`${base()}/places`, own.version));
    const job = jobs.get()["publish"];
    const running = isRunning(job);
    const last = own.published.at(-1);
    const current = last?.version === own.version;
    return [
      top,
      this.#before(own),
      own.problems.map((problem) => h("div", { key: problem.message }, faultNote(problem))),
      places && this.#form(own, places, running, current),
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

  /** @param {Api.Project} own @param {any} places @param {boolean} running @param {boolean} current */
  #form(own, places, running, current) {
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
        h("label", null, "Kind of file ", h("select", {
          value: format ?? "",
          onchange: this.redrawn((event) => (this.#format = valueOf(event))),
        }, places.formats.map((one) => h("option", { value: one.name, title: one.about }, one.name)))),
        h("label", null, h("input", {
          type: "checkbox", checked: this.#safe,
          onchange: (event) => (this.#safe = event.target.checked),
        }), "Safe to open in a spreadsheet"),
        (places.exists || this.#force) && !own.uploaded && h("label", null, h("input", {
          type: "checkbox", checked: this.#force,
          onchange: this.redrawn((event) => (this.#force = event.target.checked)),
        }), "Replace the release that is there")),
      places.exists && !this.#force && !current &&
        h("p.note", null, "A release is in this folder already. Choose another folder, or replace it."),
      h("button", {
        class: current ? "" : "primary", disabled: running || isBusy() || own.problems.length > 0,
        onclick: () => start("publish", {
          ...(own.uploaded ? {} : { directory }), format: format ?? null, force: this.#force, spreadsheet_safe: this.#safe,
        }),
      }, "Publish"),
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
        h("a", { href: `/api/jobs/${job?.id}/page`, target: "_blank", rel: "noopener" }, "Open the evidence")));
  }
}

customElements.define("publish-screen", PublishScreen);
