package forklake;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.unsafe.types.CalendarInterval;

/** Arithmetic of timestamps, in microseconds since 1970, with months, days and microseconds. */
public final class Calendars {
    private static final long SECOND = 1000000L;
    private static final long DAY = 86400 * SECOND;
    private static final long MOST_DAYS = 2147483646L; // of dates in DuckDB
    private static final long MOST_YEARS = 290000;
    private static final int LONGEST = 100000000;

    private Calendars() {}

    private static LocalDateTime moment(long micros) {
        int nanos = (int) Math.floorMod(micros, SECOND) * 1000;
        return LocalDateTime.ofEpochSecond(Math.floorDiv(micros, SECOND), nanos, ZoneOffset.UTC);
    }

    private static long micros(LocalDateTime moment) {
        return moment.toEpochSecond(ZoneOffset.UTC) * SECOND + moment.getNano() / 1000;
    }

    /** Return the date, in days since 1970, that is a number of days later. */
    public static int addDays(int date, long days) {
        long found = Math.addExact((long) date, days);
        if (Math.abs(found) > MOST_DAYS) {
            throw new ArithmeticException("The date is out of range: " + days + " days after another");
        }
        return (int) found;
    }

    /**
     * Return the number of whole months between two timestamps; last days of months count as equal.
     */
    public static long monthsBetween(long from, long to) {
        if (from > to) {
            return -monthsBetween(to, from);
        }
        LocalDateTime start = moment(from);
        LocalDateTime end = moment(to);
        int last = end.toLocalDate().lengthOfMonth();
        boolean isLast = end.getDayOfMonth() == last;
        boolean isLater = start.getDayOfMonth() > last
            || (start.getDayOfMonth() == last && start.toLocalTime().isBefore(end.toLocalTime()));
        int startDay = isLast && isLater ? last : start.getDayOfMonth();
        long months = (end.getYear() - start.getYear()) * 12L
            + end.getMonthValue() - start.getMonthValue();
        boolean isUnfinished = end.getDayOfMonth() < startDay
            || (end.getDayOfMonth() == startDay && end.toLocalTime().isBefore(start.toLocalTime()));
        return isUnfinished ? months - 1 : months;
    }

    /** Return timestamps from start to end by steps, each computed from the one before. */
    public static UnsafeArrayData monthSeries(long from, long to, int months, boolean withLast) {
        return series(from, to, months, 0, 0, withLast);
    }

    public static UnsafeArrayData clockSeries(long from, long to, long micros, boolean withLast) {
        return series(from, to, 0, 0, micros, withLast);
    }

    public static UnsafeArrayData mixedSeries(
        long from, long to, CalendarInterval step, boolean withLast) {
        return series(from, to, step.months, step.days, step.microseconds, withLast);
    }

    private static UnsafeArrayData series(
        long from, long to, int months, int days, long micros, boolean withLast) {
        boolean isUp = months >= 0 && days >= 0 && micros >= 0;
        boolean isDown = months <= 0 && days <= 0 && micros <= 0;
        if (isUp && isDown) {
            return UnsafeArrayData.fromPrimitiveArray(new long[0]);
        }
        if (!isUp && !isDown) {
            throw new IllegalArgumentException(
                "The step of a series has parts that lead forward and parts that lead backward");
        }
        long[] found = new long[16];
        int count = 0;
        long at = from;
        while (isUp ? (withLast ? at <= to : at < to) : (withLast ? at >= to : at > to)) {
            if (count == LONGEST) {
                throw new IllegalArgumentException("A list cannot have more than " + LONGEST + " elements");
            }
            if (count == found.length) {
                found = java.util.Arrays.copyOf(found, 2 * count);
            }
            found[count++] = at;
            at = Math.addExact(micros(moment(at).plusMonths(months).plusDays(days)), micros);
        }
        return UnsafeArrayData.fromPrimitiveArray(java.util.Arrays.copyOf(found, count));
    }

    /** Return a timestamp; fail if it is infinite. */
    public static long finite(long micros) {
        if (micros == Long.MAX_VALUE || micros == -Long.MAX_VALUE) {
            throw new ArithmeticException("The timestamp is out of range: " + micros + " microseconds");
        }
        return micros;
    }

    /** Return the timestamp with these parts; the seconds have a fraction. */
    public static long timestamp(
        long year, long month, long day, long hour, long minute, double second) {
        if (Math.abs(year) > MOST_YEARS) {
            throw new IllegalArgumentException("The year is out of range: " + year);
        }
        LocalDate date = LocalDate.of((int) year, (int) month, (int) day);
        return date.toEpochDay() * DAY + clockMicros(hour, minute, second);
    }

    /** Return the microseconds since midnight. */
    public static long clockMicros(long hour, long minute, double second) {
        long micros = Math.round(second * SECOND);
        boolean isTime = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0
            && micros < 60 * SECOND;
        if (!isTime) {
            throw new IllegalArgumentException(
                "The time is out of range: " + hour + ":" + minute + ":" + second);
        }
        return (hour * 3600 + minute * 60) * SECOND + micros;
    }
}
