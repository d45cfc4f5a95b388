// What the lines and rings of the plane mean, drawn as they are drawn there.
import { html } from "./ui.js";

const SIGNS = {
  boundary: html`<path class="sign solid" d="M1,7H27" />`,
  margin: html`<path class="sign dashed" d="M1,7H27" />`,
  slack: html`<path class="sign dotted" d="M1,7H27" />`,
  optimum: html`<path class="sign optimum-line" d="M1,7H27" />`,
  support: html`<circle class="sign ring" cx="14" cy="7" r="5.6" /><circle class="sign-dot" cx="14" cy="7" r="2.4" />`,
  weight: html`<circle class="sign-weight" cx="14" cy="7" r="6.4" /><circle class="sign-dot" cx="14" cy="7" r="2.4" />`,
};
const MEANING = {
  classification: [["boundary", "boundary f = 0"], ["margin", "margins f = ±1"], ["support", "support vector"], ["slack", "slack"]],
  regression: [["boundary", "prediction"], ["margin", "tube of width ε"], ["support", "support vector"], ["slack", "error beyond the tube"]],
  novelty: [["boundary", "edge of the region"], ["support", "support vector"]],
  film: [["boundary", "boundary at this step"], ["optimum", "exact optimum"]],
  proof: [["weight", "weight in the proof"]],
};

export function Legend({ task, film, proof }) {
  const listed = MEANING[film ? "film" : proof ? "proof" : task];
  return html`<ul class="key" aria-label="Legend">${listed.map(([sign, text]) => html`<li key=${sign}><svg viewBox="0 0 28 14" aria-hidden="true">${SIGNS[sign]}</svg>${text}</li>`)}</ul>`;
}
