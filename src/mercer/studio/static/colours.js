// Colours are variables of the style sheet, so that light and dark are decided in one place.
let known = {};

window.addEventListener("themechange", () => { known = {}; });

export function colour(name) {
  if (!known[name]) known[name] = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return known[name];
}

export const classColour = (number) => colour(`class-${number % 3}`);

/** A colour as red, green and blue. */
export function channels(text) {
  const hex = text.replace("#", "");
  return [0, 2, 4].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

/** How light a colour is to the eye, from 0 to 1. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((one) => { const share = one / 255; return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Of two colours for a text, the one that is clearer on a ground. */
export function clearer(ground, one, other) {
  const contrast = (text) => {
    const [low, high] = [luminance(ground), luminance(channels(text))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  return contrast(one) >= contrast(other) ? one : other;
}

export function applyTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  window.dispatchEvent(new Event("themechange"));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => window.dispatchEvent(new Event("themechange")));

/** The mark of a class: circle, square or triangle, so that colour alone says nothing. */
export function mark(context, kind, x, y, size) {
  context.beginPath();
  if (kind === 1) context.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
  else if (kind === 2) {
    context.moveTo(x, y - size * 1.2);
    context.lineTo(x + size * 1.12, y + size * 0.85);
    context.lineTo(x - size * 1.12, y + size * 0.85);
    context.closePath();
  } else context.arc(x, y, size, 0, 2 * Math.PI);
}
