// What every screen uses: the template tag, and small components.
import { h } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import htm from "htm";

export const html = htm.bind(h);

/** A row of buttons of which one is pressed. */
export function Segments({ label, options, value, onChange }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(
      ([key, text, title]) =>
        html`<button type="button" key=${key} title=${title} aria-pressed=${value === key} onClick=${() => onChange(key)}>${text}</button>`
    )}
  </div>`;
}

/** Tabs with their panel: the content of the chosen one. A tab is a key, a text, and whether it cannot be chosen yet; `steps` are numbered. */
export function Tabs({ label, tabs, value, onChange, children, end = null, steps = false }) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const keys = tabs.filter(([, , disabled]) => !disabled).map(([key]) => key);
    const next = keys[(keys.indexOf(value) + step + keys.length) % keys.length];
    onChange(next);
    event.currentTarget.querySelector(`[data-key="${next}"]`)?.focus();
  };
  return html`<div class="tabs">${end && html`<span class="tabs-end">${end}</span>`}
    <div role="tablist" class=${steps ? "steps" : ""} aria-label=${label} onKeyDown=${move}>
      ${tabs.map(
        ([key, text, disabled]) =>
          html`<button type="button" role="tab" key=${key} data-key=${key} id=${`tab-${key}`} aria-selected=${value === key}
            disabled=${disabled} aria-controls=${value === key ? `panel-${key}` : undefined} tabindex=${value === key ? 0 : -1} onClick=${() => onChange(key)}>${text}</button>`
      )}
    </div>
    <div role="tabpanel" id=${`panel-${value}`} aria-labelledby=${`tab-${value}`}>${children}</div>
  </div>`;
}

/** A slider on a logarithmic or linear scale, with the number beside it. */
export function Slider({ label, value, low, high, log, step, shown, onChange, infinite }) {
  const STEPS = 240;
  const top = infinite ? STEPS + 8 : STEPS;
  const place = infinite && value === Infinity ? top : log ? (STEPS * Math.log(value / low)) / Math.log(high / low) : (STEPS * (value - low)) / (high - low);
  const at = (position) => {
    if (infinite && position > STEPS) return Infinity;
    const raw = log ? low * Math.pow(high / low, position / STEPS) : low + ((high - low) * position) / STEPS;
    if (step) return Math.round(raw / step) * step;
    return Number(raw.toPrecision(3));
  };
  const text = shown ? shown(value) : figure(value);
  return html`<label class="slider"><span class="slider-name">${label}</span>
    <input type="range" min="0" max=${top} value=${Math.min(Math.max(place, 0), top)} aria-valuetext=${text}
      step=${step ? (STEPS * step) / (high - low) : 1} onInput=${(event) => onChange(at(Number(event.currentTarget.value)))} />
    <output>${text}</output></label>`;
}

/** A number for people: three digits, powers of ten only where they help. */
export function figure(value) {
  if (value === Infinity) return "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return readable(value.toExponential(1));
  return String(Number(value.toPrecision(3)));
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** Numbers of a sentence as people write them: 2.3 × 10⁻⁸, not 2.3e-08. */
export function readable(sentence) {
  return sentence.replace(/(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b/g, (_, digits, power) => {
    if (!Number(digits)) return "0";
    return `${digits} × 10${[...String(Number(power))].map((one) => RAISED[one]).join("")}`;
  });
}

/** A button that copies a text, and says so for a moment. */
export function Copy({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="quiet" onClick=${copy}>${done ? "Copied" : label}</button>`;
}

/** A canvas that is redrawn when its size, the colours or what it shows change. `draw(context, width, height)`. */
export function Canvas({ draw, watch, label, ...more }) {
  const ref = useRef(null);
  const latest = useRef(draw);
  latest.current = draw;
  useLayoutEffect(() => {
    const canvas = ref.current;
    const paint = () => {
      const { clientWidth: width, clientHeight: height } = canvas;
      if (!width || !height) return;
      const scale = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      const context = canvas.getContext("2d");
      context.setTransform(scale, 0, 0, scale, 0, 0);
      latest.current(context, width, height);
    };
    canvas.paint = paint;
    const sizes = new ResizeObserver(paint);
    sizes.observe(canvas);
    window.addEventListener("themechange", paint);
    return () => {
      sizes.disconnect();
      window.removeEventListener("themechange", paint);
    };
  }, []);
  useLayoutEffect(() => ref.current.paint(), watch); // in the same frame as what it belongs to
  return html`<canvas ref=${ref} role="img" aria-label=${label} ...${more}></canvas>`;
}
