package scenario;

import static scenario.Main.CONNECTION;
import static scenario.Main.PLATFORM;

import dev.parley.client.platform.Schemas.AgentIntent;
import dev.parley.client.platform.Schemas.NewAgent;
import dev.parley.client.platform.Schemas.NewSession;
import dev.parley.client.platform.Schemas.RecordingStatus;
import dev.parley.client.platform.Schemas.StackPreferences;
import dev.parley.client.platform.Schemas.StackPreferencesAllowedProviders;
import dev.parley.client.session.Schemas.AgentMessageFrame;
import dev.parley.client.session.Schemas.EndFrame;
import dev.parley.client.session.Schemas.HangUpFrame;
import dev.parley.client.session.Schemas.MarkFrame;
import dev.parley.client.session.Schemas.PlayedFrame;
import dev.parley.client.session.Schemas.ReadyFrame;
import dev.parley.client.session.Schemas.SessionMediaSent;
import dev.parley.client.session.Schemas.UserMessageFrame;
import dev.parley.client.session.Session;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import scenario.Main.Step;

final class Sessions {
    static final List<Step> STEPS = List.of(
        new Step("agent", Sessions::agent), new Step("session", Sessions::talk), new Step("call", Sessions::endedCall),
        new Step("report", Sessions::report), new Step("recording", Sessions::recording));
    private static final List<String> QUESTIONS = List.of("How are you?", "Goodbye.");
    private static final int TRIES_MAX = 200;
    private static final int TRIES_PAUSE_MS = 100;
    private static final int LONG_BYTES = 10_000;
    private static String agentId;
    private static String sessionId;

    private Sessions() {
    }

    private static Map<String, Object> agent() {
        var providers = List.of("loopback");
        var allowed = new StackPreferencesAllowedProviders().stt(providers).llm(providers).tts(providers);
        var agent = PLATFORM.createAgent(new NewAgent().name("Scenario").systemPrompt("Be brief.")
            .intent(new AgentIntent().language("en"))
            .stackPreferences(new StackPreferences().allowedProviders(allowed))).execute();
        agentId = agent.id();
        return Map.of("name", agent.name(), "language", agent.intent().language());
    }

    /** Types each question after the answer to the previous question, and hangs up after the last answer. */
    private static Map<String, Object> talk() {
        var started = PLATFORM.createSession(new NewSession().agentId(agentId)).execute();
        sessionId = started.sessionId();
        var answers = new ArrayList<String>();
        var session = new Session(CONNECTION.withApiKey(started.transportToken()));
        try (var socket = session.sessionMedia(sessionId).execute()) {
            for (var frame : socket) {
                if (frame instanceof ReadyFrame) socket.send(next(answers));
                if (frame instanceof MarkFrame mark) socket.send(new PlayedFrame().mark(mark.name()));
                if (frame instanceof AgentMessageFrame message && message.isFinal()) {
                    answers.add(message.text());
                    socket.send(next(answers));
                }
                if (frame instanceof EndFrame end) return Map.of("answers", answers, "end", end.reason().text());
            }
        }
        throw new IllegalStateException("the socket closed without an end");
    }

    private static SessionMediaSent next(List<String> answers) {
        boolean isOver = answers.size() >= QUESTIONS.size();
        return isOver ? new HangUpFrame() : new UserMessageFrame().text(QUESTIONS.get(answers.size()));
    }

    /** Waits until the recording is stored. */
    private static Map<String, Object> endedCall() throws Exception {
        for (int count = 0; count < TRIES_MAX; count++) {
            var status = PLATFORM.getSession(sessionId).execute().recordingStatus();
            if (status != null && status.is(RecordingStatus.READY)) {
                var call = PLATFORM.getCall(sessionId).execute();
                return Map.of("status", call.status().text(), "kind", call.kind().text());
            }
            Thread.sleep(TRIES_PAUSE_MS);
        }
        throw new IllegalStateException("the recording is not ready");
    }

    private static Map<String, Object> report() {
        var entries = PLATFORM.getCallReport(sessionId).execute().transcript().entries().stream();
        return Map.of("turns", entries.map(entry -> entry.source().text() + ": " + entry.text()).toList());
    }

    private static Map<String, Object> recording() throws Exception {
        try (var audio = PLATFORM.getCallRecordingAudio(sessionId).execute()) {
            byte[] bytes = audio.readAllBytes();
            var starts = new String(Arrays.copyOf(bytes, 4), StandardCharsets.US_ASCII);
            return Map.of("starts", starts, "is_long", bytes.length > LONG_BYTES);
        }
    }
}
