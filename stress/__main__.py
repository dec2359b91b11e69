"""Run the stress suite: rounds of all scenarios, with faults, until the time is over.

python -m stress                                    some minutes
python -m stress --minutes 60 --report DIR          an hour; the report goes to the folder
python -m stress --only transactions --backend sqlite
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from stress.grounds import BACKENDS, running_server
from stress.report import Run, write_report
from stress.rounds import SCENARIOS, Plan, Round
from stress.sampling import Sampler
from stress.scenarios.scenario import Size
from stress.workers import keep_quiet

_SHORTEST, _LONGEST = 5.0, 30.0  # seconds of a round
_FAULTS = 10  # in a round, if none takes long


def main() -> int:
    """Play rounds as asked for; 1 if anything was wrong."""
    arguments = _arguments()
    names, backends = arguments.only or list(SCENARIOS), arguments.backend or list(BACKENDS)
    share = 60 * arguments.minutes / (len(names) * len(backends))
    seconds = max(_SHORTEST, min(_LONGEST, share))
    size = Size(seconds=seconds, seconds_between_faults=seconds / _FAULTS)
    until = time.monotonic() + 60 * arguments.minutes
    rounds: list[Round] = []
    keep_quiet()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server must not stay behind
    with ExitStack() as stack:
        needs_server = "postgresql" in backends
        server = stack.enter_context(running_server()) if needs_server else None
        sampler = Sampler(server)
        sampler.start()
        stack.callback(sampler.end)
        stack.callback(lambda: write_report(Run(rounds, sampler.samples), arguments.report))
        for one in Plan(names, backends, size, until, arguments.seed).rounds(server, sampler):
            print(one.line(), flush=True)
            rounds.append(one)
    problems = Run(rounds, sampler.samples).problems()
    print(f"{len(rounds)} rounds, {len(problems)} problems; see {arguments.report / 'stress.md'}.")
    return 1 if problems else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="stress", description="Stress a lake, with faults.")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long (5)")
    parser.add_argument("--only", choices=SCENARIOS, action="append", help="only these scenarios")
    parser.add_argument("--backend", choices=BACKENDS, action="append", help="only this metastore")
    parser.add_argument("--seed", type=int, default=0, help="of the dice that choose faults (0)")
    parser.add_argument(
        "--report", type=Path, default=Path("build/stress"), help="folder (build/stress)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
