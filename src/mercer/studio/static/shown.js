// One object of a file: its text, its cells or its picture.
import { html } from "./ui.js";
import { Drawing } from "./drawings.js";

export function Shown({ one }) {
  return html`<div class="object"><span class="object-name">${one.name}${one.label !== undefined ? html` <em>${one.label}</em>` : ""}</span>
    ${one.cells ? html`<span class="cells">${one.cells.map(([name, value]) => html`<span key=${name}><small>${name}</small> ${value || "—"}</span>`)}</span>` : html`<span class="mono object-text">${one.text}</span>`}${one.drawing && html`<${Drawing} drawing=${one.drawing} />`}</div>`;
}
