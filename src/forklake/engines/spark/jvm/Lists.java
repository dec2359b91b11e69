package forklake;

/**
 * Positions in lists and texts with the semantics of DuckDB: from 1, or from the end if negative.
 */
public final class Lists {
    private Lists() {}

    /** Return the index, counted from 0, at which a slice begins. */
    static int first(long begin, int length) {
        long place = begin < 0 ? length + begin : begin > 0 ? begin - 1 : 0;
        return (int) Math.max(0L, Math.min(place, (long) length));
    }

    /** Return the index, counted from 0, before which a slice ends. */
    static int last(long end, int length) {
        long place = end < 0 ? length + end + 1 : end;
        return (int) Math.max(0L, Math.min(place, (long) length));
    }

    /** Return the number of elements of a slice, for the Spark function slice. */
    public static int sliceStart(int length, long begin) {
        return first(begin, length) + 1;
    }

    public static int sliceLength(int length, long begin, long end) {
        return Math.max(0, last(end, length) - first(begin, length));
    }
}
