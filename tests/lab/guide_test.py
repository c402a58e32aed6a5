#!/usr/bin/env python3
"""Every command that the pages for administrators show, run as it is typed on a real Slurm with accounting.

The machine is a copy: an overlay over this host's root, in mount, network and process namespaces of its own, so that packages are
installed, units "started" and files below /etc written without a trace on the host. The build is this one, as build/release.
What stands for programs that cannot work here is in guide_stand_ins.py; commands that are not run at all, with the reason, are
in NOT_RUN. A command of the pages that is in no list is simply run, and must succeed. SQL and nginx's settings are not tried.

    guide_test.py BIN_DIR [--pages FOLDER] [unittest options]

FOLDER: the pages, where they are not those of docs/.
"""
import itertools
import os
import pathlib
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import guide
import guide_stand_ins
import lab as slurm_lab
import slurmrestd
from guide import tutorial
from lab import Lab

SKIPPED = 77
INSIDE = "GPUADVISE_GUIDE_ROOT"  # in the environment of the process that goes inside: the folder of the copy
TOP = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["install.md", "site-guide.md", "other-hosts.md", "dashboard.md", "metrics.md"]
FIRST, LAST = ["From source", "A daemon of your own"], ["Uninstall"]  # sections; the others in the order of the pages
NEEDED = ["unshare", "ip", "promtool", "sqlite3", "curl", "openssl", "apt", "dpkg-shlibdeps", "systemd-sysusers", "systemd-analyze", "man"]
USER, HOSTS = "lab1", "centre.example.org"
STAND_INS, SETTINGS = pathlib.Path("/opt/stand-ins"), "/etc/gpuadvise/gpuadvised.yaml"
PATH = f"{STAND_INS}:{guide_stand_ins.REAL_PATH}"

# What stands for a value in a command, or names a host that is not there.
FILLED = {"NAME <ADDRESS>": "A Site <root@example.org>", "ACCOUNT": "a0", "FILE": "/tmp/copy.db", "LOGIN_NODE": "login1",
          "JOBID": "$(cat /tmp/job)", "alpha": "lab", "beta.example.org": HOSTS}

NOT_RUN = {
    "cpack --config build/static-client/CPackConfig.cmake -B build/packages":
        "the static client takes minutes to build; tests/releases/packages.py makes and tries its package",
    **dict.fromkeys(["tar -xJf gpuadvise-0.2.0-linux-x86_64.tar.xz && cd gpuadvise-0.2.0-linux-x86_64", "./gpuadvise-up",
                     "sudo ./gpuadvise-up --site /opt/gpuadvise && sudo systemctl enable --now gpuadvised",
                     "sudo dnf install ./gpuadvise-0.2.0-1.x86_64.rpm ./gpuadvise-daemon-0.2.0-1.x86_64.rpm",
                     "sudo apt install ./gpuadvise_0.2.0_amd64.deb ./gpuadvise-daemon_0.2.0_amd64.deb", "packaging/portable.sh"],
                    "the bundle takes half an hour to build; tests/releases/portable.py tries it"),
    **dict.fromkeys(["apt remove", "apt purge", "scontrol token", "gpuadvise advise", "gpuadvise eff", "gpuadvise run"],
                    "the beginning of a command"),
    **dict.fromkeys(["scontrol show", "scontrol show job ID", "sbatch -M NAME"], "what gpuadvise runs by itself"),
}
# Done by root before a command: what else would have happened on a real site by then.
BEFORE = {
    # The installation from source is removed, and the clone of a user is his own.
    "cmake --preset release && cmake --build --preset release && cmake --install build/release --prefix ~/.local":
        "systemctl disable --now gpuadvised && xargs -d '\\n' rm -f <build/release/install_manifest.txt && "
        "rm -rf /etc/gpuadvise /var/lib/gpuadvise && userdel gpuadvise && chmod a+w build/release build/release/install && "
        "chmod -R a+w build/release/install build/release/install_manifest.txt",
    # So is the user's daemon.
    'cmake --preset release -DGPUADVISE_MAINTAINER="NAME <ADDRESS>" && cmake --build --preset release':
        "kill $(cat /run/user/*/stand-ins/gpuadvised.pid) && rm -r /home/guide/.local",
    "sacctmgr modify user gpuadvise set adminlevel=operator": "sacctmgr -i modify user gpuadvise set adminlevel=none",
    "gpuadvise watch --daemon https://beta.example.org:6829 JOBID":
        # The one that `gpuadvise submit` has made; one that still runs is looked at again after half a minute.
        f"squeue -h -t all -u {USER} -o %A | tail -1 >/tmp/job && "
        "timeout 20 sh -c 'while squeue -h | grep .; do sleep .2; done' && sleep 3",
    "ssh -L 6828:127.0.0.1:6828 LOGIN_NODE":
        f"sed -i 's/^listen:.*/listen: \"127.0.0.1:6828\"/' {SETTINGS} && systemctl restart gpuadvised",
}
IS_OPERATOR = "sacctmgr -nP show user gpuadvise format=adminlevel | grep -x Operator"
# What must hold after it, or is done then.
AFTER = {
    "sudo apt install ./build/packages/*.deb": f"sed -i 's/^poll_interval:.*/poll_interval: 2s/' {SETTINGS}",  # a quicker site
    "systemctl reload gpuadvised": "timeout 20 sh -c 'until grep \"settings read again\" /run/stand-ins/gpuadvised.log; do sleep .1; done'",
    "sacctmgr add user gpuadvise account=ACCOUNT adminlevel=operator": IS_OPERATOR,
    "sacctmgr modify user gpuadvise set adminlevel=operator": IS_OPERATOR,
    'sudo sqlite3 /var/lib/gpuadvise/history.db ".backup FILE"': f"sqlite3 {FILLED['FILE']} 'SELECT count(*) FROM job'",
    # It sees that it is an operator, and may use threads of low priority.
    "sudo systemctl daemon-reload && sudo systemctl restart gpuadvised":
        "timeout 20 sh -c 'until gpuadvise gpus; do sleep .1; done' && ! gpuadvise doctor | grep -E 'warning|error'",
    "sudo rm -rf /etc/gpuadvise /etc/systemd/system/gpuadvised.service.d":
        "! find /etc /usr /var/lib -name '*gpuadvise*' | grep . && ! getent passwd gpuadvise",
}
ASKS = re.compile(r"^(sudo )?(apt (install|purge)|sacctmgr|gpuadvise submit) ")  # whoever types them says y
SERVES = "~/.local/sbin/gpuadvised --user"  # until it is ended


