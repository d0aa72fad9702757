// The ranked moves, and the chances behind each on demand.

import { ask, clearError, showError } from "./api.js";
import { bar, element, moveInWords, percent, smallDice } from "./draw.js";

const FIRST = 6;

// Shows an advice in `place`; `point` is told which dice a move keeps while it is looked at.
export function showMoves(place, rules, fields, advice, point) {
  place.replaceChildren();
  if (!advice) return;
  const list = element("ol", { class: "moves", "aria-label": "Moves, the best first" });
  const head = element(
    "div",
    { class: "move head", "aria-hidden": "true" },
    element("span", {}, "Move"),
    element("span", { class: "number" }, "Value"),
    element("span", { class: "number" }, "Loss"),
    element("span", { class: "why" }),
  );
  place.append(head, list);
  const show = (count) => {
    const from = list.children.length;
    advice.options.slice(from, count).forEach((option, at) => {
      list.append(entry(rules, fields, advice, option, from + at, point));
    });
  };
  show(FIRST);
  if (advice.options.length > FIRST) {
    const more = element("button", { type: "button", class: "plain", id: "more" }, `Show all ${advice.options.length} moves`);
    more.addEventListener("click", () => {
      show(advice.options.length);
      more.remove();
      list.children[FIRST].querySelector("button").focus();
    });
    place.append(more);
  }
}

function entry(rules, fields, advice, option, at, point) {
  const words = moveInWords(option, rules);
  const chances = element("div", { class: "chances", id: `chances-${at}`, hidden: true });
  const why = element(
    "button",
    { type: "button", class: "plain why", "aria-expanded": "false", "aria-controls": chances.id, "aria-label": `Why: ${words}` },
    "Why",
  );
  why.addEventListener("click", () => unfold(rules, fields, at, why, chances));
  const loss = option.loss > 0 && option.loss < 0.005 ? "<0.01" : option.loss.toFixed(2);
  const line = element(
    "div",
    { class: "move" },
    element(
      "span",
      { class: "move-words" },
      smallDice(advice.dice, option.dice ?? advice.dice),
      element("span", { id: at === 0 ? "best" : null }, words),
    ),
    element("span", { class: "number" }, element("span", { class: "unseen" }, "value "), option.value.toFixed(2)),
    element("span", { class: "number loss" }, element("span", { class: "unseen" }, "loss "), loss),
    why,
  );
  const item = element("li", { "data-action": option.action, class: at === 0 ? "best" : null }, line, chances);
  item.addEventListener("pointerenter", () => point(option));
  item.addEventListener("pointerleave", () => point(null));
  item.addEventListener("focusin", () => point(option));
  item.addEventListener("focusout", () => point(null));
  return item;
}

async function unfold(rules, fields, at, why, chances) {
  const open = why.getAttribute("aria-expanded") === "true";
  why.setAttribute("aria-expanded", String(!open));
  chances.hidden = open;
  if (open || chances.childElementCount) return;
  chances.textContent = "Following the dice …";
  try {
    const found = await ask("advise", { ...fields, top: 1, explain: [at + 1] });
    clearError();
    chances.replaceChildren(...explained(rules, found));
  } catch (error) {
    chances.replaceChildren();
    chances.hidden = true;
    why.setAttribute("aria-expanded", "false");
    showError(error);
  }
}

function explained(rules, found) {
  const why = found.explanations[0];
  const rows = why.boxes.map((box) =>
    element(
      "tr",
      { "data-box": box.key },
      element("th", { scope: "row" }, box.title),
      element("td", { class: "chances-bar" }, bar(box.probability)),
      element("td", { class: "number" }, percent(box.probability)),
      element("td", { class: "number" }, box.points.toFixed(2)),
    ),
  );
  const table = element(
    "table",
    {},
    element("caption", { class: "unseen" }, "The box that this turn fills"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "Box filled"),
        element("td", { class: "chances-bar" }),
        element("th", { scope: "col", class: "number" }, "Chance"),
        element("th", { scope: "col", class: "number" }, "Points"),
      ),
    ),
    element("tbody", {}, rows),
  );
  const seen = Object.entries(why.patterns).map(
    ([key, share]) => `${rules.card.find((box) => box.key === key).title} ${percent(share)}`,
  );
  const total = `${why.turn_points.toFixed(2)} this turn + ${why.after.toFixed(2)} after it + ${found.boxes_total} on the card = ${why.option.value.toFixed(2)}`;
  const parts = [table, element("p", { class: "sum" }, total)];
  if (seen.length) parts.push(element("p", { class: "sum" }, `The last roll shows: ${seen.join(", ")}.`));
  return parts;
}
