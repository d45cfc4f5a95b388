// The lab: what two objects share, whether a formula is a kernel, and what a Gram matrix looks like.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Copy, Tabs, figure, html } from "./ui.js";
import { latest } from "./net.js";
import { fragment, parts } from "./links.js";
import { KernelBox } from "./kernelbox.js";
import { Aligned, Drawing } from "./drawings.js";
import { Question } from "./question.js";
import { GramFile } from "./matrix.js";

export const KINDS = {
  strings: ["Strings", "spectrum(p=3)", "GATTACATTAG", "CCGATTACGT"],
  documents: ["Documents", "vector_space", "the old man and the sea", "the sea was calm and the man slept"],
  sets: ["Sets", "multiset_dot", "apple pear plum fig", "plum fig date apple"],
  trees: ["Trees", "subset_tree", "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat))))", "(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N bird))))"],
  graphs: ["Graphs", "wl(h=2)", "0-1 1-2 2-3 3-4 4-5 5-0 0-6; C C C C C C O", "0-1 1-2 2-3 3-4 4-5; C C C C C O"],
  molecules: ["Molecules", "wl(h=2)", "CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1O"],
  series: ["Series", "global_alignment", "0 0.4 1 0.4 0 -0.4 -1", "0 0 0.5 1 0.3 0 -0.5 -1"],
  vectors: ["Vectors", "poly(degree=2, gamma=1, coef0=1)", "1, 2, -1", "0.5, 1, 2"],
  rows: ["Rows", "on('mass', rbf(gamma=0.1)) + on('colour', categorical)", "mass=4.5, colour=black", "mass=6, colour=black"],
};
const WAYS = {
  strings: "A string of any letters", documents: "A text; words are compared", sets: "Elements, separated by spaces", trees: "A tree in brackets",
  graphs: "Edges 0-1 1-2, then ; and a label for each node", molecules: "A molecule as SMILES", series: "Numbers, one after the other", vectors: "Numbers", rows: "Cells: name=value, …",
};
const PRESETS = {
  strings: [["Substrings", "spectrum(p=3)"], ["Up to length 3", "blended_spectrum(p=3)"], ["Subsequences", "subsequences(p=2)"], ["Gaps cost", "gap_weighted(p=2, decay=0.5)"], ["Alignment", "local_alignment"]],
  documents: [["Words", "vector_space"], ["Words, normalised", "normalise(vector_space)"], ["Letters", "spectrum(p=3)"]],
  sets: [["Intersection", "set_intersection"], ["Multisets", "multiset_dot"], ["Tanimoto", "set_tanimoto"], ["Common subsets", "subset_count"]],
  trees: [["Subset trees", "subset_tree"], ["Subtrees", "subtree"], ["Partial trees", "partial_tree"]],
  graphs: [["Weisfeiler–Lehman", "wl(h=2)"], ["Shortest paths", "shortest_path"], ["Graphlets", "graphlet"]],
  molecules: [["Weisfeiler–Lehman", "wl(h=2)"], ["Shortest paths", "shortest_path"], ["Graphlets", "graphlet"]],
  series: [["Global alignment", "global_alignment"], ["Time warping", "dtw"]],
  vectors: [["Linear", "linear"], ["Polynomial", "poly(degree=2, gamma=1, coef0=1)"], ["Gaussian", "rbf(gamma=1)"]],
  rows: [],
};
const ROOMS = [["pair", "Two objects"], ["kernel", "Is it a kernel?"], ["gram", "A Gram matrix"]];

/** What a link asks about a pair; what it leaves out is the example of its kind. */
export function readPair(told) {
  const kind = Object.keys(KINDS).includes(told.get("kind") ?? "") ? told.get("kind") : "strings";
  const [, kernel, x, z] = KINDS[kind];
  const text = (name, otherwise) => (told.get(name) ?? otherwise).slice(0, 4000);
  return { kind, kernel: text("kernel", kernel), x: text("x", x), z: text("z", z) };
}

