#!/usr/bin/env python3
"""A daemon with a history in its file is killed and started again, as systemd would. A real Slurm.

    restart_test.py BIN_DIR [unittest options]

GPUADVISE_LAB_JOBS=1000000 in the environment makes the history that of a large site (bench/performance.md).
"""
import json
import os
import sqlite3
import time

import programs
from lab import wait_until

JOBS = int(os.environ.get("GPUADVISE_LAB_JOBS", "20000"))
WHEN = json.dumps({"jobs": [{"gres": "gpu:1", "time_limit_seconds": 3600}]})
MADE_JOBS = f"""
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {JOBS})
INSERT INTO job (job_id, submit, array_job_id, name, "user", account, qos, partition, gpu, nodes, cpus, gpus, limit_seconds,
                 eligible, start, "end", lost, said_p10, said_p50, said_p90, said_mean, said_group, state)
SELECT 1000000 + i, s, 0, 'train-' || i % 977, 'user' || i % 200, 'account' || i % 20, 'normal', 'gpu', 'l40s', 1, 8, 1 + i % 4,
       86400, s, s + 600 + i % 3000, s + 7800, 0, 0, 600, 3600, 900, 1, 'COMPLETED'
FROM (SELECT i, unixepoch() - 34000000 + i * 34 AS s FROM n)
"""


class Restart(programs.SiteTest):
    LAB = {"cluster": "tiny"}
    SETTINGS = {"source": "slurm-cli", "accounting_interval": "0s"}

    def test_it_answers_again_from_the_history(self):
        self.site.start()
        self.addCleanup(self.site.stop)
        self.site.stop()
        with sqlite3.connect(f"{self.site.settings['state_dir']}/history.db") as history:
            history.execute(MADE_JOBS)
        history.close()
        self.site.start()
        self.site.process.kill()
        self.site.process.wait()
        begun = time.monotonic()
        self.site.start(fresh=False)

        def answers():
            status, _ = programs.ask(self.site, "POST", "/v1/when", WHEN)
            return status == 200

        wait_until(answers, "an answer", 240)
        print(f"answered again {time.monotonic() - begun:.1f} s after the start, with a history of {JOBS:,} jobs", flush=True)
        wait_until(lambda: self.site.health()["history"].get("jobs", 0) >= JOBS, "its history", 120)


if __name__ == "__main__":
    programs.main()
