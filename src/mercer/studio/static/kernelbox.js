// The kernel as text: completion while it is typed, an error at its character, and a slider for each of its numbers.
import { useEffect, useRef, useState } from "preact/hooks";
import { Slider, figure, html } from "./ui.js";
import { post } from "./net.js";

export const PRESETS = [
  ["Linear", "linear"],
  ["Polynomial", "poly(degree=3, gamma=1, coef0=1)"],
  ["Gaussian", "rbf(gamma=1)"],
  ["Laplacian", "laplacian(gamma=1)"],
  ["Matérn", "matern(nu=1.5)"],
  ["Sum", "rbf(gamma=2) + 0.5*linear"],
  ["Product", "rbf(gamma=0.2) * poly(degree=2)"],
  ["Sigmoid", "sigmoid(gamma=0.5)"],
];

const NUMBER = /(?:([A-Za-z_]\w*)\s*=\s*)?(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)/g;
const WHOLE = { degree: [1, 8], p: [1, 8], order: [1, 8], h: [0, 8], k: [1, 8], l: [1, 10], m: [0, 4], n: [1, 8] };

/** Every number of the text, with its name and its place. */
export function numbers(text) {
  const found = [];
  for (const match of text.matchAll(NUMBER)) {
    const start = match.index + match[0].length - match[2].length;
    const before = text.slice(0, start);
    if (/['"]/.test(before) || (/\*\*\s*$/.test(before) && !match[1]) || match[1] === "nu") continue;
    found.push({ name: match[1] || "factor", value: Number(match[2]), start, end: start + match[2].length });
  }
  return found.slice(0, 5);
}

function NumberSlider({ text, one, onChange }) {
  const put = (value) => onChange(text.slice(0, one.start) + String(value) + text.slice(one.end));
  const range = WHOLE[one.name];
  if (range) return html`<${Slider} label=${one.name} value=${one.value} low=${range[0]} high=${range[1]} step=${1} onChange=${put} shown=${String} />`;
  if (one.name === "coef0") return html`<${Slider} label="coef0" value=${one.value} low=${0} high=${5} step=${0.1} onChange=${(value) => put(Number(value.toFixed(1)))} />`;
  return html`<${Slider} label=${one.name} value=${Math.max(one.value, 0.01)} low=${0.01} high=${100} log onChange=${put} shown=${figure} />`;
}

/** `presets` are kernels to start from, each a name and a text. */
export function KernelBox({ text, error, onChange, presets = PRESETS }) {
  const input = useRef(null);
  const [found, setFound] = useState([]);
  const [place, setPlace] = useState(0);
  const asked = useRef(0);

  const propose = async () => {
    const caret = input.current.selectionStart;
    const turn = ++asked.current;
    try {
      const told = await post("/api/lab/complete", { text: input.current.value, caret });
      if (turn === asked.current && document.activeElement === input.current) {
        setFound(told);
        setPlace(0);
      }
    } catch { /* no proposals are no error */ }
  };
  const close = () => {
    asked.current++;
    setFound([]);
  };
  const accept = (one) => {
    const caret = input.current.selectionStart;
    const next = text.slice(0, one.start) + one.text + text.slice(caret);
    onChange(next);
    close();
    const after = one.start + one.text.length;
    requestAnimationFrame(() => {
      input.current.focus();
      input.current.setSelectionRange(after, after);
    });
  };
  const keys = (event) => {
    if (event.key === "ArrowDown" && !found.length) { propose(); event.preventDefault(); return; }
    if (!found.length) return;
    if (event.key === "ArrowDown") setPlace((place + 1) % found.length);
    else if (event.key === "ArrowUp") setPlace((place - 1 + found.length) % found.length);
    else if (event.key === "Enter" || event.key === "Tab") accept(found[place]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    const list = document.getElementById("kernel-list");
    list?.children[place]?.scrollIntoView({ block: "nearest" });
  }, [place, found]);

  return html`<div class="kernel">
    <label for="kernel-text" class="label">Kernel</label>
    <div class="combo">
      <input id="kernel-text" ref=${input} class=${error ? "mono wrong" : "mono"} value=${text} spellcheck=${false} autocomplete="off" autocapitalize="off"
        role="combobox" aria-expanded=${found.length > 0} aria-controls="kernel-list" aria-autocomplete="list" aria-invalid=${Boolean(error)}
        aria-activedescendant=${found.length ? `kernel-option-${place}` : undefined} aria-describedby="kernel-error"
        onInput=${(event) => { onChange(event.currentTarget.value); propose(); }} onKeyDown=${keys} onBlur=${() => setTimeout(close, 150)} />
      <ul id="kernel-list" role="listbox" aria-label="Proposals" hidden=${!found.length}>
        ${found.map(
          (one, number) => html`<li id=${`kernel-option-${number}`} key=${one.text} role="option" aria-selected=${number === place}
            onPointerDown=${(event) => { event.preventDefault(); accept(one); }}><span class="mono">${one.text}</span> <small>${one.about}</small></li>`
        )}
      </ul>
    </div>
    <div id="kernel-error" role="alert">${error && html`<${Wrong} text=${text} error=${error} />`}</div>
    ${presets.length > 0 && html`<div class="chips" role="group" aria-label="Kernels to start from">
      ${presets.map(([name, kernel]) => html`<button type="button" class="chip" key=${name} aria-pressed=${kernel === text} title=${kernel} onClick=${() => onChange(kernel)}>${name}</button>`)}
    </div>`}
    ${numbers(text).map((one, number) => html`<${NumberSlider} key=${`${number} ${one.name}`} text=${text} one=${one} onChange=${onChange} />`)}
  </div>`;
}

/** The text with its wrong character marked, and what is wrong with it. */
export function Wrong({ text, error }) {
  const place = error.position;
  return html`<div class="error">
    ${place !== null && place !== undefined && html`<code class="mono caret">${text.slice(0, place)}<mark>${text.slice(place, place + 1) || " "}</mark>${text.slice(place + 1)}</code>`}
    <p>${error.message}</p></div>`;
}
