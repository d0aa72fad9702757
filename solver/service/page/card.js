// The card: to be filled in by hand beside advice, or by the moves of a game.

import { element } from "./draw.js";

export function subtotals(rules, card) {
  let [upper, all] = [0, 0];
  for (const box of rules.card) {
    const points = card[box.key] ?? 0;
    all += points;
    if (box.section === "upper") upper += points;
  }
  const tier = [...rules.upper_bonus].reverse().find((one) => upper >= one.at);
  const further = (card.bonuses ?? 0) * (rules.yahtzee?.bonus ?? 0);
  const bonus = tier ? tier.points : 0;
  return { upper, bonus, further, total: all + bonus + further };
}

// `columns`: [{title, card, cell(box) -> element or text, turn}]; the first one has what `fills` says.
export function showCard(place, rules, columns, best) {
  const focused = document.activeElement?.id;
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "Box"),
    columns.map((column) => element("th", { scope: "col", class: `number${column.turn ? " turn" : ""}` }, column.title)),
  );
  const body = element("tbody");
  let section = "";
  const both = new Set(rules.card.map((box) => box.section)).size > 1;
  rules.card.forEach((box, at) => {
    if (box.section !== section && both) {
      if (section === "upper") between(body, rules, columns);
      body.append(element("tr", { class: "section" }, element("th", { colspan: columns.length + 1, scope: "colgroup" }, box.section)));
    }
    section = box.section;
    body.append(
      element(
        "tr",
        { class: box.key === best ? "best-box" : null, "data-box": box.key },
        element("th", { scope: "row" }, box.title, element("span", { class: "needs" }, `${box.needs}: ${box.scores}`)),
        columns.map((column) => element("td", { class: "number" }, column.cell(box))),
      ),
    );
    if (at === rules.card.length - 1 && section === "upper") between(body, rules, columns);
  });
  if (rules.yahtzee?.bonus) {
    const title = rules.card.find((box) => box.key === rules.yahtzee.category).title;
    body.append(
      element(
        "tr",
        { class: "between", "data-box": "bonuses" },
        element("th", { scope: "row" }, `Bonuses for further ${title}s`, element("span", { class: "needs" }, `${rules.yahtzee.bonus} points each`)),
        columns.map((column) => element("td", { class: "number" }, column.bonuses())),
      ),
    );
  }
  body.append(
    element(
      "tr",
      { class: "total" },
      element("th", { scope: "row" }, "Total"),
      columns.map((column) => element("td", { class: "number" }, String(subtotals(rules, column.card).total))),
    ),
  );
  const caption = element("caption", { class: "unseen" }, `Card of ${rules.title}`);
  place.replaceChildren(element("table", { class: "card" }, caption, element("thead", {}, head), body));
  if (focused) document.getElementById(focused)?.focus();
}

function between(body, rules, columns) {
  if (!rules.upper_bonus.length) return;
  const text = rules.upper_bonus.map((tier) => `${tier.points} from ${tier.at}`).join(", ");
  body.append(
    element(
      "tr",
      { class: "between" },
      element("th", { scope: "row" }, "Upper bonus", element("span", { class: "needs" }, `${text} points`)),
      columns.map((column) => {
        const { upper, bonus } = subtotals(rules, column.card);
        return element("td", { class: "number" }, bonus ? String(bonus) : `(${upper})`);
      }),
    ),
  );
}
