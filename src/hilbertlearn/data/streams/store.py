"""Blocks of a matrix for several passes: in memory, in a scratch file, or computed again in each pass."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..._utils.validation import copies_in_memory

_MEMORY_SHARE = 0.25  # share of the machine's memory for blocks
_READ_SPEED = 1e9  # bytes a second at which a scratch file is read; blocks that are computed faster are computed again
_DISK_MARGIN = 1.5  # free space on the disk, in multiples of the size of a scratch file
_FIRST_BYTES = 2**26  # bytes of blocks (64 MB) after which the speed of their computation is known


class BlockStore:
    """Rows (n, r) that are appended in blocks, and then read in blocks any number of times.

    Blocks stay in memory while they fit. Beyond, they are in an unnamed file, which vanishes with the process or
    ``close``. Blocks are computed again in each pass if that is faster than reading, or if the disk has no room.

    rebuild : function that returns the same blocks again, or None if that is impossible
    n_rows : total number of rows, None if unknown
    memory : bytes for blocks, None for a quarter of the machine's memory
    folder : of the file, None for the system's temporary folder
    """

    def __init__(self, rebuild: Callable[[], Iterable] | None = None, n_rows=None, memory=None, folder=None):
        self.rebuild, self.n_rows, self.folder = rebuild, n_rows, folder
        self.memory = _MEMORY_SHARE * 8 * copies_in_memory(1) if memory is None else memory
        self.in_memory: list[np.ndarray] | None = []  # None once they left memory
        self.file: Any = None
        self.sizes: list[int] = []
        self.width, self.dtype, self.bytes = 0, np.dtype(float), 0
        self._seconds, self._last = 0.0, time.perf_counter()

    def append(self, block):
        """Append rows; the store keeps the array."""
        self._seconds += time.perf_counter() - self._last
        block = np.ascontiguousarray(block)
        self.width, self.dtype = block.shape[1], block.dtype
        self.sizes.append(len(block))
        self.bytes += block.nbytes
        if self.in_memory is not None:
            self.in_memory.append(block)
            if self.bytes > min(self.memory, _FIRST_BYTES) and self._expected > self.memory:
                self._leave_memory()
        elif self.file is not None:
            self._write(block)
        self._last = time.perf_counter()

    @property
    def kind(self) -> str:
        """Where blocks are: "memory", "file" or "rebuilt"."""
        return "memory" if self.in_memory is not None else "file" if self.file is not None else "rebuilt"

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.sizes), self.width

    @property
    def _expected(self) -> float:
        """Expected number of bytes of all rows."""
        n_read = sum(self.sizes)
        return self.bytes * max(self.n_rows / n_read, 1.0) if self.n_rows and n_read else self.bytes

    def _leave_memory(self):
        """Write the blocks to a file, or drop them if they are computed again."""
        blocks, self.in_memory = self.in_memory or [], None
        speed = self.bytes / max(self._seconds, 1e-9)
        room = shutil.disk_usage(self.folder or tempfile.gettempdir()).free > _DISK_MARGIN * self._expected
        if self.rebuild is not None and (speed > _READ_SPEED or not room):
            return
        if not room:
            self.in_memory = blocks
            raise OSError(
                f"the scratch file for features takes {self._expected / 2**30:.1f} GiB, and the disk has no room; give "
                "fewer features, a source that can be read again, or set TMPDIR to another disk"
            )
        self.file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115, closed by ``close`` or with the process
        for block in blocks:
            self._write(block)

    def _write(self, block):
        if block.size:  # an empty array has no memory view
            self.file.write(memoryview(block).cast("B"))

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Pairs (slice, rows); an array is valid until the next pair."""
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
        if self.in_memory is not None:
            yield from self.in_memory
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
        """Drop the blocks and remove the file."""
        if self.file is not None:
            self.file.close()
        self.in_memory, self.file, self.sizes = [], None, []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
