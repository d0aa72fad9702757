// The distribution of final scores from here, worked out when asked for.

import { ask, clearError, showError } from "./api.js";
import { element, percent, spreadPlot } from "./draw.js";

// Shows a button that asks with the fields that `fields()` gives at that time.
export function offerSpread(place, fields) {
  if (place.querySelector("#spread-ask") && !place.querySelector(".plot")) return;
  const button = element("button", { type: "button", id: "spread-ask" }, "Show how final scores spread");
  button.addEventListener("click", async () => {
    const asked = JSON.stringify(fields());
    button.disabled = true;
    button.textContent = "Following every roll that can still come …";
    try {
      const stats = await ask("stats", JSON.parse(asked));
      clearError();
      if (asked === JSON.stringify(fields())) show(place, stats);
      else offerAgain(place, fields);
    } catch (error) {
      offerAgain(place, fields);
      showError(error);
    }
  });
  place.replaceChildren(button);
}

function offerAgain(place, fields) {
  place.replaceChildren();
  offerSpread(place, fields);
}

function show(place, stats) {
  const facts = [
    ["Mean", stats.mean.toFixed(2)],
    ["Deviation", stats.standard_deviation.toFixed(2)],
  ];
  // Of large games the chance of every score is too much to hold.
  const known = Boolean(stats.scores);
  if (known) {
    facts.push(
      ["Median", stats.quantiles["0.5"]],
      ["9 in 10 between", `${stats.quantiles["0.05"]}–${stats.quantiles["0.95"]}`],
      ["Best 1 in 100 from", stats.quantiles["0.99"]],
    );
  }
  if (stats.upper_bonus > 0) facts.push(["Upper bonus", percent(Math.min(stats.upper_bonus, 1))]);
  place.replaceChildren(
    ...(known ? [spreadPlot(stats, place.clientWidth)] : []),
    element(
      "dl",
      { class: "facts" },
      facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))),
    ),
  );
}
