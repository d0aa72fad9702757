"""Level files of games with saved rolls: written, gone on from, and every fault named."""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import TINY

import solver
from solver import errors, folders, library, pieces, saving_files, saving_pieces
from solver.saving import solved_levels
from solver.saving_files import KIND, STEPS, LevelFile, level_path, read_exact, read_header, write_exact
from solver.saving_table import SavingTable, opened_files, save_files, solved_in_files, solved_in_memory
from solver.scoring import scoring
from solver.states import states

NAME = f"{TINY / 'forced.toml'}[rolls=3,save_rolls=true]"
OTHER = f"{TINY / 'tiers.toml'}[rolls=2,save_rolls=true]"
RULES = solver.ruleset(NAME)
GAME = states(scoring(RULES))
LEVELS = [f"level-{level:02d}.dwl" for level in range(GAME.scoring.boxes)]


@cache
def exact() -> SavingTable:
    return solved_in_memory(RULES)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_hold_every_value_to_the_nearest_step(tmp_path: Path) -> None:
    table = solved_in_files(RULES, tmp_path)
    assert sorted(contents(tmp_path)) == LEVELS
    assert table.expected_score == exact().expected_score == read_header(tmp_path / LEVELS[0]).root
    assert table.precision == 0.5 / STEPS
    for level, (kept, solved) in enumerate(zip(table.levels, exact().levels, strict=True)):
        found, values = kept.all().values, solved.all().values
        assert found.shape == values.shape
        assert np.max(np.abs(found - values)) <= 0.5 / STEPS + 1e-12
        for filled in GAME.filled[GAME.level_sets[level] : GAME.level_sets[level + 1]].tolist():
            assert np.array_equal(kept.block(filled).round(6), solved.block(filled).round(6))
    card = "pair=10 saved=2"
    assert table.value(card) == pytest.approx(exact().value(card), abs=1e-6)
    assert table.advise(card, "5 6").best.category == exact().advise(card, "5 6").best.category


def test_files_are_the_same_for_any_number_of_threads_and_from_memory(tmp_path: Path) -> None:
    one, three, saved, copied = (tmp_path / name for name in ("one", "three", "saved", "copied"))
    solved_in_files(RULES, one, threads=1)
    table = solved_in_files(RULES, three, threads=3)
    library.save(exact(), saved)
    save_files(table, copied)
    assert contents(one) == contents(three) == contents(saved) == contents(copied)


@pytest.mark.parametrize("left_off", [3, 2, 1])
def test_what_was_stopped_goes_on_from_the_last_finished_level(tmp_path: Path, left_off: int) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    solved_in_files(RULES, whole)

    class Stop(Exception):
        pass

    seen: list[tuple[int, int]] = []

    def stopping(done: int, total: int) -> None:
        seen.append((done, total))
        if level_path(part, left_off, exact=True).exists():
            raise Stop

    with pytest.raises(Stop):
        solved_in_files(RULES, part, progress=stopping)
    assert sorted(contents(part)) == sorted([f"exact-{left_off:02d}.dwl", *LEVELS[left_off:]])
    before = contents(part)
    table = solved_in_files(RULES, part)
    assert table.resumed == left_off
    assert contents(part) == contents(whole)
    assert all(contents(part)[name] == before[name] for name in LEVELS[left_off:])
    assert seen == sorted(seen) and all(done <= total for done, total in seen)
    assert solved_in_files(RULES, part).resumed is None


@pytest.mark.parametrize("wrong", ["exact-02.dwl", "level-03.dwl"])
def test_unsound_files_of_an_unfinished_game_are_made_again(tmp_path: Path, wrong: str) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    solved_in_files(RULES, whole)
    levels = {level.number: level for level in solved_levels(GAME)}
    solved_in_files(RULES, part)
    write_exact(part, RULES, GAME, levels[2])
    for name in LEVELS[:2]:
        (part / name).unlink()
    sound = (part / wrong).read_bytes()
    (part / wrong).write_bytes(
        sound[:-9] + (b"" if wrong.startswith("level") else bytes([sound[-9] ^ 1]) + sound[-8:])
    )
    table = solved_in_files(RULES, part)
    assert table.resumed is None
    assert contents(part) == contents(whole)


