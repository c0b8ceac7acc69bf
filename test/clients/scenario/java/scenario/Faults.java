package scenario;

import static scenario.Main.clientAt;
import static scenario.Main.variable;

import dev.parley.client.ConnectionException;
import dev.parley.client.RequestTimeoutException;
import dev.parley.client.router.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import scenario.Main.Step;

final class Faults {
    static final List<Step> STEPS = List.of(
        new Step("retry", Faults::retry), new Step("cut_stream", () -> cut("reset")),
        new Step("short_stream", () -> cut("short")), new Step("cancel", Faults::cancel),
        new Step("timeout", Faults::late));
    private static final Duration TIMEOUT = Duration.ofMillis(300);

    private Faults() {
    }

    private static Router at(String fault) {
        return new Router(clientAt(variable("PARLEY_FAULTS_URL") + "/" + fault));
    }

    private static Map<String, Object> retry() {
        return Map.of("text", Texts.textOf(at("busy").createResponse(Texts.question()).execute()));
    }

    private static Map<String, Object> cut(String fault) {
        try (var events = at(fault).createResponseStream(Texts.question()).execute()) {
            events.forEach(event -> { });
            throw new IllegalStateException("the stream was complete");
        } catch (ConnectionException failure) {
            return Map.of("error", "truncated");
        }
    }

    private static Map<String, Object> cancel() throws Exception {
        var answer = at("silent").createResponse(Texts.question()).executeAsync();
        var arrived = HttpRequest.newBuilder(URI.create(variable("PARLEY_FAULTS_URL") + "/sent/silent")).build();
        HttpClient.newHttpClient().send(arrived, BodyHandlers.discarding());
        answer.cancel(true);
        try {
            throw new IllegalStateException("there was an answer: " + answer.get());
        } catch (CancellationException cancelled) {
            return Map.of("error", "cancelled");
        }
    }

    private static Map<String, Object> late() {
        try {
            at("silent").createResponse(Texts.question()).timeout(TIMEOUT).execute();
            throw new IllegalStateException("there was an answer");
        } catch (RequestTimeoutException late) {
            return Map.of("error", "timeout");
        }
    }
}
