"""Add the playground's files to a built site: `python -m website.playground SITE`, with npm, pip and a network.

The page loads from the site alone: Pyodide, one archive of Python packages, and the examples. In a site without these
files it says so.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from website.blocks import ROOT

FOLDER: Final = "assets/playground"
"""Where a site has the files."""
EXAMPLES: Final = {
    "golden/bad-resources/spec.yaml": "Spec: amounts that contradict each other",
    "golden/bad-names/spec.yaml": "Specs: names that Kubernetes rejects",
    "golden/bad-unknown-fields/spec.yaml": "Spec: misspelled fields",
    "examples/mnist/spec.yaml": "Spec: MNIST on CPUs",
    "golden/llm-4x8-efa/spec.yaml": "Spec: four nodes with eight GPUs and EFA",
    "golden/roles-differ/spec.yaml": "Spec: a master that differs from its workers",
    "golden/queue-kueue/spec.yaml": "Spec: a job in a queue of Kueue",
    "golden/elastic-range/pytorchjob.yaml": "PyTorchJob: an elastic range of nodes",
    "golden/llm-4x8-efa/trainjob.yaml": "TrainJob: four nodes with eight GPUs and EFA",
    "golden/llm-4x8-efa/volcano.yaml": "Volcano Job: four nodes with eight GPUs and EFA",
}
"""What the page offers, by file."""
_PYODIDE: Final = (
    "pyodide@314.0.7",
    "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0",
)
_PYODIDE_FILES: Final = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)
_WHEELS: Final = {
    "annotated-types==0.8.0": "f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0",
    "pydantic==2.14.3": "3f7b347782ab7e4cf4c798496ae3a82787d9f21ec12676a9c564355eeef8daa8",
    "pydantic-core==2.50.4": "e6da138a1ecc1341c8b788a5ee822670b03788e1f5decf7af9d461de6e508b8e",
    "PyYAML==6.0.3": "c458b6d084f9b935061bc36216e8a69a7e293a2f1e68bf956dcd9e6cbcd143f5",
    "typing-extensions==4.16.0": "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "typing-inspection==0.4.5": "bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39",
}
"""Versions and their SHA-256; pydantic-core is compiled for Pyodide, and of PyYAML only the Python files are used."""
_PLATFORMS: Final = ("pyemscripten_2026_0_wasm32", "manylinux2014_x86_64")
_PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def main() -> None:
    """Fetch, check and write the files."""
    folder = Path(sys.argv[1], FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        _unpack_pyodide(_fetch_pyodide(work), folder)
        (folder / "python.zip").write_bytes(_archive(_fetch_wheels(work)))
    examples = [
        {"title": title, "text": (ROOT / path).read_text(encoding="utf-8")}
        for path, title in EXAMPLES.items()
    ]
    (folder / "examples.json").write_text(json.dumps(examples), encoding="utf-8")


def _fetch_pyodide(work: Path) -> bytes:
    """Return the package of npm. Exits if it is not the expected one."""
    package, expected = _PYODIDE
    subprocess.run(
        ["npm", "pack", package, "--silent", "--pack-destination", str(work)],
        check=True,
        stdout=sys.stderr,
    )
    content = next(work.glob("pyodide-*.tgz")).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        sys.exit(f"{package}: its SHA-256 is {digest}, not {expected}")
    return content


def _unpack_pyodide(package: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        for name in _PYODIDE_FILES:
            file = archive.extractfile(f"package/{name}")
            assert file is not None, name
            (folder / name).write_bytes(file.read())


def _fetch_wheels(work: Path) -> list[Path]:
    """Return the wheels of this repository and of what it needs in the browser."""
    requirements = work / "requirements.txt"
    lines = (f"{requirement} --hash=sha256:{digest}\n" for requirement, digest in _WHEELS.items())
    requirements.write_text("".join(lines), encoding="utf-8")
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    kind = [
        "--only-binary=:all:",
        "--implementation",
        "cp",
        "--python-version",
        "3.14",
        "--abi",
        "cp314",
        *platforms,
    ]
    download = [
        *_PIP,
        "download",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(requirements),
        "-d",
        str(work),
        *kind,
    ]
    subprocess.run(download, check=True)
    build = [*_PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(work), str(ROOT)]
    subprocess.run(build, check=True)
    return sorted(work.glob("*.whl"))


def _archive(wheels: list[Path]) -> bytes:
    """Return a ZIP archive of the wheels' files, without code for other machines, and of the worker's own module."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as source:
                for name in source.namelist():
                    if not name.endswith("linux-gnu.so"):
                        archive.writestr(name, source.read(name))
        archive.write(ROOT / "website" / "console.py", "console.py")
    return content.getvalue()


if __name__ == "__main__":
    main()
