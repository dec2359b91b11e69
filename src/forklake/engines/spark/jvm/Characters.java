package forklake;

import java.io.ByteArrayOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Functions on the characters of texts with DuckDB semantics: on code points, clusters and bytes.
 */
public final class Characters {
    private static final Pattern CLUSTER = Pattern.compile("\\X");
    private static final int SHARP_S = 0xDF;
    private static final int CAPITAL_SHARP_S = 0x1E9E;

    private Characters() {}

    /** Convert each character separately, so that their number stays the same. */
    public static UTF8String upper(UTF8String text) {
        String given = text.toString();
        StringBuilder upper = new StringBuilder(given.length());
        for (int i = 0; i < given.length(); i += Character.charCount(given.codePointAt(i))) {
            int one = given.codePointAt(i);
            upper.appendCodePoint(one == SHARP_S ? CAPITAL_SHARP_S : Character.toUpperCase(one));
        }
        return UTF8String.fromString(upper.toString());
    }

    public static UTF8String lower(UTF8String text) {
        String given = text.toString();
        StringBuilder lower = new StringBuilder(given.length());
        for (int i = 0; i < given.length(); i += Character.charCount(given.codePointAt(i))) {
            lower.appendCodePoint(Character.toLowerCase(given.codePointAt(i)));
        }
        return UTF8String.fromString(lower.toString());
    }

    /** Reverse a text by grapheme clusters: combined characters stay together. */
    public static UTF8String reverse(UTF8String text) {
        String given = text.toString();
        StringBuilder reversed = new StringBuilder(given.length());
        Matcher cluster = CLUSTER.matcher(given);
        while (cluster.find()) {
            reversed.insert(0, cluster.group());
        }
        return UTF8String.fromString(reversed.toString());
    }

    /** Decode %AB to bytes; everything else is unchanged. */
    public static UTF8String urlDecode(UTF8String text) {
        byte[] given = text.getBytes();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(given.length);
        for (int i = 0; i < given.length; i++) {
            int high = given[i] == '%' && i + 2 < given.length ? Character.digit(given[i + 1], 16) : -1;
            int low = high >= 0 ? Character.digit(given[i + 2], 16) : -1;
            if (low >= 0) {
                bytes.write(high * 16 + low);
                i += 2;
            } else {
                bytes.write(given[i]);
            }
        }
        UTF8String decoded = UTF8String.fromBytes(bytes.toByteArray());
        if (!decoded.isValid()) {
            throw new IllegalArgumentException("The text is not valid UTF-8 when decoded: " + text);
        }
        return decoded;
    }
}
