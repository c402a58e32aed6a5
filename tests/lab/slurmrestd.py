"""slurmrestd of a lab, run by an ordinary user: from 25.05 on it refuses to be root or SlurmUser.

    with Slurmrestd(lab) as rest:                  # rest_auth/local, on a Unix socket
        lab.run(collector, "slurm-rest", "--once", "--url", rest.url)
    with Slurmrestd(lab, tokens=True) as rest:     # rest_auth/jwt, on TCP; needs Lab(conf=TOKENS(...))
        token_file = rest.token_file(lifespan=60)
"""
import os
import pathlib
import pwd
import shutil
import socket

import lab_machine
from lab import LabError, path_of, wait_until

USER = "lab6"
OLDEST_READ = (23, 11)  # older ones speak no version of the API that is read


def why_not(lab_root=None):
    """Why slurmrestd cannot run here; None when it can."""
    if shutil.which("slurmrestd", path=path_of(lab_root)):
        return None
    return "slurmrestd is missing: install it (packaging/install-packages.sh test)"


def why_no_tokens(root=None):
    """Why this Slurm knows no tokens; None when it does."""
    folders = [root.plugins] if root else list(pathlib.Path("/usr/lib").glob("*/slurm-wlm"))
    if any((folder / "auth_jwt.so").exists() for folder in folders):
        return None
    return "auth/jwt is missing: install slurm-wlm-jwt-plugin"


def write_token_key(folder):
    """The settings of slurm.conf for tokens, with their key in `folder`."""
    key = pathlib.Path(folder) / "jwt_hs256.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(32))
    return {"AuthAltTypes": "auth/jwt", "AuthAltParameters": f"jwt_key={key}"}


class Slurmrestd:
    started = 0

    def __init__(self, lab, tokens=False, user=USER):
        self.lab, self.user = lab, pwd.getpwnam(user)
        Slurmrestd.started += 1
        self.name = f"slurmrestd.{Slurmrestd.started}"
        self.folder = lab.folder / self.name
        self.folder.mkdir()
        os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.socket = self.folder / "slurmrestd.sock"
        self.port = lab_machine.free_ports(1)[0]
        self.tokens = tokens
        self.url = f"http://127.0.0.1:{self.port}" if tokens else f"unix:{self.socket}"

    def __enter__(self):
        auth, place = ("jwt", f"127.0.0.1:{self.port}") if self.tokens else ("local", f"unix:{self.socket}")
        # It takes a token from its environment where it has one; "daemon" says that callers bring theirs.
        env = dict(self.lab.env, **({"SLURM_JWT": "daemon"} if self.tokens else {}))
        # Without accounting the plugin of slurmdbd ends it.
        slurmctlds = "openapi/slurmctld" if self.lab.release >= (23, 11) else "v0.0.36,v0.0.37,v0.0.38"
        plugins = [] if self.lab.accounting else ["-s", slurmctlds]
        self.lab.processes.start(self.name, [
            "setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups",
            "slurmrestd", "-f", self.lab.slurm_conf, "-a", f"rest_auth/{auth}", *plugins, place], env)
        try:
            wait_until(self._listens, "slurmrestd to listen", 30)
        except LabError as error:
            raise LabError(f"{error}: {self.lab.log_tail(self.name)}") from error
        return self

    def __exit__(self, *_):
        self.lab.processes.end(self.name)

    def token_file(self, lifespan=3600, user=USER):
        """A file with a new token, as `scontrol token` prints it."""
        path = self.folder / "token"
        path.write_text(self.lab.run("scontrol", "token", f"username={user}", f"lifespan={lifespan}").stdout)
        return path

    def _listens(self):
        family, place = ((socket.AF_INET, ("127.0.0.1", self.port)) if self.tokens
                         else (socket.AF_UNIX, str(self.socket)))
        with socket.socket(family) as probe:
            return probe.connect_ex(place) == 0
