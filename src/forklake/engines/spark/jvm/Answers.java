package forklake;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.arrow.ArrowBatchStreamWriter;
import scala.Option;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/**
 * Rows of a query in a file on the machine of the driver, as an Arrow stream.
 *
 * At most a given number of bytes is held, in a task and in the file; more is an error. All of it
 * runs on the thread of the caller, so that the caller gets every error: threads of Spark would end
 * silently after some of them.
 */
public final class Answers {
    private static final int ROWS_OF_A_BATCH = 5000;

    private Answers() {}

    /** Run the query; return the partition of each batch in the file, in the order of the file. */
    public static String write(Dataset rows, String path, long most) throws IOException {
        OutputStream file = new BufferedOutputStream(new FileOutputStream(path), 1 << 18);
        try {
            String zone = rows.sparkSession().sessionState().conf().sessionLocalTimeZone();
            ArrowBatchStreamWriter writer =
                new ArrowBatchStreamWriter(rows.schema(), file, zone, true, false);
            Written written = new Written(writer, most);
            SQLExecution.withNewExecutionId(
                rows.queryExecution(), Option.apply("answer"), new Job(rows, zone, most, written));
            writer.end();
            return written.partitions();
        } finally {
            file.close();
        }
    }

    private static RuntimeException tooMany(long most) {
        return new IllegalStateException(
            "forklake.errors.QuotaExceeded: The rows of the statement take more than " + most
            + " bytes. Add a LIMIT, or write them to a table: CREATE TABLE … AS ….");
    }

    /** The job, which is one execution of Spark. */
    private static final class Job extends AbstractFunction0 {
        private final Dataset rows;
        private final String zone;
        private final long most;
        private final Written written;

        Job(Dataset rows, String zone, long most, Written written) {
            this.rows = rows;
            this.zone = zone;
            this.most = most;
            this.written = written;
        }

        public Object apply() {
            RDD batches = rows.toArrowBatchRdd(ROWS_OF_A_BATCH, zone, true, false);
            batches.sparkContext().runJob(
                batches, new Bounded(most), written, ClassTag$.MODULE$.apply(byte[][].class));
            return BoxedUnit.UNIT;
        }
    }

    /** Return the batches of a partition, in its task. */
    private static final class Bounded extends AbstractFunction1 implements Serializable {
        private final long most;

        Bounded(long most) {
            this.most = most;
        }

        public Object apply(Object given) {
            Iterator batches = (Iterator) given;
            List found = new ArrayList();
            long size = 0;
            while (batches.hasNext()) {
                byte[] batch = (byte[]) batches.next();
                size += batch.length;
                if (size > most) {
                    throw tooMany(most);
                }
                found.add(batch);
            }
            return found.toArray(new byte[found.size()][]);
        }
    }

    /** Writer of the batches of partitions as they are ready, one partition after another. */
    private static final class Written extends AbstractFunction2 {
        private final ArrowBatchStreamWriter writer;
        private final long most;
        private final StringBuilder partitions = new StringBuilder();
        private long size;

        Written(ArrowBatchStreamWriter writer, long most) {
            this.writer = writer;
            this.most = most;
        }

        public Object apply(Object partition, Object given) {
            byte[][] batches = (byte[][]) given;
            for (int number = 0; number < batches.length; number++) {
                size += batches[number].length;
                partitions.append(partition).append(' ');
            }
            if (size > most) {
                throw tooMany(most);
            }
            writer.writeBatches(CollectionConverters.asScala(Arrays.asList(batches).iterator()));
            return BoxedUnit.UNIT;
        }

        String partitions() {
            return partitions.toString();
        }
    }
}
