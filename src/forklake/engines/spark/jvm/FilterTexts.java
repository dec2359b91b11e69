package forklake;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction0;

/** Filters as SQL texts, with timestamps in UTC regardless of the time zone of the session. */
final class FilterTexts extends AbstractFunction0 {
    private final Seq filters;

    private FilterTexts(Seq filters) {
        this.filters = filters;
    }

    static List of(Seq filters) {
        SQLConf conf = SQLConf.get().clone();
        conf.setConfString("spark.sql.session.timeZone", "UTC");
        return (List) SQLConf$.MODULE$.withExistingConf(conf, new FilterTexts(filters));
    }

    public Object apply() {
        List texts = new ArrayList();
        for (int i = 0; i < filters.length(); i++) {
            try {
                texts.add(((Expression) filters.apply(i)).sql());
            } catch (RuntimeException e) {
                continue; // a filter without SQL text does not prune
            }
        }
        return texts;
    }
}
