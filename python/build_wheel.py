"""Builds wheels: the Python package with the program inside, cross-compiled by Go.

``python build_wheel.py [--all] [--output dist]`` builds the wheel of this platform, or of all.
It is the build backend too (PEP 517), so ``pip install ./python`` works in a checkout. The same
commit, Go and zlib make the same bytes. Needs Go and Python 3.11.
"""

from __future__ import annotations

import argparse
import base64
import calendar
import gzip
import hashlib
import io
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
# In a source distribution the Go module lies beside this file, in a checkout above it.
ROOT = HERE if (HERE / "go.mod").exists() else HERE.parent
EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of every file: none tells when it was built


@dataclass(frozen=True)
class Target:
    """A platform that the program is built for."""

    os: str
    arch: str
    tags: tuple[str, ...]  # a static program of Go runs on all of these

    @property
    def program(self) -> str:
        """The program's file name."""
        return "alike.exe" if self.os == "windows" else "alike"


def _linux(arch: str, machine: str) -> Target:
    # The program needs no C library, so it is at home with glibc and with musl.
    return Target("linux", arch, tuple(f"{tag}_{machine}" for tag in ("manylinux2014", "manylinux_2_17", "musllinux_1_1")))


TARGETS = (
    _linux("amd64", "x86_64"),
    _linux("arm64", "aarch64"),
    Target("darwin", "amd64", ("macosx_12_0_x86_64",)),  # Go 1.26 needs macOS 12
    Target("darwin", "arm64", ("macosx_12_0_arm64",)),
    Target("windows", "amd64", ("win_amd64",)),
    Target("windows", "arm64", ("win_arm64",)),
)


