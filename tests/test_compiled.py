"""The files of compiled code: one for each signature, in folders of which old ones are pruned."""

import os
import time

import pytest

from mercer import _compiled


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "numba"])
def test_what_two_processes_compile_at_a_time_is_not_confused(ours, tmp_path):
    """Both find nothing kept; one saves its code while the other is between its index and its file."""
    from numba.core.caching import IndexDataCacheFile

    class Unaware(IndexDataCacheFile):
        def _load_index(self):
            return {}

    class Interrupted(IndexDataCacheFile):
        def _save_index(self, overloads):
            super()._save_index(overloads)
            files(Unaware).save("floats", "code for floats")

    def files(kind):
        return _compiled.Files(tmp_path, "loop", kind) if ours else kind(str(tmp_path), "loop", None)

    files(Interrupted).save("integers", "code for integers")
    kept = files(IndexDataCacheFile)
    assert (kept.load("floats") == "code for floats") == ours  # Numba's runs the code for integers on floats
    assert kept.load("integers") == ("code for integers" if ours else None)


def test_files_are_forgotten(tmp_path):
    from numba.core.caching import IndexDataCacheFile

    files = _compiled.Files(tmp_path, "loop", IndexDataCacheFile)
    files.save("integers", "code")
    other = _compiled.Files(tmp_path, "another", IndexDataCacheFile)
    other.save("integers", "other code")
    files.flush()
    assert (files.load("integers"), other.load("integers")) == (None, "other code")


def test_old_folders_are_pruned_and_recent_ones_kept(tmp_path):
    keep = tmp_path / "current"
    keep.mkdir()
    now = time.time()
    for age in range(12):  # days
        folder = tmp_path / f"old{age:02d}"
        folder.mkdir()
        (folder / "code.nbi").touch()
        os.utime(folder, (now - age * 86400 - 60, now - age * 86400 - 60))
    stranger = tmp_path / "file.txt"
    stranger.touch()
    _compiled._prune(tmp_path, keep)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["current", "file.txt", *(f"old{age:02d}" for age in range(_compiled._KEPT_FOLDERS))]


def test_recent_folders_are_never_pruned(tmp_path):
    for number in range(12):
        (tmp_path / f"recent{number}").mkdir()
    _compiled._prune(tmp_path, tmp_path / "current")
    assert len(list(tmp_path.iterdir())) == 12


def test_pruning_where_there_is_nothing(tmp_path):
    _compiled._prune(tmp_path / "absent", tmp_path / "absent" / "current")
