/** What the page knows, and what a person can do. Every number comes from the server. */

import { ApiError, ask, get, post, put } from "./api.js";
import { signal } from "./reactive.js";

/**
 * @typedef {(string | number)[]} Path
 */

export const STEPS = /** @type {const} */ ([
  ["open", "Open"], ["roles", "Roles"], ["hierarchies", "Hierarchies"], ["try", "Try"], ["compare", "Compare"],
  ["attack", "Attack"], ["publish", "Publish"],
]);

/** @typedef {(typeof STEPS)[number][0]} Screen */

export const state = signal(/** @type {any} */ (null));
export const project = signal(/** @type {Api.Project | null} */ (null));
export const screen = signal(/** @type {Screen} */ ("open"));
/** The last job of each kind. */
export const jobs = signal(/** @type {Record<string, Api.Job>} */ ({}));
export const catalogue = signal(/** @type {Api.Catalogue | null} */ (null));
export const fault = signal(/** @type {Api.Fault | null} */ (null));
/** What was done last, for those who do not see it. */
export const said = signal("");
export const connected = signal(true);
/** Whether something is being asked of the server that a button waits for. */
export const busy = signal(0);

/** Start with what the server put into the page. @param {Api.State} first */
export function begin(first) {
  replace(first);
  const wanted = STEPS.find(([name]) => name === first.screen)?.[0];
  screen.set(wanted ?? "open");
  history.replaceState(null, "", address());
  addEventListener("popstate", () => {
    const [, , id, name] = location.pathname.split("/");
    if (id && id !== project.peek()?.id) location.reload();
    else screen.set(STEPS.find(([step]) => step === name)?.[0] ?? "open");
  });
  listen();
  get("/api/catalogue").then((found) => catalogue.set(found), told);
}

/** @param {Api.State} next */
function replace(next) {
  state.set(next);
  const current = next.current ?? null;
  const before = project.peek();
  if (before && current && before.id !== current.id) return; // this tab has another project open
  if (before && !current) get(base()).then(adopt, told);
  else adopt(current);
}

/** @param {Api.Project | null} next */
function adopt(next) {
  const before = project.peek();
  if (before && next && before.id === next.id && before.version > next.version) return;
  if (before?.id !== next?.id) {
    newest = 0;
    jobs.set({});
    lasting.clear();
  }
  project.set(next);
  for (const job of next?.jobs ?? []) learn(job);
}

/** @param {Screen} [name] */
function address(name = screen.peek()) {
  const own = project.peek();
  return own ? `/project/${own.id}/${name}` : "/";
}

/** @param {Screen} name */
export function go(name) {
  if (name === screen.peek()) return;
  screen.set(name);
  history.pushState(null, "", address(name));
  scrollTo(0, 0);
  // Whoever cannot see the page hears where it is now.
  queueMicrotask(() => document.querySelector("h1")?.focus());
}

function listen() {
  const events = new EventSource("/api/events");
  /** @param {string} name @param {(data: any) => void} work */
  const on = (name, work) =>
    events.addEventListener(name, (event) => work(JSON.parse(/** @type {MessageEvent} */ (event).data)));
  events.addEventListener("error", () => connected.set(false));
  on("hello", (data) => {
    connected.set(true);
    replace(data.state);
  });
  on("project", (data) => {
    // What is on its way from here brings its own answer: nothing jumps back under a person's hands.
    if (data.id === project.peek()?.id && queued === 0) adopt({ ...data, jobs: [] });
  });
  on("job", learn);
  on("bye", () => connected.set(false));
}

/** Take in what is new of a job, and ask for what it found. @param {Api.Job} job */
async function learn(job) {
  if (job.project !== project.peek()?.id) return;
  const before = jobs.peek()[job.kind];
  if (before && before.id !== job.id && before.began > job.began) return;
  const kept = before?.id === job.id ? { found: before.found, result: before.result } : {};
  const ended = job.state === "done" || job.state === "failed" || job.state === "cancelled";
  jobs.update((all) => ({ ...all, [job.kind]: { ...job, ...kept } }));
  const more = before?.id !== job.id || job.parts.length > before.parts.length || job.kind === "compare";
  if ((job.parts.length && more) || (ended && kept.result === undefined)) {
    const whole = await get(`/api/jobs/${job.id}`).catch(() => null);
    if (whole && jobs.peek()[job.kind]?.id === job.id) jobs.update((all) => ({ ...all, [job.kind]: whole }));
  }
}

/** The address of what is open. */
export function base() {
  return `/api/projects/${project.peek()?.id ?? ""}`;
}

/** @param {unknown} error */
export function told(error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.project) adopt({ ...error.project, jobs: [] });
  if (error.status === 409) {
    fault.set({
      kind: "Stale",
      message: "This was changed in another tab. You see now what is there.",
      hint: "Do your last step again if you still want it.",
    });
  } else fault.set(error.fault);
}

