// The plane: points to add and move, and what the machine makes of them.
import { useRef, useState } from "preact/hooks";
import { Canvas, html } from "./ui.js";
import { channels, classColour, colour, mark } from "./colours.js";
import { contours, interpolated, wayTo } from "./contours.js";

export const HALF = 3;
const REACH = 14; // pixels around a point that still hit it; fingers get more
const round = (value) => Math.round(value * 100) / 100;
const clamp = (value) => Math.min(Math.max(value, -HALF), HALF);

/**
 * From coordinates of the plane to pixels.
 * @returns {(x: number, y: number) => [number, number]}
 */
const toPixels = (size) => (x, y) => [((x + HALF) / (2 * HALF)) * size, ((HALF - y) / (2 * HALF)) * size];
/** From grid coordinates to pixels. */
const gridToPixels = (size, cells) => ([x, y]) => [(x / (cells - 1)) * size, size - (y / (cells - 1)) * size];

function signedImage(values, cells, negative, positive) {
  const side = 2 * cells;
  const image = new ImageData(side, side);
  const [low, high] = [channels(negative), channels(positive)];
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const value = interpolated(values, cells, ((column + 0.5) / side) * (cells - 1), (1 - (row + 0.5) / side) * (cells - 1));
      const tone = value < 0 ? low : high;
      const size = Math.min(Math.abs(value), 2.2) / 2.2;
      image.data.set([...tone, 255 * (0.07 + 0.36 * size)], 4 * (row * side + column));
    }
  }
  return image;
}

function classImage(grids, cells, classes) {
  const side = 2 * cells;
  const image = new ImageData(side, side);
  const tones = classes.map((kind) => channels(classColour(kind)));
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const x = ((column + 0.5) / side) * (cells - 1);
      const y = (1 - (row + 0.5) / side) * (cells - 1);
      const leads = grids.map((grid) => interpolated(grid, cells, x, y));
      const best = leads.indexOf(Math.max(...leads));
      image.data.set([...tones[best], 255 * (0.08 + 0.32 * Math.min(Math.max(leads[best], 0), 1))], 4 * (row * side + column));
    }
  }
  return image;
}

const scratch = document.createElement("canvas");
function spread(context, image, size) {
  scratch.width = image.width;
  scratch.height = image.height;
  scratch.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = "high";
  context.drawImage(scratch, 0, 0, size, size);
}

function strokeLines(context, lines, place, { width, dash = [], tone }) {
  context.save();
  context.lineWidth = width;
  context.setLineDash(dash);
  context.strokeStyle = tone;
  context.lineJoin = "round";
  context.beginPath();
  for (const line of lines) {
    line.forEach((point, number) => (number ? context.lineTo(...place(point)) : context.moveTo(...place(point))));
  }
  context.stroke();
  context.restore();
}

function drawAxes(context, size) {
  const place = toPixels(size);
  context.save();
  context.strokeStyle = colour("grid");
  context.lineWidth = 1;
  for (let line = -2; line <= 2; line++) {
    context.globalAlpha = line ? 0.5 : 1;
    context.beginPath();
    context.moveTo(...place(line, -HALF));
    context.lineTo(...place(line, HALF));
    context.moveTo(...place(-HALF, line));
    context.lineTo(...place(HALF, line));
    context.stroke();
  }
  context.restore();
}

function drawTwoClasses(context, size, values, cells, scene, machine) {
  const [negative, positive] = machine.classes.length ? machine.classes.map(classColour) : [colour("outside"), colour("class-0")];
  spread(context, signedImage(values, cells, negative, positive), size);
  drawAxes(context, size);
  const place = gridToPixels(size, cells);
  if (scene.task === "classification") {
    for (const level of [-1, 1]) strokeLines(context, contours(values, cells, level), place, { width: 1.4, dash: [6, 5], tone: colour("line") });
    drawSlack(context, size, values, cells, scene, machine);
  }
  strokeLines(context, contours(values, cells, 0), place, { width: 2.6, tone: colour("line") });
}

