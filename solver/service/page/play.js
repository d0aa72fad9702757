// A game against a computer: the record is kept here, the service rolls, checks and decides.

import { ask, clearError, showError } from "./api.js";
import { showCard } from "./card.js";
import { counted, dieFace, element, keptPlaces, moveInWords, word } from "./draw.js";
import { showMoves } from "./moves.js";
import { offerSpread } from "./spread.js";

const at = (id) => document.getElementById(id);
const [ME, OTHER] = [0, 1];
const LOG = 40;
const PLAYERS = [
  ["beginner", "Beginner"],
  ["casual", "Casual"],
  ["club", "Club player"],
  ["expert", "Expert"],
  ["perfect", "Perfect: the highest expected score"],
  ["win", "Plays to win, looking at your card"],
  ["greedy", "Greedy: the most points now"],
  ["random", "Anything at random"],
  ["strength", "Average score of my choice"],
];

// Milliseconds between the steps of the computer; ?pace=0 for those in a hurry.
function pace() {
  const given = new URLSearchParams(location.search).get("pace");
  return given === null ? 900 : Math.max(0, Number(given) || 0);
}

export class Play {
  constructor(rules) {
    this.rules = rules;
    this.player = "club";
    this.average = Math.round((rules.expected_score ?? 200) * 0.85);
    this.first = ME;
    this.hints = false;
    this.game = null;
    this.generation = 0;
    this.busy = this.stuck = false;
  }

  show() {
    at("heading").textContent = "Play";
    this.showSetup();
    if (!this.game) {
      this.begin();
      return;
    }
    // A step that was under way when the page turned elsewhere is taken again, with the same dice.
    this.busy = false;
    this.showGame();
    if (this.game.phase !== "over" && this.game.seat === OTHER && !this.stuck) this.computer(this.generation);
    else if (!this.advice) this.advise(this.generation).catch(showError);
  }

  stop() {
    this.generation += 1;
  }

  // ------------------------------------------------------------ setting up

  showSetup() {
    const players = element(
      "select",
      { id: "player" },
      PLAYERS.map(([value, title]) => element("option", { value, selected: value === this.player }, title)),
    );
    const average = element("input", { type: "number", id: "average", min: 0, step: "any", value: this.average });
    const asked = element("label", { class: "field", hidden: this.player !== "strength" }, element("span", {}, "Average score"), average);
    players.addEventListener("change", () => {
      this.player = players.value;
      asked.hidden = this.player !== "strength";
    });
    average.addEventListener("change", () => { this.average = Number(average.value); });
    const first = element(
      "select",
      { id: "first" },
      element("option", { value: ME, selected: this.first === ME }, "You"),
      element("option", { value: OTHER, selected: this.first === OTHER }, "The computer"),
    );
    first.addEventListener("change", () => { this.first = Number(first.value); });
    const hints = element("input", { type: "checkbox", id: "hints", checked: this.hints });
    hints.addEventListener("change", () => {
      this.hints = hints.checked;
      this.showHints();
    });
    const fresh = element("button", { type: "button", id: "new-game" }, "New game");
    fresh.addEventListener("click", () => this.begin());
    at("setup").replaceChildren(
      element("label", { class: "field" }, element("span", {}, "Computer"), players),
      asked,
      element("label", { class: "field" }, element("span", {}, "Who begins"), first),
      fresh,
      element("label", { class: "field row-field" }, hints, element("span", {}, "Show the best moves")),
    );
    at("setup").hidden = false;
  }

  chosen() {
    return this.player === "strength" ? `strength:${this.average}` : this.player;
  }

  // Until the new game is there, and where it cannot be had, the one before stays as it is.
  async begin() {
    this.generation += 1;
    const mine = this.generation;
    const opponent = this.chosen();
    at("controls").replaceChildren(); // What is pressed next is meant for the new game.
    const fields = { rules: this.rules.rules, seats: 2, first: this.first, players: ["you", opponent] };
    await this.step(mine, async () => {
      const game = await ask("game", fields);
      if (mine === this.generation) Object.assign(this, { opponent, log: [], given: 0 });
      return game;
    });
  }

  // ------------------------------------------------------------ steps

