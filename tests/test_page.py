"""The page in a real browser: advice, a whole game, a phone's width, errors in words, contrast.

Run where Chromium and Playwright are installed; DICEWISE_PICTURE=FILE keeps the picture of the page.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server import running

import solver

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: .[test] has it")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed: apt-get install chromium", allow_module_level=True)

PATIENCE = 60_000
"""Milliseconds for what a busy machine may be slow at; nothing waits this long when all is well."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running("--work-limit", "600") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        # Its sandbox cannot be had within that of a container; it sees nothing but this page.
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page of its own, with the options that the test gives; no script may fail in it."""
    options = getattr(request, "param", {})
    context = browser.new_context(viewport={"width": 1200, "height": 960}, **options)
    made = context.new_page()
    made.set_default_timeout(PATIENCE)
    faults: list[str] = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    yield made
    context.close()
    assert faults == []


def settled(page: Any) -> None:
    """Wait until every request is answered and shown."""
    page.wait_for_function(
        "() => document.body.dataset.asking === '0' && document.getElementById('moves').ariaBusy !== 'true'"
    )


def moves(page: Any) -> list[tuple[str, str, str]]:
    """Words, value and loss of each move on the page."""
    found = []
    for row in page.locator(".moves > li .move").all():
        words = row.locator(".move-words > span:last-child").inner_text()
        numbers = [re.sub("[^0-9.<]", "", text) for text in row.locator(".number").all_inner_texts()]
        found.append((words, *numbers))
    return found


def in_words(option: solver.Option, rules: solver.Ruleset) -> str:
    from solver.cli.advise import in_words as command_line_words

    return command_line_words(option, rules)


def test_advice_is_that_of_the_library(page: Any, address: str) -> None:
    page.goto(f"{address}/#advice/yahtzee")
    settled(page)
    page.fill("#roll-text", "1 3 3 4 6")
    page.locator("label", has=page.locator("input[name=rerolls][value='1']")).click()
    page.select_option("#points-ones", "3")
    page.select_option("#points-yahtzee", "50")
    settled(page)
    table = solver.load("yahtzee")
    advice = table.advise("ones=3 yahtzee=50", "13346", 1)
    kept = [die.get_attribute("class").split()[1:] == ["kept"] for die in page.locator(".die").all()]
    assert sorted(face for face, held in zip((1, 3, 3, 4, 6), kept, strict=True) if held) == list(
        advice.best.dice
    )
    page.click("#more")

    def shown(loss: float) -> str:
        return "<0.01" if 0 < loss < 0.005 else f"{loss:.2f}"

    assert moves(page) == [
        (in_words(option, table.ruleset), f"{option.value:.2f}", shown(option.loss))
        for option in advice.options
    ]
    assert page.locator("tr.total td").first.inner_text() == "53"


def test_points_of_a_first_roll_and_of_a_box_that_requires_another(page: Any, address: str) -> None:
    page.goto(f"{address}/#advice/generala-double")
    settled(page)
    page.fill("#roll-text", "4 4 4 4 4")
    settled(page)
    assert page.locator("#score-poker").inner_text() == "45"
    assert page.locator("#score-double_generala").inner_text() == "0"
    page.locator("label", has=page.locator("input[name=rerolls][value='1']")).click()
    page.select_option("#points-generala", "50")
    settled(page)
    assert page.locator("#score-poker").inner_text() == "40"
    assert page.locator("#score-double_generala").inner_text() == "100"
    assert page.locator("#points-straight option").all_inner_texts() == ["–", "0", "20", "25"]


def test_saved_rolls_go_along(page: Any, address: str) -> None:
    """The server has no table of that game, which takes long to solve: it is answered for here."""
    asked: list[dict[str, Any]] = []

    def answer(route: Any) -> None:
        asked.append(route.request.post_data_json)
        fill = {"action": "fill", "dice": [1, 3, 3, 4, 6, 6], "category": "chance", "points": 23, "saved": 3}
        option = fill | {"value": 480.0, "loss": 0.0}
        route.fulfill(json=asked[-1] | {"value": 480.0, "best": option, "options": [option]})

    page.route("**/api/advise", answer)
    page.goto(f"{address}/#advice/maxi-yatzy")
    settled(page)
    assert page.locator("#rerolls").input_value() == "2"
    page.select_option("#points-ones", "3")
    page.locator("#saved").fill("2")
    page.locator("#saved").press("Enter")
    settled(page)
    assert (asked[-1]["card"], asked[-1]["rerolls"]) == ({"ones": 3, "saved": 2}, 4)
    page.locator("#rerolls").fill("1")
    page.locator("#rerolls").press("Enter")
    settled(page)
    assert asked[-1]["rerolls"] == 1
    page.click("#score-chance")
    settled(page)
    assert (asked[-1]["card"], asked[-1]["rerolls"]) == ({"ones": 3, "chance": 23, "saved": 3}, 5)
    # More than can have been saved, or no number, is not taken.
    page.locator("#saved").fill("5")
    page.locator("#saved").press("Enter")
    assert page.locator("#saved").input_value() == "3"
    page.click("#clear")
    settled(page)
    assert (asked[-1]["card"], asked[-1]["rerolls"]) == ({}, 2)


def test_no_box_takes_what_the_dice_before_score(page: Any, address: str) -> None:
    """While advice is on its way: after other dice, and after a fill."""
    page.goto(f"{address}/#advice/yacht")
    settled(page)
    page.fill("#roll-text", "1 1 1 1 1")
    settled(page)
    assert page.locator("#score-choice").inner_text() == "5"
    held: list[Any] = []
    page.route("**/api/advise", lambda route: held.append(route))
    page.fill("#roll-text", "6 6 6 6 6")
    page.wait_for_function("() => document.body.dataset.asking === '1'")
    assert page.locator("button.score").count() == 0
    held.pop().continue_()
    settled(page)
    assert page.locator("#score-choice").inner_text() == "30"
    page.click("#score-choice")
    page.wait_for_function("() => document.body.dataset.asking === '1'")
    assert page.locator("button.score").count() == 0
    held.pop().continue_()
    settled(page)
    assert page.locator("button.score").count() == 11


def test_a_double_click_is_one_step(page: Any, address: str) -> None:
    """The second click comes while the first is on its way, on the very button of the first."""
    asked: list[dict[str, Any]] = []
    page.on("request", lambda one: asked.append(one.post_data_json) if one.url.endswith("/game") else None)
    page.goto(f"{address}/?pace=0#play/yacht")
    settled(page)
    page.wait_for_selector("#roll:enabled")
    for button in ("#roll", "#roll", ".score >> nth=0"):
        asked.clear()
        page.locator(button).evaluate("one => { one.click(); one.click(); }")
        page.wait_for_function("() => document.body.dataset.asking === '0'")
        settled(page)
        # With the record, since the other seat may do the same in its own turn.
        assert asked[0] not in asked[1:]
    assert page.locator("#error").is_hidden()


@pytest.mark.parametrize("named", ["%", "%E0%A4%A", "play/%"])
def test_an_address_that_is_no_text_shows_the_page(page: Any, address: str, named: str) -> None:
    page.goto(f"{address}/#{named}")
    settled(page)
    assert page.locator("#game").input_value() == solver.names()[0]
    assert page.locator(".moves > li").count() > 0


def test_the_chances_behind_a_move(page: Any, address: str) -> None:
    page.goto(f"{address}/#advice/yatzy")
    settled(page)
    page.fill("#roll-text", "22566")
    settled(page)
    why = page.locator(".moves > li").nth(1).locator("button.why")
    why.click()
    page.wait_for_selector(".chances table")
    assert why.get_attribute("aria-expanded") == "true"
    table = solver.load("yatzy")
    told = solver.explain(table, table.advise(None, "22566"), 2)[1]
    rows = [
        (row.locator("th").inner_text(), *row.locator("td.number").all_inner_texts())
        for row in page.locator(".chances tbody tr").all()
    ]

    def percent(share: float) -> str:
        return "< 0.01 %" if 0 < share < 0.0001 else f"{100 * share:.2f} %"

    assert rows == [(box.title, percent(box.probability), f"{box.points:.2f}") for box in told.boxes]
    why.click()
    assert page.locator(".chances").nth(1).is_hidden()


def test_the_spread_of_final_scores(page: Any, address: str) -> None:
    page.goto(f"{address}/#advice/yacht")
    settled(page)
    page.fill("#roll-text", "22566")
    page.select_option("#points-ones", "3")
    settled(page)
    page.click("#spread-ask")
    page.wait_for_selector(".plot")
    scores = solver.distribution(solver.solve("yacht"), "ones=3", "22566", 2)
    facts = dict(
        zip(
            page.locator(".facts dt").all_inner_texts(),
            page.locator(".facts dd").all_inner_texts(),
            strict=True,
        )
    )
    assert facts["Mean"] == f"{scores.mean:.2f}"
    assert facts["Median"] == str(scores.quantile(0.5))
    assert facts["9 in 10 between"] == f"{scores.quantile(0.05)}–{scores.quantile(0.95)}"
    assert f"the median is {scores.quantile(0.5)};" in page.locator(".plot").get_attribute("aria-label")
    # The bars are the distribution: their heights are proportional to the shares in their titles.
    bars = [
        (float(bar.get_attribute("height")), bar.locator("title").text_content())
        for bar in page.locator(".plot rect").all()
    ]
    assert len(bars) > 20
    tallest = max(bars)
    share = float(tallest[1].split(": ")[1].removesuffix(" %"))
    first, _, last = tallest[1].split(":")[0].partition(" to ")
    exact = sum(scores.probability(score) for score in range(int(first), int(last or first) + 1))
    assert share == pytest.approx(100 * exact, abs=0.006)
    # Another roll makes another question of it.
    page.fill("#roll-text", "22266")
    settled(page)
    assert page.locator(".plot").count() == 0


def test_dice_and_card_by_keyboard_alone(page: Any, address: str) -> None:
    page.goto(f"{address}/#advice/yacht")
    settled(page)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.locator(".die").first.focus()
    for face in "34455":
        page.keyboard.press(face)
        page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowUp")
    settled(page)
    advice = solver.load("yacht").advise(None, "34456")
    assert page.locator("#best").inner_text() == in_words(advice.best, advice.position.card.ruleset)
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.locator("#score-choice").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator("#points-choice").input_value() == "22"
    assert page.evaluate("() => document.activeElement.id") == "roll-text"


@pytest.mark.parametrize(("game", "boxes"), [("yacht", 12), ("generala", 10)])
def test_a_whole_game_against_the_computer(page: Any, address: str, game: str, boxes: int) -> None:
    """Every turn to the end; the totals are what the boxes say, and the winner is who has more."""
    records: list[dict[str, Any]] = []

    def keep_record(response: Any) -> None:
        if response.url.endswith("/api/game"):
            records.append(response.json()["record"])

    page.on("response", keep_record)
    page.goto(f"{address}/?pace=0#play/{game}")
    page.select_option("#player", "perfect")
    page.select_option("#first", "1")
    page.click("#new-game")
    for turn in range(boxes):
        page.wait_for_selector("#roll:enabled")
        page.click("#roll")
        page.wait_for_selector("button.score")
        if turn % 3 == 0:
            page.locator(".die").nth(1).click()
            page.locator(".die").nth(4).click()
            assert page.locator("#roll").inner_text() == "Reroll three dice"
            page.click("#roll")
            page.wait_for_function("() => document.getElementById('status').innerText.includes('(1 left)')")
        page.locator("button.score").first.click()
        page.wait_for_function(
            "(n) => document.querySelectorAll('tr[data-box] button.score').length === 0", arg=turn
        )
    page.wait_for_function("() => document.getElementById('roll').innerText === 'The game is over'")
    settled(page)
    replayed = solver_game(records[-1])
    assert replayed.over
    mine, other = replayed.totals
    assert page.locator("tr.total td").all_inner_texts() == [str(mine), str(other)]
    status = page.locator("#status").inner_text()
    if mine == other:
        assert status.startswith(f"A draw at {mine}.")
    else:
        winner = "You win" if mine > other else "The computer wins"
        assert status.startswith(f"{winner}, {max(mine, other)} to {min(mine, other)}. You gave away ")
    # The computer played as the perfect player does, wherever it had to decide.
    table = solver.load(game)
    player = solver_player("perfect", table)
    again = type(replayed).new(game, 2, records[-1]["seed"], records[-1]["first"], records[-1]["players"])
    for kind, what in records[-1]["events"]:
        if again.phase == "decide" and again.seat == 1:
            move = player.move(again.situation())
            expected = ("keep", list(move.dice)) if move.action == "keep" else ("fill", move.category)
            assert (kind, what) == expected
        step = {"roll": lambda _: again.roll(), "keep": again.keep, "fill": again.fill}[kind]
        step(what)


def solver_game(record: dict[str, Any]) -> Any:
    from solver.game import Game

    return Game.from_record(record)


def solver_player(spec: str, table: solver.Table) -> Any:
    from solver.players import player

    return player(spec, table)


def test_a_new_game_takes_the_next_press(page: Any, address: str) -> None:
    """While a new game is on its way there is no button of the one before that would swallow a press."""
    page.goto(f"{address}/?pace=0#play/yacht")
    page.wait_for_selector("#roll:enabled")
    held: list[Any] = []
    page.route("**/api/game", lambda route: held.append(route))
    page.click("#new-game")
    assert page.locator("#roll").count() == 0
    page.wait_for_function("() => document.body.dataset.asking === '1'")
    held.pop().continue_()
    page.wait_for_selector("#roll:enabled")
    page.unroute("**/api/game")
    page.click("#roll")
    page.wait_for_selector("button.score")
    # A new game that cannot be had leaves the one before as it was.
    settled(page)
    page.route("**/api/game", lambda route: route.abort())
    page.click("#new-game")
    page.wait_for_selector("#error:visible")
    assert page.locator("button.score").count() == 12
    assert page.locator("#roll").inner_text() == "Reroll all"


def test_hints_and_what_a_move_gave_away(page: Any, address: str) -> None:
    page.goto(f"{address}/?pace=0#play/yahtzee")
    page.wait_for_selector("#roll:enabled")
    page.check("#hints")
    page.click("#roll")
    page.wait_for_selector("#best")
    settled(page)
    dice = [
        {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}[
            re.search(r": (\w+)", die.get_attribute("aria-label"))[1]
        ]
        for die in page.locator(".die").all()
    ]
    table = solver.load("yahtzee")
    advice = table.advise(None, dice, 2)
    assert page.locator("#best").inner_text() == in_words(advice.best, table.ruleset)
    page.click("#score-chance")
    page.wait_for_selector(".log li")
    option = next(option for option in advice.options if option.category == "chance")
    said = page.locator(".log li").last.inner_text()
    assert said.startswith(f"You: {in_words(option, table.ruleset)}.")
    assert said.endswith(f" was better by {option.loss:.2f} points.") or option.loss < 0.005


@pytest.mark.parametrize("mode", ["advice", "play"])
@pytest.mark.parametrize("width", [320, 400, 800])
def test_narrow_screens_scroll_in_one_direction_only(page: Any, address: str, mode: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(f"{address}/?pace=0#{mode}/yahtzee")
    if mode == "play":
        page.check("#hints")
        page.wait_for_selector("#roll:enabled")
        page.click("#roll")
    page.wait_for_selector("#best")
    page.locator("button.why").nth(1).click()
    page.wait_for_selector(".chances table")
    widths = page.evaluate(
        """() => [document.documentElement.scrollWidth, innerWidth,
        ...[...document.querySelectorAll('main *')].map((one) => one.getBoundingClientRect())
          .filter((box) => box.width > 1 && box.right > innerWidth + 1).map((box) => box.right)]"""
    )
    assert widths == [width, width]
    # Whatever is pressed is large enough for a finger.
    small = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input:not([type=checkbox], [type=radio])')]
        .map((one) => [one.id || one.className, one.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([name]) => name)"""
    )
    assert small == []


