package forklake;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand;
import scala.collection.immutable.Seq;

/**
 * Refuses tables that DataFrames of a lake would make in Spark's own catalog, outside of the lake.
 *
 * Sessions of the lake are its own, so no other DataFrame is refused. The rule changes no plan: the
 * optimizer is the last that sees a command before it runs.
 */
public final class ForeignTables extends Rule {
    private static final String SESSION_CATALOG = "spark_catalog";

    /** Add the rule to a session. */
    public static void refuse(SparkSession session) {
        Seq rules = session.experimental().extraOptimizations();
        session.experimental().extraOptimizations_$eq((Seq) rules.appended(new ForeignTables()));
    }

    public TreeNode apply(TreeNode plan) {
        if (plan instanceof CreateDataSourceTableAsSelectCommand) {
            throw refused(((CreateDataSourceTableAsSelectCommand) plan).table().identifier().table());
        }
        TreeNode name = plan instanceof CreateTableAsSelect ? ((CreateTableAsSelect) plan).name()
            : plan instanceof ReplaceTableAsSelect ? ((ReplaceTableAsSelect) plan).name() : null;
        if (name instanceof ResolvedIdentifier
            && ((ResolvedIdentifier) name).catalog().name().equals(SESSION_CATALOG)) {
            throw refused(((ResolvedIdentifier) name).identifier().name());
        }
        return plan;
    }

    private static IllegalArgumentException refused(String table) {
        return new IllegalArgumentException("Spark would keep the table '" + table
            + "' outside of the lake. Write a DataFrame of the lake with session.write(df, '" + table
            + "'), or to files with df.write.parquet.");
    }
}
