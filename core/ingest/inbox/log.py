"""What was taken from an inbox, remembered in the ledger: whole files by content, messages of a file by their prints.

The user's files stay where they are. A file whose content was taken is passed over, under any name; in a file that has
changed, only messages that its earlier state did not hold are new.
"""

import base64
import json
from array import array
from collections.abc import Set as AbstractSet

from mindmem.core.failpoints import reach
from mindmem.core.ids import digest
from mindmem.core.ingest.inbox.batches import Source
from mindmem.core.ingest.inbox.files import InboxFile
from mindmem.core.ledger.port import Ledger

__all__ = ["InboxLog"]

_PRINT = "Q"  # 64 bits


class InboxLog:
    """The ledger's memory of one project's inbox files."""

    def __init__(self, ledger: Ledger, source: Source) -> None:
        self._ledger = ledger
        self._source = source

    def finished(self, file: InboxFile) -> bool:
        """Return whether a file of this content was taken completely, for the same owner."""
        return self._ledger.get_meta(self._content_name(file)) is not None

    def known(self, file: InboxFile) -> frozenset[int]:
        """Return the prints of the messages that were taken from this file's earlier states."""
        text = self._ledger.get_meta(self._file_name(file))
        if text is None:
            return frozenset()
        prints = array(_PRINT)
        prints.frombytes(base64.b64decode(text))
        return frozenset(prints)

    def remember(self, file: InboxFile, prints: AbstractSet[int], *, complete: bool) -> None:
        """Remember which messages of the file's present state were taken, and with ``complete`` the file as a whole."""
        packed = array(_PRINT, sorted(prints))
        self._ledger.set_meta(self._file_name(file), base64.b64encode(packed.tobytes()).decode("ascii"))
        if complete:
            self._ledger.set_meta(self._content_name(file), json.dumps({"file": file.name, "bytes": file.size}))
            reach("ingest.file_done")

    def _content_name(self, file: InboxFile) -> str:
        return "inbox.content." + digest(self._source.project_id, self._source.user_id or "", file.sha256)

    def _file_name(self, file: InboxFile) -> str:
        return "inbox.file." + digest(self._source.project_id, self._source.user_id or "", str(file.path.absolute()))
