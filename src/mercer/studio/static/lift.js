// Three dimensions, rotatable: the decision function as a surface, kernel principal components, or the lift x² + y².
import { useRef, useState } from "preact/hooks";
import { Canvas, Segments, html } from "./ui.js";
import { channels, classColour, colour, mark } from "./colours.js";
import { interpolated } from "./contours.js";
import { HALF } from "./plane.js";

const MESH = 26; // quadrilaterals each way: smooth enough, and drawn within a frame
const TALL = 2.4; // decision values beyond are cut off, as on the plane

const MODES = [
  ["surface", "f(x, y)", "The decision function as a surface over the plane"],
  ["components", "PCA", "The first three kernel principal components"],
  ["square", "x² + y²", "The lift of the lectures"],
];

function camera(turn, tilt, size, zoom = 0.36) {
  const [ct, st, cu, su] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
  return ([x, y, z]) => {
    const right = ct * x - st * y;
    const away = st * x + ct * y;
    const up = cu * z + su * away;
    const depth = cu * away - su * z;
    const scale = (zoom * size) / (1 + 0.09 * depth);
    return [size / 2 + right * scale, size * 0.52 - up * scale, depth];
  };
}

function shade(base, share, paper) {
  return `rgb(${base.map((one, channel) => Math.round(paper[channel] + (one - paper[channel]) * share)).join(",")})`;
}

function surfaceFaces(values, cells, tones, paper) {
  const faces = [];
  const height = (column, row) => Math.max(-TALL, Math.min(TALL, interpolated(values, cells, (column / MESH) * (cells - 1), (row / MESH) * (cells - 1))));
  for (let row = 0; row < MESH; row++) {
    for (let column = 0; column < MESH; column++) {
      const corners = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]].map(([x, y]) => [
        (2 * x) / MESH - 1, (2 * y) / MESH - 1, (0.78 * height(x, y)) / TALL,
      ]);
      const mean = corners.reduce((sum, corner) => sum + corner[2], 0) / 4;
      faces.push({ corners, fill: shade(mean < 0 ? tones[0] : tones[1], 0.28 + 0.62 * Math.min(Math.abs(mean) / 0.5, 1), paper) });
    }
  }
  return faces;
}

function squareFaces(paper, tone) {
  const faces = [];
  for (let row = 0; row < 18; row++) {
    for (let column = 0; column < 18; column++) {
      const corners = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]].map(([x, y]) => {
        const [u, v] = [x / 9 - 1, y / 9 - 1];
        return [u, v, 0.75 * (u * u + v * v) - 0.7];
      });
      faces.push({ corners, fill: shade(tone, 0.16, paper) });
    }
  }
  return faces;
}