def filled(text):
    for word, value in FILLED.items():
        text = re.sub(rf"(?<![\w.]){re.escape(word)}(?!\w)", lambda _, value=value: value, text)
    return text


def typed(text):
    """What the shell gets for a command of a page."""
    command = filled(text)
    if ASKS.match(text):
        return f"says-y {shlex.quote(command)}"
    if text == SERVES:
        return (f"{command} & served=$!; for i in $(seq 100); do ~/.local/bin/gpuadvise gpus && break; sleep .2; done; "
                "kill $served; wait $served")
    return command


def is_program(word):
    return word.startswith("gpuadvise") or "/" not in word and not word.isupper() and shutil.which(word, path=PATH) is not None


def steps_of(pages):
    """The steps of all pages in the order in which they are done."""
    steps = [step for page in PAGES for step in guide.steps_of(page, (pages / page).read_text(), is_program)]
    rank = lambda step: FIRST.index(step.section) - len(FIRST) if step.section in FIRST else step.section in LAST
    return sorted(steps, key=rank)


class Machine:
    """The copy of this host, from inside, with a Slurm."""

    def __init__(self, lab):
        self.lab = lab
        os.environ["PATH"] = PATH
        guide_stand_ins.install(STAND_INS)
        link(lab.slurm_conf, "/etc/slurm/slurm.conf")
        link(lab.folder / "run/munge.sock", "/run/munge/munge.socket.2")
        with open("/etc/hosts", "a") as hosts:
            hosts.write(f"127.0.0.1 {HOSTS}\n")
        who = pwd.getpwnam(USER)
        self.home, self.runtime = pathlib.Path("/home/guide"), pathlib.Path(f"/run/user/{who.pw_uid}")
        for folder in (self.home, self.runtime):
            folder.mkdir(parents=True)
            os.chown(folder, who.pw_uid, who.pw_gid)
            folder.chmod(0o700)
        (self.home / "train.yaml").write_text(TRAIN)
        shell = [*tutorial.SHELL, "-o", "pipefail"]
        self.shells = {"root": shell, "user": ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", *shell]}

    def run(self, commands, user="root", host="", in_clone=True):
        """One shell for all; status and lines of each. `in_clone`: it begins in the sources, else at home."""
        environment = {"PATH": PATH, "TZ": "UTC", "COLUMNS": "100", "LC_ALL": "C.UTF-8", "TERM": "dumb", "HOME": "/root", "USER": "root"}
        if user == "user":
            environment.update({"HOME": str(self.home), "USER": USER, "XDG_RUNTIME_DIR": str(self.runtime)})
        shell = self.shells[user]
        if host == "other":  # it has no socket of the daemon
            shell = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run/gpuadvise; exec "$@"', "sh", *shell]
        return tutorial.run(commands, TOP if in_clone else environment["HOME"], environment, shell)

    def do(self, text):
        """A command of the test's own, by root; complaints."""
        (status, shown), = self.run([tutorial.Command(0, text)])
        return [f"{text}: status {status}: " + "\n".join(shown[-40:])] if status else []

    def log(self):
        """Of the site's daemon."""
        file = pathlib.Path("/run/stand-ins/gpuadvised.log")
        return file.read_text(errors="replace") if file.exists() else ""


TRAIN = """name: guide
model: {memory: {base: 1 GB, per_sample: 100 MB, overhead: 1 MB}}
training: {max_steps: 10, effective_batch_size: 4, measured: [{gpu: rtx2080ti, gpus: 1, batch: 4, seconds_per_step: 1}]}
resources: {max_gpus: 1}
command: sleep 1
"""


def link(target, path):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


class Reading(unittest.TestCase):
    """What counts as a command of a page."""

    def steps(self, text):
        return guide.steps_of("page.md", text, lambda word: word in ("ls", "sudo"))

    def test_commands_in_blocks_and_in_lines_and_who_types_them(self):
        steps = self.steps("# A\nType `ls -l`, not `ls` or `source: auto`.\n```console as=user host=other\n$ sudo x\n```\n"
                           "## B\n| `sudo y` |\n")
        self.assertEqual([(step.section, step.line, step.command.text, step.user, step.host) for step in steps],
                         [("A", 2, "ls -l", "root", ""), ("A", 4, "sudo x", "user", "other"), ("B", 7, "sudo y", "root", "")])

    def test_settings_take_the_place_of_those_that_are_there(self):
        step, = self.steps("```yaml add=/etc/x.yaml\na:\n  b: 1\n```\n```yaml\nno: 1\n```\n")
        self.assertEqual((step.how, step.path), ("add", "/etc/x.yaml"))
        self.assertEqual(guide.with_keys("# top\nx: 1\na: {}  # old\n  # of a\ny: 2\n", step.text), "# top\nx: 1\ny: 2\na:\n  b: 1\n")

    def test_what_would_not_be_run_is_refused(self):
        for text in ("    ls -l\n", "```sh\nls\n```\n", "```\nls\n```\n", "```console often\n$ ls\n```\n"):
            with self.assertRaisesRegex(ValueError, "page.md, line [12]"):
                self.steps(text)

    def test_questions_are_answered_and_values_filled_in(self):
        self.assertEqual(typed("sudo apt purge x"), "says-y 'sudo apt purge x'")
        self.assertEqual(typed("cat FILE FILES"), "cat /tmp/copy.db FILES")


class Guide(unittest.TestCase):
    pages = TOP / "docs"

    def test_every_command_works_as_it_is_typed(self):
        steps = steps_of(self.pages)
        texts = [step.command.text for step in steps if step.command]
        conf = {"PrivateData": "jobs", **slurmrestd.write_token_key(made("/var/spool/slurm/statesave"))}
        lab = self.enterContext(Lab(accounting=True, cluster="tiny", conf=conf))
        machine = Machine(lab)
        complaints = [f"{name} names what no page shows: {text}" for name, listed in
                      (("NOT_RUN", NOT_RUN), ("BEFORE", BEFORE), ("AFTER", AFTER)) for text in listed if text not in texts]
        done = 0
        for group in groups(steps):
            for step in group:
                if step.command and step.command.text in BEFORE:
                    complaints += machine.do(BEFORE[step.command.text])
            if group[0].how:
                complaints += settings(machine, group[0])
                continue
            group = [step for step in group if step.command.text not in NOT_RUN]
            commands = [tutorial.Command(step.line, typed(step.command.text), step.command.shown or [tutorial.ANY_LINES],
                                         step.command.live, step.command.status) for step in group]
            done += len(group)
            in_clone = bool(group) and (group[0].user == "root" or group[0].page == "install.md")
            outcomes = machine.run(commands, group[0].user, group[0].host, in_clone) if group else []
            for step, command, outcome in zip(group, commands, outcomes):
                complaint = tutorial.complaint_about(command, *outcome)
                print(f"{'failed' if complaint else 'done'}: {step}: {step.command.text}", flush=True)
                complaints += [f"{step.page}, {complaint}"] if complaint else machine.do(AFTER.get(step.command.text, "true"))
        complaints += [f"the daemon's log: {line}" for line in machine.log().splitlines() if " error: " in line]
        if complaints:
            self.fail("\n\n".join(complaints) + f"\n\nThe daemon's log ends with:\n{machine.log()[-1500:]}")
        print(f"{done} commands run; {len(NOT_RUN)} are not", flush=True)


def made(folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


def groups(steps):
    """Steps that one shell does: those of one section and user, but settings and what has something before or after it alone."""
    def alone(step):
        return step.how or step.command.text in BEFORE or step.command.text in AFTER
    number = itertools.count()
    key = lambda step: (step.page, step.section, step.user, step.host, next(number) if alone(step) else None)
    return [list(group) for _, group in itertools.groupby(steps, key)]


def settings(machine, step):
    """Writes or checks the settings of a page; complaints."""
    file = pathlib.Path(step.path)
    text = guide.with_keys(file.read_text() if file.exists() else "", filled(step.text))
    if step.how == "add":
        file.write_text(text)
        return []
    tried = pathlib.Path("/tmp/tried.yaml")
    tried.write_text(text)
    (status, shown), = machine.run([tutorial.Command(0, f"gpuadvised --config {tried} --check-config")])
    print(f"{'failed' if status else 'done'}: {step}: settings", flush=True)
    return [f"{step}: gpuadvised --check-config ends with {status}: " + "\n".join(shown)] if status else []


def enter(folder, build):
    """Puts this process into the copy of the machine, whose changes are kept below `folder` and end with it."""
    def mount(*words):
        subprocess.run(["mount", *map(str, words)], check=True)
    mount("-t", "tmpfs", "none", folder)
    root = folder / "root"
    for name in ("root", "changes", "work", "source-changes", "source-work"):
        (folder / name).mkdir()
    mount("-t", "overlay", "none", "-o", f"lowerdir=/,upperdir={folder}/changes,workdir={folder}/work", root)
    inside = root / TOP.relative_to("/")
    inside.mkdir(parents=True, exist_ok=True)
    mount("-t", "overlay", "none", "-o", f"lowerdir={TOP},upperdir={folder}/source-changes,workdir={folder}/source-work", inside)
    for name in ("proc", "sys", "dev"):
        mount("--rbind", f"/{name}", root / name)
    for words in ("link set lo up", "link add site type bridge", "addr add 10.0.0.1/24 dev site", "link set site up"):
        subprocess.run(["ip", *words.split()], check=True)  # names are only looked up where there is more than loopback
    os.chroot(root)
    os.chdir(TOP)
    for left in ("/etc/gpuadvise", "/var/lib/gpuadvise"):
        shutil.rmtree(left, ignore_errors=True)
    for parent in (TOP, *TOP.parents):  # a user's clone, too
        parent.chmod(parent.stat().st_mode | 0o555)
    release = TOP / "build/release"
    if release != build:
        shutil.rmtree(release, ignore_errors=True)
        release.symlink_to(build)


def main():
    words = sys.argv[1:]
    if not words or not pathlib.Path(words[0]).is_dir():
        sys.exit("usage: guide_test.py BIN_DIR [--pages FOLDER] [unittest options]")
    bin_folder = pathlib.Path(words[0]).resolve()
    if INSIDE in os.environ:
        try:
            enter(pathlib.Path(os.environ[INSIDE]), bin_folder.parent)
        except subprocess.CalledProcessError as error:
            print(f"skipped: no copy of this machine can be made here: {error}")
            sys.exit(SKIPPED)
        if "--pages" in words:
            Guide.pages = pathlib.Path(words.pop(words.index("--pages") + 1))
            words.remove("--pages")
        unittest.main(argv=[sys.argv[0], *words[1:]], verbosity=2)
    missing = [name for name in NEEDED if not shutil.which(name)]
    reason = slurm_lab.why_not(accounting=True) or slurmrestd.why_no_tokens() or (f"{', '.join(missing)} is missing" if missing else "")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*apart, "true"], check=False).returncode != 0:
        print("skipped: no copy of this machine can be made here: unshare is not permitted")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="gpuadvise-guide-") as folder:
        sys.exit(subprocess.run([*apart, sys.executable, "-B", __file__, *words], env={**os.environ, INSIDE: folder},
                                check=False).returncode)


if __name__ == "__main__":
    main()
