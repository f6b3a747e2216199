/** Asking the server. */

/** Where this page is: all of the studio is answered under the key in its address, and nowhere else. */
export const room = /^\/page\/[^/]+/.exec(location.pathname)?.[0] ?? "";

/** The whole address of something in the studio. @param {string} path */
export const inRoom = (path) => room + path;

// A tab without the key, or with that of an earlier run, asks those that have it. Only pages of this server hear that.
const tabs = new BroadcastChannel("incrowd studio");
let lost = !document.getElementById("state");
tabs.addEventListener("message", ({ data }) => {
  if (!lost && data === "where?") tabs.postMessage({ room });
  else if (lost && data.room !== room && /^\/page\/[^/]+$/.test(data.room)) {
    location.replace(data.room + location.pathname.slice(room.length));
  }
});

/** The key of this page is no longer good: go where the studio is now, once another tab knows it. */
export function seek() {
  lost = true;
  tabs.postMessage("where?");
}
if (lost) seek(); // on the page that is shown where the key is missing

/** What went wrong, in words for the person, with what to do about it. */
export class ApiError extends Error {
  /** @param {number} status @param {Api.Fault} fault @param {Api.Project} [project] what is there now, where somebody else was faster */
  constructor(status, fault, project) {
    super(fault.message);
    this.status = status;
    this.fault = fault;
    this.project = project;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {any} [body] sent as JSON, unless it is a file or a text
 * @param {string} [type] of a body that is no JSON
 * @returns {Promise<any>}
 */
export async function ask(method, path, body, type) {
  /** @type {RequestInit} */
  const options = { method, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers = { "Content-Type": type ?? "application/json" };
    options.body = type ? body : JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(inRoom(path), options);
  } catch {
    throw new ApiError(0, {
      kind: "NotConnected",
      message: "The studio does not answer.",
      hint: "Look at the terminal: is it still running? Start it again and reload this page. Nothing is lost.",
    });
  }
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const fault = data.error ?? { kind: "Fault", message: `The studio answered ${answer.status}.`, hint: null };
    throw new ApiError(answer.status, fault, data.project);
  }
  return data;
}

/** @param {string} path */
export const get = (path) => ask("GET", path);
/** @param {string} path @param {any} [body] */
export const post = (path, body = {}) => ask("POST", path, body);
/** @param {string} path @param {any} body */
export const put = (path, body) => ask("PUT", path, body);
