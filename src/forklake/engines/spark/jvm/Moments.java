package forklake;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Casts of texts to dates, times and timestamps with DuckDB semantics.
 *
 * Dates are days since 1970, times and timestamps are microseconds. A method whose name begins with
 * "try" returns null for an invalid value; the one without fails.
 */
public final class Moments {
    private static final String SPACE = "[ \\t\\n\\x0B\\f\\r]*";
    private static final String CLOCK =
        "([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\.([0-9]*))?)?(?![0-9])";
    private static final Pattern DATE = Pattern.compile(
        SPACE + "(-?)([0-9]{1,9})([-/ \\\\])([0-9]{1,2})\\3([0-9]{1,2})(?![0-9])( \\(BC\\))?");
    private static final Pattern TIME = Pattern.compile("(?:T| +)" + CLOCK);
    private static final Pattern OFFSET =
        Pattern.compile("Z|([+-])([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2}))?)?:?");
    private static final Pattern ALONE = Pattern.compile(SPACE + "0*?" + CLOCK);
    private static final Pattern AFTER_DAY = Pattern.compile(SPACE + "T?0*?" + CLOCK);
    private static final Pattern EPOCH =
        Pattern.compile(SPACE + "epoch" + SPACE, Pattern.CASE_INSENSITIVE);
    private static final long SECOND = 1000000L;
    private static final long DAY = 86400L * SECOND;
    private static final long LAST_DAY = 2147483646L; // the next one represents infinity

    private Moments() {}

