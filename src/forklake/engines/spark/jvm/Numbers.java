package forklake;

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.types.Decimal;

/** Arithmetic with DuckDB semantics: IEEE arithmetic without errors for doubles. */
public final class Numbers {
    private static final int LONGEST = 10000000;

    private Numbers() {}

    public static double divide(double a, double b) {
        return a / b;
    }

    public static double remainder(double a, double b) {
        return a % b;
    }

    public static double ceil(double a) {
        return Math.ceil(a);
    }

    public static double floor(double a) {
        return Math.floor(a);
    }

    public static double trunc(double a) {
        return a < 0 ? Math.ceil(a) : Math.floor(a);
    }

    /** Round half away from zero. */
    public static double round(double a, int digits) {
        if (digits == 0) {
            return Math.copySign(Math.floor(Math.abs(a) + 0.5), a);
        }
        double power = Math.pow(10, Math.abs(digits));
        double scaled = digits < 0 ? a / power : a * power;
        double rounded = Math.copySign(Math.floor(Math.abs(scaled) + 0.5), scaled);
        double result = digits < 0 ? rounded * power : rounded / power;
        boolean isFinite = !Double.isNaN(result) && !Double.isInfinite(result);
        return isFinite ? result : digits < 0 ? 0 : a;
    }

    /** Return the next even number away from zero. */
    public static double even(double a) {
        double up = Math.ceil(Math.abs(a));
        return Math.copySign(up % 2 == 0 ? up : up + 1, a);
    }

    public static long gcd(long a, long b) {
        return b == 0 ? Math.abs(a) : gcd(b, a % b);
    }

    public static long lcm(long a, long b) {
        return a == 0 || b == 0 ? 0 : Math.abs(Math.multiplyExact(a / gcd(a, b), b));
    }

    /** Return an integer; fail unless it is between 0 and the highest. */
    public static Decimal unsigned(Decimal value, Decimal highest) {
        Decimal found = tryUnsigned(value, highest);
        if (found == null) {
            throw new ArithmeticException(
                "The value " + value + " is out of range for an unsigned integer up to " + highest);
        }
        return found;
    }

    public static Decimal tryUnsigned(Decimal value, Decimal highest) {
        return value.toBigDecimal().signum() < 0 || value.compareTo(highest) > 0 ? null : value;
    }

    /**
     * Return numbers from start to end, with or without the end; empty if the step leads away.
     */
    public static UnsafeArrayData range(long from, long to, long step, boolean withLast) {
        if (step == 0) {
            throw new IllegalArgumentException("The step of a range cannot be 0");
        }
        long distance = step > 0 ? Math.subtractExact(to, from) : Math.subtractExact(from, to);
        long size = Math.abs(step);
        long count = distance < 0 ? 0
            : withLast ? distance / size + 1 : distance / size + (distance % size == 0 ? 0 : 1);
        if (count > LONGEST) {
            throw new IllegalArgumentException("A list cannot have " + count + " elements");
        }
        long[] values = new long[(int) count];
        for (int i = 0; i < values.length; i++) {
            values[i] = from + i * step;
        }
        return UnsafeArrayData.fromPrimitiveArray(values);
    }
}