export function LiftView({ scene, machine, components, lit, mode, onMode }) {
  const [angles, setAngles] = useState([-0.65, 0.5]);
  const held = useRef(null);
  const { points } = scene;
  const flat = scene.task === "regression" || !machine || machine.grids.length !== 1;
  const shown = flat && mode === "surface" ? "components" : mode;

  const draw = (context, width, height) => {
    context.clearRect(0, 0, width, height);
    const size = Math.min(width, height);
    context.save();
    context.translate((width - size) / 2, (height - size) / 2);
    const project = camera(angles[0], angles[1], size, shown === "components" ? 0.28 : 0.36); // a box with a floor is taller
    const paper = channels(colour("paper"));
    const kinds = points.map(([, , kind]) => (scene.task === "classification" ? kind : 0));
    let faces = [];
    let places = [];
    if (shown === "surface") {
      const tones = (machine.classes.length ? machine.classes.map(classColour) : [colour("outside"), colour("class-0")]).map(channels);
      faces = surfaceFaces(machine.grids[0], machine.cells, tones, paper);
      places = points.map(([x, y], number) => {
        const value = Math.max(-TALL, Math.min(TALL, machine.decisions[number]?.[0] ?? 0));
        return [x / HALF, y / HALF, (0.78 * value) / TALL + 0.02];
      });
    } else if (shown === "square") {
      faces = squareFaces(paper, channels(colour("line")));
      places = points.map(([x, y]) => [x / HALF, y / HALF, 0.75 * ((x * x + y * y) / (HALF * HALF)) - 0.7]);
    } else {
      const reach = Math.max(...components.flat().map(Math.abs), 1e-9);
      places = components.map((point) => point.map((value) => (0.95 * value) / reach));
    }
    drawBox(context, project, shown);
    /** @type {any[]} */
    const drawn = faces.map((face) => {
      const corners = face.corners.map(project);
      return { depth: corners.reduce((sum, corner) => sum + corner[2], 0) / 4, corners, fill: face.fill };
    });
    places.forEach((place, number) => {
      const [x, y, depth] = project(place);
      drawn.push({ depth: depth - 0.12, x, y, kind: kinds[number], number, foot: shown === "surface" ? project([place[0], place[1], 0]) : null });
    });
    drawn.sort((a, b) => b.depth - a.depth);
    for (const one of drawn) {
      if (one.corners) {
        context.beginPath();
        one.corners.forEach(([x, y], number) => (number ? context.lineTo(x, y) : context.moveTo(x, y)));
        context.closePath();
        context.globalAlpha = shown === "square" ? 0.55 : 0.93;
        context.fillStyle = one.fill;
        context.fill();
        context.globalAlpha = 0.35;
        context.strokeStyle = colour("paper");
        context.lineWidth = 0.7;
        context.stroke();
        context.globalAlpha = 1;
      } else {
        mark(context, one.kind, one.x, one.y, lit.includes(one.number) ? 6.5 : 4);
        context.fillStyle = classColour(one.kind);
        context.strokeStyle = lit.includes(one.number) ? colour("accent") : colour("ink");
        context.lineWidth = lit.includes(one.number) ? 3 : 0.9;
        context.fill();
        context.stroke();
      }
    }
    context.restore();
  };

  const turn = (dx, dy) => setAngles(([turn, tilt]) => [turn + dx, Math.min(Math.max(tilt + dy, -0.2), 1.5)]);
  const keys = (event) => {
    const ways = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] };
    if (!ways[event.key]) return;
    event.preventDefault();
    turn(...ways[event.key]);
  };
  return html`<div class="view">
    <${Segments} label="What is lifted" options=${flat ? MODES.slice(1) : MODES} value=${shown} onChange=${onMode} />
    <div class="turntable" tabindex="0" role="application" aria-label="Rotatable picture: arrow keys turn it" onKeyDown=${keys}
      onPointerDown=${(event) => { held.current = [event.clientX, event.clientY]; event.currentTarget.setPointerCapture(event.pointerId); }}
      onPointerMove=${(event) => {
        if (!held.current) return;
        turn((event.clientX - held.current[0]) / 120, (event.clientY - held.current[1]) / 160);
        held.current = [event.clientX, event.clientY];
      }}
      onPointerUp=${() => { held.current = null; }} onPointerCancel=${() => { held.current = null; }}>
      <${Canvas} class="square" draw=${draw} watch=${[scene, machine, components, lit, angles, shown]} label="Points in three dimensions" />
    </div>
    <p class="caption">${{
      surface: "The decision function over the plane. Drag to turn it.",
      components: "The three directions in which the points vary most in feature space. Drag to turn them.",
      square: "z = x² + y²: a plane cuts what no line could. Drag to turn it.",
    }[shown]}</p>
  </div>`;
}

function drawBox(context, project, shown) {
  context.strokeStyle = colour("grid");
  context.lineWidth = 1;
  const floor = shown === "surface" ? 0 : -0.95;
  const corners = [[-1, -1, floor], [1, -1, floor], [1, 1, floor], [-1, 1, floor]].map(project);
  context.beginPath();
  corners.forEach(([x, y], number) => (number ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.stroke();
  if (shown !== "components") return;
  for (const end of [[1, 0, 0], [0, 1, 0], [0, 0, 1]]) {
    const [from, to] = [project(end.map((one) => -one)), project(end)];
    context.beginPath();
    context.moveTo(from[0], from[1]);
    context.lineTo(to[0], to[1]);
    context.stroke();
  }
}
