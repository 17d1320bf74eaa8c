"""Plays a planned run against a baseline in this process and kills itself at a point, as `killable_run` does.

python -m support.killable_planned_run RUN_FOLDER BASE_URL POINT COUNT
"""

import sys
from pathlib import Path

from support.killable_run import arm
from support.planned_runs import DECIDED, TalkSuite, passes, planned, results

from console.engine.launch import run_in_foreground
from console.store.runs import RunFolder, create_run


def main() -> int:
    folder, base_url, point, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    suite = TalkSuite(200)
    ready = planned(folder, suite, DECIDED, results(suite, passes(0.9, "a")), at_once=8, base_url=base_url)
    run = RunFolder(folder) if folder.exists() else create_run(folder.parent, ready.manifest)
    arm(point, count)
    return 0 if run_in_foreground(run, ready).closed.reason == "decided" else 1


if __name__ == "__main__":
    sys.exit(main())
