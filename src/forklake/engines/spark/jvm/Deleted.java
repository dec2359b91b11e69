package forklake;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.SerializableConfiguration;
import org.roaringbitmap.RoaringBitmap;

/**
 * The function (number of a file, position of a row) -> whether the row is deleted.
 *
 * Delete files are read on the executors, where they are needed; see DeleteFiles. Rows arrive file
 * by file, so the bitmap of the last file is cached.
 */
public final class Deleted implements UDF2 {
    private final Map files = new HashMap(); // number -> [path or null, key or null, bitmap, name]
    private final Broadcast configuration;
    private transient Current current;

    /**
     * Return the function for a JSON list with one list [number, path, key, [position...], name]
     * per file.
     */
    public static UserDefinedFunction function(String text, Broadcast configuration)
        throws IOException {
        UDF2 deleted = new Deleted(text, configuration);
        return functions.udf(deleted, DataTypes.BooleanType).withName("deleted");
    }

    private Deleted(String text, Broadcast configuration) throws IOException {
        this.configuration = configuration;
        List rows = (List) new ObjectMapper().readValue(text, List.class);
        for (int i = 0; i < rows.size(); i++) {
            List row = (List) rows.get(i);
            String key = (String) row.get(2);
            List positions = (List) row.get(3);
            RoaringBitmap bitmap = new RoaringBitmap();
            for (int j = 0; j < positions.size(); j++) {
                bitmap.add(DeleteFiles.position(((Number) positions.get(j)).longValue()));
            }
            Object[] file = new Object[] {
                row.get(1), key == null ? null : Base64.getDecoder().decode(key), bitmap, row.get(4)
            };
            files.put(Long.valueOf(((Number) row.get(0)).longValue()), file);
        }
    }

    public Object call(Object number, Object position) throws IOException {
        Current file = current;
        if (file == null || !file.number.equals(number)) {
            file = new Current((Long) number, bitmap(number));
            current = file;
        }
        return Boolean.valueOf(
            file.bitmap != null && file.bitmap.contains((int) ((Long) position).longValue()));
    }

    private RoaringBitmap bitmap(Object number) throws IOException {
        Object[] file = (Object[]) files.get(number);
        if (file == null) {
            return null;
        }
        RoaringBitmap positions = (RoaringBitmap) file[2];
        if (file[0] == null) {
            return positions;
        }
        Configuration conf = ((SerializableConfiguration) configuration.value()).value();
        RoaringBitmap inFile =
            DeleteFiles.read((String) file[0], (String) file[3], (byte[]) file[1], conf);
        return positions.isEmpty() ? inFile : RoaringBitmap.or(inFile, positions);
    }

    /** Immutable, so that threads which share the function cannot mix up two files. */
    private static final class Current {
        final Long number;
        final RoaringBitmap bitmap;

        Current(Long number, RoaringBitmap bitmap) {
            this.number = number;
            this.bitmap = bitmap;
        }
    }
}