export function Lab({ route }) {
  const [, place, told] = parts(route);
  const [tab, setTab] = useState("pair");
  const [pair, setPair] = useState(() => readPair(told));
  const [formula, setFormula] = useState("exp(-dist**3)");
  useEffect(() => {
    if (ROOMS.some(([name]) => name === place)) setTab(place);
    if (place === "pair" && told.size) setPair(readPair(told));
    if (place === "kernel" && told.has("formula")) setFormula((told.get("formula") ?? "").slice(0, 1000));
  }, [route]);
  const link = fragment(`lab/${tab}`, tab === "pair" ? pair : tab === "kernel" ? { formula } : {});
  useEffect(() => {
    const timer = setTimeout(() => history.replaceState(null, "", link), 300);
    return () => clearTimeout(timer);
  }, [link]);
  return html`<div class="lab"><div class="card"><${Tabs} label="Lab" value=${tab} onChange=${setTab} tabs=${ROOMS} end=${html`<${Copy} text=${location.origin + location.pathname + link} label="Copy link" />`}>
    ${tab === "pair" && html`<${Pair} asked=${pair} setAsked=${setPair} />`}${tab === "kernel" && html`<${Question} text=${formula} setText=${setFormula} />`}${tab === "gram" && html`<${GramFile} />`}<//></div></div>`;
}

const HEADS = { whole: "", features: "shared feature", ends: "common parts that end at", roots: "common fragments rooted at", elements: "element", columns: "part of the kernel" };

function Pair({ asked, setAsked }) {
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [lit, setLit] = useState(null);
  const [slow, setSlow] = useState(false);
  const { kind } = asked;
  const ask = useMemo(() => latest("/api/lab/pair", (answer, question) => { setTold({ ...answer, kind: question.kind }); setError(null); }, setError, setSlow), []);
  useEffect(() => ask(asked), [asked]);
  const choose = (name) => { setTold(null); setLit(null); setAsked({ kind: name, kernel: KINDS[name][1], x: KINDS[name][2], z: KINDS[name][3] }); };
  const shown = told && told.kind === kind ? told : null;
  const walk = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.min(Math.max((lit ?? -1) + step, 0), shown.features.length - 1);
    setLit(next);
    event.currentTarget.querySelectorAll("tbody tr")[next]?.scrollIntoView({ block: "nearest" });
  };
  const most = shown ? Math.max(...shown.features.map((one) => Math.abs(one.contribution)), 1e-300) : 1;
  return html`<div class="pair">
    <div class="chips" role="group" aria-label="Kind of objects">${Object.entries(KINDS).map(([key, [name]]) => html`<button type="button" class="chip" key=${key} aria-pressed=${kind === key} onClick=${() => choose(key)}>${name}</button>`)}</div>
    <div class="narrow"><${KernelBox} text=${asked.kernel} error=${error?.field === "kernel" ? error : null} presets=${PRESETS[kind]} onChange=${(kernel) => setAsked({ ...asked, kernel })} /></div>
    <div class="two">${["x", "z"].map((name) => html`<div key=${name}><label class="field"><span>${name} <small>${WAYS[kind]}</small></span><textarea class="mono" rows="2" spellcheck=${false} aria-label=${name} value=${asked[name]} onInput=${(event) => setAsked({ ...asked, [name]: event.currentTarget.value })}></textarea></label>
      ${error?.field === name && html`<p class="error" role="alert">${error.message}</p>`}
      ${shown && html`<${Highlighted} told=${shown} side=${name === "x" ? 0 : 1} lit=${lit} />`}</div>`)}</div>
    ${shown && kind === "series" && shown.how === "ends" && html`<${Aligned} left=${shown.left.map((one) => one.part)} right=${shown.right.map((one) => one.part)} pairs=${shown.features} lit=${lit} />`}
    ${error && !["kernel", "x", "z"].includes(error.field) && html`<p class="error" role="alert">${error.message}</p>`}
    ${(slow || (!shown && !error)) && html`<p class="waiting" role="status">${slow ? "Compiling the loops of this kernel, once …" : "Comparing …"}</p>`}
    ${shown && html`<div role="status"><dl class="stats"><div><dt>k(x, z)</dt><dd>${figure(shown.value)}</dd></div><div><dt>normalised</dt><dd>${figure(shown.cosine)}</dd></div>
        <div class="minor"><dt>k(x, x)</dt><dd>${figure(shown.norms[0])}</dd></div><div class="minor"><dt>k(z, z)</dt><dd>${figure(shown.norms[1])}</dd></div></dl></div>
      ${shown.how === "whole" ? html`<p class="note">${shown.why}</p>` : html`
      ${shown.features.length > 0 && html`<div class="scroll tall" tabindex="0" role="region" aria-label="Shared features" onKeyDown=${walk} onBlur=${() => setLit(null)}><table class="ranking hover"><thead><tr><th>${HEADS[shown.how]}</th><th class="number">adds</th><th><span class="sr">bar</span></th></tr></thead>
      <tbody>${shown.features.map((one, number) => html`<tr key=${number} class=${number === lit ? "lit" : ""} onPointerEnter=${() => setLit(number)} onPointerLeave=${(event) => event.pointerType === "mouse" && setLit(null)}><td class="mono">${nameOf(one.name, shown)}</td><td class="number">${figure(one.contribution)}</td>
        <td class="bar-cell"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class=${one.contribution < 0 ? "bar negative" : "bar"} width=${(100 * Math.abs(one.contribution)) / most} height="10" /></svg></td></tr>`)}</tbody></table></div>`}
      <p class="soft">${shown.features.length === 0 ? "They share nothing that this kernel sees." : `${shown.more > 0 ? `And ${shown.more} more, which add ${figure(shown.rest)}. ` : ""}All of them add up to k(x, z). Point at one, or walk with the arrow keys, to see where it stands.`}</p>`}
      <details><summary>Python</summary><div class="code"><${Copy} text=${shown.python} /><pre class="mono" tabindex="0">${shown.python}</pre></div></details>`}
  </div>`;
}

