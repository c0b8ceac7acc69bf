using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Parley.Compat;
using Parley.Router;
using ErrorEnvelope = Parley.Router.ErrorEnvelope;
using MessageRole = Parley.Router.MessageRole;
using Tool = Parley.Router.Tool;

namespace Scenario;

internal static class Texts
{
    internal static readonly Step[] Steps =
    {
        new("llm", LlmAsync), new("llm_stream", StreamAsync), new("llm_tool", ToolAsync), new("chat", ChatAsync),
        new("chat_stream", ChatStreamAsync),
    };

    internal static LlmRequest Question => QuestionFor(Program.Loopback);

    internal static string TextOf(LlmResponse answer) =>
        string.Concat(answer.Output.OfType<OutputMessage>().SelectMany(message => message.Content).Select(part => part.Text));

    private static LlmRequest QuestionFor(IRouting routing) =>
        new(
            new[] { new InputMessage(MessageRole.User, new[] { new InputText(Program.Text) }) },
            MaxOutputTokens: 20, Routing: routing);

    private static async Task<Values> LlmAsync()
    {
        var answer = await Program.Router.CreateResponseAsync(Question);
        return new Values { ["text"] = TextOf(answer), ["stop_reason"] = answer.StopReason.Value };
    }

    private static async Task<Values> StreamAsync()
    {
        var (text, last, terminal) = (new StringBuilder(), "", 0);
        await foreach (var item in await Program.Router.CreateResponseStreamAsync(Question))
        {
            last = item.Name;
            if (item.Data is ResponseTextDelta delta) text.Append(delta.Delta);
            if (item.Data is ResponseCompleted or ErrorEnvelope) terminal++;
        }
        return new Values { ["text"] = text.ToString(), ["last"] = last, ["terminal_events"] = terminal };
    }

    private static async Task<Values> ToolAsync()
    {
        var properties = new Dictionary<string, object?>();
        var schema = new Dictionary<string, object?> { ["type"] = "object", ["properties"] = properties };
        var tools = new[] { new Tool("weather", Parameters: schema) };
        var request = QuestionFor(new ExplicitRouting(Model: "tools/tools")) with { Tools = tools };
        var (name, text, last) = ("", new StringBuilder(), "");
        await foreach (var item in await Program.Router.CreateResponseStreamAsync(request))
        {
            last = item.Name;
            if (item.Data is ResponseFunctionCallArgumentsDelta delta) text.Append(delta.Delta);
            if (item.Data is ResponseItemAdded { Item: OutputFunctionCallShell call }) name = call.Name;
        }
        return new Values { ["name"] = name, ["arguments"] = text.ToString(), ["last"] = last };
    }

    private static ChatCompletionRequest ChatRequest()
    {
        var message = new ChatMessage("user") { Extra = new Dictionary<string, object?> { ["content"] = Program.Text } };
        return new ChatCompletionRequest("loopback/loopback", new[] { message });
    }

    private static async Task<Values> ChatAsync()
    {
        var answer = await Program.Compat.CreateChatCompletionAsync(ChatRequest());
        return new Values { ["text"] = answer.Choices[0].Message.Content };
    }

    private static async Task<Values> ChatStreamAsync()
    {
        var text = new StringBuilder();
        await foreach (var chunk in await Program.Compat.CreateChatCompletionStreamAsync(ChatRequest()))
            foreach (var choice in chunk.Choices) text.Append(choice.Delta.Content);
        return new Values { ["text"] = text.ToString() };
    }
}
