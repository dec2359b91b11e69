package forklake;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.shaded.com.google.re2j.Matcher;
import org.apache.hadoop.shaded.com.google.re2j.Pattern;
import org.apache.hadoop.shaded.com.google.re2j.PatternSyntaxException;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Regular expressions of RE2, with the options of the DuckDB functions.
 *
 * RE2/J, which is distributed with Hadoop, takes time proportional to the text; java.util.regex can
 * take exponential time.
 */
public final class Regexes {
    private static final Map PATTERNS = new ConcurrentHashMap(); // options + "/" + text -> Pattern
    private static final int LIMIT = 200; // of cached patterns
    private static final int LONGEST = 20000; // characters of a pattern
    private static final int REPETITIONS = 1000; // product of nested repetition counts, as in RE2

    private Regexes() {}

    public static boolean regexpMatches(UTF8String text, UTF8String pattern, UTF8String options) {
        return matcher(text, pattern, options).find();
    }

    public static boolean regexpFullMatch(UTF8String text, UTF8String pattern, UTF8String options) {
        return matcher(text, pattern, options).matches();
    }

    /** Return a group of the first match; an empty text without a match. */
    public static UTF8String regexpExtract(
        UTF8String text, UTF8String pattern, int group, UTF8String options) {
        if (group < 0 || group > 9) {
            throw new IllegalArgumentException("Group index must be between 0 and 9!");
        }
        Matcher matcher = matcher(text, pattern, options);
        if (group > matcher.groupCount() || !matcher.find()) {
            return UTF8String.EMPTY_UTF8;
        }
        String found = matcher.group(group);
        return UTF8String.fromString(found == null ? "" : found);
    }

    /** Return a group of every match, NULL where it did not take part in the match. */
    public static ArrayData regexpExtractAll(
        UTF8String text, UTF8String pattern, int group, UTF8String options) {
        Matcher matcher = matcher(text, pattern, options);
        String whole = text.toString();
        List found = new ArrayList();
        while (matcher.find()) {
            if (isInsideCharacter(whole, matcher.start())) {
                continue;
            }
            if (group < 0 || group > matcher.groupCount()) {
                throw new IllegalArgumentException("Pattern has " + matcher.groupCount()
                    + " groups. Cannot access group " + group);
            }
            found.add(UTF8String.fromString(matcher.group(group)));
        }
        return new GenericArrayData(found.toArray());
    }

    /** Replace the first match, or with option g all matches; \1 stands for a group. */
    public static UTF8String regexpReplace(
        UTF8String text, UTF8String pattern, UTF8String by, UTF8String options) {
        boolean all = options.toString().indexOf('g') >= 0;
        Pattern compiled = pattern(pattern.toString(), options.toString().replace("g", ""));
        String whole = text.toString();
        String replacement = by.toString();
        Matcher matcher = compiled.matcher(new Watched(whole, 0));
        if (!isReplacement(replacement, matcher.groupCount(), all)) {
            return text; // RE2 changes nothing in this case
        }
        StringBuilder made = new StringBuilder();
        int from = 0;
        boolean isFirst = true;
        while ((all || isFirst) && matcher.find()) {
            boolean isEmpty = matcher.start() == matcher.end();
            boolean isAtLast = isEmpty && !isFirst && matcher.start() == from;
            if (isAtLast || isEmpty && isInsideCharacter(whole, matcher.start())) {
                continue;
            }
            Texts.requireShort((long) made.length() + matcher.start() - from + replacement.length());
            made.append(whole, from, matcher.start());
            append(made, replacement, matcher);
            from = matcher.end();
            isFirst = false;
        }
        return UTF8String.fromString(made.append(whole, from, whole.length()).toString());
    }

    /**
     * Return the parts between matches; if a match is empty, each part has at least one character.
     */
    public static ArrayData regexpSplit(UTF8String text, UTF8String pattern) {
        Pattern compiled = pattern(pattern.toString(), "");
        String whole = text.toString();
        List found = new ArrayList();
        int from = 0;
        while (from < whole.length()) {
            Matcher matcher = compiled.matcher(new Watched(whole, from));
            if (!matcher.find()) {
                break;
            }
            int start = from + matcher.start();
            int end = from + matcher.end();
            if (end == from) {
                start = end = from + Character.charCount(whole.codePointAt(from));
                if (end == whole.length()) {
                    break;
                }
            }
            found.add(UTF8String.fromString(whole.substring(from, start)));
            from = end;
        }
        found.add(UTF8String.fromString(whole.substring(from)));
        return new GenericArrayData(found.toArray());
    }

    private static boolean isInsideCharacter(String text, int place) {
        return place > 0 && place < text.length() && Character.isLowSurrogate(text.charAt(place))
            && Character.isHighSurrogate(text.charAt(place - 1));
    }

