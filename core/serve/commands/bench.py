"""``mindmem bench``: measure retrieval, answers and speed; results go to a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from mindmem.core.serve.console import Session, emit, watching, with_session

if TYPE_CHECKING:
    from mindmem.core.bench.plan import Plan
    from mindmem.core.bench.results import Results
    from mindmem.core.search.recipes import Strategy
    from mindmem.core.settings import Settings

__all__ = ["bench"]

F = TypeVar("F", bound=Callable[..., object])
_STRATEGIES = ("fast", "balanced", "deep", "agentic")
_JUDGE_IN_VAIN = "The rules judge nothing; --judge needs --reader llm. F1 and SubEM are measured."


def _measuring(data: str) -> Callable[[F], F]:
    """Add the options of benchmarks over given data: where it is, without the embedder, seed, where results go."""

    def add(command: F) -> F:
        for option in (
            click.option(
                "--out", type=click.Path(path_type=Path), help="Folder of the results (default: in bench-results)."
            ),
            click.option("--seed", type=int, default=7, show_default=True, help="Seed of all that is drawn at random."),
            click.option("--lexical", is_flag=True, help="Without the embedder."),
            click.option(
                "--data", type=click.Path(path_type=Path), help=f"Folder of {data} (default: MINDMEM_BENCH_DATA)."
            ),
        ):
            command = option(command)
        return command

    return add


def _way(command: F) -> F:
    """Add the options of how dialogues are ingested and searched, and whether answers are scored."""
    for option in (
        click.option("--judge", is_flag=True, help="Answer, and have a model judge the answers (with --reader llm)."),
        click.option("--answer", is_flag=True, help="Answer the questions and score the answers."),
        click.option("--strategy", type=click.Choice(_STRATEGIES), help="How it is searched (default: the settings')."),
        click.option(
            "--mode", type=click.Choice(["vanilla", "schema"]), help="How it is ingested (default: the settings')."
        ),
    ):
        command = option(command)
    return command


def _asking(command: F) -> F:
    """Add the options of benchmarks that ask questions; they are the arguments of ``Plan.of``."""
    for option in (
        click.option("--resume", is_flag=True, help="Go on with the run whose rows are in the output folder."),
        click.option("--limit", type=click.IntRange(min=1), help="Ask only the first N questions."),
        click.option("--top-k", type=click.IntRange(1, 100), help="Memories that a question is answered from."),
        click.option("--judge-model", metavar="NAME", help="Model that judges (default: gpt-4o-mini)."),
        click.option("--answer-model", metavar="NAME", help="Model that answers (default: gpt-4.1-mini)."),
        click.option(
            "--reader", type=click.Choice(["rules", "llm"]), help="Who answers (default: the reasoner of the settings)."
        ),
    ):
        command = option(command)
    return command


@click.group(short_help="Measure retrieval, answers and speed.")
def bench() -> None:
    """Measure retrieval, answers and speed on this machine.

    Results go to a folder: results.json (command, seed, versions, figures), results.md (the same for people) and
    rows.jsonl (one row a question or size).
    """


@bench.command(short_help="Ingest, add and search times, memory, disk.")
@click.option("--sizes", metavar="N,N,…", help="Memories of one user to search over (default: 1000,10000).")
@click.option("--messages", type=click.IntRange(min=1), help="Messages to ingest (default: 400).")
@click.option("--schema-sizes", metavar="N,N,…", help="Memories of many users in schema mode; alone: only these.")
@click.option("--full", is_flag=True, help="1k, 10k, 50k and 100k of one user; 100k and 1M in all. Takes a while.")
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of the generated texts and vectors.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results (default: bench-results/speed).")
@with_session
def speed(
    session: Session,
    sizes: str | None,
    messages: int | None,
    schema_sizes: str | None,
    full: bool,
    seed: int,
    out: Path | None,
) -> None:
    """Measure ingest, add and search times, memory and disk on a temporary store.

    JSON: {benchmark, command, seed, add_p50_ms_by_size, search_p50_ms_by_size, schema_fast_p50_ms_by_total, ...,
    versions, machine}; times end in _ms or _s, sizes in _bytes. More is in rows.jsonl.
    """
    from mindmem.core.bench import speed as measure

    chosen = measure.plan(sizes, full=full, messages=messages, schema_sizes=schema_sizes)
    with watching() as watch:
        results = measure.run(chosen, seed=seed, watch=watch)
    _show(session, results, out or Path("bench-results") / "speed")


@bench.command(short_help="LOCOMO's dialogues: evidence recall, or answers.")
@_measuring("locomo10.json")
@_way
@click.option("--dialogues", metavar="N,N,…", help="Numbers of the dialogues, 1 to 10 (default: all).")
@click.option("--against", type=click.Path(path_type=Path), help="Results folder of a run to compare recall with.")
@click.option("--dream", is_flag=True, help="Plant what was told twice or is outdated, dream, and compare.")
@click.option("--categories", metavar="N,N,…", default="1,2,3,4", show_default=True, help="Questions to answer.")
@_asking
@with_session
def locomo(
    session: Session,
    /,
    data: Path | None,
    dialogues: str | None,
    lexical: bool,
    mode: "Literal['vanilla', 'schema'] | None",
    strategy: "Strategy | None",
    against: Path | None,
    dream: bool,
    answer: bool,
    judge: bool,
    categories: str,
    seed: int,
    out: Path | None,
    **asking: Any,
) -> None:
    """Ingest LOCOMO's dialogues and measure whether the turns that answer each question are found, or (--answer) what
    is answered from 50 memories a question, by rules or by a model.

    JSON: {benchmark, command, seed, recall_at_5..50, by_category, by_half, ingest_s, search_p50_ms, ...}; shares are
    in 0..1; with --against also how much more recall than that run, as a paired bootstrap. With --answer: {questions,
    incomplete, left, stopped, judge_accuracy, f1, em, sub_em, by_category, unsure, failed, cost, input_tokens,
    output_tokens, search_p50_ms, answer_p50_ms, judge_p50_ms, ...}; a question whose call failed counts as wrong.
    Answers are kept as they come: --resume goes on with a run that was killed or whose budget was spent. With --dream:
    {planted, planted_consolidated, recall_at_10_before, recall_at_10_after, recall_at_10_lost, amcr, ...}.
    """
    from mindmem.core.bench import locomo as recall
    from mindmem.core.bench import locomo_answers as answers
    from mindmem.core.bench import locomo_dream as dreaming

    folder, numbers = _data(data), _numbers(dialogues, "--dialogues")
    if dream:
        chosen = session.settings()
        with watching() as watch:
            results = dreaming.run(
                folder,
                seed=seed,
                dialogues=numbers,
                embedder=not lexical,
                strategy=strategy or chosen.search.strategy,
                watch=watch,
            )
        _show(session, results, out or Path("bench-results") / "locomo-dream")
        return
    if not (answer or judge):
        chosen = session.settings()
        with watching() as watch:
            results = recall.run(
                folder,
                seed=seed,
                dialogues=numbers,
                embedder=not lexical,
                mode=mode or chosen.ingest.mode,
                strategy=strategy or chosen.search.strategy,
                against=against,
                watch=watch,
            )
        _show(session, results, out or Path("bench-results") / "locomo")
        return
    settings, plan = _planned(session, asking, lexical=lexical, judge=judge, seed=seed, top_k=answers.TOP_K)
    settings = _with(settings, mode, strategy)
    if judge and plan.reader == "rules":
        click.echo(_JUDGE_IN_VAIN, err=True)
    place = out or Path("bench-results") / "locomo-answers"
    with watching() as watch:
        results = answers.run(
            folder,
            place,
            plan,
            settings=settings,
            dialogues=numbers,
            categories=_numbers(categories, "--categories") or (),
            watch=watch,
        )
    _show(session, results, place)


@bench.command(short_help="PersonaMem's multiple-choice questions.")
@_measuring("its files")
@_asking
@with_session
def personamem(
    session: Session, /, data: Path | None, lexical: bool, seed: int, out: Path | None, **asking: Any
) -> None:
    """Ingest PersonaMem's dialogues (32k) up to each question and choose among its four answers, by rules or a model.

    Needs questions_32k.csv and shared_contexts_32k.jsonl; where the second is missing, it is skipped and says so.

    JSON: {benchmark, command, seed, questions, incomplete, left, stopped, accuracy, by_type, unsure, failed, cost,
    ...}, or {benchmark, skipped, questions, by_type}.
    """
    from mindmem.core.bench import personamem as measure

    folder = _data(data)
    skipped = measure.missing(folder)
    if skipped is not None:
        if session.as_json:
            emit(skipped)
        else:
            click.echo(f"Skipped: {skipped['skipped']}")
        return
    settings, plan = _planned(session, asking, lexical=lexical, judge=False, seed=seed, top_k=measure.TOP_K)
    place = out or Path("bench-results") / "personamem"
    with watching() as watch:
        results = measure.run(folder, place, plan, settings=settings, watch=watch)
    _show(session, results, place)


@bench.command(short_help="FactConsolidation: facts, before and after a dream.")
@_measuring("its files")
@click.option("--sizes", metavar="SIZE,…", default="6k,32k,64k,262k", show_default=True, help="Contexts to ask about.")
@click.option("--strategy", "strategies", multiple=True, help="Strategy to search by; repeat for several.")
@click.option("--resolve-at-add", is_flag=True, help="Let adds supersede and merge; else the dream finds it all.")
@click.option("--no-dream", "dream", is_flag=True, flag_value=False, default=True, help="Ask before a dream only.")
@_asking
@with_session
def factconsolidation(
    session: Session,
    /,
    data: Path | None,
    sizes: str,
    strategies: tuple[str, ...],
    resolve_at_add: bool,
    dream: bool,
    lexical: bool,
    seed: int,
    out: Path | None,
    **asking: Any,
) -> None:
    """Ingest numbered facts that contradict each other, ask, dream and ask again: is the latest of them found and
    answered (single hop), and what a chain of them leads to (multi hop); does the dream retire what it should.

    JSON: {benchmark, command, seed, single_hop_sub_em, multi_hop_sub_em, latest_hit_at_1, latest_hit_at_5, the same
    with _before, amcr, amcr_ideal, stale_active_before, stale_active_after, supersede_precision, supersede_recall,
    false_archives, resolved_at_add, recall_retention, guards, by_size, by_strategy, ...}: the first strategy's means
    over the sizes, each size under by_size; shares are in 0..1. With --reader llm also model_single_hop_sub_em and
    model_multi_hop_sub_em. The store is kept in the output folder: --resume goes on, size by size.
    """
    from mindmem.core.bench import factconsolidation as measure

    settings, plan = _planned(session, asking, lexical=lexical, judge=False, seed=seed, top_k=measure.TOP_K)
    place = out or Path("bench-results") / "factconsolidation"
    with watching() as watch:
        results = measure.run(
            _data(data),
            place,
            plan,
            settings=settings,
            sizes=sizes.split(","),
            strategies=measure.chosen(strategies),
            resolve_at_add=resolve_at_add,
            dream=dream,
            watch=watch,
        )
    _show(session, results, place)


@bench.command(short_help="LongMemEval: session and turn recall, or answers.")
@_measuring("its file")
@_way
@_asking
@with_session
def longmemeval(
    session: Session,
    /,
    data: Path | None,
    strategy: str | None,
    mode: str | None,
    lexical: bool,
    answer: bool,
    judge: bool,
    seed: int,
    out: Path | None,
    **asking: Any,
) -> None:
    """Ingest LongMemEval's chats and measure whether the sessions and turns that answer each question are found, or
    (--answer) what is answered.

    JSON: {benchmark, command, seed, questions, session_recall_at_5..20, turn_recall_at_5..20, by_type, ...}; with
    --answer also f1, sub_em, and with --judge judge_accuracy; shares are in 0..1.
    """
    from mindmem.core.bench import longmemeval as measure

    settings, plan = _planned(session, asking, lexical=lexical, judge=judge, seed=seed, top_k=measure.TOP_K)
    if judge and plan.reader == "rules":
        click.echo(_JUDGE_IN_VAIN, err=True)
    place = out or Path("bench-results") / "longmemeval"
    with watching() as watch:
        results = measure.run(
            _data(data), place, plan, settings=_with(settings, mode, strategy), answer=answer or judge, watch=watch
        )
    _show(session, results, place)


def _with(settings: "Settings", mode: str | None, strategy: str | None) -> "Settings":
    """Return settings with the ingest's mode and the search's strategy where they are given."""
    ingest = settings.ingest.model_copy(update={"mode": mode} if mode else {})
    search = settings.search.model_copy(update={"strategy": strategy} if strategy else {})
    return settings.model_copy(update={"ingest": ingest, "search": search})


def _data(given: Path | None) -> Path:
    from mindmem.core.errors import InvalidInput
    from mindmem.core.settings import bench_data

    folder = given or bench_data()
    if folder is None:
        raise InvalidInput("Give the benchmark's folder with --data, or set MINDMEM_BENCH_DATA.", field="data")
    return folder


def _numbers(text: str | None, option: str) -> list[int] | None:
    from mindmem.core.errors import InvalidInput

    try:
        return [int(number) for number in text.split(",")] if text else None
    except ValueError as error:
        raise InvalidInput(f"{option} expects numbers such as 1,2,3, got {text!r}.", field=option) from error


def _planned(
    session: Session, asking: Mapping[str, Any], *, lexical: bool, judge: bool, seed: int, top_k: int
) -> "tuple[Settings, Plan]":
    from mindmem.core.bench.plan import Plan

    settings = session.settings()
    if lexical:
        settings = settings.model_copy(update={"embedder": "none"})
    given = {**asking, "top_k": asking["top_k"] or top_k}
    return settings, Plan.of(settings, judge=judge, seed=seed, **given)


def _show(session: Session, results: "Results", folder: Path) -> None:
    """Write results to their folder and print them."""
    from mindmem.core.bench.results import report, write

    write(results, folder)
    if session.as_json:
        emit(results.document())
    else:
        click.echo(report(results))
        click.echo(f"\nResults: {folder}")
