package forklake;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Predicate$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Files of a relation, listed when Spark plans a query.
 *
 * The listing is a callback: it gets the filters that Spark pushes down as a JSON list of SQL texts
 * and may leave out every file without a matching row. Each file is a separate partition, whose
 * partition values are the constants of the file.
 */
public final class LakeFileIndex implements FileIndex {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final StructType constants;
    private final long size;
    private final Function listing;

    /** The size is a text because a small Python number would arrive as an Integer. */
    public LakeFileIndex(StructType constants, String size, Function listing) {
        this.constants = constants;
        this.size = Long.parseLong(size);
        this.listing = listing;
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        List texts = FilterTexts.of(partitionFilters);
        texts.addAll(FilterTexts.of(dataFilters));
        List files = list(texts);
        // Spark does not evaluate partition filters again: they must be applied exactly.
        for (int i = 0; i < partitionFilters.length(); i++) {
            files = matching(files, (Expression) partitionFilters.apply(i));
        }
        return CollectionConverters.asScala(files).toVector();
    }

    public Seq rootPaths() {
        return CollectionConverters.asScala(new ArrayList()).toVector();
    }

    public String[] inputFiles() {
        List files = list(new ArrayList());
        String[] paths = new String[files.size()];
        for (int i = 0; i < paths.length; i++) {
            paths[i] = path((PartitionDirectory) files.get(i)).toUri().toString();
        }
        return paths;
    }

    public void refresh() {}

    public long sizeInBytes() {
        return size;
    }

    public StructType partitionSchema() {
        return constants;
    }

    private List list(List texts) {
        try {
            String answer = Questions.ask(listing, JSON.writeValueAsString(texts));
            return new Listing(constants).parse(answer);
        } catch (java.io.IOException e) {
            throw new IllegalStateException("the listing of files is malformed", e);
        }
    }

    private List matching(List files, Expression filter) {
        BasePredicate predicate = bind(filter);
        List found = new ArrayList(files.size());
        for (int i = 0; i < files.size(); i++) {
            PartitionDirectory file = (PartitionDirectory) files.get(i);
            if (predicate.eval(file.values())) {
                found.add(file);
            }
        }
        return found;
    }

    /** Return the filter as a predicate of a row of constants. */
    private BasePredicate bind(Expression filter) {
        List attributes = new ArrayList(
            CollectionConverters.asJava(DataTypeUtils.toAttributes(constants)));
        Seq references = filter.references().toSeq();
        for (int i = 0; i < references.length(); i++) {
            Attribute reference = (Attribute) references.apply(i);
            attributes.set(constants.fieldIndex(reference.name()), reference);
        }
        BasePredicate predicate = Predicate$.MODULE$.create(
            filter, CollectionConverters.asScala(attributes).toVector());
        predicate.initialize(0);
        return predicate;
    }

    private static Path path(PartitionDirectory file) {
        return ((org.apache.spark.sql.execution.datasources.FileStatusWithMetadata)
            file.files().apply(0)).getPath();
    }
}
