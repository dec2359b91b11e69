package forklake;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
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
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Seq$;
import scala.runtime.AbstractFunction1;

/**
 * Function that depends on the types of its arguments.
 *
 * Spark requests the expression of a call once it has resolved the arguments. The first choice
 * whose patterns match their types has a template in Spark SQL, in which _0, _1... stand for the
 * arguments, {0}, {1}... for their types, {json 0}... for their types as texts in JSON, and
 * {element 0}... for the sort key of k0, an element of the argument. The result is an ordinary
 * expression.
 */
public final class Dispatch extends AbstractFunction1 implements Serializable {
    private static final Map PARSED = new ConcurrentHashMap(); // text -> expression
    private static final String OWN = "_duck_"; // prefix of the names of such functions
    private static final String STORED = "forklake.type";
    private static final String JAVA = "java_"; // prefix of the names of our methods in templates
    private static final Class[] METHODS = {
        Numbers.class, Texts.class, Lists.class, Regexes.class, Times.class, Likes.class,
        Interruption.class, Parsing.class, Moments.class, Orders.class, Maths.class, Bits.class,
        Characters.class, Calendars.class
    };
    private static final Seq NONE = (Seq) Seq$.MODULE$.empty();
    private static final Map TYPES = new HashMap(); // name of a class -> DataType
    private static final Map BY_NAME = new HashMap(); // name of a method -> Method
    private static final Map RETURNED = new HashMap(); // name of a method -> DataType

    static {
        for (int i = 0; i < METHODS.length; i++) {
            addMethods(METHODS[i]);
        }
        TYPES.put("boolean", DataTypes.BooleanType);
        TYPES.put("Boolean", DataTypes.BooleanType);
        TYPES.put("int", DataTypes.IntegerType);
        TYPES.put("Integer", DataTypes.IntegerType);
        TYPES.put("long", DataTypes.LongType);
        TYPES.put("Long", DataTypes.LongType);
        // Methods whose results are days or microseconds, regardless of the time zone of the
        // session.
        RETURNED.put("day", DataTypes.DateType);
        RETURNED.put("moment", DataTypes.TimestampNTZType);
        RETURNED.put("rounded", DataTypes.TimestampNTZType);
        RETURNED.put("instant", DataTypes.TimestampType);
        TYPES.put("double", DataTypes.DoubleType);
        TYPES.put("Double", DataTypes.DoubleType);
        TYPES.put("Float", DataTypes.FloatType);
        TYPES.put("Decimal", DataTypes.createDecimalType(38, 0));
        TYPES.put("byte[]", DataTypes.BinaryType);
        TYPES.put("UTF8String", DataTypes.StringType);
        TYPES.put("UnsafeArrayData", DataTypes.createArrayType(DataTypes.LongType, false));
        TYPES.put("ArrayData", DataTypes.createArrayType(DataTypes.StringType));
    }

    private final String name;
    private final List patterns = new ArrayList(); // a Pattern over the types of all arguments
    private final List loose = new ArrayList(); // the same, but each type may also be NULL
    private final List templates = new ArrayList();
    private final transient FunctionRegistry registry;
    private final transient ParserInterface parser;

    private Dispatch(List choices, SparkSession session) {
        this.name = (String) choices.get(0);
        this.registry = session.sessionState().functionRegistry();
        this.parser = session.sessionState().sqlParser();
        for (int i = 1; i < choices.size(); i++) {
            List choice = (List) choices.get(i);
            String pattern = (String) choice.get(0);
            patterns.add(Pattern.compile(pattern));
            loose.add(Pattern.compile(pattern.replace(");(?:", "|void);(?:").replaceFirst("\\);$", "|void);")));
            templates.add(choice.get(1));
        }
    }

