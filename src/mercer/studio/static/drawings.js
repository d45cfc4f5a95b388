// Objects with a shape: graphs, molecules and trees, their nodes coloured by what they add; series that are aligned.
import { figure, html } from "./ui.js";

const AROMATIC = 12;

/** The colour of a share: blue for one side, orange for the other, stronger for more. */
export const tone = (share) => (share < 0 ? "share against" : "share");
const strength = (share, most) => Math.min(1, Math.abs(share ?? 0) / most) * 0.78;
const largest = (shares) => Math.max(...(shares ?? []).map((share) => Math.abs(share ?? 0)), 1e-300);

/** A graph, molecule or tree. `shares` may be missing; `most` is the share that is drawn in full. */
export function Drawing({ drawing, shares, most, marked = null }) {
  if (!drawing) return null;
  const full = most ?? largest(shares);
  if (drawing.kind === "tree") return html`<${Tree} tree=${drawing} shares=${shares} most=${full} marked=${marked} />`;
  return html`<${Graph} graph=${drawing} shares=${shares} most=${full} marked=${marked} />`;
}

function Graph({ graph, shares, most, marked }) {
  const molecule = graph.kind === "molecule";
  const xs = graph.places.map(([x]) => x);
  const ys = graph.places.map(([, y]) => -y);
  const edge = 0.75;
  const [left, top] = [Math.min(...xs) - edge, Math.min(...ys) - edge];
  const [wide, high] = [Math.max(...xs) + edge - left, Math.max(...ys) + edge - top];
  // Small drawings are not blown up: a bond is never longer than 46 pixels.
  const size = { maxWidth: `${Math.round(Math.max(wide, 2) * 46)}px` };
  const at = (node) => [xs[node], ys[node]];
  const named = (label) => !molecule || label !== "C" || graph.places.length === 1;
  return html`<svg class=${`drawn ${graph.kind}`} style=${size} viewBox=${`${left} ${top} ${wide} ${high}`} role="img" aria-label=${`${molecule ? "Molecule" : "Graph"} of ${xs.length} ${molecule ? "atoms" : "nodes"}`}>
    ${shares && xs.map((x, node) => html`<circle key=${`s${node}`} class=${tone(shares[node])} cx=${x} cy=${ys[node]} r=${molecule ? 0.46 : 0.36} fill-opacity=${strength(shares[node], most)}><title>${graph.labels[node]} ${figure(shares[node] ?? 0)}</title></circle>`)}
    ${graph.bonds.map(([a, b, order], number) => html`<${Bond} key=${`b${number}`} from=${at(a)} to=${at(b)} order=${order} />`)}
    ${xs.map((x, node) => html`<g key=${node} class=${node === marked ? "marked" : ""}>
      ${molecule ? named(graph.labels[node]) && html`<circle class="gap" cx=${x} cy=${ys[node]} r="0.24" />` : html`<circle class="node" cx=${x} cy=${ys[node]} r=${graph.labels[node] ? 0.3 : 0.16} />${shares && html`<circle class=${tone(shares[node])} cx=${x} cy=${ys[node]} r="0.36" fill-opacity=${strength(shares[node], most)} />`}`}
      ${named(graph.labels[node]) && html`<text x=${x} y=${ys[node]} dy="0.13">${graph.labels[node]}</text>`}</g>`)}
  </svg>`;
}

function Bond({ from: [ax, ay], to: [bx, by], order }) {
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [px, py] = [(0.08 * (by - ay)) / length, (-0.08 * (bx - ax)) / length];
  const line = (shift, name = "edge") => html`<line class=${name} x1=${ax + shift * px} y1=${ay + shift * py} x2=${bx + shift * px} y2=${by + shift * py} />`;
  if (order === 2) return html`<g>${line(-1)}${line(1)}</g>`;
  if (order === 3) return html`<g>${line(-1.6)}${line(0)}${line(1.6)}</g>`;
  if (order === AROMATIC) return html`<g>${line(-1)}${line(1, "edge dashed")}</g>`;
  return line(0);
}

