"""Learning environments for every game: one player, many games at once, several seats.

    Solitaire   `gymnasium.Env`, one game
    ManyGames   `gymnasium.vector.VectorEnv`, many games in compiled code
    Seats       `pettingzoo.AECEnv`, several players

Importing this package registers "dicewise/Solitaire-v0" with Gymnasium:

>>> import gymnasium
>>> import solver.environments
>>> one = gymnasium.make("dicewise/Solitaire-v0", rules="yatzy")
>>> many = gymnasium.make_vec("dicewise/Solitaire-v0", num_envs=1000, rules="yatzy")

`gymnasium.make("solver.environments:dicewise/Solitaire-v0")` imports it first. What the numbers of actions
and observations mean is in `coding`. Needs the extra `rl`.

Raises
------
MissingExtra
    If Gymnasium or PettingZoo is not installed.
"""

from __future__ import annotations

from ..errors import MissingExtra

try:
    import gymnasium
    import pettingzoo  # noqa: F401
except ImportError as error:
    advice = 'python3 -m pip install "dicewise[rl]"'
    raise MissingExtra(f"environments need {error.name}, which is not installed: {advice}") from None

from .coding import Coding
from .many import ManyGames
from .seats import Seats
from .solitaire import Solitaire

ID = "dicewise/Solitaire-v0"
"""The name under which Gymnasium makes a `Solitaire`, or `ManyGames`."""

__all__ = ["ID", "Coding", "ManyGames", "Seats", "Solitaire"]

gymnasium.register(
    ID,
    entry_point="solver.environments.solitaire:Solitaire",
    vector_entry_point="solver.environments.many:ManyGames",
)
