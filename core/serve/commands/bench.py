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
@click.option("--full", is_flag=True, help="1k, 10k, 50k and 100k of one user; 100k and 1M in all. Takes a while.")
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of the generated texts and vectors.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results (default: bench-results/speed).")
@with_session
def speed(session: Session, sizes: str | None, full: bool, seed: int, out: Path | None) -> None:
    """Measure ingest, add and search times, memory and disk on a temporary store.

    JSON: {benchmark, command, seed, versions, machine, figures..., rows: [...]}; times end in _ms, sizes in _bytes.
    """
    from mindmem.core.bench import speed as measure
    from mindmem.core.bench.results import report, write

    with watching() as watch:
        results = measure.run(measure.plan(sizes, full=full), seed=seed, watch=watch)
    folder = write(results, out or Path("bench-results") / "speed")
    if session.as_json:
        emit(results.document())
    else:
        click.echo(report(results))
        click.echo(f"\nResults: {folder}")
