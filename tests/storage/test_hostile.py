"""Files that nobody should trust, each refused for its own reason; and the fast part of the fuzzing."""

import io
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import SVC
from mercer.errors import ModelFileError
from mercer.storage.format import Member, described, parse
from tests.storage import fuzz
from tests.storage.samples import X, Y, fitted, npy, rewritten, with_header, zip_end

DATA = Path(__file__).parent / "data"


@pytest.fixture
def refused(tmp_path):
    """Loading these bytes is refused with such a message."""

    def check(data: bytes, message: str, **options) -> None:
        path = tmp_path / "model"
        path.write_bytes(data)
        with pytest.raises(ModelFileError) as caught:
            mercer.load(path, **options)
        before, found, reason = str(caught.value).partition(repr(str(path)))
        assert (before, found) == ("Cannot load ", repr(str(path)))
        assert re.search(message, reason), reason  # not in the path, which has the name of the test in it
        assert len(reason) < 800

    return check


@pytest.fixture(scope="module")
def dense() -> bytes:
    return fuzz.pristine("dense")


def swapped(data: bytes, **arrays) -> bytes:
    """The file with some arrays replaced, and the header telling the truth about them."""

    def change(members):
        header = json.loads(members["header.json"])
        for key, array in arrays.items():
            name = key.replace("__", "/")
            member, plain = described(np.asarray(array))
            header["members"][name] = {"dtype": member.dtype, "shape": list(member.shape), "sha256": member.sha256}
            members[f"{name}.npy"] = member.prefix + plain.tobytes()
        members["header.json"] = json.dumps(header).encode()

    return rewritten(data, change)


def test_untouched_rewriting_is_accepted(dense, tmp_path):
    """The tools of these tests do no harm by themselves."""
    for number, data in enumerate((rewritten(dense, lambda members: None), with_header(dense, lambda header: None))):
        (tmp_path / str(number)).write_bytes(data)
        mercer.load(tmp_path / str(number))


@pytest.mark.parametrize("block", range(6))
def test_fuzz(block):
    outcomes = fuzz.main(56, first=block * 56)
    assert sum(outcomes.values()) == 56


def test_memory_of_hostile_files(tmp_path):
    for seed in range(11, 250, 7):  # declared shapes, deep texts, bombs, and others
        size = len(fuzz.case(seed)[2])
        assert fuzz.memory_of(seed, tmp_path / "model") < 20 * 2**20 + 60 * size


# ------------------------------------------------------------------------------------------------------------- header


def test_versions(dense, refused):
    def newer(header):
        header.update(version=2, mercer="9.9", surprise={"new": "things"})

    refused(with_header(dense, newer), r"written by mercer '9\.9' in version 2.*up to version 1\. Upgrade mercer")
    for wrong in (0, -1, "1", 1.0, True, None, 2**70):
        refused(with_header(dense, lambda header, wrong=wrong: header.update(version=wrong)), "version|out of range")
    refused(with_header(dense, lambda header: header.update(format="other")), "not a Mercer model file")


def test_first_version_still_loads():
    path = DATA / "version-1.mercer"
    loaded = mercer.load(path)
    rows = {"word": ["GATTACA", "CCGCG", "ATATAT"], "a": [0.5, -1.0, 0.0], "b": [1.0, 0.25, -2.0]}
    expected = json.loads((DATA / "version-1.json").read_text(encoding="utf-8"))
    assert loaded.predict(rows).tolist() == expected["predictions"]
    np.testing.assert_allclose(loaded.decision_function(rows), expected["decisions"], rtol=0, atol=1e-9)


def test_unknown_classes_are_never_imported(dense, refused):
    modules = set(sys.modules)
    for name in ("os", "antigravity", "mercer.estimators.svc.SVC", "Entry", "__class__", "", None, ["SVC"]):
        refused(with_header(dense, lambda header, name=name: header.update(estimator=name)), "asks for the estimator")
        kernel = {"kernel": name, "fields": {}}
        data = with_header(dense, lambda header, kernel=kernel: header["expansion"].update(kernel=kernel))
        refused(data, "asks for the kernel")
        data = with_header(dense, lambda header, name=name: header["expansion"]["support"].update(objects=name))
        refused(data, "asks for the kind of objects")
    assert "antigravity" not in set(sys.modules) - modules


def test_fields_of_records(dense, refused):
    def fields(**values):
        return with_header(dense, lambda header: header["expansion"]["kernel"]["fields"].update(values))

    refused(fields(__class__=1), "kernel RBF has '__class__', which it should not")
    refused(fields(gamma=-1.0), "'gamma' parameter of RBF")
    refused(fields(gamma={"float": "nan"}), "'gamma' parameter of RBF")
    refused(fields(over={"kernel": "Sum", "fields": {}}), "kernel Sum lacks 'terms'")


