package forklake;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.mapred.SparkHadoopMapRedUtil;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * Commit protocol in which tasks write files under their final names; the commit of the lake makes
 * them visible.
 *
 * Files are neither staged nor renamed. All files of a job begin with the same half of a
 * UUID, by which a failed job finds the files of its tasks, even of those that died.
 */
public final class DirectCommit extends FileCommitProtocol implements Serializable {
    /**
     * Prefix of partition columns that only name folders: the columns of the table stay in the
     * files.
     */
    private static final String PARTITION_PREFIX = "__partition_";
    private static final String PREFIX = "ducklake-";
    private static final int JOB_LENGTH = 18; // 64 bits of a UUID as text

    private final String folder;
    private final long jobBits;
    private transient List written; // paths of this task, relative to the folder

    public DirectCommit(String jobId, String folder, boolean dynamicPartitionOverwrite) {
        super();
        this.folder = folder;
        this.jobBits = UUID.randomUUID().getMostSignificantBits();
    }

    public void setupJob(JobContext job) {}

    public void commitJob(JobContext job, Seq messages) {
        WriteJob driver = WriteJob.of(job.getConfiguration());
        for (int i = 0; i < messages.length(); i++) {
            driver.add((List) ((FileCommitProtocol.TaskCommitMessage) messages.apply(i)).obj());
        }
    }

    public void abortJob(JobContext job) {
        String prefix = PREFIX + new UUID(jobBits, 0L).toString().substring(0, JOB_LENGTH);
        try {
            Path root = new Path(folder);
            removeFiles(root.getFileSystem(job.getConfiguration()), root, prefix);
        } catch (IOException e) {
            return; // the cause of the failure matters more; remaining files belong to no table
        }
    }

    /** Remove the files of a job, and then the folders that are empty. */
    private static void removeFiles(FileSystem files, Path folder, String prefix)
        throws IOException {
        FileStatus[] found = files.listStatus(folder);
        for (int i = 0; i < found.length; i++) {
            if (found[i].isDirectory()) {
                removeFiles(files, found[i].getPath(), prefix);
            } else if (found[i].getPath().getName().startsWith(prefix)) {
                files.delete(found[i].getPath(), false);
            }
        }
        if (files.listStatus(folder).length == 0) {
            files.delete(folder, false);
        }
    }

    public void setupTask(TaskAttemptContext task) {
        written = new ArrayList();
    }

    public String newTaskTempFile(TaskAttemptContext task, Option partition, String extension) {
        String path = name(UUID.randomUUID().getLeastSignificantBits());
        if (partition.isDefined()) {
            path = partitionFolder((String) partition.get()) + "/" + path;
        }
        written.add(path);
        return folder + "/" + path;
    }

    public String newTaskTempFile(TaskAttemptContext task, Option partition, FileNameSpec spec) {
        return newTaskTempFile(task, partition, spec.suffix());
    }

    public String newTaskTempFileAbsPath(TaskAttemptContext task, String dir, String extension) {
        throw new UnsupportedOperationException("files belong under " + folder);
    }

    /** Allow one of several attempts of a task to commit, and none once the job has failed. */
    public FileCommitProtocol.TaskCommitMessage commitTask(TaskAttemptContext task) {
        TaskID id = task.getTaskAttemptID().getTaskID();
        SparkHadoopMapRedUtil.commitTask(
            new Coordinated(), task, id.getJobID().getId(), id.getId());
        return new FileCommitProtocol.TaskCommitMessage(written);
    }

    /** Runs even after the job was aborted, so it must not leave empty folders either. */
    public void abortTask(TaskAttemptContext task) {
        int depth = new Path(folder).depth();
        for (int i = 0; i < written.size(); i++) {
            Path path = new Path(folder + "/" + written.get(i));
            try {
                FileSystem files = path.getFileSystem(task.getConfiguration());
                files.delete(path, false);
                Path above = path.getParent();
                while (above.depth() >= depth && files.listStatus(above).length == 0) {
                    files.delete(above, false);
                    above = above.getParent();
                }
            } catch (IOException e) {
                continue; // the job cleans up again
            }
        }
    }

    private String name(long fileBits) {
        return PREFIX + new UUID(jobBits, fileBits).toString() + ".parquet";
    }

    private static String partitionFolder(String spark) {
        String[] parts = spark.split("/");
        for (int i = 0; i < parts.length; i++) {
            if (parts[i].startsWith(PARTITION_PREFIX)) {
                parts[i] = parts[i].substring(PARTITION_PREFIX.length());
            }
        }
        return String.join("/", parts);
    }

    /** Moves nothing: it only makes Spark check whether this attempt may commit. */
    private static final class Coordinated extends OutputCommitter {
        public void setupJob(JobContext job) {}

        public void setupTask(TaskAttemptContext task) {}

        public boolean needsTaskCommit(TaskAttemptContext task) {
            return true;
        }

        public void commitTask(TaskAttemptContext task) {}

        public void abortTask(TaskAttemptContext task) {}
    }
}
