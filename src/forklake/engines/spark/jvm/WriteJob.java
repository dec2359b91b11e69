package forklake;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;

/**
 * State shared by the driver and a running write: the key to use, and the written files.
 *
 * The options of a write contain only the name of its job, because Spark shows options in plans.
 */
public final class WriteJob {
    private static final String NAME = "forklake.job";
    private static final ConcurrentHashMap OPEN = new ConcurrentHashMap();

    private final byte[] key;
    private final List files = new ArrayList();

    private WriteJob(byte[] key) {
        this.key = key;
    }

    public static void open(String name, byte[] key) {
        OPEN.put(name, new WriteJob(key));
    }

    /** Forget the job; return the paths of its files relative to its folder, one per line. */
    public static String close(String name) {
        return String.join("\n", ((WriteJob) OPEN.remove(name)).files);
    }

    static WriteJob of(Configuration conf) {
        return (WriteJob) OPEN.get(conf.get(NAME));
    }

    byte[] key() {
        return key;
    }

    void add(List paths) {
        files.addAll(paths);
    }
}
