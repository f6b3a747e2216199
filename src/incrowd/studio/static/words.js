/** What the words of the field mean, in a sentence or two (words.json), and the `?` beside them. */

import { h } from "./dom.js";
import { Part } from "./part.js";
import words from "./words.json" with { type: "json" };

/** @type {Record<string, string>} */
export const WORDS = words;

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
      h("button.help", { popovertarget: this.#id, "aria-label": `Explain: ${this.given.name || word}` }, "?"),
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