def test_errors_are_words(page: Any, address: str) -> None:
    """What the server says is shown as it says it; a server that is gone, and nonsense, are words, too."""
    page.goto(f"{address}/#advice/yahtzee")
    settled(page)
    page.select_option("#points-yahtzee", "0")
    page.select_option("#bonuses", "2")
    page.wait_for_selector("#error:visible")
    with pytest.raises(solver.CardError) as caught:
        solver.load("yahtzee").advise("yahtzee=0 bonuses=2", "13346")
    assert page.locator("#error").inner_text() == str(caught.value)
    page.select_option("#points-yahtzee", "")
    page.select_option("#bonuses", "0")
    page.wait_for_selector("#error", state="hidden")

    page.route("**/api/advise", lambda route: route.abort())
    page.click("#random")
    page.wait_for_selector("#error:visible")
    assert page.locator("#error").inner_text() == "The server does not answer. Is it still running?"
    page.unroute("**/api/advise")
    page.route("**/api/advise", lambda route: route.fulfill(status=502, body="<html>"))
    page.click("#random")
    page.wait_for_function("() => document.getElementById('error').innerText.includes('502')")
    assert page.locator("#error").get_attribute("role") == "alert"


def test_a_game_goes_on_after_an_error(page: Any, address: str) -> None:
    page.goto(f"{address}/?pace=0#play/yacht")
    page.wait_for_selector("#roll:enabled")
    page.route("**/api/move", lambda route: route.abort())
    page.click("#roll")
    page.click("#score-choice")
    page.wait_for_selector("#error:visible")
    assert page.locator("#roll").inner_text() == "Let the computer go on"
    page.unroute("**/api/move")
    page.click("#roll")
    page.wait_for_function("() => document.getElementById('roll').innerText === 'Roll the dice'")
    assert page.locator("#error").is_hidden()
    assert page.locator(".log li").first.inner_text().startswith("Computer: rolled ")
    # The game and what was chosen are still there after a look at the other mode.
    total = page.locator("tr.total td").first.inner_text()
    page.click("#mode-advice")
    page.wait_for_selector("#best")
    page.click("#mode-play")
    page.wait_for_selector("#roll:enabled")
    assert page.locator("tr.total td").first.inner_text() == total
    # So it is when the computer had to think meanwhile.
    page.route("**/api/move", lambda route: None)
    page.click("#roll")
    page.click("button.score:first-of-type >> nth=0")
    page.wait_for_function("() => document.getElementById('status').innerText.startsWith('The computer')")
    page.click("#mode-advice")
    page.wait_for_selector("#best")
    page.unroute("**/api/move")
    page.click("#mode-play")
    page.wait_for_selector("#roll:enabled")
    assert page.locator("#roll").inner_text() == "Roll the dice"


