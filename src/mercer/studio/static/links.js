// A scene as the fragment of an address, and back. What an address says is checked like any other input.
const ROUTE = "#/play";
const TASKS = ["classification", "regression", "novelty"];

export function writeScene(scene) {
  const points = scene.points.map(([x, y, kind]) => `${Math.round(100 * x)}.${Math.round(100 * y)}.${kind}`).join("_");
  const told = new URLSearchParams({ task: scene.task, kernel: scene.kernel, C: scene.C === Infinity ? "inf" : scene.C, epsilon: scene.epsilon, nu: scene.nu, points });
  return `${ROUTE}?${told}`;
}

export function readScene(hash) {
  if (!hash.startsWith(`${ROUTE}?`)) return null;
  const told = new URLSearchParams(hash.slice(ROUTE.length + 1));
  const number = (name, low, high, otherwise) => {
    const value = told.get(name) === "inf" ? Infinity : Number(told.get(name) ?? NaN);
    return value >= low && value <= high ? value : otherwise;
  };
  const points = (told.get("points") || "").split("_").filter(Boolean).slice(0, 400)
    .map((text) => text.split(".").map(Number))
    .filter((row) => row.length === 3 && row.every(Number.isInteger) && [0, 1, 2].includes(row[2]))
    .map(([x, y, kind]) => [Math.min(Math.max(x, -300), 300) / 100, Math.min(Math.max(y, -300), 300) / 100, kind]);
  return {
    task: TASKS.includes(told.get("task")) ? told.get("task") : TASKS[0],
    kernel: (told.get("kernel") ?? "rbf(gamma=1)").slice(0, 500),
    C: number("C", 1e-6, Infinity, 1),
    epsilon: number("epsilon", 0, 3, 0.2),
    nu: number("nu", 0.001, 1, 0.1),
    points,
  };
}