/**
 * Do something that the person waits for; what goes wrong is told.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function doing(work) {
  busy.update((count) => count + 1);
  try {
    const done = await work();
    fault.set(null);
    return done;
  } catch (error) {
    told(error);
    return undefined;
  } finally {
    busy.update((count) => count - 1);
  }
}

/** One change after the other: each needs the version that the one before made. */
let queue = Promise.resolve();
let [queued, newest] = [0, 0];

/**
 * Change the recipe.
 * @param {string} label what the step is called when it is undone
 * @param {(version: number) => Promise<Api.Project>} work
 */
function change(label, work) {
  queued += 1;
  const next = queue.then(() =>
    doing(async () => {
      const after = await work(Math.max(newest, project.peek()?.version ?? 0)).finally(() => (queued -= 1));
      newest = after.version;
      if (queued === 0) adopt({ ...after, jobs: [] });
      said.set(label);
      return after;
    }),
  );
  queue = next.then(() => {
    // The last of several changes failed: what the others made is still to be shown.
    if (queued === 0 && newest > (project.peek()?.version ?? 0)) get(base()).then(adopt, told);
  });
  return next;
}

/** @param {string} label @param {[Path, any][]} set @param {Path[]} [remove] */
export const patch = (label, set, remove = []) =>
  change(label, (version) => ask("PATCH", `${base()}/recipe`, { version, label, set, remove }));

export const undo = () =>
  change(`Undone: ${project.peek()?.can_undo ?? ""}`, (version) => post(`${base()}/undo`, { version }));

export const redo = () =>
  change(`Done again: ${project.peek()?.can_redo ?? ""}`, (version) => post(`${base()}/redo`, { version }));

/** @param {number} place */
export const backTo = (place) => change("Gone back", (version) => post(`${base()}/history`, { version, place }));

/** @param {string} toml */
export const loadRecipe = (toml) => change("Recipe loaded", (version) => post(`${base()}/recipe/load`, { version, toml }));

/** @param {string} column @param {any} hierarchy @param {string} label */
export const putHierarchy = (column, hierarchy, label) =>
  change(label, (version) =>
    put(`${base()}/hierarchies/${encodeURIComponent(column)}`, { version, hierarchy, label }),
  );

/** Start long work. @param {string} kind @param {Record<string, any>} [more] */
export function start(kind, more = {}) {
  return queue.then(() =>
    doing(async () => {
      const job = await post(`${base()}/jobs`, { kind, version: project.peek()?.version, ...more });
      await learn(job);
    }),
  );
}

/** @param {Api.Job} job */
export const cancel = (job) => doing(() => ask("DELETE", `/api/jobs/${job.id}`));

/** Open a table. @param {Record<string, any>} where */
export function open(where) {
  return doing(async () => {
    const opened = await post("/api/projects", where);
    adopt(opened);
    screen.set("open");
    history.pushState(null, "", address("open"));
    return opened;
  });
}

/** @param {File} file */
export function upload(file) {
  return doing(async () => {
    const own = project.peek();
    if (own?.state === "needs file") {
      const path = `${base()}/file?name=${encodeURIComponent(file.name)}`;
      return adopt(await ask("POST", path, file, "application/octet-stream"));
    }
    const path = `/api/uploads?name=${encodeURIComponent(file.name)}`;
    const sent = await ask("POST", path, file, "application/octet-stream");
    const opened = await post("/api/projects", { upload: sent.upload });
    adopt(opened);
    screen.set("open");
    history.pushState(null, "", address("open"));
  });
}

/** @type {Map<string, import("./reactive.js").Signal<any>>} */
const lasting = new Map();

/**
 * Something to look up, asked for once and kept; undefined until it is there, null where there is none.
 * @template T
 * @param {string} path
 * @param {string | number} [stamp] asked for again when it changes; the old answer stays in view meanwhile
 * @returns {T | null | undefined}
 */
export function looked(path, stamp = "") {
  const now = `${path}#`;
  let found = lasting.get(now);
  if (!found) {
    found = signal({ stamp: null, data: undefined });
    lasting.set(now, found);
  }
  const own = found;
  if (own.peek().stamp !== stamp) {
    own.peek().stamp = stamp;
    get(path).then(
      (data) => own.peek().stamp === stamp && own.set({ stamp, data }),
      (error) => {
        own.set({ stamp, data: null });
        if (!(error instanceof ApiError) || error.status !== 404) told(error);
      },
    );
  }
  return own.get().data;
}

/** The role of each column, as the recipe has it. @param {Api.Project | null} own @returns {Record<string, string>} */
export function roles(own) {
  const columns = own?.recipe?.["columns"] ?? {};
  return Object.fromEntries(
    Object.entries(columns).map(([name, one]) => [name, typeof one === "string" ? one : (one.role ?? "")]),
  );
}
