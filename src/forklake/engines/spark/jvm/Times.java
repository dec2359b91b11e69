package forklake;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.TextStyle;
import java.time.temporal.IsoFields;
import java.util.Locale;
import org.apache.spark.unsafe.types.UTF8String;

/** Dates and times formatted and parsed as DuckDB does; timestamps are microseconds since 1970. */
public final class Times {
    private static final long SECOND = 1000000L;
    private static final String UNKNOWN = "Unrecognized format for strftime/strptime: %";

    private Times() {}

    private static LocalDateTime moment(long micros) {
        long seconds = Math.floorDiv(micros, SECOND);
        int nanos = (int) Math.floorMod(micros, SECOND) * 1000;
        return LocalDateTime.ofEpochSecond(seconds, nanos, ZoneOffset.UTC);
    }

    private static String padded(long value, int digits) {
        String text = Long.toString(value);
        StringBuilder padded = new StringBuilder();
        for (int i = text.length(); i < digits; i++) {
            padded.append('0');
        }
        return padded.append(text).toString();
    }

    static String dateText(long day) {
        return dateText(LocalDate.ofEpochDay(day));
    }

    private static String dateText(LocalDate date) {
        int year = date.getYear();
        String text = padded(year > 0 ? year : 1 - year, 4) + "-"
            + padded(date.getMonthValue(), 2) + "-" + padded(date.getDayOfMonth(), 2);
        return year > 0 ? text : text + " (BC)";
    }

    private static String timeText(LocalTime time) {
        String text = padded(time.getHour(), 2) + ":" + padded(time.getMinute(), 2) + ":"
            + padded(time.getSecond(), 2);
        int micros = time.getNano() / 1000;
        return micros == 0 ? text : text + "." + padded(micros, 6).replaceAll("0+$", "");
    }

    static String timestampText(long micros) {
        LocalDateTime moment = moment(micros);
        String text = dateText(moment.toLocalDate());
        String time = timeText(moment.toLocalTime());
        return text + " " + time;
    }

    static UTF8String clockText(long micros) {
        return UTF8String.fromString(timeText(LocalTime.ofNanoOfDay(micros * 1000)));
    }

    public static UTF8String dayText(int day) {
        return UTF8String.fromString(dateText(day));
    }

    public static UTF8String momentText(long micros) {
        return UTF8String.fromString(timestampText(micros));
    }

    public static UTF8String strftime(long micros, UTF8String format) {
        return formatted(moment(micros), format, "", ZoneOffset.UTC);
    }

    /** Format a timestamp in a time zone. */
    public static UTF8String strftimeIn(long micros, UTF8String format, UTF8String zone) {
        ZonedDateTime at = moment(micros).atZone(ZoneOffset.UTC)
            .withZoneSameInstant(ZoneId.of(zone.toString(), ZoneId.SHORT_IDS));
        return formatted(at.toLocalDateTime(), format, zone.toString(), at.getOffset());
    }

