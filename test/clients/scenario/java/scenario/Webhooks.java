package scenario;

import static scenario.Main.PLATFORM;
import static scenario.Main.variable;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.parley.client.ApiException;
import dev.parley.client.WebhookException;
import dev.parley.client.WebhookVerifier;
import dev.parley.client.platform.Platform;
import dev.parley.client.platform.Schemas.ListSessionsParams;
import dev.parley.client.platform.Schemas.NewSession;
import dev.parley.client.platform.Schemas.ReportEvent;
import dev.parley.client.platform.Schemas.SessionIntent;
import dev.parley.client.platform.Schemas.WebhookEvent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import scenario.Main.Step;

final class Webhooks {
    static final List<Step> STEPS = List.of(
        new Step("webhook", Webhooks::webhook), new Step("webhook_refused", Webhooks::refused),
        new Step("pages", Webhooks::pages), new Step("not_found", Webhooks::notFound));
    private static final int SESSIONS_MORE = 4;
    private static final int PAGES_MAX = 10;
    private static final String UNKNOWN_CALL = "0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b";

    private Webhooks() {
    }

    /** Verifies the webhook of the server, with a text after its body. */
    private static WebhookEvent verified(String suffix) throws Exception {
        JsonNode sent = new ObjectMapper().readTree(Path.of(variable("PARLEY_WEBHOOK")).toFile());
        var verifier = WebhookVerifier.of(variable("PARLEY_WEBHOOK_SECRET"));
        byte[] body = (sent.path("body").asText() + suffix).getBytes(StandardCharsets.UTF_8);
        return Platform.verifyWebhook(verifier, name -> sent.path("headers").path(name).asText(null), body);
    }

    private static Map<String, Object> webhook() throws Exception {
        if (verified("") instanceof ReportEvent report) return Map.of("type", report.type());
        throw new IllegalStateException("the webhook is not a report");
    }

    private static Map<String, Object> refused() throws Exception {
        try {
            verified(" ");
            throw new IllegalStateException("the webhook was not refused");
        } catch (WebhookException refused) {
            return Map.of("error", refused.reason());
        }
    }

    private static Map<String, Object> pages() {
        for (int count = 0; count < SESSIONS_MORE; count++)
            PLATFORM.createSession(new NewSession().intent(new SessionIntent().language("en"))).execute();
        var sizes = new ArrayList<Integer>();
        var ids = new HashSet<String>();
        var params = new ListSessionsParams().limit(2);
        while (sizes.size() < PAGES_MAX) {
            var page = PLATFORM.listSessions(params).execute();
            sizes.add(page.entries().size());
            page.entries().forEach(entry -> ids.add(entry.sessionId()));
            if (page.nextCursor() == null) break;
            params = params.cursor(page.nextCursor());
        }
        return Map.of("sizes", sizes, "ids", ids.size());
    }

    private static Map<String, Object> notFound() {
        try {
            PLATFORM.getCall(UNKNOWN_CALL).execute();
            throw new IllegalStateException("the call exists");
        } catch (ApiException failure) {
            return Map.of("status", failure.status(), "code", failure.code());
        }
    }
}
