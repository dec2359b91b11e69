package forklake;

import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.sources.EqualTo;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.In;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.sources.IsNull;
import org.apache.spark.sql.sources.LessThan;
import org.apache.spark.sql.sources.LessThanOrEqual;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * The filters by which Parquet may leave out parts of a file.
 *
 * NaN is above all other numbers, but most writers leave it out of the bounds of a column: by them
 * a part without any number above 5 may still have rows for which x &gt; 5 is true.
 */
final class FloatFilters extends AbstractFunction1 {
    private final Set names = new HashSet(); // of columns with floats in them, as filters name them

    private FloatFilters(StructType schema) {
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            if (hasFloats(fields[i].dataType())) {
                names.add(fields[i].name());
                names.add("`" + fields[i].name().replace("`", "``") + "`");
            }
        }
    }

    static Seq safe(StructType schema, Seq filters) {
        return (Seq) filters.filter(new FloatFilters(schema));
    }

    public Object apply(Object filter) {
        return Boolean.valueOf(isFalseForNan((Filter) filter) || !hasFloats((Filter) filter));
    }

    private boolean hasFloats(Filter filter) {
        String[] references = filter.references();
        for (int i = 0; i < references.length; i++) {
            for (int end = references[i].length(); end > 0; end = references[i].lastIndexOf('.', end - 1)) {
                if (names.contains(references[i].substring(0, end))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isFalseForNan(Filter filter) {
        if (filter instanceof EqualTo) {
            return !isNan(((EqualTo) filter).value());
        }
        if (filter instanceof In) {
            Object[] values = ((In) filter).values();
            for (int i = 0; i < values.length; i++) {
                if (isNan(values[i])) {
                    return false;
                }
            }
            return true;
        }
        return filter instanceof IsNull || filter instanceof IsNotNull
            || filter instanceof LessThan || filter instanceof LessThanOrEqual;
    }

    private static boolean isNan(Object value) {
        return (value instanceof Double && ((Double) value).isNaN())
            || (value instanceof Float && ((Float) value).isNaN());
    }

    private static boolean hasFloats(DataType type) {
        if (type instanceof StructType) {
            StructField[] fields = ((StructType) type).fields();
            for (int i = 0; i < fields.length; i++) {
                if (hasFloats(fields[i].dataType())) {
                    return true;
                }
            }
            return false;
        }
        if (type instanceof ArrayType) {
            return hasFloats(((ArrayType) type).elementType());
        }
        if (type instanceof MapType) {
            return hasFloats(((MapType) type).keyType()) || hasFloats(((MapType) type).valueType());
        }
        return type instanceof FloatType || type instanceof DoubleType;
    }
}
