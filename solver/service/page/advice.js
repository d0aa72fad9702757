// Advice: any dice and any card, set by hand, and what to do.

import { ask, clearError, showError } from "./api.js";
import { showCard } from "./card.js";
import { dieFace, element, keptPlaces, word } from "./draw.js";
import { showMoves } from "./moves.js";
import { offerSpread } from "./spread.js";

const at = (id) => document.getElementById(id);
const WAIT = 120;

export class Advice {
  constructor(rules) {
    this.rules = rules;
    this.dice = Array.from({ length: rules.dice }, () => 1 + Math.floor(6 * Math.random())).sort();
    this.card = {};
    this.rerolls = this.mostRerolls();
    this.advice = null;
    this.asked = 0;
    this.timer = null;
  }

  show() {
    at("heading").textContent = "Advice";
    at("moves-panel").hidden = false;
    at("setup").hidden = true;
    this.showDice();
    this.showControls();
    this.changed();
  }

  stop() {
    clearTimeout(this.timer);
    this.asked += 1;
  }

  mostRerolls() {
    return this.rules.rolls - 1 + (this.card.saved ?? 0);
  }

  fields() {
    return { rules: this.rules.rules, card: this.card, dice: this.dice, rerolls: this.rerolls };
  }

  // ------------------------------------------------------------ dice

  showDice() {
    const dice = this.dice.map((face, place) => {
      const die = element("button", { type: "button", class: "die" }, dieFace(face));
      die.addEventListener("click", () => this.turnDie(place, (this.dice[place] % 6) + 1));
      die.addEventListener("keydown", (event) => {
        const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (/^[1-6]$/.test(event.key)) this.turnDie(place, Number(event.key));
        else if (step) this.turnDie(place, ((this.dice[place] - 1 + step + 6) % 6) + 1);
        else return;
        event.preventDefault();
      });
      return die;
    });
    at("dice").dataset.count = String(this.dice.length);
    at("dice").replaceChildren(...dice);
    this.labelDice();
  }

  labelDice() {
    [...at("dice").children].forEach((die, place) => {
      die.setAttribute("aria-label", `Die ${place + 1}: ${word(this.dice[place])}. Click for the next face, or type it.`);
    });
  }

  turnDie(place, face) {
    this.dice[place] = face;
    at("dice").children[place].replaceChildren(dieFace(face));
    this.labelDice();
    this.changed();
  }

  point(option) {
    const shown = option ?? this.advice?.options[0];
    const kept = shown?.action === "keep" ? shown.dice : shown ? this.dice : [];
    const places = keptPlaces(this.dice, kept);
    [...at("dice").children].forEach((die, place) => die.classList.toggle("kept", places[place]));
  }

  // ------------------------------------------------------------ controls

  // A whole number from 0 to `most`, typed; `change` gets each that can be.
  counter(id, name, value, most, change) {
    const count = element("input", { type: "number", id, min: 0, max: most, value, autocomplete: "off" });
    count.addEventListener("change", () => {
      if (count.value !== "" && count.checkValidity()) change(Number(count.value));
      else this.showControls();
    });
    return element("label", { class: "field" }, element("span", {}, name), count);
  }

  // With saved rolls both are numbers without a small bound.
  savedRolls() {
    const filled = this.rules.card.filter((box) => this.card[box.key] !== undefined).length;
    const saved = this.counter("saved", "Saved rolls", this.card.saved ?? 0, (this.rules.rolls - 1) * filled, (count) => {
      this.keepSaved(count);
      this.rerolls = this.mostRerolls();
      this.showControls();
      this.changed();
    });
    const left = this.counter("rerolls", "Rerolls left", this.rerolls, this.mostRerolls(), (count) => {
      this.rerolls = count;
      this.changed();
    });
    return [saved, left];
  }

  keepSaved(count) {
    if (count) this.card.saved = count;
    else delete this.card.saved;
  }

  rerollsLeft() {
    const rerolls = element("span", { class: "segments" });
    for (let left = Math.min(this.rules.rolls, 6) - 1; left >= 0; left -= 1) {
      const choice = element("input", { type: "radio", name: "rerolls", value: left, checked: left === this.rerolls });
      choice.addEventListener("change", () => {
        this.rerolls = left;
        this.changed();
      });
      rerolls.append(element("label", {}, choice, element("span", {}, String(left))));
    }
    return element("fieldset", {}, element("legend", {}, "Rerolls left"), rerolls);
  }

