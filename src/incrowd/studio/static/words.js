/** What the words of the field mean, in a sentence or two, and the `?` beside them. */

import { h } from "./dom.js";
import { Part } from "./part.js";

/** @type {Record<string, string>} */
export const WORDS = {
  role: "What a column is: does it name people, could others know it, or is it the secret to protect?",
  identifier: "Names a person directly: a name, a number of a card, an e-mail. It is removed.",
  pseudonym: "Names a person. In the release stands a code in its place, the same for the same person.",
  quasi:
    "Others may know it of a person, as they know age, sex or town. Several together can single out one person. " +
    "So it is made less exact. Also called a quasi-identifier.",
  sensitive: "The secret: a diagnosis, a salary. Nobody should find out whose it is.",
  keep: "Published as it is. No guarantee covers it. Choose it only for what nobody can know of a person.",
  drop: "Not published at all.",
  date: "A day on which something happened. Its dates are changed before they are published.",
  weight: "How many people of the whole population a row stands for, as surveys have it.",
  person: "Tells whose a row is, where one person has several rows. All rows of a person then hide together.",
  household: "Tells who lives together. The people of one house are then not taken for a crowd.",
  items: "A set for each person: what somebody bought, or all diagnoses.",
  unique: "The share of people whom this column alone tells from everybody else.",
  "singled out": "People who are the only ones with their values in these columns. Whoever knows these values finds them.",
  hierarchy: "How a value becomes less exact, step by step: 34 becomes 30 to 40, then 20 to 40. Also called a hierarchy.",
  level: "Level 0 are the values as they are. Each higher level is less exact. The last one hides everything.",
  "k-anonymity": "Everybody looks the same as at least k − 1 others. With k = 5, whoever looks for you finds five people.",
  "distinct-l-diversity":
    "In each crowd, the secret has at least ℓ different values. Otherwise whoever finds the crowd knows the secret.",
  "t-closeness": "In each crowd, the secret is spread nearly as in the whole table. t says how nearly: 0 is the same.",
  model: "What “safe” means. Every crowd in the release must fulfil it, or nothing is published.",
  method: "How the computer looks for a release that is safe and loses little.",
  withheld: "Rows that are left out, because they cannot be hidden without much loss for all others. Also: suppressed.",
  risk: "How much better an attacker does with the release than by guessing. 0 % is no better; 100 % is always right.",
  loss: "How much is no longer exact. 0 % is the table as it was; 100 % says nothing any more.",
  sample: "A first answer comes from a part of the rows. The exact answer follows.",
  exact: "Counted on all rows.",
  crowd: "All rows that look the same in what others may know. One hides in it.",
  attack: "What somebody tries who has the release and knows something of a person.",
  baseline: "How often the attacker would be right without the release, by guessing.",
  ladder: "What an attacker learns of one person, step by step, the more is known beforehand.",
  evidence: "What was checked, on which files, with which result: for whoever must sign.",
  recipe: "All your choices, as a file. The same recipe makes the same release on the command line.",
};

let numbered = 0;

class HelpWord extends Part {
  #id = `help-${(numbered += 1)}`;

  /** @param {ToggleEvent} event */
  #place(event) {
    const tip = /** @type {HTMLElement} */ (event.target);
    const button = this.querySelector("button");
    if (event.newState !== "open" || !button) return;
    const box = button.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left - 8, innerWidth - tip.offsetWidth - 8));
    const below = box.bottom + 6 + tip.offsetHeight < innerHeight;
    tip.style.setProperty("left", `${left}px`);
    tip.style.setProperty("top", `${below ? box.bottom + 6 : Math.max(8, box.top - tip.offsetHeight - 6)}px`);
  }

  view() {
    const word = String(this.given.word);
    const text = this.given.text ?? WORDS[word];
    if (!text) return null;
    return [
      h("button.help", { popovertarget: this.#id, "aria-label": `What is ${this.given.name ?? word}?` }, "?"),
      h("div.tip", {
        id: this.#id, popover: "auto", role: "note",
        ontoggle: (event) => this.#place(event),
      }, text),
    ];
  }
}

customElements.define("help-word", HelpWord);

/**
 * A word with its explanation behind a `?`.
 * @param {string} word
 * @param {string} [name] as it is written
 * @param {string} [text] another explanation
 */
export function explained(word, name = word, text) {
  return h("span.explained", null, name, h("help-word", { given: { word, name, text } }));
}
