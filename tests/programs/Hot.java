/** A method that is hot enough to be compiled. */
public class Hot {
    static int hotMethod(int n) {
        int x = 0;
        for (int i = 0; i < n; i++) x = x * 31 + (x >> 3) + i;
        return x;
    }

    public static void main(String[] arguments) {
        long sum = 0;
        for (int i = 0; i < 1000; i++) sum += hotMethod(20000 + i);
        System.out.println(sum);
    }
}
