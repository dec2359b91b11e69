package forklake;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.spark.sql.execution.datasources.parquet.ParquetWriteSupport;

/**
 * Parquet write support that sets field ids on every node of the schema.
 *
 * Spark alone sets ids only on struct fields, but other readers of the lake also need those of list
 * elements and of map keys and values.
 */
public final class FieldIdWriteSupport extends ParquetWriteSupport {
    /** A JSON object: path of the node, which is its names joined by dots -> id. */
    static final String FIELD_IDS = "forklake.field.ids";

    public FieldIdWriteSupport() {
        super();
    }

    public WriteSupport.WriteContext init(Configuration conf) {
        WriteSupport.WriteContext context = super.init(conf);
        Map ids = ids(conf);
        MessageType schema = context.getSchema();
        Type[] fields = new Type[schema.getFieldCount()];
        for (int i = 0; i < fields.length; i++) {
            fields[i] = withIds(schema.getType(i), schema.getFieldName(i), ids);
        }
        return new WriteSupport.WriteContext(
            new MessageType(schema.getName(), fields), context.getExtraMetaData());
    }

    private static Map ids(Configuration conf) {
        try {
            return (Map) new com.fasterxml.jackson.databind.ObjectMapper()
                .readValue(conf.get(FIELD_IDS, "{}"), HashMap.class);
        } catch (java.io.IOException e) {
            throw new IllegalStateException("the field ids are malformed", e);
        }
    }

    private static Type withIds(Type type, String path, Map ids) {
        Type result = type;
        if (!type.isPrimitive()) {
            GroupType group = type.asGroupType();
            List fields = new ArrayList();
            for (int i = 0; i < group.getFieldCount(); i++) {
                fields.add(withIds(group.getType(i), path + "." + group.getFieldName(i), ids));
            }
            result = group.withNewFields(fields);
        }
        Number id = (Number) ids.get(path);
        return id == null ? result : result.withId(id.intValue());
    }
}
