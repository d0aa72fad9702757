"""The file of chances: what is kept is what was worked out, and every fault of a file is refused by name."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from games import random_position, solved

import solver
from solver import chances_file, folders
from solver.chances import Chances
from solver.chances_file import STEPS, kept_path, opened_chances
from solver.errors import (
    DamagedTable,
    ForeignTable,
    MangledTable,
    TableError,
    TableNotFound,
    TruncatedTable,
    VersionTable,
    WrongRulesTable,
)

FRONT = 14
AGAIN = "; copy it again, or make it again: dicewise reach NAME --keep"
MAGIC = r"b'\x89DWC\r\n\x1a\n'"
TINY = solver.solve(Path(__file__).parent / "tiny" / "forced.toml")
STATE_COUNT = int(TINY.states.lanes.sum())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "sound.dwc"
    solver.keep_chances(TINY, path)
    return path.read_bytes()


def everything(chances: Chances) -> np.ndarray:
    """All chances of all windows."""
    positions = np.repeat(np.arange(len(chances.length)), chances.length)
    first = np.cumsum(chances.length) - chances.length
    offsets = np.arange(len(positions)) - np.repeat(first, chances.length)
    return chances.store.take(positions, offsets)


def parts(contents: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a file, and what follows it."""
    (length,) = struct.unpack_from("<I", contents, 10)
    return json.loads(contents[FRONT : FRONT + length]), contents[FRONT + length + 4 :]


