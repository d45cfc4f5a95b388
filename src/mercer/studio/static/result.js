// What a finished search found: how good it is, what it got wrong, and what to take away.
import { useState } from "preact/hooks";
import { Copy, figure, html } from "./ui.js";
import { post } from "./net.js";
import { Shown } from "./shown.js";

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const NAMES = { R2: "of the variation explained (R²)", accuracy: "right on objects not seen" };

/** A score as a number, and where it lies between guessing and perfection. */
function Score({ score }) {
  const share = ["accuracy", "balanced accuracy", "R2"].includes(score.name);
  const told = (value) => (share ? percent(value) : figure(value));
  const ends = [score.baseline, score.perfect ?? score.high].sort((a, b) => a - b);
  const [low, high] = [Math.min(ends[0], score.low), Math.max(ends[1], score.high)];
  const at = (value) => 2 + (96 * (value - low)) / (high - low || 1);
  return html`<div class="score-line"><p class="score-figure"><b>${told(score.value)}</b> <span>${NAMES[score.name] ?? `${score.name} on objects not seen`}</span></p>
    <svg viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=${`${told(score.value)}, between ${told(score.low)} and ${told(score.high)}; guessing has ${told(score.baseline)}`}>
      <line class="axis" x1="2" x2="98" y1="6" y2="6" /><line class="guess" x1=${at(score.baseline)} x2=${at(score.baseline)} y1="0" y2="12" />
      <line class="spread" x1=${at(score.low)} x2=${at(score.high)} y1="6" y2="6" /><line class="mean" x1=${at(score.value)} x2=${at(score.value)} y1="0" y2="12" /></svg>
    <p class="plot-under"><span>always the same answer: ${told(score.baseline)}</span><span>95 % confidence: ${told(score.low)} to ${told(score.high)}</span></p></div>`;
}

export function Result({ project, job, result }) {
  const [report, setReport] = useState(null);
  const show = async () => setReport((await post(`/api/projects/${project}/jobs/${job.id}/sign`, { what: "report" })).address);
  const [open, setOpen] = useState(null);
  const wrong = result.errors.length;
  return html`<div class="result">
    <${Score} score=${result.score} />
    <p class="lead verdict-text">${result.verdict}</p>
    <dl class="facts"><dt>Kernel</dt><dd class="mono">${result.kernel}</dd><dt>${result.penalty_name}</dt><dd class="mono">${figure(result.penalty)}</dd>
      <dt>Support</dt><dd>${result.support.toLocaleString("en")} of ${result.objects.toLocaleString("en")} objects</dd>
      <dt>Proof</dt><dd>the objective is within ${figure(100 * Math.max(result.certificate.gap ?? 0, 0))} % of the optimum</dd></dl>
    ${result.notes.map((note, number) => html`<p class="note" key=${number}>${note}</p>`)}
    <h2>${result.task === "regression" ? "The largest errors" : wrong === 0 ? "It got nothing wrong" : `${wrong} ${wrong === 1 ? "object" : "objects"} it got wrong`}</h2>
    ${wrong > 0 && html`<p class="soft">Open one to see what it was taken for, beside the support objects that are nearest to it.</p>`}
    ${result.errors.map((one, number) => html`<div class="mistake" key=${number}>
      <button type="button" class="mistake-head" aria-expanded=${open === number} onClick=${() => setOpen(open === number ? null : number)}><b>${one.name}</b> is <em>${one.label}</em>, predicted <em>${typeof one.predicted === "number" ? figure(one.predicted) : one.predicted}</em></button>
      ${open === number && html`<div class="mistake-body"><${Shown} one=${one} />${one.near.length > 0 && html`<p class="soft">Nearest support objects</p>`}${one.near.map((near, place) => html`<${Shown} key=${place} one=${near} />`)}</div>`}
    </div>`)}
    ${result.diagnosis && html`<${Diagnosis} text=${result.diagnosis.text} />`}
    <h2>Report</h2>
    ${report ? html`<iframe class="report" sandbox="" src=${report} title="Report"></iframe>` : html`<p><button type="button" onClick=${show}>Show the report</button></p>`}
  </div>`;
}

/** What the Gram matrix says about the kernel: in words, then in figures. */
export function Diagnosis({ text }) {
  const [words, ...rest] = text.split("\n\n");
  return html`<h2>Diagnosis</h2>${words.split("\n").map((line, number) => html`<p class="prose" key=${number}>${line}</p>`)}
    ${rest.length > 0 && html`<details><summary>In figures</summary><pre class="mono" tabindex="0">${rest.join("\n\n")}</pre></details>`}`;
}

export function Take({ project, job, result }) {
  const download = async (what, name) => {
    const { address } = await post(`/api/projects/${project}/jobs/${job.id}/sign`, { what });
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
  };
  return html`<div class="take">
    <p class="lead">Everything here gives the same model.${result.ended_early ? " The time limit ended the search, so the command only trains its winner." : ""}</p>
    <p class="row"><button type="button" class="primary" onClick=${() => download("model", "model.mercer")}>Download the model</button>
      <button type="button" onClick=${() => download("report", "report.html")}>Download the report</button></p>
    <h2>Command line</h2><div class="code"><${Copy} text=${result.command} /><pre class="mono" tabindex="0">${result.command}</pre></div>
    <h2>Python</h2><div class="code"><${Copy} text=${result.python} /><pre class="mono" tabindex="0">${result.python}</pre></div>
  </div>`;
}
