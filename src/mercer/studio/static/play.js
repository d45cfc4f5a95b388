// The playground.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Copy, Segments, Slider, Tabs, html, readable } from "./ui.js";
import { latest, unpack } from "./net.js";
import { EXAMPLES } from "./examples.js";
import { KernelBox, Wrong } from "./kernelbox.js";
import { Plane } from "./plane.js";
import { Legend } from "./legend.js";
import { ComponentsView, GramView, SpectrumView } from "./views.js";
import { LiftView } from "./lift.js";
import { SolverView, useFilm } from "./solver.js";
import { SHOWN, readScene, readShown, writeScene } from "./links.js";

const TASKS = [
  ["classification", "Classify", "Support vector classification"],
  ["regression", "Regress", "Support vector regression: the target is the vertical axis"],
  ["novelty", "One class", "A region around most of the points"],
];
const KINDS = [0, 1, 2];

/** What the server is asked about a scene. */
const question = (scene) => ({ ...scene, C: scene.C === Infinity ? "inf" : scene.C });

/** When each question was asked, and how long it took from there to its picture: `performance.getEntriesByName("picture")`. */
const begun = new WeakMap();
function measured(start) {
  if (performance.getEntriesByName("picture").length > 2000) performance.clearMeasures("picture");
  performance.measure("picture", { start });
}

/** The machine of an answer, ready to draw. */
function drawable(answer) {
  if (!answer?.machine) return null;
  const { shape, values } = unpack(answer.machine.grid);
  const cells = shape[0];
  const outputs = shape[shape.length - 1];
  const size = values.length / outputs;
  const grids = Array.from({ length: outputs }, (_, output) => Float32Array.from({ length: size }, (_, place) => values[place * outputs + output]));
  return { ...answer.machine, cells, grids };
}