def signed(header: bytes | dict[str, Any], rest: bytes) -> bytes:
    """A file whose checksum of the header is right, whatever the header says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    front = struct.pack("<8sHI", chances_file.KIND.magic, 1, len(text)) + text
    return front + struct.pack("<I", zlib.crc32(front)) + rest


def index_of(header: dict[str, Any]) -> int:
    """The length of the index."""
    return 8 * int(header["states"]) + 4 * int(header["sets"])


def with_index(contents: bytes, change: Callable[[np.ndarray], None]) -> bytes:
    """A file with another index, whose checksums are right."""
    header, rest = parts(contents)
    index = np.frombuffer(rest[: index_of(header)], "<i4").copy()
    change(index)
    return signed({**header, "crc32": zlib.crc32(index.tobytes())}, index.tobytes() + rest[index.nbytes :])


def flipped(contents: bytes, place: int, bit: int = 0) -> bytes:
    return contents[:place] + bytes([contents[place] ^ 1 << bit]) + contents[place + 1 :]


# ---------------------------------------------------------------- what is kept


@pytest.mark.parametrize("name", ["forced", "tiers", "card"])
def test_what_is_kept_is_what_was_worked_out(name: str, tmp_path: Path) -> None:
    table = solver.solve(Path(__file__).parent / "tiny" / f"{name}.toml")
    worked = solver.reach(table)
    made = solver.keep_chances(table, tmp_path / "kept.dwc", threads=1)
    kept = opened_chances(tmp_path / "kept.dwc", table)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.dwc"]
    assert kept.path == made.path == tmp_path / "kept.dwc"
    assert kept.within == pytest.approx(worked.within + 0.5 / STEPS, rel=1e-9)
    assert kept.cut == worked.cut
    states = np.setdiff1d(np.arange(table.states.size), table.states.padding)
    for need in range(-1, int((worked.low + worked.length).max()) + 2):
        needs = np.full(len(states), need)
        wanted = np.rint(np.minimum(worked.at(states, needs), 1) * STEPS) / STEPS
        assert np.array_equal(kept.at(states, needs), wanted)
        assert np.array_equal(made.at(states, needs), wanted)
    assert np.all(everything(kept) > 0)
    assert np.all(everything(kept) < 1)
    curve = kept.curve()
    assert curve.chances[0] == 1
    assert np.all(np.diff(curve.chances) <= 0)


def read_by_hand(contents: bytes) -> dict[tuple[int, int, int], tuple[int, list[float]]]:
    """What `tables/README.md` says is in a file: `low` and chances of each (boxes, least subtotal, flag)."""
    header, rest = parts(contents)
    boxes, upper = len(header["boxes"]), header["upper"]
    states, sizes = [], {}
    for filled in sorted(range(1 << boxes), key=lambda filled: (filled.bit_count(), filled)):
        in_order = header["order"] != "card" or filled & (filled + 1) == 0
        subtotals = header["subtotals"][sum((filled >> box & 1) << j for j, box in enumerate(upper))]
        armed = header["arming"] is not None and filled >> header["arming"] & 1
        if in_order:
            states += [(filled, least, flag) for flag in range(1 + armed) for least in subtotals]
            sizes[filled] = (1 + armed) * len(subtotals)
    assert (len(states), len(sizes)) == (header["states"], header["sets"])
    numbers = struct.unpack_from(f"<{2 * len(states)}i{len(sizes)}I", rest)
    low, length, sums = (
        numbers[: len(states)],
        numbers[len(states) : 2 * len(states)],
        numbers[2 * len(states) :],
    )
    at, found = index_of(header), {}
    for place in sorted(range(len(states)), key=lambda place: (-states[place][0].bit_count(), place)):
        row = struct.unpack_from(f"<{length[place]}H", rest, at)
        found[states[place]] = low[place], [number / header["steps"] for number in row]
        at += 2 * length[place]
    assert at == len(rest)
    assert len(sums) == len(sizes)
    return found


@pytest.mark.parametrize("name", ["forced", "tiers", "card"])
def test_the_format_is_as_described(name: str, tmp_path: Path) -> None:
    table = solver.solve(Path(__file__).parent / "tiny" / f"{name}.toml")
    chances = solver.keep_chances(table, tmp_path / "kept.dwc")
    for state, (low, row) in read_by_hand((tmp_path / "kept.dwc").read_bytes()).items():
        position = np.array(table.states.position(*state))
        needs = low + np.arange(-1, len(row) + 1)
        assert chances.at(position, needs).tolist() == [1.0, *row, 0.0]


def test_the_same_chances_are_the_same_bytes(sound: bytes, tmp_path: Path) -> None:
    solver.keep_chances(TINY, tmp_path / "again.dwc", threads=2)
    assert (tmp_path / "again.dwc").read_bytes() == sound


def test_every_card_of_a_whole_game(tmp_path: Path) -> None:
    table, random = solved("yacht"), Random(1)
    kept = solver.keep_chances(table, tmp_path / "yacht.dwc")
    exact = solver.reach(table, cut=0)
    assert kept.within <= 1e-4
    assert (tmp_path / "yacht.dwc").stat().st_size < 1_200_000
    for _ in range(30):
        card = random_position(table, random).card
        for score in range(0, 300, 7):
            apart = abs(kept.chance(card, score) - exact.chance(card, score))
            assert apart <= kept.within + 1e-12


def test_the_file_of_a_game_is_found_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path / "cache")
    assert chances_file.kept_chances(TINY) is None
    made = solver.keep_chances(TINY)
    assert made.path == kept_path(TINY.states)
    assert list((tmp_path / "cache").iterdir()) == [made.path]
    found = chances_file.kept_chances(TINY)
    assert found is not None
    assert np.array_equal(everything(found), everything(made))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "kept.dwc"
    path.write_bytes(b"before")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver.keep_chances(TINY, path, progress=stop)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("kept.dwc", b"before")]
    with pytest.raises(TableError, match="cannot be written: there is no folder"):
        solver.keep_chances(TINY, tmp_path / "missing" / "kept.dwc")


# ---------------------------------------------------------------- what is refused


def refusal(contents: bytes, path: Path) -> TableError:
    path.write_bytes(contents)
    with pytest.raises(TableError) as caught:
        everything(opened_chances(path, TINY))
    message = str(caught.value)
    assert message.startswith(f"{str(path)!r} ")
    assert "\n" not in message
    return caught.value


def test_faults_by_name(sound: bytes, tmp_path: Path) -> None:
    header, rest = parts(sound)
    size, begin = len(sound), len(sound) - len(rest) + index_of(header)
    says = f"is damaged: its header does not say what a file of chances says{AGAIN}"
    text = f"was changed by a text-mode transfer: it starts with %s instead of {MAGIC}"
    text += "; copy it again in binary mode"
    index = f"is damaged: its index does not say where its chances are{AGAIN}"
    without = {key: value for key, value in header.items() if key != "within"}

    def longer(index: np.ndarray) -> None:
        index[header["states"]] += 1

    def negative(index: np.ndarray) -> None:
        first = header["states"]
        index[first : first + 2] = -1, index[first] + index[first + 1] + 1

    faults: list[tuple[bytes, type[TableError], str]] = [
        (b"", TruncatedTable, f"ends within its header, after 0 bytes{AGAIN}"),
        (sound[:200], TruncatedTable, f"ends within its header, after 200 bytes{AGAIN}"),
        (sound[: begin - 2], TruncatedTable, f"ends after {begin - 2} of {size} bytes{AGAIN}"),
        (sound[:-1], TruncatedTable, f"ends after {size - 1} of {size} bytes{AGAIN}"),
        (sound + b"..", DamagedTable, f"is damaged: it goes on after its {size} bytes, to {size + 2}{AGAIN}"),
        (
            b"\x89DWT\r\n\x1a\n" + sound[8:],
            ForeignTable,
            rf"is not a dicewise file of chances: it starts with b'\x89DWT\r\n\x1a\n', expected {MAGIC}",
        ),
        (sound.replace(b"\r\n", b"\n"), MangledTable, text % r"b'\x89DWC\n\x1a\n\x01'"),
        (
            sound[:8] + b"\x02" + sound[9:],
            VersionTable,
            "is of chances format 2, and this program reads format 1: update dicewise, or make it again: "
            "dicewise reach NAME --keep",
        ),
        (
            sound[:8] + b"\x00" + sound[9:],
            VersionTable,
            "is of chances format 0, and this program reads format 1 only: make it again: "
            "dicewise reach NAME --keep",
        ),
        (flipped(sound, 40), DamagedTable, f"is damaged: its header does not match its checksum{AGAIN}"),
        (
            flipped(sound, begin - 1),
            DamagedTable,
            f"is damaged: its index does not match its checksum{AGAIN}",
        ),
        (signed(b"chances: 5", rest), DamagedTable, says),
        (signed(b"[" * 5000, rest), DamagedTable, says),
        (signed(without, rest), DamagedTable, says),
        (signed({**header, "within": 0.0}, rest), DamagedTable, says),
        (signed({**header, "cut": "0"}, rest), DamagedTable, says),
        (signed({**header, "chances": -1}, rest), DamagedTable, says),
        (with_index(sound, longer), DamagedTable, index),
        (with_index(sound, negative), DamagedTable, index),
        (
            signed({**header, "states": 3}, rest),
            DamagedTable,
            f"is damaged: it does not hold the chances of {STATE_COUNT} states{AGAIN}",
        ),
    ]
    for number, (contents, kind, message) in enumerate(faults):
        path = tmp_path / f"{number}.dwc"
        caught = refusal(contents, path)
        assert str(caught) == f"{str(path)!r} {message}"
        assert type(caught) is kind


def test_a_file_of_other_rules(sound: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.dwc").write_bytes(sound)
    digest, other = TINY.states.scoring.digest[:12], solved("yacht").states.scoring.digest[:12]
    with pytest.raises(WrongRulesTable) as caught:
        opened_chances(tmp_path / "other.dwc", solved("yacht"))
    assert str(caught.value) == (
        f"{str(tmp_path / 'other.dwc')!r} is a file of chances of 'forced.toml' (rules {digest}), "
        f"expected one of 'yacht' (rules {other}); make it again: dicewise reach NAME --keep"
    )
    with pytest.raises(TableNotFound, match="there is no such file"):
        opened_chances(tmp_path / "none.dwc", TINY)


def test_chances_are_checked_when_they_are_first_read(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "kept.dwc"
    path.write_bytes(flipped(sound, len(sound) - 2))
    # The last chances are those of the empty card.
    kept = opened_chances(path, TINY)
    card = random_position(TINY, Random(2), most_open=2).card
    assert 0 < kept.curve(card).chances[-1] <= 1
    for _ in range(2):
        with pytest.raises(DamagedTable) as caught:
            kept.curve()
        message = f"is damaged: the chances with boxes 0 filled do not match their checksum{AGAIN}"
        assert str(caught.value) == f"{str(path)!r} {message}"


def test_every_cut_is_a_truncated_file(sound: bytes, tmp_path: Path) -> None:
    for length in [*range(60), *range(60, len(sound), 97)]:
        assert type(refusal(sound[:length], tmp_path / "cut.dwc")) is TruncatedTable, length


def test_every_flipped_bit_is_noticed(sound: bytes, tmp_path: Path) -> None:
    random = Random(3)
    for place in [*range(60), *range(len(sound) - 60, len(sound)), *random.sample(range(len(sound)), 300)]:
        refusal(flipped(sound, place, random.randrange(8)), tmp_path / "flipped.dwc")


# ---------------------------------------------------------------- playing for a score with a file at hand


@pytest.fixture
def at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path / "cache")
    return solver.keep_chances(solved("yacht")).path or tmp_path


def test_advice_from_the_file_is_that_without_it(at_hand: Path) -> None:
    table, random = solved("yacht"), Random(4)
    for target in (100, 170, 220):
        looked_up = solver.pursue(table, solver.Reach(target))
        exact = solver.pursue(table, solver.Reach(target), exact=True)
        assert exact.kept is None
        assert looked_up.kept is not None
        assert looked_up.kept.path == at_hand
        within = looked_up.kept.within
        assert looked_up.value() == pytest.approx(exact.value(), rel=0, abs=within)
        for _ in range(10):
            position = random_position(table, random)
            wanted = {o.category or o.dice: o for o in exact.advise_position(position).options}
            advice = looked_up.advise_position(position)
            best = max(option.value for option in wanted.values())
            assert len(advice.options) == len(wanted)
            assert wanted[advice.best.category or advice.best.dice].value >= best - 2 * within - 1e-12
            for option in advice.options:
                other = wanted[option.category or option.dice]
                assert option.value == pytest.approx(other.value, rel=0, abs=within + 1e-12)
                assert option.expected == other.expected


def test_next_to_certain_and_impossible_it_is_solved(at_hand: Path) -> None:
    table = solved("yacht")
    for target in (10, 290, 400):
        pursuit = solver.pursue(table, solver.Reach(target))
        assert pursuit.kept is None
        assert pursuit.value() == solver.pursue(table, solver.Reach(target), exact=True).value()
    assert 0 < solver.pursue(table, solver.Reach(290)).value() < 1e-6


def test_a_damaged_file_at_hand_is_refused(at_hand: Path) -> None:
    at_hand.write_bytes(at_hand.read_bytes()[:-1])
    with pytest.raises(TruncatedTable):
        solver.pursue(solved("yacht"), solver.Reach(150))
    assert 0 < solver.pursue(solved("yacht"), solver.Reach(150), exact=True).value() < 1
    assert solver.pursue(solved("yacht"), solver.Floor()).value() > 0
