package scenario;

import static scenario.Main.variable;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.parley.client.ApiException;
import dev.parley.client.ConnectionException;
import dev.parley.client.ParleyClient;
import dev.parley.client.ProtocolException;
import dev.parley.client.RequestTimeoutException;
import dev.parley.client.WebhookException;
import dev.parley.client.WebhookVerifier;
import dev.parley.client.compat.Compat;
import dev.parley.client.compat.Schemas.Intent;
import dev.parley.client.compat.Schemas.TranscribeParams;
import dev.parley.client.platform.Platform;
import dev.parley.client.platform.Schemas.StatusEvent;
import dev.parley.client.router.Router;
import dev.parley.client.router.Schemas.SpeechRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import scenario.Main.Step;

/** The rules for requests: retries, redirects, headers, time limits, errors, and the check of webhooks. */
final class Rules {
    static final List<Step> STEPS = List.of(
        new Step("rule_retries", Rules::retries), new Step("rule_redirects", Rules::redirects),
        new Step("rule_headers", Rules::headers), new Step("rule_errors", Rules::errors),
        new Step("rule_timeouts", Rules::timeouts), new Step("rule_webhooks", Rules::webhooks));
    private static final List<String> REFUSALS = List.of(
        "limited", "progress", "broken", "upstream", "overloaded", "late", "final", "begun");
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final Duration TOLERANCE = Duration.ofMinutes(5);

    private Rules() {
    }

    private interface Work {
        void run(String name) throws Exception;
    }

    /** The key comes from PARLEY_API_KEY. */
    private static ParleyClient.Builder at(String answer) {
        return ParleyClient.builder(variable("PARLEY_RULES_URL") + "/" + answer);
    }

    private static Router router(String answer) {
        return new Router(at(answer).build());
    }

    private static Router hurried(String answer) {
        return new Router(at(answer).timeout(TIMEOUT).build());
    }

    private static void post(String name) {
        router(name).createResponse(Texts.question()).execute();
    }

    private static void get(String name) {
        router(name).listModels().execute();
    }

    private static Map<String, Object> retries() throws Exception {
        var withKey = errorOf("limited", name ->
            router(name).createResponse(Texts.question()).header("idempotency-KEY", "mine").execute());
        return Map.of("posts", errorsOf(REFUSALS, Rules::post), "reads", errorsOf(REFUSALS, Rules::get), "with_key", withKey);
    }

    private static Map<String, Object> redirects() throws Exception {
        return errorsOf(List.of("moved", "other", "temporary"), Rules::post);
    }

    private static Map<String, Object> headers() {
        var client = ParleyClient.builder(variable("PARLEY_RULES_URL") + "/headers//").headerPrefix("Voice").build();
        var params = new TranscribeParams().serviceIntent(new Intent().language("dé🎵"));
        var call = new Compat(client).transcribe(BodyPublishers.ofByteArray(new byte[2]), params);
        return Map.of("text", call.header("content-type", "audio/l16; rate=8000").execute().text());
    }

    private static Map<String, Object> errors() throws Exception {
        var unused = ParleyClient.builder("http://127.0.0.1:2").retriesMax(1).build();
        Map<String, Object> errors = errorsOf(List.of("reset", "cut"), Rules::post);
        errors.putAll(errorsOf(List.of("page", "gateway", "text", "longest", "longer"), Rules::get));
        errors.put("refused", errorOf("refused", name -> new Router(unused).listModels().execute()));
        return errors;
    }

    private static Map<String, Object> timeouts() throws Exception {
        Map<String, Object> errors = errorsOf(List.of("silent", "slow"), name -> hurried(name).listModels().execute());
        errors.putAll(errorsOf(List.of("audio", "stalled"), Rules::listen));
        errors.put("paused", errorOf("paused", Rules::readStream));
        return errors;
    }

    private static void listen(String name) throws Exception {
        try (var audio = hurried(name).createSpeech(new SpeechRequest().input("Hi.")).execute()) {
            audio.readAllBytes();
        }
    }

    private static void readStream(String name) {
        try (var events = hurried(name).createResponseStream(Texts.question()).execute()) {
            events.forEach(event -> { });
        }
    }

    private static Map<String, Object> errorsOf(List<String> names, Work work) throws Exception {
        Map<String, Object> errors = new LinkedHashMap<>();
        for (var name : names) errors.put(name, errorOf(name, work));
        return errors;
    }

    private static Object errorOf(String name, Work work) throws Exception {
        try {
            work.run(name);
            return null;
        } catch (ApiException failure) {
            return failure.status();
        } catch (RequestTimeoutException late) {
            return "timeout";
        } catch (ProtocolException broken) {
            return "protocol";
        } catch (ConnectionException lost) {
            return lost.isNeverMade() ? "unsent" : "lost";
        }
    }

    private static Map<String, Object> webhooks() throws Exception {
        Map<String, Object> results = new LinkedHashMap<>();
        for (var sent : new ObjectMapper().readTree(Path.of(variable("PARLEY_WEBHOOK_CASES")).toFile()))
            results.put(sent.path("name").asText(), resultOf(sent));
        return results;
    }

    private static String resultOf(JsonNode sent) {
        var secrets = StreamSupport.stream(sent.path("secrets").spliterator(), false).map(JsonNode::asText).toList();
        var clock = Clock.fixed(Instant.ofEpochSecond(sent.path("now").asLong()), ZoneOffset.UTC);
        byte[] body = sent.path("body").asText().getBytes(StandardCharsets.UTF_8);
        try {
            var verifier = new WebhookVerifier(secrets, TOLERANCE, clock);
            var event = Platform.verifyWebhook(verifier, name -> sent.path("headers").path(name).asText(null), body);
            return event instanceof StatusEvent status ? status.type() : event.getClass().getSimpleName();
        } catch (WebhookException refused) {
            return refused.reason();
        } catch (IllegalArgumentException misuse) {
            return "misuse";
        }
    }
}
