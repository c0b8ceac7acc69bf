using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>One contract of a server with the settings of a connection. The generated clients extend it.</summary>
public abstract class Surface
{
    private protected Surface(ParleyClient client, Contract contract) => (Client, Contract) = (client, contract);

    internal ParleyClient Client { get; }

    private protected ApiRequest Request(string method, string path, params string[] arguments) =>
        new(Contract, method, path, arguments);

    internal Contract Contract { get; }

    private protected async Task<T> SendJson<T>(ApiRequest request, CallOptions? options, CancellationToken stop)
    {
        var reply = await WholeAsync(request.Accept("application/json"), options, stop).ConfigureAwait(false);
        return Json.Read<T>(Contract.Json, Json.Tree(reply.Body));
    }

    private protected async Task<string> SendText(ApiRequest request, CallOptions? options, CancellationToken stop) =>
        Encoding.UTF8.GetString((await WholeAsync(request, options, stop).ConfigureAwait(false)).Body);

    private protected Task SendEmpty(ApiRequest request, CallOptions? options, CancellationToken stop) =>
        WholeAsync(request, options, stop);

    private protected Task<Download> SendBytes(ApiRequest request, CallOptions? options, CancellationToken stop) =>
        DownloadAsync(Sent(request, options, stop));

    /// <summary>Sends a request whose answer is a stream of events with names. A terminal event is the last.</summary>
    private protected Task<EventStream<Event<T>>> SendEvents<T>(
        ApiRequest request, CallOptions? options, CancellationToken stop, params string[] terminal) =>
        StreamAsync(request, options, stop, (_, frame) =>
        {
            var data = Json.Arm<T>(Contract.Json, frame.Event, frame.Json());
            return new Decoded<Event<T>>(new Event<T>(frame.Event, frame.Id, data), terminal.Contains(frame.Event));
        });

    /// <summary>Sends a request for a stream of values. The last has one of the types, or [DONE] follows.</summary>
    private protected Task<EventStream<T>> SendData<T>(
        ApiRequest request, CallOptions? options, CancellationToken stop, params string[] terminal)
        where T : class =>
        StreamAsync(request, options, stop, (reply, frame) =>
        {
            if (frame.Data == "[DONE]") return new Decoded<T>(null, true);
            JsonElement? json = frame.Json();
            if (json.Field("error") is { ValueKind: not JsonValueKind.Null }) throw ErrorOf(reply, json);
            return new Decoded<T>(Json.Read<T>(Contract.Json, json.Value), terminal.Contains(json.Text("type")));
        });

    /// <summary>Reads the body of a webhook.</summary>
    private protected static T ReadWebhook<T>(Contract contract, ReadOnlySpan<byte> body)
    {
        try
        {
            return Json.Read<T>(contract.Json, Json.Tree(body));
        }
        catch (ProtocolException failure)
        {
            throw new WebhookException("body", failure);
        }
    }

    private protected static HashSet<string> Codes(params string[] codes) => new(codes);

    internal ApiException ErrorOf(Reply reply) => ErrorOf(reply, Json.TreeOrNull(reply.Body));

    private ApiException ErrorOf(Reply reply, JsonElement? body)
    {
        var error = ErrorBody.Read(body, Contract);
        var isSent = reply.Headers.TryGetValue(Client.HeaderName("Service-Request-ID"), out var requestId);
        return new ApiException(reply, body, error, isSent ? requestId! : error.RequestId);
    }

    private Sending Sent(ApiRequest request, CallOptions? options, CancellationToken stop) =>
        new(this, request, options ?? new CallOptions(), stop);

    private Task<Reply> WholeAsync(ApiRequest request, CallOptions? options, CancellationToken stop) =>
        Sent(request, options, stop).SendAsync(false);

    private async Task<EventStream<T>> StreamAsync<T>(
        ApiRequest request, CallOptions? options, CancellationToken stop, Func<Reply, Frame, Decoded<T>> decode)
        where T : class
    {
        var sending = Sent(request.Accept("text/event-stream"), options, stop);
        var reply = await sending.SendAsync(true).ConfigureAwait(false);
        return new EventStream<T>(reply.Stream!, frame => decode(reply, frame), ResumptionOf(request, options, stop));
    }

    /// <summary>Returns null if a cut stream cannot be opened again. Each attempt to open it is one request.</summary>
    private Resumption? ResumptionOf(ApiRequest request, CallOptions? options, CancellationToken stop)
    {
        if (request.Identity is null) return null;
        var once = (options ?? new CallOptions()) with { IsOnce = true };
        return new Resumption(request.Identity, stop, (id, token) =>
            DownloadAsync(Sent(request.After(id), once, token) with { StopOfBody = stop }));
    }

    private static async Task<Download> DownloadAsync(Sending sending) =>
        (await sending.SendAsync(true).ConfigureAwait(false)).Stream!;
}
