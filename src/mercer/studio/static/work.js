// The workbench: data, search, result, predictions, and what to take away.
import { useEffect, useState } from "preact/hooks";
import { Tabs, figure, html } from "./ui.js";
import { get, post } from "./net.js";
import { STATES, WorkHome } from "./home.js";
import { KernelBox } from "./kernelbox.js";
import { Predict } from "./predict.js";
import { Result, Take } from "./result.js";
import { Shown } from "./shown.js";

const STEPS = [["data", "Data"], ["run", "Search"], ["result", "Result"], ["predict", "Predict"], ["take", "Take away"]];

export function Workbench({ route }) {
  const [, , key, step] = route.split("?")[0].split("/");
  return key ? html`<${Project} key=${key} project=${key} step=${step} />` : html`<${WorkHome} />`;
}

function Project({ project, step }) {
  const [about, setAbout] = useState(null);
  const [error, setError] = useState(null);
  const [described, setDescribed] = useState(null);
  const [plan, setPlan] = useState({ target: "", task: "auto", balanced: false, impute: false, seed: 0, folds: 5, drop: [], time_limit: 60 });
  const [chosen, setChosen] = useState(null);
  const [tab, setTab] = useState("data");
  useEffect(() => { if (STEPS.some(([name]) => name === step)) setTab(step); }, [step]);
  useEffect(() => history.replaceState(null, "", `#/workbench/${project}/${tab}`), [tab]);

  const load = async () => {
    const told = await get(`/api/projects/${project}`);
    setAbout(told);
    return told;
  };
  useEffect(() => {
    load().then((told) => {
      const job = told.jobs[0];
      if (job) {
        setChosen(job.id);
        if (!STEPS.some(([name]) => name === step)) setTab(job.state === "finished" ? "result" : "run");
        setPlan((now) => ({ ...now, target: job.plan.target ?? "", task: job.plan.task, drop: job.plan.drop ?? [], seed: job.plan.seed ?? 0, folds: job.plan.folds ?? 5, balanced: job.plan.balanced, impute: job.plan.impute, time_limit: job.plan.time_limit ?? null }));
      }
    }, setError);
  }, []);
  useEffect(() => {
    let live = true;
    post(`/api/projects/${project}/describe`, { target: plan.target || null, task: plan.task, impute: plan.impute }).then(
      (told) => { if (live) { setDescribed(told); setError(null); } }, (wrong) => live && setError(wrong));
    return () => { live = false; };
  }, [plan.target, plan.task, plan.impute]);

  // A search that is not looked at tells nobody that it has ended.
  const unwatched = about?.jobs.some((one) => one.state === "running" && (one.id !== chosen || tab !== "run"));
  useEffect(() => {
    if (!unwatched) return undefined;
    const timer = setInterval(() => load().catch(() => {}), 2000);
    return () => clearInterval(timer);
  }, [unwatched]);

  const start = async (more = {}) => {
    try {
      const told = await post(`/api/projects/${project}/jobs`, { ...plan, target: plan.target || null, ...more });
      await load();
      setChosen(told.id);
      setTab("run");
      setError(null);
    } catch (wrong) { setError(wrong); }
  };
  const job = about?.jobs.find((one) => one.id === chosen);
  const result = job?.result;
  const ready = described && !described.problem && !described.needs_target;
  const reached = (name) => name === "data" || Boolean(name === "run" ? job : result);
  const here = reached(tab) ? tab : "data";
  if (!about) return html`<div class="work">${error ? html`<p class="error" role="alert">${error.message}</p>` : html`<p class="waiting">Opening …</p>`}</div>`;
  return html`<div class="work">
    <div class="work-head"><a class="back" href="#/workbench">Workbench</a><h1>${about.name}</h1><span class="soft">${size(about.size)}</span></div>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    <div class="card"><${Tabs} label="Steps" steps tabs=${STEPS.map(([name, text]) => [name, text, !reached(name)])} value=${here} onChange=${setTab}>
      ${here === "data" && html`<${Data} described=${described} plan=${plan} setPlan=${setPlan} ready=${ready} onStart=${() => start()} />`}
      ${here === "run" && html`<${Run} key=${chosen} project=${project} job=${job} jobs=${about.jobs} onChoose=${setChosen} onChange=${load} onResult=${() => setTab("result")} onStart=${start} />`}
      ${here === "result" && html`<${Result} project=${project} job=${job} result=${result} />`}
      ${here === "predict" && html`<${Predict} project=${project} job=${job} described=${described} />`}
      ${here === "take" && html`<${Take} project=${project} job=${job} result=${result} />`}
    <//></div>
  </div>`;
}