function Tree({ tree, shares, most, marked }) {
  const n = tree.labels.length;
  const depth = new Array(n).fill(0);
  const children = tree.labels.map(() => /** @type {number[]} */ ([]));
  tree.parents.forEach((parent, node) => { if (parent >= 0) children[parent].push(node); });
  for (let node = n - 2; node >= 0; node--) depth[node] = depth[tree.parents[node]] + 1;
  // Leaves stand side by side, each as wide as its label; parents above the middle of their children.
  const width = (node) => Math.max(0.62 * String(tree.labels[node]).length + 0.7, 1.5);
  const x = new Array(n).fill(0);
  let right = 0;
  for (let node = 0; node < n; node++) {
    if (children[node].length) x[node] = (x[children[node][0]] + x[children[node][children[node].length - 1]]) / 2;
    else {
      x[node] = right + width(node) / 2;
      right += width(node) + 0.5;
    }
  }
  const left = Math.min(...x.map((place, node) => place - width(node) / 2)) - 0.2;
  const wide = Math.max(...x.map((place, node) => place + width(node) / 2)) + 0.2 - left;
  const high = 2.3 * (Math.max(...depth) + 1);
  const y = (node) => 1.1 + 2.3 * depth[node];
  return html`<svg class="drawn tree" style=${{ maxWidth: `${Math.round(wide * 15)}px` }} viewBox=${`${left} 0 ${wide} ${high}`} role="img" aria-label=${`Tree of ${n} nodes`}>
    ${tree.parents.map((parent, node) => parent >= 0 && html`<line key=${`e${node}`} class="edge" x1=${x[node]} y1=${y(node)} x2=${x[parent]} y2=${y(parent)} />`)}
    ${tree.labels.map((label, node) => html`<g key=${node}><rect class=${node === marked ? "node marked" : "node"} x=${x[node] - width(node) / 2} y=${y(node) - 0.75} width=${width(node)} height="1.5" rx="0.5" />
      ${shares && html`<rect class=${tone(shares[node])} x=${x[node] - width(node) / 2} y=${y(node) - 0.75} width=${width(node)} height="1.5" rx="0.5" fill-opacity=${strength(shares[node], most)}><title>${label} ${figure(shares[node] ?? 0)}</title></rect>`}
      <text x=${x[node]} y=${y(node)} dy="0.36">${label}</text></g>`)}
  </svg>`;
}

/** Two series one above the other, with lines between the places at which common parts end. */
export function Aligned({ left, right, pairs, lit }) {
  const both = [left, right].map((one) => one.map((value) => (Array.isArray(value) ? Number(value[0]) : Number(value))));
  const most = Math.max(...pairs.map((one) => Math.abs(one.contribution)), 1e-300);
  const n = Math.max(both[0].length, both[1].length, 2);
  const low = Math.min(...both.flat());
  const span = Math.max(...both.flat()) - low || 1;
  const x = (place) => 3 + (94 * place) / (n - 1);
  const y = (side, place) => (side ? 58 : 22) - (16 * (both[side][place] - low)) / span;
  const path = (side) => both[side].map((_, place) => `${place ? "L" : "M"}${x(place).toFixed(2)},${y(side, place).toFixed(2)}`).join("");
  const here = (one) => lit !== null && pairs[lit] === one;
  return html`<svg class="drawn aligned" viewBox="0 0 100 64" role="img" aria-label=${`Series of ${both[0].length} and ${both[1].length} values, aligned`}>
    ${pairs.filter((one) => Array.isArray(one.name) && (here(one) || Math.abs(one.contribution) > 0.01 * most)).map((one, number) => html`<line key=${number} class=${here(one) ? "link lit" : "link"} x1=${x(one.name[0])} y1=${y(0, one.name[0])} x2=${x(one.name[1])} y2=${y(1, one.name[1])} stroke-opacity=${here(one) ? 1 : 0.08 + 0.8 * (Math.abs(one.contribution) / most)}><title>${figure(one.contribution)}</title></line>`)}
    ${[0, 1].map((side) => html`<path key=${side} class=${`series side-${side}-line`} d=${path(side)} />${both[side].map((value, place) => html`<circle key=${`${side} ${place}`} class=${`dot side-${side}-dot`} cx=${x(place)} cy=${y(side, place)} r="1.1"><title>${figure(value)}</title></circle>`)}`)}
    <text class="name" x="0.5" y="5">x</text><text class="name" x="0.5" y="62">z</text>
  </svg>`;
}