  // Does what changes the game, shows it, and lets the computer go on if it is its turn.
  async step(mine, change) {
    this.busy = true;
    try {
      const game = await change();
      if (mine !== this.generation) return;
      clearError();
      this.game = game;
      this.advice = null;
      this.held = new Set();
      this.busy = this.stuck = false;
      this.showGame();
      if (game.phase !== "over" && game.seat === OTHER) await this.computer(mine);
      else await this.advise(mine);
    } catch (error) {
      if (mine !== this.generation) return;
      this.busy = false;
      this.stuck = this.game?.seat === OTHER;
      this.showGame();
      showError(error);
    }
  }

  go(actions) {
    return ask("game", { record: this.game.record, actions });
  }

  async computer(mine) {
    await new Promise((done) => setTimeout(done, pace()));
    if (mine !== this.generation) return;
    if (this.game.phase === "roll") {
      await this.step(mine, () => this.go([{ roll: true }]));
      return;
    }
    const seed = this.game.record.seed % 2 ** 31;
    await this.step(mine, async () => {
      const move = await ask("move", { record: this.game.record, player: this.opponent, seed });
      if (move.action === "keep") {
        this.say(`Computer: rolled ${this.game.dice.join(" ")}, keeps ${move.dice.join(" ") || "nothing"}`);
        return this.go([{ keep: move.dice }, { roll: true }]);
      }
      const fill = this.game.legal.fills.find((choice) => choice.category === move.category);
      this.say(`Computer: rolled ${this.game.dice.join(" ")}. ${moveInWords({ action: "fill", ...fill }, this.rules)}`);
      return this.go([{ fill: move.category }]);
    });
  }

  // Goes on after an error, with the player chosen by now: the error may have been about the one before.
  resume() {
    if (!this.stuck) return;
    this.opponent = this.chosen();
    this.stuck = false;
    clearError();
    this.showControls();
    this.computer(this.generation);
  }

  // What my move gave away, once it is made; the advice was asked for when the dice lay there.
  judge(found) {
    const option = this.advice?.options.find(found);
    if (!option) return;
    this.given += option.loss;
    const words = moveInWords(option, this.rules);
    const best = this.advice.options[0];
    if (option.loss > 0.005) {
      this.say(`You: ${words}. ${moveInWords(best, this.rules)} was better by ${option.loss.toFixed(2)} points.`);
    } else this.say(`You: ${words}. No move is better.`);
  }

  reroll() {
    if (!this.mine) return; // A second click while the first is on its way.
    const kept = this.game.dice.filter((_, place) => this.held.has(place));
    const same = JSON.stringify(kept);
    this.judge((option) => option.action === "keep" && JSON.stringify(option.dice) === same);
    this.step(this.generation, () => this.go([{ keep: kept }, { roll: true }]));
  }

  fill(category) {
    if (!this.mine) return;
    this.judge((option) => option.action === "fill" && option.category === category);
    this.step(this.generation, () => this.go([{ fill: category }]));
  }

  roll() {
    if (!this.mine) return;
    this.step(this.generation, () => this.go([{ roll: true }]));
  }

  position() {
    const { game, rules } = this;
    return { rules: rules.rules, card: game.cards[ME].card, dice: game.dice, rerolls: game.rerolls };
  }

  async advise(mine) {
    if (this.game.phase !== "decide") return;
    const advice = await ask("advise", this.position());
    if (mine !== this.generation) return;
    this.advice = advice;
    this.showHints();
  }

  say(text) {
    this.log.unshift(text);
    this.log.length = Math.min(this.log.length, LOG);
  }

  // ------------------------------------------------------------ showing

  get mine() {
    return !this.busy && this.game.phase !== "over" && this.game.seat === ME;
  }

  showGame() {
    if (!this.game) return;
    this.showDice();
    this.showControls();
    this.showCards();
    this.showStatus();
    this.showHints();
    at("spread-panel").hidden = this.game.phase === "over";
    at("spread").replaceChildren();
    offerSpread(at("spread"), () => {
      const { card } = this.game.cards[ME];
      return this.mine && this.game.phase === "decide" ? this.position() : { rules: this.rules.rules, card };
    });
  }

