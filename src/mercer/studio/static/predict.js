// Predictions of pasted or dropped objects, with reasons and the parts that spoke for them.
import { useEffect, useState } from "preact/hooks";
import { figure, html } from "./ui.js";
import { request } from "./net.js";
import { Drop } from "./home.js";

function example(described) {
  const first = described?.first?.[0];
  if (!first) return "";
  if (first.cells) return `${first.cells.map(([name]) => name).join(",")}\n${first.cells.map(([, value]) => value).join(",")}`;
  return first.text ?? "";
}

export function Predict({ project, job, described }) {
  const [text, setText] = useState("");
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
  const lines = described?.kind === "table" ? "Rows with a header line, as in the file" : described?.format === "fasta" ? "Sequences in FASTA" : "One object per line, as in the file";
  const paste = () => ask(described?.format === "fasta" && !text.startsWith(">") ? text.split("\n").filter(Boolean).map((line, number) => `>${number + 1}\n${line}`).join("\n") + "\n" : `${text.trimEnd()}\n`);
  return html`<div class="predict">
    <label class="field"><span>${lines}</span><textarea class="mono" rows="5" value=${text} spellcheck=${false} onInput=${(event) => setText(event.currentTarget.value)}></textarea></label>
    <div class="row"><button type="button" class="primary" disabled=${busy || !text.trim()} onClick=${paste}>${busy ? "Predicting …" : "Predict"}</button></div>
    <${Drop} busy=${busy} onFile=${(file) => ask(file, file.name)}><p>Or drop a file with new objects</p><//>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${told && html`<p role="status">${told.objects.toLocaleString("en")} ${told.objects === 1 ? "object" : "objects"} predicted${told.unlike ? html`; <b>${told.unlike} unlike anything in training</b>, trust those less` : ""}.</p>
      ${told.predictions.slice(0, 100).map((one, number) => html`<${One} key=${number} one=${one} parts=${told.parts?.[number]} />`)}`}
  </div>`;
}

function One({ one, parts }) {
  const chances = Object.entries(one.probabilities ?? {}).sort((a, b) => b[1] - a[1]);
  return html`<div class="prediction card">
    <p><b>${one.object}</b>: <span class="answer">${typeof one.prediction === "number" ? figure(one.prediction) : one.prediction}</span> ${one.unlike_training && html`<span class="state failed">unlike training</span>`}</p>
    ${chances.length > 0 && html`<ul class="chances">${chances.slice(0, 5).map(([label, chance]) => html`<li key=${label}><span>${label}</span><progress max="1" value=${chance} aria-label=${`probability of ${label}`}></progress><span>${(100 * chance).toFixed(1)} %</span></li>`)}</ul>`}
    ${parts && html`<${Parts} parts=${parts} />`}
    ${parts?.sides.length === 2 && html`<p class="legend"><i class="swatch side-0"></i> speaks for ${parts.sides[0]} <i class="swatch side-1"></i> for ${parts.sides[1]}</p>`}
    ${one.reasons?.length > 0 && html`<p class="soft">Most like ${one.reasons.map((reason) => `${reason.object} (${figure(reason.contribution)})`).join(", ")}</p>`}
  </div>`;
}

/** Parts of an object, coloured by what they add: for one side or for the other. */
export function Parts({ parts }) {
  const most = Math.max(...parts.shares.map(Math.abs), 1e-300);
  const shade = (share) => ({ backgroundColor: `color-mix(in srgb, var(--class-${share > 0 ? 1 : 0}) ${Math.round(62 * Math.min(Math.abs(share) / most, 1))}%, transparent)` });
  if (parts.letters) return html`<p class="letters mono">${parts.parts.map((part, place) => html`<span key=${place} style=${shade(parts.shares[place])} title=${figure(parts.shares[place])}>${part}</span>`)}</p>`;
  const ranked = parts.parts.map((part, place) => [part, parts.shares[place]]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 14);
  return html`<p class="words">${ranked.map(([part, share], place) => html`<span key=${place} class="word mono" style=${shade(share)} title=${figure(share)}>${part}</span> `)}</p>`;
}
