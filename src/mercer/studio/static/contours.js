// Level lines of values on a grid, and the way down to one of them.

/** Polylines of `level` through a square grid, in grid coordinates (column, row). */
export function contours(values, size, level) {
  const links = new Map();
  const join = (a, b) => {
    for (const [from, to] of [[a, b], [b, a]]) {
      if (!links.has(from)) links.set(from, []);
      links.get(from).push(to);
    }
  };
  // An edge is named by its lower left corner and its direction; a line crosses it once.
  const horizontal = (x, y) => 2 * (y * size + x);
  const vertical = (x, y) => 2 * (y * size + x) + 1;
  for (let y = 0; y + 1 < size; y++) {
    for (let x = 0; x + 1 < size; x++) {
      const a = values[y * size + x] - level;
      const b = values[y * size + x + 1] - level;
      const c = values[(y + 1) * size + x + 1] - level;
      const d = values[(y + 1) * size + x] - level;
      const crossed = [];
      if (a > 0 !== b > 0) crossed.push(horizontal(x, y));
      if (b > 0 !== c > 0) crossed.push(vertical(x + 1, y));
      if (c > 0 !== d > 0) crossed.push(horizontal(x, y + 1));
      if (d > 0 !== a > 0) crossed.push(vertical(x, y));
      if (crossed.length === 2) join(crossed[0], crossed[1]);
      else if (crossed.length === 4) {
        const turned = (a + b + c + d > 0) === (a > 0);
        join(crossed[0], crossed[turned ? 1 : 3]);
        join(crossed[2], crossed[turned ? 3 : 1]);
      }
    }
  }
  const place = (edge) => {
    const cell = edge >> 1;
    const x = cell % size;
    const y = (cell - x) / size;
    const here = values[cell] - level;
    const there = (edge & 1 ? values[cell + size] : values[cell + 1]) - level;
    const share = here / (here - there);
    return edge & 1 ? [x, y + share] : [x + share, y];
  };
  const lines = [];
  const seen = new Set();
  const walk = (start) => {
    const line = [place(start)];
    seen.add(start);
    let here = start;
    for (;;) {
      const next = links.get(here).find((one) => !seen.has(one));
      if (next === undefined) {
        if (line.length > 2 && links.get(here).includes(start)) line.push(line[0]);
        return line;
      }
      seen.add(next);
      line.push(place(next));
      here = next;
    }
  };
  for (const [edge, near] of links) if (near.length === 1 && !seen.has(edge)) lines.push(walk(edge));
  for (const edge of links.keys()) if (!seen.has(edge)) lines.push(walk(edge));
  return lines;
}

/** The value between grid points. */
export function interpolated(values, size, x, y) {
  const column = Math.min(Math.max(x, 0), size - 1.000001);
  const row = Math.min(Math.max(y, 0), size - 1.000001);
  const left = Math.floor(column), low = Math.floor(row), u = column - left, v = row - low;
  const place = low * size + left;
  return (1 - v) * ((1 - u) * values[place] + u * values[place + 1]) + v * ((1 - u) * values[place + size] + u * values[place + size + 1]);
}

/** The steepest way from a place to where the values reach `level`: what a point is short of its margin. */
export function wayTo(values, size, x, y, level) {
  const way = [[x, y]];
  for (let step = 0; step < 160; step++) {
    const here = interpolated(values, size, x, y);
    const gap = level - here;
    const gx = (interpolated(values, size, x + 0.5, y) - interpolated(values, size, x - 0.5, y));
    const gy = (interpolated(values, size, x, y + 0.5) - interpolated(values, size, x, y - 0.5));
    const squared = gx * gx + gy * gy;
    if (Math.abs(gap) < 1e-3) return way;
    if (squared < 1e-10) return null;
    const length = Math.min(Math.abs(gap) / Math.sqrt(squared), 0.7);
    const scale = (Math.sign(gap) * length) / Math.sqrt(squared);
    x += scale * gx;
    y += scale * gy;
    if (x < 0 || y < 0 || x > size - 1 || y > size - 1) return null;
    way.push([x, y]);
  }
  return null;
}
