package forklake;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;

/**
 * What the driver and a running write tell each other: the key to use, the files that came out.
 *
 * The options of a write carry only the name of its job, because Spark shows options in plans.
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

    /** Forgets the job; the paths of its files under its folder, one a line. */
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