const size = (bytes) => (bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1000))} kB`);

function Data({ described, plan, setPlan, ready, onStart }) {
  if (!described) return html`<p class="waiting">Looking at the file …</p>`;
  const columns = described.columns ?? [];
  const names = [...columns.map((column) => column.name), ...(described.target && !columns.some((column) => column.name === described.target) ? [described.target] : [])];
  return html`<div class="data">
    ${described.problem && html`<p class="error" role="alert">${described.problem.line ? html`<b>Line ${described.problem.line}.</b> ` : ""}${described.problem.message}</p>`}
    ${described.kind && html`<p class="lead"><b>${described.objects.toLocaleString("en")}</b> ${{ table: "rows", strings: "texts or sequences", vectors: "vectors", graphs: "graphs", trees: "trees", gram: "objects of a Gram matrix" }[described.kind] ?? "objects"}, read as ${described.format}.
      ${described.labels ? html` Labels${described.labels.name ? html` <b>${described.labels.name}</b>` : ""}: ${described.labels.content}.` : ""}</p>`}
    ${described.kind === "table" && html`<label class="field"><span>Column to predict</span>
      <select value=${plan.target || described.target || ""} onChange=${(event) => setPlan({ ...plan, target: event.currentTarget.value })}>
        <option value="">choose …</option>${names.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
    <div class="row"><label class="field"><span>Task</span><select value=${plan.task} onChange=${(event) => setPlan({ ...plan, task: event.currentTarget.value })}>
        <option value="auto">${described.task ? `detected: ${described.task}` : "detect"}</option><option value="classification">classification</option><option value="regression">regression</option></select></label>
      <label class="field"><span>Time for the search</span><select value=${plan.time_limit ?? ""} onChange=${(event) => setPlan({ ...plan, time_limit: event.currentTarget.value ? Number(event.currentTarget.value) : null })}>
        ${[3, 10, 60, 600, ...([3, 10, 60, 600, null].includes(plan.time_limit) ? [] : [plan.time_limit])].map((seconds) => html`<option key=${seconds} value=${seconds}>${{ 3: "3 seconds", 10: "10 seconds", 60: "a minute", 600: "ten minutes" }[seconds] ?? `${seconds} seconds`}</option>`)}<option value="">no limit</option></select></label>
      <label class="field small"><span>Folds</span><input type="number" min="2" max="20" value=${plan.folds} onChange=${(event) => setPlan({ ...plan, folds: Math.min(Math.max(Math.round(event.currentTarget.valueAsNumber) || 5, 2), 20) })} /></label>
      <label class="field small"><span>Seed</span><input type="number" min="0" value=${plan.seed} onChange=${(event) => setPlan({ ...plan, seed: Math.max(Math.round(event.currentTarget.valueAsNumber) || 0, 0) })} /></label>
      <label class="check"><input type="checkbox" checked=${plan.balanced} onChange=${(event) => setPlan({ ...plan, balanced: event.currentTarget.checked })} /> rare classes count as much as common ones</label>
      <label class="check"><input type="checkbox" checked=${plan.impute} onChange=${(event) => setPlan({ ...plan, impute: event.currentTarget.checked })} /> fill in missing values</label></div>
    <p><button type="button" class="primary" disabled=${!ready} onClick=${onStart}>Compare kernels</button> ${described.needs_target ? html`<span class="soft">Choose the column to predict first.</span>` : ""}</p>
    ${described.notes?.map((note, number) => html`<p class="note" key=${number}>${note}</p>`)}
    ${columns.length > 0 && html`<h2>Columns</h2><div class="scroll" tabindex="0" role="region" aria-label="Columns"><table><thead><tr><th>name</th><th>read as</th><th>missing</th><th>content</th></tr></thead>
      <tbody>${columns.map((column) => html`<tr key=${column.name} class=${plan.drop.includes(column.name) ? "dropped" : ""}><td><label class="check tight"><input type="checkbox" checked=${!plan.drop.includes(column.name)} disabled=${column.name === plan.target} onChange=${(event) => setPlan({ ...plan, drop: event.currentTarget.checked ? plan.drop.filter((name) => name !== column.name) : [...plan.drop, column.name] })} /> <b>${column.name}</b></label></td><td>${column.kind}</td><td>${column.missing || ""}</td><td>${column.content}</td></tr>`)}</tbody></table></div>
      <p class="soft">Columns without a tick are left out.</p>`}
    ${described.first?.length > 0 && html`<h2>The first objects</h2>${described.first.map((one, number) => html`<${Shown} key=${number} one=${one} />`)}`}
  </div>`;
}

/**
 * Follow the events of a search from the first one on.
 * @returns {[any[], () => void]}
 */
function useEvents(project, job, onEnd) {
  const [events, setEvents] = useState([]);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let offset = 0;
    setEvents([]);
    const follow = async () => {
      const answer = await get(`/api/projects/${project}/jobs/${job}/events?offset=${offset}`, { raw: true, signal: stop.signal });
      const reader = answer.body.getReader();
      const decoder = new TextDecoder();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        const lines = text.split("\n");
        text = lines.pop();
        for (const line of lines.filter(Boolean)) {
          const told = JSON.parse(line);
          offset = told.offset;
          setEvents((now) => [...now, ...told.events]);
        }
      }
      onEnd();
    };
    follow().catch(() => {});
    return () => stop.abort();
  }, [project, job, turn]);
  return [events, () => setTurn((now) => now + 1)];
}

