using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text.Json;
using System.Threading.Tasks;
using Parley;
using Parley.Compat;
using Parley.Platform;
using Parley.Realtime;
using Parley.Router;
using Intent = Parley.Compat.Intent;

namespace Behaviour;

/// <summary>Runs the client against servers that misbehave, and prints each case's result as JSON.</summary>
internal static class Program
{
    private const int CutsCount = 100;
    internal static readonly string Url = Variable("ANSWERS_URL");
    private static readonly LlmRequest Request = new(Array.Empty<IInputItem>(), 10);
    private static readonly Dictionary<string, object?> Results = new();

    public static async Task Main()
    {
        var ownHeader = new CallOptions(Headers: new Dictionary<string, string> { ["idempotency-KEY"] = "mine" });
        await CheckAsync("busy", () => RouterAt("busy").CreateResponseAsync(Request));
        var ownKey = new CallOptions(IdempotencyKey: "mine");
        await CheckAsync("own key", () => RouterAt("key").CreateResponseAsync(Request, ownKey));
        await CheckAsync("own header", () => RouterAt("header").CreateResponseAsync(Request, ownHeader));
        await CheckAsync("conflict", () => RouterAt("conflict").CreateResponseAsync(Request));
        await CheckAsync("post 500", () => RouterAt("post").CreateResponseAsync(Request));
        await CheckAsync("get 500", () => RouterAt("get").ListModelsAsync());
        await CheckAsync("file", () => CompatAt("file").TranscribeAsync(new byte[] { 1, 2 }));
        await CheckAsync("stream", () => CompatAt("stream").TranscribeAsync(new MemoryStream(new byte[] { 1, 2 })));
        await CheckAsync("redirect", () => RouterAt("redirect").ListModelsAsync());
        await CheckAsync("cut", () => RouterAt("cut").ListModelsAsync());
        var unused = new RouterClient(new ParleyClient(Variable("UNUSED_URL")));
        await CheckAsync("never made", () => unused.CreateResponseAsync(Request));
        await CheckAsync("page", () => RouterAt("page").ListModelsAsync());
        await CheckAsync("unknown", UnknownAsync);
        await CheckAsync("split", SplitAsync);
        await CheckAsync("resumed", ResumedAsync);
        await CheckAsync("slow", SlowAsync);
        await CheckAsync("reset", CutsAsync);
        await CheckAsync("following", FollowingAsync);
        await CheckAsync("null", NullAsync);
        await CheckAsync("ascii", AsciiAsync);
        await CheckAsync("path", () => new PlatformClient(ClientAt("path")).GetCallAsync(".."));
        await CheckAsync("message", MessageAsync);
        await CheckAsync("secret", () => Task.FromResult(new WebhookVerifier("short")));
        foreach (var path in new[] { "normal", "going", "nameless", "lost", "junk", "refused" })
            await CheckAsync(path, () => FramesAsync(path));
        await CheckAsync("after", SendAfterCloseAsync);
        await CheckAsync("options", () => Task.FromResult(new ParleyOptions { ApiKey = "sk" }.ToString()));
        await CheckAsync("dropped", Interruptions.WithoutBodyAsync);
        await CheckAsync("missing", () => CompatAt("missing").TranscribeAsync(Upload.FromFile("missing.wav")));
        await CheckAsync("upload", () => Interruptions.UploadAsync(new OperationCanceledException()));
        var late = new OperationCanceledException("late", new TimeoutException());
        await CheckAsync("late upload", () => Interruptions.UploadAsync(late));
        await CheckAsync("disposed", Interruptions.DisposedAsync);
        await CheckAsync("cancelled", Interruptions.ReopenedAsync);
        Console.WriteLine(JsonSerializer.Serialize(Results));
    }

    private static string Variable(string name) =>
        Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException($"{name} is not set");