function nameOf(name, told) {
  if (told.how === "ends" && Array.isArray(name)) return `${name[2]} at ${name[0] + 1} and ${name[3]} at ${name[1] + 1}`;
  if (told.how === "roots") return `${told.objects[0]?.labels[name[0]]} and ${told.objects[1]?.labels[name[1]]}`;
  return String(name);
}

const shade = (share, most) => ({ backgroundColor: `color-mix(in srgb, var(--class-${share < 0 ? 1 : 0}) calc(${Math.min(Math.abs(share) / most, 1).toFixed(3)} * var(--strongest)), transparent)` });

/** The places of an object that a feature stands for, where that can be seen: its letters, its word, its end. */
function markedPlaces(told, listed, side, lit) {
  const marked = new Set();
  if (lit === null) return marked;
  const name = told.features[lit]?.name;
  if (told.how === "ends" && Array.isArray(name)) marked.add(name[side]);
  else if (told.kind === "strings" && typeof name === "string" && name) {
    const text = listed.map((one) => String(one.part)).join("");
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) for (let place = at; place < at + name.length; place++) marked.add(place);
  } else listed.forEach((one, place) => { if (one.features ? one.features.includes(lit) : String(one.part) === String(name)) marked.add(place); });
  return marked;
}

const APART = ["sets", "vectors", "rows"]; // parts that stand beside each other, not in a text

function Highlighted({ told, side, lit }) {
  const listed = side ? told.right : told.left;
  const most = Math.max(...told.left.concat(told.right).map((one) => Math.abs(one.share ?? 0)), 1e-300);
  const name = lit === null ? null : told.features[lit]?.name;
  if (told.objects[side]) return html`<${Drawing} drawing=${told.objects[side]} shares=${listed.length ? listed.map((one) => one.share) : null} most=${most} marked=${told.how === "roots" && Array.isArray(name) ? name[side] : null} />`;
  if (!listed.length || told.kind === "series") return null;
  const marked = markedPlaces(told, listed, side, lit);
  const apart = APART.includes(told.kind);
  return html`<p class=${apart ? "words" : told.kind === "strings" ? "letters mono" : "letters"}>${listed.map((one, place) => html`<span key=${place} class=${`${apart ? "word mono" : ""} ${marked.has(place) ? "marked" : ""}`} style=${shade(one.share, most)} title=${figure(one.share)}>${String(one.part)}</span>${apart ? " " : ""}`)}</p>`;
}
