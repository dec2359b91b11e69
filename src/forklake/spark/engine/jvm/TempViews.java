package forklake;

import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.LocalTempView$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.CreateViewCommand;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Seq$;

/**
 * Names for rows while a query is read.
 *
 * Spark's own way plans and reports each name as a query, which takes longer than to read one.
 */
public final class TempViews {
    private TempViews() {}

    /** Name the rows of a DataFrame, which may be of another session. */
    public static void put(SparkSession session, String name, Dataset rows) {
        put(session, name, rows.logicalPlan());
    }

    /** Name a table without rows; its schema is in JSON. */
    public static void putEmpty(SparkSession session, String name, String schema) {
        StructType columns = (StructType) DataType.fromJson(schema);
        put(session, name, LocalRelation$.MODULE$.apply(columns));
    }

    private static void put(SparkSession session, String name, LogicalPlan plan) {
        new CreateViewCommand(
            new TableIdentifier(name),
            (Seq) Seq$.MODULE$.empty(), // names of columns: those of the plan
            Option.empty(), // comment
            Option.empty(), // collation
            Map$.MODULE$.empty(), // properties
            Option.empty(), // text
            plan,
            false, // a view of this name is no reason to do nothing
            true, // but is replaced
            LocalTempView$.MODULE$,
            CreateViewCommand.apply$default$11(), // how later changes of the schema are taken
            true, // the plan is analysed
            CreateViewCommand.apply$default$13() // temporary functions: known to the plan
        ).run(session);
    }
}
