package dev.parley.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Function;

/**
 * Opens a cut stream again. The server sends some events again after the header Last-Event-ID, because several events
 * can have the same id. So events that the caller has are left out, and the id is that of the position before the
 * newest one, whose events may be incomplete.
 */
final class Resumption {
    private static final int ATTEMPTS_MAX = 5;
    private static final long FIRST_PAUSE_MS = 250;
    private static final long PAUSE_MS_MAX = 4_000;
    /** The server sends the events of a few seconds again. */
    private static final int RECENT_MAX = 4_096;

    private final Function<String, BodyStream> opener;
    private final Function<Frame, JsonNode> json;
    private final Set<String> recent = new LinkedHashSet<>();
    private String completeId;
    private String currentId;
    private boolean isResumed;
    private int attempts;

    /** {@code startId} is the position from which the caller reads, or null. */
    Resumption(String startId, Function<String, BodyStream> opener, Function<Frame, JsonNode> json) {
        this.completeId = startId;
        this.opener = opener;
        this.json = json;
    }

    /** False if the caller has the event. Remembers a new event. */
    boolean isNew(Frame frame) {
        boolean isKnown = !recent.add(keyOf(frame));
        if (isKnown && isResumed) return false;
        attempts = 0;
        if (frame.id() != null && !frame.id().equals(currentId)) {
            // The first event opens the stream, so its position is complete.
            if (currentId != null) completeId = currentId;
            else if (completeId == null) completeId = frame.id();
            currentId = frame.id();
        }
        Iterator<String> oldest = recent.iterator();
        if (recent.size() > RECENT_MAX) {
            oldest.next();
            oldest.remove();
        }
        return true;
    }

    /** Opens the stream again. Throws the failure if there were too many attempts without a new event. */
    FrameReader open(RuntimeException failure) {
        RuntimeException last = failure;
        while (completeId != null && attempts < ATTEMPTS_MAX) {
            pause(Math.min(FIRST_PAUSE_MS << attempts++, PAUSE_MS_MAX));
            try {
                FrameReader frames = new FrameReader(opener.apply(completeId));
                isResumed = true;
                return frames;
            } catch (ConnectionException e) {
                last = e;
            }
        }
        throw last;
    }

    /** The same event can come again with another cursor. */
    private String keyOf(Frame frame) {
        JsonNode data = json.apply(frame);
        if (data instanceof ObjectNode object) object.remove("cursor");
        return frame.event() + data;
    }

    private static void pause(long pauseMs) {
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted");
        }
    }
}
