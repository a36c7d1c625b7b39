/* A pool of threads, garbage, a caught fault. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Work {
    static long fill(int round) {
        long sum = 0;

        for (int i = 0; i < 5000; i++) {
            byte[] bytes = new byte[1024];

            bytes[i % 1024] = (byte) round;
            sum += bytes[i % 1024] + i;
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> results = new ArrayList<>();
        Object nothing = arguments.length > 5 ? pool : null;
        long total = 0;

        for (int i = 0; i < 8; i++) {
            int round = i;

            results.add(pool.submit(() -> fill(round)));
        }
        for (Future<Long> result : results)
            total += result.get();
        pool.shutdown();
        System.gc();
        Thread.sleep(20);
        try {
            nothing.hashCode();
        } catch (NullPointerException e) {
            System.out.println("nothing there");
        }
        System.out.println(total);
        System.exit(3);
    }
}
