"""Model files that are forged, or written and read back."""

import json

from hilbertlearn import load, save
from hilbertlearn.persistence import archive


def roundtrip(value, tmp_path):
    """A value, saved and loaded."""
    return load(save(value, tmp_path / "value.hl"))


def forge(path, change, **manifest):
    """Change model.json and the arrays of a file, and write a digest that is right for them."""
    members, versions = archive.read_archive(path)
    model = json.loads(members["model.json"])
    model = change(model, members) or model
    members["model.json"] = json.dumps(model).encode()
    archive.write_archive(path, members, {**versions, **manifest})
    return path


def write_nodes(path, nodes):
    """A file of these nodes; the last one is the model."""
    stored = {"root": [len(nodes) - 1], "nodes": nodes}
    archive.write_archive(path, {"model.json": json.dumps(stored).encode()}, {})
    return path


def first_node(model, **entries):
    """The first node with these entries."""
    return next(node for node in model["nodes"] if all(node.get(key) == value for key, value in entries.items()))
