"""A small learner, to show the environments at work: python3 -m solver.environments.example --rules yacht.

It learns tables from many games at once, and knows nothing of the rules but what it sees:

    fills[b, d]     points that box b gets from roll d
    keeps[r, k, b]  points to expect in box b after keep k with r rerolls left, if b is all that counts
    worth[b]        points that box b gets in the end: what is given up where it is filled now

Each reroll teaches `keeps` for all boxes at once (all-goals Q-learning: L. P. Kaelbling, Learning to achieve
goals, IJCAI 1993). Each decision aims at the box for which the points to expect exceed its worth by the most.
After training the learner plays without exploring, and its mean is printed beside that of optimal play.
"""

from __future__ import annotations

import click
import numpy as np
from numpy.typing import NDArray

from ..errors import DicewiseError
from ..library import load
from ..rules import FACES
from ..turns import OPEN, keeps_inside
from .coding import Coding, Mask, Observation
from .many import ManyGames

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GAMES = 2048
_EXPLORED, _RATE, _WORTH_RATE = 0.1, 0.1, 0.01
_OFTEN = 5
"""Steps after which what follows from the tables is worked out again."""


class Learner:
    """The tables, and the actions that follow from them."""

    def __init__(self, coding: Coding) -> None:
        lattice, dice = coding.lattice, coding.scoring.dice
        self._boxes = coding.boxes
        self._fills = np.zeros((len(lattice.rolls), coding.boxes))
        self._fill_counts = np.zeros(self._fills.shape)
        self._keeps = np.zeros((coding.scoring.rolls, lattice.short, coding.boxes))
        self._worth = np.zeros(coding.boxes)
        self._inside, _ = keeps_inside(lattice)
        self._bases = (dice + 1) ** np.arange(FACES)
        self._roll_of = np.zeros((dice + 1) ** FACES, np.int64)
        self._roll_of[lattice.counts[lattice.short :] @ self._bases] = np.arange(len(lattice.rolls))
        self.decide()

    def decide(self) -> None:
        """Work out the points to expect and the action, by rerolls left, roll, and box aimed at."""
        boxes = np.broadcast_to(np.arange(self._boxes), self._fills.shape)
        points, actions = [self._fills], [boxes]
        for keeps in self._keeps[1:]:
            there = np.where((self._inside == OPEN)[..., None], -np.inf, keeps[self._inside])
            best = np.argmax(there, axis=1)
            gained = there.max(axis=1)
            keep = gained > self._fills
            points.append(np.where(keep, gained, self._fills))
            actions.append(
                np.where(keep, self._boxes + np.take_along_axis(self._inside, best, axis=1), boxes)
            )
        self._points, self._actions = np.stack(points), np.stack(actions)

    def actions(self, seen: Observation, mask: Mask) -> Ints:
        """Return the action of each game, shape (games,)."""
        rolls, left = self._read(seen)
        gains = self._points[left, rolls] - self._worth
        aims = np.argmax(np.where(mask[:, : self._boxes] > 0, gains, -np.inf), axis=1)
        actions: Ints = self._actions[left, rolls, aims]
        return actions

    def learn(self, before: Observation, actions: Ints, rewards: Floats, after: Observation) -> None:
        """Learn what fills gain and what keeps lead to."""
        rolls, left = self._read(before)
        fill = actions < self._boxes
        place = rolls[fill], actions[fill]
        np.add.at(self._fill_counts, place, 1)
        np.add.at(self._fills, place, (rewards[fill] - self._fills[place]) / self._fill_counts[place])
        place = left[~fill], actions[~fill] - self._boxes
        rolls_after, left_after = self._read(after[~fill])
        sums, counts = np.zeros(self._keeps.shape), np.zeros((*self._keeps.shape[:2], 1))
        np.add.at(sums, place, self._points[left_after, rolls_after])
        np.add.at(counts, place, 1)
        self._keeps += _RATE * (sums - counts * self._keeps) / np.maximum(1, counts)

    def value(self, boxes: Ints, rewards: Floats) -> None:
        """Learn what boxes get in the end, from those filled on purpose."""
        counts = np.bincount(boxes, minlength=self._boxes)
        sums = np.bincount(boxes, rewards, self._boxes)
        self._worth += _WORTH_RATE * (sums - counts * self._worth) / np.maximum(1, counts)

    def _read(self, seen: Observation) -> tuple[Ints, Ints]:
        """Return the number of the roll and the rerolls left of each game; see `coding`."""
        return self._roll_of[seen[:, :FACES].astype(np.int64) @ self._bases], seen[:, FACES].astype(np.int64)


def train(rules: str, steps: int, seed: int) -> Learner:
    """Return a learner after so many steps of many games."""
    games, random = ManyGames(_GAMES, rules), np.random.default_rng(seed)
    learner = Learner(games.coding)
    seen, info = games.reset(seed=seed)
    over = np.zeros(_GAMES, bool)
    for step in range(steps):
        mask = info["action_mask"]
        actions = learner.actions(seen, mask)
        explored = np.flatnonzero(random.random(_GAMES) < _EXPLORED)
        chances = random.random((len(explored), mask.shape[1]), np.float32)
        actions[explored] = np.argmax(mask[explored] * chances, axis=1)
        before, begun = seen, over
        seen, rewards, over, _, info = games.step(actions)
        # The step after a game's end only begins the next one.
        played = np.flatnonzero(~begun)
        learner.learn(before[played], actions[played], rewards[played], seen[played])
        meant = np.setdiff1d(played[actions[played] < games.coding.boxes], explored)
        learner.value(actions[meant], rewards[meant])
        if step % _OFTEN == 0:
            learner.decide()
    return learner


def play(learner: Learner, rules: str, games: int, seed: int) -> Floats:
    """Return the final scores of games played by the learner, shape (games,)."""
    many = ManyGames(games, rules)
    seen, info = many.reset(seed=seed)
    scores, over = np.zeros(games), np.zeros(games, bool)
    while not over.all():
        seen, rewards, ends, _, info = many.step(learner.actions(seen, info["action_mask"]))
        scores += np.where(over, 0, rewards)
        over |= ends
    return scores


@click.command()
@click.option("--rules", default="yahtzee", show_default=True, help="A game's name or a rules file.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help=f"Steps, of {_GAMES} games each, to learn from.",
)
@click.option(
    "--games", type=click.IntRange(2), default=10_000, show_default=True, help="Games to play afterwards."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(rules: str, steps: int, games: int, seed: int) -> None:
    """Train a small learner and print its mean score beside that of optimal play."""
    try:
        scores = play(train(rules, steps, seed), rules, games, seed + 1)
        optimal = load(rules).expected_score
    except DicewiseError as error:
        raise click.UsageError(str(error)) from None
    click.echo(f"Learned from    {steps * _GAMES:,} actions")
    click.echo(f"Mean score      {scores.mean():.1f} in {games:,} games")
    click.echo(f"Optimal play    {optimal:.1f}")


if __name__ == "__main__":
    main()
