"""Run the stress suite: rounds of all scenarios, with faults, for a given time.

python -m stress                                    run for five minutes
python -m stress --minutes 60 --report DIR          run for an hour, write the report to DIR
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

_SHORTEST, _LONGEST = 5.0, 30.0  # limits of the duration of a round, in seconds
_FAULTS = 10  # in a round, if faults are short


def main() -> int:
    """Run rounds as the arguments define. Return 1 if there were problems."""
    arguments = _arguments()
    names, backends = arguments.only or list(SCENARIOS), arguments.backend or list(BACKENDS)
    share = 60 * arguments.minutes / (len(names) * len(backends))
    seconds = max(_SHORTEST, min(_LONGEST, share))
    size = Size(seconds=seconds, seconds_between_faults=seconds / _FAULTS)
    until = time.monotonic() + 60 * arguments.minutes
    rounds: list[Round] = []
    keep_quiet()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # exit normally, to stop the server too
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
    parser = argparse.ArgumentParser(
        prog="stress", description="Run concurrent scenarios on a lake while faults are injected."
    )
    parser.add_argument("--minutes", type=float, default=5.0, help="duration (default: 5)")
    parser.add_argument(
        "--only", choices=SCENARIOS, action="append", help="run only this scenario; repeatable"
    )
    parser.add_argument(
        "--backend", choices=BACKENDS, action="append", help="use only this metastore; repeatable"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the random faults (default: 0)"
    )
    parser.add_argument(
        "--report",
        type=Path,
        default=Path("build/stress"),
        help="folder of the report (default: build/stress)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
