"""``mindmem bench``: measure retrieval quality and speed; results go to a folder."""

from pathlib import Path

import click

from mindmem.core.serve.console import Session, emit, watching, with_session

__all__ = ["bench"]


@click.group(short_help="Measure retrieval quality and speed.")
def bench() -> None:
    """Measure retrieval quality and speed on this machine.

    Results go to a folder: results.json (command, seed, versions, figures) and rows.jsonl (one row a question or size).
    """


@bench.command(short_help="Ingest, add and search times, memory, disk.")
@click.option("--sizes", metavar="N,N,…", help="Memories of one user to search over (default: 1000,10000).")
@click.option("--messages", type=click.IntRange(min=1), help="Messages to ingest (default: 400).")
@click.option("--full", is_flag=True, help="1k, 10k, 50k and 100k of one user; 100k and 1M in all. Takes a while.")
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of the generated texts and vectors.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results (default: bench-results/speed).")
@with_session
def speed(session: Session, sizes: str | None, messages: int | None, full: bool, seed: int, out: Path | None) -> None:
    """Measure ingest, add and search times, memory and disk on a temporary store.

    JSON: {benchmark, command, seed, add_p50_ms_by_size, search_p50_ms_by_size, ..., versions, machine}; times end in
    _ms or _s, sizes in _bytes. More is in rows.jsonl.
    """
    from mindmem.core.bench import speed as measure
    from mindmem.core.bench.results import report, write

    with watching() as watch:
        results = measure.run(measure.plan(sizes, full=full, messages=messages), seed=seed, watch=watch)
    folder = write(results, out or Path("bench-results") / "speed")
    if session.as_json:
        emit(results.document())
    else:
        click.echo(report(results))
        click.echo(f"\nResults: {folder}")


@bench.command(short_help="Evidence recall on LOCOMO's dialogues.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of locomo10.json (default: MINDMEM_BENCH_DATA).")
@click.option("--dialogues", metavar="N,N,…", help="Numbers of the dialogues, 1 to 10 (default: all).")
@click.option("--lexical", is_flag=True, help="Without the embedder.")
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of the bootstrap.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results (default: bench-results/locomo).")
@with_session
def locomo(
    session: Session, data: Path | None, dialogues: str | None, lexical: bool, seed: int, out: Path | None
) -> None:
    """Ingest LOCOMO's dialogues and measure whether the turns that answer each question are found.

    JSON: {benchmark, command, seed, recall_at_5..50, by_category, by_half, ingest_s, search_p50_ms, ...}; shares are
    in 0..1.
    """
    from mindmem.core.bench import locomo as measure
    from mindmem.core.bench.results import report, write
    from mindmem.core.errors import InvalidInput
    from mindmem.core.settings import bench_data

    folder = data or bench_data()
    if folder is None:
        raise InvalidInput("Give LOCOMO's folder with --data, or set MINDMEM_BENCH_DATA.", field="data")
    try:
        numbers = [int(number) for number in dialogues.split(",")] if dialogues else None
    except ValueError as error:
        raise InvalidInput(
            f"--dialogues expects numbers such as 1,2,3, got {dialogues!r}.", field="dialogues"
        ) from error
    with watching() as watch:
        results = measure.run(folder, seed=seed, dialogues=numbers, embedder=not lexical, watch=watch)
    written = write(results, out or Path("bench-results") / "locomo")
    if session.as_json:
        emit(results.document())
    else:
        click.echo(report(results))
        click.echo(f"\nResults: {written}")
