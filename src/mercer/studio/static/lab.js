// The lab: what two objects share, whether a formula is a kernel, and what a Gram matrix looks like.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas, Copy, Tabs, figure, html } from "./ui.js";
import { latest, post, request } from "./net.js";
import { channels, colour } from "./colours.js";
import { KernelBox, Wrong } from "./kernelbox.js";
import { Drop } from "./home.js";

const KINDS = {
  strings: ["Strings", "spectrum(p=3)", "GATTACATTAG", "CCGATTACGT"],
  documents: ["Documents", "vector_space", "the old man and the sea", "the sea was calm and the man slept"],
  sets: ["Sets", "multiset_dot", "apple pear plum fig", "plum fig date apple"],
  trees: ["Trees", "subset_tree", "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat))))", "(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N bird))))"],
  graphs: ["Graphs", "wl(h=2)", "0-1 1-2 2-3 3-4 4-5 5-0 0-6; C C C C C C O", "0-1 1-2 2-3 3-4 4-5; C C C C C O"],
  series: ["Series", "global_alignment", "0 0.4 1 0.4 0 -0.4 -1", "0 0 0.5 1 0.3 0 -0.5 -1"],
  vectors: ["Vectors", "poly(degree=2, gamma=1, coef0=1)", "1, 2, -1", "0.5, 1, 2"],
  rows: ["Rows", "on('mass', rbf(gamma=0.1)) + on('colour', categorical)", "mass=4.5, colour=black", "mass=6, colour=black"],
};
const QUESTIONS = ["exp(-dist**2)", "(dot + 1)**3", "exp(-dist**3)", "tanh(dot)", "dot/(norm_x*norm_z)", "min(norm_x, norm_z)", "-dist**2", "cos(dist)"];

export function Lab() {
  const [tab, setTab] = useState("pair");
  return html`<div class="lab"><div class="card"><${Tabs} label="Lab" value=${tab} onChange=${setTab} tabs=${[["pair", "Two objects"], ["question", "Is it a kernel?"], ["gram", "A Gram matrix"]]}>
    ${tab === "pair" && html`<${Pair} />`}${tab === "question" && html`<${Question} />`}${tab === "gram" && html`<${GramFile} />`}<//></div></div>`;
}

function Pair() {
  const [kind, setKind] = useState("strings");
  const [asked, setAsked] = useState({ kernel: KINDS.strings[1], x: KINDS.strings[2], z: KINDS.strings[3] });
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [lit, setLit] = useState(null);
  const ask = useMemo(() => latest("/api/lab/pair", (answer, question) => { setTold({ ...answer, kind: question.kind }); setError(null); }, setError), []);
  useEffect(() => ask({ kind, ...asked }), [kind, asked]);
  const choose = (name) => { setKind(name); setTold(null); setAsked({ kernel: KINDS[name][1], x: KINDS[name][2], z: KINDS[name][3] }); };
  const shown = told && told.kind === kind ? told : null;
  const most = shown ? Math.max(...shown.features.map((one) => Math.abs(one.contribution)), 1e-300) : 1;
  return html`<div class="pair">
    <div class="chips" role="group" aria-label="Kind of objects">${Object.entries(KINDS).map(([key, [name]]) => html`<button type="button" class="chip" key=${key} aria-pressed=${kind === key} onClick=${() => choose(key)}>${name}</button>`)}</div>
    <${KernelBox} text=${asked.kernel} error=${error?.field === "kernel" ? error : null} presets=${false} onChange=${(kernel) => setAsked({ ...asked, kernel })} />
    <div class="two">${["x", "z"].map((name) => html`<div key=${name}><label class="field"><span>${name}</span><textarea class="mono" rows="3" spellcheck=${false} value=${asked[name]} onInput=${(event) => setAsked({ ...asked, [name]: event.currentTarget.value })}></textarea></label>
      ${error?.field === name && html`<p class="error" role="alert">${error.message}</p>`}
      ${shown && html`<${Highlighted} told=${shown} side=${name === "x" ? 0 : 1} lit=${lit} />`}</div>`)}</div>
    ${error && !["kernel", "x", "z"].includes(error.field) && html`<p class="error" role="alert">${error.message}</p>`}
    ${shown && html`<p class="lead" role="status">k(x, z) = <b>${figure(shown.value)}</b>, normalised <b>${figure(shown.cosine)}</b></p>
      <div class="scroll tall" tabindex="0" role="region" aria-label="Shared features"><table class="ranking"><thead><tr><th>${{ features: "shared feature", ends: "common parts that end at", roots: "common fragments rooted at", elements: "element", columns: "part of the kernel" }[shown.how]}</th><th>adds</th><th><span class="sr">bar</span></th></tr></thead>
      <tbody>${shown.features.map((one, number) => html`<tr key=${number} onPointerEnter=${() => setLit(one.name)} onPointerLeave=${() => setLit(null)}><td class="mono">${nameOf(one.name, shown)}</td><td>${figure(one.contribution)}</td>
        <td class="bar-cell"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class=${one.contribution < 0 ? "bar negative" : "bar"} width=${(100 * Math.abs(one.contribution)) / most} height="10" /></svg></td></tr>`)}</tbody></table></div>
      <p class="soft">${shown.more > 0 ? `And ${shown.more} more, which add ${figure(shown.rest)}. ` : ""}All of them add up to k(x, z).</p>
      <details><summary>Python</summary><div class="code"><${Copy} text=${shown.python} /><pre class="mono" tabindex="0">${shown.python}</pre></div></details>`}
  </div>`;
}

