import com.dynatrace.hash4j.similarity.ElementHashProvider;
import com.dynatrace.hash4j.similarity.FastSimHashVersion;
import com.dynatrace.hash4j.similarity.SimHashVersion;
import com.dynatrace.hash4j.similarity.SimilarityHashPolicy;
import com.dynatrace.hash4j.similarity.SimilarityHasher;
import com.dynatrace.hash4j.similarity.SimilarityHashing;
import java.util.Arrays;
import java.util.SplittableRandom;

/** What main.go measures, by hash4j: prints "method bits n nanoseconds-per-element". */
public class Hash4j {
  static volatile byte sink;

  public static void main(String[] args) {
    for (String method : new String[] {"simhash", "fastsimhash"}) {
      for (int bits : new int[] {64, 256, 1024, 4096}) {
        for (int n : new int[] {10, 100, 1000, 10000, 100000}) {
          SimilarityHashPolicy policy =
              method.equals("simhash")
                  ? SimilarityHashing.simHash(bits, SimHashVersion.V1)
                  : SimilarityHashing.fastSimHash(bits, FastSimHashVersion.V1);
          System.out.printf("%s %d %d %.3f%n", method, bits, n, measure(policy.createHasher(), n));
        }
      }
    }
  }

  static double measure(SimilarityHasher hasher, int n) {
    SplittableRandom random = new SplittableRandom(1);
    ElementHashProvider set = ElementHashProvider.ofFunction(i -> random.nextLong(), n);
    int repeats = 0;
    for (long end = System.nanoTime() + 200_000_000L; System.nanoTime() < end || repeats == 0; repeats++) {
      sink ^= hasher.compute(set)[0]; // also warms up the compiler
    }
    int per = Math.max(1, repeats / 200); // a millisecond, so that some are not interrupted
    double[] took = new double[100];
    for (int round = 0; round < took.length; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < per; i++) {
        sink ^= hasher.compute(set)[0];
      }
      took[round] = (System.nanoTime() - start) / (double) per / n;
    }
    Arrays.sort(took);
    return took[took.length / 2];
  }
}
