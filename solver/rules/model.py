"""What a game's rules are: plain, immutable data, with no file and no array in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import RulesError

if TYPE_CHECKING:
    from ..scorecard import Scorecard

FACES = 6

Order = Literal["free", "upper-first", "card"]
Joker = Literal["none", "free", "forced"]
Section = Literal["upper", "lower"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a roll must show to score in a category; every part that is given must hold.

    At most one of `face`, `alike`, `groups`, `run` and `faces` is given; where none is, all dice match.

    Attributes
    ----------
    face
        At least one die of this face; all dice of the face are matched. A roll without it scores 0.
    alike
        This many dice of one face (or more); exactly this many are matched, of the highest such face.
    groups, same_face
        Several groups of equal dice, such as (3, 2). The groups are of different faces, or may
        share a face where `same_face` is true (five alike then hold a three and a two).
        The dice matched are those of the assignment with the greatest sum.
    run
        This many faces in sequence, anywhere; matched are the dice of the highest such run.
    faces
        One of these sets of dice is contained in the roll; matched are the dice of the set with the
        greatest sum that is contained.
    total
        The sum of all dice is exactly this.
    colour
        "all": all dice have one colour. "matched": the matched dice have one colour, among the ways to
        match them.
    """

    face: int | None = None
    alike: int | None = None
    groups: tuple[int, ...] | None = None
    same_face: bool = False
    run: int | None = None
    faces: tuple[tuple[int, ...], ...] | None = None
    total: int | None = None
    colour: Literal["all", "matched"] | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """What a roll that shows the pattern scores: times x base + plus, in points.

    The base is 0 ("fixed": `plus` alone counts), the sum of all dice ("sum") or the sum of the
    matched dice ("matched").
    """

    of: Literal["fixed", "sum", "matched"]
    times: int = 1
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Category:
    """A scoring rule: one box of the card."""

    key: str
    title: str
    section: Section
    pattern: Pattern
    points: Points
    joker: int | None = None
    """Points that a joker scores here; None: what the roll scores by the category's own rule."""
    served: int = 0
    """Points more for a roll that shows the pattern on the first roll of a turn; not for joker points."""
    requires: str | None = None
    """Key of another category: a roll scores 0 here, as a joker too, unless that one holds points."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Upper bonus: `points` (in all, not on top of lower tiers) from an upper subtotal of `at` on."""

    at: int
    points: int


@dataclass(frozen=True, slots=True)
class YahtzeeRule:
    """What a further roll of all dice alike brings once the box `category` is filled."""

    category: str
    bonus: int
    """Points for each such roll while the box holds points."""
    joker: Joker


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The rules of one game.

    Attributes
    ----------
    name
        The name of a shipped game, or the path of the file it was read from.
    title, summary
        For people: "Yahtzee", "official rules, forced joker".
    dice, rolls
        Number of dice (1 to 6) and rolls a turn (1 or more), the first one included.
    categories
        In card order.
    order
        Which open boxes may be filled: any ("free"), no lower box while an upper one is open
        ("upper-first"), or only the first open one ("card").
    upper_bonus
        Tiers by rising `at`; empty where there is none.
    yahtzee
        The rule for further rolls of all dice alike, or None.
    colours
        Groups of faces of one colour; empty where the dice have none.
    save_rolls
        Whether rolls that a turn does not use are kept for later turns; the first roll must be made.
    source
        The file the rules were read from, where that is not one of the shipped games.
    """

    name: str
    title: str
    summary: str
    dice: int
    rolls: int
    categories: tuple[Category, ...]
    order: Order = "free"
    upper_bonus: tuple[Tier, ...] = ()
    yahtzee: YahtzeeRule | None = None
    colours: tuple[tuple[int, ...], ...] = ()
    source: Path | None = None
    save_rolls: bool = False

    def __hash__(self) -> int:
        # Much is remembered by ruleset; to hash all categories took longer than many an answer.
        return hash((self.name, self.dice, self.rolls, self.upper_bonus))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the categories, in card order."""
        return tuple(category.key for category in self.categories)

    @property
    def saves(self) -> bool:
        """Whether there can be rolls to save: of one roll a turn none is left over."""
        return self.save_rolls and self.rolls > 1

    def refuse_saved_rolls(self, what: str) -> None:
        """Refuse these rules for what is not offered where rolls are saved; `what` names it in the plural.

        Raises
        ------
        RulesError
            If the rules save rolls.
        """
        if self.saves:
            raise RulesError(
                f"{self.name}: found rules with saved rolls, for which {what} are not offered; "
                "expected rules without save_rolls"
            )

    def card(self, text: str = "") -> Scorecard:
        """Return the card with these points, such as "ones=3 yahtzee=50"; the empty card unless given.

        Raises
        ------
        CardError
            If the card cannot arise under these rules.
        """
        from ..scorecard import Scorecard  # The one call upwards, for `ruleset.card(...)` to read well.

        return Scorecard.parse(self, text)
