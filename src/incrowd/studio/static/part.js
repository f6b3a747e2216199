/** What all elements of the studio are: a view of the store that is drawn again when what it read has changed. */

import { render } from "./dom.js";
import { effect } from "./reactive.js";

export class Part extends HTMLElement {
  #drawing = /** @type {{again: () => void, stop: () => void} | null} */ (null);
  #given = /** @type {any} */ ({});

  /** What the element around it hands over. */
  get given() {
    return this.#given;
  }

  set given(value) {
    this.#given = value;
    this.#drawing?.again();
  }

  connectedCallback() {
    this.started();
    this.#drawing = effect(() => render(this, this.view()));
  }

  disconnectedCallback() {
    this.#drawing?.stop();
    this.#drawing = null;
  }

  /** Draw it again: something changed that is no signal. */
  redraw() {
    this.#drawing?.again();
  }

  /** A handler that does something and draws it again. @param {(event: any) => unknown} work */
  redrawn(work) {
    return (/** @type {any} */ event) => {
      work(event);
      this.redraw();
    };
  }

  /** Called when it comes into the page, before it is drawn. */
  started() {}

  /** What is to be seen. @returns {import("./dom.js").Child} */
  view() {
    return null;
  }
}
