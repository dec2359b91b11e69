package forklake;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;

/**
 * Calls to Python, on a few threads of our own.
 *
 * Every thread that calls Python gets a connection and a Python thread, and both stay when the Java
 * thread has ended. Spark plans queries on short-lived threads.
 */
final class Questions {
    private static final int THREADS = 8;
    private static final ExecutorService ASKING =
        Executors.newFixedThreadPool(THREADS, new Daemons());

    private Questions() {}

    static String ask(Function function, String argument) {
        try {
            return (String) ASKING.submit(new Question(function, argument)).get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The listing of files was interrupted.", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
        }
    }

    private static final class Question implements Callable {
        private final Function function;
        private final String argument;

        Question(Function function, String argument) {
            this.function = function;
            this.argument = argument;
        }

        public Object call() {
            return function.apply(argument);
        }
    }

    private static final class Daemons implements ThreadFactory {
        public Thread newThread(Runnable work) {
            Thread thread = new Thread(work, "forklake-question");
            thread.setDaemon(true);
            return thread;
        }
    }
}