def test_ambiguous_or_dangerous_json(dense, refused):
    for text, message in {
        b"[" * 100_000: "nested more than 200",
        b'{"a": NaN}': "'NaN'",
        b'{"a": -Infinity}': "'-Infinity'",
        b'{"a": 1e999}': "out of range",
        b'{"a": 123456789012345678901}': "out of range",
        b'{"a": 1, "a": 2}': "occurs twice",
        b'{"a": 1': "not JSON",
        b"\xff": "not JSON",
        b" " * (2**20 + 1): "no header.json of at most",
        b"[]": "must be an object",
    }.items():
        refused(with_header(dense, lambda header, text=text: text), message)
    assert parse(b'{"[[": "\\"{{", "b": [1.5, -2]}') == {"[[": '"{{', "b": [1.5, -2]}


def test_messages_carry_no_control_characters(dense, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(with_header(dense, lambda header: header.update(estimator="\x1b[2J" + "x" * 500)))
    with pytest.raises(ModelFileError) as caught:
        mercer.load(path)
    assert "\x1b" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------------- arrays


def test_names_of_arrays(dense, refused):
    for name in ("../evil", "/etc/passwd", "a//b", "", "a\\b", "C:x", "a b", "é", "a/", "x" * 1001, "a\n"):

        def rename(header, name=name):
            header["members"][name] = header["members"].pop("expansion/intercept")

        refused(with_header(dense, rename), "cannot be the name of an array")


def test_types_and_shapes(dense, refused):
    def entry(**values):
        return with_header(dense, lambda header: header["members"]["expansion/coefficients"].update(values))

    for dtype in ("|O", "O", "<f2", ">f8", "<c16", "<M8[s]", "|V8", "|S4", "f8", "<U0", "<U99999999", "<f8\n", 8, None):
        refused(entry(dtype=dtype), "which model files do not hold")
    for shape in ([-1, 1], [2**63], [1.5], ["1"], [True], [None], 3, {}):
        refused(entry(shape=shape), "whole number|needs a list")
    refused(entry(shape=[1] * 9), "9 axes")
    refused(entry(shape=[2**40, 2**40]), "header and content disagree")
    refused(entry(sha256="0" * 63), "no checksum")
    refused(entry(sha256="0" * 64), "checksum differs")


def test_every_array_is_listed_and_used_once(dense, refused):
    extra = Member("<f8", (3,), "0" * 64)
    refused(rewritten(dense, lambda members: members.update({"x.npy": npy(np.zeros(3))})), "disagree about .*'x.npy'")
    refused(rewritten(dense, lambda members: members.pop("expansion/intercept.npy")), "disagree about")

    def listed(header):
        header["members"]["x"] = {"dtype": extra.dtype, "shape": [3], "sha256": extra.sha256}

    refused(with_header(dense, listed), "nothing in its header uses the array 'x'")

    def twice(header):
        header["expansion"]["intercept"] = header["expansion"]["coefficients"]

    refused(with_header(dense, twice), "missing, or used twice")


def test_pickles_are_refused(dense, refused):
    out = io.BytesIO()
    np.save(out, np.array([print], dtype=object), allow_pickle=True)
    refused(rewritten(dense, lambda members: members.update({"arrays/classes_.npy": out.getvalue()})), "disagree")


def test_invalid_content_of_valid_types(dense, refused):
    lie = swapped(dense, arrays__classes_=np.array([0, 2], dtype=np.uint8).view(bool))
    refused(lie, "neither true nor false")
    refused(swapped(dense, arrays__classes_=np.array([1, 0x110000], dtype="<u4").view("<U1")), "do not exist")


# --------------------------------------------------------------------------------------------------------- invariants


def test_machines_that_do_not_fit_together(dense, refused):
    model = fitted("dense")[0]
    weights, support = model.expansion_.coefficients, model.expansion_.support.values
    refused(swapped(dense, expansion__coefficients=weights[:-1]), "support objects, but coefficients of shape")
    refused(swapped(dense, expansion__coefficients=weights[:, 0]), "coefficients of shape")
    refused(swapped(dense, expansion__coefficients=weights.astype(np.float32)), "coefficients")
    refused(swapped(dense, expansion__coefficients=weights * np.nan), "not finite")
    refused(swapped(dense, expansion__intercept=np.zeros(2)), "intercepts of shape")
    refused(swapped(dense, expansion__intercept=np.array([np.inf])), "not finite")
    refused(swapped(dense, expansion__support__values=support[:-1]), "support objects, but coefficients")
    refused(swapped(dense, expansion__support__values=support * np.inf), "stored vectors do not fit together")
    refused(swapped(dense, arrays__classes_=np.array([0, 1, 2])), "one machine for each pair")
    refused(swapped(dense, arrays__n_support_=model.n_support_ + 1), "by class")
    refused(swapped(dense, arrays__n_support_=np.array([-1, len(weights) + 1])), "by class|n_support_")
    refused(swapped(dense, arrays__certificate_=np.zeros((2, 7))), "certificate_")


def test_states_that_do_not_belong(dense, refused):
    def state(**values):
        return with_header(dense, lambda header: header["expansion"]["state"].update(values))

    refused(swapped(dense, expansion__state__values__gamma=np.array(np.nan)), "'gamma' holds NaN")
    refused(swapped(dense, expansion__state__values__gamma=np.zeros(3)), "'gamma' is of the wrong type or shape")
    refused(swapped(dense, expansion__state__values__gamma=np.array("x")), "'gamma' is of the wrong type or shape")
    refused(state(objects=[]), "must be an object")
    refused(state(parts=[{"values": {}, "parts": [], "objects": None}] * 2), "array|state that does not belong")


def test_kernel_and_objects_of_other_kinds(refused):
    def change(header):
        header["params"]["kernel"] = header["expansion"]["kernel"] = {"kernel": "Linear", "fields": {}}

    refused(with_header(fuzz.pristine("strings"), change), "compares vectors, but its support objects are strings")


def test_precomputed_rows_beyond_the_matrix(refused):
    data = fuzz.pristine("precomputed")
    index = fitted("precomputed")[0].expansion_.support.index.copy()
    index[0] = 40
    refused(swapped(data, expansion__support__index=index), "40 training objects")


# ---------------------------------------------------------------------------------------------------------- container


def test_bombs_and_other_zips(dense, refused):
    with zipfile.ZipFile(io.BytesIO(dense)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    refused(out.getvalue(), "compressed or encrypted")
    many = rewritten(dense, lambda members: members.update({f"x{number}": b"" for number in range(10_001)}))
    refused(many, "more than 10,000 members")
    refused(dense + b"x", "cut off or extended")
    refused(b"#!/bin/sh\n" + dense, "cut off or extended")
    refused(dense[:-1], "cut off or extended")
    refused(b"", "cut off or extended")
    refused(b"PK\x03\x04" + zip_end(1, 2**31, 0), "cut off or extended")
    refused(rewritten(dense, lambda members: members.pop("header.json")), "is it a Mercer model file")


def test_overlapping_members(dense, refused):
    """Many directory entries that share one member: small on disk, large when read."""
    start, end = dense.index(b"PK\x01\x02"), dense.rindex(b"PK\x05\x06")
    record = bytearray(dense[start:end])
    names = record.count(b"PK\x01\x02")
    copies = bytes(record).replace(b"arrays/class", b"arrays/CLASS").replace(b"header.json", b"HEADER.json")
    copies = copies.replace(b"expansion/", b"EXPANSION/").replace(b"arrays/", b"ARRAYS/")
    directory = bytes(record) + copies
    data = dense[:start] + directory + zip_end(2 * names, len(directory), start)
    refused(data, "overlap")


def test_size_limit(dense, refused):
    refused(dense, f"has {len(dense):,} bytes, more than the 1,000 allowed.*max_bytes=", max_bytes=1000)


def test_checksums_catch_each_flipped_bit_of_an_array(dense, refused):
    model = fitted("dense")[0]
    place = dense.index(model.expansion_.coefficients.tobytes())
    for offset in range(0, 64, 5):
        damaged = bytearray(dense)
        damaged[place + offset] ^= 1 << (offset % 8)
        refused(bytes(damaged), "Bad CRC-32|checksum differs")


def test_memory_error_never_escapes(tmp_path, monkeypatch):
    """Even where memory ends while an array is read, the answer is ModelFileError."""
    mercer.save(SVC().fit(X, Y), tmp_path / "model")

    def no_room(*_, **__):
        raise MemoryError

    monkeypatch.setattr("mercer.storage.format.np.empty", no_room)
    with pytest.raises(ModelFileError, match="MemoryError"):
        mercer.load(tmp_path / "model")


def test_recursion_error_never_escapes(dense, refused, monkeypatch):
    def too_deep(*_):
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("mercer.storage.models.put_together", too_deep)
    refused(dense, "RecursionError")