function drawSlack(context, size, values, cells, scene, machine) {
  const place = gridToPixels(size, cells);
  scene.points.forEach(([x, y, kind], number) => {
    if (!machine.slack[number]) return;
    const scale = (cells - 1) / (2 * HALF);
    const level = kind === machine.classes[1] ? 1 : -1;
    const way = wayTo(values, cells, (x + HALF) * scale, (y + HALF) * scale, level);
    if (way) strokeLines(context, [way], place, { width: 1.6, dash: [2, 3], tone: classColour(kind) });
  });
}

function drawManyClasses(context, size, grids, cells, machine) {
  spread(context, classImage(grids, cells, machine.classes), size);
  drawAxes(context, size);
  const place = gridToPixels(size, cells);
  for (const grid of grids) strokeLines(context, contours(grid, cells, 0), place, { width: 2.2, tone: colour("line") });
}

function drawRegression(context, size, values, scene, machine) {
  drawAxes(context, size);
  const place = toPixels(size);
  const last = values.length - 1;
  const curve = (shift) => Array.from(values, (value, number) => [-HALF + (2 * HALF * number) / last, value + shift]);
  /** @type {(point: number[]) => [number, number]} */
  const across = ([x, y]) => place(x, Math.min(Math.max(y, -2 * HALF), 2 * HALF));
  context.save();
  context.fillStyle = colour("class-0");
  context.globalAlpha = 0.16;
  context.beginPath();
  curve(scene.epsilon).forEach((point, number) => (number ? context.lineTo(...across(point)) : context.moveTo(...across(point))));
  curve(-scene.epsilon).reverse().forEach((point) => context.lineTo(...across(point)));
  context.fill();
  context.restore();
  for (const shift of [-scene.epsilon, scene.epsilon]) strokeLines(context, [curve(shift)], across, { width: 1.2, dash: [6, 5], tone: colour("line") });
  strokeLines(context, [curve(0)], across, { width: 2.6, tone: colour("line") });
  scene.points.forEach(([x, y], number) => {
    if (!machine.slack[number]) return;
    const own = machine.decisions[number][0];
    const edge = own + Math.sign(y - own) * scene.epsilon;
    strokeLines(context, [[[x, y], [x, edge]]], across, { width: 1.6, dash: [2, 3], tone: colour("class-1") });
  });
}

function drawFilm(context, size, film, frame) {
  const cells = film.grids.shape[1];
  const values = film.grids.values.subarray(frame * cells * cells, (frame + 1) * cells * cells);
  spread(context, signedImage(values, cells, classColour(film.classes[0]), classColour(film.classes[1])), size);
  drawAxes(context, size);
  strokeLines(context, contours(values, cells, 0), gridToPixels(size, cells), { width: 2.6, tone: colour("line") });
}

function drawPoints(context, size, { scene, machine, proof, lit, selected }) {
  const place = toPixels(size);
  const scale = Math.max(0.8, Math.min(1.25, size / 520));
  const support = new Set(machine?.support ?? []);
  const heaviest = proof ? Math.max(...proof.weights) : 0;
  scene.points.forEach(([x, y, kind], number) => {
    const [left, top] = place(x, y);
    const chosen = lit.includes(number) || selected === number;
    const shown = scene.task === "classification" ? kind : 0;
    if (proof && proof.weights[number] > 1e-9) {
      context.beginPath();
      context.arc(left, top, (9 + (16 * proof.weights[number]) / heaviest) * scale, 0, 2 * Math.PI);
      context.fillStyle = colour("accent");
      context.globalAlpha = 0.25;
      context.fill();
      context.globalAlpha = 1;
    }
    mark(context, shown, left, top, (chosen ? 6.5 : 5) * scale);
    context.fillStyle = classColour(shown);
    context.strokeStyle = colour("paper");
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
    if (support.has(number) || chosen) {
      context.beginPath();
      context.arc(left, top, (chosen ? 12 : 9.5) * scale, 0, 2 * Math.PI);
      context.strokeStyle = chosen ? colour("accent") : colour("line");
      context.lineWidth = chosen ? 3 : 1.6;
      context.stroke();
    }
  });
}

