"""The requests: what each takes and gives, for the check of what comes in and for the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..rules import names
from .fields import Field, Shape

Schema = Mapping[str, Any]


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _whole(description: str, least: int | None = None) -> dict[str, Any]:
    found = {"type": "integer", "description": description}
    return found | ({} if least is None else {"minimum": least})


def _number(description: str) -> dict[str, Any]:
    return {"type": "number", "description": description}


def _list(description: str, of: Schema) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": dict(of)}


def _object(description: str = "", **properties: Schema) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": {key: dict(p) for key, p in properties.items()}}
    return found | ({"description": description} if description else {})


def _or_null(schema: Schema) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


_FACES = _list("faces 1 to 6", {"type": "integer", "minimum": 1, "maximum": 6})
_POINTS_BY_KEY = {"type": "object", "additionalProperties": {"type": "integer"}}

_RULES = Field(
    "rules",
    {
        "type": ["string", "object"],
        "description": "The name of a game, such as yatzy, which may end in changes, as in "
        f"yatzy[rolls=4]; or a table as a rules file holds it, in JSON. {names()[0]} unless given.",
    },
)
_CARD_SCHEMA = {
    "type": ["string", "object"],
    "description": "The boxes filled so far: ones=3 sixes=24, or an object with their points by key; "
    "bonuses counts those for further Yahtzees. An empty card unless given.",
}
_CARD = Field("card", _CARD_SCHEMA)
_DICE_SCHEMA = {"type": ["string", "array"], "description": "The dice on the table: 1 3 3 4 6, or a list."}
_REROLLS_SCHEMA = _whole("Rerolls left this turn; as after the first roll unless given.", 0)
_RECORD = Field("record", {"type": "object", "description": "The record of a game, as `game` gives it."})
_GOAL = Field(
    "goal",
    {
        "type": "object",
        "description": "What is wanted instead of the highest expected score; one of: "
        '{"reach": score}; {"win": [opponents]}, each a card or {"card", "dice", "rerolls"}; '
        '{"risk": theta}; {"floor": true}; {"ceiling": true}; {"utility": [values of the scores from 0 on]} '
        'or {"utility": {"scores": [...], "values": [...]}}, linear between.',
    },
)

_OPTION = _object(
    action={"type": "string", "enum": ["keep", "fill"]},
    dice=_FACES,
    category=_text("The box that is filled."),
    points=_whole("Points that go into it."),
    bonus=_whole("Points of a bonus for a further Yahtzee, on top."),
    value=_number("Expected final score after the action, or the goal's value."),
    loss=_number("The best value minus this one."),
    expected=_number("Expected final score, where a goal is given."),
)
_EXPLANATION = _object(
    "How the turn ends after an option.",
    option=_OPTION,
    turn_points=_number("Expected points of this turn."),
    after=_number("Expected points after it."),
    boxes=_list("The boxes that may be filled, the most probable first.", {"type": "object"}),
    patterns={"type": "object", "description": "The chance that the last roll shows each pattern."},
)
_CARD_STATE = _object(
    card=_POINTS_BY_KEY, upper_subtotal=_whole(""), upper_bonus=_whole(""), total=_whole("")
)

RULES = Shape(
    "rules",
    "The games, or one game in full",
    "Without fields, the list of games. With `rules`, one game: its facts, its card in words with the points "
    "that each box can hold, and its bonuses.",
    (_RULES,),
    _object(
        games=_list("The games; only without `rules`.", {"type": "object"}),
        rules=_text("The name of the rules."),
        title=_text(""),
        dice=_whole(""),
        rolls=_whole(""),
        expected_score=_or_null(_number("Of optimal play; null where it has not been worked out.")),
        facts=_list("", {"type": "object"}),
        card=_list("One entry a box, in the order of the card.", {"type": "object"}),
        order=_text("Which boxes may be filled: free, upper-first or card."),
        upper_bonus=_list("", {"type": "object"}),
        yahtzee=_or_null({"type": "object"}),
    ),
    {"rules": names()[0]},
    plain=True,
)
ADVISE = Shape(
    "advise",
    "Every legal move with its value and its loss",
    "The best move first. Values are expected final scores, in points, those on the card included; with a "
    "goal they are what the goal is about, and the expected score stands beside.",
    (
        Field("position", _text("All of it in one text: rules | card | dice | rerolls.")),
        _RULES,
        _CARD,
        Field("dice", _DICE_SCHEMA),
        Field("rerolls", _REROLLS_SCHEMA),
        _GOAL,
        Field("top", _whole("How many moves to give; all unless given.", 1)),
        Field(
            "explain",
            {
                "type": ["integer", "array"],
                "description": "Say how the turn ends after this many of the best moves, or after those at "
                "the places listed, from 1 on.",
            },
        ),
    ),
    _object(
        rules=_text(""),
        dice=_FACES,
        rerolls=_whole(""),
        card=_POINTS_BY_KEY,
        value=_number("That of the best move."),
        best=_OPTION,
        options=_list("", _OPTION),
        unit=_text("What values are where a goal is given: probability, points or utility."),
        boxes_total=_whole("Points on the card, where explanations are given."),
        explanations=_list("", _EXPLANATION),
    ),
    {"rules": names()[0], "card": "ones=3 sixes=18", "dice": "1 3 3 4 6", "rerolls": 2, "top": 3},
)
MOVE = Shape(
    "move",
    "What a player does",
    "A player of the kind and strength given decides, seeing all cards. The position is given by cards, "
    "turn, dice and rerolls, or by the record of a game.",
    (
        Field("player", _text("Who decides, such as optimal or strength:200."), required=True),
        _RECORD,
        _RULES,
        Field(
            "cards", {"type": "array", "description": "The card of each seat; one empty card unless given."}
        ),
        Field("turn", _whole("The seat whose turn it is, from 0; 0 unless given.", 0)),
        Field("dice", _DICE_SCHEMA),
        Field("rerolls", _REROLLS_SCHEMA),
        Field(
            "seed", _whole("Where the random numbers of a player start that draws any; 0 unless given.", 0)
        ),
    ),
    _object(
        player=_text("Who decided."),
        seat=_whole("Whose turn it is."),
        action={"type": "string", "enum": ["keep", "fill"]},
        dice=_FACES,
        category=_text("The box to fill."),
        note=_text("What the player says about it."),
    ),
    {"player": "optimal", "cards": ["ones=3", "-"], "turn": 1, "dice": "2 2 5 6 6"},
)
STATS = Shape(
    "stats",
    "How final scores spread from here, exactly",
    "Under optimal play for the expected score, from a card, and from dice where they are given: `scores` "
    "and `probabilities`, and what they say in numbers. Where these are too many to hold, it is mean, "
    "deviation and the chance of an upper bonus alone, as exactly.",
    (_RULES, _CARD, Field("dice", _DICE_SCHEMA), Field("rerolls", _REROLLS_SCHEMA)),
    _object(
        mean=_number(""),
        standard_deviation=_number(""),
        upper_bonus=_number("The chance of an upper bonus."),
        distribution_bytes=_whole("What the scores would take to hold, where that is too much."),
        quantiles={"type": "object", "description": "By share: the least score with at least that chance."},
        boxes=_list("", {"type": "object"}),
        histogram=_list("", {"type": "object"}),
        scores=_list("Every final score, rising without gaps.", {"type": "integer"}),
        probabilities=_list("The probability of each.", {"type": "number"}),
    ),
    {"card": "ones=3 twos=6 threes=9 fours=12 fives=15 sixes=18"},
)
GAME = Shape(
    "game",
    "A game: begin one, or go on from its record",
    "Nothing is kept here: the record holds all of the game. Without a record a game begins. The actions are "
    "done one after the other; the answer is the new record, how things stand, and what is legal next.",
    (
        _RECORD,
        _RULES,
        Field("seats", _whole("How many play; 2 unless given.", 1)),
        Field(
            "first", {"type": ["integer", "string"], "description": "The seat that begins, or highest roll."}
        ),
        Field("seed", _whole("Where the dice start; any unless given.", 0)),
        Field("players", {"type": "array", "description": "Who sits where, a text a seat."}),
        Field(
            "actions",
            {
                "type": "array",
                "description": 'Each one of: {"roll": true}; {"roll": dice}, as they fell at a table; '
                '{"keep": dice}; {"fill": box}; {"undo": true}.',
            },
        ),
    ),
    _object(
        record={"type": "object", "description": "The game; pass it on with the next request."},
        phase={"type": "string", "enum": ["start", "roll", "decide", "over"]},
        seat=_whole("Whose turn it is."),
        dice=_or_null(_FACES),
        kept=_or_null(_FACES),
        rerolls=_whole(""),
        cards=_list("", _CARD_STATE),
        winners=_list("The seats that have won.", {"type": "integer"}),
        legal=_object(
            roll={"type": "boolean"},
            undo={"type": "boolean"},
            keeps=_list("Dice that may be kept.", _FACES),
            fills=_list("Boxes that may be filled, with their points.", {"type": "object"}),
        ),
    ),
    {"rules": names()[0], "seats": 1, "seed": 7, "actions": [{"roll": True}]},
)
HEALTH = Shape(
    "health",
    "Whether the service runs",
    "Its version, its requests, and its limits.",
    (),
    _object(
        status=_text("ok"),
        version=_text(""),
        requests=_list("", {"type": "string"}),
        limits={"type": "object"},
    ),
    plain=True,
)

SHAPES = {shape.name: shape for shape in (RULES, ADVISE, MOVE, STATS, GAME, HEALTH)}
ERROR = _object(
    error=_object(
        kind=_text("The class of the error: CardError, DiceError, RequestError, WorkError, ..."),
        message=_text("One line that quotes what was given and says what was expected."),
    )
)
