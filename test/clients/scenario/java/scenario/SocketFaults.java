package scenario;

import static scenario.Main.clientAt;
import static scenario.Main.variable;

import dev.parley.client.ApiException;
import dev.parley.client.ParleyClient;
import dev.parley.client.ProtocolException;
import dev.parley.client.RequestTimeoutException;
import dev.parley.client.SocketClosedException;
import dev.parley.client.realtime.Realtime;
import dev.parley.client.realtime.Schemas.Audio;
import dev.parley.client.realtime.Schemas.EndFrame;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import scenario.Main.Step;

/** Sockets that close, break, refuse or stall, from the scripted server. */
final class SocketFaults {
    static final List<Step> STEPS = List.of(
        new Step("socket_closes", () -> each("normal", "away", "empty", "cut", "reason", "later", "frame", "mild")),
        new Step("socket_frames", () -> each("text", "list", "null", "large", "largest")),
        new Step("socket_openings", SocketFaults::openings), new Step("socket_prefix", SocketFaults::prefix),
        new Step("socket_late_send", SocketFaults::lateSend), new Step("socket_slow", SocketFaults::slow));
    private static final Duration TIMEOUT = Duration.ofMillis(300);
    private static final int SLOW_FRAMES = 32;
    private static final int SLOW_FRAME_BYTES = 1 << 20;

    private SocketFaults() {
    }

    private static String urlOf(String fault) {
        return variable("PARLEY_SCRIPTED_URL") + "/" + fault;
    }

    private static ParleyClient.Builder at(String fault) {
        return ParleyClient.builder(urlOf(fault)).apiKey(variable("PARLEY_API_KEY"));
    }

    private static Map<String, Object> each(String... faults) {
        Map<String, Object> results = new LinkedHashMap<>();
        for (var fault : faults) results.put(fault, resultOf(clientAt(urlOf(fault))));
        return results;
    }

    /** Reads all frames. Returns null if the loop ends normally. */
    private static Object resultOf(ParleyClient client) {
        try (var socket = new Realtime(client).transcribeStream().execute()) {
            socket.forEach(frame -> { });
            return null;
        } catch (SocketClosedException closed) {
            return Arrays.asList(closed.closeCode(), closed.reason(), textOrNull(closed.code()), closed.isRetryable());
        } catch (ApiException refused) {
            return List.of(refused.status(), refused.code());
        } catch (RequestTimeoutException late) {
            return "timeout";
        } catch (ProtocolException broken) {
            return "protocol";
        }
    }

    private static String textOrNull(String text) {
        return text.isEmpty() ? null : text;
    }

    private static Map<String, Object> openings() {
        var late = resultOf(at("late").timeout(TIMEOUT).build());
        var moved = (List<?>) resultOf(clientAt(urlOf("moved")));
        return Map.of("refused", resultOf(clientAt(urlOf("refused"))), "moved", moved.get(0), "late", late);
    }

    private static Map<String, Object> prefix() {
        var closed = (List<?>) resultOf(at("offered").headerPrefix("Acme").build());
        return Map.of("offered", closed.get(1));
    }

    private static Map<String, Object> lateSend() {
        try (var socket = new Realtime(clientAt(urlOf("normal"))).transcribeStream().execute()) {
            socket.forEach(frame -> { });
            socket.send(new EndFrame());
            throw new IllegalStateException("the frame was sent");
        } catch (SocketClosedException closed) {
            return Map.of("close", closed.closeCode());
        }
    }

    private static Map<String, Object> slow() {
        try (var socket = new Realtime(clientAt(urlOf("slow"))).transcribeStream().execute()) {
            for (int sent = 0; sent < SLOW_FRAMES; sent++) socket.send(new Audio(new byte[SLOW_FRAME_BYTES]));
            socket.send(new EndFrame());
            socket.forEach(frame -> { });
            throw new IllegalStateException("the socket closed without the number of bytes");
        } catch (SocketClosedException closed) {
            return Map.of("bytes", Integer.parseInt(closed.reason()));
        }
    }
}
