/** Attack: what others would get out of the release, before they have it. */

import { bars, rate } from "../charts.js";
import { h } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { Part } from "../part.js";
import { catalogue, jobs, project, start } from "../store.js";
import { bullets, COLOURS, heading, isRunning, more, onward, progressOf, starter, warningsOf } from "../widgets.js";
import { explained } from "../words.js";

/** @param {Api.Risk} risk */
const nameOf = (risk) => (risk["plain name"] ?? risk.attack) + (risk.column ? ` (${risk.column})` : "");

/** Whether an attack did anything. @param {Api.Risk} risk */
const reaches = (risk) => risk["got through"] || risk.level !== "low";

/** Attacks one by one: what is done, how often it is right, and how often guessing would be. @param {Api.Risk[]} risks */
function drawn(risks) {
  const kinds = catalogue.get()?.attacks ?? [];
  return h("div.columns", null, risks.map((risk) => {
    const kind = kinds.find((one) => one.name === risk.attack);
    const [low, high] = risk.interval;
    return h("article.attack", { key: nameOf(risk), "aria-label": nameOf(risk) },
      h("h3", null, nameOf(risk), " ", h("span.badge", { class: risk.level.replace(" ", "-") }, risk.level)),
      kind && h("p.small-text.faint", null, kind.about),
      rate(risk, reaches(risk) ? "bad" : "good"),
      h("p.small-text", null, h("strong", null, `Right: ${percent(risk.value)}`), ` (${percent(low)} to ${percent(high)}). `,
        `▲ ${risk["baseline is"]}: ${percent(risk.baseline)}.`),
      h("p.small-text", null, risk.says));
  }));
}

class AttackScreen extends Part {
  view() {
    const own = project.get();
    const job = jobs.get()["audit"];
    const running = isRunning(job);
    const result = job?.result;
    const soFar = /** @type {Api.Risk[]} */ (job?.found?.["attacks"] ?? []);
    const current = Boolean(result) && job?.version === own?.version;
    return [
      heading("Attack it before somebody else does", [
        "The attacker has your release, and knows of a person all that others may know. Each ", explained("attack", "attack"),
        " is tried on it. How often is it right, and how often would guessing be?",
      ]),
      starter("audit", "Attack it", {
        again: "Attack again", done: Boolean(result), current, begin: () => start("audit", { learn: false, remedies: true }),
      }),
      progressOf("audit", "Attacking"),
      !job && h("p.empty", null, "No attack was tried yet."),
      running && soFar.length > 0 && h("section", { "aria-label": "Attacks so far" },
        h("h2", null, `${counted(soFar.length, "attack")} so far`), drawn(soFar.toReversed())),
      result && !running && this.#found(result, job?.id ?? ""),
      onward("attack", { quiet: !current }),
    ];
  }

  /** @param {any} found @param {string} id */
  #found(found, id) {
    const said = found.recommendation;
    const [whom, why] = said.sentence.split(/:(.*)/s);
    const todo = found["what to do"];
    return [
      h("section.leading", { class: COLOURS[said["may go to"]] ?? "", "aria-label": "Recommendation" },
        h("p", null, h("strong", null, `${whom}:`), why),
        said.because.length > 3 && more(`All ${said.because.length} reasons`, bullets(said.because)),
        h("p.faint.small-text", null, said.note)),
      h("div.cards", null, Object.entries(found.verdict.threats).map(([threat, entry]) =>
        h("div.card", { key: threat }, h("h3", null, threat),
          h("p", null, h("span.badge", { class: entry.level.replace(" ", "-") }, entry.level)),
          h("p.faint.small-text", null, entry.asks), h("p", null, entry.says)))),
      todo?.findings?.length > 0 && h("section", null, h("h2", null, "What to do about it"), h("p.faint", null, todo.note),
        bullets(todo.findings.map((/** @type {any} */ one) => one.says ?? nameOf(one)))),
      this.#attacks(found.attacks),
      this.#exposed(found.crowds),
      this.#ladder(found.ladder),
      h("section", null, h("h2", null, "What it is still good for"), bullets(found.verdict["good for"])),
      warningsOf(found.warnings),
      h("p.row", null,
        h("a.button", { href: `/api/jobs/${id}/page`, target: "_blank", rel: "noopener" }, "Open the whole audit"),
        h("a.button", { href: `/api/jobs/${id}/page?download=1`, download: "audit.html" }, "Download the audit")),
    ];
  }

  /** @param {Api.Risk[]} attacks */
  #attacks(attacks) {
    const sorted = attacks.toSorted((a, b) => Number(b["got through"]) - Number(a["got through"]) || b.advantage - a.advantage);
    const low = sorted.filter((risk) => !reaches(risk));
    return h("section", { "aria-label": "Attacks" },
      h("h2", null, counted(sorted.length, "attack")),
      h("p.faint", null, "Only the difference counts: how often the attack is right, next to ", explained("baseline", "guessing"), "."),
      drawn(sorted.filter(reaches)),
      low.length > 0 && more(`${counted(low.length, "attack")} that stayed low`, drawn(low)),
    );
  }

  /** @param {any} crowds */
  #exposed(crowds) {
    const records = /** @type {any[]} */ (crowds?.["risk by record"] ?? []);
    const worst = Object.entries(/** @type {Record<string, any[]>} */ (crowds?.["worst groups"] ?? {}));
    if (!records.length && !worst.length) return null;
    return h("section", { "aria-label": "Most exposed people" },
      h("h2", null, "Who is most exposed?"),
      h("p.faint", null, "By crowd, never by name. How likely is a person found by whoever knows all that others may know?"),
      bars(records.map((entry) => ({
        name: entry.chance, value: entry.share, text: percent(entry.share), class: entry["up to"] > 0.2 ? "bad" : "a",
      })), 1),
      worst.map(([column, groups]) => h("section", { key: column },
        h("h3", null, `Crowds that say most about ${column}`),
        h("p.faint.small-text", null, "How many of a crowd share its most frequent value. Which value that is, is not told here."),
        bars(groups.map(({ group, rows, shares }) => {
          const all = group === "all rows";
          const name = all ? group : rows === null ? "a small crowd" : `a crowd of ${number(rows)}`;
          return { name, value: shares[0] ?? 0, text: percent(shares[0]), class: all ? "faint" : "bad" };
        }), 1))),
    );
  }

  /** @param {any[]} first */
  #ladder(first) {
    const job = jobs.get()["ladder"];
    const rungs = /** @type {any[]} */ (job?.result?.rungs ?? first ?? []);
    if (!rungs.length) return null;
    /** @param {number | null} value @param {any} rung */
    const told = (value, rung) => (value === null ? `fewer than ${rung["fewer than"] ?? 5}` : number(value));
    /** @param {number | null} value */
    const length = (value) => Math.log(1 + (value ?? 2));
    const most = Math.max(...rungs.map((rung) => Math.max(length(rung.before), length(rung.after))));
    return h("section", { "aria-label": "One person’s ladder" },
      h("h2", null, explained("ladder", "One person’s ladder")),
      h("p.faint", null, "One unusual person, picked by chance. How many look the same, the more somebody knows?"),
      h("div.columns", { "aria-live": "polite" }, rungs.map((rung, place) => h("div", { key: place },
        h("p.small-text", null, h("strong", null, place ? `+ ${rung.learnt}` : `knowing ${rung.learnt}`)),
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
