// Linked views of the same points: Gram matrix, spectrum, kernel principal components.
import { useMemo, useState } from "preact/hooks";
import { Canvas, figure, html } from "./ui.js";
import { channels, classColour, colour, mark } from "./colours.js";

const BAR = 10; // pixels of the class colours along the edges of the matrix

/** The Gram matrix, seriated within classes; a hovered cell lights its two points. */
export function GramView({ gram, classes, lit, onLit, sentence }) {
  const [cell, setCell] = useState(null);
  const n = gram.order.length;
  const { values } = gram;
  const [low, high] = useMemo(() => {
    let least = 0, most = 0;
    for (const value of values) { if (value < least) least = value; if (value > most) most = value; }
    return [least, most || 1];
  }, [values]);

  /** What colour a value has. */
  const painter = () => {
    const [paper, warm, cold] = [channels(colour("gram-none")), channels(colour("gram-full")), channels(colour("gram-negative"))];
    const scale = Math.max(high, -low);
    return (value) => {
      const share = Math.min(Math.abs(value) / scale, 1) ** 0.8;
      const tone = value < 0 ? cold : warm;
      return paper.map((base, channel) => base + share * (tone[channel] - base));
    };
  };
  const drawScale = (context, width, height) => {
    const paint = painter();
    for (let x = 0; x < width; x++) {
      context.fillStyle = `rgb(${paint(low + ((x + 0.5) / width) * (high - low)).map(Math.round).join(",")})`;
      context.fillRect(x, 0, 1, height);
    }
  };
  const draw = (context, width) => {
    context.clearRect(0, 0, width, width);
    const side = width - BAR - 3;
    const image = new ImageData(n, n);
    const paint = painter();
    for (let place = 0; place < n * n; place++) image.data.set([...paint(values[place]), 255], 4 * place);
    const off = document.createElement("canvas");
    off.width = off.height = n;
    off.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = n > side;
    context.drawImage(off, BAR + 3, BAR + 3, side, side);
    const unit = side / n;
    gram.order.forEach((row, place) => {
      context.fillStyle = classColour(classes[row]);
      context.fillRect(0, BAR + 3 + place * unit, BAR, unit + 0.5);
      context.fillRect(BAR + 3 + place * unit, 0, unit + 0.5, BAR);
    });
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    const places = lit.map((row) => gram.order.indexOf(row)).filter((place) => place >= 0);
    for (const place of places) {
      context.globalAlpha = 0.9;
      context.strokeRect(BAR + 3, BAR + 3 + place * unit, side, unit);
      context.strokeRect(BAR + 3 + place * unit, BAR + 3, unit, side);
    }
    context.globalAlpha = 1;
  };
  const hover = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const unit = (box.width - BAR - 3) / n;
    const column = Math.floor((event.clientX - box.left - BAR - 3) / unit);
    const row = Math.floor((event.clientY - box.top - BAR - 3) / unit);
    if (row < 0 || column < 0 || row >= n || column >= n) return leave();
    setCell({ row: gram.order[row], column: gram.order[column], value: values[row * n + column] });
    onLit([gram.order[row], gram.order[column]]);
  };
  const leave = () => {
    setCell(null);
    onLit([]);
  };
  return html`<div class="view">
    <${Canvas} class="square" draw=${draw} watch=${[gram, classes, lit]} onPointerMove=${hover} onPointerLeave=${leave}
      label=${`Gram matrix of ${n} points. ${sentence}`} />
    <p class="scale-bar"><span>${figure(low)}</span><${Canvas} class="scale" draw=${drawScale} watch=${[low, high]} label="Colours from the smallest value to the largest" /><span>${figure(high)}</span></p>
    <p class="caption">${cell ? html`k(${cell.row + 1}, ${cell.column + 1}) = <b>${figure(cell.value)}</b>` : sentence}</p>
  </div>`;
}

