import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import weka.classifiers.trees.J48;
import weka.core.Instances;

/** J48 as a contender: worker.py says what it is told and what it answers. */
public final class Weka {
    private static final int WARM_UP = 200;
    private static final double A_WHILE = 0.3; // seconds

    private Weka() {}

    public static void main(String[] words) throws Exception {
        Map<String, String> settings = new HashMap<>();
        for (int place = 1; place < words.length; place++) {
            String[] pair = words[place].split("=");
            settings.put(pair[0], pair[1]);
        }
        Instances rows = load(words[0], "training");
        Instances held = load(words[0], "held");
        fit(new Instances(rows, 0, Math.min(WARM_UP, rows.numInstances())), settings);
        System.gc();
        long before = used(false);
        System.out.println("ready {}");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        double accuracy = Double.NaN;
        while (orders.readLine() != null) {
            ManagementFactory.getMemoryPoolMXBeans().forEach(MemoryPoolMXBean::resetPeakUsage);
            List<Double> seconds = new ArrayList<>();
            double total = 0;
            J48 tree = null;
            while (total < A_WHILE) {
                long started = System.nanoTime();
                tree = fit(rows, settings);
                seconds.add((System.nanoTime() - started) / 1e9);
                total += seconds.get(seconds.size() - 1);
            }
            Collections.sort(seconds);
            long memory = Math.max(0, used(true) - before);
            if (Double.isNaN(accuracy)) {
                accuracy = accuracy(tree, held);
            }
            System.out.println(String.format(Locale.ROOT,
                "answer {\"seconds\": %.6f, \"memory\": %d, \"nodes\": %.0f, \"accuracy\": %.6f}",
                seconds.get(seconds.size() / 2), memory, tree.measureTreeSize(), accuracy));
        }
    }

    private static Instances load(String directory, String name) throws IOException {
        try (FileReader file = new FileReader(directory + "/" + name + ".arff")) {
            Instances rows = new Instances(file);
            rows.setClassIndex(rows.numAttributes() - 1);
            return rows;
        }
    }

    private static J48 fit(Instances rows, Map<String, String> settings) throws Exception {
        J48 tree = new J48();
        tree.setMinNumObj(Integer.parseInt(settings.get("min_leaf")));
        tree.setUnpruned(!Boolean.parseBoolean(settings.get("pruned")));
        tree.buildClassifier(rows);
        return tree;
    }

    private static double accuracy(J48 tree, Instances held) throws Exception {
        int right = 0;
        for (int row = 0; row < held.numInstances(); row++) {
            double found = tree.classifyInstance(held.instance(row));
            right += found == held.instance(row).classValue() ? 1 : 0;
        }
        return right / (double) held.numInstances();
    }

    /** Bytes of the heap with what is not collected yet: the resident set holds free room too. */
    private static long used(boolean atPeak) {
        long bytes = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getType() == MemoryType.HEAP) {
                bytes += (atPeak ? pool.getPeakUsage() : pool.getUsage()).getUsed();
            }
        }
        return bytes;
    }
}
