package forklake;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Regular expressions in RE2's grammar, with the options of DuckDB's functions. */
public final class Regexes {
    private static final Map PATTERNS = new ConcurrentHashMap(); // options + "/" + text -> Pattern
    private static final int LIMIT = 1000;

    private Regexes() {}

    public static boolean regexpMatches(UTF8String text, UTF8String pattern, UTF8String options) {
        return matcher(text, pattern, options).find();
    }

    public static boolean regexpFullMatch(UTF8String text, UTF8String pattern, UTF8String options) {
        return matcher(text, pattern, options).matches();
    }

    /** A group of the first match; an empty text without one. */
    public static UTF8String regexpExtract(
        UTF8String text, UTF8String pattern, int group, UTF8String options) {
        Matcher matcher = matcher(text, pattern, options);
        if (!matcher.find() || group > matcher.groupCount()) {
            return UTF8String.EMPTY_UTF8;
        }
        String found = matcher.group(group);
        return UTF8String.fromString(found == null ? "" : found);
    }

    public static ArrayData regexpExtractAll(
        UTF8String text, UTF8String pattern, int group, UTF8String options) {
        Matcher matcher = matcher(text, pattern, options);
        List found = new ArrayList();
        while (matcher.find()) {
            String part = matcher.group(group);
            found.add(UTF8String.fromString(part == null ? "" : part));
        }
        return new GenericArrayData(found.toArray());
    }

    /** The first match replaced, or with the option g all; \1 stands for a group. */
    public static UTF8String regexpReplace(
        UTF8String text, UTF8String pattern, UTF8String by, UTF8String options) {
        Matcher matcher = matcher(text, pattern, options);
        String replacement = by.toString().replace("$", "\\$").replaceAll("\\\\(\\d)", "\\$$1");
        boolean all = options.toString().indexOf('g') >= 0;
        return UTF8String.fromString(
            all ? matcher.replaceAll(replacement) : matcher.replaceFirst(replacement));
    }

    public static ArrayData regexpSplit(UTF8String text, UTF8String pattern) {
        String[] parts = pattern(pattern.toString(), "").split(text.toString(), -1);
        Object[] found = new Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            found[i] = UTF8String.fromString(parts[i]);
        }
        return new GenericArrayData(found);
    }

    static boolean glob(String text, String pattern) {
        StringBuilder regex = new StringBuilder();
        boolean inside = false;
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (inside) {
                regex.append(c == '!' && pattern.charAt(i - 1) == '[' ? '^' : c);
                inside = c != ']';
            } else if (c == '[') {
                inside = true;
                regex.append(c);
            } else if (c == '\\' && i + 1 < pattern.length()) {
                i++;
                regex.append(Pattern.quote(String.valueOf(pattern.charAt(i))));
            } else {
                regex.append(c == '*' ? ".*" : c == '?' ? "." : Pattern.quote(String.valueOf(c)));
            }
        }
        return pattern(regex.toString(), "s").matcher(text).matches();
    }

    private static Matcher matcher(UTF8String text, UTF8String pattern, UTF8String options) {
        return pattern(pattern.toString(), options.toString()).matcher(text.toString());
    }

    private static Pattern pattern(String text, String options) {
        String key = options + "/" + text;
        Pattern known = (Pattern) PATTERNS.get(key);
        if (known == null) {
            if (PATTERNS.size() > LIMIT) {
                PATTERNS.clear();
            }
            known = Pattern.compile(java(text, options), flags(options));
            PATTERNS.put(key, known);
        }
        return known;
    }

    private static int flags(String options) {
        int flags = 0;
        for (int i = 0; i < options.length(); i++) {
            switch (options.charAt(i)) {
                case 'i': flags |= Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE; break;
                case 's': flags |= Pattern.DOTALL; break;
                case 'm': flags |= Pattern.MULTILINE; break;
                case 'l': flags |= Pattern.LITERAL; break;
                case 'c': case 'g': break;
                default: throw new IllegalArgumentException(
                    "Unrecognized option of a regular expression: " + options.charAt(i));
            }
        }
        return flags;
    }

    /** RE2's grammar in Java's: $ is the end of the text alone, groups and classes are named. */
    private static String java(String text, String options) {
        if (options.indexOf('l') >= 0) {
            return text;
        }
        StringBuilder java = new StringBuilder();
        boolean inside = false; // of a class of characters
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 1 < text.length()) {
                java.append(c).append(text.charAt(++i));
            } else if (text.startsWith("(?P<", i)) {
                java.append("(?<");
                i += 3;
            } else if (inside && text.startsWith("[:", i) && text.indexOf(":]", i) > 0) {
                int end = text.indexOf(":]", i);
                java.append(named(text.substring(i + 2, end)));
                i = end + 1;
            } else if (c == '$' && !inside && options.indexOf('m') < 0) {
                java.append("\\z");
            } else {
                java.append(inside && (c == '[' || c == '&') ? "\\" : "").append(c);
                inside = inside ? c != ']' || text.charAt(i - 1) == '[' : c == '[';
            }
        }
        return java.toString();
    }

    private static String named(String name) {
        if (name.startsWith("^")) {
            return "[^" + named(name.substring(1)) + "]";
        }
        return name.equals("word")
            ? "\\w"
            : "\\p{" + (name.equals("xdigit") ? "XDigit" : name.equals("ascii") ? "ASCII"
                : Character.toUpperCase(name.charAt(0)) + name.substring(1)) + "}";
    }
}
