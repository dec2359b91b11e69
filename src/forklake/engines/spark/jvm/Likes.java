package forklake;

import org.apache.spark.unsafe.types.UTF8String;

/**
 * LIKE, ILIKE and GLOB, matched without backtracking beyond the last wildcard.
 *
 * Spark translates patterns to regular expressions, whose time can grow with a power of the text.
 */
public final class Likes {
    private static final int NONE = -1;

    private Likes() {}

    public static boolean like(UTF8String text, UTF8String pattern, UTF8String escape) {
        return matches(points(text, false), points(pattern, false), sign(escape));
    }

    public static boolean ilike(UTF8String text, UTF8String pattern, UTF8String escape) {
        return matches(points(text, true), points(pattern, true), sign(escape));
    }

    private static int[] points(UTF8String text, boolean isFolded) {
        int[] points = text.toString().codePoints().toArray();
        for (int i = 0; isFolded && i < points.length; i++) {
            points[i] = Character.toLowerCase(points[i]);
        }
        return points;
    }

    private static int sign(UTF8String escape) {
        String text = escape.toString();
        if (text.codePointCount(0, text.length()) > 1) {
            throw new IllegalArgumentException(
                "Invalid escape string. Escape string must be empty or one character.");
        }
        return text.isEmpty() ? NONE : text.codePointAt(0);
    }

    private static boolean matches(int[] text, int[] pattern, int escape) {
        Interruption interruption = new Interruption();
        int at = 0;
        int place = 0; // position in the pattern
        int star = NONE; // after the last % in the pattern
        int begin = 0; // position in the text after what that % matches
        while (at < text.length) {
            interruption.step();
            int next = place < pattern.length ? pattern[place] : NONE;
            boolean isEscaped = next != NONE && next == escape;
            if (isEscaped && place + 1 == pattern.length) {
                throw new IllegalArgumentException(
                    "Like pattern must not end with escape character!");
            }
            if (next == '%' && !isEscaped) {
                star = ++place;
                begin = at;
            } else if (next != NONE && (isEscaped ? pattern[place + 1] == text[at]
                : next == '_' || next == text[at])) {
                place += isEscaped ? 2 : 1;
                at++;
            } else if (star != NONE) {
                place = star;
                at = ++begin;
            } else {
                return false;
            }
        }
        while (place < pattern.length && pattern[place] == '%' && escape != '%') {
            place++;
        }
        return place == pattern.length;
    }

    /**
     * Return whether a text matches a pattern with *, ? and [...]. Bytes are compared, as in
     * DuckDB.
     */
    public static boolean glob(UTF8String text, UTF8String pattern) {
        Interruption interruption = new Interruption();
        byte[] given = text.getBytes();
        byte[] signs = pattern.getBytes();
        int at = 0;
        int place = 0;
        int star = NONE;
        int begin = 0;
        while (at < given.length) {
            interruption.step();
            if (place < signs.length && signs[place] == '*') {
                star = ++place;
                begin = at;
                continue;
            }
            int after = place < signs.length ? afterOne(signs, place, given[at] & 0xff) : NONE;
            if (after != NONE) {
                place = after;
                at++;
            } else if (star != NONE) {
                place = star;
                at = ++begin;
            } else {
                return false;
            }
        }
        while (place < signs.length && signs[place] == '*') {
            place++;
        }
        return place == signs.length;
    }

    /** Return the position after a sign of the pattern if that sign matches a byte, or -1. */
    private static int afterOne(byte[] signs, int place, int one) {
        switch (signs[place]) {
            case '?':
                return place + 1;
            case '[':
                return afterClass(signs, place + 1, one);
            case '\\':
                return place + 1 < signs.length && (signs[place + 1] & 0xff) == one
                    ? place + 2 : NONE;
            default:
                return (signs[place] & 0xff) == one ? place + 1 : NONE;
        }
    }

    private static int afterClass(byte[] signs, int start, int one) {
        boolean isInverted = start < signs.length && signs[start] == '!';
        int first = isInverted ? start + 1 : start;
        boolean found = false;
        int place = first;
        while (place < signs.length && (signs[place] != ']' || place == first)) {
            int low = signs[place++] & 0xff;
            int high = low;
            if (place < signs.length && signs[place] == '-') {
                if (place + 1 >= signs.length) {
                    return NONE;
                }
                high = signs[place + 1] & 0xff;
                place += 2;
            }
            found |= one >= low && one <= high;
        }
        return place < signs.length && found != isInverted ? place + 1 : NONE;
    }
}
