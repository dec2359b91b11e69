package forklake;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys$;
import org.apache.spark.sql.catalyst.planning.ExtractSingleColumnNullAwareAntiJoin$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.Some;
import scala.Tuple8;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Seq$;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/**
 * Rule that makes joins end when their statement is stopped, and hold few rows.
 *
 * The code that Spark generates for a chain of joins does not check for interruption, and collects
 * all rows that come from one row of the first table, whatever their number. Joins get a condition
 * that is always true and checks. In a chain whose rows are not aggregated, it is one that Spark
 * cannot compile: the joins below the last one then stay out of the generated code, and return
 * their rows one by one. A single join on keys alone stays as it is.
 */
public final class InterruptibleJoins extends Rule {
    private static final Seq NONE = (Seq) Seq$.MODULE$.empty();
    private static final Expression CHECK = new StaticInvoke(
        Interruption.class, DataTypes.BooleanType, "goesOn",
        (Seq) NONE.appended(new Literal(Integer.valueOf(0), DataTypes.IntegerType)), NONE, true,
        false, true, Option.empty());
    private static final Expression BARRIER = new ApplyFunctionExpression(new Barrier(), NONE);
    private static final int MOST_AGGREGATES = 20; // more of them may not be compiled

    /** Add the rule to a session. */
    public static void install(SparkSession session) {
        Seq rules = session.experimental().extraOptimizations();
        session.experimental().extraOptimizations_$eq(
            (Seq) rules.appended(new InterruptibleJoins()));
    }

    public TreeNode apply(TreeNode plan) {
        return rewritten((LogicalPlan) plan, null, false);
    }

    /**
     * Return a plan with the conditions. The rows of `plan` are input of a join or a generator if
     * `nested`, the condition for it, is not null; they are aggregated if `isAggregated`.
     */
    private static LogicalPlan rewritten(
        LogicalPlan plan, Expression nested, boolean isAggregated) {
        boolean isPassing = plan instanceof Project || plan instanceof Filter && !isChecked(plan);
        Expression below = null;
        if (plan instanceof Join || plan instanceof Generate) {
            below = isAggregated ? CHECK : BARRIER;
        } else if (isPassing) {
            below = nested;
        }
        boolean isAggregatedBelow = plan instanceof Aggregate ? isCompiled((Aggregate) plan)
            : isAggregated && (below != null || isPassing);
        List children = new ArrayList();
        boolean isSame = true;
        for (int i = 0; i < plan.children().size(); i++) {
            LogicalPlan child = (LogicalPlan) plan.children().apply(i);
            LogicalPlan found = rewritten(child, below, isAggregatedBelow);
            isSame &= found == child;
            children.add(found);
        }
        LogicalPlan result = isSame ? plan
            : (LogicalPlan) plan.withNewChildren(CollectionConverters.asScala(children).toSeq());
        if (result instanceof Join) {
            return checked((Join) result, nested);
        }
        return nested != null && result instanceof Generate ? new Filter(nested, result) : result;
    }

    private static Join checked(Join join, Expression nested) {
        if (nested == null && hasOnlyKeys(join) || isChecked(join)
            || ExtractSingleColumnNullAwareAntiJoin$.MODULE$.unapply(join).isDefined()) {
            return join;
        }
        Expression check = nested == null ? CHECK : nested;
        Expression condition = join.condition().isEmpty() ? check
            : new And(check, (Expression) join.condition().get());
        return join.copy(
            join.left(), join.right(), join.joinType(), new Some(condition), join.hint());
    }

    /** Return whether the aggregates belong to the generated code of their input. */
    private static boolean isCompiled(Aggregate plan) {
        return plan.aggregateExpressions().size() <= MOST_AGGREGATES
            && !plan.aggregateExpressions().exists(new HasObjects());
    }

    /** Return whether all rows with equal keys belong to the result. */
    private static boolean hasOnlyKeys(Join join) {
        Option keys = ExtractEquiJoinKeys$.MODULE$.unapply(join);
        return keys.isDefined() && ((Option) ((Tuple8) keys.get())._4()).isEmpty();
    }

    private static boolean isChecked(LogicalPlan plan) {
        Object condition = plan instanceof Filter ? ((Filter) plan).condition()
            : ((Join) plan).condition().getOrElse(new Nothing());
        Object first = condition instanceof And ? ((And) condition).left() : condition;
        return CHECK.equals(first) || BARRIER.equals(first);
    }

    private static final class Nothing extends AbstractFunction0 {
        public Object apply() {
            return null;
        }
    }

    /** Whether an expression holds an aggregate whose state is an object, outside of such code. */
    private static final class HasObjects extends AbstractFunction1 {
        public Object apply(Object found) {
            return Boolean.valueOf(found instanceof TypedImperativeAggregate
                || ((TreeNode) found).children().exists(this));
        }
    }

    /** The condition that is not compiled. */
    private static final class Barrier implements ScalarFunction, Serializable {
        public DataType[] inputTypes() {
            return new DataType[0];
        }

        public DataType resultType() {
            return DataTypes.BooleanType;
        }

        public boolean isResultNullable() {
            return false;
        }

        public String name() {
            return "is_not_stopped";
        }

        public Object produceResult(InternalRow row) {
            return Boolean.valueOf(Interruption.goesOn(0));
        }

        public boolean equals(Object other) {
            return other instanceof Barrier;
        }

        public int hashCode() {
            return 1;
        }
    }
}
