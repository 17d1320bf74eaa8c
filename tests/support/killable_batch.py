"""Runs a command line in this process and kills itself, with SIGKILL, the n-th time a named point is reached.

    python -m support.killable_batch POINT COUNT ARGUMENTS…

Points are those of `killable_run`, such as `half batched` or `after asked`.
"""

import sys

from support.killable_run import arm

from console.__main__ import main

if __name__ == "__main__":
    arm(sys.argv[1], int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
