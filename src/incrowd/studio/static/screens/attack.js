/** Attack: what others would get out of the release, before they have it. */

import { bars } from "../charts.js";
import { h } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { Part } from "../part.js";
import { jobs, project, start } from "../store.js";
import { heading, isBusy, isRunning, more, onward, progressOf, scrolled, warningsOf } from "../widgets.js";
import { explained } from "../words.js";

/** @type {Record<string, string>} */
const COLOURS = { "the public": "good", "known recipients": "warn", "nobody outside": "bad" };

/** @param {any} risk */
const nameOf = (risk) => (risk["plain name"] ?? risk.attack) + (risk.column ? ` (${risk.column})` : "");

/** Whether an attack did anything. @param {any} risk */
const reaches = (risk) => risk["got through"] || risk.level !== "low";

/** @param {any[]} risks */
function drawn(risks) {
  return risks.map((risk) => h("div.attack", { key: nameOf(risk) },
    h("p", null, h("strong", null, nameOf(risk)), " ", h("span.badge", { class: risk.level.replace(" ", "-") }, risk.level)),
    bars([
      { name: "with the release", value: risk.value, text: percent(risk.value), class: reaches(risk) ? "bad" : "good" },
      { name: "by guessing", value: risk.baseline, text: percent(risk.baseline), class: "faint" },
    ], 1),
    h("p.small-text.faint", null, risk.says)));
}

class AttackScreen extends Part {
  view() {
    const own = project.get();
    const job = jobs.get()["audit"];
    const running = isRunning(job);
    const result = job?.result;
    const soFar = /** @type {any[]} */ (job?.found?.["attacks"] ?? []);
    const current = Boolean(result) && job?.version === own?.version;
    return [
      heading("Attack it before somebody else does",
        ["Each ", explained("attack", "attack"), " is tried on your release. How often is it right, and how often would guessing be?"]),
      h("div.row", null,
        h("button", {
          class: current ? "" : "primary", disabled: running || isBusy() || !own || own.problems.length > 0,
          onclick: () => start("audit", { learn: false, remedies: true }),
        }, result ? "Attack again" : "Attack it"),
        result && !current && !running && h("span.badge.warn", null, "You changed something: attack again")),
      progressOf("audit", "Attacking"),
      !job && h("p.empty", null, "No attack was tried yet."),
      running && soFar.length ? this.#attacks(soFar) : null,
      result && !running && this.#found(result, job?.id ?? ""),
      onward("attack", { quiet: !current }),
    ];
  }

  /** @param {any} found @param {string} id */
  #found(found, id) {
    const said = found.recommendation;
    const [whom, why] = said.sentence.split(/:(.*)/s);
    return [
      h("section.leading", { class: COLOURS[said["may go to"]] ?? "", "aria-label": "Recommendation" },
        h("p", null, h("strong", null, `${whom}:`), why),
        said.because.length > 3 && more(`All ${said.because.length} reasons`,
          h("ul", null, said.because.map((reason) => h("li", null, reason)))),
        h("p.faint.small-text", null, said.note)),
      h("div.cards", null, Object.entries(found.verdict.threats).map(([threat, entry]) => this.#threat(threat, entry))),
      this.#todo(found["what to do"]),
      this.#attacks(found.attacks),
      this.#exposed(found),
      this.#ladder(found.ladder),
      found.verdict["good for"]?.length ? h("section", null, h("h2", null, "What it is still good for"),
        h("ul", null, found.verdict["good for"].map((sentence) => h("li", null, sentence)))) : null,
      warningsOf(found.warnings),
      h("p.row", null,
        h("a.button", { href: `/api/jobs/${id}/page`, target: "_blank", rel: "noopener" }, "Open the whole audit"),
        h("a.button", { href: `/api/jobs/${id}/page?download=1`, download: "audit.html" }, "Download the audit")),
    ];
  }

  /** @param {string} threat @param {any} entry */
  #threat(threat, entry) {
    return h("div.card", { key: threat }, h("h3", null, threat),
      h("p", null, h("span.badge", { class: entry.level.replace(" ", "-") }, entry.level)),
      h("p.faint.small-text", null, entry.asks), h("p", null, entry.says));
  }

  /** @param {any} todo */
  #todo(todo) {
    if (!todo?.findings?.length) return null;
    return h("section", null, h("h2", null, "What to do about it"), h("p.faint", null, todo.note),
      h("ul", null, todo.findings.map((entry) => h("li", null, entry.says ?? nameOf(entry)))));
  }

  /** @param {any[]} attacks */
  #attacks(attacks) {
    const sorted = attacks.toSorted((a, b) => Number(b["got through"]) - Number(a["got through"]) || b.advantage - a.advantage);
    return h("section", { "aria-label": "Attacks" },
      h("h2", null, counted(sorted.length, "attack")),
      h("p.faint", null, "Only the difference counts: how often the attack is right, next to ", explained("baseline", "guessing"), "."),
      h("div.columns", null, drawn(sorted.filter(reaches))),
      more(`${counted(sorted.length - sorted.filter(reaches).length, "attack")} that stayed low`,
        h("div.columns", null, drawn(sorted.filter((risk) => !reaches(risk))))),
    );
  }
  /** @param {any} found */
  #exposed(found) {
    const records = found.crowds?.["risk by record"] ?? [];
    const exposed = /** @type {any[]} */ (found.exposed ?? []);
    if (!records.length && !exposed.length) return null;
    return h("section", { "aria-label": "Most exposed people" },
      h("h2", null, "Who is most exposed?"),
      h("p.faint", null, "By group, never by name: how many people are found by whoever knows all that others may know."),
      records.length ? bars(records.map((entry) => ({
        name: entry.chance, value: entry.share, text: percent(entry.share), class: entry["up to"] > 0.2 ? "bad" : "a",
      })), 1) : null,
      exposed.length ? scrolled("Smallest crowds", [...Object.keys(exposed[0].labels), "People"], exposed.map((group) =>
        h("tr", null, Object.values(group.labels).map((label) => h("td", null, String(label))),
          h("td.number", null, number(group.people))))) : null,
    );
  }

  /** @param {any[]} first */
  #ladder(first) {
    const job = jobs.get()["ladder"];
    const rungs = /** @type {any[]} */ (job?.result?.rungs ?? first ?? []);
    if (!rungs.length) return null;
    const told = (value, rung) => (value === null ? `fewer than ${rung["fewer than"] ?? 5}` : number(value));
    const length = (value) => Math.log(1 + (value ?? 2));
    const most = Math.max(...rungs.map((rung) => Math.max(length(rung.before), length(rung.after))));
    return h("section", { "aria-label": "One person’s ladder" },
      h("h2", null, explained("ladder", "One person’s ladder")),
      h("p.faint", null, "One unusual person, picked by chance. How many look the same, the more somebody knows?"),
      h("div.columns", null, rungs.map((rung, at) => h("div", { key: at },
        h("p.small-text", null, h("strong", null, at ? `+ ${rung.learnt}` : `knowing ${rung.learnt}`)),
        bars([
          { name: "in the table", value: length(rung.before), text: told(rung.before, rung) },
          { name: "in the release", value: length(rung.after), text: told(rung.after, rung), class: "b" },
        ], most)))),
      progressOf("ladder", "Looking for another person"),
      h("button", { disabled: isRunning(job), onclick: () => start("ladder") }, "Another person"),
    );
  }
}

customElements.define("attack-screen", AttackScreen);
