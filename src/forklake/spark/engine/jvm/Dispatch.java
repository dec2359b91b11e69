package forklake;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Seq$;
import scala.runtime.AbstractFunction1;

/**
 * A function whose meaning depends on the types of its arguments.
 *
 * Spark asks for the expression of a call once it knows its arguments. The first choice whose
 * patterns match their types gives a template in Spark SQL, in which _0, _1... stand for the
 * arguments and {0}, {1}... for their types. What comes out is an ordinary expression.
 */
public final class Dispatch extends AbstractFunction1 implements Serializable {
    private static final Map PARSED = new ConcurrentHashMap(); // text -> expression
    private static final String OWN = "_duck_"; // how functions of this kind are called
    private static final String JAVA = "java_"; // how methods of ours are called in templates
    private static final Class[] METHODS = {
        Numbers.class, Texts.class, Lists.class, Regexes.class, Times.class
    };
    private static final Seq NONE = (Seq) Seq$.MODULE$.empty();
    private static final Map TYPES = new HashMap(); // name of a class -> DataType

    static {
        TYPES.put("boolean", DataTypes.BooleanType);
        TYPES.put("int", DataTypes.IntegerType);
        TYPES.put("long", DataTypes.LongType);
        TYPES.put("Long", DataTypes.LongType);
        TYPES.put("double", DataTypes.DoubleType);
        TYPES.put("Decimal", DataTypes.createDecimalType(38, 0));
        TYPES.put("byte[]", DataTypes.BinaryType);
        TYPES.put("UTF8String", DataTypes.StringType);
        TYPES.put("UnsafeArrayData", DataTypes.createArrayType(DataTypes.LongType, false));
        TYPES.put("ArrayData", DataTypes.createArrayType(DataTypes.StringType));
    }

    private final String name;
    private final List patterns = new ArrayList(); // a Pattern over the types of all arguments
    private final List templates = new ArrayList();
    private final transient FunctionRegistry registry;
    private final transient ParserInterface parser;

    private Dispatch(List choices, SparkSession session) {
        this.name = (String) choices.get(0);
        this.registry = session.sessionState().functionRegistry();
        this.parser = session.sessionState().sqlParser();
        for (int i = 1; i < choices.size(); i++) {
            List choice = (List) choices.get(i);
            patterns.add(Pattern.compile((String) choice.get(0)));
            templates.add(choice.get(1));
        }
    }

    /** Make functions known: a JSON object, name -> [shown name, [pattern, template]...]. */
    public static void register(SparkSession session, String text) throws IOException {
        FunctionRegistry registry = session.sessionState().functionRegistry();
        Map functions = (Map) new ObjectMapper().readValue(text, Map.class);
        Iterator entries = functions.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            String name = (String) entry.getKey();
            Dispatch function = new Dispatch((List) entry.getValue(), session);
            registry.createOrReplaceTempFunction(name, function, "scala_udf");
        }
    }

    public Object apply(Object arguments) {
        Seq given = (Seq) arguments;
        String types = types(given);
        for (int i = 0; i < patterns.size(); i++) {
            if (((Pattern) patterns.get(i)).matcher(types).matches()) {
                return expression((String) templates.get(i), given);
            }
        }
        if (types.startsWith("void;") || types.contains(";void;")) {
            return Literal.create(null, DataTypes.NullType); // what is unknown makes it unknown
        }
        String shown = types.isEmpty() ? "" : types.substring(0, types.length() - 1);
        throw new IllegalArgumentException(
            "The function " + name + " does not take (" + shown.replace(";", ", ") + ").");
    }

    /** The types of the arguments as one text, each with a semicolon after it. */
    private static String types(Seq given) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < given.size(); i++) {
            text.append(((Expression) given.apply(i)).dataType().catalogString()).append(';');
        }
        return text.toString();
    }

    private Expression expression(String template, Seq given) {
        String text = template;
        for (int i = 0; i < given.size(); i++) {
            text = text.replace("{" + i + "}", ((Expression) given.apply(i)).dataType().sql());
        }
        Expression parsed = (Expression) PARSED.get(text);
        if (parsed == null) {
            parsed = parsed(text);
            PARSED.put(text, parsed);
        }
        return (Expression) new Filled(given).apply(parsed);
    }

    private Expression parsed(String text) {
        try {
            return parser.parseExpression(text);
        } catch (Exception e) {
            throw new IllegalStateException("This is no SQL: " + text, e);
        }
    }

    /** A call of a static method of ours, NULL if an argument is. */
    private static Expression invoked(String method, Seq arguments) {
        for (int i = 0; i < METHODS.length; i++) {
            Method[] methods = METHODS[i].getMethods();
            for (int j = 0; j < methods.length; j++) {
                if (methods[j].getName().equals(method)) {
                    DataType type = type(methods[j].getReturnType());
                    return new StaticInvoke(
                        METHODS[i], type, method, arguments, NONE, true, true, true, Option.empty());
                }
            }
        }
        throw new IllegalStateException("There is no method " + method);
    }

    private static DataType type(Class java) {
        DataType type = (DataType) TYPES.get(java.getSimpleName());
        if (type == null) {
            throw new IllegalStateException("No type of Spark's is known for " + java);
        }
        return type;
    }

    /**
     * Puts the arguments in the places that a template leaves for them.
     *
     * Functions are looked up at once: DISTINCT, FILTER and OVER want to see an aggregate.
     */
    private final class Filled extends AbstractFunction1 {
        private final Seq given;

        Filled(Seq given) {
            this.given = given;
        }

        public Object apply(Object node) {
            int place = place(node);
            if (place >= 0 && place < given.size()) {
                return given.apply(place);
            }
            Expression filled = (Expression) ((Expression) node).mapChildren(this);
            return filled instanceof UnresolvedFunction ? found((UnresolvedFunction) filled) : filled;
        }

        private Expression found(UnresolvedFunction call) {
            String name = (String) call.nameParts().head();
            if (name.startsWith(JAVA)) {
                return invoked(name.substring(JAVA.length()), call.arguments());
            }
            String place = name.startsWith(OWN) ? "session" : "builtin";
            FunctionIdentifier called =
                new FunctionIdentifier(name, Option.apply(place), Option.apply("system"));
            try {
                return (Expression) registry.lookupFunction(called, call.arguments());
            } catch (Exception e) {
                Platform.throwException(e); // Spark's own, which tells what is wrong
                return null;
            }
        }

        private int place(Object node) {
            Seq parts = null;
            if (node instanceof UnresolvedAttribute) {
                parts = ((UnresolvedAttribute) node).nameParts();
            } else if (node instanceof UnresolvedNamedLambdaVariable) {
                parts = ((UnresolvedNamedLambdaVariable) node).nameParts();
            }
            if (parts == null || parts.size() != 1) {
                return -1;
            }
            String name = (String) parts.head();
            return name.matches("_\\d") ? name.charAt(1) - '0' : -1;
        }
    }
}
