// Elements, dice with pips, bars, and the plot of final scores.

const SVG = "http://www.w3.org/2000/svg";
const PIPS = {
  1: [[50, 50]],
  2: [[28, 28], [72, 72]],
  3: [[28, 28], [50, 50], [72, 72]],
  4: [[28, 28], [72, 28], [28, 72], [72, 72]],
  5: [[28, 28], [72, 28], [50, 50], [28, 72], [72, 72]],
  6: [[28, 26], [72, 26], [28, 50], [72, 50], [28, 74], [72, 74]],
};
const WORDS = ["no", "one", "two", "three", "four", "five", "six"];

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

export function word(number) {
  return WORDS[number] ?? String(number);
}

export function counted(number, one, many) {
  return `${word(number)} ${number === 1 ? one : many}`;
}

export function percent(share) {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  if (share >= 0.99995 && share < 1) return "> 99.99 %";
  return `${(100 * share).toFixed(2)} %`;
}

export function dieFace(face, kind = "") {
  const drawn = svg("svg", { viewBox: "0 0 100 100", "aria-hidden": "true", class: kind });
  if (!face) {
    drawn.append(svg("rect", { class: "die-blank", x: 6, y: 6, width: 88, height: 88, rx: 20 }));
    return drawn;
  }
  drawn.append(svg("rect", { class: "die-face", x: 4, y: 4, width: 92, height: 92, rx: 20 }));
  for (const [x, y] of PIPS[face]) drawn.append(svg("circle", { class: "die-pip", cx: x, cy: y, r: 9.5 }));
  return drawn;
}

// Which of the dice on the table a move keeps, by place.
export function keptPlaces(dice, kept) {
  const left = [...kept];
  return dice.map((die) => {
    const at = left.indexOf(die);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

export function smallDice(dice, kept) {
  const places = keptPlaces(dice, kept);
  return element(
    "span",
    { class: "move-dice", "aria-hidden": "true" },
    dice.map((die, at) => dieFace(die, places[at] ? "kept" : "away")),
  );
}

export function bar(share) {
  return svg(
    "svg",
    { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "fill-track", x: 0, y: 0, width: 100, height: 8 }),
    svg("rect", { class: "fill-bar", x: 0, y: 0, width: Math.max(100 * share, 0.5), height: 8 }),
  );
}

export function moveInWords(option, rules) {
  if (option.action === "keep") {
    const rest = rules.dice - option.dice.length;
    if (option.dice.length) return `Keep ${option.dice.join(" ")}, reroll ${counted(rest, "die", "dice")}`;
    return rest === 1 ? "Reroll the die" : `Reroll all ${word(rest)} dice`;
  }
  const title = rules.card.find((box) => box.key === option.category).title;
  const points = option.points === 1 ? "1 point" : `${option.points} points`;
  return `Fill ${title} for ${points}${option.bonus ? ` and a bonus of ${option.bonus}` : ""}`;
}

// Bars of equal width over the scores between which nearly all games end.
function bins(stats, most) {
  const low = stats.quantiles["0.01"];
  const high = stats.quantiles["0.999"];
  const spare = Math.max(Math.round((high - low) * 0.08), 2);
  const first = Math.max(stats.least.score, low - spare);
  const last = Math.min(stats.greatest.score, high + spare);
  const width = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((w) => (last - first) / w <= most) ?? 10000;
  const found = [];
  for (let start = Math.floor(first / width) * width; start <= last; start += width) {
    found.push({ start, end: start + width - 1, share: 0 });
  }
  stats.scores.forEach((score, at) => {
    const place = Math.floor((score - found[0].start) / width);
    if (place >= 0 && place < found.length) found[place].share += stats.probabilities[at];
  });
  return { found, width };
}

// Drawn for a place of this width, so that its text keeps its size.
export function spreadPlot(stats, place) {
  const across = Math.min(Math.max(place, 280), 1200);
  const [down, left, right, top, bottom] = [across < 500 ? 210 : 270, 52, 14, 28, 30];
  const { found, width } = bins(stats, across / 9);
  const low = found[0].start;
  const high = found[found.length - 1].end + 1;
  const most = Math.max(...found.map((bin) => bin.share));
  const x = (score) => left + ((score - low) / (high - low)) * (across - left - right);
  const y = (share) => down - bottom - (share / most) * (down - bottom - top);
  const label =
    `The chance of each final score: from ${low} to ${high - 1}, the median is ${stats.quantiles["0.5"]}; ` +
    `nine games in ten end between ${stats.quantiles["0.05"]} and ${stats.quantiles["0.95"]}.`;
  const drawn = svg("svg", { class: "plot", viewBox: `0 0 ${across} ${down}`, role: "img", "aria-label": label });
  const inside = (bin) => bin.end >= stats.quantiles["0.05"] && bin.start <= stats.quantiles["0.95"];
  for (const bin of found) {
    const wide = Math.max(x(bin.start + width) - x(bin.start) - 1, 0.6);
    const title = width === 1 ? `${bin.start}` : `${bin.start} to ${bin.end}`;
    drawn.append(
      svg(
        "rect",
        { class: inside(bin) ? "middle" : "outer", x: x(bin.start), y: y(bin.share), width: wide, height: Math.max(down - bottom - y(bin.share), 0) },
        svg("title", {}, `${title}: ${percent(bin.share)}`),
      ),
    );
  }
  drawn.append(svg("line", { class: "axis", x1: left, x2: across - right, y1: down - bottom, y2: down - bottom }));
  const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000].find((s) => (high - low) / s <= across / 80) ?? 10000;
  for (let score = Math.ceil(low / step) * step; score <= high; score += step) {
    drawn.append(svg("line", { class: "axis", x1: x(score), x2: x(score), y1: down - bottom, y2: down - bottom + 5 }));
    drawn.append(svg("text", { x: x(score), y: down - 8, "text-anchor": "middle" }, String(score)));
  }
  drawn.append(svg("text", { x: left - 6, y: y(most) + 4, "text-anchor": "end" }, `${(100 * most).toFixed(1)} %`));
  drawn.append(svg("text", { x: left - 6, y: down - bottom, "text-anchor": "end" }, "0"));
  const median = x(stats.quantiles["0.5"] + 0.5);
  drawn.append(svg("line", { class: "median", x1: median, x2: median, y1: top - 6, y2: down - bottom }));
  const side = median > across * 0.75 ? { x: median - 6, "text-anchor": "end" } : { x: median + 6 };
  drawn.append(svg("text", { class: "mark", ...side, y: top - 10 }, `median ${stats.quantiles["0.5"]}`));
  return drawn;
}