    /// <summary>Runs the case. Records its value, or the failure with its kind and details.</summary>
    private static async Task CheckAsync<T>(string name, Func<Task<T>> run)
    {
        try
        {
            Results[name] = await run();
        }
        catch (Exception failure)
        {
            Results[name] = failure switch
            {
                ApiException api => new object[] { "api", api.Status, api.Code, api.IsRetryable },
                ConnectionException lost => new object[] { "connection", lost.IsNeverMade },
                SocketClosedException closed => new object[] { "closed", closed.CloseCode, closed.Code, closed.IsRetryable },
                _ => failure.GetType().Name,
            };
        }
    }

    internal static ParleyClient ClientAt(string path, string variable = "ANSWERS_URL") =>
        new($"{Variable(variable)}/{path}/", new ParleyOptions { ApiKey = "sk", HeaderPrefix = "Acme" });

    private static RouterClient RouterAt(string path) => new(ClientAt(path));

    private static CompatClient CompatAt(string path) => new(ClientAt(path));

    private static async Task<object> MessageAsync()
    {
        try
        {
            return await RouterAt("hinted").CreateResponseAsync(Request);
        }
        catch (ApiException failure)
        {
            return new[] { failure.Message, failure.Type, failure.Hint };
        }
    }

    /// <summary>Returns an enum value from a later version.</summary>
    private static async Task<object> UnknownAsync() =>
        (await RouterAt("unknown").ListModelsAsync()).Models[0].Kind.Value;

    private static async Task<object> SplitAsync()
    {
        var deltas = new List<string>();
        await foreach (var item in await RouterAt("split").CreateResponseStreamAsync(Request))
            deltas.Add(item.Data is ResponseTextDelta delta ? $"{item.Id} {delta.Delta}" : item.Name);
        return deltas;
    }

    private static async Task<object> ResumedAsync()
    {
        var events = new List<string>();
        await foreach (var item in await new PlatformClient(ClientAt("resumed")).StreamSessionAsync("a"))
            events.Add($"{item.Id} {item.Name}");
        return events;
    }

    private static async Task<object> SlowAsync()
    {
        var hurried = new CallOptions(Timeout: TimeSpan.FromMilliseconds(500));
        await foreach (var _ in await RouterAt("slow").CreateResponseStreamAsync(Request, hurried)) { }
        return "complete";
    }

    /// <summary>Counts the streams with an event before the connection failure.</summary>
    private static async Task<object> CutsAsync()
    {
        var whole = 0;
        for (var count = 0; count < CutsCount; count++)
        {
            var names = new List<string>();
            try
            {
                await foreach (var item in await RouterAt("reset").CreateResponseStreamAsync(Request))
                    names.Add(item.Name);
            }
            catch (ConnectionException)
            {
                if (names.SequenceEqual(new[] { "response.text.delta" })) whole++;
            }
        }
        return whole;
    }

    private static Task<object> FollowingAsync() =>
        Task.FromResult<object>(new ParleyClient(Url, new ParleyOptions { Handler = new SocketsHttpHandler() }));

    private static async Task<object> NullAsync()
    {
        var agent = new NewAgent("a", "Be brief.", new AgentIntent("en"), Voice: null);
        return (await new PlatformClient(ClientAt("null")).CreateAgentAsync(agent)).Name;
    }

    private static async Task<object> AsciiAsync()
    {
        var options = new CallOptions(Headers: new Dictionary<string, string> { ["Content-Type"] = "audio/wav" });
        var intent = new Intent("ü");
        var answer = await CompatAt("ascii").TranscribeAsync(new byte[2], serviceIntent: intent, options: options);
        return answer.Text;
    }

    private static async Task<object> FramesAsync(string path)
    {
        var count = 0;
        await using var socket = await new RealtimeClient(ClientAt(path, "SOCKETS_URL")).SynthesizeStreamAsync();
        await foreach (var _ in socket) count++;
        return count;
    }

    private static async Task<object> SendAfterCloseAsync()
    {
        await using var socket = await new RealtimeClient(ClientAt("going", "SOCKETS_URL")).SynthesizeStreamAsync();
        try
        {
            await foreach (var _ in socket) { }
        }
        catch (SocketClosedException)
        {
            await socket.SendAsync(new EndFrame());
        }
        return "sent";
    }
}
