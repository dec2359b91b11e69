package forklake;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;

/**
 * Interruption of loops inside one call of a function, which Spark itself cannot interrupt.
 *
 * A task is stopped by its context. Constants are computed while a query is planned, outside of any
 * task, so statements to stop are also marked here, by their job group.
 */
public final class Interruption {
    private static final Set STOPPED = ConcurrentHashMap.newKeySet(); // job groups
    private static final int MOST = 10000;
    private static final int INTERVAL = 1024; // steps between checks

    private int steps;

    /** Mark the statement of a job group to be stopped. */
    public static void stop(String group) {
        if (STOPPED.size() >= MOST) {
            STOPPED.clear(); // entries of statements that ended long ago
        }
        STOPPED.add(group);
    }

    /** Count a step of a loop; throw TaskKilledException if the statement was stopped. */
    void step() {
        if (++steps % INTERVAL == 0) {
            check();
        }
    }

    /** Throw TaskKilledException if the statement of this thread was stopped. */
    static void check() {
        TaskContext task = TaskContext.get();
        if (task == null ? isStoppedHere() : task.isInterrupted()) {
            throw new TaskKilledException("The statement was stopped.");
        }
    }

    private static boolean isStoppedHere() {
        if (STOPPED.isEmpty()) {
            return false;
        }
        String group = SparkContext.getOrCreate().getLocalProperty("spark.jobGroup.id");
        return group != null && STOPPED.contains(group);
    }

    /** Return true, unless the statement was stopped: a condition for the body of a lambda. */
    public static boolean goesOn(int ignored) {
        check();
        return true;
    }
}
