"""Our Java classes: compiled with the compiler inside Spark, cached as a jar, loaded everywhere.

Every Spark includes Janino, with which it compiles generated code. So neither a Java development
kit nor a build step is needed, and the classes always match the Spark in use.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

PACKAGE = "forklake"
SOURCES = Path(__file__).with_name("jvm")


def load(spark: SparkSession) -> None:
    """Load our classes into the driver and the executors; repeated calls have no effect."""
    jvm: Any = spark._jvm
    path = _jar(spark)
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader.addURL(jvm.java.io.File(str(path)).toURI().toURL())
    context: Any = spark.sparkContext
    if path.name not in context._jsc.sc().listJars().mkString(" "):
        context._jsc.addJar(path.as_uri())


def _jar(spark: SparkSession) -> Path:
    """Return the jar for this Spark from the cache of the user; compile it if it is missing."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(spark.version.encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    folder = _cache_folder()
    jar = folder / f"{PACKAGE}-{digest.hexdigest()[:16]}.jar"
    if not jar.exists():
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            made = Path(temporary, jar.name)
            _write(made, _compile(spark, sources))
            made.replace(jar)  # concurrent processes replace it with the same content
    return jar


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base, "forklake")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _compile(spark: SparkSession, sources: list[Path]) -> dict[str, bytes]:
    """Return the class files of the sources by their path in a jar."""
    jvm: Any = spark._jvm
    janino = jvm.org.codehaus.janino
    resources = jvm.org.codehaus.commons.compiler.util.resource
    compiler = janino.Compiler()
    loader = jvm.java.lang.ClassLoader.getSystemClassLoader()  # Spark, without our own classes
    compiler.setIClassLoader(janino.ClassLoaderIClassLoader(loader))
    classes = resources.MapResourceCreator()
    compiler.setClassFileCreator(classes)
    compiler.setClassFileFinder(resources.ResourceFinder.EMPTY_RESOURCE_FINDER)
    gateway: Any = spark.sparkContext._gateway
    units = gateway.new_array(resources.Resource, len(sources))
    for number, source in enumerate(sources):
        units[number] = resources.FileResource(jvm.java.io.File(str(source)))
    compiler.compile(units)
    return {str(path): bytes(content) for path, content in dict(classes.getMap()).items()}


def _write(path: Path, classes: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n\n")
        for name, content in sorted(classes.items()):
            jar.writestr(name, content)
