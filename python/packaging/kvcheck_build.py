"""Builds the wheel and the source archive: the hooks of PEP 517 that pip calls.

The module is compiled by CMake in build/wheel, or in the folder of an existing build:

    pip install . --config-settings=build=build/dev

What the package is called and its version have one source, CMakeLists.txt.
"""

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# 1980 is the first year that a zip file can tell: the same sources give the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)


def _read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def _version():
    return re.search(r"project\(kvcheck VERSION ([0-9.]+)", _read("CMakeLists.txt")).group(1)


def _metadata():
    return "\n".join([
        "Metadata-Version: 2.1", "Name: kvcheck", "Version: " + _version(),
        "Summary: Simulation and property testing of key/value-cache eviction policies",
        "License: Apache-2.0", "Requires-Python: >=3.9", "Requires-Dist: numpy",
        "Description-Content-Type: text/markdown", "", _read("README.md")])


def _tag():
    python = "cp%d%d" % sys.version_info[:2]
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return "-".join([python, python, platform])


def _run(*words):
    if subprocess.run(words, cwd=ROOT).returncode != 0:
        raise SystemExit("kvcheck: '%s' failed; ./dev setup installs what the build needs" %
                         " ".join(words[:2]))


def _build(settings):
    """Compiles the module. Returns the folder in which it lies."""
    settings = settings or {}
    unknown = set(settings) - {"build"}
    if unknown:
        raise SystemExit("kvcheck: there is no setting '%s'; expected 'build', the folder of a build" %
                         sorted(unknown)[0])
    folder = os.path.join(ROOT, settings.get("build", "build/wheel"))
    if "build" not in settings:
        generator = ["-G", "Ninja"] if _has("ninja") else []
        _run("cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release",
             "-DKVCHECK_PYTHON=ON", "-DKVCHECK_TESTS=OFF", "-DKVCHECK_BENCH=OFF",
             "-DPython_EXECUTABLE=" + sys.executable)
    _run("cmake", "--build", folder, "--target", "kvcheck_python", "--parallel",
         str(len(os.sched_getaffinity(0))))
    return os.path.join(folder, "python", "kvcheck")


def _has(program):
    return any(os.access(os.path.join(folder, program), os.X_OK)
               for folder in os.environ.get("PATH", "").split(os.pathsep))


def _files(module_folder):
    """The names in the wheel, and the bytes of each."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    module = os.path.join(module_folder, "_kvcheck" + suffix)
    if not os.path.exists(module):
        raise SystemExit("kvcheck: the build made no '%s'; it was made for another Python than %s" % (
            module, sys.executable))
    with open(module, "rb") as file:
        yield "kvcheck/_kvcheck" + suffix, file.read()
    for package in ("kvcheck", "kvcheck/adapters", "kvcheck/record"):
        for name in sorted(os.listdir(os.path.join(ROOT, "python", package))):
            if name.endswith(".py") or name == "py.typed":
                yield package + "/" + name, _read("python/%s/%s" % (package, name)).encode()
    info = "kvcheck-%s.dist-info/" % _version()
    yield info + "METADATA", _metadata().encode()
    yield info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: kvcheck\nRoot-Is-Purelib: false\nTag: %s\n"
                           % _tag()).encode()
    yield info + "entry_points.txt", b"[console_scripts]\nkvcheck = kvcheck.__main__:console\n"
    yield info + "LICENSE", _read("LICENSE").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "kvcheck-%s-%s.whl" % (_version(), _tag())
    record = "kvcheck-%s.dist-info/RECORD" % _version()
    lines = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in _files(_build(config_settings)):
            wheel.writestr(_entry(path), content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            lines.append("%s,sha256=%s,%d\n" % (path, digest.decode(), len(content)))
        wheel.writestr(_entry(record), "".join(lines) + record + ",,\n", zipfile.ZIP_DEFLATED)
    return name


def _entry(path):
    entry = zipfile.ZipInfo(path, DATE)
    entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
    return entry


def build_sdist(sdist_directory, config_settings=None):
    """The files that git tracks, and the metadata."""
    base = "kvcheck-%s" % _version()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        for path in listed.stdout.decode().split("\0")[:-1]:
            archive.add(os.path.join(ROOT, path), base + "/" + path)
        info = tarfile.TarInfo(base + "/PKG-INFO")
        content = _metadata().encode()
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return base + ".tar.gz"
