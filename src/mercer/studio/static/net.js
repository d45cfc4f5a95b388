// Questions to the server. The token comes from the fragment of the address and never leaves this origin.
const KEY = "mercer-studio-token";

export function takeToken() {
  const found = /[#&]token=([\w-]+)/.exec(location.hash);
  if (found) {
    try { localStorage.setItem(KEY, found[1]); } catch { /* a browser without storage keeps the address */ return found[1]; }
    const rest = location.hash.slice(1).replace(/^token=[\w-]+&?|&token=[\w-]+/, "");
    history.replaceState(null, "", location.pathname + (rest && `#${rest}`));
  }
  return token();
}

function token() {
  try { return localStorage.getItem(KEY) || ""; } catch { return /[#&]token=([\w-]+)/.exec(location.hash)?.[1] || ""; }
}

/** An answer that says what is wrong: `field` is the part of the question to blame. */
export class Refused extends Error {
  constructor(told, status) {
    super(told.message);
    this.field = told.field;
    this.position = told.position;
    this.status = status;
  }
}

const AGAIN = 300; // milliseconds before a question is asked again that has to wait for the compiler

/** Ask; `onSlow(true)` is called if loops are compiled first, and `stale()` may give up waiting for that. */
export async function request(method, path, body, options = {}) {
  for (;;) {
    const response = await once(method, path, body, options);
    if (response.status !== 202) {
      options.onSlow?.(false);
      return options.raw ? response : response.json();
    }
    options.onSlow?.(true);
    if (options.stale?.()) throw new Refused({ message: "Another question came first.", field: "stale" }, 202);
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

async function once(method, path, body, options) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  let response;
  try {
    response = await fetch(path, { method, headers, body, signal: options.signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ message: "The server does not answer. Is `mercer studio` still running?" }, 0);
  }
  if (response.ok) return response;
  let told = { message: `The server answered ${response.status}.` };
  if (response.headers.get("content-type")?.includes("json")) told = (await response.json()).error;
  else if (response.status === 401) told = { message: await response.text() };
  throw new Refused(told, response.status);
}

export const get = (path, options) => request("GET", path, undefined, options);
export const post = (path, told = {}, options) => request("POST", path, JSON.stringify(told), options);

/**
 * One question in flight and the latest of those that came meanwhile; the others are never asked.
 * @param {(slow: boolean) => void} onSlow
 */
export function latest(path, onAnswer, onError, onSlow = (_slow) => {}) {
  let busy = false;
  let waiting = null;
  const ask = async (told) => {
    busy = true;
    try {
      onAnswer(await post(path, told, { onSlow, stale: () => waiting !== null }), told);
    } catch (error) {
      onSlow(false);
      if (error.field !== "stale") onError(error, told);
    }
    busy = false;
    if (waiting) {
      const next = waiting;
      waiting = null;
      ask(next);
    }
  };
  return (told) => {
    if (busy) waiting = told;
    else ask(told);
  };
}

/** The numbers of a packed array. */
export function unpack(told) {
  const bytes = Uint8Array.from(atob(told.data), (one) => one.charCodeAt(0));
  return { shape: told.shape, values: new Float32Array(bytes.buffer) };
}
