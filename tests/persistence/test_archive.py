"""The zip archive: damaged, forged and unfinished files."""

import json
import os
import stat
import warnings
import zipfile

import numpy as np
import pytest
from helpers.stored_models import NEW, assert_refused, vector
from numpy.testing import assert_array_equal

from hilbertlearn import load, losses, save
from hilbertlearn.persistence import ModelFileError, archive


def test_two_hundred_flipped_bytes(small, file):
    content, expected = file.read_bytes(), small.predict(NEW)
    refused = 0
    for position in np.random.default_rng(0).integers(0, len(content), 200):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        file.write_bytes(damaged)
        try:
            again = load(file)
        except ModelFileError:
            refused += 1
        else:
            assert_array_equal(again.predict(NEW), expected)  # a byte that zip archives do not need
    assert refused > 100


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_files_that_end_early(file, share):
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    assert_refused(file, "model.hl", "save the model again")


def test_other_files(tmp_path):
    (tmp_path / "text").write_text("no archive")
    assert_refused(tmp_path / "text", "no file of a model")
    with zipfile.ZipFile(tmp_path / "zip", "w") as other:
        other.writestr("data.csv", "1,2")
    assert_refused(tmp_path / "zip", "not one of a model")
    np.savez(tmp_path / "arrays.npz", a=np.ones(3))
    assert_refused(tmp_path / "arrays.npz", "not one of a model")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.hl")


def rewritten(file, members, compression=zipfile.ZIP_STORED):
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as written:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in members:
            written.writestr(name, content)
    return file


def contents(file):
    with zipfile.ZipFile(file) as stored:
        return [(name, stored.read(name)) for name in stored.namelist()]


def test_members_must_be_those_of_a_model(file):
    members = contents(file)
    assert_refused(rewritten(file, members[:-1]), "not those that were saved")
    assert_refused(rewritten(file, [m for m in members if m[0] != "model.json"]), "not those that were saved")
    assert_refused(rewritten(file, members[1:]), "manifest.json")
    assert_refused(rewritten(file, [*members, members[1]]), "members that save does not write")
    for name in ("../evil.npy", "/etc/evil", "arrays/../evil.npy", "arrays/00.npy", "arrays/1.pkl", "ARRAYS/1.npy"):
        assert_refused(rewritten(file, [*members, (name, b"")]), "members that save does not write")
    assert_refused(rewritten(file, members, zipfile.ZIP_DEFLATED), "compressed")


def test_bombs(file):
    members = contents(file)
    assert_refused(rewritten(file, [*members, ("arrays/99.npy", bytes(2**24))], zipfile.ZIP_BZIP2), "compressed")
    for nested in (b"[" * 100_000 + b"]" * 100_000, b'{"root":' * 5000 + b"1" + b"}" * 5000):
        for name in ("manifest.json", "model.json"):
            changed = [(key, nested if key == name else content) for key, content in members]
            assert_refused(rewritten(file, changed))
    digits = b'{"root":' + b"9" * 10_000 + b',"nodes":[]}'
    archive.write_archive(file, {"model.json": digits}, {})
    assert_refused(file, "JSON")


def test_versions(file):
    assert_refused_version(file, archive.VERSION + 1, "newer hilbertlearn", "pip install --upgrade")
    assert_refused_version(file, 0, "no version 0")


def assert_refused_version(file, version, *words):
    members = contents(file)
    manifest = {**json.loads(members[0][1]), "version": version}
    rewritten(file, [("manifest.json", json.dumps(manifest)), *members[1:]])
    assert_refused(file, *words)


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("place", [(zipfile.ZipFile, "writestr"), (os, "fsync"), (os, "replace")])
def test_a_save_that_fails_leaves_the_earlier_file(small, file, monkeypatch, place):
    before = file.read_bytes()

    def fail(*args, **kwargs):
        raise Interrupted

    monkeypatch.setattr(*place, fail)
    with pytest.raises(Interrupted):
        save(losses.Huber(), file)
    monkeypatch.undo()
    assert file.read_bytes() == before and os.listdir(file.parent) == ["model.hl"]
    assert_array_equal(load(file).predict(NEW), small.predict(NEW))


def test_a_model_that_cannot_be_stored_leaves_the_earlier_file(file):
    before = file.read_bytes()
    with pytest.raises(TypeError, match=r"^loss"):
        save(vector(loss=iter([])), file)
    assert file.read_bytes() == before and os.listdir(file.parent) == ["model.hl"]


def test_a_disk_that_is_full_and_folders_that_are_not_there(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        save(losses.Huber(), tmp_path / "nowhere" / "model.hl")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save(losses.Huber(), tmp_path / "model.hl")
    assert os.listdir(tmp_path) == []


def test_links_go_on_to_name_the_file(tmp_path):
    save(losses.Huber(1.0), tmp_path / "model.hl")
    os.symlink(tmp_path / "model.hl", tmp_path / "link")
    assert save(losses.Huber(2.0), str(tmp_path / "link")) == tmp_path / "link"
    assert os.path.islink(tmp_path / "link") and load(tmp_path / "model.hl").kappa == 2.0


def test_folders_and_long_names(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        save(losses.Huber(), tmp_path)
    assert load(save(losses.Huber(2.0), tmp_path / ("n" * 255))).kappa == 2.0
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_who_may_read_a_file_stays_as_it_was(tmp_path):
    def mode(path):
        return stat.S_IMODE(os.stat(path).st_mode)

    (tmp_path / "plain").write_bytes(b"")
    assert mode(save(losses.Huber(), tmp_path / "new.hl")) == mode(tmp_path / "plain")  # as the umask says
    for secret in (0o600, 0o440):
        os.chmod(tmp_path / "new.hl", secret)
        assert mode(save(losses.Huber(), tmp_path / "new.hl")) == secret


def test_a_model_may_be_saved_to_the_file_it_came_from(small, file):
    with open(file, "rb") as reader:  # someone is reading it
        save(load(file), file)
        assert reader.read(2) == b"PK"
    assert_array_equal(load(file).predict(NEW), small.predict(NEW))
