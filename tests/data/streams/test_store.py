"""Stores of blocks: in memory, in a scratch file, or computed again."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.data.streams import BlockStore
from hilbertlearn.data.streams import store as store_module

N, R, D = 60, 5, 3
rng = np.random.default_rng(0)
Z, A, C = rng.normal(size=(N, R)), rng.normal(size=(N, D)), rng.normal(size=(R, D))
CUTS = [7, 8, 30]


def parts():
    return np.split(Z, CUTS)


def filled(monkeypatch, kind, **options):
    """A store of Z that holds its blocks where `kind` says."""
    monkeypatch.setattr(store_module, "_FIRST_BYTES", 8 * R * 10)
    monkeypatch.setattr(store_module, "_READ_SPEED", 0.0 if kind == "rebuilt" else np.inf)
    memory = np.inf if kind == "memory" else 8 * R * 20
    store = BlockStore(parts, memory=memory, **options)
    for part in parts():
        store.append(part.copy())
    assert store.kind == kind and store.shape == Z.shape
    return store


@pytest.mark.parametrize("kind", ["memory", "file", "rebuilt"])
@pytest.mark.parametrize("n_rows", [None, N])
def test_a_store_gives_what_it_was_given(kind, n_rows, monkeypatch):
    with filled(monkeypatch, kind, n_rows=n_rows) as store:
        for _ in range(2):
            assert_array_equal(np.concatenate([block.copy() for _, block in store.blocks()]), Z)
            assert [rows.stop for rows, _ in store.blocks()] == [*CUTS, N]


def test_a_scratch_file_leaves_nothing_behind(monkeypatch, tmp_path):
    store = filled(monkeypatch, "file", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []  # it has no name from the start
    file = store.file
    store.close()
    assert file.closed


def test_a_full_disk_is_told_or_gone_around(monkeypatch):
    monkeypatch.setattr(store_module, "_DISK_MARGIN", np.inf)
    with filled(monkeypatch, "rebuilt") as store:
        assert_array_equal(np.concatenate([block for _, block in store.blocks()]), Z)
    store = BlockStore(None, memory=8 * R * 20)
    with pytest.raises(OSError, match="disk has no room; give fewer features"):
        for part in parts():
            store.append(part)


def test_batches_that_change_between_passes_are_told(monkeypatch):
    store = filled(monkeypatch, "rebuilt")
    store.rebuild = lambda: iter([Z[:6], *parts()[1:]])
    with pytest.raises(ValueError, match="same batches each time"):
        list(store.blocks())