function Run({ project, job, jobs, onChoose, onChange, onResult, onStart }) {
  const [events, again] = useEvents(project, job.id, () => onChange());
  const [error, setError] = useState(null);
  const [kernel, setKernel] = useState("");
  const [wrong, setWrong] = useState(null);
  const rows = new Map();
  let progress = null;
  let started = null;
  for (const event of events) {
    if (event.type === "started") { started = event; progress = null; }
    if (event.type === "kernel") rows.set(event.kernel, event);
    if (event.type === "progress") progress = event;
  }
  const last = events[events.length - 1];
  const running = job.state === "running" && !["finished", "failed", "stopped"].includes(last?.type);
  // Other searches of the same target with the same folds are comparable, and stand beside this one.
  const others = jobs.filter((one) => one.id !== job.id && one.result && ["target", "task", "folds", "seed"].every((name) => one.plan[name] === job.plan[name]));
  const added = others.flatMap((one) => one.result.ranking.filter((row) => !rows.has(row.kernel)).map((row) => ({ ...row, from: jobs.length - jobs.indexOf(one) })));
  const ranked = [...rows.values(), ...added].sort((a, b) => b.score - a.score);
  const act = async (what) => {
    try {
      await post(`/api/projects/${project}/jobs/${job.id}/${what}`);
      setError(null);
      if (what === "resume") again();
      await onChange();
    } catch (told) { setError(told); }
  };
  const add = async () => {
    try { await post("/api/lab/parse", { text: kernel }); setWrong(null); } catch (told) { setWrong(told); return; }
    onStart({ kernel });
  };
  const left = progress && started && progress.fraction > 0.02 ? ((progress.time - started.time) / progress.fraction) * (1 - progress.fraction) : null;
  const failed = events.filter((event) => event.type === "failed").pop();
  // Where scores lie, with what they vary between folds.
  const low = Math.min(...ranked.map((row) => row.score - row.spread));
  const most = Math.max(...ranked.map((row) => row.score + row.spread), low + 1e-9);
  const high = ranked.every((row) => row.score <= 1) ? Math.min(most, 1) : most; // no share is more than all
  const at = (score) => 4 + (92 * (Math.min(Math.max(score, low), high) - low)) / (high - low || 1);
  return html`<div class="run">
    <div class="row"><span class=${`state ${running ? "running" : job.state}`} role="status">${STATES[running ? "running" : job.state]}</span>
      ${running && html`<progress max="1" value=${progress?.fraction ?? undefined} aria-label="Progress"></progress><span class="soft">${progress ? progress.note : "reading and compiling"}${left !== null ? `, about ${Math.ceil(left)} s left` : ""}</span>`}
      <span class="grow"></span>
      ${running && html`<button type="button" onClick=${() => act("cancel")}>Cancel</button>`}
      ${!running && (job.state === "stopped" || job.state === "interrupted") && html`<button type="button" class="primary" onClick=${() => act("resume")}>Resume</button>`}
      ${job.state === "finished" && html`<button type="button" class="primary" onClick=${onResult}>See the result</button>`}</div>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${failed && job.state === "failed" && html`<p class="error" role="alert">${failed.message}</p>`}
    ${ranked.length > 0 && html`<div class="scroll tall" tabindex="0" role="region" aria-label="Kernels"><table class="ranking"><thead><tr><th>kernel</th><th class="number">score</th><th><span class="scale-ends"><span>${figure(low)}</span><span>${figure(high)}</span></span></th><th class="number">penalty</th><th class="number">seconds</th></tr></thead>
      <tbody>${ranked.map((row, number) => html`<tr key=${row.kernel} class=${number ? "" : "best"}><td class="mono">${row.kernel}${row.from ? html` <small class="from">search ${row.from}</small>` : ""}</td><td class="number">${row.score.toFixed(3)} <small>± ${row.spread.toFixed(3)}</small></td>
        <td class="bar-cell"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><line class="axis" x1="0" x2="100" y1="5" y2="5" /><line class="spread" x1=${at(row.score - row.spread)} x2=${at(row.score + row.spread)} y1="5" y2="5" /><line class="mean" x1=${at(row.score)} x2=${at(row.score)} y1="0" y2="10" /></svg></td><td class="number">${figure(row.penalty)}</td><td class="number">${row.seconds.toFixed(2)}</td></tr>`)}</tbody></table></div>`}
    ${html`<details><summary>Add a kernel of your own</summary><p class="soft">It is tried on the same folds, with every penalty, and joins the others above.</p>
      <${KernelBox} text=${kernel} error=${wrong} onChange=${setKernel} presets=${[]} /><p><button type="button" disabled=${!kernel.trim()} onClick=${add}>Add this kernel</button></p></details>`}
    ${jobs.length > 1 && html`<p class="soft">Searches: ${jobs.map((one, number) => html`<button type="button" class="chip" key=${one.id} aria-pressed=${one.id === job.id} onClick=${() => onChoose(one.id)}>${jobs.length - number}. ${one.plan.kernel === "auto" ? "all kernels" : one.plan.kernel} (${STATES[one.state]})</button> `)}</p>`}
  </div>`;
}