    /** Return the days of a date at the start of a text; null if there is none. */
    private static Long days(Matcher date) {
        long year = Long.parseLong(date.group(2));
        if (date.group(6) != null || date.group(1).length() > 0) {
            year = date.group(6) != null ? 1 - year : -year;
        }
        try {
            int month = Integer.parseInt(date.group(4));
            int day = Integer.parseInt(date.group(5));
            long days = LocalDate.of((int) year, month, day).toEpochDay();
            return Math.abs(days) > LAST_DAY ? null : Long.valueOf(days);
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** Return the microseconds of a time of day, at most 24 hours; null if it is invalid. */
    private static Long micros(Matcher time) {
        long hour = Long.parseLong(time.group(1));
        long minute = Long.parseLong(time.group(2));
        long second = time.group(3) == null ? 0 : Long.parseLong(time.group(3));
        String digits = ((time.group(4) == null ? "" : time.group(4)) + "000000").substring(0, 6);
        long micros = ((hour * 60 + minute) * 60 + second) * SECOND + Long.parseLong(digits);
        boolean isTime = minute < 60 && second < 60 && micros <= DAY;
        return isTime ? Long.valueOf(micros) : null;
    }

    public static Integer tryDay(UTF8String text) {
        String given = text.toString();
        Matcher date = DATE.matcher(given);
        if (!date.lookingAt()) {
            return EPOCH.matcher(given).matches() ? Integer.valueOf(0) : null;
        }
        Long days = days(date);
        return days == null ? null : Integer.valueOf(days.intValue());
    }

    public static Integer day(UTF8String text) {
        Integer found = tryDay(text);
        if (found == null) {
            throw Parsing.malformed(text, UTF8String.fromString("DATE"));
        }
        return found;
    }

    /**
     * Return a timestamp without a time zone: an offset in the text is ignored, a zone name is an
     * error.
     */
    public static Long tryMoment(UTF8String text) {
        return moment(text.toString(), false);
    }

    public static Long moment(UTF8String text) {
        Long found = tryMoment(text);
        if (found == null) {
            throw Parsing.malformed(text, UTF8String.fromString("TIMESTAMP_NTZ"));
        }
        return found;
    }

    /** Return a timestamp in the time zone that the text contains, or in UTC. */
    public static Long tryInstant(UTF8String text) {
        return moment(text.toString(), true);
    }

    public static Long instant(UTF8String text) {
        Long found = tryInstant(text);
        if (found == null) {
            throw Parsing.malformed(text, UTF8String.fromString("TIMESTAMP"));
        }
        return found;
    }

    private static Long moment(String text, boolean inZone) {
        Matcher date = DATE.matcher(text);
        if (!date.lookingAt()) {
            return EPOCH.matcher(text).matches() ? Long.valueOf(0) : null;
        }
        Long days = days(date);
        Long micros = Long.valueOf(0);
        String zone = "";
        if (days != null && date.end() < text.length()) {
            Matcher time = TIME.matcher(text);
            time.region(date.end(), text.length());
            if (!time.lookingAt()) {
                return null;
            }
            micros = micros(time);
            zone = text.substring(time.end());
            if (time.group(3) == null && zone.trim().length() > 0) {
                return null;
            }
        }
        if (days == null || micros == null) {
            return null;
        }
        try {
            long at = Math.addExact(Math.multiplyExact(days.longValue(), DAY), micros.longValue());
            Long moved = moved(at, zone, inZone);
            boolean isFinite = moved != null && Math.abs(moved.longValue()) < Long.MAX_VALUE;
            return isFinite ? moved : null;
        } catch (ArithmeticException e) {
            return null;
        }
    }

    /**
     * Return a timestamp converted from the time zone after it; null if the zone does not exist.
     */
    private static Long moved(long at, String zone, boolean inZone) {
        String name = zone.trim();
        if (name.length() == 0) {
            return Long.valueOf(at);
        }
        if (zone.charAt(0) == ' ') {
            boolean isUtc = name.equalsIgnoreCase("UTC");
            return isUtc || inZone ? named(at, isUtc ? "UTC" : name) : null;
        }
        Matcher offset = OFFSET.matcher(name);
        if (!offset.matches()) {
            return null;
        }
        if (!inZone || offset.group(1) == null) {
            return Long.valueOf(at);
        }
        long seconds = 0;
        for (int i = 2; i <= 4; i++) {
            seconds = seconds * 60 + (offset.group(i) == null ? 0 : Long.parseLong(offset.group(i)));
        }
        return Long.valueOf(at + (offset.group(1).equals("-") ? seconds : -seconds) * SECOND);
    }

    private static Long named(long at, String name) {
        try {
            ZoneId zone = ZoneId.of(name, ZoneId.SHORT_IDS);
            LocalDateTime local =
                LocalDateTime.ofEpochSecond(Math.floorDiv(at, SECOND), 0, ZoneOffset.UTC);
            Instant instant = local.atZone(zone).withLaterOffsetAtOverlap().toInstant();
            return Long.valueOf(instant.getEpochSecond() * SECOND + Math.floorMod(at, SECOND));
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** Return a time of day as text that Spark parses; a date may precede it. */
    public static UTF8String tryClock(UTF8String text) {
        String given = text.toString();
        Matcher date = DATE.matcher(given);
        boolean hasDay = date.lookingAt();
        if (EPOCH.matcher(given).matches() || (hasDay && date.end() == given.length())) {
            return tryDay(text) == null ? null : Times.clockText(0);
        }
        int start = hasDay ? date.end() : 0;
        Matcher time = (start > 0 ? AFTER_DAY : ALONE).matcher(given);
        time.region(start, given.length());
        Long micros = time.lookingAt() ? micros(time) : null;
        boolean isTime = micros != null && (start > 0 || micros.longValue() < DAY);
        return isTime ? Times.clockText(micros.longValue() % DAY) : null;
    }

    public static UTF8String clock(UTF8String text) {
        UTF8String found = tryClock(text);
        if (found == null) {
            throw Parsing.malformed(text, UTF8String.fromString("TIME(6)"));
        }
        return found;
    }

    /** Return a timestamp rounded to a multiple of some microseconds, half away from 1970. */
    public static long rounded(long micros, long size) {
        long half = micros < 0 ? -size / 2 : size / 2;
        return (micros + half) / size * size;
    }
}
