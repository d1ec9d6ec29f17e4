"""The package as it was installed, and as it is built."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import alike
from alike._binary import DISTRIBUTION, NAME, binary

PROJECT = Path(__file__).resolve().parents[1]


def test_the_tour_of_the_readme() -> None:
    text = (PROJECT / "README.md").read_text("utf-8")
    code = "\n".join(re.findall("(?s)```python\n(.*?)```", text))
    test = doctest.DocTestParser().get_doctest(code, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 7
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    page = PROJECT.parent / "docs" / "python.md"
    if not page.exists():
        pytest.skip("no docs here")
    [code] = re.findall("(?s)```python\n(.*?)```", page.read_text("utf-8"))
    for name in ("corpus", "evals"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jsonl").write_text('{"id": "1", "text": "the river rose in the night and the street stood under water"}\n')
    monkeypatch.chdir(tmp_path)
    texts = ["a note about the river and the street", "a note about the river and the street", "another note of other words"]
    table = pd.DataFrame({"id": ["1", "2", "3"], "name": ["Ann Hill", "Bo Wood", "Cy Lake"], "town": ["Leeds", "York", "Hull"]})
    names = {"frame": pd.DataFrame({"text": texts}), "items": iter(texts), "products": table, "catalogue": table}
    exec(code, names)
    assert len(names["frame"]) == 2 and (tmp_path / "clean" / "summary.json").exists()


def installed() -> metadata.Distribution:
    try:
        return metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        pytest.skip("not installed")


def test_the_command_is_on_the_path_of_the_installation() -> None:
    distribution = installed()
    if "ALIKE_BINARY" in os.environ:
        pytest.skip("ALIKE_BINARY names another program")
    assert alike.__version__ == distribution.version
    command = Path(sys.executable).parent / NAME
    assert Path(binary()).samefile(command)
    said = subprocess.run([command, "version"], capture_output=True, text=True, check=True).stdout
    commit = "( [0-9a-f]{40}(-modified)?)?"  # none: built outside a checkout
    assert re.match(f"alike v{re.escape(distribution.version)}{commit}\n", said)


def test_the_program_is_found_in_a_folder_of_packages(tmp_path: Path) -> None:
    """pip install --target leaves programs beside the packages."""
    installed()
    wheels = list((PROJECT / "dist").glob("*.whl"))
    if not wheels:
        pytest.skip("no wheel in dist")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", PROJECT / "dist"]
    subprocess.run([*pip, "--target", tmp_path, DISTRIBUTION], check=True)
    code = "import alike, alike._binary as b; print(alike.dedup(['a', 'a']), alike.__file__, b.binary())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("ALIKE_BINARY", None)
    said = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.split()[0] == "['a']"
    assert said.count(str(tmp_path)) == 2


def test_wheels_are_whole(tmp_path: Path) -> None:
    wheels = list((PROJECT / "dist").glob("*.whl"))
    if not wheels:
        pytest.skip("no wheel in dist")
    for wheel in wheels:
        name, version, _, _, tags = wheel.stem.split("-")
        with zipfile.ZipFile(wheel) as archive:
            assert archive.testzip() is None
            names = archive.namelist()
            record = archive.read(f"{name}-{version}.dist-info/RECORD").decode().splitlines()
            assert [line.split(",")[0] for line in record] == names
            told = archive.read(f"{name}-{version}.dist-info/WHEEL").decode()
            assert {line.removeprefix("Tag: py3-none-") for line in told.splitlines() if line.startswith("Tag")} == set(tags.split("."))
            assert "alike/py.typed" in names
            scripts = [i for i in archive.infolist() if ".data/scripts/" in i.filename]
            assert [i.external_attr >> 16 & 0o111 for i in scripts] == [0o111]
