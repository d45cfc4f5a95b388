// The page names its libraries as its import map does; here the same files are found by a hook.
import { register } from "node:module";

register(`data:text/javascript,${encodeURIComponent(`
const VENDORED = { preact: "preact.mjs", "preact/hooks": "hooks.mjs", htm: "htm.mjs" };
const ROOT = ${JSON.stringify(new URL("../../../src/mercer/studio/static/", import.meta.url).href)};
export async function resolve(name, context, next) {
  if (VENDORED[name] && context.parentURL?.startsWith(ROOT)) return next(new URL("vendor/" + VENDORED[name], ROOT).href, context);
  return next(name, context);
}
export async function load(url, context, next) {
  return next(url, url.startsWith(ROOT) ? { ...context, format: "module" } : context);
}`)}`);

// What modules look at when they are read; tests that need more bring it along.
const nothing = () => {};
globalThis.document = { createElement: () => ({}) };
globalThis.matchMedia = () => ({ addEventListener: nothing, matches: false });
globalThis.window = { addEventListener: nothing, dispatchEvent: nothing };
globalThis.location = { hash: "", pathname: "/" };
