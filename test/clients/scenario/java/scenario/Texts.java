package scenario;

import static scenario.Main.COMPAT;
import static scenario.Main.ROUTER;
import static scenario.Main.TEXT;
import static scenario.Main.loopback;

import dev.parley.client.compat.Schemas.ChatCompletionRequest;
import dev.parley.client.compat.Schemas.ChatMessage;
import dev.parley.client.router.Schemas.ErrorEnvelope;
import dev.parley.client.router.Schemas.ExplicitRouting;
import dev.parley.client.router.Schemas.InputMessage;
import dev.parley.client.router.Schemas.InputText;
import dev.parley.client.router.Schemas.LlmRequest;
import dev.parley.client.router.Schemas.LlmResponse;
import dev.parley.client.router.Schemas.MessageRole;
import dev.parley.client.router.Schemas.OutputFunctionCallShell;
import dev.parley.client.router.Schemas.OutputMessage;
import dev.parley.client.router.Schemas.ResponseCompleted;
import dev.parley.client.router.Schemas.ResponseFunctionCallArgumentsDelta;
import dev.parley.client.router.Schemas.ResponseItemAdded;
import dev.parley.client.router.Schemas.ResponseTextDelta;
import dev.parley.client.router.Schemas.Routing;
import dev.parley.client.router.Schemas.Tool;
import java.util.List;
import java.util.Map;
import scenario.Main.Step;

final class Texts {
    static final List<Step> STEPS = List.of(
        new Step("llm", Texts::llm), new Step("llm_stream", Texts::llmStream), new Step("llm_tool", Texts::llmTool),
        new Step("chat", Texts::chat), new Step("chat_stream", Texts::chatStream));

    private Texts() {
    }

    static LlmRequest question(Routing routing) {
        var message = new InputMessage().role(MessageRole.USER).content(List.of(new InputText().text(TEXT)));
        return new LlmRequest().input(List.of(message)).maxOutputTokens(20).routing(routing);
    }

    static LlmRequest question() {
        return question(loopback());
    }

    static String textOf(LlmResponse answer) {
        var text = new StringBuilder();
        for (var item : answer.output())
            if (item instanceof OutputMessage message) message.content().forEach(part -> text.append(part.text()));
        return text.toString();
    }

    private static Map<String, Object> llm() {
        var answer = ROUTER.createResponse(question()).execute();
        return Map.of("text", textOf(answer), "stop_reason", answer.stopReason().text());
    }

    private static Map<String, Object> llmStream() {
        var text = new StringBuilder();
        String last = "";
        int terminal = 0;
        try (var events = ROUTER.createResponseStream(question()).execute()) {
            for (var event : events) {
                last = event.name();
                if (event.data() instanceof ResponseTextDelta delta) text.append(delta.delta());
                if (event.data() instanceof ResponseCompleted || event.data() instanceof ErrorEnvelope) terminal++;
            }
        }
        return Map.of("text", text.toString(), "last", last, "terminal_events", terminal);
    }

    private static Map<String, Object> llmTool() {
        var schema = Map.<String, Object>of("type", "object", "properties", Map.of());
        var request = question(new ExplicitRouting().model("tools/tools"))
            .tools(List.of(new Tool().name("weather").parameters(schema)));
        var arguments = new StringBuilder();
        String name = "";
        String last = "";
        try (var events = ROUTER.createResponseStream(request).execute()) {
            for (var event : events) {
                last = event.name();
                if (event.data() instanceof ResponseFunctionCallArgumentsDelta delta) arguments.append(delta.delta());
                if (event.data() instanceof ResponseItemAdded added && added.item() instanceof OutputFunctionCallShell call)
                    name = call.name();
            }
        }
        return Map.of("name", name, "arguments", arguments.toString(), "last", last);
    }

    private static ChatCompletionRequest chatRequest() {
        var message = new ChatMessage().role("user").extra(Map.of("content", TEXT));
        return new ChatCompletionRequest().model("loopback/loopback").messages(List.of(message));
    }

    private static Map<String, Object> chat() {
        return Map.of("text", COMPAT.createChatCompletion(chatRequest()).execute().choices().get(0).message().content());
    }

    private static Map<String, Object> chatStream() {
        var text = new StringBuilder();
        try (var chunks = COMPAT.createChatCompletionStream(chatRequest()).execute()) {
            chunks.stream().flatMap(chunk -> chunk.choices().stream()).map(choice -> choice.delta().content())
                .filter(content -> content != null).forEach(text::append);
        }
        return Map.of("text", text.toString());
    }
}
