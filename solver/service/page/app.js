// The page: which game, and whether to ask for advice or to play.

import { Advice } from "./advice.js";
import { ask, clearError, showError } from "./api.js";
import { element } from "./draw.js";
import { Play } from "./play.js";

const MODES = { advice: Advice, play: Play };
const at = (id) => document.getElementById(id);
const known = new Map();
let [mode, shown] = ["advice", null];

function wanted() {
  let named = "";
  try {
    named = decodeURIComponent(location.hash.slice(1));
  } catch {
    // An address that is no text names nothing.
  }
  const [first, game] = named.split("/");
  return { mode: first in MODES ? first : "advice", game };
}

async function show(game) {
  shown?.stop();
  at("status").parentElement.querySelector(".log")?.remove();
  try {
    const rules = await ask("rules", { rules: game });
    clearError();
    const key = `${mode}/${rules.rules}`;
    if (!known.has(key)) known.set(key, new MODES[mode](rules));
    shown = known.get(key);
    document.title = `${rules.title} · dicewise`;
    history.replaceState(null, "", `${location.search}#${key}`);
    for (const name of Object.keys(MODES)) at(`mode-${name}`).setAttribute("aria-pressed", String(name === mode));
    shown.show();
  } catch (error) {
    showError(error);
  }
}

async function start() {
  const begin = wanted();
  mode = begin.mode;
  try {
    const { games } = await ask("rules");
    at("game").append(
      ...games.map((game) => element("option", { value: game.rules, title: game.summary }, game.title)),
    );
    if (games.some((game) => game.rules === begin.game)) at("game").value = begin.game;
  } catch (error) {
    showError(error);
    return;
  }
  at("game").addEventListener("change", () => show(at("game").value));
  for (const name of Object.keys(MODES)) {
    at(`mode-${name}`).addEventListener("click", () => {
      mode = name;
      show(at("game").value);
    });
  }
  await show(at("game").value);
}

window.addEventListener("error", (event) => showError(event.error ?? event));
window.addEventListener("unhandledrejection", (event) => showError(event.reason));
start();
