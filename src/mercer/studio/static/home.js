// The workbench's first page: drop a file, choose a sample, or go on where you were.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./ui.js";
import { get, post, request } from "./net.js";

/** Each with what a line of it looks like. */
const SAMPLES = {
  pets: ["A table", "Cats and dogs by height, mass and colour", "27.5, 4.85, black, 19.5"],
  demand: ["Numbers to predict", "Power demand by hour, temperature and wind", "6.28, 10.3, 3.6 → 40.8"],
  binding: ["A mixed table", "Sequences and measurements in one table", "ACGTTGAC, 0.37, high"],
  promoters: ["DNA", "Sequences in FASTA, told apart by hidden motifs", "TAACCGGCCCGAACTATA"],
  postcards: ["Texts", "Short notes from the sea and from the mountains", "gull over the harbour …"],
  molecules: ["Molecules", "Acids, amines and alcohols as SMILES", "CCCC(=O)O"],
  rings: ["Graphs", "Labelled graphs with rings or chains", "0–1  1–2  2–0"],
  sentences: ["Trees", "Parse trees of statements and questions", "(S (NP the dog) (VP …))"],
  pictures: ["Sparse vectors", "Small pictures of crosses and circles", "1:0.9 14:0.7 22:1"],
  similarities: ["A Gram matrix", "Only how alike the objects are, not what they are", "1.00 0.83 0.12"],
};

export async function upload(file) {
  const told = await request("PUT", `/api/projects?name=${encodeURIComponent(file.name)}`, file);
  location.hash = `#/workbench/${told.id}`;
}

/** A place to drop files on, and to choose them from. */
export function Drop({ onFile, busy, children, waiting = "Reading …" }) {
  const input = useRef(null);
  const [over, setOver] = useState(false);
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files?.[0];
    if (file) onFile(file);
  };
  return html`<div class=${over ? "drop over" : "drop"} onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    ${children}
    <button type="button" class="primary" disabled=${busy} onClick=${() => input.current.click()}>${busy ? waiting : "Choose a file"}</button>
    <input ref=${input} type="file" hidden aria-label="File" onChange=${(event) => { const file = event.currentTarget.files[0]; event.currentTarget.value = ""; if (file) onFile(file); }} />
  </div>`;
}

export const STATES = { running: "searching", finished: "finished", failed: "failed", stopped: "stopped", interrupted: "interrupted" };

export function WorkHome() {
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const load = () => get("/api/projects").then(setTold, setError);
  useEffect(() => { load(); }, []);
  const guarded = (work) => async (...given) => {
    setBusy(true);
    setError(null);
    try { await work(...given); } catch (wrong) { setError(wrong); }
    setBusy(false);
  };
  const open = guarded(upload);
  const sample = guarded(async (name) => { const made = await post("/api/projects", { sample: name }); location.hash = `#/workbench/${made.id}`; });
  const resume = guarded(async (project) => { await post(`/api/projects/${project.id}/jobs/${project.latest.id}/resume`); location.hash = `#/workbench/${project.id}/run`; });
  const remove = guarded(async (project) => { await request("DELETE", `/api/projects/${project.id}`); await load(); });
  return html`<div class="work-home">
    <section class="card hero"><h1>From a file to a model</h1>
      <p>Tables, texts, sequences, molecules, graphs, trees, or a Gram matrix: Mercer finds out what a file holds, compares kernels on it, and says in words how good the best one is. The file stays on this machine.</p>
      <${Drop} onFile=${open} busy=${busy}><p>Drop a file here</p><//>
      ${error && html`<p class="error" role="alert">${error.message}</p>`}
    </section>
    <section><h2>Or try a sample</h2>
      <div class="tiles">${Object.entries(SAMPLES).map(([key, [name, about, line]]) => html`<button type="button" class="tile" key=${key} disabled=${busy} onClick=${() => sample(key)}><b>${name}</b><span>${about}</span><code aria-hidden="true">${line}</code></button>`)}</div>
    </section>
    ${told?.projects.length > 0 && html`<section><h2>Projects</h2>
      <ul class="projects">${told.projects.map((project) => html`<li class="card" key=${project.id}>
        <a href=${`#/workbench/${project.id}`}>${project.name}</a>
        <span class="soft">${new Date(1000 * project.created).toLocaleString()}</span>
        <span class="grow"></span>
        ${project.latest && html`<span class=${`state ${project.latest.state}`}>${STATES[project.latest.state]}</span>`}
        ${project.latest?.result && html`<span class="score">${percent(project.latest.result.score)}</span>`}
        ${["stopped", "interrupted"].includes(project.latest?.state) && html`<button type="button" aria-label=${`Resume ${project.name}`} onClick=${() => resume(project)}>Resume</button>`}
        <button type="button" class="quiet" aria-label=${`Remove ${project.name}`} onClick=${() => remove(project)}>Remove</button>
      </li>`)}</ul></section>`}
  </div>`;
}

/** A score for people. */
export function percent(score) {
  return score.name === "R2" ? `R² ${score.value.toFixed(3)}` : `${(100 * score.value).toFixed(1)} % right`;
}
