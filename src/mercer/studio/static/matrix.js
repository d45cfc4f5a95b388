// A Gram matrix from a file: is it one, and what does it look like?
import { useState } from "preact/hooks";
import { html } from "./ui.js";
import { request, unpack } from "./net.js";
import { Drop } from "./home.js";
import { Diagnosis } from "./result.js";
import { GramView, SpectrumView } from "./views.js";

/**
 * Matrices to try: blocks, a diagonal, and one that no feature space has.
 * @type {[string, string, (i: number, j: number) => number][]}
 */
const MATRICES = [
  ["A good one", "good.csv", (i, j) => ((i < 6) === (j < 6) ? 0.9 : 0.1) + (i === j ? 0.1 : 0)],
  ["A diagonal one", "diagonal.csv", (i, j) => (i === j ? 1 : 0.01)],
  ["One that is none", "none.csv", (i, j) => (i === j ? 1 : Math.cos(0.9 * Math.abs(i - j)) > 0 ? 0.95 : -0.2)],
];
const OBJECTS = 12;

function matrixFile([, name, value]) {
  const names = Array.from({ length: OBJECTS }, (_, place) => `${place < 6 ? "a" : "b"}${1 + (place % 6)}`);
  const lines = names.map((row, i) => [row, ...names.map((_, j) => value(i, j).toFixed(3))].join(","));
  return new File([`${["", ...names].join(",")}\n${lines.join("\n")}\n`], name, { type: "text/csv" });
}

/** An answer with its numbers unpacked, and the class of each object by its place in the file. */
function drawable(told) {
  if (!told.gram) return told;
  const classes = {};
  told.gram.order.forEach((row, place) => { classes[row] = told.gram.classes[place]; });
  return { ...told, classes, gram: { order: told.gram.order, values: unpack(told.gram.values).values } };
}

export function GramFile() {
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [lit, setLit] = useState([]);
  const open = async (file) => {
    setBusy(true);
    try { setTold(drawable(await request("PUT", `/api/gram?name=${encodeURIComponent(file.name)}`, file))); setError(null); } catch (wrong) { setError(wrong); setTold(null); }
    setBusy(false);
  };
  return html`<div><p class="lead">A square matrix of kernel values, as CSV, npy or npz: does it consist of inner products, and what does it look like?</p>
    <${Drop} onFile=${open} busy=${busy}><p>Drop a file with a Gram matrix</p><//>
    <div class="chips" role="group" aria-label="Matrices to try">${MATRICES.map((one) => html`<button type="button" class="chip" key=${one[1]} disabled=${busy} onClick=${() => open(matrixFile(one))}>${one[0]}</button>`)}</div>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${told && html`<div role="status"><h2 class=${told.verdict === "psd" ? "answer-proven" : "answer-refuted"}>${told.verdict === "psd" ? "It is a Gram matrix." : "It is not a Gram matrix."}</h2><p class="lead">${told.reason}</p></div>
      ${told.gram && html`<div class="two pictures"><${GramView} gram=${told.gram} classes=${told.classes} lit=${lit} onLit=${setLit} sentence=${`${told.objects > told.gram.order.length ? `${told.gram.order.length} of ${told.objects.toLocaleString("en")}` : told.objects} objects, alike ones side by side.`} />
        ${told.spectrum.length > 0 && html`<${SpectrumView} spectrum=${told.spectrum} smallest=${told.smallest ?? 0} psd=${false} />`}</div>`}
      ${told.diagnosis && html`<${Diagnosis} text=${told.diagnosis} />`}
      <details><summary>The check in figures</summary><pre class="mono" tabindex="0">${told.check}</pre></details>`}</div>`;
}
