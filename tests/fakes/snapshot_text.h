// A cluster in a few lines of text, for tests: the world as a reader says it.
//
//     SnapshotOf("node n[1-2] a100:8\n"
//                "run 7 n1 a100:8 ends 2h\n"
//                "pend 8 a100:8 nodes 2 limit 3h")
//
// One statement a line ('#' starts a comment), words and `key value` pairs in any order:
//
// clang-format off
//   node HOSTS [TYPE:N …] [cpus 32] [mem 128000] [threads 1] [shards N] [mps N] [weight N] [features a,b]
//        [state DRAIN] [reason word]
//   partition NAME HOSTS|ALL [max 7d] [default-time 1h] [tier N] [factor N] [state DOWN]
//        [mem-per-cpu MIB] [mem-per-node MIB] [max-mem MIB] [max-nodes N] [min-nodes N] [qos Q]
//        [allow-accounts a,b] [deny-accounts a,b] [allow-qos a,b] [deny-qos a,b]
//        [max-cpus-per-node N] [max-cpus-per-socket N] [over-subscribe FORCE:2] [exclusive-to user]
//        [resume-timeout 10m] [exclusive] [root-only] [default] [preempt-mode REQUEUE]
//   run ID HOSTS REQUEST ends 2h|-10m|never [state RUNNING|COMPLETING|SUSPENDED] OWNER
//        (REQUEST is what it holds on each host)
//   pend ID REQUEST [priority N] [reason Word] [dependency afterok:3] [count N] [throttle N]
//        [eligible 1h] [nice N] OWNER
//   reserve NAME HOSTS|none from 1h to 3h [users a,b] [accounts a,b] [groups a,b] [partitions a,b]
//        [qos a,b] [flags MAINT,DAILY] [nodes N] [tres cpu=8,gres/gpu=2] [licenses matlab=2]
//   licence NAME TOTAL [used N] [reserved N] [remote]
//   qos NAME [priority N] [flags a,b] [preempts a,b] [preempt-mode CANCEL] LIMITS
//   assoc ACCOUNT [user U] [parent P] [in PARTITION] [fair 0.5] [shares N] [usage S]
//        [priority N] [qos a,b] [default-qos Q] [default] LIMITS
//   config KEY VALUE
//        KEY: priority scheduler parameters select enforce flags tres preempt preempt-mode kill-wait
//             age fairshare size partition qos assoc max-age half-life favor-small
//             def-mem-per-cpu def-mem-per-node select-type topology hidden private resume-timeout
//             suspend-timeout
//
//   REQUEST: [TYPE:N …] [total TYPE:N] [nodes N|N-M] [cpus N] [tasks N] [cpus-per-task N]
//            [mem 4G|default] [mem-per-cpu 2G] [limit 3h|unlimited|none] [in p1,p2]
//            [features EXPR] [on HOSTS] [not HOSTS] [exclusive] [exclusive-to user] [shards N] [mps N]
//            [begin 1h] [reservation R] [licenses a=1] [any-license a=1,b=1] [switches N]
//            [segment N]
//   OWNER:   [user U] [account A] [qos Q] [array ID]
//   LIMITS:  [max-wall 1h] [per-job gres/gpu=4,cpu=8] [per-user …] [per-account …] [group …]
//            [min …] [max-jobs N] [group-jobs N]
// clang-format on
//
// A GPU type "gpu" is the untyped one. Times count from the snapshot (kSnapshotTime). What is not
// said: partition "main" over all nodes when none is given; user "ann" (uid 1001), account "lab",
// QOS "normal"; 1 CPU (a GPU job: one per GPU), 1,000 MiB per CPU, limit 1 h; priorities count down
// in the order of the lines. Node totals in use follow from the running jobs.
// A mistake in the text throws std::invalid_argument with its line.
#pragma once

#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

inline constexpr UnixSeconds kSnapshotTime = 1'790'000'000;

Snapshot SnapshotOf(std::string_view text);

// The REQUEST part alone, as `pend` reads it: RequestOf("a100:8 nodes 2 limit 3h").
JobRequest RequestOf(std::string_view text);

// "90s", "30m", "2h", "1h30m", "3d" in seconds.
int64_t SecondsOf(std::string_view text);

}  // namespace gpuadvise