    /** Register functions from a JSON object: name -> [shown name, [pattern, template]...]. */
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
        String types = types(given, false);
        String stored = types(given, true);
        boolean isKnown = !stored.equals(types);
        for (int i = 0; i < patterns.size(); i++) {
            Pattern pattern = (Pattern) patterns.get(i);
            boolean isStored = isKnown && pattern.matcher(stored).matches();
            if (isStored || pattern.matcher(types).matches()) {
                return expression((String) templates.get(i), given);
            }
        }
        if (types.startsWith("void;") || types.contains(";void;")) {
            return ofUnknown(given, types);
        }
        String shown = types.isEmpty() ? "" : types.substring(0, types.length() - 1);
        throw new IllegalArgumentException(
            "The function " + name + " does not take (" + shown.replace(";", ", ") + ").");
    }

    /** Return NULL, typed by the first choice that matches if NULL is taken for any type. */
    private Expression ofUnknown(Seq given, String types) {
        for (int i = 0; i < loose.size(); i++) {
            if (!types.replace("void;", "").isEmpty() && ((Pattern) loose.get(i)).matcher(types).matches()) {
                try {
                    DataType type = expression((String) templates.get(i), given).dataType();
                    return Literal.create(null, type);
                } catch (Exception e) {
                    break; // NULL without a type
                }
            }
        }
        return Literal.create(null, DataTypes.NullType); // an untyped NULL makes the result untyped
    }

    /**
     * Return the types of the arguments as one text, each followed by a semicolon.
     *
     * The metadata of a column of a lake may have its stored type, where Spark has another one.
     */
    private static String types(Seq given, boolean areStored) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < given.size(); i++) {
            Expression argument = (Expression) given.apply(i);
            String type = argument.dataType().catalogString();
            if (areStored && argument instanceof NamedExpression) {
                Metadata known = ((NamedExpression) argument).metadata();
                type = known.contains(STORED) ? known.getString(STORED) : type;
            }
            text.append(type).append(';');
        }
        return text.toString();
    }

    private Expression expression(String template, Seq given) {
        String text = template;
        for (int i = 0; i < given.size(); i++) {
            DataType type = ((Expression) given.apply(i)).dataType();
            text = text.replace("{" + i + "}", type.sql());
            if (text.indexOf("{json " + i + "}") >= 0) {
                text = text.replace("{json " + i + "}", quoted(type.json()));
            }
            if (type instanceof ArrayType && text.indexOf("{element " + i + "}") >= 0) {
                String key = Orders.element(((ArrayType) type).elementType());
                text = text.replace("{element " + i + "}", key);
            }
        }
        Expression parsed = (Expression) PARSED.get(text);
        if (parsed == null) {
            parsed = parsed(text);
            PARSED.put(text, parsed);
        }
        return (Expression) new Filled(given).apply(parsed);
    }

    /** Return a text as SQL literal. */
    static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    private Expression parsed(String text) {
        try {
            return parser.parseExpression(text);
        } catch (Exception e) {
            throw new IllegalStateException("The template is not valid SQL: " + text, e);
        }
    }

    /** Return a call of one of our static methods; its result is NULL if an argument is NULL. */
    private static Expression invoked(String name, Seq arguments) {
        Method method = (Method) BY_NAME.get(name);
        if (method == null) {
            throw new IllegalStateException("Unknown method " + name);
        }
        String plain =
            name.startsWith("try") ? name.substring(3, 4).toLowerCase() + name.substring(4) : name;
        DataType type = (DataType) RETURNED.get(plain);
        type = type == null ? type(method.getReturnType(), arguments) : type;
        return new StaticInvoke(method.getDeclaringClass(), type, name, arguments, NONE, true, true,
            true, Option.empty());
    }

    private static void addMethods(Class declaring) {
        Method[] methods = declaring.getDeclaredMethods();
        for (int i = 0; i < methods.length; i++) {
            String name = methods[i].getName();
            if (Modifier.isPublic(methods[i].getModifiers())
                && BY_NAME.put(name, methods[i]) != null) {
                throw new IllegalStateException("Two methods have the name " + name);
            }
        }
    }

    /**
     * Return the Spark type of a result; a decimal has the type of the first argument if that is a
     * decimal.
     */
    private static DataType type(Class java, Seq arguments) {
        if (java == Decimal.class && !arguments.isEmpty()) {
            DataType first = ((Expression) arguments.head()).dataType();
            if (first instanceof DecimalType) {
                return first;
            }
        }
        DataType type = (DataType) TYPES.get(java.getSimpleName());
        if (type == null) {
            throw new IllegalStateException("The Java type " + java + " has no Spark type.");
        }
        return type;
    }

    /**
     * Substitute the arguments for their placeholders in a template.
     *
     * Functions are resolved at once, because DISTINCT, FILTER and OVER require an aggregate.
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
                Platform.throwException(e); // the exception of Spark, which describes the problem
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
