package forklake;

import java.util.Base64;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/** Parquet format of Spark with file keys for reads, and field ids and keys for writes. */
public final class ParquetFormat extends ParquetFileFormat {
    private static final String CRYPTO = "parquet.crypto.factory.class";

    public ParquetFormat() {
        super();
    }

    public Function1 buildReaderWithPartitionValues(
        SparkSession session,
        StructType dataSchema,
        StructType partitionSchema,
        StructType requiredSchema,
        Seq filters,
        Map options,
        Configuration conf) {
        conf.set(CRYPTO, Crypto.class.getName());
        return new FileKey(super.buildReaderWithPartitionValues(
            session,
            dataSchema,
            partitionSchema,
            requiredSchema,
            FloatFilters.safe(dataSchema, filters),
            options,
            conf));
    }

    public OutputWriterFactory prepareWrite(
        SparkSession session, Job job, Map options, StructType schema) {
        OutputWriterFactory factory = super.prepareWrite(session, job, options, schema);
        Configuration conf = job.getConfiguration();
        conf.set("parquet.write.support.class", FieldIdWriteSupport.class.getName());
        // Local files get no .crc files beside them: Parquet has checksums itself.
        conf.set("fs.file.impl", RawLocalFileSystem.class.getName());
        conf.setBoolean("fs.file.impl.disable.cache", true);
        byte[] key = WriteJob.of(conf).key();
        if (key != null) {
            conf.set(CRYPTO, Crypto.class.getName());
            conf.set(Crypto.JOB_KEY, Base64.getEncoder().encodeToString(key));
        }
        return factory;
    }
}