  showControls() {
    const typed = element("input", {
      type: "text",
      id: "roll-text",
      inputmode: "numeric",
      autocomplete: "off",
      placeholder: "1 3 3 4 6",
    });
    typed.addEventListener("input", () => {
      const faces = typed.value.match(/[1-6]/g) ?? [];
      if (faces.length !== this.rules.dice) return;
      this.dice = faces.map(Number);
      this.showDice();
      this.changed();
    });
    const roll = element("button", { type: "button", id: "random" }, "Roll");
    roll.addEventListener("click", () => {
      this.dice = this.dice.map(() => 1 + Math.floor(6 * Math.random()));
      typed.value = "";
      this.showDice();
      this.changed();
    });
    const clear = element("button", { type: "button", id: "clear" }, "Empty card");
    clear.addEventListener("click", () => {
      this.card = {};
      this.rerolls = this.mostRerolls();
      this.showControls();
      this.changed();
    });
    at("controls").replaceChildren(
      element("label", { class: "field" }, element("span", {}, "Type a roll"), typed),
      ...(this.rules.save_rolls ? this.savedRolls() : [this.rerollsLeft()]),
      roll,
      clear,
    );
  }

  // ------------------------------------------------------------ card

  showCard() {
    const fills = new Map();
    for (const option of this.advice?.options ?? []) if (option.action === "fill") fills.set(option.category, option);
    const best = this.advice?.options[0];
    const points = {
      title: "Points",
      card: this.card,
      cell: (box) => this.pointsOf(box),
      bonuses: () => this.bonuses(),
    };
    const now = {
      title: "These dice",
      card: this.card,
      cell: (box) => (fills.has(box.key) ? this.scoring(box, fills.get(box.key)) : ""),
      bonuses: () => "",
    };
    showCard(at("card"), this.rules, [points, now], best?.action === "fill" ? best.category : null);
    for (const cell of at("card").querySelectorAll("tr.total td:last-child, tr.between td:last-child")) cell.textContent = "";
  }

  pointsOf(box) {
    const held = this.card[box.key];
    const choice = element(
      "select",
      { id: `points-${box.key}`, "aria-label": `Points in ${box.title}`, class: held === undefined ? null : "set" },
      element("option", { value: "" }, "–"),
      box.points.map((points) => element("option", { value: points, selected: points === held }, String(points))),
    );
    choice.addEventListener("change", () => {
      if (choice.value === "") delete this.card[box.key];
      else this.card[box.key] = Number(choice.value);
      if (this.rules.save_rolls) this.showControls(); // How many can be saved goes by the filled boxes.
      this.changed();
    });
    return choice;
  }

  bonuses() {
    const held = this.card.bonuses ?? 0;
    const count = element(
      "select",
      { id: "bonuses", "aria-label": "Bonuses scored", class: held ? "set" : null },
      this.rules.card.map((_, number) => element("option", { value: number, selected: number === held }, String(number))),
    );
    count.addEventListener("change", () => {
      if (count.value === "0") delete this.card.bonuses;
      else this.card.bonuses = Number(count.value);
      this.changed();
    });
    return count;
  }

  scoring(box, option) {
    const worth = option.points + (option.bonus ?? 0);
    const button = element(
      "button",
      { type: "button", class: "score", id: `score-${box.key}`, "aria-label": `Fill ${box.title} for ${worth}` },
      String(worth),
    );
    button.addEventListener("click", () => {
      this.card[box.key] = option.points;
      if (option.bonus) this.card.bonuses = (this.card.bonuses ?? 0) + 1;
      this.keepSaved(option.saved);
      this.rerolls = this.mostRerolls();
      this.showControls();
      this.changed();
      at("roll-text").focus();
    });
    return button;
  }

  // ------------------------------------------------------------ asking

  changed() {
    clearTimeout(this.timer);
    this.asked += 1; // An answer still to come is about something else now, and so is the one before.
    this.advice = null;
    this.timer = setTimeout(() => this.advise(), WAIT);
    at("moves").setAttribute("aria-busy", "true");
    this.showCard();
  }

  async advise() {
    const mine = this.asked;
    const fields = structuredClone(this.fields());
    const full = this.rules.card.every((box) => this.card[box.key] !== undefined);
    let [advice, failed] = [null, null];
    try {
      if (!full) advice = await ask("advise", fields);
    } catch (error) {
      failed = error;
    }
    if (mine !== this.asked) return;
    if (failed) showError(failed);
    else clearError();
    this.advice = advice;
    at("moves").setAttribute("aria-busy", "false");
    at("moves-panel").hidden = !advice;
    at("status").textContent = full ? "Every box is filled." : failed ? "No advice for this; see above." : "";
    if (advice) showMoves(at("moves"), this.rules, fields, advice, (option) => this.point(option));
    this.point(null);
    this.showCard();
    at("spread-panel").hidden = !advice;
    at("spread").replaceChildren();
    if (advice) offerSpread(at("spread"), () => this.fields());
  }
}
