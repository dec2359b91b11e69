package forklake;

import java.io.Serializable;
import java.util.Base64;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Key of an encrypted file, passed to Parquet while the file is opened.
 *
 * The key is metadata of the split of its file, which no plan and no log shows, so a task gets only
 * the keys of its files. This function wraps the Spark reader of one file.
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

    /** Return the key of the file that this thread opens, or null. */
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
