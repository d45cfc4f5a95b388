// Level lines, numbers for people, numbers in kernels, and the examples.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contours, interpolated, wayTo } from "../../../src/mercer/studio/static/contours.js";
import { EXAMPLES } from "../../../src/mercer/studio/static/examples.js";
import { numbers } from "../../../src/mercer/studio/static/kernelbox.js";
import { figure, readable } from "../../../src/mercer/studio/static/ui.js";

const SIZE = 41;
const grid = (of) => Float32Array.from({ length: SIZE * SIZE }, (_, place) => of(place % SIZE, Math.floor(place / SIZE)));
const length = (line) => line.slice(1).reduce((sum, [x, y], place) => sum + Math.hypot(x - line[place][0], y - line[place][1]), 0);

test("the level line of a distance is a closed circle", () => {
  const lines = contours(grid((x, y) => Math.hypot(x - 20, y - 20)), SIZE, 12);
  assert.equal(lines.length, 1);
  assert.deepEqual(lines[0][0], lines[0].at(-1));
  for (const [x, y] of lines[0]) assert.ok(Math.abs(Math.hypot(x - 20, y - 20) - 12) < 0.02);
  assert.ok(Math.abs(length(lines[0]) - 24 * Math.PI) < 0.3);
});

test("a line that leaves the plane is open, and a saddle has two", () => {
  const [line, ...others] = contours(grid((x) => x - 10.25), SIZE, 0);
  assert.equal(others.length, 0);
  assert.ok(Math.abs(length(line) - 40) < 1e-6);
  for (const [x] of line) assert.ok(Math.abs(x - 10.25) < 1e-5);
  const saddle = contours(grid((x, y) => (x - 20.5) * (y - 20.5)), SIZE, 3);
  assert.equal(saddle.length, 2);
  for (const [x, y] of saddle.flat()) assert.ok(Math.abs((x - 20.5) * (y - 20.5) - 3) < 0.6);
});

test("there is no line where the level is never reached", () => {
  assert.deepEqual(contours(grid(() => 1), SIZE, 2), []);
});

test("values between grid points", () => {
  const values = grid((x, y) => 2 * x + 3 * y);
  assert.ok(Math.abs(interpolated(values, SIZE, 3.25, 7.5) - 29) < 1e-4);
  assert.ok(Number.isFinite(interpolated(values, SIZE, -5, 99)));
});

test("the way to a margin ends on it, and slopes without end lead nowhere", () => {
  const way = wayTo(grid((x) => (x - 20) / 5), SIZE, 22, 10, 1);
  assert.ok(Math.abs(way.at(-1)[0] - 25) < 0.01);
  assert.ok(Math.abs(way.at(-1)[1] - 10) < 0.01);
  assert.equal(wayTo(grid(() => 0), SIZE, 5, 5, 1), null);
});

test("numbers for people", () => {
  const told = [0, 1, -0.5, 1234.5, 123456, 0.00001234, Infinity].map(figure);
  assert.deepEqual(told, ["0", "1", "-0.5", "1230", "1.2 × 10⁵", "1.2 × 10⁻⁵", "∞"]);
});

test("sentences have numbers for people, and names stay as they are", () => {
  assert.equal(readable("within 2.3e-08, at most 1e+12."), "within 2.3 × 10⁻⁸, at most 1 × 10¹².");
  assert.equal(readable("optimal to within 0.0e+00."), "optimal to within 0.");
  assert.equal(readable("gene1e5 has 12 points and 3.5"), "gene1e5 has 12 points and 3.5");
});

test("the numbers of a kernel have their names and places", () => {
  const text = "rbf(gamma=0.5) + 2*poly(degree=3)";
  assert.deepEqual(numbers(text).map((one) => [one.name, one.value, text.slice(one.start, one.end)]), [["gamma", 0.5, "0.5"], ["factor", 2, "2"], ["degree", 3, "3"]]);
  assert.deepEqual(numbers("linear"), []);
  assert.deepEqual(numbers("on('a1', rbf(gamma=1))"), []);
});

test("examples lie in the plane, with classes that exist", () => {
  for (const { scene } of EXAMPLES) {
    assert.ok(scene.points.length >= 4 && scene.points.length <= 100);
    for (const [x, y, kind] of scene.points) assert.ok(Math.abs(x) <= 3 && Math.abs(y) <= 3 && [0, 1, 2].includes(kind));
  }
});
