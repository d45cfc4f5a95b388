// Links: every state survives its link, and no link can do more than choose a state.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EXAMPLES } from "../../../src/mercer/studio/static/examples.js";
import { SHOWN, parts, readScene, readShown, writeScene } from "../../../src/mercer/studio/static/links.js";
import { KINDS, readPair } from "../../../src/mercer/studio/static/lab.js";

const PROMISED = ["margin", "slack", "outlier", "inseparable", "xor", "ring", "lift", "spirals", "good-matrix", "bad-matrix", "three-classes", "regression", "one-class"];

test("the keys of examples are those that documents link to", () => {
  assert.deepEqual(EXAMPLES.map((one) => one.key), PROMISED);
});

test("every example is a short link, and the link is the example", () => {
  for (const { key, scene, view } of EXAMPLES) {
    const link = `#/playground?example=${key}`;
    assert.equal(writeScene(scene, readShown(link)), link);
    assert.deepEqual(readScene(link), scene);
    assert.equal(readShown(link).view, view ?? SHOWN.view);
  }
});

test("what differs from an example is written out", () => {
  const scene = { ...EXAMPLES[4].scene, kernel: "rbf(gamma=0.5) + linear", C: Infinity };
  const link = writeScene(scene);
  assert.match(link, /example=xor/);
  assert.match(link, /C=inf/);
  assert.doesNotMatch(link, /points/);
  assert.deepEqual(readScene(link), scene);
});

test("points of one's own survive", () => {
  const scene = { task: "regression", kernel: "rbf(gamma=0.8)", C: 3, epsilon: 0, nu: 0.25, points: [[-3, 3, 0], [0.01, -1.27, 2], [1, 1, 1]] };
  assert.deepEqual(readScene(writeScene(scene)), scene);
  assert.deepEqual(readScene(writeScene({ ...scene, points: [] })).points, []);
});

test("what is shown beside the plane survives", () => {
  for (const shown of [SHOWN, { ...SHOWN, view: "pca" }, { view: "square", panel: "solvers", algorithm: "gradient", printed: true, frame: 17 }, { ...SHOWN, panel: "spectrum" }]) {
    assert.deepEqual(readShown(writeScene(EXAMPLES[5].scene, shown)), shown);
  }
});

test("old links open", () => {
  const scene = readScene("#/play?task=classification&kernel=linear&C=2&points=-100.-50.0_100.50.1");
  assert.deepEqual([scene.kernel, scene.C, scene.points], ["linear", 2, [[-1, -0.5, 0], [1, 0.5, 1]]]);
});

test("links that are none", () => {
  for (const hash of ["", "#", "#/", "#/lab?x=1", "#/playground", "#/workbench/abc", "#token=x"]) assert.equal(readScene(hash), null);
});

test("nonsense in a link is left out", () => {
  const scene = readScene("#/playground?example=nothing&task=evil&C=-1&epsilon=nan&nu=7&points=1.2_x.y.z_9999.-9999.1_1.1.7_&kernel=" + "x".repeat(2000));
  assert.deepEqual([scene.task, scene.C, scene.epsilon, scene.nu, scene.points], ["classification", 1, 0.2, 0.1, [[3, -3, 1]]]);
  assert.equal(scene.kernel.length, 500);
  const shown = readShown("#/playground?view=__proto__&panel=constructor&algorithm=%3Cb%3E&frame=1e9&printed=yes");
  assert.deepEqual(shown, SHOWN);
  assert.equal(readScene(`#/playground?points=${"1.1.0_".repeat(1000)}`).points.length, 400);
});

test("a fragment is taken apart", () => {
  const [room, place, told] = parts("#/lab/pair?kind=strings&x=a?b");
  assert.deepEqual([room, place, told.get("kind"), told.get("x")], ["lab", "pair", "strings", "a?b"]);
});

test("links to pairs", () => {
  assert.deepEqual(readPair(new URLSearchParams("kind=trees")), { kind: "trees", kernel: KINDS.trees[1], x: KINDS.trees[2], z: KINDS.trees[3] });
  assert.equal(readPair(new URLSearchParams("kind=constructor")).kind, "strings");
  assert.equal(readPair(new URLSearchParams("x=banana&kernel=spectrum(p%3D2)")).x, "banana");
});
