"""How a benchmark's questions are asked; what isn't said is taken from the settings, else from published protocols."""

from dataclasses import dataclass
from typing import Final, Literal

from mindmem.core.errors import InvalidInput
from mindmem.core.settings import Settings

__all__ = ["Family", "Plan"]

Family = Literal["rules", "llm"]
ANSWER_MODEL: Final = "gpt-4.1-mini"
JUDGE_MODEL: Final = "gpt-4o-mini"
"""The models of the published LOCOMO tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How questions are asked: who reads, whether a model judges (the rules never do: their word would say no more than
    F1), from how many memories, and at most how many questions."""

    reader: Family
    judge: bool
    answer_model: str
    judge_model: str
    top_k: int
    limit: int | None = None
    seed: int = 7
    resume: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= 100:
            raise InvalidInput(f"--top-k expects 1 to 100, got {self.top_k}.", field="top_k")
        if self.limit is not None and self.limit < 1:
            raise InvalidInput(f"--limit expects at least 1, got {self.limit}.", field="limit")

    @classmethod
    def of(
        cls,
        settings: Settings,
        *,
        reader: Family | None = None,
        judge: bool = False,
        answer_model: str | None = None,
        judge_model: str | None = None,
        top_k: int,
        limit: int | None = None,
        seed: int = 7,
        resume: bool = False,
    ) -> "Plan":
        """Return a plan: what isn't given is taken from the settings, else from the published protocols."""
        models = settings.llm.models
        return cls(
            reader=reader or settings.reasoner,
            judge=judge,
            answer_model=answer_model or models.get("answer", ANSWER_MODEL),
            judge_model=judge_model or models.get("judge", JUDGE_MODEL),
            top_k=top_k,
            limit=limit,
            seed=seed,
            resume=resume,
        )

    def options(self) -> str:
        """Return the options of the command line that say the same."""
        said = [f"--reader {self.reader}", f"--top-k {self.top_k}", f"--seed {self.seed}"]
        if self.reader == "llm":
            said += [f"--answer-model {self.answer_model}", f"--judge-model {self.judge_model}"]
        if self.limit:
            said.append(f"--limit {self.limit}")
        return " ".join(said)
