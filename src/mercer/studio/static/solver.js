// The algorithms of the lectures, frame by frame, beside the exact optimum.
import { useEffect, useRef, useState } from "preact/hooks";
import { Copy, Segments, figure, html } from "./ui.js";
import { post, unpack } from "./net.js";

const NAMES = [
  ["perceptron", "Perceptron", "Learns from each mistake: alpha_i += 1"],
  ["batch", "Subgradient", "A step over all points at a time, on a linear machine"],
  ["stochastic", "Stochastic", "One random point at a time, on a linear machine"],
  ["gradient", "Gradient", "Descent on the coefficients of the expansion"],
];
const PER_SECOND = 12;

/** Asks for the film of an algorithm whenever the scene changes, and plays it, or stops at the frame that a link names. */
export function useFilm(told, shown, show) {
  const active = shown.panel === "solvers";
  const { algorithm, printed } = shown;
  const [film, setFilm] = useState(null);
  const [error, setError] = useState(null);
  const [frame, setFrame] = useState(0);
  const [playing, setPlaying] = useState(false);
  const turn = useRef(0);
  const key = JSON.stringify([told.points, told.kernel, told.C, told.task]);
  useEffect(() => {
    if (!active) return undefined;
    const mine = ++turn.current;
    const timer = setTimeout(async () => {
      try {
        const answer = await post("/api/lab/trace", { ...told, algorithm, printed });
        if (mine !== turn.current) return;
        const classes = [...new Set(told.points.map((point) => point[2]))].sort();
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        setFilm({ ...answer, grids: unpack(answer.grids), classes });
        setError(null);
        setFrame(Math.min(shown.frame ?? (still ? Infinity : 0), answer.steps.length - 1));
        setPlaying(shown.frame === null && !still);
      } catch (wrong) {
        if (mine !== turn.current) return;
        setFilm(null);
        setError(wrong);
      }
    }, 150);
    return () => clearTimeout(timer);
  }, [active, algorithm, printed, key]);
  useEffect(() => {
    if (film && shown.frame !== null) {
      setPlaying(false);
      setFrame(Math.min(shown.frame, film.steps.length - 1));
    }
  }, [shown.frame]);
  useEffect(() => {
    if (!playing || !film || !active) return undefined;
    const timer = setInterval(() => setFrame((now) => {
      if (now + 1 >= film.steps.length) {
        setPlaying(false);
        return now;
      }
      return now + 1;
    }), 1000 / PER_SECOND);
    return () => clearInterval(timer);
  }, [playing, film, active]);
  const toggle = () => {
    if (playing) show({ frame });
    else {
      if (film && frame + 1 >= film.steps.length) setFrame(0);
      show({ frame: null });
    }
    setPlaying(!playing);
  };
  return { film: active ? film : null, frame, playing, toggle, error };
}

export function SolverView({ state, shown, show, linear }) {
  const { film, frame, playing, toggle, error } = state;
  const { algorithm, printed } = shown;
  const step = (by) => show({ frame: Math.min(Math.max(frame + by, 0), film.steps.length - 1) });
  return html`<div class="view solver">
    <${Segments} label="Algorithm" options=${NAMES} value=${algorithm} onChange=${(name) => show({ algorithm: name, frame: null })} />
    ${algorithm !== "perceptron" && html`<label class="check"><input type="checkbox" checked=${printed} onChange=${(event) => show({ printed: event.currentTarget.checked, frame: null })} /> exactly as printed on the slide</label>`}
    ${error && error.field !== "kernel" && html`<p class="error" role="alert">${error.message}</p>`}
    ${film && html`
      <${Curve} film=${film} frame=${frame} />
      <div class="transport">
        <button type="button" class="round" onClick=${toggle} aria-label=${playing ? "Pause" : "Play"}>${playing ? "❚❚" : "▶"}</button>
        <button type="button" class="round small" onClick=${() => step(-1)} disabled=${frame <= 0} aria-label="One frame back">‹</button>
        <button type="button" class="round small" onClick=${() => step(1)} disabled=${frame + 1 >= film.steps.length} aria-label="One frame on">›</button>
        <input type="range" min="0" max=${film.steps.length - 1} value=${frame} aria-label="Frame" aria-valuetext=${`step ${film.steps[frame]}`}
          onInput=${(event) => show({ frame: Number(event.currentTarget.value) })} />
        <output>step ${film.steps[frame].toLocaleString("en")}</output>
      </div>
      <p class="caption"><b>${film.objective}</b>: ${figure(film.values[frame] ?? Infinity)}${film.what === "mistakes" ? "" : html`, at best ${figure(film.optimum)}`}.
        ${" "}${frame + 1 >= film.steps.length ? film.ended : ""} ${(algorithm === "batch" || algorithm === "stochastic") && !linear ? "This one is linear whatever the kernel." : ""}</p>
      <div class="code line"><${Copy} text=${film.python} /><code class="mono one-line">${film.python}</code></div>`}
  </div>`;
}

function Curve({ film, frame }) {
  const values = film.values.map((value) => value ?? NaN);
  const finite = values.filter(Number.isFinite);
  const low = Math.min(film.optimum ?? Infinity, ...finite);
  const cap = low + (Math.min(Math.max(...finite), (values[0] || 1) * 3 + 1) - low || 1);
  const y = (value) => 56 - (52 * (Math.min(value, cap) - low)) / (cap - low);
  const x = (number) => (100 * number) / Math.max(values.length - 1, 1);
  const path = values.map((value, number) => `${number ? "L" : "M"}${x(number).toFixed(2)},${y(Number.isFinite(value) ? value : cap).toFixed(2)}`).join("");
  return html`<div class="curve-plot"><p class="plot-top"><span>${film.objective}</span><span>${figure(cap)}</span></p><svg class="curve" viewBox="0 0 100 60" preserveAspectRatio="none" role="img" aria-label=${`${film.objective} at each frame`}>
    ${film.optimum !== null && html`<line class="optimum" x1="0" x2="100" y1=${y(film.optimum)} y2=${y(film.optimum)} />`}
    <path d=${path} class="trace" />
    <line class="now" x1=${x(frame)} x2=${x(frame)} y1="0" y2="60" />
  </svg><p class="plot-under"><span>${film.steps[0].toLocaleString("en")}</span><span>steps</span><span>${film.steps[film.steps.length - 1].toLocaleString("en")}</span></p></div>`;
}
