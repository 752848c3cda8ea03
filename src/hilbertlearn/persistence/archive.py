"""The file: a zip archive of named members, none of them compressed, with a digest over all of them.

A member is as large as its place in the file, so that a small file cannot take much memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from .._utils.atomic_files import write_atomically
from .errors import ModelFileError

FORMAT = "hilbertlearn model"
VERSION = 1  # of the format; files of a higher version are refused
MANIFEST, MODEL = "manifest.json", "model.json"
_ARRAY = re.compile(r"arrays/(0|[1-9][0-9]{0,8})\.npy")
_DATE = (1980, 1, 1, 0, 0, 0)  # the first date of zip archives: the same model gives the same bytes on any day
_REMEDY = "save the model again, or copy the file again from where it came"


def array_name(number: int) -> str:
    """The name of the member that holds an array."""
    return f"arrays/{number}.npy"


def write_archive(path, members: Mapping[str, bytes], versions: dict) -> Path:
    """Write the members and a manifest; if writing fails, an earlier file stays and no part is left behind."""
    about = {"format": FORMAT, "version": VERSION, "versions": versions}
    manifest = to_json({**about, "digest": _digest(about, members)})
    with write_atomically(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {MANIFEST: manifest, **members}.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(entry, content)
    return Path(path)


def read_archive(path) -> tuple[dict[str, bytes], dict]:
    """All members but the manifest, and the versions of the packages that wrote them, after a check of the digest."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive, path)
            about = _manifest(archive.read(MANIFEST), path)  # first: a newer version may change the other members
            members = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OverflowError, UnicodeError) as error:
        raise ModelFileError(f"{path} is no file of a model, or damaged ({error}); {_REMEDY}") from error
    del members[MANIFEST]
    digest = about.pop("digest", None)
    if digest != _digest(about, members):
        raise ModelFileError(f"{path}: its contents are not those that were saved; {_REMEDY}")
    if MODEL not in members:
        raise ModelFileError(f"{path} has no {MODEL}; {_REMEDY}")
    versions = about.get("versions")
    return members, versions if isinstance(versions, dict) else {}


def to_json(value) -> bytes:
    """Compact JSON in ASCII; NaN and infinity are refused."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def from_json(content: bytes, source):
    """The value of a JSON text; `source` names it in errors."""
    try:
        return json.loads(content.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{source} is no JSON that save writes ({error}); {_REMEDY}") from error


def _refuse_constant(name):
    raise ValueError(f"{name} in it")


def _digest(about: dict, members: Mapping[str, bytes]) -> str:
    """SHA-256 of the rest of the manifest and of the names, lengths and contents of all members."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(members):
        digest.update(f"\n{name} {len(members[name])}\n".encode())
        digest.update(members[name])
    return digest.hexdigest()


def _check_entries(archive: zipfile.ZipFile, path):
    """Raise unless the members have names of a model file, each once, uncompressed and not larger than the file."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if MANIFEST not in names:
        raise ModelFileError(f"{path} is a zip archive, and not one of a model: it has no {MANIFEST}")
    unknown = [name for name in names if name not in (MANIFEST, MODEL) and not _ARRAY.fullmatch(name)]
    if unknown or len(set(names)) < len(names):
        raise ModelFileError(f"{path} has members that save does not write, {(unknown or names)[:3]!r}; {_REMEDY}")
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise ModelFileError(f"{path}: {entry.filename} is compressed, which save does not do; {_REMEDY}")
    if sum(entry.file_size for entry in entries) > os.path.getsize(path):
        raise ModelFileError(f"{path}: its members are said to be larger than the file; {_REMEDY}")


def _manifest(content: bytes, path) -> dict:
    about = from_json(content, f"{path}: {MANIFEST}")
    if not isinstance(about, dict) or about.get("format") != FORMAT or type(about.get("version")) is not int:
        raise ModelFileError(f"{path} is a zip archive, and not one of a model: its {MANIFEST} says something else")
    if about["version"] > VERSION:
        raise ModelFileError(
            f"{path} was written by a newer hilbertlearn (version {about['version']} of the format, this one reads up "
            f"to {VERSION}); upgrade with: pip install --upgrade hilbertlearn"
        )
    if about["version"] != VERSION:
        raise ModelFileError(f"{path}: there is no version {about['version']} of the format; {_REMEDY}")
    return about