    /** Return whether groups in a replacement exist, and other escapes are allowed if present. */
    private static boolean isReplacement(String by, int groups, boolean mayBreakOff) {
        for (int i = 0; i < by.length(); i++) {
            if (by.charAt(i) == '\\') {
                i++;
                char next = i < by.length() ? by.charAt(i) : ' ';
                boolean isGroup = next >= '0' && next <= '9';
                if (isGroup ? next - '0' > groups : next != '\\' && !mayBreakOff) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Append a replacement, up to an escape that means nothing. */
    private static void append(StringBuilder made, String by, Matcher matcher) {
        for (int i = 0; i < by.length(); i++) {
            char c = by.charAt(i);
            if (c != '\\') {
                made.append(c);
                continue;
            }
            i++;
            char next = i < by.length() ? by.charAt(i) : ' ';
            if (next == '\\') {
                made.append('\\');
            } else if (next >= '0' && next <= '9') {
                String group = matcher.group(next - '0');
                made.append(group == null ? "" : group);
            } else {
                return;
            }
        }
    }

    private static Matcher matcher(UTF8String text, UTF8String pattern, UTF8String options) {
        Pattern compiled = pattern(pattern.toString(), options.toString());
        return compiled.matcher(new Watched(text.toString(), 0));
    }

    private static Pattern pattern(String text, String options) {
        String key = options + "/" + text;
        Pattern known = (Pattern) PATTERNS.get(key);
        if (known == null) {
            if (PATTERNS.size() >= LIMIT) {
                PATTERNS.clear();
            }
            known = compiled(text, options);
            PATTERNS.put(key, known);
        }
        return known;
    }

    private static Pattern compiled(String text, String options) {
        boolean isLiteral = options.indexOf('l') >= 0;
        String pattern = isLiteral ? Pattern.quote(text) : text;
        if (text.length() > LONGEST) {
            throw new IllegalArgumentException("A regular expression cannot have "
                + text.length() + " characters; at most " + LONGEST + ".");
        }
        if (!isLiteral) {
            requireFewRepetitions(text);
        }
        try {
            return Pattern.compile(pattern, flags(options));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("Invalid regular expression: " + e.getDescription()
                + ": " + e.getPattern());
        }
    }

    /**
     * Refuse excessive repetition counts such as {3,5}: they are compiled as copies, so nested ones
     * multiply.
     *
     * For each open group, the largest product of counts in it is kept.
     */
    private static void requireFewRepetitions(String text) {
        List open = new ArrayList();
        int within = 1; // the largest product inside the group that is read
        int last = 1; // the product of the part before a count
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                i++;
                last = 1;
            } else if (c == '[') {
                i = endOfClass(text, i);
                last = 1;
            } else if (c == '(') {
                open.add(Integer.valueOf(within));
                within = last = 1;
            } else if (c == ')' && !open.isEmpty()) {
                last = within;
                within = Math.max(within, ((Integer) open.remove(open.size() - 1)).intValue());
            } else if (c == '{') {
                last = last * count(text, i);
                if (last > REPETITIONS) {
                    throw new IllegalArgumentException(
                        "Invalid regular expression: invalid repetition size: " + text);
                }
                within = Math.max(within, last);
            } else if (c != '}' && c != ',' && (c < '0' || c > '9') && "*+?".indexOf(c) < 0) {
                last = 1;
            }
        }
    }

    private static int endOfClass(String text, int start) {
        int i = start + (text.startsWith("[^", start) ? 2 : 1);
        for (i++; i < text.length() && text.charAt(i) != ']'; i++) {
            if (text.charAt(i) == '\\') {
                i++;
            } else if (text.startsWith("[:", i) && text.indexOf(":]", i) > 0) {
                i = text.indexOf(":]", i) + 1;
            }
        }
        return i;
    }

    /** Return the larger number of {n,m}; 1 if these characters are literal text. */
    private static int count(String text, int start) {
        int end = text.indexOf('}', start);
        if (end < 0 || end > start + 12) {
            return 1;
        }
        String[] bounds = text.substring(start + 1, end).split(",");
        int most = 1;
        for (int i = 0; i < bounds.length; i++) {
            if (!bounds[i].matches("\\d{1,5}")) {
                return 1;
            }
            most = Math.max(most, Integer.parseInt(bounds[i]));
        }
        return most;
    }

    private static int flags(String options) {
        int flags = 0;
        for (int i = 0; i < options.length(); i++) {
            switch (options.charAt(i)) {
                case 'c': flags &= ~Pattern.CASE_INSENSITIVE; break;
                case 'i': flags |= Pattern.CASE_INSENSITIVE; break;
                case 's': flags |= Pattern.DOTALL; break;
                case 'm': case 'n': case 'p': flags &= ~Pattern.DOTALL; break;
                case 'l': break;
                case 'g': throw new IllegalArgumentException(
                    "Option 'g' (global replace) is only valid for regexp_replace");
                default: throw new IllegalArgumentException(
                    "Unrecognized Regex option " + options.charAt(i));
            }
        }
        return flags;
    }
}
