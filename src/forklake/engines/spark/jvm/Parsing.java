package forklake;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Casts of texts and doubles to numbers, booleans and UUIDs with DuckDB semantics.
 *
 * A method whose name begins with "try" returns null for an invalid value; the one without fails.
 * Both take the name of the target type, for its range and for the error.
 */
public final class Parsing {
    private static final String SPACE = "[ \\t\\n\\x0B\\f\\r]*";
    private static final String DIGITS = "[0-9](?:_?[0-9])*";
    private static final Pattern NUMBER = Pattern.compile(
        SPACE + "([+-]?)((?:" + DIGITS + ")?)(\\.?)((?:" + DIGITS + ")?)(?:[eE]([+-]?" + DIGITS + "))?"
        + SPACE);
    private static final Pattern CODED =
        Pattern.compile(SPACE + "0(?:[xX]([0-9a-fA-F](?:_?[0-9a-fA-F])*)|[bB]([01](?:_?[01])*))" + SPACE);
    private static final Pattern SPECIAL = Pattern.compile(
        SPACE + "([+-]?)(?:(inf|infinity)|nan(?:\\([0-9a-zA-Z_]*\\))?)" + SPACE, Pattern.CASE_INSENSITIVE);
    private static final Pattern ZEROS = Pattern.compile(SPACE + "-0+" + SPACE);
    private static final int MOST_DIGITS = 38;
    private static final String WIDEST = "DECIMAL(38, 0)"; // accepts only decimal digits
    private static final int MOST_EXPONENT = 32767;

    private Parsing() {}

    static RuntimeException malformed(UTF8String text, UTF8String target) {
        String name = target.toString();
        DataType type = DataType.fromDDL(name);
        return QueryExecutionErrors.invalidInputInCastToNumberError(type, text, null);
    }

    /** Return the exact number of a text; null if it is not one. */
    private static BigDecimal number(String text) {
        Matcher found = NUMBER.matcher(text);
        if (!found.matches() || found.group(2).length() + found.group(4).length() == 0) {
            return null;
        }
        if (found.group(3).length() == 0 && found.group(4).length() > 0) {
            return null;
        }
        String exponent = plain(found.group(5) == null ? "0" : found.group(5));
        if (exponent.length() > 6 || Math.abs(Integer.parseInt(exponent)) > MOST_EXPONENT) {
            return null;
        }
        BigDecimal digits = new BigDecimal(found.group(1) + "0" + plain(found.group(2))
            + "." + plain(found.group(4)) + "0");
        return digits.scaleByPowerOfTen(Integer.parseInt(exponent));
    }

    private static String plain(String digits) {
        return digits.replace("_", "");
    }

    private static BigDecimal rounded(BigDecimal number, int scale) {
        // Numbers with far more digits than any type has are not expanded.
        if (number.signum() != 0 && number.precision() - number.scale() > 2 * MOST_DIGITS) {
            return null;
        }
        BigDecimal rounded = number.setScale(scale, RoundingMode.HALF_UP);
        return rounded.precision() > MOST_DIGITS ? null : rounded;
    }

    /** Return an integer, also from hexadecimal or binary digits; fractions are rounded. */
    public static Decimal tryWhole(UTF8String text, UTF8String target) {
        String given = text.toString();
        Matcher coded = CODED.matcher(given);
        BigDecimal number = null;
        if (coded.matches() && !target.toString().equals(WIDEST)) {
            boolean isHex = coded.group(1) != null;
            String digits = plain(isHex ? coded.group(1) : coded.group(2));
            number = new BigDecimal(new BigInteger(digits, isHex ? 16 : 2));
        } else {
            number = number(given);
        }
        BigDecimal whole = number == null ? null : rounded(number, 0);
        return whole == null ? null : Decimal.apply(whole, MOST_DIGITS, 0);
    }

    public static Decimal whole(UTF8String text, UTF8String target) {
        Decimal found = tryWhole(text, target);
        if (found == null) {
            throw malformed(text, target);
        }
        return found;
    }

    /** Return an unsigned integer: negative numbers are not rounded to 0. */
    public static Decimal tryNatural(UTF8String text, UTF8String target) {
        boolean isNegative = text.toString().indexOf('-') >= 0
            && text.toString().trim().startsWith("-");
        return isNegative && !ZEROS.matcher(text.toString()).matches() ? null : tryWhole(text, target);
    }

    public static Decimal natural(UTF8String text, UTF8String target) {
        Decimal found = tryNatural(text, target);
        if (found == null) {
            throw malformed(text, target);
        }
        return found;
    }

    /** Return the text of a number with the digits of a decimal type. */
    public static UTF8String tryFixed(UTF8String text, UTF8String target) {
        BigDecimal number = number(text.toString());
        return number == null ? null : fixed(number, target);
    }

    public static UTF8String fixed(UTF8String text, UTF8String target) {
        UTF8String found = tryFixed(text, target);
        if (found == null) {
            throw malformed(text, target);
        }
        return found;
    }

    private static UTF8String fixed(BigDecimal number, UTF8String target) {
        int[] digits = digits(target);
        BigDecimal rounded = rounded(number, digits[1]);
        return rounded == null || rounded.precision() > digits[0]
            ? null : UTF8String.fromString(rounded.toPlainString());
    }