/** The two mixtures of a proof that there is no hard margin, where they are points of the plane: the same one. */
function drawMixtures(context, size, scene, proof) {
  const place = toPixels(size);
  const kinds = [...new Set(scene.points.map((point) => point[2]))];
  for (const kind of kinds) {
    const mixed = scene.points.map((point, number) => [...point, proof.weights[number]]).filter((row) => row[2] === kind && row[3] > 1e-9);
    const total = mixed.reduce((sum, row) => sum + row[3], 0) || 1;
    const middle = [0, 1].map((axis) => mixed.reduce((sum, row) => sum + row[axis] * row[3], 0) / total);
    strokeLines(context, mixed.map((row) => [[row[0], row[1]], middle]), ([x, y]) => place(x, y), { width: 1.8, tone: classColour(kind) });
    context.beginPath();
    context.arc(...place(middle[0], middle[1]), 5, 0, 2 * Math.PI);
    context.fillStyle = colour("accent");
    context.fill();
  }
}

/** Where the keys would add a point. */
function drawCursor(context, size, [x, y]) {
  const [left, top] = toPixels(size)(x, y);
  const arms = [[-14, 0], [14, 0], [0, -14], [0, 14]].map(([dx, dy]) => [[left + dx / 3, top + dy / 3], [left + dx, top + dy]]);
  strokeLines(context, arms, ([across, down]) => [across, down], { width: 2.4, tone: colour("accent") });
}

/** What is behind the points. */
function drawMachine(context, size, { scene, machine, film, frame }) {
  if (film) {
    drawFilm(context, size, film, frame);
    if (machine?.grids.length === 1) {
      strokeLines(context, contours(machine.grids[0], machine.cells, 0), gridToPixels(size, machine.cells), { width: 1.6, dash: [3, 4], tone: colour("accent") });
    }
  } else if (!machine) drawAxes(context, size);
  else if (scene.task === "regression") drawRegression(context, size, machine.grids[0], scene, machine);
  else if (machine.grids.length > 1) drawManyClasses(context, size, machine.grids, machine.cells, machine);
  else drawTwoClasses(context, size, machine.grids[0], machine.cells, scene, machine);
}