def test_killed_and_started_again_it_writes_the_same_files(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    solved_in_files(RULES, whole)
    # A process that is killed outright in the middle of a level: after two of the four are on the disk.
    script = (
        "import sys, time; from pathlib import Path; import solver; from solver import saving_table\n"
        "def slow(done, total):\n"
        "    while (Path(sys.argv[2]) / 'exact-02.dwl').exists(): time.sleep(0.01)\n"
        "saving_table.solved_in_files(solver.ruleset(sys.argv[1]), Path(sys.argv[2]), progress=slow)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script, NAME, str(part)])
    deadline = time.monotonic() + 120
    while not level_path(part, 2, exact=True).exists() and time.monotonic() < deadline:
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not level_path(part, 1).exists()
    table = solved_in_files(RULES, part)
    assert table.resumed == 2
    assert {name: held for name, held in contents(part).items() if name in LEVELS} == contents(whole)
    assert set(contents(part)) - set(LEVELS) == set()


def test_a_disk_without_room_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [8 * level.values.size for level in solved_levels(GAME)][::-1]
    most, disk = max(map(sum, pairwise(sizes[1:]))), SimpleNamespace(free=0)
    monkeypatch.setattr(pieces, "disk_usage", lambda path: disk)
    part = tmp_path / "part"
    for free, said in (
        (0, f"found 0.0 kB free, expected {most / 1000:.1f} kB or more"),
        (most - 1, f"found {most - 1:,} bytes free, expected {most:,} bytes or more"),
    ):
        disk.free = free
        with pytest.raises(errors.TableError) as refused:
            solved_in_files(RULES, part)
        assert str(refused.value) == f"{str(part)!r}: {said}"
        assert not part.exists()
    disk.free = most
    solved_in_files(RULES, part)
    # What is gone on from is there already, and lets its room go.
    levels = {level.number: level for level in solved_levels(GAME)}
    write_exact(part, RULES, GAME, levels[2])
    for name in LEVELS[:2]:
        (part / name).unlink()
    disk.free = sizes[1] - 1
    with pytest.raises(errors.TableError, match="free, expected"):
        solved_in_files(RULES, part)
    disk.free = sizes[1]
    assert solved_in_files(RULES, part).resumed == 2


# ---------------------------------------------------------------- damaged files


def header_of(sound: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<I", sound, 10)
    return json.loads(sound[14 : 14 + length]), sound[18 + length :]


def signed(header: dict[str, Any], rest: bytes) -> bytes:
    """A file whose checksum of the header is right, whatever the header says."""
    return KIND.front(json.dumps(header, sort_keys=True).encode()) + rest


def damaged(sound: bytes) -> dict[str, tuple[bytes, type[errors.TableError], str]]:
    """Files made from a sound one, the error of each, and a part of its message."""
    header, rest = header_of(sound)
    flipped = len(sound) - 4
    chunk = zlib.compress(bytes(10**6), 1, wbits=-15)
    index = struct.pack("<II", len(chunk), zlib.crc32(chunk))
    bomb = header | {"bytes": len(chunk), "crc32": zlib.crc32(index)}
    without = {key: value for key, value in header.items() if key != "saved"}
    damage = errors.DamagedTable
    return {
        "foreign": (b"\x89PNG\r\n\x1a\n" + bytes(50), errors.ForeignTable, "is not a dicewise level file"),
        "empty": (b"", errors.TruncatedTable, "ends within its header, after 0 bytes"),
        "text": (sound.replace(b"\r\n", b"\n"), errors.MangledTable, "text-mode transfer"),
        "later": (sound[:8] + b"\x02\0" + sound[10:], errors.VersionTable, "is of level format 2"),
        "cut": (sound[:-3], errors.TruncatedTable, f"ends after {len(sound) - 3} of {len(sound)} bytes"),
        "longer": (sound + b"\0", damage, "goes on after its"),
        "header": (sound[:50] + b"!" + sound[51:], damage, "its header does not match its checksum"),
        "index": (sound[: -len(rest)] + b"\xff" + rest[1:], damage, "its index does not match"),
        "chunk": (
            sound[:flipped] + bytes([sound[flipped] ^ 1]) + sound[flipped + 1 :],
            damage,
            "chunk 0 of its values does not match its checksum",
        ),
        "bomb": (signed(bomb, index + chunk), damage, "chunk 0 does not hold its values"),
        "key": (signed(without, rest), damage, "its header does not say what a level file says"),
        "level": (
            signed(header | {"level": 3}, rest),
            damage,
            "does not hold the 6 states with 2 boxes filled",
        ),
        "saved": (signed(header | {"saved": 3}, rest), damage, "does not hold the"),
        "width": (signed(header | {"width": 5}, rest), damage, "it does not hold values in chunks"),
        "rules": (signed(header | {"digest": "0" * 64}, rest), errors.WrongRulesTable, "expected one of"),
    }


CASES = (
    "foreign",
    "empty",
    "text",
    "later",
    "cut",
    "longer",
    "header",
    "index",
    "chunk",
    "bomb",
    "key",
    "level",
)
CASES += ("saved", "width", "rules")


@pytest.mark.parametrize("case", CASES)
def test_every_fault_of_a_level_file_is_named(tmp_path: Path, case: str) -> None:
    solved_in_files(RULES, tmp_path)
    path = level_path(tmp_path, 2)
    found = damaged(path.read_bytes())
    assert set(found) == set(CASES)
    data, kind, message = found[case]
    path.write_bytes(data)
    with pytest.raises(errors.TableError) as caught:
        opened_files(RULES, tmp_path).value("pair=10 fives=5")
    assert type(caught.value) is kind
    text = str(caught.value).replace(
        f"does not hold the {GAME.lanes[GAME.level_sets[2] : GAME.level_sets[3]].sum()}",
        "does not hold the 6",
    )
    assert repr(str(path)) in text and message in text and "\n" not in text


def test_a_folder_without_a_file_and_exact_values_of_another_kind(tmp_path: Path) -> None:
    solved_in_files(RULES, tmp_path)
    level_path(tmp_path, 1).unlink()
    with pytest.raises(errors.TableNotFound, match=r"level-01\.dwl': there is no such file"):
        opened_files(RULES, tmp_path)
    level_path(tmp_path, 2).rename(level_path(tmp_path, 2, exact=True))
    with pytest.raises(errors.DamagedTable, match="it does not hold exact values"):
        read_exact(tmp_path, GAME, 2, NAME)
    level = next(iter(solved_levels(GAME)))
    write_exact(tmp_path, RULES, GAME, level)
    level_path(tmp_path, 3, exact=True).rename(level_path(tmp_path, 3))
    with pytest.raises(errors.DamagedTable, match="it does not hold values in chunks"):
        LevelFile(tmp_path, GAME, 3, NAME)


def test_a_damaged_game_is_made_again_but_not_one_of_other_rules(tmp_path: Path) -> None:
    solved_in_files(RULES, tmp_path)
    sound = contents(tmp_path)
    data, _, _ = damaged(sound["level-02.dwl"])["chunk"]
    level_path(tmp_path, 2).write_bytes(data)
    solved_in_files(RULES, tmp_path)
    assert contents(tmp_path) == sound
    with pytest.raises(
        errors.WrongRulesTable, match=r"holds level files of .*forced.*expected none or those of"
    ):
        solved_in_files(solver.ruleset(OTHER), tmp_path)
    assert contents(tmp_path) == sound


def test_a_table_in_files_is_found_by_other_processes_in_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = solved_in_files(RULES, Path("kept"))
    copied = pickle.dumps(table)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = pickle.loads(copied)
    assert found.folder == tmp_path / "kept"
    assert found.value("pair=10") == pytest.approx(exact().value("pair=10"), abs=1e-6)


def test_chunks_read_long_ago_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving_files, "SETS", 1)
    monkeypatch.setattr(saving_files, "_CHUNKS_HELD", 2)
    solved_in_files(RULES, tmp_path)
    file = LevelFile(tmp_path, GAME, 2, NAME)
    sets = GAME.filled[GAME.level_sets[2] : GAME.level_sets[3]].tolist()
    assert len(sets) > 3 and file.nbytes == 0
    blocks = [file.block(filled) for filled in sets]
    assert file.nbytes == blocks[-2].nbytes + blocks[-1].nbytes
    # Asked for again, one is not the oldest any more.
    assert file.block(sets[-2]) is not None
    file.block(sets[0])
    assert file.nbytes == blocks[-2].nbytes + blocks[0].nbytes
    assert np.array_equal(file.block(sets[1]), blocks[1])


# ---------------------------------------------------------------- an upper bonus that is certain


CERTAIN = """
title = "Certain"
dice = 1
rolls = 2
save_rolls = true
upper_bonus = [{ at = 1, points = 100000 }]
[categories]
a = { title = "A", section = "upper", pattern = {}, points = "sum" }
b = { title = "B", section = "lower", pattern = {}, points = "sum" }
c = { title = "C", section = "lower", pattern = {}, points = "sum" }
"""
"""Whatever is thrown the bonus comes, so that all cards with the same boxes filled are worth the same."""


@pytest.fixture
def certain(tmp_path: Path) -> solver.Ruleset:
    (tmp_path / "certain.toml").write_text(CERTAIN)
    return solver.ruleset(tmp_path / "certain.toml")


def written_in_4_bytes(rules: solver.Ruleset, folder: Path, *, share: float = 1.0, **how: Any) -> None:
    """Write what programs did that left a certain bonus out of account, up to a share of the work."""

    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > share * total:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saving_files, "stored_width", lambda game: 4)
        patch.setattr(saving_pieces, "stored_width", lambda game: 4)
        try:
            solved_in_files(rules, folder, progress=stop, **how)
        except Stop:
            assert share < 1


def test_values_with_a_certain_bonus_are_whole(certain: solver.Ruleset, tmp_path: Path) -> None:
    exact, kept = solved_in_memory(certain), solved_in_files(certain, tmp_path / "kept")
    library.save(kept, tmp_path / "copied")
    with ThreadPoolExecutor(2) as pool:
        solved_in_files(certain, tmp_path / "pieces", executor=pool)
    for name in ("kept", "copied", "pieces"):
        table = opened_files(certain, tmp_path / name)
        for card in ("a=3", "b=3 saved=1", "a=1 c=6", "b=2 c=2 saved=2"):
            assert table.value(card) > 100_000
            assert table.value(card) == pytest.approx(exact.value(card), abs=1e-6)


def test_values_that_4_bytes_did_not_hold_are_refused_and_made_again(
    certain: solver.Ruleset, tmp_path: Path
) -> None:
    solved_in_files(certain, tmp_path / "sound")
    sound, part = contents(tmp_path / "sound"), tmp_path / "part"
    written_in_4_bytes(certain, part)
    assert read_header(part / "level-01.dwl").width == 4
    with pytest.raises(
        errors.DamagedTable, match=r"level-00\.dwl' is damaged: its 4 bytes a value are too few"
    ):
        opened_files(certain, part)
    solved_in_files(certain, part)
    assert contents(part) == sound


@pytest.mark.parametrize("pool", [False, True], ids=["here", "pieces"])
@pytest.mark.parametrize(
    ("pool_before", "share"), [(False, 0.6), (True, 0.2), (True, 0.4), (True, 0.6), (True, 0.8)]
)
def test_nothing_goes_on_from_what_was_packed_in_4_bytes(
    certain: solver.Ruleset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pool_before: bool,
    pool: bool,
    share: float,
) -> None:
    for module, name, number in (
        (saving_files, "SETS", 1),
        (saving_pieces, "SETS", 1),
        (saving_pieces, "PIECE_PASSES", 1),
    ):
        monkeypatch.setattr(module, name, number)
    part = tmp_path / "part"
    with ThreadPoolExecutor(1) as one:
        written_in_4_bytes(certain, part, share=share, executor=one if pool_before else None)
        assert list(part.rglob("*.dw*"))
        solved_in_files(certain, part, executor=one if pool else None)
    assert [path.name for path in sorted(part.iterdir())] == [f"level-{level:02d}.dwl" for level in range(3)]
    for kept, solved in zip(
        opened_files(certain, part).levels, solved_in_memory(certain).levels, strict=True
    ):
        assert np.max(np.abs(kept.all().values - solved.all().values)) < 1e-6


# ---------------------------------------------------------------- by name


def test_a_game_is_found_in_the_cache_and_in_a_folder_of_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path / "cache")
    assert library.get(NAME) is None
    assert library.expected_score(RULES) is None
    table = solver.load(NAME)
    assert isinstance(table, SavingTable)
    assert table.folder is not None and table.folder.parent == tmp_path / "cache"
    again = library.get(NAME)
    assert again.folder == table.folder
    assert library.expected_score(RULES) == exact().expected_score == table.expected_score
    assert solver.load(NAME, path=table.folder).value("pair=10") == table.value("pair=10")
    named = tmp_path / "named"
    named.mkdir()
    os.rename(table.folder, named / table.folder.name)
    assert library.get(NAME) is None
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(named))
    assert library.get(NAME).folder == named / table.folder.name


def test_a_cache_that_cannot_be_written_costs_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path / "file")
    table = solver.load(NAME)
    assert (table.precision, table.value()) == (0.0, exact().value())
