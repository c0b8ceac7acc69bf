package dev.parley.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Opens a cut stream again, and leaves out the events that the server repeats. */
final class Resumption {
    /** How often a stream is opened again without a new event in between. */
    private static final int ATTEMPTS_MAX = 5;
    private static final long FIRST_PAUSE_MS = 250;
    private static final long PAUSE_MS_MAX = 4_000;
    /** More than the events that a server repeats. */
    private static final int KEYS_MAX = 10_000;

    private final Map<String, String> identity;
    private final Function<String, CompletableFuture<BodyStream>> opener;
    private final Function<Frame, JsonNode> json;
    private final Map<String, String> handedOut = new LinkedHashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile CompletableFuture<BodyStream> opening;
    private boolean isResumed;
    private int attempts;

    /**
     * The identity has the field of an event's data that tells two events apart, by the events' name. The opener sends
     * the request again, after an event's id.
     */
    Resumption(Map<String, String> identity, Function<String, CompletableFuture<BodyStream>> opener, Function<Frame, JsonNode> json) {
        this.identity = identity;
        this.opener = opener;
        this.json = json;
    }

    /** False if the caller has the event. An event without an identity is a state, so only the last counts. */
    boolean isNew(Frame frame) {
        JsonNode data = json.apply(frame);
        String field = identity.get(frame.event());
        String key = field == null ? frame.event() : frame.event() + " " + data.path(field);
        String value = field == null ? data.toString() : "";
        // The newest key goes to the end, because the oldest key is forgotten first.
        boolean isKnown = value.equals(handedOut.remove(key));
        handedOut.put(key, value);
        if (handedOut.size() > KEYS_MAX) handedOut.remove(handedOut.keySet().iterator().next());
        if (isResumed && isKnown) return false;
        attempts = 0;
        return true;
    }

    /** Opens the stream again after a failure. Throws the last failure if there must be no further attempt. */
    BodyStream open(String lastId, ParleyException failure) {
        ParleyException last = failure;
        while (lastId != null && attempts < ATTEMPTS_MAX && mayPass(last)) {
            isResumed = true;
            pause(Math.min(FIRST_PAUSE_MS << attempts++, PAUSE_MS_MAX));
            try {
                return openOnce(lastId);
            } catch (ParleyException e) {
                last = e;
            }
        }
        throw last;
    }

    /** Ends a pause, and the request of an attempt. */
    void close() {
        closed.countDown();
        CompletableFuture<BodyStream> current = opening;
        if (current != null) current.cancel(true);
    }

    private BodyStream openOnce(String lastId) {
        CompletableFuture<BodyStream> next = opener.apply(lastId);
        opening = next;
        if (closed.getCount() == 0) next.cancel(true);
        BodyStream body = ApiCall.await(next);
        if (closed.getCount() == 0) body.close();
        return body;
    }

    private static boolean mayPass(ParleyException failure) {
        if (failure instanceof ApiException error) return error.isRetryable();
        return failure instanceof ConnectionException || failure instanceof RequestTimeoutException;
    }

    private void pause(long pauseMs) {
        try {
            if (closed.await(pauseMs, TimeUnit.MILLISECONDS)) throw new CancellationException("the stream was closed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted");
        }
    }
}
