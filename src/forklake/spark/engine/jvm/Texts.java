package forklake;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
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
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions on texts as DuckDB has them, and values as it writes them. */
public final class Texts {
    private static final Map TYPES = new ConcurrentHashMap(); // text -> DataType
    private static final int PLAIN_DIGITS = 16;
    private static final String HEX = "0123456789ABCDEF";

    private Texts() {}

    public static UTF8String doubleText(double value) {
        return UTF8String.fromString(number(value, Double.toString(value)));
    }

    public static UTF8String floatText(float value) {
        return UTF8String.fromString(number(value, Float.toString(value)));
    }

    /** The shortest digits, plain unless the number is very big or very small. */
    private static String number(double value, String shortest) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return shortest;
        }
        BigDecimal decimal = new BigDecimal(shortest).stripTrailingZeros();
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

    /** Bytes as text: printable ASCII as it is, the others as \xAB. */
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

    /** The bytes of a text, in which \xAB stands for one. */
    public static byte[] blob(UTF8String text) {
        byte[] given = text.getBytes();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(given.length);
        for (int i = 0; i < given.length; i++) {
            if (given[i] != '\\') {
                bytes.write(given[i]);
            } else if (i + 3 < given.length && given[i + 1] == 'x') {
                bytes.write(Integer.parseInt(new String(given, i + 2, 2, StandardCharsets.UTF_8), 16));
                i += 3;
            } else {
                throw new IllegalArgumentException("Invalid hex escape code in a blob: " + text);
            }
        }
        return bytes.toByteArray();
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

    private static DataType type(UTF8String text) {
        DataType known = (DataType) TYPES.get(text);
        if (known == null) {
            known = DataType.fromDDL(text.toString());
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
        text.append('{');
        for (int i = 0; i < type.length(); i++) {
            StructField field = type.fields()[i];
            text.append(i > 0 ? ", '" : "'").append(field.name()).append("': ");
            write(text, get(row, i, field.dataType()), field.dataType());
        }
        text.append('}');
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

    private static Object get(SpecializedGetters from, int place, DataType type) {
        return from.isNullAt(place) ? null : from.get(place, type);
    }

    private static void writeScalar(StringBuilder text, Object value, DataType type) {
        if (type instanceof DoubleType) {
            text.append(number(((Double) value).doubleValue(), value.toString()));
        } else if (type instanceof FloatType) {
            text.append(number(((Float) value).doubleValue(), value.toString()));
        } else if (type instanceof StringType) {
            text.append(quoted(value.toString()));
        } else if (type instanceof DateType) {
            text.append(Times.dateText(((Integer) value).longValue()));
        } else if (type instanceof TimestampNTZType) {
            text.append(Times.timestampText(((Long) value).longValue()));
        } else if (type instanceof TimestampType) {
            text.append(Times.timestampText(((Long) value).longValue())).append("+00");
        } else if (type instanceof BinaryType) {
            text.append(blobText((byte[]) value).toString());
        } else {
            text.append(value.toString());
        }
    }

    /** A text inside of a nested value has quotes if it could be taken for something else. */
    private static String quoted(String text) {
        boolean plain = text.length() > 0 && text.trim().equals(text)
            && !text.equalsIgnoreCase("null");
        for (int i = 0; plain && i < text.length(); i++) {
            plain = "'\"\\,[](){}=:;".indexOf(text.charAt(i)) < 0;
        }
        return plain ? text : "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    /** The parts of a text between separators; an empty separator parts all characters. */
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

    /** Characters from begin to end, both counted from 1, or from the end if negative. */
    public static UTF8String slice(UTF8String text, long begin, long end) {
        int length = text.numChars();
        int from = Lists.first(begin, length);
        int to = Lists.last(end, length);
        return from >= to ? UTF8String.EMPTY_UTF8 : text.substring(from, to);
    }

    /** As many characters as wanted from a place counted from 1, or from the end if negative. */
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

    /** The last characters, or all but the first if their number is negative. */
    public static UTF8String right(UTF8String text, long wanted) {
        int length = text.numChars();
        long from = wanted < 0 ? -wanted : length - wanted;
        return text.substring((int) Math.max(0L, Math.min(from, (long) length)), length);
    }

    /** One part between separators, counted from 1, or from the end if negative. */
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

    /** Does a text match a pattern with *, ? and [...]? */
    public static boolean glob(UTF8String text, UTF8String pattern) {
        return Regexes.glob(text.toString(), pattern.toString());
    }
}