def this_platform() -> Target:
    """Return the target that this interpreter runs on."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform)
    machine = platform.machine().lower()
    arch = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(machine)
    for target in TARGETS:
        if (target.os, target.arch) == (system, arch):
            return target
    raise SystemExit(f"there is no wheel for {sys.platform} on {machine}: build the program with Go, and name it in ALIKE_BINARY")


def git(*arguments: str) -> str:
    """Return what git says of this checkout, "" if there is no git."""
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit() -> str:
    """Return the commit of this checkout, "" outside of one: an archive of the source may lie in a checkout of something else."""
    top = git("rev-parse", "--show-toplevel")
    if not top or Path(top) != ROOT:
        return ""
    return git("rev-parse", "HEAD") + ("-modified" if git("status", "--porcelain") else "")


def compile_program(target: Target, to: Path) -> None:
    """Build the program. Nothing of this machine is in it."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": target.os, "GOARCH": target.arch, "GOFLAGS": "-mod=readonly"}
    for level in ("GOAMD64", "GOARM64", "GOEXPERIMENT"):
        environment.pop(level, None)
    stamp = "github.com/alike-dev/alike/internal/version"
    flags = f"-s -w -buildid= -X {stamp}.release=v{project()['version']} -X {stamp}.commit={commit()}"
    command = ["go", "build", "-trimpath", "-buildvcs=false", f"-ldflags={flags}", "-o", str(to), "./cmd/alike"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def project() -> dict[str, Any]:
    """Return the project's table of pyproject.toml."""
    with open(HERE / "pyproject.toml", "rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
        return table


def metadata(p: dict[str, Any]) -> str:
    """Return the file METADATA."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {p['name']}",
        f"Version: {p['version']}",
        f"Summary: {p['description']}",
        f"Keywords: {','.join(p['keywords'])}",
        f"License-Expression: {p['license']}",
        "License-File: LICENSE",
        *(f"Classifier: {c}" for c in p["classifiers"]),
        *(f"Project-URL: {name}, {url}" for name, url in p["urls"].items()),
        f"Requires-Python: {p['requires-python']}",
        *extras(p),
        "Description-Content-Type: text/markdown",
    ]
    readme: str = (HERE / p["readme"]).read_text("utf-8")
    return "\n".join(lines) + "\n\n" + readme


def extras(p: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of METADATA about optional dependencies."""
    for extra, needed in p["optional-dependencies"].items():
        yield f"Provides-Extra: {extra}"
        yield from (f"Requires-Dist: {requirement}; extra == '{extra}'" for requirement in needed)


def wheel_info(target: Target) -> str:
    """Return the file WHEEL."""
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in target.tags)
    return f"Wheel-Version: 1.0\nGenerator: alike\nRoot-Is-Purelib: false\n{tags}"


def contents(target: Target, program: Path, stem: str, p: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a wheel but for its RECORD."""
    package = HERE / "src" / "alike"
    for path in sorted(package.iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"alike/{path.name}", path.read_bytes()
    yield f"{stem}.data/scripts/{target.program}", program.read_bytes()
    yield f"{stem}.dist-info/METADATA", metadata(p).encode()
    scripts = "".join(f"{name} = {function}\n" for name, function in p["scripts"].items())
    yield f"{stem}.dist-info/entry_points.txt", f"[console_scripts]\n{scripts}".encode()
    yield f"{stem}.dist-info/WHEEL", wheel_info(target).encode()
    yield f"{stem}.dist-info/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()


def pack(path: Path, record: str, files: Iterator[tuple[str, bytes]]) -> None:
    """Write a wheel with its RECORD."""
    lines = []
    partial = path.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name: str, data: bytes) -> None:
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix: the mode counts, whatever system this is
            info.external_attr = (0o100755 if ".data/scripts/" in name else 0o100644) << 16
            archive.writestr(info, data)

        for name, data in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}\n")
            add(name, data)
        add(record, "".join([*lines, f"{record},,\n"]).encode())
    os.replace(partial, path)


def stem_of(p: dict[str, Any]) -> str:
    """Return what the names of wheels and source distributions begin with."""
    return f"{p['name'].replace('-', '_')}-{p['version']}"


def build(target: Target, output: Path, program: Path | None = None) -> Path:
    """Build the wheel of a target and return its path. The program is compiled unless it is given."""
    p = project()
    stem = stem_of(p)
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{stem}-py3-none-{'.'.join(target.tags)}.whl"
    with tempfile.TemporaryDirectory() as folder:
        if program is None:
            program = Path(folder) / target.program
            compile_program(target, program)
        pack(path, f"{stem}.dist-info/RECORD", contents(target, program, stem, p))
    return path


def sources() -> Iterator[tuple[str, bytes]]:
    """Yield the files of a source distribution: this package, and what the program is compiled from."""
    for name in ("README.md", "build_wheel.py", "pyproject.toml"):
        yield name, (HERE / name).read_bytes()
    for path in sorted((HERE / "src" / "alike").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"src/alike/{path.name}", path.read_bytes()
    left_out = ("bench/", "connect/", "deploy/", "docs/", "examples/", "python/", ".", "README.md")
    for name in sorted(git("ls-files").splitlines()):
        if not name.startswith(left_out) and not name.endswith("_test.go") and "/testdata/" not in name:
            yield name, (ROOT / name).read_bytes()


def source_distribution(output: Path) -> Path:
    """Write the source distribution of this checkout and return its path."""
    p = project()
    stem = stem_of(p)
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{stem}.tar.gz"
    files = dict(sources())
    files["PKG-INFO"] = metadata(p).encode()
    # The program tells its commit: this file is how an archive of the source knows it.
    files["internal/version/archive.txt"] = f"{commit()} v{p['version']}\n".encode()
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(f"{stem}/{name}")
            info.size, info.mode, info.mtime = len(data), 0o644, calendar.timegm(EPOCH)
            archive.addfile(info, io.BytesIO(data))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(raw.getvalue())
    return path


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Write the source distribution, for a builder (PEP 517)."""
    return source_distribution(Path(sdist_directory)).name


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    """Build this platform's wheel, for an installer (PEP 517)."""
    return build(this_platform(), Path(wheel_directory)).name


def main() -> None:
    """Build what the command line asks for and print the paths."""
    parser = argparse.ArgumentParser(description="Build wheels of alike.")
    parser.add_argument("--all", action="store_true", help="of all platforms, not of this one only")
    parser.add_argument("--output", type=Path, default=HERE / "dist", help="folder for the wheels (default: %(default)s)")
    arguments = parser.parse_args()
    for target in TARGETS if arguments.all else (this_platform(),):
        print(build(target, arguments.output), flush=True)


if __name__ == "__main__":
    main()
