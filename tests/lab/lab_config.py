"""The files that a lab's daemons read: slurm.conf, gres.conf, slurmdbd.conf, the munge key."""
import os
import socket

import lab_machine

CLUSTER_NAME = "lab"

PLAIN = "CPUs=32 RealMemory=128000"
PARTITION = "gpu_shared"
EVERYTHING = f"PartitionName={PARTITION} Nodes=ALL Default=YES MaxTime=7-00:00:00 State=UP"

# Groups of equal nodes: names, [(GPU type, GPUs per node)], the rest of their NodeName line; and the
# partitions. "seed" is the cluster of Isaac-GR00T's team guide; "tiny" is enough for tests of one
# thing; "kinds" has two kinds of GPU in three partitions, and a hidden one over all; "tiers" has a node in two partitions of different tier; "odd" has what makes counting hard: threads, specialised cores and memory, shards, several
# GPU types on a node, untyped GPUs, features, weights, and partitions with rules; "untyped" has GPUs
# that only a feature, or the node's name, tells apart; "every" has a node for every form of GRES, for the conformance of
# releases; "site" has partitions that bound and share CPUs; "day" is "seed" with three partitions. A group may name
# other GRES of its nodes: [(name, count)].
CLUSTERS = {
    "seed": {
        "nodes": [
            ([f"classt{i:02d}" for i in [*range(1, 6), *range(7, 17)]], [("gpu2080", 4)], PLAIN),
            (["classt06"], [("gpu4070", 4)], PLAIN),
            (["classt21", "classt22"], [("gpul40s", 6)], PLAIN),
            (["classt23", "classt24"], [("h100_1g.11gb", 14)], PLAIN),
            (["classt25"], [("gpu4090", 4)], PLAIN),
        ],
        "partitions": [EVERYTHING],
    },
    "tiny": {
        "nodes": [(["n1", "n2"], [("gpu2080", 4)], PLAIN), (["n3"], [("gpu4090", 4)], PLAIN)],
        "partitions": [EVERYTHING],
    },
    "tiers": {
        "nodes": [(["n1"], [("gpu4090", 4)], PLAIN)],
        "partitions": ["PartitionName=low Nodes=ALL Default=YES MaxTime=7-00:00:00 PriorityTier=1 State=UP",
                       "PartitionName=high Nodes=ALL MaxTime=7-00:00:00 PriorityTier=10 State=UP"],
    },
    "odd": {
        "nodes": [
            (["t1", "t2"], [("a100", 2)], "CPUs=16 Sockets=1 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 "
             "CoreSpecCount=1 MemSpecLimit=2000 Feature=nvlink,ib Weight=5"),
            (["m1"], [("a100", 1), ("l40s", 2)], "CPUs=32 RealMemory=128000 Feature=ib Weight=10"),
            (["u1"], [("", 4)], PLAIN),
            (["c1"], [], "CPUs=8 RealMemory=16000"),
        ],
        "partitions": [
            EVERYTHING,
            "PartitionName=short Nodes=t[1-2],c1 MaxTime=60 DefaultTime=10 MaxNodes=2 MinNodes=1 PriorityTier=3 "
            "PriorityJobFactor=7 DefMemPerNode=1000 MaxMemPerNode=32000 MaxCPUsPerNode=12 State=UP "
            "TRESBillingWeights=CPU=1.0,Mem=0.25G",
            "PartitionName=secret Nodes=m1 Hidden=YES RootOnly=YES OverSubscribe=EXCLUSIVE State=UP",
            "PartitionName=shared Nodes=c1 OverSubscribe=FORCE:2 AllowGroups=root,lab1 DefMemPerCPU=500 State=UP",
            "PartitionName=closed Nodes=u1 State=DOWN",
        ],
    },
    "kinds": {
        "nodes": [
            (["n1"], [("a100", 4)], f"{PLAIN} Feature=ampere"),
            (["n2"], [("l40s", 4)], f"{PLAIN} Feature=ada"),
            (["n3"], [("a100", 4)], f"{PLAIN} Feature=ampere"),
            (["n4"], [("", 4)], PLAIN),
        ],
        "partitions": ["PartitionName=old Nodes=n1 Default=YES MaxTime=7-00:00:00 State=UP",
                       "PartitionName=new Nodes=n2,n3 MaxTime=7-00:00:00 State=UP",
                       "PartitionName=auto Nodes=n4 MaxTime=7-00:00:00 AllowGroups=root,lab1 State=UP",
                       "PartitionName=everything Nodes=ALL MaxTime=7-00:00:00 Hidden=YES State=UP"],
    },
    "every": {
        "nodes": [
            (["t1", "t2"], [("a100", 2)], "CPUs=16 Sockets=1 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 "
             "CoreSpecCount=1 MemSpecLimit=2000 Feature=nvlink,ib Weight=5"),
            (["m1"], [("a100", 1), ("l40s", 2)], "CPUs=32 Sockets=2 CoresPerSocket=16 RealMemory=128000 Feature=ib Weight=10"),
            (["u1"], [("", 4)], PLAIN),
            (["s1"], [("l40s", 2)], PLAIN, [("shard", 8)]),
            (["p1"], [("a100", 2)], PLAIN, [("mps", 200)]),
            (["g1"], [("h100_1g.11gb", 7), ("h100_3g.47gb", 2)], PLAIN),
            (["w1"], [("gpu4090", 4)], PLAIN),
            (["c1"], [], "CPUs=8 RealMemory=16000"),
        ],
        "partitions": [
            EVERYTHING,
            "PartitionName=short Nodes=c1,t[1-2] MaxTime=60 DefaultTime=10 MaxNodes=2 PriorityTier=3 PriorityJobFactor=7 "
            "DefMemPerNode=1000 MaxMemPerNode=32000 MaxCPUsPerNode=12 State=UP TRESBillingWeights=CPU=1.0,Mem=0.25G",
            "PartitionName=whole Nodes=w1 OverSubscribe=EXCLUSIVE State=UP",
            "PartitionName=apart Nodes=c1 ExclusiveUser=YES State=UP",
            "PartitionName=secret Nodes=m1 Hidden=YES RootOnly=YES State=UP",
            "PartitionName=shared Nodes=c1 OverSubscribe=FORCE:2 AllowGroups=root,lab1 DefMemPerCPU=500 State=UP",
            "PartitionName=elsewhere Nodes=u1 AllocNodes=login7 State=UP",
            "PartitionName=closed Nodes=u1 State=DOWN",
        ],
    },
    "site": {
        "nodes": [(["n1"], [("gpu4090", 4)], PLAIN), (["n2"], [("gpu4090", 4)], PLAIN)],
        "partitions": ["PartitionName=shared Nodes=n1 Default=YES MaxTime=7-00:00:00 State=UP",
                       "PartitionName=few Nodes=n1 MaxCPUsPerNode=8 MaxTime=7-00:00:00 State=UP",
                       "PartitionName=twice Nodes=n2 OverSubscribe=FORCE:2 MaxTime=7-00:00:00 State=UP"],
    },
    "untyped": {
        "nodes": [
            (["u1", "u2"], [("", 4)], f"{PLAIN} Feature=turing"),
            (["u3"], [("", 4)], f"{PLAIN} Feature=ada"),
            (["u4"], [("", 4)], PLAIN),
        ],
        "partitions": [EVERYTHING],
    },
}
CLUSTERS["day"] = {
    "nodes": CLUSTERS["seed"]["nodes"],
    "partitions": ["PartitionName=markov_gpu Nodes=ALL Default=YES MaxTime=2-00:00:00 State=UP",
                   "PartitionName=short Nodes=ALL MaxTime=04:00:00 PriorityJobFactor=10 State=UP",
                   "PartitionName=long Nodes=classt06,classt[21-25] MaxTime=7-00:00:00 State=UP"],
}