function nameOf(name, told) {
  if (told.how === "ends" && Array.isArray(name)) return `${name[2]} at ${name[0] + 1} and ${name[3]} at ${name[1] + 1}`;
  if (told.how === "roots") return `${told.objects[0].labels[name[0]]} and ${told.objects[1].labels[name[1]]}`;
  return String(name);
}

const shade = (share, most) => ({ backgroundColor: `color-mix(in srgb, var(--class-${share < 0 ? 1 : 0}) ${Math.round(70 * Math.min(Math.abs(share) / most, 1))}%, transparent)` });

function Highlighted({ told, side, lit }) {
  const parts = side ? told.right : told.left;
  const most = Math.max(...told.left.concat(told.right).map((one) => Math.abs(one.share ?? 0)), 1e-300);
  if (told.kind === "graphs") return html`<${GraphPicture} graph=${told.objects[side]} shares=${parts.map((one) => one.share)} most=${most} />`;
  if (told.kind === "trees") return html`<${TreePicture} tree=${told.objects[side]} shares=${parts.map((one) => one.share)} most=${most} marked=${Array.isArray(lit) ? lit[side] : null} />`;
  if (!parts.length) return null;
  const letters = told.kind === "strings";
  const marked = told.how === "ends" && Array.isArray(lit) ? lit[side] : null;
  return html`<p class="letters mono">${parts.map((one, place) => html`<span key=${place} class=${place === marked ? "marked" : ""} style=${shade(one.share, most)} title=${figure(one.share)}>${String(one.part)}</span>${letters ? "" : " "}`)}</p>`;
}

function GraphPicture({ graph, shares, most }) {
  const n = graph.labels.length;
  const at = (node) => [50 + 38 * Math.sin((2 * Math.PI * node) / n), 50 - 38 * Math.cos((2 * Math.PI * node) / n)];
  return html`<svg class="drawn" viewBox="0 0 100 100" role="img" aria-label=${`Graph of ${n} nodes`}>
    ${graph.edges.map(([a, b], number) => html`<line key=${number} class="edge" x1=${at(a)[0]} y1=${at(a)[1]} x2=${at(b)[0]} y2=${at(b)[1]} />`)}
    ${graph.labels.map((label, node) => html`<g key=${node}><circle class="node" cx=${at(node)[0]} cy=${at(node)[1]} r="6.5" /><circle class="share" cx=${at(node)[0]} cy=${at(node)[1]} r="6.5" fill-opacity=${Math.min(1, Math.abs(shares[node] ?? 0) / most) * 0.75} /><text x=${at(node)[0]} y=${at(node)[1] + 2.2}>${label}</text></g>`)}
  </svg>`;
}

function TreePicture({ tree, shares, most, marked }) {
  const n = tree.labels.length;
  const depth = new Array(n).fill(0);
  for (let node = n - 2; node >= 0; node--) depth[node] = depth[tree.parents[node]] + 1;
  const x = new Array(n).fill(0);
  let leaves = 0;
  for (let node = 0; node < n; node++) {
    const children = tree.parents.map((parent, child) => (parent === node ? child : -1)).filter((child) => child >= 0);
    x[node] = children.length ? children.reduce((sum, child) => sum + x[child], 0) / children.length : leaves++;
  }
  const wide = Math.max(leaves, 2) * 15;
  const high = (Math.max(...depth) + 1) * 14 + 4;
  const at = (node) => [(x[node] + 0.5) * (wide / Math.max(leaves, 1)), 9 + depth[node] * 14];
  return html`<svg class="drawn" viewBox=${`0 0 ${wide} ${high}`} role="img" aria-label=${`Tree of ${n} nodes`}>
    ${tree.parents.map((parent, node) => parent >= 0 && html`<line key=${`e${node}`} class="edge" x1=${at(node)[0]} y1=${at(node)[1]} x2=${at(parent)[0]} y2=${at(parent)[1]} />`)}
    ${tree.labels.map((label, node) => html`<g key=${node}><rect class=${node === marked ? "node marked" : "node"} x=${at(node)[0] - 6.6} y=${at(node)[1] - 4.2} width="13.2" height="8.4" rx="3" /><rect class="share" x=${at(node)[0] - 6.6} y=${at(node)[1] - 4.2} width="13.2" height="8.4" rx="3" fill-opacity=${Math.min(1, Math.abs(shares[node] ?? 0) / most) * 0.7} /><text x=${at(node)[0]} y=${at(node)[1] + 1.9}>${label}</text></g>`)}
  </svg>`;
}

