package forklake;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Sort keys of nested values, whose bytes sort as DuckDB sorts the values: NULL inside is highest.
 *
 * Integers and decimals of all types have the same form, so that lists of INTEGER and of BIGINT can
 * be compared. The second type is that of the value compared with.
 */
public final class Orders {
    private static final Map COMPARABLE = new ConcurrentHashMap(); // pair of types -> Boolean
    private static final int END = 0;
    private static final int PRESENT = 1;
    private static final int MISSING = 2;
    private static final int NUMBER_BYTES = 34; // 38 digits before the point and 38 after it
    private static final int SCALE = 38;

    private Orders() {}

    public static byte[] listKey(ArrayData list, UTF8String type, UTF8String other) {
        return key(list, type, other);
    }

    public static byte[] structKey(InternalRow row, UTF8String type, UTF8String other) {
        return key(row, type, other);
    }

    public static byte[] mapKey(MapData map, UTF8String type, UTF8String other) {
        return key(map, type, other);
    }

    /** Return the SQL for the sort key of a list element with the name k0. */
    static String element(DataType type) {
        String name = type instanceof ArrayType ? "list" : type instanceof MapType ? "map" : "struct";
        String json = Dispatch.quoted(type.json());
        return "java_" + name + "Key(k0, " + json + ", " + json + ")";
    }

    private static byte[] key(Object value, UTF8String type, UTF8String other) {
        if (!type.equals(other) && !areComparable(type, other)) {
            throw new IllegalArgumentException(
                "Values of the types " + type + " and " + other + " cannot be compared");
        }
        ByteArrayOutputStream key = new ByteArrayOutputStream();
        write(key, value, Texts.type(type));
        return key.toByteArray();
    }

    private static boolean areComparable(UTF8String one, UTF8String other) {
        List pair = Arrays.asList(new Object[] {one.toString(), other.toString()});
        Boolean known = (Boolean) COMPARABLE.get(pair);
        if (known == null) {
            known = Boolean.valueOf(areComparable(Texts.type(one), Texts.type(other)));
            COMPARABLE.put(pair, known);
        }
        return known.booleanValue();
    }

    /** Return whether sort keys of two types have the same form; untyped NULL compares with all. */
    private static boolean areComparable(DataType one, DataType other) {
        if (one instanceof NullType || other instanceof NullType) {
            return true;
        }
        if (one instanceof ArrayType && other instanceof ArrayType) {
            return areComparable(((ArrayType) one).elementType(), ((ArrayType) other).elementType());
        }
        if (one instanceof MapType && other instanceof MapType) {
            return areComparable(((MapType) one).keyType(), ((MapType) other).keyType())
                && areComparable(((MapType) one).valueType(), ((MapType) other).valueType());
        }
        if (one instanceof StructType && other instanceof StructType) {
            StructField[] mine = ((StructType) one).fields();
            StructField[] its = ((StructType) other).fields();
            boolean same = mine.length == its.length;
            for (int i = 0; same && i < mine.length; i++) {
                same = areComparable(mine[i].dataType(), its[i].dataType());
            }
            return same;
        }
        return form(one).equals(form(other));
    }

    private static String form(DataType type) {
        if (type instanceof IntegralType || type instanceof DecimalType) {
            return "number";
        }
        return type instanceof DoubleType || type instanceof FloatType ? "fraction" : type.typeName();
    }

    private static void write(ByteArrayOutputStream key, Object value, DataType type) {
        if (value == null) {
            key.write(MISSING);
            return;
        }
        key.write(PRESENT);
        if (type instanceof ArrayType) {
            writeList(key, (ArrayData) value, ((ArrayType) type).elementType());
        } else if (type instanceof StructType) {
            for (int i = 0; i < ((StructType) type).length(); i++) {
                DataType field = ((StructType) type).fields()[i].dataType();
                write(key, get((InternalRow) value, i, field), field);
            }
        } else if (type instanceof MapType) {
            writeMap(key, (MapData) value, (MapType) type);
        } else {
            writeScalar(key, value, type);
        }
    }

    private static void writeList(ByteArrayOutputStream key, ArrayData list, DataType element) {
        for (int i = 0; i < list.numElements(); i++) {
            write(key, get(list, i, element), element);
        }
        key.write(END);
    }

    private static void writeMap(ByteArrayOutputStream key, MapData map, MapType type) {
        for (int i = 0; i < map.numElements(); i++) {
            write(key, get(map.keyArray(), i, type.keyType()), type.keyType());
            write(key, get(map.valueArray(), i, type.valueType()), type.valueType());
        }
        key.write(END);
    }

    private static Object get(SpecializedGetters from, int place, DataType type) {
        return Texts.get(from, place, type);
    }

    private static void writeScalar(ByteArrayOutputStream key, Object value, DataType type) {
        if (type instanceof DecimalType) {
            writeNumber(key, ((Decimal) value).toJavaBigDecimal());
        } else if (type instanceof IntegralType) {
            writeNumber(key, new BigDecimal(((Number) value).longValue()));
        } else if (type instanceof DoubleType || type instanceof FloatType) {
            writeFraction(key, ((Number) value).doubleValue());
        } else if (type instanceof StringType) {
            writeBytes(key, ((UTF8String) value).getBytes());
        } else if (type instanceof BinaryType) {
            writeBytes(key, (byte[]) value);
        } else if (type instanceof BooleanType) {
            key.write(((Boolean) value).booleanValue() ? 1 : 0);
        } else if (value instanceof Number) { // dates, times and timestamps
            writeLong(key, ((Number) value).longValue() ^ Long.MIN_VALUE);
        } else {
            throw new IllegalArgumentException("Values of type " + type.sql() + " have no order");
        }
    }

    private static void writeNumber(ByteArrayOutputStream key, BigDecimal number) {
        byte[] digits = number.setScale(SCALE).unscaledValue().toByteArray();
        int sign = number.signum() < 0 ? 0xff : 0;
        key.write(sign ^ 0x80);
        for (int i = digits.length + 1; i < NUMBER_BYTES; i++) {
            key.write(sign);
        }
        key.write(digits, 0, digits.length);
    }

    private static void writeFraction(ByteArrayOutputStream key, double value) {
        long bits = Double.doubleToLongBits(value == 0 ? 0.0 : value); // 0.0 and -0.0 are equal
        writeLong(key, bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
    }

    private static void writeLong(ByteArrayOutputStream key, long bits) {
        for (int shift = 56; shift >= 0; shift -= 8) {
            key.write((int) (bits >>> shift) & 0xff);
        }
    }

    /** Write bytes with zero bytes escaped, so that a shorter text sorts first. */
    private static void writeBytes(ByteArrayOutputStream key, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            key.write(bytes[i]);
            if (bytes[i] == 0) {
                key.write(0xff);
            }
        }
        key.write(0);
        key.write(0);
    }
}
