import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.minhash.MinHashFilter;
import org.apache.lucene.analysis.shingle.ShingleFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.FSDirectory;

/**
 * Documents added to an index of Lucene with its MinHash filter, which is that of Elasticsearch,
 * OpenSearch and Solr, and then searched in it by all processors.
 *
 * <p>Living CORPUS.jsonl TRUTH.csv THRESHOLD FOLDER
 *
 * <p>A document becomes words, shingles of five of them, and one hash for each of 128 buckets, with
 * rotation. A query is, as Solr's parser min_hash makes it, a disjunction of bands, each the
 * conjunction of its hashes; there are as few bands as find a document at the threshold with
 * probability 0.99. Prints a line as living.py does.
 */
public final class Living {
  private static final int BUCKETS = 128;
  private static final double RECALL = 0.99;

  private record Article(String id, String text) {}

  private static final class Hashes extends Analyzer {
    @Override
    protected TokenStreamComponents createComponents(String field) {
      var words = new StandardTokenizer();
      var shingles = new ShingleFilter(new LowerCaseFilter(words), 5, 5);
      shingles.setOutputUnigrams(false);
      return new TokenStreamComponents(words, new MinHashFilter(shingles, 1, BUCKETS, 1, true));
    }
  }

  public static void main(String[] args) throws Exception {
    double threshold = Double.parseDouble(args[2]);
    List<Article> articles = new ArrayList<>();
    var json = new ObjectMapper();
    try (BufferedReader lines = Files.newBufferedReader(Path.of(args[0]))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode record = json.readTree(line);
        articles.add(new Article(record.get("id").asText(), record.get("text").asText()));
      }
    }
    var analyzer = new Hashes();
    var watch = new Watch();
    try (var folder = FSDirectory.open(Path.of(args[3]))) {
      try (var writer = new IndexWriter(folder, new IndexWriterConfig(analyzer))) {
        each(articles.size(), i -> add(writer, articles.get(i)));
        writer.commit();
      }
      String added = watch.lap();
      Set<String> found = new HashSet<>();
      try (var reader = DirectoryReader.open(folder)) {
        var searcher = new IndexSearcher(reader);
        int rows = rows(threshold);
        each(articles.size(), i -> search(searcher, analyzer, rows, articles.get(i), found));
      }
      String searched = watch.lap();
      int wanted = 0;
      int hit = 0;
      List<String> planted = Files.readAllLines(Path.of(args[1]));
      for (String line : planted.subList(1, planted.size())) {
        String[] row = line.split(",");
        if (Double.parseDouble(row[2]) < threshold) {
          continue;
        }
        wanted++;
        if (found.contains(row[0] + "," + row[1]) || found.contains(row[1] + "," + row[0])) {
          hit++;
        }
      }
      System.out.printf(
          "lucene: %d documents; signatures and add %s, search %s; %d MiB; %d answers, %d of %d planted pairs (%.4f)%n",
          articles.size(), added, searched, peak(), found.size(), hit, wanted, (double) hit / wanted);
    }
  }

  /** Returns how many hashes a band has, as many as leave enough bands. */
  private static int rows(double threshold) {
    for (int bands = 1; bands <= BUCKETS; bands++) {
      int rows = BUCKETS / bands;
      if (1 - Math.pow(1 - Math.pow(threshold, rows), bands) > RECALL) {
        return rows;
      }
    }
    return 1;
  }

  private static void add(IndexWriter writer, Article article) throws IOException {
    var hashes = new FieldType();
    hashes.setTokenized(true);
    hashes.setOmitNorms(true);
    hashes.setIndexOptions(IndexOptions.DOCS);
    hashes.freeze();
    var document = new Document();
    document.add(new StoredField("id", article.id()));
    document.add(new Field("text", article.text(), hashes));
    writer.addDocument(document);
  }

  private static void search(IndexSearcher searcher, Analyzer analyzer, int rows, Article article, Set<String> found)
      throws IOException {
    List<Query> terms = new ArrayList<>();
    try (TokenStream tokens = analyzer.tokenStream("text", article.text())) {
      var term = tokens.addAttribute(CharTermAttribute.class);
      tokens.reset();
      while (tokens.incrementToken()) {
        terms.add(new TermQuery(new Term("text", term.toString())));
      }
      tokens.end();
    }
    var bands = new BooleanQuery.Builder();
    for (int from = 0; from + rows <= terms.size(); from += rows) {
      var band = new BooleanQuery.Builder();
      terms.subList(from, from + rows).forEach(t -> band.add(t, Occur.MUST));
      bands.add(band.build(), Occur.SHOULD);
    }
    StoredFields stored = searcher.storedFields();
    for (var hit : searcher.search(new ConstantScoreQuery(bands.build()), 100).scoreDocs) {
      String id = stored.document(hit.doc).get("id");
      if (!id.equals(article.id())) {
        synchronized (found) {
          found.add(article.id() + "," + id);
        }
      }
    }
  }

  private interface Step {
    void take(int i) throws IOException;
  }

  /** Calls step for the numbers below n, by as many threads as there are processors. */
  private static void each(int n, Step step) throws InterruptedException {
    var next = new AtomicInteger();
    var failed = new ArrayList<IOException>();
    var threads = Stream.generate(() -> new Thread(() -> {
      for (int i = next.getAndIncrement(); i < n; i = next.getAndIncrement()) {
        try {
          step.take(i);
        } catch (IOException e) {
          synchronized (failed) {
            failed.add(e);
          }
          return;
        }
      }
    })).limit(Runtime.getRuntime().availableProcessors()).toList();
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failed.isEmpty()) {
      throw new IllegalStateException(failed.get(0));
    }
  }

  /** Returns the most resident memory that the process has had, in MiB. */
  private static long peak() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
      }
    }
    return 0;
  }

  private static final class Watch {
    private long clock = System.nanoTime();
    private long used = processor();

    private static long processor() {
      return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    String lap() {
      long now = System.nanoTime();
      long all = processor();
      String took = String.format("%.2f s (%.2f)", (now - clock) / 1e9, (all - used) / 1e9);
      clock = now;
      used = all;
      return took;
    }
  }
}
