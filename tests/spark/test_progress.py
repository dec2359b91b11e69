"""Progress bars: shown on a terminal only, and never affecting a job."""

from __future__ import annotations

import re
import sys
import threading
from io import StringIO

import pytest
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console

from forklake.engines.spark import progress as module
from forklake.engines.spark.engine import Engine
from forklake.engines.spark.progress import Display, progress

_COUNTS = re.compile(r"(\d+)/(\d+)")


@pytest.fixture
def terminal() -> Console:
    """Return a terminal whose screen can be read."""
    return Console(force_terminal=True, file=StringIO(), width=100)


def screen(console: Console) -> str:
    """Return everything that was written to the screen."""
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def run_job(engine: Engine, tasks: int, seconds: float) -> None:
    """Run a job whose tasks take some time each."""
    nap = F.expr(f"java_method('java.lang.Thread', 'sleep', {int(seconds * 1000)}L)")
    rows = engine.spark.range(0, tasks, 1, tasks).select(nap.alias("x"))
    rows.write.format("noop").mode("overwrite").save()


def test_a_bar_grows_until_all_tasks_are_done(
    engine: Engine, terminal: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.1)
    monkeypatch.setattr(module, "_INTERVAL", 0.05)
    display = Display(terminal)
    with progress("Writing lake.main.[t]", display):
        run_job(engine, 8, 0.15)
        with progress("inside", display):
            run_job(engine, 2, 0.0)
    seen = [(int(done), int(total)) for done, total in _COUNTS.findall(screen(terminal))]
    assert "Writing lake.main.[t]" in screen(terminal)
    assert "inside" not in screen(terminal)
    assert seen[-1] == (10, 10)
    assert any(0 < done < total for done, total in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert not engine.spark.sparkContext.getJobTags()


def test_bars_of_several_threads_share_one_display(
    engine: Engine, terminal: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    monkeypatch.setattr(module, "_INTERVAL", 0.05)
    both, display = threading.Barrier(2), Display(terminal)

    def work(number: int) -> None:
        with progress(f"Job {number}", display):
            both.wait(10)
            run_job(engine, 2, 0.2)
            both.wait(10)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = re.split(r"\x1b\[\d*A", screen(terminal))[-1]
    assert "Job 1" in last
    assert "Job 2" in last
    assert _COUNTS.findall(last) == [("2", "2"), ("2", "2")]


@pytest.mark.parametrize("reason", ["short", "no terminal", "switched off"])
def test_no_bar_is_shown(
    engine: Engine, terminal: Console, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 600.0 if reason == "short" else 0.0)
    if reason == "no terminal":
        terminal = Console(file=StringIO())
    if reason == "switched off":
        monkeypatch.setenv("FORKLAKE_PROGRESS", "0")
    with progress("Writing", Display(terminal)):
        run_job(engine, 1, 0.0)
    assert screen(terminal) == ""


def test_nothing_is_written_to_streams_that_are_not_terminals(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    assert not sys.stdout.isatty()
    with progress("Writing"):
        run_job(engine, 1, 0.1)
    assert capsys.readouterr() == ("", "")


def test_a_failing_display_does_not_affect_jobs_and_vice_versa(
    engine: Engine, terminal: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    terminal.file.close()
    with progress("Writing", Display(terminal)):
        run_job(engine, 2, 0.2)
    with pytest.raises(ZeroDivisionError), progress("Writing", Display(terminal)):
        raise ZeroDivisionError
    assert not engine.spark.sparkContext.getJobTags()
