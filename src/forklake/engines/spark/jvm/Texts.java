package forklake;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions on texts with DuckDB semantics, and values in the text format of DuckDB. */
public final class Texts {
    private static final Map TYPES = new ConcurrentHashMap(); // text -> DataType
    private static final int PLAIN_DIGITS = 16;
    private static final long LONGEST = 64L * 1024L * 1024L; // bytes of a computed text
    private static final long MOST_ELEMENTS = 10000000L;
    private static final String HEX = "0123456789ABCDEF";

    private Texts() {}

    public static UTF8String doubleText(double value) {
        return UTF8String.fromString(number(value, Double.toString(value), false));
    }

    public static UTF8String floatText(float value) {
        return UTF8String.fromString(number(value, Float.toString(value), true));
    }

    /**
     * Return the shortest digits, without exponent unless the number is very large or very small.
     */
    private static String number(double value, String shortest, boolean isFloat) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return shortest;
        }
        BigDecimal decimal = shortest(new BigDecimal(shortest).stripTrailingZeros(), value, isFloat);
        int exponent = decimal.precision() - decimal.scale() - 1;
        if (exponent >= -4 && exponent < PLAIN_DIGITS) {
            String plain = decimal.toPlainString();
            return plain.indexOf('.') < 0 ? plain + ".0" : plain;
        }
        String digits = decimal.unscaledValue().abs().toString();
        String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
        String power = (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
        return (value < 0 ? "-" : "") + digits.charAt(0) + fraction
            + (exponent < 0 ? "e-" : "e+") + power;
    }

    /** Return the shortest digits, because Java before 19 sometimes writes more than needed. */
    private static BigDecimal shortest(BigDecimal digits, double value, boolean isFloat) {
        BigDecimal exact = new BigDecimal(value);
        BigDecimal found = digits;
        while (found.precision() > 1) {
            BigDecimal next =
                exact.round(new MathContext(found.precision() - 1, RoundingMode.HALF_EVEN));
            boolean isSame = isFloat ? next.floatValue() == (float) value : next.doubleValue() == value;
            if (!isSame) {
                break;
            }
            found = next.stripTrailingZeros();
        }
        return found;
    }

    /** Return bytes as text: printable ASCII unchanged, the others as \xAB. */
    public static UTF8String blobText(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes.length; i++) {
            int one = bytes[i] & 0xff;
            if (one >= 32 && one < 127 && one != '\\' && one != '\'' && one != '"') {
                text.append((char) one);
            } else {
                text.append("\\x").append(HEX.charAt(one >> 4)).append(HEX.charAt(one & 15));
            }
        }
        return UTF8String.fromString(text.toString());
    }

    /** Return the bytes of a text, in which \xAB stands for one byte and all others are ASCII. */
    public static byte[] blob(UTF8String text) {
        byte[] found = tryBlob(text);
        if (found == null) {
            throw Parsing.malformed(text, UTF8String.fromString("BINARY"));
        }
        return found;
    }

    public static byte[] tryBlob(UTF8String text) {
        byte[] given = text.getBytes();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(given.length);
        for (int i = 0; i < given.length; i++) {
            boolean isHex = i + 3 < given.length && given[i] == '\\' && given[i + 1] == 'x'
                && Character.digit((char) given[i + 2], 16) >= 0
                && Character.digit((char) given[i + 3], 16) >= 0;
            if (isHex) {
                bytes.write(Integer.parseInt(new String(given, i + 2, 2, StandardCharsets.UTF_8), 16));
                i += 3;
            } else if (given[i] == '\\' || given[i] < 0) {
                return null;
            } else {
                bytes.write(given[i]);
            }
        }
        return bytes.toByteArray();
    }

    /** Return a text that was found to be JSON; fail if it was not. */
    public static UTF8String json(UTF8String text, boolean isJson) {
        if (!isJson) {
            throw Parsing.malformed(text, UTF8String.fromString("VARIANT"));
        }
        return text;
    }

    public static UTF8String listText(ArrayData list, UTF8String type) {
        StringBuilder text = new StringBuilder();
        write(text, list, type(type));
        return UTF8String.fromString(text.toString());
    }

    public static UTF8String structText(InternalRow row, UTF8String type) {
        StringBuilder text = new StringBuilder();
        write(text, row, type(type));
        return UTF8String.fromString(text.toString());
    }

    public static UTF8String mapText(MapData map, UTF8String type) {
        StringBuilder text = new StringBuilder();
        write(text, map, type(type));
        return UTF8String.fromString(text.toString());
    }

    static DataType type(UTF8String text) {
        DataType known = (DataType) TYPES.get(text);
        if (known == null) {
            known = DataType.fromJson(text.toString());
            TYPES.put(text.clone(), known);
        }
        return known;
    }

    private static void write(StringBuilder text, Object value, DataType type) {
        if (value == null) {
            text.append("NULL");
        } else if (type instanceof ArrayType) {
            writeList(text, (ArrayData) value, ((ArrayType) type).elementType());
        } else if (type instanceof StructType) {
            writeStruct(text, (InternalRow) value, (StructType) type);
        } else if (type instanceof MapType) {
            writeMap(text, (MapData) value, (MapType) type);
        } else {
            writeScalar(text, value, type);
        }
    }

    private static void writeList(StringBuilder text, ArrayData list, DataType element) {
        text.append('[');
        for (int i = 0; i < list.numElements(); i++) {
            text.append(i > 0 ? ", " : "");
            write(text, get(list, i, element), element);
        }
        text.append(']');
    }

    private static void writeStruct(StringBuilder text, InternalRow row, StructType type) {
        boolean isRow = isRow(type);
        text.append(isRow ? '(' : '{');
        for (int i = 0; i < type.length(); i++) {
            StructField field = type.fields()[i];
            text.append(i > 0 ? ", " : "").append(isRow ? "" : inQuotes(field.name()) + ": ");
            write(text, get(row, i, field.dataType()), field.dataType());
        }
        text.append(isRow ? ')' : '}');
    }

    /** Return whether the fields have the names that Spark gives to those of row(...). */
    private static boolean isRow(StructType type) {
        for (int i = 0; i < type.length(); i++) {
            if (!type.fields()[i].name().equals("col" + (i + 1))) {
                return false;
            }
        }
        return true;
    }

    private static void writeMap(StringBuilder text, MapData map, MapType type) {
        text.append('{');
        for (int i = 0; i < map.numElements(); i++) {
            text.append(i > 0 ? ", " : "");
            write(text, get(map.keyArray(), i, type.keyType()), type.keyType());
            text.append('=');
            write(text, get(map.valueArray(), i, type.valueType()), type.valueType());
        }
        text.append('}');
    }

    static Object get(SpecializedGetters from, int place, DataType type) {
        if (type instanceof TimeType && !from.isNullAt(place)) {
            return Long.valueOf(from.getLong(place)); // Spark has no generic getter for it
        }
        return from.isNullAt(place) ? null : from.get(place, type);
    }

    private static void writeScalar(StringBuilder text, Object value, DataType type) {
        if (type instanceof DoubleType) {
            text.append(number(((Double) value).doubleValue(), value.toString(), false));
        } else if (type instanceof FloatType) {
            text.append(number(((Float) value).doubleValue(), value.toString(), true));
        } else if (type instanceof StringType) {
            text.append(quoted(value.toString()));
        } else if (type instanceof DateType) {
            text.append(quoted(Times.dateText(((Integer) value).longValue())));
        } else if (type instanceof TimestampNTZType) {
            text.append(quoted(Times.timestampText(((Long) value).longValue())));
        } else if (type instanceof TimestampType) {
            text.append(quoted(Times.timestampText(((Long) value).longValue()) + "+00"));
        } else if (type instanceof TimeType) {
            text.append(quoted(Times.clockText(((Long) value).longValue() / 1000).toString()));
        } else if (type instanceof BinaryType) {
            text.append(quoted(blobText((byte[]) value).toString()));
        } else if (type instanceof DecimalType) {
            text.append(decimalText((Decimal) value, (DecimalType) type));
        } else {
            text.append(value.toString());
        }
    }

    /** Return the digits of a decimal; without a leading zero if the type has no integer digits. */
    private static String decimalText(Decimal value, DecimalType type) {
        String text = value.toJavaBigDecimal().toPlainString();
        boolean isFraction = type.precision() == type.scale();
        return isFraction ? text.replaceFirst("^(-?)0\\.", "$1.") : text;
    }

    /** Return a text inside a nested value, quoted if it could be ambiguous. */
    private static String quoted(String text) {
        boolean plain = text.length() > 0 && !isSpace(text.charAt(0))
            && !isSpace(text.charAt(text.length() - 1)) && !text.equalsIgnoreCase("null");
        for (int i = 0; plain && i < text.length(); i++) {
            plain = "'\",[](){}=:".indexOf(text.charAt(i)) < 0;
        }
        return plain ? text : inQuotes(text);
    }

    private static String inQuotes(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    private static boolean isSpace(char c) {
        return c == ' ' || (c >= 9 && c <= 13);
    }

    /** Return the parts of a text between separators; an empty separator splits all characters. */
    public static ArrayData split(UTF8String text, UTF8String separator) {
        List parts = new ArrayList();
        String whole = text.toString();
        String cut = separator.toString();
        int from = 0;
        int next = 0;
        while (cut.length() == 0 ? next < whole.length() : (next = whole.indexOf(cut, from)) >= 0) {
            if (cut.length() == 0) {
                next += Character.charCount(whole.codePointAt(from));
            }
            parts.add(UTF8String.fromString(whole.substring(from, next)));
            from = next + cut.length();
        }
        if (cut.length() > 0 || whole.length() == 0) {
            parts.add(UTF8String.fromString(whole.substring(from)));
        }
        return new GenericArrayData(parts.toArray());
    }

    /**
     * Return the characters from begin to end, both counted from 1, or from the end if negative.
     */
    public static UTF8String slice(UTF8String text, long begin, long end) {
        int length = text.numChars();
        int from = Lists.first(begin, length);
        int to = Lists.last(end, length);
        return from >= to ? UTF8String.EMPTY_UTF8 : text.substring(from, to);
    }

    /** Return some characters from a position counted from 1, or from the end if negative. */
    public static UTF8String substring(UTF8String text, long start, long wanted) {
        int length = text.numChars();
        long from = start > 0 ? start - 1 : start < 0 ? length + start : 0;
        long size = start == 0 ? wanted - 1 : wanted;
        if (start == 0 && wanted < 0) {
            size = wanted;
        }
        long to = from + size;
        if (size < 0) {
            to = from;
            from = from + size;
        }
        from = Math.max(0L, Math.min(from, (long) length));
        to = Math.max(0L, Math.min(to, (long) length));
        return from >= to ? UTF8String.EMPTY_UTF8 : text.substring((int) from, (int) to);
    }

    /** Return the last characters, or all but the first if their number is negative. */
    public static UTF8String right(UTF8String text, long wanted) {
        int length = text.numChars();
        long from = wanted < 0 ? -wanted : length - wanted;
        return text.substring((int) Math.max(0L, Math.min(from, (long) length)), length);
    }

    /** Return one part between separators, counted from 1, or from the end if negative. */
    public static UTF8String splitPart(UTF8String text, UTF8String separator, long number) {
        ArrayData parts = split(text, separator);
        long place = number < 0 ? parts.numElements() + number : number - 1;
        boolean found = number != 0 && place >= 0 && place < parts.numElements();
        return found ? parts.getUTF8String((int) place) : UTF8String.EMPTY_UTF8;
    }

    public static UTF8String chr(int code) {
        return UTF8String.fromString(new String(Character.toChars(code)));
    }

    public static UTF8String stripAccents(UTF8String text) {
        String parted = Normalizer.normalize(text.toString(), Normalizer.Form.NFD);
        String bare = parted.replaceAll("\\p{Mn}+", "");
        return UTF8String.fromString(Normalizer.normalize(bare, Normalizer.Form.NFC));
    }

    /** Return a text repeated several times. */
    public static UTF8String repeat(UTF8String text, long times) {
        int count = (int) Math.max(0L, Math.min(times, (long) Integer.MAX_VALUE));
        requireShort((long) text.numBytes() * count);
        return text.repeat(count);
    }

    public static UTF8String lpad(UTF8String text, int length, UTF8String padding) {
        requirePadding(text, length, padding, "LPAD");
        return text.lpad(length, padding);
    }

    public static UTF8String rpad(UTF8String text, int length, UTF8String padding) {
        requirePadding(text, length, padding, "RPAD");
        return text.rpad(length, padding);
    }

    private static void requirePadding(
        UTF8String text, int length, UTF8String padding, String function) {
        if (padding.numBytes() == 0 && text.numChars() < length) {
            throw new IllegalArgumentException("Insufficient padding in " + function + ".");
        }
        requireShort((long) length * 4L);
    }

    /** Fail for a text that would take too much memory. */
    static void requireShort(long bytes) {
        if (bytes > LONGEST) {
            throw new IllegalArgumentException(
                "A text cannot have " + bytes + " bytes; at most " + LONGEST + " are computed.");
        }
    }

    public static UTF8String replace(UTF8String text, UTF8String from, UTF8String to) {
        long longer = (long) to.numBytes() - from.numBytes();
        if (longer > 0L && from.numBytes() > 0
            && (long) text.numBytes() / from.numBytes() * longer > LONGEST) {
            String whole = text.toString();
            String searched = from.toString();
            long bytes = text.numBytes();
            for (int at = whole.indexOf(searched); at >= 0;
                at = whole.indexOf(searched, at + searched.length())) {
                bytes += longer;
            }
            requireShort(bytes);
        }
        return text.replace(from, to);
    }

    /** Return how often a list is repeated; fail if the result is too long. */
    public static int listTimes(int size, long times) {
        if (times > 0L && (long) size * Math.min(times, LONGEST) > MOST_ELEMENTS) {
            throw new IllegalArgumentException(
                "A list cannot have more than " + MOST_ELEMENTS + " elements.");
        }
        return (int) Math.max(0L, Math.min(times, LONGEST));
    }

    /** Return the number of bytes to insert, delete or replace to turn one text into the other. */
    public static long levenshtein(UTF8String one, UTF8String other) {
        Interruption interruption = new Interruption();
        byte[] left = one.getBytes();
        byte[] right = other.getBytes();
        int[] row = new int[right.length + 1];
        for (int j = 0; j <= right.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= left.length; i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= right.length; j++) {
                int above = row[j];
                int replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(above, row[j - 1]) + 1);
                diagonal = above;
                interruption.step();
            }
        }
        return row[right.length];
    }
}
