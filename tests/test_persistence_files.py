"""Files of models that are damaged, forged or not written to the end: nothing of them is run, and nothing is lost."""

import json
import os
import stat
import warnings
import zipfile

import numpy as np
import pytest
from helpers.stored_models import NEW, NUMBERS, VECTORS, X, assert_refused, vector
from numpy.testing import assert_array_equal
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import load, losses, save
from hilbertlearn.persistence import ModelFileError, archive
from hilbertlearn.persistence.arrays import array_bytes, array_of


@pytest.fixture(scope="module")
def small():
    return vector().fit(X[:6], VECTORS[:6])


@pytest.fixture
def file(small, tmp_path):
    return save(small, tmp_path / "model.hl")


def forged(path, change, **manifest):
    """The file with another model.json and arrays, and a digest that is right for them."""
    members, versions = archive.read_archive(path)
    model = json.loads(members["model.json"])
    model = change(model, members) or model
    members["model.json"] = json.dumps(model).encode()
    archive.write_archive(path, members, {**versions, **manifest})
    return path


# ---------------------------------------------------------------- files that are damaged


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


def test_another_scikit_learn_is_told_where_it_matters(small, file, tmp_path):
    def same(model, members):
        return None

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(forged(file, same, **{"scikit-learn": "0.24.1"}))  # has nothing of it
        other = save(Ridge(), tmp_path / "ridge.hl")
        load(other)
    with pytest.warns(UserWarning, match=r"scikit-learn 0\.24\.1.*fit again") as told:
        load(forged(other, same, **{"scikit-learn": "0.24.1"}))
    assert told[0].filename == __file__


# ---------------------------------------------------------------- files that are not written to the end


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


# ---------------------------------------------------------------- files that somebody has forged


def first(model, **wanted):
    """The first node with these entries."""
    return next(node for node in model["nodes"] if all(node.get(key) == value for key, value in wanted.items()))


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.utils.Bunch",
        "sklearn.datasets.load_iris",
        "sklearn.linear_model._base.LinearModel",
        "sklearn.pipeline.delayed",
        "sklearn.ensemble.GradientBoostingRegressor",
        "sklearn.svm.SVC",
        "hilbertlearn.vector.OperatorKernelRegressor",
        "machine.KernelMachine",
        "data.ParquetSource",
        "estimators.__class__",
        "estimators.",
        "",
        ["machine.State"],
        None,
        7,
    ],
)
def test_classes_that_are_not_in_the_table(file, name):
    def change(model, members):
        first(model, **{"is": "object"})["class"] = name

    assert_refused(forged(file, change))


@pytest.mark.parametrize("kind", ["type", "function", "import", "object"])
@pytest.mark.parametrize(
    "name", ["os.system", "os:system", "builtins.eval", "builtins:eval", "numpy.save", "numpy.load"]
)
def test_code_that_is_not_in_the_table(file, kind, name):
    def change(model, members):
        node = {"is": kind, "of": [name]} if kind != "object" else {"is": kind, "class": f"import {name}", "of": {}}
        model["nodes"] = [node]
        model["root"] = [0]

    assert_refused(forged(file, change))


@pytest.mark.parametrize(
    "name",
    [
        "__class__",
        "__dict__",
        "__reduce__",
        "__call__",
        "fit",
        "predict",
        "_check_settings",
        "_skl_callbacks",
        "_parameter_constraints",
        "dual_coef_",
        "a b",
        "",
        "1a",
    ],
)
def test_attributes_that_no_object_has(file, name):
    def change(model, members):
        first(model, **{"class": "vector.OperatorKernelRegressor"})["of"][name] = 1

    assert_refused(forged(file, change), "OperatorKernelRegressor", repr(name))


def test_fields_that_a_dataclass_has_not(file):
    def change(model, members):
        first(model, **{"class": "machine.State"})["of"]["another"] = 1

    assert_refused(forged(file, change), "State", "another")