    /** Return precision and scale of "DECIMAL(p,s)". */
    private static int[] digits(UTF8String target) {
        String[] parts = target.toString().replaceAll("[^0-9,]", "").split(",");
        return new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])};
    }

    /** Return a double with the digits of a decimal type: multiplied, then rounded. */
    public static UTF8String tryFixedDouble(double value, UTF8String target) {
        int[] digits = digits(target);
        double scaled = Numbers.round(value * Math.pow(10, digits[1]), 0);
        if (Double.isNaN(scaled) || Math.abs(scaled) >= Math.pow(10, digits[0])) {
            return null;
        }
        return placed(scaled, target);
    }

    public static UTF8String fixedDouble(double value, UTF8String target) {
        UTF8String found = tryFixedDouble(value, target);
        if (found == null) {
            throw malformed(Texts.doubleText(value), target);
        }
        return found;
    }

    /** Return a float with the digits of a decimal type, with float precision after rounding. */
    public static UTF8String tryFixedSingle(float value, UTF8String target) {
        double power = Math.pow(10, digits(target)[1]);
        double scaled = (double) (float) Numbers.round(value * power, 0);
        return tryFixedDouble(scaled / power, target) == null ? null : placed(scaled, target);
    }

    public static UTF8String fixedSingle(float value, UTF8String target) {
        UTF8String found = tryFixedSingle(value, target);
        if (found == null) {
            throw malformed(Texts.floatText(value), target);
        }
        return found;
    }

    private static UTF8String placed(double scaled, UTF8String target) {
        BigDecimal whole = new BigDecimal(scaled);
        return UTF8String.fromString(whole.scaleByPowerOfTen(-digits(target)[1]).toPlainString());
    }

    /** Return a double, rounded half to even, as an integer. */
    public static Decimal tryWholeDouble(double value, UTF8String target) {
        double rounded = Math.rint(value);
        if (Double.isNaN(rounded) || Math.abs(rounded) >= 1e38) {
            return null;
        }
        return Decimal.apply(new BigDecimal(rounded), MOST_DIGITS, 0);
    }

    public static Decimal wholeDouble(double value, UTF8String target) {
        Decimal found = tryWholeDouble(value, target);
        if (found == null) {
            throw malformed(Texts.doubleText(value), target);
        }
        return found;
    }

    public static Double tryFraction(UTF8String text, UTF8String target) {
        String given = text.toString();
        Matcher special = SPECIAL.matcher(given);
        if (special.matches()) {
            double size = special.group(2) == null ? Double.NaN : Double.POSITIVE_INFINITY;
            return Double.valueOf(special.group(1).equals("-") ? -size : size);
        }
        String number = decimalText(given);
        return number == null ? null : Double.valueOf(number);
    }

    public static Double fraction(UTF8String text, UTF8String target) {
        Double found = tryFraction(text, target);
        if (found == null) {
            throw malformed(text, target);
        }
        return found;
    }

    /** Parse a float from the digits directly: parsing it as a double would round twice. */
    public static Float tryShortFraction(UTF8String text, UTF8String target) {
        Double found = tryFraction(text, target);
        if (found == null || found.isNaN() || found.isInfinite()) {
            return found == null ? null : Float.valueOf(found.floatValue());
        }
        return Float.valueOf(decimalText(text.toString()));
    }

    public static Float shortFraction(UTF8String text, UTF8String target) {
        Float found = tryShortFraction(text, target);
        if (found == null) {
            throw malformed(text, target);
        }
        return found;
    }

    /** Return the digits of a number in Java syntax; null if it is not one. */
    private static String decimalText(String text) {
        Matcher found = NUMBER.matcher(text);
        boolean isNumber = found.matches() && found.group(2).length() + found.group(4).length() > 0
            && (found.group(3).length() > 0 || found.group(4).length() == 0);
        return isNumber ? plain(text.trim()) : null;
    }

    /** Return a double as a float, if it is not too large for one. */
    public static Float tryNarrow(double value, UTF8String target) {
        float narrow = (float) value;
        boolean isLost = Float.isInfinite(narrow) && !Double.isInfinite(value);
        return isLost ? null : Float.valueOf(narrow);
    }

    public static Float narrow(double value, UTF8String target) {
        Float found = tryNarrow(value, target);
        if (found == null) {
            throw malformed(Texts.doubleText(value), target);
        }
        return found;
    }

    public static Boolean tryTruth(UTF8String text, UTF8String target) {
        String word = text.toString().toLowerCase(Locale.ROOT);
        boolean isTrue = word.equals("true") || word.equals("t") || word.equals("1")
            || word.equals("yes") || word.equals("y");
        boolean isFalse = word.equals("false") || word.equals("f") || word.equals("0")
            || word.equals("no") || word.equals("n");
        return isTrue || isFalse ? Boolean.valueOf(isTrue) : null;
    }

    public static Boolean truth(UTF8String text, UTF8String target) {
        Boolean found = tryTruth(text, target);
        if (found == null) {
            throw malformed(text, target);
        }
        return found;
    }

    /** Return a UUID in lower case, from 32 digits with hyphens anywhere, or in braces. */
    public static UTF8String tryUuid(UTF8String text) {
        String given = text.toString();
        if (given.startsWith("{") != given.endsWith("}") || given.length() < 32) {
            return null;
        }
        String inside = given.startsWith("{") ? given.substring(1, given.length() - 1) : given;
        String digits = inside.replace("-", "").toLowerCase(Locale.ROOT);
        if (digits.length() != 32) {
            return null;
        }
        StringBuilder uuid = new StringBuilder();
        for (int i = 0; i < 32; i++) {
            if (Character.digit(digits.charAt(i), 16) < 0 || digits.charAt(i) > 'f') {
                return null;
            }
            uuid.append(i == 8 || i == 12 || i == 16 || i == 20 ? "-" : "").append(digits.charAt(i));
        }
        return UTF8String.fromString(uuid.toString());
    }

    public static UTF8String uuid(UTF8String text) {
        UTF8String found = tryUuid(text);
        if (found == null) {
            throw malformed(text, UTF8String.fromString("STRING"));
        }
        return found;
    }
}
