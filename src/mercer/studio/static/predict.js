// Predictions for pasted or dropped objects, with the support objects and the parts that they rest on.
import { useEffect, useState } from "preact/hooks";
import { figure, html } from "./ui.js";
import { request } from "./net.js";
import { Drop } from "./home.js";
import { Drawing } from "./drawings.js";

function example(described) {
  const first = described?.first?.[0];
  if (!first) return "";
  if (first.cells) {
    if (described.format === "smiles") return first.cells[0][1];
    return `${first.cells.map(([name]) => name).join(",")}\n${first.cells.map(([, value]) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(",")}`;
  }
  return described.kind === "graphs" ? "" : (first.text ?? "").replace(/ …$/, "");
}

const ARRAYS = ["npy", "npz"]; // no person types these
const BINARY = ["parquet", "feather", "excel", "sqlite"]; // rows of such tables are pasted as CSV

const WAYS = { fasta: "Sequences in FASTA, or one per line", smiles: "One SMILES per line", jsonl: "One object per line, as in the file" };

export function Predict({ project, job, described }) {
  const [text, setText] = useState(() => example(described));
  useEffect(() => setText((now) => now || example(described)), [described]);
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const ask = async (body, name) => {
    setBusy(true);
    setError(null);
    try {
      const query = name ? `?name=${encodeURIComponent(name)}` : "";
      setTold(await request("PUT", `/api/projects/${project}/jobs/${job.id}/predict${query}`, body));
    } catch (wrong) { setError(wrong); setTold(null); }
    setBusy(false);
  };
  const lines = WAYS[described?.format] ?? (described?.kind === "table" ? "Rows with a header line, as in the file" : "One object per line, as in the file");
  const typed = described?.kind !== "gram" && !ARRAYS.includes(described?.format);
  const paste = () => ask(described?.format === "fasta" && !text.startsWith(">") ? text.split("\n").filter(Boolean).map((line, number) => `>${number + 1}\n${line}`).join("\n") + "\n" : `${text.trimEnd()}\n`, BINARY.includes(described?.format) ? "pasted.csv" : "");
  return html`<div class="predict">
    <div class="two">${typed && html`<div><label class="field"><span>${lines}</span><textarea class="mono" rows="5" value=${text} spellcheck=${false} onInput=${(event) => setText(event.currentTarget.value)}></textarea></label>
      <p><button type="button" class="primary" disabled=${busy || !text.trim()} onClick=${paste}>${busy ? "Predicting …" : "Predict"}</button></p></div>`}
    <${Drop} busy=${busy} waiting=${typed ? "Choose a file" : "Predicting …"} onFile=${(file) => ask(file, file.name)}><p>${typed ? "Or drop a file with new objects" : described?.kind === "gram" ? "Drop a file with the kernel values between new objects and training objects" : "Drop a file with new objects"}</p><//></div>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${told && html`<p role="status">${told.objects.toLocaleString("en")} ${told.objects === 1 ? "object" : "objects"} predicted${told.unlike ? html`; <b>${told.unlike} unlike anything in training</b>, trust ${told.unlike === 1 ? "that one" : "those"} less` : ""}.</p>
      ${told.predictions.slice(0, 100).map((one, number) => html`<${One} key=${number} one=${one} parts=${told.parts?.[number]} />`)}
      ${told.objects > 100 && html`<p class="soft">Here are the first 100. <code>mercer predict</code> writes all of them to a file.</p>`}`}
  </div>`;
}

const HOW = {
  exact: "Shares add up to the decision.",
  unknown: "A share is what the decision would lose if that part were unknown.",
  columns: "A share is what the decision would lose if that column were unknown, or a number at its median.",
};

function One({ one, parts }) {
  const chances = Object.entries(one.probabilities ?? {}).sort((a, b) => b[1] - a[1]);
  const told = parts && (parts.parts.length > 0 || parts.columns.length > 0);
  return html`<article class="prediction card">
    <p class="prediction-head"><b>${one.object}</b> <span class="answer">${typeof one.prediction === "number" ? figure(one.prediction) : one.prediction}</span>${one.unlike_training && html` <span class="state failed">unlike training</span>`}</p>
    ${chances.length > 0 && html`<ul class="chances">${chances.slice(0, 5).map(([label, chance]) => html`<li key=${label}><span>${label}</span><progress max="1" value=${chance} aria-label=${`probability of ${label}`}></progress><span>${(100 * chance).toFixed(1)} %</span></li>`)}</ul>`}
    ${told && html`<${Parts} parts=${parts} /><p class="legend"><i class="swatch side-0"></i> speaks for ${parts.sides[0]} <i class="swatch side-1"></i> for ${parts.sides[1]}. ${HOW[parts.columns.length > 1 ? "columns" : parts.how]}</p>`}
    ${one.reasons?.length > 0 && html`<p class="soft">Support objects that contributed most: ${one.reasons.map((reason) => `${reason.object} (${reason.contribution > 0 ? "+" : ""}${figure(reason.contribution)})`).join(", ")}</p>`}
  </article>`;
}

const shade = (share, most) => ({ backgroundColor: `color-mix(in srgb, var(--class-${share > 0 ? 1 : 0}) calc(${Math.min(Math.abs(share) / most, 1).toFixed(3)} * var(--strongest)), transparent)` });
const largest = (shares) => Math.max(...shares.map(Math.abs), 1e-300);

/** Parts of an object, coloured by what they add: for one side or for the other. */
export function Parts({ parts }) {
  if (parts.columns.length) return html`<${Columns} columns=${parts.columns} />`;
  // Drawings colour positive shares blue; here blue is the first side, which is negative.
  if (parts.drawing) return html`<${Drawing} drawing=${parts.drawing} shares=${parts.shares.map((share) => -share)} />`;
  const most = largest(parts.shares);
  if (parts.letters) return html`<p class="letters mono">${parts.parts.map((part, place) => html`<span key=${place} style=${shade(parts.shares[place], most)} title=${figure(parts.shares[place])}>${part}</span>`)}</p>`;
  const ranked = parts.parts.map((part, place) => [part, parts.shares[place]]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 14);
  return html`<p class="words">${ranked.map(([part, share], place) => html`<span key=${place} class="word mono" style=${shade(share, most)} title=${figure(share)}>${part}</span> `)}</p>`;
}

/** What each column of a row adds, as bars to the left and to the right. */
function Columns({ columns }) {
  const most = largest(columns.map((column) => column.share));
  const alone = columns.length === 1 && columns[0].inside;
  return html`<div class="columns">${!alone && columns.map((column) => html`<div class="column-share" key=${column.name}>
      <span class="column-name">${column.name}</span><span class="mono column-value">${column.value || "—"}</span>
      <svg viewBox="-100 0 200 10" preserveAspectRatio="none" role="img" aria-label=${`${column.name} adds ${figure(column.share)}`}><line x1="0" x2="0" y1="0" y2="10" class="axis" /><rect class=${column.share > 0 ? "side-1-bar" : "side-0-bar"} x=${column.share > 0 ? 0 : (-100 * Math.abs(column.share)) / most} width=${(100 * Math.abs(column.share)) / most} y="1" height="8" /></svg>
      <span class="mono column-figure">${figure(column.share)}</span></div>`)}
    ${columns.filter((column) => column.inside?.parts.length).map((column) => html`<div key=${`inside ${column.name}`}>${!alone && html`<h4>${column.name}</h4>`}<${Parts} parts=${column.inside} /></div>`)}</div>`;
}