@pytest.mark.parametrize(
    "node",
    [
        {"is": "list", "of": [[10**9]]},
        {"is": "list", "of": [[-1]]},
        {"is": "list", "of": [[1.0]]},
        {"is": "list", "of": [[True]]},
        {"is": "list", "of": [[0, 1]]},
        {"is": "list", "of": [{}]},
        {"is": "list", "of": {}},
        {"is": "list"},
        {"is": "list", "class": "losses.Huber", "of": []},
        {"is": "tuple", "class": "_utils.Spectrum", "of": [1]},
        {"is": "tuple", "class": "losses.Huber", "of": []},
        {"is": "tuple", "of": [[0]]},
        {"is": "dict", "of": [1]},
        {"is": "dict", "of": [[0], 1]},
        {"is": "object", "class": "data.ObjectList", "of": {}},
        {"is": "object", "class": "losses.Huber", "of": []},
        {"is": "array", "of": ["model.json"]},
        {"is": "array", "of": ["arrays/999.npy"]},
        {"is": "array", "of": [[0]]},
        {"is": "array", "of": []},
        {"is": "object_array", "of": ["C", 2, 10**9, 10**9]},
        {"is": "object_array", "of": ["C", 1, -1]},
        {"is": "scalar", "of": ["|O", "0000"]},
        {"is": "scalar", "of": ["<f8", "0"]},
        {"is": "dtype", "of": ["i4,O"]},
        {"is": "float", "of": ["1.5"]},
        {"is": "int", "of": ["0x"]},
        {"is": "zone", "of": ["../../etc/passwd"]},
        {"is": "bytes", "of": [1]},
        {"is": "random_state", "of": [1, 2, 3, 4]},
        {"is": "partial", "of": [1, 0]},
        {"is": "pandas.missing", "of": ["read_pickle"]},
        {"is": "pandas.dtype", "of": ["read_pickle"]},
        {"is": "polars.dtype", "of": ["scan_csv"]},
        {"is": "networkx", "of": ["read_gpickle", 1, 2, 3]},
        {"is": "compressed", "of": ["load_npz", 1, 2, 3]},
        {"is": "coordinates", "of": ["load_npz", 1, 2, 3]},
        {"is": "pickle", "of": ["gASVCg=="]},
        {"is": "__class__", "of": []},
        {"is": 3},
        {},
        [],
    ],
    ids=str,
)
def test_nodes_that_are_none(tmp_path, node):
    stored = {"root": [0], "nodes": [node]}
    archive.write_archive(tmp_path / "file", {"model.json": json.dumps(stored).encode()}, {})
    assert_refused(tmp_path / "file")


@pytest.mark.parametrize(
    "stored", [[], {}, {"root": 1}, {"root": [0], "nodes": {}}, {"root": {}, "nodes": []}, 1, None]
)
def test_tables_that_are_none(tmp_path, stored):
    archive.write_archive(tmp_path / "file", {"model.json": json.dumps(stored).encode()}, {})
    assert_refused(tmp_path / "file")


def npy(header, content=b""):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


@pytest.mark.parametrize(
    "content",
    [
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"cos\nsystem\n(S'true'\ntR."),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", bytes(8)),
        npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        npy("{'descr': '<U0', 'fortran_order': False, 'shape': (10000000000,), }"),
        npy("{'descr': '|V8', 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        npy("__import__('os').system('true')", bytes(8)),
        npy("(" * 100 + ")" * 10, bytes(8)),
        npy(""),
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY",
        b"",
    ],
    ids=range(16),
)
def test_arrays_that_are_none(content):
    with pytest.raises(ModelFileError):
        array_of(content, "arrays/0.npy")


@pytest.mark.parametrize("order", "CF")
def test_arrays_keep_their_order(order):
    array = np.asarray(np.random.default_rng(0).normal(size=(4, 3, 2)), order=order)
    for stored in (array, array[::2], array[:0], array.astype(">f4"), array[0, 0, 0]):
        again = array_of(array_bytes(stored), "arrays/0.npy")
        assert_array_equal(again, stored, strict=True)
        assert again.flags.writeable and again.flags.aligned
        contiguous = np.asarray(stored).copy(order="A")  # what is in neither order is in C's
        assert again.strides == contiguous.strides


