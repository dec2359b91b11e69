package forklake;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import scala.collection.immutable.Seq;

/**
 * Running tasks by job group, including those of cancelled jobs.
 *
 * Spark forgets the tasks of a cancelled job, although they occupy their slots until they end.
 */
public final class Tasks extends SparkListener {
    private static final int MOST = 10000;
    private static final Map STAGES = new LinkedHashMap(); // number of a stage -> group
    private static final Map RUNNING = new HashMap(); // number of a task -> group

    private static SparkContext watched;

    private Tasks() {}

    /** Start to watch the tasks of a Spark; repeated calls have no effect. */
    public static void watch(SparkContext context) {
        synchronized (STAGES) {
            if (watched == context) {
                return;
            }
            watched = context;
            STAGES.clear();
            RUNNING.clear();
        }
        context.addSparkListener(new Tasks());
    }

    /** Return whether a task of a job group still has a thread. */
    public static boolean isRunning(String group) {
        return !threads(group).isEmpty();
    }

    /** Return the stack traces of the running tasks of a job group, at most `depth` lines each. */
    public static String stacks(String group, int depth) {
        StringBuilder text = new StringBuilder();
        Iterator threads = threads(group).iterator();
        while (threads.hasNext()) {
            Thread thread = (Thread) threads.next();
            StackTraceElement[] calls = thread.getStackTrace();
            text.append(thread.getName());
            for (int i = 0; i < calls.length && i < depth; i++) {
                text.append("\n  ").append(calls[i]);
            }
            text.append('\n');
        }
        return text.toString();
    }

    /**
     * Return the threads of the tasks of a job group. Looks at the threads themselves, because
     * events can get lost; the name of a thread contains the number of its task.
     */
    private static List threads(String group) {
        Set names = new HashSet();
        synchronized (STAGES) {
            Iterator running = RUNNING.entrySet().iterator();
            while (running.hasNext()) {
                Map.Entry one = (Map.Entry) running.next();
                if (one.getValue().equals(group)) {
                    names.add("(TID " + one.getKey() + ")");
                }
            }
        }
        List found = new ArrayList();
        if (names.isEmpty()) {
            return found;
        }
        Iterator threads = Thread.getAllStackTraces().keySet().iterator();
        while (threads.hasNext()) {
            Thread thread = (Thread) threads.next();
            int task = thread.getName().lastIndexOf("(TID ");
            if (task >= 0 && names.contains(thread.getName().substring(task))) {
                found.add(thread);
            }
        }
        return found;
    }

    public void onJobStart(SparkListenerJobStart event) {
        Properties properties = event.properties();
        String group = properties == null ? null : properties.getProperty("spark.jobGroup.id");
        Seq stages = event.stageInfos();
        synchronized (STAGES) {
            for (int i = 0; group != null && i < stages.size(); i++) {
                STAGES.put(Integer.valueOf(
                    ((org.apache.spark.scheduler.StageInfo) stages.apply(i)).stageId()), group);
            }
            Iterator oldest = STAGES.keySet().iterator();
            while (STAGES.size() > MOST) {
                oldest.next();
                oldest.remove();
            }
        }
    }

    public void onTaskStart(SparkListenerTaskStart event) {
        synchronized (STAGES) {
            Object group = STAGES.get(Integer.valueOf(event.stageId()));
            if (group != null) {
                RUNNING.put(Long.valueOf(event.taskInfo().taskId()), group);
            }
        }
    }

    public void onTaskEnd(SparkListenerTaskEnd event) {
        synchronized (STAGES) {
            RUNNING.remove(Long.valueOf(event.taskInfo().taskId()));
        }
    }
}
