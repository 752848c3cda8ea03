"""Blocks of a matrix that several passes read: in memory, in a scratch file, or made anew each time."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..._utils.validation import copies_in_memory

_SHARE = 0.25  # of this machine's memory that blocks may take
_READING = 1e9  # bytes a second that a scratch file is read with: what is made faster is made anew
_ROOM = 1.5  # times its size that a scratch file wants on the disk
_FIRST = 2**26  # bytes of blocks that tell how fast they are made


class BlockStore:
    """Rows (n, r), appended block by block, and then read block by block, as often as it takes.

    In memory while they fit; beyond that in a file without a name, which is gone with the process or ``close``,
    whatever happens; or nowhere, where making them takes less time than reading or the disk has no room.

    rebuild : function that returns the same blocks anew, or None where that cannot be done
    n_rows : how many will come, None where nobody knows
    memory : bytes that may be held, None for a quarter of this machine's memory
    folder : for the file, None for the system's
    """

    def __init__(self, rebuild: Callable[[], Iterable] | None = None, n_rows=None, memory=None, folder=None):
        self.rebuild, self.n_rows, self.folder = rebuild, n_rows, folder
        self.memory = _SHARE * 8 * copies_in_memory(1) if memory is None else memory
        self.held: list[np.ndarray] | None = []  # None once they are elsewhere
        self.file: Any = None
        self.sizes: list[int] = []
        self.width, self.dtype, self.bytes = 0, np.dtype(float), 0
        self._seconds, self._last = 0.0, time.perf_counter()

    def append(self, block):
        """Add rows; the array becomes the store's."""
        self._seconds += time.perf_counter() - self._last
        block = np.ascontiguousarray(block)
        self.width, self.dtype = block.shape[1], block.dtype
        self.sizes.append(len(block))
        self.bytes += block.nbytes
        if self.held is not None:
            self.held.append(block)
            if self.bytes > min(self.memory, _FIRST) and self._expected > self.memory:
                self._leave_memory()
        elif self.file is not None:
            self._write(block)
        self._last = time.perf_counter()

    @property
    def kind(self) -> str:
        """Where blocks are: "memory", "file" or "rebuilt"."""
        return "memory" if self.held is not None else "file" if self.file is not None else "rebuilt"

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.sizes), self.width

    @property
    def _expected(self) -> float:
        """Bytes in the end, as far as is known."""
        seen = sum(self.sizes)
        return self.bytes * max(self.n_rows / seen, 1.0) if self.n_rows and seen else self.bytes

    def _leave_memory(self):
        held, self.held = self.held or [], None
        made = self.bytes / max(self._seconds, 1e-9)
        room = shutil.disk_usage(self.folder or tempfile.gettempdir()).free > _ROOM * self._expected
        if self.rebuild is not None and (made > _READING or not room):
            return
        if not room:
            self.held = held
            raise OSError(
                f"the scratch file for features takes {self._expected / 2**30:.1f} GiB, and the disk has no room; give "
                "fewer features, a source that can be read again, or set TMPDIR to another disk"
            )
        self.file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115, closed by ``close`` or with the process
        for block in held:
            self._write(block)

    def _write(self, block):
        if block.size:  # memory of no entries cannot be looked at as bytes
            self.file.write(memoryview(block).cast("B"))

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Pairs (slice, rows); an array is good until the next."""
        parts, start = self._parts(), 0
        for size, block in zip(self.sizes, parts, strict=True):
            if block.shape != (size, self.width):
                raise ValueError(
                    f"a batch has {len(block)} rows that count, and had {size} when it was read first; a source must "
                    "give the same batches each time"
                )
            yield slice(start, start + size), block
            start += size

    def _parts(self):
        if self.held is not None:
            yield from self.held
        elif self.file is None:
            assert self.rebuild is not None
            yield from self.rebuild()
        else:
            self.file.flush()
            self.file.seek(0)
            buffer: Any = np.empty((max(self.sizes, default=0), self.width), dtype=self.dtype)
            for size in self.sizes:
                if buffer[:size].size:
                    self.file.readinto(memoryview(buffer[:size]).cast("B"))
                yield buffer[:size]

    def close(self):
        """Forget the blocks, and remove the file."""
        if self.file is not None:
            self.file.close()
        self.held, self.file, self.sizes = [], None, []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
