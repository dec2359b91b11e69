package forklake;

import java.io.Serializable;
import java.util.Base64;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Hands the key of an encrypted file to Parquet while the file is being opened.
 *
 * A key travels beside its file, as metadata of the split that no plan and no log shows, so a task
 * gets the keys of its own files only. This function wraps Spark's reader of one file.
 */
final class FileKey extends AbstractFunction1 implements Serializable {
    private static final String NAME = "forklake.key";
    private static final ThreadLocal OPENING = new ThreadLocal();

    private final Function1 reader;

    FileKey(Function1 reader) {
        this.reader = reader;
    }

    static scala.collection.immutable.Map carry(String key) {
        return new scala.collection.immutable.Map.Map1(NAME, Base64.getDecoder().decode(key));
    }

    /** The key of the file that this thread is opening, or null. */
    static byte[] opening() {
        return (byte[]) OPENING.get();
    }

    public Object apply(Object file) {
        Option key = ((PartitionedFile) file).otherConstantMetadataColumnValues().get(NAME);
        if (key.isEmpty()) {
            return reader.apply(file);
        }
        OPENING.set(key.get());
        try {
            return reader.apply(file);
        } finally {
            OPENING.remove();
        }
    }
}
