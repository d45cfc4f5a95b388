// States as fragments of addresses, and back. What an address says is checked like any other input.
import { EXAMPLES } from "./examples.js";

const TASKS = ["classification", "regression", "novelty"];
export const VIEWS = ["surface", "components", "square", "pca"];
export const PANELS = ["gram", "spectrum", "solvers"];
export const ALGORITHMS = ["perceptron", "batch", "stochastic", "gradient"];
/** What is shown beside the plane, unless a link says otherwise. */
export const SHOWN = { view: "surface", panel: "gram", algorithm: "perceptron", printed: false, frame: null };
const SETTINGS = ["task", "kernel", "C", "epsilon", "nu"];
const BLANK = { task: "classification", kernel: "rbf(gamma=1)", C: 1, epsilon: 0.2, nu: 0.1, points: [] };

/** The room of a fragment, what follows it, and its fields: "#/lab/pair?x=a" is ["lab", "pair", fields]. */
export function parts(hash) {
  const [path, ...rest] = hash.replace(/^#\/?/, "").split("?");
  const [room, place] = path.split("/");
  return [room, place ?? "", new URLSearchParams(rest.join("?"))];
}

/** Without what a fragment may hold as it is: links stay readable. */
export function fragment(path, fields) {
  const told = new URLSearchParams(fields).toString();
  return `#/${path}${told && `?${told}`}`;
}

const asText = (value) => (value === Infinity ? "inf" : String(value));

/** A scene and what is shown beside it; an example is named, and only what differs from it is written out. */
export function writeScene(scene, shown = SHOWN) {
  const example = EXAMPLES.find((one) => one.scene.points === scene.points);
  const usual = example ? example.scene : BLANK;
  const fields = example ? { example: example.key } : {};
  for (const name of SETTINGS) if (!example || scene[name] !== usual[name]) fields[name] = asText(scene[name]);
  if (!example) fields.points = scene.points.map(([x, y, kind]) => `${Math.round(100 * x)}.${Math.round(100 * y)}.${kind}`).join("_");
  if (shown.view !== (example?.view ?? SHOWN.view)) fields.view = shown.view;
  if (shown.panel !== SHOWN.panel) fields.panel = shown.panel;
  if (shown.panel === "solvers") {
    fields.algorithm = shown.algorithm;
    if (shown.printed) fields.printed = "1";
    if (shown.frame !== null) fields.frame = String(shown.frame);
  }
  return fragment("playground", fields);
}

/** The scene of a link, or null if it is none. */
export function readScene(hash) {
  const [room, , told] = parts(hash);
  if (!["play", "playground"].includes(room) || ![...told.keys()].length) return null;
  const usual = EXAMPLES.find((one) => one.key === told.get("example"))?.scene ?? BLANK;
  const number = (name, low, high) => {
    const value = told.get(name) === "inf" ? Infinity : Number(told.get(name) || NaN);
    return value >= low && value <= high ? value : usual[name];
  };
  const task = told.get("task") ?? "";
  return {
    task: TASKS.includes(task) ? task : usual.task,
    kernel: (told.get("kernel") ?? usual.kernel).slice(0, 500),
    C: number("C", 1e-6, Infinity),
    epsilon: number("epsilon", 0, 3),
    nu: number("nu", 0.001, 1),
    points: told.has("points") ? readPoints(told.get("points") ?? "") : usual.points,
  };
}

function readPoints(text) {
  return text.split("_").filter(Boolean).slice(0, 400)
    .map((one) => one.split(".").map(Number))
    .filter((row) => row.length === 3 && row.every(Number.isInteger) && [0, 1, 2].includes(row[2]))
    .map(([x, y, kind]) => [Math.min(Math.max(x, -300), 300) / 100, Math.min(Math.max(y, -300), 300) / 100, kind]);
}

/** What a link wants to be shown beside the plane. */
export function readShown(hash) {
  const [, , told] = parts(hash);
  const usual = { ...SHOWN, view: EXAMPLES.find((one) => one.key === told.get("example"))?.view ?? SHOWN.view };
  const choice = (name, known) => (known.includes(told.get(name) ?? "") ? told.get(name) : usual[name]);
  const frame = /^\d{1,3}$/.test(told.get("frame") ?? "") ? Number(told.get("frame")) : null;
  return { view: choice("view", VIEWS), panel: choice("panel", PANELS), algorithm: choice("algorithm", ALGORITHMS), printed: told.get("printed") === "1", frame };
}