export function Playground({ warm }) {
  const [scene, setScene] = useState(() => readScene(location.hash) ?? EXAMPLES[4].scene);
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const [kind, setKind] = useState(0);
  const [selected, setSelected] = useState(null);
  const [lit, setLit] = useState([]);
  const [shown, setShown] = useState(() => readShown(location.hash));
  const show = (part) => setShown((now) => ({ ...now, ...part }));
  const [slow, setSlow] = useState(false);
  const history = useRef([]);

  const ask = useMemo(() => latest("/api/lab/picture",
    (told, asked) => { setAnswer({ ...told, asked, machine: told.machine, drawn: drawable(told), gram: told.views && unpack(told.views.gram.values) }); setError(null); },
    (wrong) => setError(wrong), setSlow), []);
  useEffect(() => {
    const told = question(scene);
    begun.set(told, performance.now());
    ask(told);
  }, [scene]);
  useEffect(() => { if (answer) measured(begun.get(answer.asked)); }, [answer]);
  useEffect(() => {
    const timer = setTimeout(() => window.history.replaceState(null, "", writeScene(scene, shown)), 300);
    return () => clearTimeout(timer);
  }, [scene, shown]);
  useEffect(() => {
    const follow = () => {
      const told = readScene(location.hash);
      if (!told) return;
      setScene(told);
      setShown(readShown(location.hash));
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const change = (part) => setScene((now) => ({ ...now, ...part }));
  const setPoints = (points, before) => {
    if (before) history.current = [...history.current.slice(-99), before];
    change({ points });
  };
  const undo = () => {
    const before = history.current.pop();
    if (before) change({ points: before });
  };
  const choose = (example) => {
    history.current = [...history.current.slice(-99), scene.points];
    setSelected(null);
    setScene(example.scene);
    if (example.view) show({ view: example.view });
  };

  // Pictures lag behind the mouse by a frame or two: what is drawn belongs to the points that were asked about.
  const matching = answer && answer.asked.points.length === scene.points.length && answer.asked.task === scene.task;
  const machine = matching ? answer.drawn : null;
  const solver = useFilm(question(scene), shown, show);
  const classes = scene.points.map(([, , own]) => (scene.task === "classification" ? own : 0));
  const shownViews = matching && answer.views && answer.views.components.length === scene.points.length ? answer.views : null;
  const gram = useMemo(() => shownViews && { order: shownViews.gram.order, values: answer.gram.values }, [shownViews]);
  const example = EXAMPLES.find((one) => one.scene.points === scene.points);
  const link = location.origin + location.pathname + writeScene(scene, shown);
  const count = KINDS.map((own) => scene.points.filter((point) => point[2] === own).length);

  return html`<div class="play">
    <nav class="examples" aria-label="Examples of the lectures">
      ${EXAMPLES.map((one) => html`<button type="button" class="chip" key=${one.name} title=${one.about} aria-pressed=${one === example} onClick=${() => choose(one)}>${one.name}</button>`)}
    </nav>
    <div class="left"><section class="card controls" aria-label="Machine">
      <div class="story">${example ? html`<h2>${example.name}</h2>` : html`<h2>Your own points</h2>`}<p>${example?.about ?? OWN[scene.task]}</p></div>
      <${Segments} label="Task" options=${TASKS} value=${scene.task} onChange=${(task) => change({ task })} />
      <${KernelBox} text=${scene.kernel} error=${error?.field === "kernel" ? error : null} onChange=${(kernel) => change({ kernel })} />
      <hr />
      ${scene.task !== "novelty" && html`<${Slider} label="C" value=${scene.C} low=${0.001} high=${1000} log infinite=${scene.task === "classification"} onChange=${(C) => change({ C })} shown=${(C) => (C === Infinity ? "∞ hard" : String(C))} />`}
      ${scene.task === "regression" && html`<${Slider} label="ε" value=${scene.epsilon} low=${0} high=${1.5} step=${0.01} onChange=${(epsilon) => change({ epsilon: Number(epsilon.toFixed(2)) })} />`}
      ${scene.task === "novelty" && html`<${Slider} label="ν" value=${scene.nu} low=${0.01} high=${1} log onChange=${(nu) => change({ nu })} />`}
    </section>
    <section class="card verdict" aria-label="Certificate" aria-live="polite">
      ${!answer && !error && html`<p class="waiting">${warm ? "Drawing the first picture …" : "Compiling the numerical loops, once: this takes up to half a minute …"}</p>`}
      ${slow && answer && html`<p class="waiting">Compiling the loops of this kernel, once …</p>`}
      ${error && error.field !== "kernel" && html`<${Wrong} text="" error=${error} />`}
      ${error?.field === "kernel" && !answer && html`<p class="waiting">The picture appears once the kernel is valid.</p>`}
      ${answer?.missing && html`<p>${answer.missing}</p>`}
      ${answer && !answer.missing && html`<${Certificate} answer=${answer} />`}
    </section>
    </div>
    <div class="middle"><section class="card stage" aria-label="Plane">
      <div class="tools">
        ${scene.task === "classification" && html`<div class="segments kinds" role="group" aria-label="Class of new points">
          ${KINDS.map((own) => html`<button type="button" key=${own} aria-pressed=${kind === own} onClick=${() => setKind(own)} aria-label=${`Class ${own + 1}, ${count[own]} points`}>
            <svg viewBox="-10 -10 20 20" class=${`mark mark-${own}`} aria-hidden="true">${[html`<circle r="6.5" />`, html`<rect x="-6" y="-6" width="12" height="12" />`, html`<path d="M0,-8L7.5,5.5L-7.5,5.5Z" />`][own]}</svg>${count[own]}</button>`)}
        </div>`}
        <span class="grow"></span>
        <button type="button" class="quiet" onClick=${undo} disabled=${!history.current.length} title="Ctrl+Z">Undo</button>
        <button type="button" class="quiet" onClick=${() => { setPoints([], scene.points); setSelected(null); }} disabled=${!scene.points.length}>Clear</button>
        <${Copy} text=${link} label="Copy link" />
      </div>
      <${Plane} scene=${scene} machine=${machine} proof=${matching ? answer.proof : null} film=${solver.film} frame=${solver.frame} lit=${lit} stale=${Boolean(error)}
        kind=${kind} selected=${selected} onPoints=${setPoints} onSelect=${setSelected} onKind=${setKind} onUndo=${undo}>
        <${Legend} task=${scene.task} film=${Boolean(solver.film)} proof=${Boolean(matching && answer.proof)} />
      <//>
    </section>
    <section class="card more" aria-label="More">
      <details><summary>Python that makes this picture</summary>
        <div class="code"><${Copy} text=${answer?.python ?? ""} /><pre class="mono" tabindex="0">${answer?.python ?? ""}</pre></div></details>
      <details><summary>Why this is a kernel</summary><pre class="mono" tabindex="0">${shownViews?.derivation ?? ""}</pre></details>
      <details><summary>Points as a table</summary><${PointTable} scene=${scene} onPoints=${setPoints} onLit=${setLit} /></details>
    </section>
    </div>
    <div class="right"><section class="card side" aria-label="Feature space">
      <${Tabs} label="Feature space" value=${shown.view === "pca" ? "pca" : "lift"} onChange=${(tab) => show({ view: tab === "pca" ? "pca" : SHOWN.view })} tabs=${[["lift", "Lift"], ["pca", "Kernel PCA"]]}>
        ${!shownViews ? html`<p class="waiting blank">Points appear here, lifted to feature space.</p>` : shown.view === "pca"
          ? html`<${ComponentsView} components=${shownViews.components} shares=${shownViews.shares} classes=${classes} lit=${lit} onLit=${setLit} />`
          : html`<${LiftView} scene=${scene} machine=${machine} components=${shownViews.components} lit=${lit} mode=${shown.view} onMode=${(view) => show({ view })} />`}
      <//>
    </section>
    <section class="card side" aria-label="Matrix, spectrum and solvers">
      <${Tabs} label="Matrix, spectrum and solvers" value=${shown.panel} onChange=${(panel) => show({ panel })} tabs=${[["gram", "Gram matrix"], ["spectrum", "Spectrum"], ["solvers", "Solvers"]]}>
        ${!shownViews && html`<p class="waiting blank">${{ gram: "Every pair of points has a cell here.", spectrum: "The eigenvalues of the Gram matrix appear here.", solvers: "Perceptron and descents, step by step: they need points of two classes." }[shown.panel]}</p>`}
        ${shownViews && shown.panel === "gram" && html`<${GramView} gram=${gram} classes=${classes} lit=${lit} onLit=${setLit} sentence=${shownViews.sentence} />`}
        ${shownViews && shown.panel === "spectrum" && html`<${SpectrumView} spectrum=${shownViews.spectrum} smallest=${shownViews.smallest} psd=${shownViews.psd} />`}
        ${shownViews && shown.panel === "solvers" && html`<${SolverView} state=${solver} shown=${shown} show=${show} linear=${scene.kernel.trim() === "linear"} />`}
      <//>
    </section></div>
  </div>`;
}

const OWN = {
  classification: "Click the plane, and watch the boundary follow.",
  regression: "The target is the vertical axis: click, and the curve follows.",
  novelty: "Click the plane: the region goes around most of the points.",
};

function Certificate({ answer }) {
  return html`<div>
    <h2>${answer.proof ? "Proof that there is no hard margin" : "Certificate"}</h2>
    ${answer.sentences.map((sentence, number) => html`<p key=${number}>${readable(sentence)}</p>`)}
    ${answer.notes.map((note, number) => html`<p class="note" key=${`note ${number}`}>${note}</p>`)}
  </div>`;
}

function PointTable({ scene, onPoints, onLit }) {
  const put = (number, place, value) => {
    if (!Number.isFinite(value)) return;
    const next = scene.points.map((point) => point.slice());
    next[number][place] = place === 2 ? value : Math.min(Math.max(Math.round(value * 100) / 100, -3), 3);
    onPoints(next, scene.points);
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Points"><table class="points"><thead><tr><th>#</th><th>x</th><th>y</th><th>class</th><th><span class="sr">remove</span></th></tr></thead>
    <tbody>${scene.points.map((point, number) => html`<tr key=${number} onPointerEnter=${() => onLit([number])} onPointerLeave=${() => onLit([])}>
      <td>${number + 1}</td>
      ${[0, 1].map((place) => html`<td><input type="number" step="0.1" min="-3" max="3" value=${point[place]} aria-label=${`${"xy"[place]} of point ${number + 1}`} onChange=${(event) => put(number, place, event.currentTarget.valueAsNumber)} /></td>`)}
      <td><select value=${point[2]} aria-label=${`class of point ${number + 1}`} onChange=${(event) => put(number, 2, Number(event.currentTarget.value))}>${KINDS.map((own) => html`<option value=${own}>${own + 1}</option>`)}</select></td>
      <td><button type="button" class="quiet" aria-label=${`Remove point ${number + 1}`} onClick=${() => onPoints(scene.points.filter((_, place) => place !== number), scene.points)}>×</button></td>
    </tr>`)}</tbody></table></div>`;
}
