#!/usr/bin/env python3
"""Programs that guide_test.py puts before the real ones, each by its name. A stand-in does what can be done here:

    sudo             root types the commands; runs them
    systemctl        there is no systemd: starts, ends and reloads what the installed unit says, with its user, folders, drop-ins
                     and system call filter (tests/packaging/under_unit.py), and refuses a unit that is not installed
    systemd-analyze  of `security UNIT`: looks at the installed file, as no unit is loaded
    loginctl         there is no logind: knows the command
    cmake            building takes ten minutes: a preset must exist, a variable be one; other commands are cmake's own
    ssh, scp         every host is this one; -L must lead to somebody who listens

And one that no page shows: says-y COMMAND runs it at a terminal and answers y to every question.
"""
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
UNDER_UNIT = HERE.parents[1] / "packaging" / "under_unit.py"
REAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SITES_UNITS = [pathlib.Path("/etc/systemd/system"), pathlib.Path("/usr/lib/systemd/system")]
READY_SECONDS = 60
QUESTION = re.compile(rb"[\[(][YyNn]/[YyNn][\])][:?]? *$")


def fail(message, status=1):
    print(message, file=sys.stderr)
    sys.exit(status)


def real(name, *words):
    program = shutil.which(name, path=REAL_PATH)
    os.execv(program, [program, *words])


def sudo(*words):
    os.execvp(words[0], words)


# ---- systemd ----------------------------------------------------------------------------------------------------------


class Unit:
    """An installed service, by its file and drop-ins. `own`: of the user's own systemd."""

    def __init__(self, name, own):
        self.name, self.own = name.removesuffix(".service"), own
        folders = [pathlib.Path.home() / ".config/systemd/user"] if own else SITES_UNITS
        files = [folder / f"{self.name}.service" for folder in folders]
        self.file = next((file for file in files if file.exists()), None)
        if self.file is None:
            fail(f"Unit {self.name}.service could not be found in {', '.join(map(str, folders))}.", 5)
        self.files = [self.file, *sorted((folders[0] / f"{self.name}.service.d").glob("*.conf"))]
        self.run = pathlib.Path(os.environ["XDG_RUNTIME_DIR"] if own else "/run") / "stand-ins"
        self.run.mkdir(exist_ok=True)
        self.pid_file, self.log = self.run / f"{self.name}.pid", self.run / f"{self.name}.log"

    def setting(self, key, default=""):
        lines = [line.strip() for file in self.files for line in file.read_text().splitlines()]
        return next((line.partition("=")[2] for line in reversed(lines) if line.startswith(f"{key}=")), default)

    def pid(self):
        """0 where it does not run."""
        try:
            pid = int(self.pid_file.read_text())
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, ValueError):
            return 0
        return 0 if state in "ZX" else pid

    def start(self):
        if self.pid():
            return
        environment = {"PATH": REAL_PATH, "LANG": "C.UTF-8", "TZ": "UTC"}
        if self.own:
            environment.update({name: os.environ[name] for name in ("HOME", "XDG_RUNTIME_DIR", "USER")})
        words = shlex.split(self.setting("ExecStart"))
        user = self.setting("User")
        if user:
            words = [sys.executable, "-B", str(UNDER_UNIT), user, self.setting("SupplementaryGroups").replace(" ", ","),
                     *map(str, self.files), "--", *words]
        for key, top, default in (("RuntimeDirectory", "/run", "0755"), ("StateDirectory", "/var/lib", "0755")):
            for name in self.setting(key).split():
                folder = pathlib.Path(top, name)
                folder.mkdir(exist_ok=True)
                folder.chmod(int(self.setting(f"{key}Mode", default), 8))
                shutil.chown(folder, user, user)
        ready = None
        if self.setting("Type") == "notify":
            path = self.run / f"{self.name}.notify"
            path.unlink(missing_ok=True)
            ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            ready.bind(str(path))
            path.chmod(0o666)
            environment["NOTIFY_SOCKET"] = str(path)
        with self.log.open("ab") as log:
            child = subprocess.Popen(words, env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     start_new_session=True)
        self.pid_file.write_text(str(child.pid))
        if ready:
            self._wait_for(ready)

    def _wait_for(self, ready):
        deadline = time.monotonic() + READY_SECONDS
        ready.settimeout(0.2)
        while self.pid() and time.monotonic() < deadline:
            try:
                if b"READY=1" in ready.recv(4096):
                    return
            except TimeoutError:
                pass
        fail(f"Job for {self.name}.service failed: {self.log.read_text(errors='replace')[-2000:]}")

    def stop(self):
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 20
        while self.pid() and time.monotonic() < deadline:
            time.sleep(0.05)
        if self.pid():
            fail(f"{self.name}.service does not end")

    def reload(self):
        if not self.pid():
            fail(f"{self.name}.service is not active, cannot reload.")
        subprocess.run([word.replace("$MAINPID", str(self.pid())) for word in shlex.split(self.setting("ExecReload"))], check=True)

    def enable(self):
        if not self.setting("WantedBy"):
            fail(f"{self.name}.service has no [Install] section")


