package behaviour;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.parley.client.ApiException;
import dev.parley.client.ConnectionException;
import dev.parley.client.ParleyClient;
import dev.parley.client.SocketClosedException;
import dev.parley.client.WebhookVerifier;
import dev.parley.client.compat.Compat;
import dev.parley.client.compat.Schemas.Intent;
import dev.parley.client.compat.Schemas.TranscribeParams;
import dev.parley.client.platform.Platform;
import dev.parley.client.platform.Schemas.NewAgent;
import dev.parley.client.realtime.Realtime;
import dev.parley.client.realtime.Schemas.EndFrame;
import dev.parley.client.router.Router;
import dev.parley.client.router.Schemas.LlmRequest;
import dev.parley.client.router.Schemas.ResponseTextDelta;
import java.io.ByteArrayInputStream;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs the client against servers that misbehave, and prints each case's result as JSON. */
final class Behaviour {
    private static final String URL = System.getenv("ANSWERS_URL");
    private static final String SOCKETS_URL = System.getenv("SOCKETS_URL");
    private static final String UNUSED_URL = System.getenv("UNUSED_URL");
    private static final LlmRequest REQUEST = new LlmRequest();
    private static final Map<String, Object> RESULTS = new LinkedHashMap<>();

    private Behaviour() {
    }

    interface Case {
        Object run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        check("busy", () -> router("busy").createResponse(REQUEST).execute());
        check("own key", () -> router("key").createResponse(REQUEST).idempotencyKey("mine").execute());
        check("own header", () -> router("header").createResponse(REQUEST).header("idempotency-KEY", "mine").execute());
        check("conflict", () -> router("conflict").createResponse(REQUEST).execute());
        check("post 500", () -> router("post").createResponse(REQUEST).execute());
        check("get 500", () -> router("get").listModels().execute());
        check("file", () -> compat("file").transcribe(BodyPublishers.ofString("audio")).execute());
        check("stream", () -> compat("stream").transcribe(stream()).execute());
        check("redirect", () -> router("redirect").listModels().execute());
        check("cut", () -> router("cut").listModels().execute());
        check("never made", () -> new Router(ParleyClient.create(UNUSED_URL)).createResponse(REQUEST).execute());
        check("page", () -> router("page").listModels().execute());
        check("unknown", Behaviour::unknown);
        check("split", Behaviour::split);
        check("resumed", Behaviour::resumed);
        check("slow", Behaviour::slow);
        check("reset", Behaviour::cuts);
        check("following", Behaviour::following);
        check("null", () -> platform("null").createAgent(new NewAgent().name("a").voice(null)).execute().name());
        check("ascii", () -> compat("ascii").transcribe(BodyPublishers.ofString("audio"), intent()).header("Content-Type", "audio/wav").execute().text());
        check("path", () -> platform("path").getCall("..").execute());
        check("message", Behaviour::message);
        check("secret", () -> WebhookVerifier.of("short"));
        for (String path : List.of("normal", "going", "nameless", "lost", "junk", "refused")) check(path, () -> frames(path));
        check("after", Behaviour::sendAfterClose);
        System.out.println(new ObjectMapper().writeValueAsString(RESULTS));
    }

    /** Runs the case. Records its value, or the failure with its kind and details. */
    private static void check(String name, Case work) {
        try {
            RESULTS.put(name, work.run());
        } catch (ApiException failure) {
            RESULTS.put(name, List.of("api", failure.status(), failure.code(), failure.isRetryable()));
        } catch (ConnectionException failure) {
            RESULTS.put(name, List.of("connection", failure.isNeverMade()));
        } catch (SocketClosedException failure) {
            RESULTS.put(name, List.of("closed", failure.closeCode(), failure.code(), failure.isRetryable()));
        } catch (Exception failure) {
            RESULTS.put(name, failure.getClass().getSimpleName());
        }
    }

    private static Object message() {
        try {
            return router("hinted").createResponse(REQUEST).execute();
        } catch (ApiException failure) {
            return List.of(failure.getMessage(), failure.type(), failure.hint());
        }
    }

    private static ParleyClient client(String path) {
        return ParleyClient.builder(URL + "/" + path + "/").apiKey("sk").headerPrefix("Acme").build();
    }

    private static Router router(String path) {
        return new Router(client(path));
    }

    private static Compat compat(String path) {
        return new Compat(client(path));
    }

    private static Platform platform(String path) {
        return new Platform(client(path));
    }

    private static BodyPublisher stream() {
        var audio = new ByteArrayInputStream(new byte[] {1, 2});
        return BodyPublishers.ofInputStream(() -> audio);
    }

    private static TranscribeParams intent() {
        return new TranscribeParams().serviceIntent(new Intent().language("ü"));
    }

    /** Returns an enum value as text, and true if this version does not know the value. */
    private static Object unknown() {
        var kind = router("unknown").listModels().execute().models().get(0).kind();
        return List.of(kind.text(), kind.known() == null);
    }

    private static Object split() {
        var deltas = new ArrayList<String>();
        try (var events = router("split").createResponseStream(REQUEST).execute()) {
            for (var event : events)
                deltas.add(event.data() instanceof ResponseTextDelta delta ? event.id() + " " + delta.delta() : event.name());
        }
        return deltas;
    }

    private static Object resumed() {
        var events = new ArrayList<String>();
        try (var stream = platform("resumed").streamSession("a").execute()) {
            stream.forEach(event -> events.add(event.id() + " " + event.name()));
        }
        return events;
    }

    private static Object slow() {
        try (var stream = router("slow").createResponseStream(REQUEST).timeout(Duration.ofMillis(500)).execute()) {
            return stream.stream().count();
        }
    }

    /** Counts the streams that gave their event before the loop threw the connection failure. There are 100 streams. */
    private static Object cuts() {
        int whole = 0;
        for (int count = 0; count < 100; count++) {
            var deltas = new ArrayList<String>();
            try (var events = router("reset").createResponseStream(REQUEST).execute()) {
                events.forEach(event -> deltas.add(event.name()));
            } catch (ConnectionException cut) {
                if (deltas.equals(List.of("response.text.delta"))) whole++;
            }
        }
        return whole;
    }

    private static Object following() {
        return ParleyClient.builder(URL).httpClient(HttpClient.newBuilder().followRedirects(Redirect.NORMAL).build());
    }

    private static Object frames(String path) {
        var client = ParleyClient.builder(SOCKETS_URL + "/" + path).apiKey("sk").headerPrefix("Acme").build();
        var count = new int[1];
        try (var socket = new Realtime(client).synthesizeStream().execute()) {
            socket.forEach(frame -> count[0]++);
        }
        return count[0];
    }

    private static Object sendAfterClose() {
        var client = ParleyClient.builder(SOCKETS_URL + "/going").apiKey("sk").headerPrefix("Acme").build();
        try (var socket = new Realtime(client).synthesizeStream().execute()) {
            try {
                socket.forEach(frame -> { });
            } catch (SocketClosedException expected) {
                socket.send(new EndFrame());
            }
        }
        return "sent";
    }
}