/** Eigenvalues of the Gram matrix as bars. */
export function SpectrumView({ spectrum, smallest, psd }) {
  const most = Math.max(...spectrum.map(Math.abs), 1e-300);
  const isNegative = (value) => value < -1e-9 * most; // less is what rounding left of none
  const width = 100 / Math.max(spectrum.length, 8);
  const total = spectrum.reduce((sum, value) => sum + Math.max(value, 0), 0);
  let sum = 0;
  const needed = spectrum.findIndex((value) => (sum += Math.max(value, 0)) >= 0.95 * total) + 1;
  const negative = isNegative(smallest);
  return html`<div class="view">
    <p class="plot-top"><span>λ₁ = ${figure(spectrum[0] ?? 0)}</span></p>
    <svg class="bars" viewBox="0 0 100 62" role="img" aria-label=${`${spectrum.length} eigenvalues, the largest ${figure(spectrum[0])}, the smallest ${figure(smallest)}`} preserveAspectRatio="none">
      <line x1="0" y1="54" x2="100" y2="54" class="axis" />
      ${spectrum.map((value, number) => {
        const height = (52 * Math.abs(value)) / most;
        return html`<rect key=${number} class=${isNegative(value) ? "bar negative" : "bar"} x=${number * width + 0.1 * width} width=${0.8 * width}
          y=${isNegative(value) ? 54 : 54 - height} height=${Math.max(Math.min(height, isNegative(value) ? 8 : 54), 0.25)}><title>${figure(value)}</title></rect>`;
      })}
    </svg>
    <p class="plot-under"><span>1</span><span>eigenvalues, largest first</span><span>${spectrum.length}</span></p>
    <p class="caption">${negative
      ? html`The smallest eigenvalue is <b>${figure(smallest)}</b>: no feature space has these inner products.`
      : html`${needed} ${needed === 1 ? "direction carries" : "directions carry"} 95 % of the length in feature space.${psd ? " The closure rules prove that no eigenvalue is ever negative." : ""}`}</p>
  </div>`;
}

/** The points along the two directions in which they vary most in feature space. */
export function ComponentsView({ components, shares, classes, lit, onLit }) {
  const reach = Math.max(...components.map(([x, y]) => Math.max(Math.abs(x), Math.abs(y))), 1e-9) * 1.12;
  const place = (size) => ([x, y]) => [(size * (x + reach)) / (2 * reach), (size * (reach - y)) / (2 * reach)];
  const draw = (context, width) => {
    context.clearRect(0, 0, width, width);
    context.strokeStyle = colour("grid");
    context.lineWidth = 1;
    context.strokeRect(0.5, 0.5, width - 1, width - 1);
    context.beginPath();
    context.moveTo(width / 2, 0);
    context.lineTo(width / 2, width);
    context.moveTo(0, width / 2);
    context.lineTo(width, width / 2);
    context.stroke();
    components.forEach((point, number) => {
      const [x, y] = place(width)(point);
      mark(context, classes[number], x, y, lit.includes(number) ? 7 : 4.5);
      context.fillStyle = classColour(classes[number]);
      context.strokeStyle = lit.includes(number) ? colour("accent") : colour("paper");
      context.lineWidth = lit.includes(number) ? 3 : 1.2;
      context.fill();
      context.stroke();
    });
  };
  const hover = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    let best = -1, nearest = 14;
    components.forEach((point, number) => {
      const [x, y] = place(box.width)(point);
      const away = Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top));
      if (away < nearest) [best, nearest] = [number, away];
    });
    onLit(best < 0 ? [] : [best]);
  };
  return html`<div class="view">
    <${Canvas} class="square" draw=${draw} watch=${[components, classes, lit]} onPointerMove=${hover} onPointerLeave=${() => onLit([])} label="Kernel principal components of the points" />
    <p class="caption">The first two directions hold ${Math.round(100 * ((shares[0] || 0) + (shares[1] || 0)))} % of the variance in feature space.</p>
  </div>`;
}
