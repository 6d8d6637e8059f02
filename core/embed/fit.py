"""Make the projection of token vectors again: ``python -m mindmem.core.embed.fit WORDNET_FOLDER OUTPUT.npy``.

The folder holds WordNet 3.0's ``data.adj``, ``data.adv``, ``data.noun`` and ``data.verb`` (Debian: ``wordnet-base``).
From them 4,000 glosses and 6,000 example sentences are drawn with seed 0. It takes a minute on one core.
"""

import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from mindmem.core.embed.bundled import load_bundled
from mindmem.core.embed.projection import fit_projection

__all__ = ["main", "wordnet_texts"]

GLOSSES: Final = 4_000
EXAMPLES: Final = 6_000
DIMENSION: Final = 96


def wordnet_texts(folder: Path) -> list[str]:
    """Return the drawn glosses and example sentences of a WordNet folder, always the same ones."""
    glosses = [
        line.split(" | ", 1)[1].strip()
        for path in sorted(folder.glob("data.*"))
        for line in path.read_text("utf-8", errors="ignore").splitlines()
        if " | " in line
    ]
    examples = [example for gloss in glosses for example in re.findall(r'"([^"]{20,})"', gloss)]
    rng = random.Random(0)
    rng.shuffle(glosses)
    rng.shuffle(examples)
    return glosses[:GLOSSES] + examples[:EXAMPLES]


def main(arguments: Sequence[str]) -> None:
    """Fit on the folder's text and write the matrix as float16."""
    folder, output = map(Path, arguments)
    states = load_bundled().token_states(wordnet_texts(folder))
    np.save(output, fit_projection(states, DIMENSION).astype(np.float16))


if __name__ == "__main__":
    main(sys.argv[1:])
