package scenario;

import static scenario.Main.clientAt;
import static scenario.Main.variable;

import dev.parley.client.ConnectionException;
import dev.parley.client.Event;
import dev.parley.client.EventStream;
import dev.parley.client.ParleyException;
import dev.parley.client.ProtocolException;
import dev.parley.client.platform.Platform;
import dev.parley.client.platform.Schemas.CallEvent;
import dev.parley.client.platform.Schemas.SessionStatus;
import dev.parley.client.platform.Schemas.SessionTurn;
import dev.parley.client.platform.Schemas.StreamSessionEvent;
import dev.parley.client.platform.Schemas.StreamWebhookEventsEvent;
import dev.parley.client.platform.Schemas.StreamWebhookEventsParams;
import dev.parley.client.platform.Schemas.StreamedWebhookEvent;
import dev.parley.client.router.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import scenario.Main.Step;

/** Streams that are cut, repeated, unreadable or too long, from the scripted server. */
final class Streams {
    static final List<Step> STEPS = List.of(
        new Step("resumed_webhooks", Streams::resumedWebhooks), new Step("resumed_session", Streams::resumedSession),
        new Step("lost_stream", Streams::lost), new Step("late_read", Streams::lateRead),
        new Step("closed_streams", Streams::closed),
        new Step("unreadable_event", () -> Map.of("error", responseError("unreadable"))),
        new Step("long_event", Streams::longEvent));
    private static final String SCRIPTED = variable("PARLEY_SCRIPTED_URL");
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private Streams() {
    }

    private static Platform at(String fault) {
        return new Platform(clientAt(SCRIPTED + "/" + fault));
    }

    private static EventStream<Event<StreamWebhookEventsEvent>> webhooks(String fault) {
        return at(fault).streamWebhookEvents(new StreamWebhookEventsParams().cursor("0:0")).execute();
    }

    private static void read(EventStream<Event<StreamWebhookEventsEvent>> stream, List<String> names) {
        for (var event : stream)
            names.add(event.data() instanceof StreamedWebhookEvent webhook ? webhook.eventId() : event.name());
    }

    private static Map<String, Object> resumedWebhooks() {
        var names = new ArrayList<String>();
        try (var stream = webhooks("twins")) {
            read(stream, names);
        }
        return Map.of("events", names);
    }

    private static Map<String, Object> resumedSession() {
        try (var stream = at("states").streamSession("s").execute()) {
            return Map.of("events", stream.stream().map(Streams::stateOf).toList());
        }
    }

    private static String stateOf(Event<StreamSessionEvent> event) {
        if (event.data() instanceof SessionStatus status) return status.status().text();
        if (event.data() instanceof SessionTurn turn) return "turn " + turn.index();
        return event.data() instanceof CallEvent call ? "event " + call.id() : event.name();
    }

    private static Map<String, Object> lost() {
        var names = new ArrayList<String>();
        try (var stream = webhooks("lost")) {
            read(stream, names);
            throw new IllegalStateException("the stream was complete");
        } catch (ConnectionException cut) {
            return Map.of("events", names, "error", "truncated");
        }
    }

    private static Map<String, Object> lateRead() {
        var names = new ArrayList<String>();
        var call = at("stalled").streamWebhookEvents(new StreamWebhookEventsParams().cursor("0:0"));
        try (var stream = call.timeout(TIMEOUT).execute()) {
            read(stream, names);
        }
        return Map.of("events", names);
    }

    private static Map<String, Object> closed() throws Exception {
        return Map.of("opening", readUntilClosed("opening"), "pausing", readUntilClosed("pausing"));
    }

    private static List<String> readUntilClosed(String fault) throws Exception {
        var names = new ArrayList<String>();
        var stream = webhooks(fault);
        var reading = CompletableFuture.runAsync(() -> {
            try {
                read(stream, names);
            } catch (ParleyException | CancellationException ended) {
                // The other thread has closed the stream.
            }
        });
        ask("reached", fault);
        stream.close();
        ask("released", fault);
        reading.get();
        return names;
    }

    /** Waits until the scripted server answers a question about a fault. It takes an upgrade to HTTP/2 for a socket. */
    private static void ask(String question, String fault) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(SCRIPTED + "/" + question + "/" + fault)).build();
        var http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        http.send(request, BodyHandlers.discarding());
    }

    private static Map<String, Object> longEvent() {
        Map<String, Object> errors = new LinkedHashMap<>();
        errors.put("longest", responseError("longest"));
        errors.put("longer", responseError("long"));
        return errors;
    }

    private static String responseError(String fault) {
        var router = new Router(clientAt(SCRIPTED + "/" + fault));
        try (var events = router.createResponseStream(Texts.question()).execute()) {
            events.forEach(event -> { });
            return null;
        } catch (ProtocolException broken) {
            return "protocol";
        }
    }
}
