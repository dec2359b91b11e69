package forklake;

/**
 * Text, or its end, that a regular expression reads; reading stops when the statement is stopped.
 */
final class Watched implements CharSequence {
    private final String text;
    private final int from;
    private final Interruption interruption = new Interruption();

    Watched(String text, int from) {
        this.text = text;
        this.from = from;
    }

    public int length() {
        return text.length() - from;
    }

    public char charAt(int index) {
        interruption.step();
        return text.charAt(from + index);
    }

    public CharSequence subSequence(int start, int end) {
        return text.substring(from + start, from + end);
    }

    public String toString() {
        return text.substring(from);
    }
}
