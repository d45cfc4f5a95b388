// Questions: one in flight and the latest one, asked again while something is compiled; and the vendored files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Refused, latest, request, takeToken, unpack } from "../../../src/mercer/studio/static/net.js";

const answer = (told, status = 200) => ({ ok: status < 400, status, headers: new Headers({ "content-type": "application/json" }), json: async () => told });
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test("of many questions at once the first and the last are asked", async () => {
  const asked = [];
  const held = [];
  globalThis.fetch = (_, { body }) => new Promise((resolve) => { asked.push(JSON.parse(body).n); held.push(() => resolve(answer({}))); });
  const told = [];
  const ask = latest("/api", (_, question) => told.push(question.n), assert.fail);
  for (let n = 0; n < 20; n++) ask({ n });
  held.shift()();
  await settled();
  held.shift()();
  await settled();
  assert.deepEqual([asked, told], [[0, 19], [0, 19]]);
});

test("a question is asked again while something is compiled, and dropped for a newer one", async () => {
  const statuses = [202, 202, 200];
  const asked = [];
  globalThis.fetch = async (_, { body }) => { asked.push(JSON.parse(body).n); return answer({}, statuses.shift()); };
  const slow = [];
  const told = [];
  const ask = latest("/api", (_, question) => told.push(question.n), assert.fail, (now) => slow.push(now));
  ask({ n: 1 });
  await settled();
  ask({ n: 2 });
  await new Promise((resolve) => setTimeout(resolve, 800));
  assert.deepEqual([asked, told], [[1, 1, 2], [2]]);
  assert.deepEqual([slow[0], slow.at(-1)], [true, false]);
});

test("refusals say which field is to blame", async () => {
  globalThis.fetch = async () => answer({ error: { message: "No.", field: "kernel", position: 3 } }, 422);
  await assert.rejects(request("POST", "/api", "{}"), (error) => error instanceof Refused && error.field === "kernel" && error.position === 3 && error.status === 422);
  globalThis.fetch = async () => { throw new TypeError("failed"); };
  await assert.rejects(request("GET", "/api"), /does not answer/);
});

test("the token goes from the address to the store, and the rest of the address stays", () => {
  const kept = {};
  globalThis.localStorage = { getItem: (key) => kept[key] ?? null, setItem: (key, value) => { kept[key] = value; } };
  let now = "";
  globalThis.history = { replaceState: (_, __, to) => { now = to; } };
  globalThis.location = { hash: "#token=abc-1&/playground?example=xor", pathname: "/" };
  assert.equal(takeToken(), "abc-1");
  assert.equal(now, "/#/playground?example=xor");
});

test("packed numbers", () => {
  const values = new Float32Array([1.5, -2, 1e30]);
  const data = Buffer.from(values.buffer).toString("base64");
  assert.deepEqual(unpack({ shape: [3], data }), { shape: [3], values });
});

test("vendored libraries are those of the registry, byte for byte", () => {
  const here = (path) => readFileSync(new URL(path, import.meta.url));
  for (const [own, theirs] of [["preact.mjs", "preact/dist/preact.mjs"], ["hooks.mjs", "preact/hooks/dist/hooks.mjs"], ["htm.mjs", "htm/dist/htm.mjs"]]) {
    assert.ok(here(`../../../src/mercer/studio/static/vendor/${own}`).equals(here(`node_modules/${theirs}`)), own);
  }
});
