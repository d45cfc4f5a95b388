// The page: which room is open, the theme, and whether the server answers.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./ui.js";
import { get, takeToken } from "./net.js";
import { applyTheme } from "./colours.js";
import { parts } from "./links.js";
import { Playground } from "./play.js";
import { Workbench } from "./work.js";
import { Lab } from "./lab.js";

/** @type {[string, string, import("preact").ComponentType<any>][]} */
const ROOMS = [["playground", "Playground", Playground], ["workbench", "Workbench", Workbench], ["lab", "Lab", Lab]];
const THEMES = { system: "light", light: "dark", dark: "system" };
const THEME_KEY = "mercer-studio-theme";

function stored(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

function roomOf(hash) {
  const [name] = parts(hash);
  return ROOMS.find(([key]) => name && key.startsWith(name)) ?? ROOMS[0];
}

function App({ known }) {
  const [route, setRoute] = useState(location.hash);
  const room = roomOf(route);
  const [hello, setHello] = useState(null);
  const [error, setError] = useState(known ? null : { message: "This page does not know its token. Open the address that `mercer studio` printed.", status: 401 });
  const [theme, setTheme] = useState(stored(THEME_KEY) ?? "system");
  useEffect(() => {
    const follow = () => setRoute(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    applyTheme(theme);
    try { localStorage.setItem(THEME_KEY, theme); } catch { /* not kept */ }
  }, [theme]);
  useEffect(() => {
    if (!known) return undefined;
    let timer;
    const look = async () => {
      try {
        const told = await get("/api/hello");
        setHello(told);
        setError(null);
        if (told.warm) return;
      } catch (wrong) {
        setError(wrong);
      }
      timer = setTimeout(look, 1000);
    };
    look();
    return () => clearTimeout(timer);
  }, []);
  const Room = room[2];
  return html`<header class="top">
      <a class="brand" href="#/playground"><img src="/static/icon.svg" alt="" width="28" height="28" /> <span>Mercer <b>Studio</b></span></a>
      <nav aria-label="Rooms">${ROOMS.map(([key, name]) => html`<a key=${key} href=${`#/${key}`} aria-current=${room[0] === key ? "page" : undefined}>${name}</a>`)}</nav>
      <span class="grow"></span>
      <button type="button" class="quiet theme" onClick=${() => setTheme(THEMES[theme])} aria-label=${`Theme: ${theme}`} title=${`Theme: ${theme}`}>${{ system: "◐", light: "☀", dark: "☾" }[theme]}</button>
    </header>
    ${error && html`<p class="banner" role="alert">${error.message}</p>`}
    <main>${known && html`<${Room} warm=${hello?.warm} route=${route} />`}</main>
    <footer>Mercer ${hello?.version ?? ""} · everything on this page is computed on this machine</footer>`;
}

const known = Boolean(takeToken());
const place = document.getElementById("app");
place.textContent = "";
render(html`<${App} known=${known} />`, place);
