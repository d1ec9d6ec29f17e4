"""What scripts/release makes besides the programs: manifests, archives, the source distribution."""

import importlib.util
import json
import re
import subprocess
import tarfile
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    loader = SourceFileLoader("release", str(ROOT / "scripts" / "release"))
    spec = importlib.util.spec_from_loader("release", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def archives(release: ModuleType, version: str) -> dict[str, str]:
    """The archives of all platforms, each with a checksum of its own."""
    names = (f"alike-dedup_{version}_{t.os}_{t.arch}.{'zip' if t.os == 'windows' else 'tar.gz'}" for t in release.TARGETS.values())
    return {name: f"{number:064x}" for number, name in enumerate(names, 1)}


def test_manifests_name_the_files_of_the_release_with_their_checksums(release: ModuleType, tmp_path: Path) -> None:
    sums = archives(release, "1.2.3")
    release.digest = lambda path: sums[path.name]
    for name in sums:
        (tmp_path / name).touch()
    release.manifests(tmp_path, "1.2.3")
    made = {str(p.relative_to(tmp_path / "manifests")): p.read_text() for p in (tmp_path / "manifests").rglob("*") if p.is_file()}
    assert len(made) == 8
    used = set()
    for name, text in made.items():
        assert not re.search("@[A-Z]+[ @]", text), name
        for number in re.findall(r"\b0{60}[0-9a-f]{4}\b", text):
            archive = next(a for a, s in sums.items() if s == number)
            assert archive.rsplit("_", 2)[1] in text, f"{name} has the checksum of {archive}"
            used.add(archive)
    # FreeBSD has no package manager among these.
    assert used == {a for a in sums if "freebsd" not in a}
    scoop = json.loads(made["alike-dedup.json"])
    assert scoop["architecture"]["64bit"]["hash"] == sums["alike-dedup_1.2.3_windows_amd64.zip"]


def test_a_manifest_whose_archive_was_not_made_is_left_out(release: ModuleType, tmp_path: Path) -> None:
    release.manifests(tmp_path, "1.2.3")
    assert {p.name for p in (tmp_path / "manifests").rglob("*.yaml")} == {
        "alike-dev.alike-dedup.yaml",
        "alike-dev.alike-dedup.locale.en-US.yaml",
    }


def test_archives_are_the_same_bytes_and_have_the_time_of_the_commit(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = [("a/alike", b"program", 0o755), ("a/LICENSE", b"licence", 0o644)]
    for write, name in ((release.tar_files, "a.tar.gz"), (release.zip_files, "a.zip")):
        write(tmp_path / name, files)
        first = (tmp_path / name).read_bytes()
        write(tmp_path / name, files)
        assert (tmp_path / name).read_bytes() == first
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        assert [(m.name, m.mode, m.mtime) for m in tar] == [("a/alike", 0o755, 1700000000), ("a/LICENSE", 0o644, 1700000000)]
    with zipfile.ZipFile(tmp_path / "a.zip") as packed:
        assert packed.infolist()[0].date_time == (2023, 11, 14, 22, 13, 20)


def test_the_source_distribution_has_all_that_the_program_is_built_from(release: ModuleType, tmp_path: Path) -> None:
    if not release.build_wheel.commit():
        pytest.skip("this is no checkout")
    path = release.build_wheel.source_distribution(tmp_path)
    with tarfile.open(path) as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / path.name.removesuffix(".tar.gz")
    assert (folder / "PKG-INFO").read_text().startswith("Metadata-Version: 2.4\nName: alike-dedup\n")
    assert (folder / "src" / "alike" / "_api.py").exists()
    # A file that is embedded, or a package that is missing, would be an error here.
    subprocess.run(["go", "list", "-deps", "./cmd/alike"], cwd=folder, check=True, capture_output=True)