def node_names(cluster):
    return [name for names, *_ in CLUSTERS[cluster]["nodes"] for name in names]


def other_gres(cluster):
    """Names of a cluster's GRES that are not GPUs."""
    return sorted({name for *_, other in _groups(cluster) for name, _ in other})


def _groups(cluster):
    """The cluster's groups of nodes: names, GPUs, the rest of the line, other GRES."""
    return [(*group, []) if len(group) == 3 else group for group in CLUSTERS[cluster]["nodes"]]


def write(lab):
    """Writes every configuration file of `lab` into its folder."""
    folder = lab.folder
    for name in ["run", "log", "spool", "state"]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # users read slurm.conf and reach munge's socket
    _write_private(folder / "munge.key", os.urandom(128))
    names = node_names(lab.cluster)
    ports = lab_machine.free_ports(len(names) + 3)
    lab.slurm_conf.write_text(_slurm_conf(lab, *ports[:3], dict(zip(names, ports[3:]))))
    (folder / "gres.conf").write_text(_gres_conf(lab.cluster))
    # Without cgroups of its own slurmd ends, from 23.11 on, unless it is told to do without.
    (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n" if lab.release >= (23, 11) else "CgroupAutomount=no\n")
    if lab.accounting:
        _write_private(folder / "slurmdbd.conf", _slurmdbd_conf(lab, ports[1]).encode())


def _write_private(path, data):
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_bytes(data)


def _slurm_conf(lab, ctld_port, dbd_port, dynamic_port, node_ports):
    folder = lab.folder
    settings = {
        "ClusterName": CLUSTER_NAME,
        "SlurmctldHost": f"{socket.gethostname()}(127.0.0.1)",
        "SlurmctldPort": ctld_port,
        "SlurmdPort": dynamic_port,  # of a node that has no line of its own
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "AuthInfo": f"socket={folder}/run/munge.sock",
        "SlurmdParameters": "config_overrides",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "MpiDefault": "none",
        "ReturnToService": 2,
        "PriorityType": "priority/basic",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "DefMemPerCPU": 2000,
        "GresTypes": ",".join(["gpu", *other_gres(lab.cluster)]),
        "JobCompType": "jobcomp/filetxt",
        "JobCompLoc": f"{folder}/jobcomp.txt",
        "StateSaveLocation": f"{folder}/state",
        "SlurmdSpoolDir": f"{folder}/spool/%n",
        "SlurmdPidFile": f"{folder}/run/slurmd.%n.pid",
        "SlurmctldPidFile": f"{folder}/run/slurmctld.pid",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "bf_interval=2,bf_continue,sched_interval=2,batch_sched_delay=0",
        "KillWait": 2,
        "MinJobAge": 60,
        "InactiveLimit": 0,
        "SlurmdTimeout": 300,
        "LaunchParameters": "send_gids",
    }
    if lab.root:
        settings["PluginDir"] = lab.root.plugins
    if lab.accounting:
        types = sorted({kind for _, gpus, *_ in CLUSTERS[lab.cluster]["nodes"] for kind, _ in gpus} - {""})
        settings.update({
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": "127.0.0.1",
            "AccountingStoragePort": dbd_port,
            "AccountingStoragePass": f"{folder}/run/munge.sock",
            "AccountingStorageEnforce": "associations,limits,qos",
            "AccountingStorageTRES": ",".join(["gres/gpu"] + [f"gres/gpu:{t}" for t in types]),
            "PriorityType": "priority/multifactor",
            "PriorityWeightAge": 1000,
            "PriorityWeightFairshare": 100000,
            "PriorityWeightJobSize": 1000,
            "PriorityWeightPartition": 1000,
            "PriorityWeightQOS": 10000,
            "PriorityWeightTRES": "CPU=500,GRES/gpu=2000",
            "PriorityMaxAge": "1-00:00:00",
            "PriorityDecayHalfLife": "7-00:00:00",
            "PriorityCalcPeriod": "00:01:00",
        })
    settings.update(lab.conf_changes)
    lines = [f"{key}={value}" for key, value in settings.items() if value is not None]
    for names, gpus, rest, other in _groups(lab.cluster):
        gres = ",".join([*(f"gpu:{kind}:{count}" if kind else f"gpu:{count}" for kind, count in gpus),
                         *(f"{name}:{count}" for name, count in other)])
        for name in names:
            lines.append(f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={node_ports[name]} {rest}"
                         + (f" Gres={gres}" if gres else ""))
    return "\n".join(lines + CLUSTERS[lab.cluster]["partitions"]) + "\n"


def _gres_conf(cluster):
    """A device file per GPU, else slurmd finds fewer than configured."""
    lines = ["AutoDetect=off"]
    for names, gpus, _, other in _groups(cluster):
        first = 0
        for kind, count in gpus:
            what = (f" Type={kind}" if kind else "") + f" File=/dev/tty[{first}-{first + count - 1}]"
            lines += [f"NodeName={name} Name=gpu{what}" for name in names]
            first += count
        lines += [f"NodeName={name} Name={what} Count={count}" for name in names for what, count in other]
    return "\n".join(lines) + "\n"


def _slurmdbd_conf(lab, port):
    folder = lab.folder
    return "\n".join([
        *([f"PluginDir={lab.root.plugins}"] if lab.root else []),
        f"AuthType=auth/munge\nAuthInfo=socket={folder}/run/munge.sock",
        f"DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={port}\nSlurmUser=root",
        "StorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=slurm\nStoragePass=lab",
        f"StorageLoc=slurm_lab\nPidFile={folder}/run/slurmdbd.pid\n"])
