/** What the page knows, and what a person can do. Every number comes from the server. */

import { ApiError, ask, get, inRoom, post, put, room, seek } from "./api.js";
import { restore } from "./dom.js";
import { signal } from "./reactive.js";

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
/** Whether the server answers; `refused`: it was started again, and wants its new link. */
export const connected = signal(/** @type {"yes" | "lost" | "refused"} */ ("yes"));
/** Whether something is being asked of the server that a button waits for. */
export const busy = signal(0);

/** Start with what the server put into the page. @param {Api.State} first */
export function begin(first) {
  replace(first);
  const wanted = STEPS.find(([name]) => name === first.screen)?.[0];
  screen.set(wanted ?? "open");
  history.replaceState(null, "", address());
  addEventListener("popstate", () => {
    const [, , id, name] = location.pathname.slice(room.length).split("/");
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
  // This tab may have another table open.
  if (before && before.id !== current?.id) get(base()).then(adopt, told);
  else adopt(current);
}

/** @param {Api.Project | null} next */
function adopt(next) {
  const before = project.peek();
  if (before && next && before.id === next.id && before.version > next.version) return;
  if (before?.id !== next?.id) forget();
  project.set(next);
  for (const job of next?.jobs ?? []) learn(job);
}

function forget() {
  newest = null;
  jobs.set({});
  lasting.clear();
}

/** @param {Screen} [name] */
function address(name = screen.peek()) {
  const own = project.peek();
  return inRoom(own ? `/project/${own.id}/${name}` : "/");
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
  const events = new EventSource(inRoom("/api/events"));
  /** @param {string} name @param {(data: any) => void} work */
  const on = (name, work) =>
    events.addEventListener(name, (event) => work(JSON.parse(/** @type {MessageEvent} */ (event).data)));
  events.addEventListener("error", async () => {
    if (connected.peek() === "yes") connected.set("lost");
    if (events.readyState !== EventSource.CLOSED) return; // it tries again by itself
    const found = await get("/api/state").catch((error) => error);
    if (found.status === 401) {
      connected.set("refused");
      seek();
    }
    setTimeout(listen, 2000);
  });
  on("hello", (data) => {
    // After a break it may be another run of the studio, with other jobs.
    if (connected.peek() !== "yes") forget();
    connected.set("yes");
    replace(data.state);
  });
  on("project", (data) => {
    // What is on its way from here brings its own answer: nothing jumps back under a person's hands.
    if (data.id === project.peek()?.id && queued === 0) adopt({ ...data, jobs: [] });
  });
  on("job", learn);
  on("bye", () => connected.set("lost"));
}

/** Take in what is new of a job, and ask for what it found. @param {Api.Job} job */
async function learn(job) {
  if (job.project !== project.peek()?.id) return;
  const before = jobs.peek()[job.kind];
  // Answers may come in another order than they were sent: nothing goes back to what it was.
  if (before && (before.id === job.id ? before.seconds > job.seconds : before.began > job.began)) return;
  const kept = before?.id === job.id ? { found: before.found, result: before.result } : {};
  const ended = job.state === "done" || job.state === "failed" || job.state === "cancelled";
  jobs.update((all) => ({ ...all, [job.kind]: { ...job, ...kept } }));
  const more = before?.id !== job.id || job.told > before.told;
  if ((job.told && more) || (ended && !kept.result)) {
    const whole = await get(`/api/jobs/${job.id}`).catch(() => null);
    const now = jobs.peek()[job.kind];
    if (whole && now?.id === job.id && whole.seconds >= now.seconds) jobs.update((all) => ({ ...all, [job.kind]: whole }));
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
let queued = 0;
/** What the last change from here made. @type {Api.Project | null} */
let newest = null;

/**
 * Change the recipe.
 * @param {string} label what the step is called when it is undone
 * @param {(version: number, recipe: any) => Promise<Api.Project>} work
 */
function change(label, work) {
  queued += 1;
  const next = queue.then(() =>
    doing(async () => {
      const own = project.peek();
      const now = newest && newest.version > (own?.version ?? 0) ? newest : own;
      const after = await work(now?.version ?? 0, now?.recipe).finally(() => (queued -= 1));
      newest = after;
      if (queued === 0) adopt({ ...after, jobs: [] });
      said.set(label);
      return after;
    }),
  );
  queue = next.then((after) => {
    if (!after) restore();
    // The last of several changes failed: what the others made is still to be shown.
    if (queued === 0 && (newest?.version ?? 0) > (project.peek()?.version ?? 0)) get(base()).then(adopt, told);
  });
  return next;
}

/** @param {string} label @param {[Page.Path, any][]} set @param {Page.Path[]} [remove] */
export const patch = (label, set, remove = []) =>
  change(label, (version) => ask("PATCH", `${base()}/recipe`, { version, label, set, remove }));

/** What changes the recipe at a path. @param {Page.Path} path @returns {Page.Put} */
export const putAt = (path) => (update, label) =>
  change(label, (version, recipe) => {
    const value = update(path.reduce((node, key) => node?.[key], recipe));
    const found = value === undefined ? { remove: [path] } : { set: [[path, value]] };
    return ask("PATCH", `${base()}/recipe`, { version, label, ...found });
  });

/** @param {any} recipe @param {string} label */
export const putRecipe = (recipe, label) => change(label, (version) => put(`${base()}/recipe`, { version, recipe, label }));

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
export const open = (where) => doing(() => opened(where));

/** @param {Record<string, any>} where */
async function opened(where) {
  adopt(await post("/api/projects", where));
  screen.set("open");
  history.pushState(null, "", address("open"));
}

/** @param {File} file */
export function upload(file) {
  return doing(async () => {
    const again = project.peek()?.state === "needs file";
    const path = `${again ? `${base()}/file` : "/api/uploads"}?name=${encodeURIComponent(file.name)}`;
    const sent = await ask("POST", path, file, "application/octet-stream");
    if (again) adopt(sent);
    else await opened({ upload: sent.upload });
  });
}

const lasting = /** @type {Map<string, import("./reactive.js").Signal<any>>} */ (new Map());

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

/** What the recipe says of each column. @param {Api.Project | null} own @returns {Record<string, Record<string, any>>} */
export function columnsOf(own) {
  const columns = Object.entries(own?.recipe?.["columns"] ?? {});
  return Object.fromEntries(columns.map(([name, one]) => [name, typeof one === "string" ? { role: one } : one]));
}

/** The columns that have a role. @param {Api.Project | null} own @param {string} role */
export const withRole = (own, role) => Object.entries(columnsOf(own)).filter(([, one]) => one["role"] === role).map(([name]) => name);