CONTRAST = """() => {
  const parts = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const weights = [0.2126, 0.7152, 0.0722];
  const light = (c) => weights.reduce((sum, weight, at) => sum + weight * linear(c[at] / 255), 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const found = [];
  for (const one of document.querySelectorAll('body *')) {
    const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const box = one.getBoundingClientRect();
    if (!text || box.width < 2 || one.closest('option, title') || one.namespaceURI.endsWith('svg')) continue;
    const style = getComputedStyle(one);
    found.push([`${one.tagName} ${one.id} ${one.className}: ${one.textContent.slice(0, 20)}`,
                ratio(light(parts(style.color)), light(ground(one)))]);
  }
  return found;
}"""


def test_mean_and_deviation_where_the_spread_is_too_much_to_hold(page: Any, address: str) -> None:
    answer = {
        "mean": 496.633,
        "standard_deviation": 64.775,
        "upper_bonus": 0.9753,
        "distribution_bytes": 4e12,
    }
    page.route("**/api/stats", lambda route: route.fulfill(json=answer))
    page.goto(f"{address}/#advice/yacht")
    settled(page)
    page.click("#spread-ask")
    page.wait_for_selector(".facts")
    assert page.locator(".facts dt").all_inner_texts() == ["Mean", "Deviation", "Upper bonus"]
    assert page.locator(".facts dd").all_inner_texts() == ["496.63", "64.78", "97.53 %"]
    assert page.locator(".plot").count() == 0