def systemctl(*words):
    own = "--user" in words
    now = "--now" in words
    verb, *names = [word for word in words if not word.startswith("-")]
    if verb == "daemon-reload":
        return
    for unit in [Unit(name, own) for name in names]:
        if verb == "restart":
            unit.stop()
            unit.start()
        elif verb in ("start", "stop", "reload"):
            getattr(unit, verb)()
        elif verb == "enable":
            unit.enable()
            if now:
                unit.start()
        elif verb == "disable":
            if now:
                unit.stop()
        else:
            fail(f"systemctl {verb}: the stand-in does not know that")


def systemd_analyze(*words):
    if words[0] == "security":
        return real("systemd-analyze", "security", "--offline=yes", str(Unit(words[1], False).file))
    return real("systemd-analyze", *words)


def loginctl(verb):
    if verb not in subprocess.run([shutil.which("loginctl", path=REAL_PATH), "--help"], capture_output=True, text=True, check=True).stdout:
        fail(f"Unknown command verb {verb}.")


# ---- others -----------------------------------------------------------------------------------------------------------


def cmake(*words):
    preset = words.index("--preset") if "--preset" in words else None
    if preset is None:
        return real("cmake", *words)
    listed = subprocess.run([shutil.which("cmake", path=REAL_PATH), *words[:preset], "--list-presets"], capture_output=True, text=True,
                            check=True).stdout
    if f'"{words[preset + 1]}"' not in listed:
        fail(f"No such preset: {words[preset + 1]}\n{listed}")
    cache = pathlib.Path("build/release/CMakeCache.txt").read_text()
    for word in words[preset + 2:]:
        if not word.startswith("-D") or f"\n{word[2:].split('=')[0]}:" not in cache:
            fail(f"cmake: {word} is no variable of this project")


def ssh(*words):
    if words[0] == "-L":
        _, host, port = words[1].split(":")
        socket.create_connection((host, int(port)), timeout=5).close()
        return
    os.execvp("bash", ["bash", "-c", shlex.join(words[1:])])


def scp(*words):
    real("cp", *(word.partition(":")[2] or word for word in words))


def says_y(command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-c", command])
    shown = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # its end has closed
            break
        os.write(1, data)
        shown = (shown + data)[-100:]
        if QUESTION.search(shown):
            os.write(terminal, b"y\n")
            shown = b""
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


STAND_INS = {"sudo": sudo, "systemctl": systemctl, "systemd-analyze": systemd_analyze, "loginctl": loginctl, "cmake": cmake,
             "ssh": ssh, "scp": scp, "says-y": says_y}


def install(folder):
    """Puts all of them into a folder."""
    python = shutil.which("python3", path=REAL_PATH)  # one that users may run
    folder.mkdir(parents=True)
    for name in STAND_INS:
        file = folder / name
        file.write_text(f"#!/bin/sh\nexec '{python}' -B '{HERE}' {name} \"$@\"\n")
        file.chmod(0o755)


if __name__ == "__main__":
    STAND_INS[sys.argv[1]](*sys.argv[2:])