    private static UTF8String formatted(
            LocalDateTime moment, UTF8String format, String zone, ZoneOffset offset) {
        StringBuilder text = new StringBuilder();
        String pattern = format.toString();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c != '%' || i + 1 == pattern.length()) {
                text.append(c);
            } else if (pattern.charAt(i + 1) == '-' && i + 2 < pattern.length()) {
                i += 2;
                String part = part(moment, pattern.charAt(i), zone, offset);
                text.append(part.replaceFirst("^0+(?=.)", ""));
            } else {
                i++;
                text.append(part(moment, pattern.charAt(i), zone, offset));
            }
        }
        return UTF8String.fromString(text.toString());
    }

    private static String part(LocalDateTime at, char code, String zone, ZoneOffset offset) {
        DayOfWeek weekday = at.getDayOfWeek();
        switch (code) {
            case 'Y': return padded(at.getYear(), 4);
            case 'y': return padded(Math.floorMod(at.getYear(), 100), 2);
            case 'm': return padded(at.getMonthValue(), 2);
            case 'd': return padded(at.getDayOfMonth(), 2);
            case 'H': return padded(at.getHour(), 2);
            case 'I': return padded((at.getHour() + 11) % 12 + 1, 2);
            case 'M': return padded(at.getMinute(), 2);
            case 'S': return padded(at.getSecond(), 2);
            case 'f': return padded(at.getNano() / 1000, 6);
            case 'g': return padded(at.getNano() / 1000000, 3);
            case 'n': return padded(at.getNano(), 9);
            case 'p': return at.getHour() < 12 ? "AM" : "PM";
            case 'j': return padded(at.getDayOfYear(), 3);
            case 'a': return weekday.getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
            case 'A': return weekday.getDisplayName(TextStyle.FULL, Locale.ENGLISH);
            case 'b': case 'h': return at.getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
            case 'B': return at.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
            case 'w': return Integer.toString(weekday.getValue() % 7);
            case 'u': return Integer.toString(weekday.getValue());
            case 'U': return padded((at.getDayOfYear() + 6 - weekday.getValue() % 7) / 7, 2);
            case 'W': return padded((at.getDayOfYear() + 7 - weekday.getValue()) / 7, 2);
            case 'V': return padded(at.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), 2);
            case 'G': return padded(at.get(IsoFields.WEEK_BASED_YEAR), 4);
            case 'x': return dateText(at.toLocalDate());
            case 'X': return timeText(at.toLocalTime().withNano(0));
            case 'c': return dateText(at.toLocalDate()) + " " + timeText(at.toLocalTime().withNano(0));
            case 'z': return offsetText(offset);
            case 'Z': return zone;
            case '%': return "%";
            default: throw new IllegalArgumentException(UNKNOWN + code);
        }
    }

    private static String offsetText(ZoneOffset offset) {
        int minutes = offset.getTotalSeconds() / 60;
        String hours = (minutes < 0 ? "-" : "+") + padded(Math.abs(minutes / 60), 2);
        return minutes % 60 == 0 ? hours : hours + ":" + padded(Math.abs(minutes % 60), 2);
    }

    /** Parse a timestamp by a format; fail if the text does not match it. */
    public static long strptime(UTF8String text, UTF8String format) {
        Long found = tryStrptime(text, format);
        if (found == null) {
            throw new IllegalArgumentException("Could not parse string \"" + text
                + "\" according to format specifier \"" + format + "\"");
        }
        return found.longValue();
    }

    public static Long tryStrptime(UTF8String text, UTF8String format) {
        try {
            return Long.valueOf(new Reading(text.toString()).read(format.toString()));
        } catch (java.time.DateTimeException e) {
            return null;
        } catch (Reading.Mismatch e) {
            return null;
        }
    }

    /** State of parsing one text by a format. */
    private static final class Reading {
        private final String text;
        private int at = 0;
        private int year = 1900, month = 1, day = 1, hour = 0, minute = 0, second = 0, micros = 0;
        private int dayOfYear = 0;
        private Boolean afternoon = null;

        Reading(String text) {
            this.text = text.trim();
        }

        long read(String format) {
            for (int i = 0; i < format.length(); i++) {
                char c = format.charAt(i);
                if (c == '%' && i + 1 < format.length()) {
                    i++;
                    if (format.charAt(i) == '-') {
                        i++;
                    }
                    part(format.charAt(i));
                } else if (Character.isWhitespace(c)) {
                    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
                        at++;
                    }
                } else {
                    expect(c);
                }
            }
            if (at < text.length()) {
                throw new Mismatch();
            }
            return micros();
        }

        private long micros() {
            if (afternoon != null) {
                hour = hour % 12 + (afternoon.booleanValue() ? 12 : 0);
            }
            LocalDate date = dayOfYear > 0
                ? LocalDate.ofYearDay(year, dayOfYear) : LocalDate.of(year, month, day);
            LocalDateTime moment = date.atTime(hour, minute, second);
            return moment.toEpochSecond(ZoneOffset.UTC) * SECOND + micros;
        }

        private void part(char code) {
            switch (code) {
                case 'Y': year = number(4); break;
                case 'y': year = number(2); year += year < 69 ? 2000 : 1900; break;
                case 'm': month = number(2); break;
                case 'd': day = number(2); break;
                case 'H': case 'I': hour = number(2); break;
                case 'M': minute = number(2); break;
                case 'S': second = number(2); break;
                case 'j': dayOfYear = number(3); break;
                case 'f': micros = fraction(6); break;
                case 'g': micros = fraction(3); break;
                case 'p': afternoon = Boolean.valueOf(word(new String[] {"AM", "PM"}) == 1); break;
                case 'b': case 'h': month = month(TextStyle.SHORT); break;
                case 'B': month = month(TextStyle.FULL); break;
                case 'a': weekday(TextStyle.SHORT); break;
                case 'A': weekday(TextStyle.FULL); break;
                case '%': expect('%'); break;
                default: throw new IllegalArgumentException(UNKNOWN + code);
            }
        }

        private void expect(char c) {
            if (at >= text.length() || text.charAt(at) != c) {
                throw new Mismatch();
            }
            at++;
        }

        private int number(int digits) {
            int from = at;
            while (at < text.length() && at - from < digits && isDigit(text.charAt(at))) {
                at++;
            }
            if (from == at) {
                throw new Mismatch();
            }
            return Integer.parseInt(text.substring(from, at));
        }

        private int fraction(int digits) {
            int from = at;
            int value = number(digits);
            for (int i = at - from; i < 6; i++) {
                value *= 10;
            }
            return value;
        }

        private static boolean isDigit(char c) {
            return c >= '0' && c <= '9';
        }

        private int month(TextStyle style) {
            String[] names = new String[12];
            for (int i = 0; i < 12; i++) {
                names[i] = java.time.Month.of(i + 1).getDisplayName(style, Locale.ENGLISH);
            }
            return word(names) + 1;
        }

        private void weekday(TextStyle style) {
            String[] names = new String[7];
            for (int i = 0; i < 7; i++) {
                names[i] = DayOfWeek.of(i + 1).getDisplayName(style, Locale.ENGLISH);
            }
            word(names);
        }

        private int word(String[] words) {
            for (int i = 0; i < words.length; i++) {
                if (text.regionMatches(true, at, words[i], 0, words[i].length())) {
                    at += words[i].length();
                    return i;
                }
            }
            throw new Mismatch();
        }

        private static final class Mismatch extends RuntimeException {}
    }
}
