"""Errors of failed reads: only a file that is proven to be damaged is reported as damaged."""

from __future__ import annotations

import pytest

from forklake.engines.spark.failures import of_files
from forklake.errors import Corruption, Forbidden, ForklakeError, NotFound, Unavailable, Unsupported
from forklake.files.systems import is_storage_failure

READ = "[FAILED_READ_FILE.{}] Encountered error while reading file {}.  SQLSTATE: KD001"
FILE = "s3a://bucket/lake/a.parquet"


def failed(cause: str, condition: str = "NO_HINT") -> ForklakeError:
    """Return the error for a file that Spark could not read."""
    found = of_files([READ.format(condition, FILE), cause])
    assert found is not None
    assert "'s3a://bucket/lake/a.parquet'" in found.message
    return found


@pytest.mark.parametrize(
    "cause",
    [
        "s3a://bucket/lake/a.parquet is not a Parquet file. Expected magic number at tail",
        "s3a://bucket/lake/a.parquet is not a Parquet file (length is too low: 0)",
        "can not read class org.apache.parquet.format.PageHeader: don't know what type: 14",  # language: ok  # noqa: E501
        "could not decode the dictionary for [id] optional int64 id\nFAILED_TO_UNCOMPRESS(5)",
        "Reached the end of stream with 299476 bytes left to read",
    ],
)
def test_files_refused_by_parquet_readers_are_damaged(cause: str) -> None:
    assert type(failed(cause)) is Corruption


@pytest.mark.parametrize("path", ["/data/corrupt_rows/a.parquet", "s3a://Corrupt/a.parquet"])
@pytest.mark.parametrize(
    "cause",
    ["java.io.IOException: Unknown reason", 'No FileSystem for scheme "s3"', "Filesystem closed"],
)
def test_a_file_is_not_damaged_because_of_its_name(path: str, cause: str) -> None:
    error = of_files([READ.format("NO_HINT", path), cause])
    assert isinstance(error, Unavailable | Unsupported)
    damaged = of_files([READ.format("NO_HINT", path), f"{path} is not a Parquet file"])
    assert type(damaged) is Corruption


@pytest.mark.parametrize(
    "cause",
    [
        "java.io.IOException: Input/output error",
        "java.io.IOException: Stale file handle",
        "java.io.IOException: Permission denied",
        "java.io.IOException: Too many open files",
        "java.io.EOFException: Premature EOF from inputStream",
        "java.lang.OutOfMemoryError: Java heap space",
        "java.nio.channels.ClosedByInterruptException",
        "java.util.concurrent.TimeoutException: Futures timed out",
        "org.apache.hadoop.hdfs.BlockMissingException: Could not obtain block: BP-1",
        "org.apache.hadoop.ipc.StandbyException: READ is not supported in state standby",
        "com.google.cloud.storage.StorageException: 503 Service Unavailable",
        'AbfsRestOperationException: Operation failed: "Server busy", 503',
        'UnsupportedFileSystemException: No FileSystem for scheme "s3"',
    ],
)
def test_failures_passed_on_by_parquet_readers_are_not_damage(cause: str) -> None:
    error = failed(f"ParquetDecodingException: Can not read value at 0 in {FILE}\n{cause}")
    assert isinstance(error, Unavailable | Unsupported)


def test_a_column_type_that_contradicts_the_table_is_damage() -> None:
    assert type(failed("", "PARQUET_COLUMN_DATA_TYPE_MISMATCH")) is Corruption


@pytest.mark.parametrize(
    ("cause", "shown"),
    [
        (
            "getFileStatus on s3a://bucket/lake/a.parquet: software.amazon.awssdk.services.s3"
            ".model.S3Exception: Slow Down (Service: S3, Status Code: 503, Request ID: 1)",
            "Status Code: 503",
        ),
        ("java.net.SocketException: Connection reset", "Connection reset"),
        ("Connection reset", "Connection reset"),
        ("Unable to execute HTTP request: Read timed out", "Read timed out"),
        ("Reached the end of stream with 9 bytes left to read\nConnection reset", "Connection"),
        ("", "Spark gives no reason"),
    ],
)
def test_a_failed_request_is_not_damage(cause: str, shown: str) -> None:
    error = failed(cause)
    assert type(error) is Unavailable
    assert error.retryable
    assert shown in error.message
    assert "backup" not in str(error)


@pytest.mark.parametrize(
    "cause",
    [
        'No FileSystem for scheme "nofs"',
        "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
    ],
)
def test_a_missing_file_system_error_names_the_package_to_add(cause: str) -> None:
    error = failed(cause)
    assert type(error) is Unsupported
    assert "spark.jars.packages" in error.remedy


def test_missing_files_and_keys_are_distinguished() -> None:
    missing = "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file a.parquet. "
    assert type(of_files([f"{missing}File does not exist."])) is NotFound
    assert type(failed("No keys available")) is Forbidden


def test_a_delete_file_that_could_not_be_fetched_is_not_damaged() -> None:
    text = f"The delete file {FILE} cannot be read: java.net.SocketException: Connection reset"
    assert type(of_files([text])) is Unavailable
    text = (
        f"The delete file {FILE} cannot be read: java.lang.RuntimeException: is not a Parquet file"
    )
    assert type(of_files([text])) is Corruption


@pytest.mark.parametrize(
    ("error", "is_storage"),
    [
        (OSError(5, "Input/output error"), True),
        (OSError("When reading 'a': AWS Error SLOW_DOWN (HTTP status 503)"), True),
        (OSError("Couldn't deserialize thrift: TProtocolException: Invalid data"), False),
        (OSError("Corrupt snappy compressed data."), False),
        (ValueError("Connection"), False),
    ],
)
def test_storage_errors_and_file_errors_are_distinguished(
    error: Exception, is_storage: bool
) -> None:
    assert is_storage_failure(error) is is_storage
