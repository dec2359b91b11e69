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
 * Rule that refuses tables which DataFrames of a lake would create in the catalog of Spark.
 *
 * Sessions of the lake are separate, so DataFrames of other sessions are not refused. The rule
 * changes no plan: it is an optimizer rule because the optimizer is the last to see a command
 * before it runs.
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
        return new IllegalArgumentException("Spark would create the table '" + table
            + "' outside of the lake. Write a DataFrame of the lake with session.write(df, '" + table
            + "'), or to files with df.write.parquet.");
    }
}
