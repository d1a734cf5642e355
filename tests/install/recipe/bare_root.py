"""Roots of Debian with nothing but its minimal set of packages, made by debootstrap, in which commands
run as root. Needs root and debootstrap."""

import os
import shutil
import subprocess

MIRROR = "http://deb.debian.org/debian"
SUITES = {"debian:12": "bookworm", "debian:13": "trixie"}  # by the names of their images

# A namespace of its own for mounts and processes, so that nothing of a run remains after it.
ENTER = """
mount -t proc proc "$ROOT/proc" &&
mount --rbind /dev "$ROOT/dev" &&
mount -t tmpfs tmpfs "$ROOT/tmp" &&
exec chroot "$ROOT" env -i HOME=/root DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


# Settings of the image debian:12: translations of descriptions are of no use there, and
# neither is a package that survives a power failure.
SETTINGS = {"/etc/apt/apt.conf.d/no-languages": 'Acquire::Languages "none";\n',
            "/etc/dpkg/dpkg.cfg.d/speedup": "force-unsafe-io\n"}


def make(suite, folder):
    """A bare root of the suite at FOLDER, unless there is one."""
    if not os.path.exists(folder + list(SETTINGS)[-1]):
        remove(folder)
        subprocess.run(["debootstrap", "--variant=minbase", suite, folder, MIRROR], check=True)
        for path, text in SETTINGS.items():
            with open(folder + path, "w") as file:
                file.write(text)


def copy(bare, folder):
    """A fresh copy of a bare root, in place of what is at FOLDER."""
    remove(folder)
    subprocess.run(["cp", "-a", "--reflink=auto", bare, folder], check=True)
    shutil.copy("/etc/resolv.conf", folder + "/etc/resolv.conf")


def remove(folder):
    """Removes a copy, but nothing that is mounted below it."""
    if os.path.isdir(folder):
        subprocess.run(["rm", "-rf", "--one-file-system", folder], check=True)


def enter(root, words, environment, folder, log):
    """Runs the words in the root, in FOLDER of it; what they print goes to the file LOG. The status."""
    settings = ["%s=%s" % item for item in sorted(environment.items())]
    return subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", *settings,
         "sh", "-c", 'cd "$0" && exec "$@"', folder, *words],
        env={**os.environ, "ROOT": root}, stdout=log, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL).returncode
