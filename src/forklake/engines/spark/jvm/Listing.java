package forklake;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Parser of a file listing: a JSON list with one list [path, size, key, constant...] per file.
 *
 * A failed listing is an object {"error": "reason"} instead. Keys and binary constants are in
 * base64, dates in days and timestamps in microseconds since 1970.
 */
final class Listing {
    private static final long BLOCK_SIZE = 134217728L;
    private static final JsonFactory JSON =
        new JsonFactory().enable(JsonParser.Feature.ALLOW_NON_NUMERIC_NUMBERS);
    private static final scala.collection.immutable.Map NO_KEY =
        scala.collection.immutable.Map$.MODULE$.empty();

    private final DataType[] types;

    Listing(StructType constants) {
        types = new DataType[constants.length()];
        for (int i = 0; i < types.length; i++) {
            types[i] = constants.fields()[i].dataType();
        }
    }

    List parse(String text) throws IOException {
        JsonParser json = JSON.createParser(text);
        if (json.nextToken() == JsonToken.START_OBJECT) {
            json.nextToken();
            // Spark would report any other exception as an internal error.
            throw new IllegalArgumentException(json.nextTextValue());
        }
        List files = new ArrayList();
        while (json.nextToken() == JsonToken.START_ARRAY) {
            files.add(file(json));
        }
        return files;
    }

    private PartitionDirectory file(JsonParser json) throws IOException {
        Path path = new Path(json.nextTextValue());
        long size = json.nextLongValue(0L);
        String key = json.nextTextValue();
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            values[i] = json.nextToken() == JsonToken.VALUE_NULL ? null : value(json, types[i]);
        }
        json.nextToken();
        FileStatus status = new FileStatus(size, false, 1, BLOCK_SIZE, 0L, path);
        List files = new ArrayList(1);
        files.add(FileStatusWithMetadata.apply(status, key == null ? NO_KEY : FileKey.carry(key)));
        return PartitionDirectory.apply(
            new GenericInternalRow(values),
            scala.jdk.javaapi.CollectionConverters.asScala(files).toVector());
    }

    private static Object value(JsonParser json, DataType type) throws IOException {
        if (type instanceof StringType) {
            return UTF8String.fromString(json.getText());
        } else if (type instanceof BooleanType) {
            return Boolean.valueOf(json.getBooleanValue());
        } else if (type instanceof IntegerType || type instanceof DateType) {
            return Integer.valueOf(json.getIntValue());
        } else if (type instanceof ShortType) {
            return Short.valueOf(json.getShortValue());
        } else if (type instanceof ByteType) {
            return Byte.valueOf(json.getByteValue());
        } else if (type instanceof DoubleType) {
            return Double.valueOf(json.getDoubleValue());
        } else if (type instanceof FloatType) {
            return Float.valueOf(json.getFloatValue());
        } else if (type instanceof BinaryType) {
            return Base64.getDecoder().decode(json.getText());
        } else if (type instanceof DecimalType) {
            DecimalType decimal = (DecimalType) type;
            return Decimal.apply(
                new java.math.BigDecimal(json.getText()), decimal.precision(), decimal.scale());
        }
        return Long.valueOf(json.getLongValue()); // bigint, timestamps
    }
}
