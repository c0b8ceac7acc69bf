package scenario;

import static scenario.Main.COMPAT;
import static scenario.Main.ROUTER;
import static scenario.Main.TEXT;
import static scenario.Main.loopback;
import static scenario.Main.variable;
import static scenario.Main.wordsOf;

import dev.parley.client.router.Schemas.CreateTranscriptionForm;
import dev.parley.client.router.Schemas.SpeechRequest;
import dev.parley.client.router.Schemas.TranscriptionRequest;
import java.io.FileInputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import scenario.Main.Step;

final class Models {
    static final List<Step> STEPS = List.of(
        new Step("models", Models::models), new Step("transcription", Models::transcription),
        new Step("raw_transcription", Models::rawTranscription), new Step("speech", Models::speech),
        new Step("speech_chunks", Models::speechChunks));
    private static final SpeechRequest SPEECH = new SpeechRequest().input(TEXT).routing(loopback());

    private Models() {
    }

    private static Map<String, Object> models() {
        var rows = ROUTER.listModels().execute().models().stream();
        return Map.of("kinds", rows.filter(row -> row.provider().equals("loopback")).map(row -> row.kind().text()).sorted().toList());
    }

    private static Map<String, Object> transcription() throws Exception {
        var form = new CreateTranscriptionForm()
            .request(new TranscriptionRequest().language("en"))
            .audio(BodyPublishers.ofFile(Path.of(variable("PARLEY_WAV"))));
        return Map.of("words", wordsOf(ROUTER.createTranscription(form).execute().text()));
    }

    /** A stream has no known length, so the file is sent in pieces. */
    private static Map<String, Object> rawTranscription() throws Exception {
        try (var recording = new FileInputStream(variable("PARLEY_WAV"))) {
            var answer = COMPAT.transcribe(BodyPublishers.ofInputStream(() -> recording)).execute();
            return Map.of("words", wordsOf(answer.text()));
        }
    }

    private static Map<String, Object> speech() throws Exception {
        try (var audio = ROUTER.createSpeech(SPEECH).execute()) {
            return Map.of("bytes", audio.readAllBytes().length);
        }
    }

    private static Map<String, Object> speechChunks() throws Exception {
        int bytes = 0;
        var chunk = new byte[4096];
        try (var audio = ROUTER.createSpeech(SPEECH).executeAsync().get()) {
            for (int count = audio.read(chunk); count >= 0; count = audio.read(chunk)) bytes += count;
        }
        return Map.of("bytes", bytes);
    }
}