@pytest.mark.parametrize(
    "page", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
def test_contrast_is_enough_to_read(page: Any, address: str) -> None:
    """Every piece of text has a contrast of 4.5 or more to its ground, in both schemes (WCAG 2.2, AA)."""
    page.goto(f"{address}/?pace=0#advice/yacht")
    settled(page)
    page.locator("button.why").first.click()
    page.wait_for_selector(".chances table")
    page.click("#spread-ask")
    page.wait_for_selector(".plot")
    seen = page.evaluate(CONTRAST)
    page.click("#mode-play")
    page.check("#hints")
    page.click("#roll:enabled")
    page.wait_for_selector("#best")
    seen += page.evaluate(CONTRAST)
    page.evaluate(
        "() => { const box = document.getElementById('error'); box.textContent = 'x'; box.hidden = false; }"
    )
    seen += page.evaluate(CONTRAST)
    assert len(seen) > 150
    assert [(what, round(ratio, 2)) for what, ratio in seen if ratio < 4.5] == []
    grounds = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    dark = page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
    assert (grounds == "rgb(15, 20, 26)") is dark


def test_everything_has_a_name(page: Any, address: str) -> None:
    """Whatever can be pressed, chosen or typed in says what it is; headings and landmarks are there."""
    page.goto(f"{address}/?pace=0#advice/yahtzee")
    settled(page)
    page.locator("button.why").first.click()
    for mode in ("advice", "play"):
        page.click(f"#mode-{mode}")
        page.wait_for_selector("#points-ones" if mode == "advice" else "#player")
        settled(page)
        for control in page.locator("button:visible, select:visible, input:visible").all():
            name = control.evaluate(
                "(one) => one.ariaLabel || one.innerText?.trim()"
                " || [...one.labels ?? []].map((label) => label.innerText).join()"
            )
            assert name, control.evaluate("(one) => one.outerHTML")
    assert page.locator("main h1").count() == 1
    assert page.locator("section[aria-labelledby]").count() == page.locator("section").count() >= 4
    assert page.locator("html[lang]").count() == 1


def test_the_picture_of_the_page(page: Any, address: str, tmp_path: Path) -> None:
    """The picture that the README shows can be made again."""
    page.goto(f"{address}/#advice/yahtzee")
    settled(page)
    page.fill("#roll-text", "13346")
    page.select_option("#points-ones", "3")
    page.select_option("#points-yahtzee", "50")
    settled(page)
    page.locator("button.why").first.click()
    page.wait_for_selector(".chances table")
    place = Path(os.environ.get("DICEWISE_PICTURE") or tmp_path / "page.png")
    page.mouse.move(0, 0)
    page.screenshot(path=place)
    assert place.read_bytes().startswith(b"\x89PNG")
    assert place.stat().st_size > 50_000
