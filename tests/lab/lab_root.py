"""Another release's Slurm for a lab: its programs in a Debian root, run by the host.

A root is a folder that debootstrap made, with Slurm in it. Beside it lies ROOT.tools, made by
releases/roots.py: `bin` has copies of its Slurm programs that are loaded with the root's own libc and libraries, so that
they run anywhere on the host and every user can start them; `programs` has the project's, with the one
that was built against its libslurm. The root itself is only read. A lab takes the one that
GPUADVISE_LAB_ROOT names, else the host's own Slurm.
"""
import os
import pathlib
import re
import subprocess

VARIABLE = "GPUADVISE_LAB_ROOT"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
HOSTS_LOADER = pathlib.Path("/lib64/ld-linux-x86-64.so.2")


class Root:
    def __init__(self, path):
        self.path = pathlib.Path(path).absolute()
        self.tools = self.path.with_name(self.path.name + ".tools")
        self.bin = self.tools / "bin"
        self.stepd = self.bin / "slurmstepd"
        self.libraries = self.path / LIBRARIES
        self.plugins = self.libraries / "slurm-wlm"

    @property
    def loader(self):
        return self.path / "lib" / "x86_64-linux-gnu" / "ld-linux-x86-64.so.2"


def from_environment():
    """The root that GPUADVISE_LAB_ROOT names, None for the host's own Slurm."""
    path = os.environ.get(VARIABLE)
    return Root(path) if path else None


def release_of(path):
    """(24, 11) of the slurmctld that this PATH finds first; (0, 0) where there is none."""
    try:
        said = subprocess.run(["slurmctld", "-V"], env=dict(os.environ, PATH=path), capture_output=True, text=True)
    except OSError:
        return (0, 0)
    found = re.search(r"(\d+)\.(\d+)", said.stdout)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)
