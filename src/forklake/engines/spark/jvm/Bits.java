package forklake;

import java.math.BigInteger;
import org.apache.spark.sql.types.Decimal;

/** Operations on the bits of integers; 128-bit integers are decimals. */
public final class Bits {
    private static final int WIDEST = 128;
    private static final BigInteger UNSIGNED = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private Bits() {}

    /** Return a number of `width` bits shifted to the left; fail if bits are lost. */
    public static long shiftLeft(long a, long by, int width) {
        if (a < 0 || by < 0) {
            throw new ArithmeticException("Cannot shift " + a + " to the left by " + by);
        }
        if (a == 0 || by == 0) {
            return a;
        }
        if (by >= width || a >= 1L << (width - by - 1)) {
            throw new ArithmeticException("Overflow in the shift " + a + " << " + by);
        }
        return a << by;
    }

    public static long shiftRight(long a, long by, int width) {
        return by < 0 || by >= width ? 0 : a >> by;
    }

    public static Decimal and(Decimal a, Decimal b) {
        return Maths.decimal(Maths.whole(a).and(Maths.whole(b)));
    }

    public static Decimal or(Decimal a, Decimal b) {
        return Maths.decimal(Maths.whole(a).or(Maths.whole(b)));
    }

    public static Decimal exclusiveOr(Decimal a, Decimal b) {
        return Maths.decimal(Maths.whole(a).xor(Maths.whole(b)));
    }

    public static Decimal not(Decimal a) {
        return Maths.decimal(Maths.whole(a).not());
    }

    public static Decimal unsignedNot(Decimal a) {
        return Maths.decimal(UNSIGNED.subtract(Maths.whole(a)));
    }

    public static int bitCount(Decimal a) {
        BigInteger whole = Maths.whole(a);
        return (byte) (whole.signum() < 0 ? WIDEST - whole.bitCount() : whole.bitCount());
    }
}
