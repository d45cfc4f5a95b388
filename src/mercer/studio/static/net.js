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

export async function request(method, path, body, options = {}) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  let response;
  try {
    response = await fetch(path, { method, headers, body, signal: options.signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ message: "The server does not answer. Is `mercer studio` still running?" }, 0);
  }
  if (response.ok) return options.raw ? response : response.json();
  let told = { message: `The server answered ${response.status}.` };
  if (response.headers.get("content-type")?.includes("json")) told = (await response.json()).error;
  else if (response.status === 401) told = { message: await response.text() };
  throw new Refused(told, response.status);
}

export const get = (path, options) => request("GET", path, undefined, options);
export const post = (path, told = {}, options) => request("POST", path, JSON.stringify(told), options);

/** One question in flight and the latest of those that came meanwhile; the others are never asked. */
export function latest(path, onAnswer, onError) {
  let busy = false;
  let waiting = null;
  const ask = async (told) => {
    busy = true;
    try {
      const answer = await post(path, told);
      onAnswer(answer, told);
    } catch (error) {
      onError(error, told);
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
