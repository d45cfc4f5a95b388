"""What is shipped: small, whole, and of others byte for byte what they published."""

import hashlib
import re

from mercer.studio import assets

MOST = 300_000  # bytes of all files of the page together


def test_the_page_is_small():
    found = assets.load()
    assert sum(len(asset.content) for asset in found.values()) <= MOST


def test_vendored_files_are_what_their_list_says():
    found = assets.load()
    listed = found["/static/vendor/VENDORED.txt"].content.decode()
    hashes = {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (\S+)$", listed, re.MULTILINE)}
    vendored = {path.rpartition("/")[2]: asset.content for path, asset in found.items() if "/vendor/" in path}
    del vendored["VENDORED.txt"]
    assert {name: hashlib.sha256(content).hexdigest() for name, content in vendored.items()} == hashes
    assert {"preact.LICENSE.txt", "htm.LICENSE.txt"} <= set(hashes)


def test_every_import_is_served():
    found = assets.load()
    known = {"preact", "preact/hooks", "htm"}
    for path, asset in found.items():
        if path.endswith(".js"):
            for name in re.findall(r'^import .*?from "([^"]+)";', asset.content.decode(), re.MULTILINE):
                assert name in known or f"/static/{name.removeprefix('./')}" in found, (path, name)
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', found["/"].content.decode()):
        assert address in found


def test_nothing_comes_from_elsewhere():
    for path, asset in assets.load().items():
        if "/vendor/" not in path and path != "/static/icon.svg":
            assert b"https://" not in asset.content, path
            assert not re.search(rb"http://(?!www\.w3\.org)", asset.content), path


def test_the_policy_names_the_import_map():
    index = assets.load()["/"].content
    assert "'sha256-" in assets.policy(index)
    assert assets.policy(index) != assets.policy(index.replace(b'"imports"', b'"Imports"'))