# ---------------------------------------------------------------- what compiled code reads without looking


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("left_child", 10**6),
        ("left_child", 0),
        ("left_child", -2),
        ("left_child", -1),
        ("right_child", 1),
        ("feature", 4),
        ("feature", -1),
        ("feature", 2**40),
    ],
)
def test_forged_trees(tmp_path, column, value):
    path = save(ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS), tmp_path / "forest.hl")

    def change(model, members):
        parts = first(model, **{"is": "tree"})["of"]
        (node,) = parts[parts.index(column) + 1]
        (name,) = model["nodes"][node]["of"]
        array = array_of(members[name], name)
        array[0] = value
        members[name] = array_bytes(array)

    assert_refused(forged(path, change), "tree")


@pytest.mark.parametrize(
    ("position", "value"), [(0, 2), (0, 100), (0, 0), (1, 0), (1, -1), (1, "a"), (2, None), (3, None), (4, "feature")]
)
def test_trees_with_other_numbers(tmp_path, position, value):
    path = save(ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS), tmp_path / "forest.hl")

    def change(model, members):
        first(model, **{"is": "tree"})["of"][position] = value

    assert_refused(forged(path, change))


@pytest.mark.parametrize("name", ["n_features_in_", "n_outputs_"])
def test_forests_of_other_features(tmp_path, name):
    path = save(ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS), tmp_path / "forest.hl")

    def change(model, members):
        trees = [node for node in model["nodes"] if node.get("class") == "sklearn.tree.ExtraTreeRegressor"]
        trees[-1]["of"][name] = 50

    assert_refused(forged(path, change), "tree")


def test_forests_where_the_first_tree_takes_others(tmp_path):
    other = ExtraTreesRegressor(2, random_state=0).fit(X[:, :2], VECTORS)
    mixed = ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS)
    mixed.estimators_[0] = other.estimators_[0]
    path = save(mixed, tmp_path / "forest.hl")
    assert_refused(path, "trees of other features")


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_neighbours_of_other_features(tmp_path, algorithm):
    model = KNeighborsRegressor(3, algorithm=algorithm).fit(X, NUMBERS)
    path = save(model, tmp_path / "model.hl")
    assert_array_equal(load(path).predict(NEW), model.predict(NEW))
    model.n_features_in_ = 1000
    assert_refused(save(model, path), "samples of another shape")


def test_folders_of_pickles(tmp_path):
    model = make_pipeline(StandardScaler(), Ridge(), memory=str(tmp_path))
    with pytest.raises(TypeError, match="memory=None"):
        save(model, tmp_path / "model.hl")
    path = save(model.set_params(memory=None), tmp_path / "model.hl")

    def change(model, members):
        first(model, **{"class": "sklearn.pipeline.Pipeline"})["of"]["memory"] = str(tmp_path)

    assert_refused(forged(path, change), "pickles")


def test_attributes_that_could_not_be_loaded_are_not_saved(small, tmp_path):
    model = Ridge().fit(X, NUMBERS)
    model.predict = 3
    with pytest.raises(TypeError, match=r"model has attributes .*'predict'"):
        save(model, tmp_path / "model.hl")
    assert os.listdir(tmp_path) == []


def test_sparse_matrices_that_point_elsewhere(tmp_path):
    import scipy.sparse

    S = scipy.sparse.csr_array(np.eye(4))
    path = save([S], tmp_path / "file")
    assert_array_equal(load(path)[0].toarray(), np.eye(4))
    S.indices[2] = 10**6
    assert_refused(save([S], path))
    C = scipy.sparse.coo_array(np.eye(4))
    C.coords[0][1] = 77
    assert_refused(save([C], path))
