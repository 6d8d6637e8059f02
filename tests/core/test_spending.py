"""What was spent is told by day of the project's zone, purpose and model; what an ingest would cost is told before."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from support.builders import llm_call
from support.model_server import ModelServer, reply

from mindmem.core.clock import FixedClock, SystemClock
from mindmem.core.errors import InvalidInput
from mindmem.core.estimate import estimate_ingest
from mindmem.core.ledger.sql import open_ledger, sqlite_url
from mindmem.core.memory import Memory
from mindmem.core.records import Scope
from mindmem.core.records.llm_call import LlmCall, Spent
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import LlmSettings, Price, Settings
from mindmem.core.spending import spending, total

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
CLOCK = FixedClock(NOW)


def spend(settings: Settings, *calls: LlmCall) -> None:
    with open_ledger(sqlite_url(settings.home / "ledger.db")) as ledger:
        for call in calls:
            ledger.record_call(call)


def test_without_a_store_nothing_was_spent_and_none_is_made(tmp_path: Path) -> None:
    assert spending(Settings(home=tmp_path / "none"), CLOCK) == []
    assert not (tmp_path / "none").exists()


def test_a_day_is_one_of_the_projects_zone_and_the_newest_comes_first(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, timezone="Asia/Kathmandu")  # five hours and three quarters ahead
    spend(
        settings,
        llm_call("c1", called_at=datetime(2026, 3, 9, 18, 14, tzinfo=UTC)),
        llm_call("c2", called_at=datetime(2026, 3, 9, 18, 15, tzinfo=UTC)),
        llm_call("c3", called_at=datetime(2026, 3, 10, 1, tzinfo=UTC), cached=True, cost=0.0),
        llm_call("c4", called_at=datetime(2026, 3, 10, 1, tzinfo=UTC), purpose="judge", model="big", cost=None),
    )
    found = spending(settings, CLOCK)
    assert [(line.day, line.purpose, line.model, line.spent.calls) for line in found] == [
        (date(2026, 3, 10), "extract", "small", 2), (date(2026, 3, 10), "judge", "big", 1),
        (date(2026, 3, 9), "extract", "small", 1),
    ]  # fmt: skip
    assert total(found) == Spent(4, 400, 80, pytest.approx(0.02), 1, 1)
    assert [line.day.day for line in spending(settings, CLOCK, days=1)] == [10, 10]


def test_spending_can_be_told_of_a_run_or_a_user(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    old = datetime(2020, 1, 1, tzinfo=UTC)
    spend(settings, llm_call("c1", run_id="r1", called_at=old), llm_call("c2", scope=Scope.of("bob"), called_at=NOW))
    assert [line.day.year for line in spending(settings, CLOCK, run_id="r1")] == [2020]
    assert [line.day.year for line in spending(settings, CLOCK, user_id="bob")] == [2026]
    assert spending(settings, CLOCK, run_id="r1", user_id="bob") == []


def chats(folder: Path) -> Path:
    inbox = folder / "inbox"
    inbox.mkdir()
    lines = [
        {"user_id": user, "session_id": user, "content": f"I have lived in place {number} for years.", "role": "user"}
        for user in ("ann", "bob")
        for number in range(10)
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    (inbox / "chat.jsonl").write_text(f"{text}\nnot json\n")
    return inbox


def priced(home: Path) -> Settings:
    prices = {"small": Price(input=1, output=2)}
    return Settings(home=home, llm=LlmSettings(model="small", prices=prices))


def test_an_ingest_is_estimated_by_prompt_without_a_store(tmp_path: Path) -> None:
    settings = priced(tmp_path / "home")
    found = estimate_ingest(settings, chats(tmp_path))
    assert (found.files, found.messages, found.windows, found.set_aside, found.known) == (1, 20, 2, 1, 0)
    assert [(line.prompt, line.purpose, line.model, line.calls) for line in found.forecasts] == [
        ("extract", "extract", "small", 2), ("conflict", "extract", "small", 1),
    ]  # fmt: skip
    for line in found.forecasts:
        assert 500 < line.input_tokens < 20_000
        assert line.cost == pytest.approx((line.input_tokens + line.output_tokens * 2) / 1e6)
    assert found.cost == pytest.approx(sum(line.cost or 0 for line in found.forecasts))
    assert not settings.home.exists()


def test_an_estimate_foresees_the_questions_of_the_ingest(tmp_path: Path) -> None:
    from mindmem.flows.direct import ingest_directly

    inbox = chats(tmp_path)
    with ModelServer(lambda _: reply({"memories": [], "skipped": []})) as server:
        llm = LlmSettings(base_url=server.url, model="any", structure="json")
        settings = Settings(home=tmp_path / "home", reasoner="llm", embedder="none", llm=llm)
        foreseen = estimate_ingest(settings, inbox).forecasts[0]
        assert server.requests == []
        ingest_directly(settings, inbox)
    assert foreseen.calls == len(server.requests)
    sent = sum(estimate_tokens(request.prompt) for request in server.requests)
    assert 0.8 * sent < foreseen.input_tokens < 1.6 * sent
    (line,) = spending(settings, SystemClock())
    assert (line.purpose, line.model, line.spent.calls) == ("extract", "any", foreseen.calls)


def test_an_estimate_grows_with_what_is_said(tmp_path: Path) -> None:
    inbox = chats(tmp_path)
    before = estimate_ingest(priced(tmp_path), inbox).forecasts[0]
    (inbox / "more.jsonl").write_text(
        json.dumps({"user_id": "cid", "role": "user", "content": "words and more " * 2_000})
    )
    after = estimate_ingest(priced(tmp_path), inbox).forecasts[0]
    assert after.calls == before.calls + 1
    assert after.input_tokens > before.input_tokens + 6_000


def test_an_estimate_holds_what_binding_to_a_schema_asks(tmp_path: Path) -> None:
    inbox, plain = chats(tmp_path), priced(tmp_path)
    bound = plain.model_copy(update={"ingest": plain.ingest.model_copy(update={"mode": "schema"})})
    without, found = estimate_ingest(plain, inbox), estimate_ingest(bound, inbox)
    assert found.forecasts[: len(without.forecasts)] == without.forecasts
    more = found.forecasts[len(without.forecasts) :]
    assert [line.prompt for line in more] == ["segment", "bind", "match", "synthesise", "describe"]
    assert all(line.calls and line.input_tokens > 100 * line.calls and line.output_tokens for line in more)
    assert found.cost is not None
    assert without.cost is not None
    assert found.cost > without.cost


def test_an_estimate_without_prices_names_no_sum(tmp_path: Path) -> None:
    found = estimate_ingest(Settings(home=tmp_path / "home"), chats(tmp_path))
    assert found.cost is None
    assert found.forecasts[0].input_tokens > 0


def test_what_was_taken_before_is_left_out_of_an_estimate(tmp_path: Path) -> None:
    from mindmem.flows.direct import ingest_directly

    settings = priced(tmp_path / "home").model_copy(update={"embedder": "none"})
    inbox = chats(tmp_path)
    ingest_directly(settings, inbox)
    found = estimate_ingest(settings, inbox)
    assert (found.files, found.known, found.messages, found.cost) == (0, 1, 0, 0.0)
    with (inbox / "chat.jsonl").open("a") as file:
        file.write(json.dumps({"user_id": "ann", "session_id": "ann", "role": "user", "content": "I moved."}) + "\n")
    assert estimate_ingest(settings, inbox).messages == 1
    with Memory(settings=settings) as memory:
        assert memory.services.ledger.last_call() == 0


def test_embeddings_by_an_endpoint_are_part_of_an_estimate(tmp_path: Path) -> None:
    settings = priced(tmp_path / "home").model_copy(update={"embedder": "openai"})
    assert [line.purpose for line in estimate_ingest(settings, chats(tmp_path)).forecasts] == [
        "extract",
        "extract",
        "embed",
    ]


def test_there_must_be_something_to_estimate(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        estimate_ingest(Settings(home=tmp_path), tmp_path / "nothing")
