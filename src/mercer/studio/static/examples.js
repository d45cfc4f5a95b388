// The pictures of the lectures, one click away.
// Mulberry32: small, and good enough that clouds look like clouds.
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function normal(next) {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

const round = (value) => Math.round(value * 100) / 100;

function cloud(next, n, x, y, spread, kind) {
  return Array.from({ length: n }, () => [round(x + spread * normal(next)), round(y + spread * normal(next)), kind]);
}

function ring(next, n, radius, spread, kind) {
  return Array.from({ length: n }, (_, place) => {
    const angle = (2 * Math.PI * (place + 0.5 * next())) / n;
    const r = radius + spread * normal(next);
    return [round(r * Math.cos(angle)), round(r * Math.sin(angle)), kind];
  });
}

function xor(next, each) {
  return [[-1, -1, 0], [1, 1, 0], [-1, 1, 1], [1, -1, 1]].flatMap(([x, y, kind]) => cloud(next, each, 1.25 * x, 1.25 * y, 0.33, kind));
}

function spirals(next) {
  return [0, 1].flatMap((kind) =>
    Array.from({ length: 26 }, (_, place) => {
      const angle = 0.55 + (place / 26) * 3.3 * Math.PI;
      const r = 0.22 * angle + 0.03 * normal(next);
      return [round(r * Math.cos(angle + kind * Math.PI)), round(r * Math.sin(angle + kind * Math.PI)), kind];
    })
  );
}

function separable(next) {
  return [...cloud(next, 14, -1.25, -0.6, 0.42, 0), ...cloud(next, 14, 1.15, 0.7, 0.42, 1)];
}

const DEFAULTS = { task: "classification", kernel: "linear", C: 1, epsilon: 0.2, nu: 0.1 };

/** A `view` is what the example is about, and is opened with it. */
const of = (name, about, settings, points, view = null) => ({ view, key: name.toLowerCase().replace(/^1-d /, "").replace(/ /g, "-"), name, about, scene: { ...DEFAULTS, ...settings, points } });

export const EXAMPLES = [
  of("Margin", "Of all the lines that separate the classes, the one with the widest street.", { kernel: "linear", C: Infinity }, separable(random(7))),
  of("Slack", "Two clouds overlap: C is the price of a point on the wrong side of its margin.", { kernel: "linear", C: 0.5 },
    [...cloud(random(3), 22, -0.75, -0.35, 0.75, 0), ...cloud(random(11), 22, 0.75, 0.45, 0.75, 1)]),
  of("Outlier", "One point tilts the hard margin. Lower C, and the street widens again.", { kernel: "linear", C: Infinity },
    [...separable(random(7)), [-0.32, -0.05, 1]]),
  of("Inseparable", "No line separates these classes, and here is the proof.", { kernel: "linear", C: Infinity },
    [[-1.5, -1, 0], [1.4, 1.1, 0], [0.3, 0.8, 0], [-1.2, 1.1, 1], [1.3, -1.2, 1], [-0.2, -1.4, 1]]),
  of("XOR", "Not linearly separable, but separable with products of coordinates.", { kernel: "poly(degree=2, gamma=1, coef0=1)", C: 10 }, xor(random(5), 9)),
  of("Ring", "A circle around a cloud: a plane separates them once x² + y² is a coordinate.", { kernel: "poly(degree=2, gamma=1, coef0=0)", C: 10 },
    [...cloud(random(2), 20, 0, 0, 0.38, 0), ...ring(random(9), 28, 1.95, 0.14, 1)]),
  of("1-D lift", "Points on a line: x becomes (x, x²), and a line separates.", { kernel: "poly(degree=2, gamma=1, coef0=1)", C: 100 },
    [-2.4, -2, -1.6, 1.5, 1.9, 2.3].map((x) => [x, 0, 1]).concat([-0.8, -0.4, -0.1, 0.3, 0.7].map((x) => [x, 0, 0])), "square"),
  of("Spirals", "Only a local kernel can follow them.", { kernel: "rbf(gamma=4)", C: 100 }, spirals(random(4))),
  of("Good matrix", "Blocks: points of a class resemble each other.", { kernel: "rbf(gamma=0.5)", C: 1 }, xor(random(5), 9)),
  of("Bad matrix", "A width so small that each point resembles only itself: a diagonal, and nothing is learnt.", { kernel: "rbf(gamma=60)", C: 1 }, xor(random(5), 9)),
  of("Three classes", "Every pair of classes has its own machine.", { kernel: "rbf(gamma=0.6)", C: 3 },
    [...cloud(random(21), 14, -1.3, -0.9, 0.5, 0), ...cloud(random(22), 14, 1.3, -0.9, 0.5, 1), ...cloud(random(23), 14, 0, 1.3, 0.5, 2)]),
  of("Regression", "A tube that forgives small errors; points outside it are the support vectors.", { task: "regression", kernel: "rbf(gamma=0.8)", C: 10, epsilon: 0.25 },
    Array.from({ length: 34 }, (_, place) => {
      const next = random(100 + place);
      const x = -2.8 + (5.6 * place) / 33;
      return [round(x), round(1.4 * Math.sin(1.7 * x) + 0.25 * x + 0.22 * normal(next)), 0];
    })),
  of("One class", "A region around most of the points; nu is the share that may be left out.", { task: "novelty", kernel: "rbf(gamma=0.5)", nu: 0.15 },
    [...cloud(random(31), 22, -1, 0.6, 0.45, 0), ...cloud(random(37), 18, 1.1, -0.6, 0.4, 0), [2.3, 2.1, 0], [-2.2, -2, 0]]),
];