export function Plane({ scene, machine, proof, film, frame, lit, stale, kind, onPoints, onSelect, selected, onKind, onUndo, children }) {
  const held = useRef(null);
  const [said, say] = useState("");
  const [cursor, setCursor] = useState(/** @type {[number, number] | null} */ (null)); // where a key adds a point; drawn while keys are used
  const { points } = scene;

  const draw = (context, width) => {
    context.clearRect(0, 0, width, width);
    context.globalAlpha = stale ? 0.5 : 1;
    drawMachine(context, width, { scene, machine, film, frame });
    context.globalAlpha = 1;
    if (proof && scene.kernel.trim() === "linear") drawMixtures(context, width, scene, proof);
    drawPoints(context, width, { scene, machine: film ? null : machine, proof, lit, selected });
    if (cursor && (selected === null || !points[selected])) drawCursor(context, width, cursor);
  };

  const at = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 * HALF - HALF;
    const y = HALF - ((event.clientY - box.top) / box.height) * 2 * HALF;
    return [x, y, (2 * HALF) / box.width];
  };
  const hit = (x, y, reach) => {
    let best = -1;
    let nearest = reach;
    points.forEach(([px, py], number) => {
      const away = Math.hypot(px - x, py - y);
      if (away < nearest) [best, nearest] = [number, away];
    });
    return best;
  };
  const announce = (number, list = points) => {
    const [x, y, own] = list[number];
    say(`Point ${number + 1} of ${list.length}, class ${own + 1}, at ${x}, ${y}.`);
  };

  const down = (event) => {
    event.currentTarget.focus({ preventScroll: true });
    setCursor(null);
    if (event.button === 2) return;
    const [x, y, unit] = at(event);
    const number = hit(x, y, (event.pointerType === "mouse" ? REACH : 24) * unit);
    event.currentTarget.setPointerCapture(event.pointerId);
    if (number >= 0) {
      held.current = { number, before: points };
      onSelect(number);
      announce(number);
    } else {
      if (points.length >= 400) return;
      const next = [...points, [round(clamp(x)), round(clamp(y)), scene.task === "classification" ? kind : 0]];
      held.current = { number: points.length, before: points };
      onPoints(next, points);
      onSelect(points.length);
      announce(points.length, next);
    }
  };
  const move = (event) => {
    if (!held.current) return;
    const [x, y] = at(event);
    const { number } = held.current;
    const next = points.slice();
    if (!next[number]) return;
    next[number] = [round(clamp(x)), round(clamp(y)), next[number][2]];
    onPoints(next, held.current.moved ? null : held.current.before);
    held.current.moved = true;
  };
  const up = (event) => {
    if (!held.current) return;
    const box = event.currentTarget.getBoundingClientRect();
    const away = Math.max(box.left - event.clientX, event.clientX - box.right, box.top - event.clientY, event.clientY - box.bottom);
    if (away > 24) remove(held.current.number);
    held.current = null;
  };
  const remove = (number) => {
    if (!points[number]) return;
    onPoints(points.filter((_, place) => place !== number), points);
    onSelect(null);
    say(`Point ${number + 1} removed.`);
  };
  const menu = (event) => {
    event.preventDefault();
    const [x, y, unit] = at(event);
    const number = hit(x, y, REACH * unit);
    if (number >= 0) remove(number);
  };

  const keys = (event) => {
    const step = (event.shiftKey ? 0.5 : 0.1);
    const ways = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const number = selected !== null && points[selected] ? selected : -1;
    if ((event.ctrlKey || event.metaKey) && event.key === "z") onUndo();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (ways[event.key]) {
      const [dx, dy] = ways[event.key];
      if (number < 0) {
        const [x, y] = cursor ?? [0, 0];
        const moved = /** @type {[number, number]} */ ([round(clamp(x + dx)), round(clamp(y + dy))]);
        setCursor(moved);
        say(`Cursor at ${moved[0]}, ${moved[1]}. Enter adds a point.`);
      } else {
        const [x, y, own] = points[number];
        const next = points.slice();
        next[number] = [round(clamp(x + dx)), round(clamp(y + dy)), own];
        onPoints(next, points);
        announce(number, next);
      }
    } else if (event.key === "Enter" || event.key === " " || event.key === "a") {
      const place = number < 0 ? cursor ?? [0, 0] : [round(clamp(points[number][0] + 0.3)), points[number][1]];
      const next = [...points, [...place, scene.task === "classification" ? kind : 0]];
      onPoints(next, points);
      onSelect(points.length);
      announce(points.length, next);
    } else if (event.key === "Delete" || event.key === "Backspace") remove(number);
    else if (event.key === "n" || event.key === "p") {
      if (!points.length) return;
      const next = (number + (event.key === "n" ? 1 : -1) + points.length) % points.length;
      onSelect(next);
      announce(next);
    } else if ("123".includes(event.key) && event.key) {
      const own = Number(event.key) - 1;
      onKind(own);
      if (number >= 0 && scene.task === "classification") {
        const next = points.slice();
        next[number] = [points[number][0], points[number][1], own];
        onPoints(next, points);
        announce(number, next);
      } else say(`New points are of class ${own + 1}.`);
    } else if (event.key === "Escape") onSelect(null);
    else return;
    event.preventDefault();
  };

  return html`<div class="plane">
    <div class="plane-surface" tabindex="0" role="application" aria-label=${`Plane with ${points.length} points`} aria-describedby="plane-help"
      onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${up} onContextMenu=${menu} onKeyDown=${keys} onBlur=${() => setCursor(null)}>
      <${Canvas} draw=${draw} watch=${[scene, machine, proof, film, frame, lit, stale, selected, cursor]} label="Points, decision boundary and margins" />
    </div>
    ${children}
    <p id="plane-help" class="hint"><span class="by-mouse">Click to add, drag to move, drag out or right-click to remove.</span><span class="by-touch">Tap to add, drag to move, drag out to remove.</span> <span class="by-keys">Keys: <kbd>n</kbd> <kbd>p</kbd> select,
      arrows move, <kbd>Enter</kbd> adds, <kbd>Delete</kbd> removes, <kbd>1</kbd>–<kbd>3</kbd> set the class.</span></p>
    <p class="sr" role="status">${said}</p>
  </div>`;
}
