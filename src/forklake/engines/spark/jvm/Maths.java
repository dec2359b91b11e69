package forklake;

import java.math.BigInteger;
import org.apache.spark.sql.types.Decimal;

/** Functions of real numbers, with errors where they are undefined, and exact decimals. */
public final class Maths {
    private static final BigInteger MOST = BigInteger.TEN.pow(38).subtract(BigInteger.ONE);
    private static final int MOST_FACTORIAL = 33; // the largest whose result has 38 digits

    private Maths() {}

    public static double sqrt(double a) {
        if (a < 0) {
            throw new ArithmeticException("Cannot take the square root of a negative number: " + a);
        }
        return Math.sqrt(a);
    }

    public static double ln(double a) {
        return Math.log(positive(a));
    }

    public static double log10(double a) {
        return Math.log10(positive(a));
    }

    public static double log2(double a) {
        double exponent = Math.getExponent(positive(a));
        boolean isPower = !Double.isInfinite(a) && a == Math.scalb(1.0, (int) exponent);
        return isPower ? exponent : Math.log(a) / Math.log(2);
    }

    public static double log(double base, double a) {
        double divisor = Math.log10(positive(base));
        double dividend = Math.log10(positive(a));
        if (divisor == 0) {
            throw new ArithmeticException("A logarithm cannot have the base 1");
        }
        return dividend / divisor;
    }

    private static double positive(double a) {
        if (a <= 0) {
            throw new ArithmeticException("Cannot take the logarithm of a number that is not positive: " + a);
        }
        return a;
    }

    /** Return a power; those of 1, and of -1 with infinite exponents, are 1. */
    public static double pow(double a, double exponent) {
        boolean isOne = a == 1 || (a == -1 && Double.isInfinite(exponent));
        return isOne ? 1 : Math.pow(a, exponent);
    }

    public static double sin(double a) {
        return Math.sin(notInfinite(a));
    }

    public static double cos(double a) {
        return Math.cos(notInfinite(a));
    }

    public static double tan(double a) {
        return Math.tan(notInfinite(a));
    }

    public static double cot(double a) {
        double tangent = Math.tan(notInfinite(a));
        if (tangent == 0) {
            throw new ArithmeticException("The cotangent of 0 is not defined");
        }
        return 1 / tangent;
    }

    /** Return the angle of a point. The function of Spark treats -0.0 as 0.0. */
    public static double atan2(double y, double x) {
        return Math.atan2(y, x);
    }

    private static double notInfinite(double a) {
        if (Double.isInfinite(a)) {
            throw new ArithmeticException("A trigonometric function is not defined for " + a);
        }
        return a;
    }

    public static double asin(double a) {
        return Math.asin(cosine(a));
    }

    public static double acos(double a) {
        return Math.acos(cosine(a));
    }

    private static double cosine(double a) {
        if (a < -1 || a > 1) {
            throw new ArithmeticException("asin and acos are not defined outside of [-1, 1]: " + a);
        }
        return a;
    }

    /** Return the result of an aggregate; fail unless it is finite. */
    public static double statistic(double a) {
        if (Double.isNaN(a) || Double.isInfinite(a)) {
            throw new ArithmeticException("The aggregate is out of range: " + a);
        }
        return a;
    }

    public static Decimal factorial(long a) {
        if (a < 0 || a > MOST_FACTORIAL) {
            throw new ArithmeticException("The factorial of " + a + " is not defined or out of range");
        }
        BigInteger product = BigInteger.ONE;
        for (long i = 2; i <= a; i++) {
            product = product.multiply(BigInteger.valueOf(i));
        }
        return decimal(product);
    }

    /** Return the negated decimal; Spark rounds it to 34 digits. */
    public static Decimal negate(Decimal a) {
        return Decimal.apply(a.toJavaBigDecimal().negate());
    }

    public static Decimal absolute(Decimal a) {
        return Decimal.apply(a.toJavaBigDecimal().abs());
    }

    /** Return the integer quotient of two integers; NULL for division by 0. */
    public static Decimal quotient(Decimal a, Decimal b) {
        BigInteger divisor = whole(b);
        return divisor.signum() == 0 ? null : decimal(whole(a).divide(divisor));
    }

    static BigInteger whole(Decimal a) {
        return a.toJavaBigDecimal().toBigInteger();
    }

    static Decimal decimal(BigInteger a) {
        if (a.abs().compareTo(MOST) > 0) {
            throw new ArithmeticException("The number has more than 38 digits: " + a);
        }
        return Decimal.apply(new java.math.BigDecimal(a));
    }
}