  showDice() {
    const { game } = this;
    const deciding = this.mine && game.phase === "decide" && game.rerolls > 0;
    const faces = game.dice ?? Array.from({ length: this.rules.dice }, () => 0);
    const dice = faces.map((face, place) => {
      const held = this.held.has(place);
      const name = face ? `Die ${place + 1}: ${word(face)}` : `Die ${place + 1}: not rolled`;
      const die = element(
        "button",
        { type: "button", class: `die${held ? " kept" : ""}`, disabled: !deciding, "aria-pressed": String(held), "aria-label": `${name}, keep` },
        dieFace(face),
      );
      die.addEventListener("click", () => {
        if (this.held.has(place)) this.held.delete(place);
        else this.held.add(place);
        die.classList.toggle("kept", this.held.has(place));
        die.setAttribute("aria-pressed", String(this.held.has(place)));
        this.showControls();
      });
      return die;
    });
    at("dice").dataset.count = String(faces.length);
    at("dice").replaceChildren(...dice);
  }

  showControls() {
    const { game } = this;
    const rolling = game.phase === "roll";
    const left = this.rules.dice - this.held.size;
    const can = this.stuck || (this.mine && (rolling || (game.rerolls > 0 && left > 0)));
    const words = this.stuck ? "Let the computer go on" : rolling ? "Roll the dice" : `Reroll ${left === this.rules.dice ? "all" : counted(left, "die", "dice")}`;
    const button = element(
      "button",
      { type: "button", class: "main", id: "roll", disabled: !can },
      game.phase === "over" ? "The game is over" : words,
    );
    button.addEventListener("click", () => {
      if (this.stuck) this.resume();
      else if (rolling) this.roll();
      else this.reroll();
    });
    const focused = document.activeElement?.id === "roll";
    at("controls").replaceChildren(button);
    if (focused) button.focus();
  }

  showCards() {
    const { game } = this;
    const choices = new Map(game.legal.fills.map((choice) => [choice.category, choice]));
    const column = (title, seat) => ({
      title,
      card: game.cards[seat].card,
      turn: game.phase !== "over" && game.seat === seat,
      cell: (box) => {
        const held = game.cards[seat].card[box.key];
        if (held !== undefined) return String(held);
        return seat === ME && this.mine && choices.has(box.key) ? this.scoring(box, choices.get(box.key)) : "";
      },
      bonuses: () => String(game.cards[seat].card.bonuses ?? 0),
    });
    const best = this.hints ? this.advice?.options[0] : null;
    const columns = [column("You", ME), column("Computer", OTHER)];
    showCard(at("card"), this.rules, columns, best?.action === "fill" ? best.category : null);
  }

  scoring(box, choice) {
    const worth = choice.points + choice.bonus;
    const button = element(
      "button",
      { type: "button", class: "score", id: `score-${box.key}`, "aria-label": `Fill ${box.title} for ${worth}` },
      String(worth),
    );
    button.addEventListener("click", () => this.fill(box.key));
    return button;
  }

  showStatus() {
    const { game } = this;
    const status = at("status");
    const lines = element("ul", { class: "log", tabindex: 0, "aria-label": "What happened, the last first" });
    lines.append(...this.log.map((text) => element("li", {}, text)));
    let text = "Your turn: roll.";
    if (game.phase === "over") text = this.result();
    else if (game.seat === OTHER) text = "The computer’s turn.";
    else if (game.phase === "decide") {
      text = game.rerolls
        ? `Keep dice and reroll (${game.rerolls} left), or fill a box on the card.`
        : "Fill a box on the card.";
    }
    status.replaceChildren(element("strong", {}, text));
    status.parentElement.querySelector(".log")?.remove();
    if (this.log.length) status.after(lines);
  }

  result() {
    const [me, other] = this.game.cards.map((card) => card.total);
    const played = `You gave away ${this.given.toFixed(2)} points in all against perfect play.`;
    if (this.game.winners.length > 1) return `A draw at ${me}. ${played}`;
    return `${this.game.winners[0] === ME ? "You win" : "The computer wins"}, ${Math.max(me, other)} to ${Math.min(me, other)}. ${played}`;
  }

  showHints() {
    const wanted = this.hints && this.mine && this.game?.phase === "decide";
    at("moves-panel").hidden = !wanted;
    if (wanted && this.advice) {
      showMoves(at("moves"), this.rules, this.position(), this.advice, (option) => this.point(option));
    } else at("moves").replaceChildren();
    if (this.game) this.showCards();
  }

  point(option) {
    const kept = option?.action === "keep" ? option.dice : option ? this.game.dice : null;
    const places = kept && keptPlaces(this.game.dice, kept);
    [...at("dice").children].forEach((die, place) => {
      die.classList.toggle("kept", places ? places[place] : this.held.has(place));
    });
  }
}