function Question() {
  const [text, setText] = useState("exp(-dist**3)");
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const ask = useMemo(() => latest("/api/lab/question", (answer, asked) => { setTold({ ...answer, formula: asked.formula }); setError(null); }, (wrong) => { setError(wrong); setTold(null); }), []);
  const timer = useRef(null);
  useEffect(() => { clearTimeout(timer.current); timer.current = setTimeout(() => ask({ formula: text }), 250); }, [text]);
  const words = { proven: "Yes, it is a kernel.", refuted: "No, it is not a kernel.", "not refuted": "Perhaps: it is not refuted." };
  return html`<div class="question">
    <label class="field"><span>A formula of dot (x·z), dist (|x − z|), norm_x and norm_z, or the text of a kernel</span><input type="text" class="mono" value=${text} spellcheck=${false} onInput=${(event) => setText(event.currentTarget.value)} /></label>
    <div class="chips" role="group" aria-label="Formulas to start from">${QUESTIONS.map((one) => html`<button type="button" class="chip mono" key=${one} aria-pressed=${one === text} onClick=${() => setText(one)}>${one}</button>`)}</div>
    <div role="alert">${error && html`<${Wrong} text=${text} error=${error} />`}</div>
    ${told && html`<div role="status"><h2 class=${`answer-${told.verdict.split(" ")[0]}`}>${words[told.verdict]}</h2><p class="lead">${told.reason}</p></div>
      ${told.verdict === "proven" && html`<pre class="mono" tabindex="0">${told.proof.join("\n")}</pre>`}
      ${told.matrix && html`<${Counterexample} told=${told} />`}`}
  </div>`;
}

function Counterexample({ told }) {
  const n = told.matrix.length;
  const draw = (context, width) => {
    const size = Math.max(...told.matrix.flat().map((value) => Math.abs(value ?? 0)), 1e-300);
    const [none, full, negative] = ["gram-none", "gram-full", "gram-negative"].map((name) => channels(colour(name)));
    told.matrix.forEach((row, i) => row.forEach((value, j) => {
      const share = Math.min(Math.abs(value ?? 0) / size, 1) ** 0.8;
      const tone = value < 0 ? negative : full;
      context.fillStyle = `rgb(${none.map((base, channel) => Math.round(base + share * (tone[channel] - base))).join(",")})`;
      context.fillRect((j * width) / n, (i * width) / n, width / n - 1, width / n - 1);
    }));
  };
  return html`<div class="two counter"><div><h3>Their Gram matrix</h3><${Canvas} class="square" draw=${draw} watch=${[told]} label=${`Gram matrix of the ${n} objects of the counterexample`} /></div>
    <div><h3>The counterexample</h3>${told.points.length > 0 && html`<table><thead><tr><th>point</th>${told.vector.length > 0 && html`<th>weight v</th>`}</tr></thead><tbody>${told.points.map((point, number) => html`<tr key=${number}><td class="mono">(${point.map(figure).join(", ")})</td>${told.vector.length > 0 && html`<td class="mono">${figure(told.vector[number])}</td>`}</tr>`)}</tbody></table>`}
      ${told.value !== null && html`<p>With these weights v′Kv = <b>${figure(told.value)}</b>, the square of a length that no feature space has.</p>`}</div></div>`;
}

function GramFile() {
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const open = async (file) => {
    setBusy(true);
    try { setTold(await request("PUT", `/api/gram?name=${encodeURIComponent(file.name)}`, file)); setError(null); } catch (wrong) { setError(wrong); setTold(null); }
    setBusy(false);
  };
  return html`<div><p class="lead">A square matrix of kernel values, as CSV, npy or npz: is it one of inner products, and what does it look like?</p>
    <${Drop} onFile=${open} busy=${busy}><p>Drop a file with a Gram matrix</p><//>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${told && html`<div role="status"><h2>${told.verdict === "psd" ? "It is a Gram matrix." : "It is not a Gram matrix."}</h2><p class="lead">${told.reason}</p></div>
      <pre class="mono" tabindex="0">${told.check}</pre>${told.diagnosis && html`<h2>Diagnosis</h2><pre class="mono" tabindex="0">${told.diagnosis}</pre>`}`}</div>`;
}
