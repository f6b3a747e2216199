/** What is always there: the name of what is open, undo and redo, the steps, the recipe. */

import { post } from "./api.js";
import { h } from "./dom.js";
import { Part } from "./part.js";
import {
  backTo, base, connected, doing, fault, go, loadRecipe, looked, project, redo, said, screen, state, STEPS, undo,
} from "./store.js";
import { faultNote } from "./widgets.js";
import { explained } from "./words.js";

class StudioTop extends Part {
  started() {
    addEventListener("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (!(event.ctrlKey || event.metaKey) || target.matches("input:not([type=checkbox]), textarea")) return;
      const key = event.key.toLowerCase();
      if (key === "z" && !event.shiftKey && project.peek()?.can_undo) undo();
      else if ((key === "y" || (key === "z" && event.shiftKey)) && project.peek()?.can_redo) redo();
      else return;
      event.preventDefault();
    });
  }

  view() {
    const own = project.get();
    return h("header.top", null,
      h("span.brand", null, state.get().name),
      h("span.project", { title: own?.path }, own ? own.name : "No table is open"),
      own && h("div.row.push", null,
        this.#walk("Undo", "↶", own.can_undo, undo), this.#walk("Redo", "↷", own.can_redo, redo)),
      h("p.visually-hidden", { role: "status" }, said.get()),
    );
  }

  /** @param {string} name @param {string} sign @param {string | null} step @param {() => unknown} work */
  #walk(name, sign, step, work) {
    const title = step ? `${name}: ${step}` : `Nothing to ${name.toLowerCase()}`;
    return h("button.small", { "aria-label": name, disabled: !step, title, onclick: work }, `${sign} ${name}`);
  }
}

class StudioSteps extends Part {
  view() {
    const now = screen.get();
    const own = project.get();
    const place = STEPS.findIndex(([name]) => name === now);
    return h("nav.steps", { "aria-label": "Steps" },
      h("ol", null, STEPS.map(([name, title], at) => {
        const closed = at > 0 && own?.state !== "ready";
        return h("li", { key: name }, h("a", {
            href: own ? `/project/${own.id}/${name}` : "/", class: at < place ? "done" : "",
            "aria-current": name === now ? "step" : undefined, "aria-disabled": closed ? "true" : undefined,
            onclick: (event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              if (!closed) go(name);
            },
          },
          h("span.dot", { "aria-hidden": "true" }, at < place ? "✓" : String(at + 1)),
          h("span.name", null, title),
        ));
      })),
    );
  }
}

class StudioRecipe extends Part {
  #tab = /** @type {"toml" | "python" | "command"} */ ("toml");
  #copied = "";

  /** @param {string} text */
  async #copy(text) {
    await navigator.clipboard.writeText(text).then(
      () => (this.#copied = "Copied."),
      () => (this.#copied = "The browser did not allow it. Mark the text and copy it."),
    );
    this.redraw();
  }

  view() {
    const own = project.get();
    const title = h("h2", null, explained("recipe", "Recipe"));
    if (!own?.recipe) {
      return h("section.recipe", null, title, h("p.faint", null, "Your choices stand here, as a file, once a table is open."));
    }
    const text = looked(`${base()}/text`, own.version) ?? own.text;
    const shown = text ? text[this.#tab] : "…";
    /** @param {"toml" | "python" | "command"} name @param {string} label */
    const tab = (name, label) => h("button.small", {
      role: "tab", "aria-selected": String(this.#tab === name), "aria-controls": "recipe-text",
      onclick: this.redrawn(() => ([this.#tab, this.#copied] = [name, ""])),
    }, label);
    return h("section.recipe", null,
      title,
      h("p.faint.small-text", null, "All that you chose. The same on the command line makes the same release."),
      h("div.tabs", { role: "tablist", "aria-label": "Show as" },
        tab("toml", "Recipe"), tab("python", "Python"), tab("command", "Command")),
      h("pre", { id: "recipe-text", role: "tabpanel", tabindex: "0", "aria-label": "Recipe" }, shown),
      h("div.row", null,
        h("button.small", { onclick: () => this.#copy(shown) }, "Copy"),
        h("a.button.small", { href: `${base()}/recipe.toml`, download: true }, "Download recipe"),
        h("span.faint.small-text", { role: "status" }, this.#copied)),
      this.#history(own),
      this.#files(own),
    );
  }

  /** @param {Api.Project} own */
  #history(own) {
    const found = looked(`${base()}/history`, own.version);
    if (!found || found.steps.length < 2) return null;
    return h("details", null, h("summary", null, `All ${found.steps.length} steps`), h("ol.plain.small-text", null,
      found.steps.toReversed().map((/** @type {any} */ step) =>
        h("li", { key: step.place }, step.place === found.now
          ? h("strong", null, step.label, " (now)")
          : h("button.link", { onclick: () => backTo(step.place) }, step.label)))));
  }

  /** @param {Api.Project} own */
  #files(own) {
    return h("details", null, h("summary", null, "Save or load a recipe"),
      !own.uploaded && h("p", null, h("button.small", {
        onclick: () => doing(async () => {
          const saved = await post(`${base()}/recipe/save`, { path: own.path.replace(/(\.[^./\\]*)?$/, ".recipe.toml"), force: true });
          this.#copied = `Saved: ${saved.path}`;
          this.redraw();
        }),
      }, "Save beside the table")),
      h("label.small-text", null, "Load a recipe file ", h("input", {
        type: "file", accept: ".toml",
        onchange: async (event) => {
          const file = event.target.files?.[0];
          if (file) loadRecipe(await file.text());
        },
      })));
  }
}

class StudioNotices extends Part {
  view() {
    const wrong = fault.get();
    return [
      connected.get() === "lost" && h("p.note.bad", { role: "alert" },
        "Not connected. Is the studio still running in the terminal? This page goes on by itself when it is back. Nothing is lost."),
      connected.get() === "refused" && h("p.note.bad", { role: "alert" },
        "The studio was started again. Open the new link that the terminal shows; this page then goes on. Nothing is lost."),
      wrong && faultNote(wrong, () => fault.set(null)),
    ];
  }
}

customElements.define("studio-top", StudioTop);
customElements.define("studio-steps", StudioSteps);
customElements.define("studio-recipe", StudioRecipe);
customElements.define("studio-notices", StudioNotices);
