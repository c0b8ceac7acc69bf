package scenario;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.parley.client.ParleyClient;
import dev.parley.client.compat.Compat;
import dev.parley.client.platform.Platform;
import dev.parley.client.realtime.Realtime;
import dev.parley.client.router.Router;
import dev.parley.client.router.Schemas.ExplicitRouting;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the steps of the scenario with the client for Java, and prints a line for each step. */
final class Main {
    static final String TEXT = "Hello there.";
    static final ParleyClient CONNECTION = clientAt(variable("PARLEY_URL"));
    static final Router ROUTER = new Router(CONNECTION);
    static final Compat COMPAT = new Compat(CONNECTION);
    static final Platform PLATFORM = new Platform(CONNECTION);
    static final Realtime REALTIME = new Realtime(CONNECTION);

    private Main() {
    }

    /** One step of the scenario. Its values are printed. */
    record Step(String name, Work work) {
    }

    interface Work {
        Map<String, Object> run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        var json = new ObjectMapper();
        var steps = Stream.of(
            Models.STEPS, Texts.STEPS, Sockets.STEPS, Sessions.STEPS, Webhooks.STEPS, Faults.STEPS, Streams.STEPS,
            SocketFaults.STEPS, Rules.STEPS);
        for (Step step : steps.flatMap(List::stream).toList()) {
            Map<String, Object> line = new LinkedHashMap<>(Map.of("step", step.name()));
            line.putAll(step.work().run());
            System.out.println(json.writeValueAsString(line));
        }
    }

    static ParleyClient clientAt(String url) {
        return ParleyClient.builder(url).apiKey(variable("PARLEY_API_KEY")).build();
    }

    /** The model answers with the request's text, and with a tone as long as the text. */
    static ExplicitRouting loopback() {
        return new ExplicitRouting().model("loopback/loopback");
    }

    static String variable(String name) {
        String value = System.getenv(name);
        if (value == null) throw new IllegalStateException(name + " is not set");
        return value;
    }

    /** Returns the text in small letters, without signs. */
    static String wordsOf(String transcript) {
        return transcript.toLowerCase(Locale.ROOT).replaceAll("[^a-z]+", " ").strip();
    }
}
