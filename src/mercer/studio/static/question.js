// Is it a kernel? A formula or a kernel's text to a proof, a counterexample, or neither.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas, figure, html } from "./ui.js";
import { latest } from "./net.js";
import { channels, clearer, colour } from "./colours.js";
import { Wrong } from "./kernelbox.js";

const QUESTIONS = ["exp(-dist**2)", "(dot + 1)**3", "exp(-dist**3)", "tanh(dot)", "dot/(norm_x*norm_z)", "min(norm_x, norm_z)", "-dist**2", "cos(dist)", "rbf(gamma=1) * linear", "sigmoid(gamma=1)"];

export function Question({ text, setText }) {
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [slow, setSlow] = useState(false);
  const ask = useMemo(() => latest("/api/lab/question", (answer, asked) => { setTold({ ...answer, formula: asked.formula }); setError(null); }, (wrong) => { setError(wrong); setTold(null); }, setSlow), []);
  const timer = useRef(null);
  const waiting = told?.formula !== text && !error;
  useEffect(() => { clearTimeout(timer.current); timer.current = setTimeout(() => ask({ formula: text }), 250); setError(null); }, [text]);
  const words = { proven: "Yes, it is a kernel.", refuted: "No, it is not a kernel.", "not refuted": "Perhaps: nothing refutes it." };
  return html`<div class="question">
    <label class="field"><span>A formula of dot (x·z), dist (|x − z|), norm_x and norm_z, or the text of a kernel</span><input type="text" class="mono" value=${text} spellcheck=${false} onInput=${(event) => setText(event.currentTarget.value)} /></label>
    <div class="chips" role="group" aria-label="Formulas to start from">${QUESTIONS.map((one) => html`<button type="button" class="chip mono" key=${one} aria-pressed=${one === text} onClick=${() => setText(one)}>${one}</button>`)}</div>
    <div role="alert">${error && html`<${Wrong} text=${text} error=${error} />`}</div>
    ${waiting && html`<p class="waiting" role="status">${slow ? "Compiling the loops of this kernel, once …" : "Looking for a proof or a counterexample …"}</p>`}
    ${told && !waiting && html`<div role="status"><h2 class=${`answer-${told.verdict.split(" ")[0]}`}>${words[told.verdict]}</h2><p class="lead">${told.reason}</p></div>
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
      const cell = none.map((base, channel) => Math.round(base + share * (tone[channel] - base)));
      context.fillStyle = `rgb(${cell.join(",")})`;
      context.fillRect((j * width) / n, (i * width) / n, width / n - 1, width / n - 1);
      if (n > 6) return;
      context.fillStyle = clearer(cell, colour("paper"), colour("ink"));
      context.font = `${Math.min(13, width / n / 4)}px ui-monospace, monospace`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(value === null ? "∞" : figure(value), ((j + 0.5) * width) / n, ((i + 0.5) * width) / n);
    }));
  };
  return html`<div class="two counter">
    ${told.points.length > 0 && html`<div><h3>The points</h3><${Points} points=${told.points} weights=${told.vector} /></div>`}
    <div><h3>Their Gram matrix</h3><${Canvas} class="square" draw=${draw} watch=${[told]} label=${`Gram matrix of the ${n} objects of the counterexample`} /></div>
    <div><h3>The counterexample</h3>${told.points.length > 0 && html`<table><thead><tr><th>point</th>${told.vector.length > 0 && html`<th class="number">weight v</th>`}</tr></thead><tbody>${told.points.map((point, number) => html`<tr key=${number}><td class="mono">(${point.map(figure).join(", ")})</td>${told.vector.length > 0 && html`<td class="mono number">${figure(told.vector[number])}</td>`}</tr>`)}</tbody></table>`}
      ${told.value !== null && html`<p>With these weights v′Kv = <b>${figure(told.value)}</b>, the square of a length that no feature space has.</p>`}</div></div>`;
}

/** The points of a counterexample, by their first two coordinates: size is the weight, colour its sign. */
function Points({ points, weights }) {
  const reach = 1.25 * Math.max(...points.flat().map(Math.abs), 1e-9);
  const most = Math.max(...weights.map((weight) => Math.abs(weight ?? 0)), 1e-300);
  const at = (point) => [(100 * (point[0] + reach)) / (2 * reach), (100 * (reach - (point[1] ?? 0))) / (2 * reach)];
  return html`<svg class="square plot" viewBox="0 0 100 100" role="img" aria-label=${`${points.length} points of the counterexample`}>
    <rect class="frame" x="0.5" y="0.5" width="99" height="99" rx="2" /><line class="axis" x1="50" x2="50" y1="1" y2="99" /><line class="axis" x1="1" x2="99" y1="50" y2="50" />
    ${points.map((point, number) => html`<circle key=${number} class=${(weights[number] ?? 1) < 0 ? "against" : "towards"} cx=${at(point)[0]} cy=${at(point)[1]} r=${2 + 4 * Math.sqrt(Math.abs(weights[number] ?? 0.3) / most)}><title>(${point.map(figure).join(", ")})</title></circle>`)}
  </svg>`;
}
