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
 * Temporary views of rows while a query is parsed.
 *
 * The public API of Spark plans and reports each view as a query, which takes longer than parsing
 * one.
 */
public final class TempViews {
    private TempViews() {}

    /** Register the rows of a DataFrame, which may belong to another session. */
    public static void put(SparkSession session, String name, Dataset rows) {
        put(session, name, rows.logicalPlan());
    }

    /** Register a table without rows; its schema is in JSON. */
    public static void putEmpty(SparkSession session, String name, String schema) {
        StructType columns = (StructType) DataType.fromJson(schema);
        put(session, name, LocalRelation$.MODULE$.apply(columns));
    }

    private static void put(SparkSession session, String name, LogicalPlan plan) {
        new CreateViewCommand(
            new TableIdentifier(name),
            (Seq) Seq$.MODULE$.empty(), // column names: those of the plan
            Option.empty(), // comment
            Option.empty(), // collation
            Map$.MODULE$.empty(), // properties
            Option.empty(), // text
            plan,
            false, // an existing view of this name is not ignored
            true, // but replaced
            LocalTempView$.MODULE$,
            CreateViewCommand.apply$default$11(), // schema mode
            true, // the plan is already analyzed
            CreateViewCommand.apply$default$13() // temporary functions: resolved in the plan
        ).run(session);
    }
}
