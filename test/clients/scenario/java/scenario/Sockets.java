package scenario;

import static scenario.Main.REALTIME;
import static scenario.Main.TEXT;
import static scenario.Main.variable;
import static scenario.Main.wordsOf;

import dev.parley.client.SocketClosedException;
import dev.parley.client.realtime.Schemas.Audio;
import dev.parley.client.realtime.Schemas.EndFrame;
import dev.parley.client.realtime.Schemas.SpeechEndFrame;
import dev.parley.client.realtime.Schemas.SttConfig;
import dev.parley.client.realtime.Schemas.SttConfigContentType;
import dev.parley.client.realtime.Schemas.TextFrame;
import dev.parley.client.realtime.Schemas.TranscriptFrame;
import dev.parley.client.realtime.Schemas.TtsConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import scenario.Main.Step;

final class Sockets {
    static final List<Step> STEPS = List.of(
        new Step("socket_transcribe", Sockets::transcribe), new Step("socket_synthesize", Sockets::synthesize),
        new Step("socket_refused", Sockets::refused));
    private static final int FRAME_BYTES = 3200;
    private static final int NORMAL_CLOSE = 1000;

    private Sockets() {
    }

    private static Map<String, Object> transcribe() throws Exception {
        byte[] recording = Files.readAllBytes(Path.of(variable("PARLEY_WAV")));
        var words = new StringBuilder();
        try (var socket = REALTIME.transcribeStream().execute()) {
            var sent = CompletableFuture.runAsync(() -> {
                socket.send(new SttConfig().language("en").contentType(SttConfigContentType.AUDIO_WAV));
                for (int start = 0; start < recording.length; start += FRAME_BYTES) {
                    int end = Math.min(start + FRAME_BYTES, recording.length);
                    socket.send(new Audio(Arrays.copyOfRange(recording, start, end)));
                }
                socket.send(new EndFrame());
            });
            for (var frame : socket)
                if (frame instanceof TranscriptFrame transcript && transcript.isFinal()) words.append(transcript.text()).append(' ');
            sent.get();
        }
        return Map.of("words", wordsOf(words.toString()), "close", NORMAL_CLOSE);
    }

    private static Map<String, Object> synthesize() {
        int bytes = 0;
        long characters = 0;
        try (var socket = REALTIME.synthesizeStream().execute()) {
            socket.send(new TtsConfig().model("loopback/loopback"));
            socket.send(new TextFrame().text(TEXT));
            socket.send(new EndFrame());
            for (var frame : socket) {
                if (frame instanceof Audio audio) bytes += audio.value().length;
                if (frame instanceof SpeechEndFrame end) characters = end.usage().characters();
            }
        }
        return Map.of("bytes", bytes, "characters", characters, "close", NORMAL_CLOSE);
    }

    private static Map<String, Object> refused() {
        try (var socket = REALTIME.synthesizeStream().execute()) {
            socket.send(new TtsConfig().sampleRate(1));
            socket.forEach(frame -> { });
            throw new IllegalStateException("the socket closed without an error");
        } catch (SocketClosedException closed) {
            return Map.of("code", closed.code(), "close", closed.closeCode(), "retryable", closed.isRetryable());
        }
    }
}
