/** The page comes alive: it starts with the state that the server put into it. */

import { h } from "./dom.js";
import { Part } from "./part.js";
import { begin, project, screen } from "./store.js";
import "./screens/attack.js";
import "./screens/compare.js";
import "./screens/hierarchies.js";
import "./screens/open.js";
import "./screens/publish.js";
import "./screens/roles.js";
import "./screens/try.js";

class StudioScreen extends Part {
  view() {
    const own = project.get();
    // A screen belongs to one table: another one starts afresh.
    const shown = own?.state === "ready" ? screen.get() : "open";
    return h(`${shown}-screen`, { key: `${shown} ${own?.id ?? ""}` });
  }
}

const first = document.getElementById("state")?.textContent;
if (first) {
  begin(JSON.parse(first));
  // Defined last, since what is defined is drawn at once.
  await import("./shell.js");
  customElements.define("studio-screen", StudioScreen);
}
