using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Threading.Tasks;
using Parley;
using Parley.Platform;
using Parley.Router;

namespace Scenario;

/// <summary>Streams that are cut, repeated, unreadable or too long, from the scripted server.</summary>
internal static class Streams
{
    internal static readonly Step[] Steps =
    {
        new("resumed_webhooks", ResumedWebhooksAsync), new("resumed_session", ResumedSessionAsync),
        new("lost_stream", LostAsync), new("late_read", LateReadAsync), new("closed_streams", ClosedAsync),
        new("unreadable_event", async () => new() { ["error"] = await ErrorOfAsync("unreadable") }),
        new("long_event", LongEventAsync),
    };

    private static readonly string Scripted = Program.Variable("PARLEY_SCRIPTED_URL");
    private static readonly CallOptions Hurried = new(Timeout: TimeSpan.FromSeconds(1));

    private static async Task<Values> LongEventAsync() =>
        new() { ["longest"] = await ErrorOfAsync("longest"), ["longer"] = await ErrorOfAsync("long") };

    private static PlatformClient At(string fault) => new(Program.ClientAt($"{Scripted}/{fault}"));

    private static Task<EventStream<Event<IStreamWebhookEventsEvent>>> WebhooksAsync(
        string fault, CallOptions? options = null) =>
        At(fault).StreamWebhookEventsAsync(cursor: "0:0", options: options);

    private static async Task ReadAsync(EventStream<Event<IStreamWebhookEventsEvent>> stream, List<string> names)
    {
        await foreach (var item in stream)
            names.Add(item.Data is StreamedWebhookEvent webhook ? webhook.EventId : item.Name);
    }

    private static async Task<Values> ResumedWebhooksAsync()
    {
        var names = new List<string>();
        await ReadAsync(await WebhooksAsync("twins"), names);
        return new Values { ["events"] = names };
    }

    private static async Task<Values> ResumedSessionAsync()
    {
        var states = new List<string>();
        await foreach (var item in await At("states").StreamSessionAsync("s"))
            states.Add(item.Data switch
            {
                SessionStatus status => status.Status.Value,
                SessionTurn turn => $"turn {turn.Index}",
                CallEvent call => $"event {call.Id}",
                _ => item.Name,
            });
        return new Values { ["events"] = states };
    }

    private static async Task<Values> LostAsync()
    {
        var names = new List<string>();
        try
        {
            await ReadAsync(await WebhooksAsync("lost"), names);
        }
        catch (ConnectionException)
        {
            return new Values { ["events"] = names, ["error"] = "truncated" };
        }
        throw new InvalidOperationException("the stream was complete");
    }

    private static async Task<Values> LateReadAsync()
    {
        var names = new List<string>();
        await ReadAsync(await WebhooksAsync("stalled", Hurried), names);
        return new Values { ["events"] = names };
    }

    private static async Task<Values> ClosedAsync() =>
        new() { ["opening"] = await ReadUntilClosedAsync("opening"), ["pausing"] = await ReadUntilClosedAsync("pausing") };

    private static async Task<List<string>> ReadUntilClosedAsync(string fault)
    {
        var names = new List<string>();
        var stream = await WebhooksAsync(fault);
        var reading = Task.Run(() => ReadAsync(stream, names));
        await AskAsync("reached", fault);
        await stream.DisposeAsync();
        await AskAsync("released", fault);
        try
        {
            await reading;
        }
        catch (OperationCanceledException)
        {
            // This task has closed the stream.
        }
        return names;
    }

    /// <summary>Waits until the scripted server answers a question about a fault.</summary>
    private static async Task AskAsync(string question, string fault)
    {
        using var http = new HttpClient();
        await http.GetAsync($"{Scripted}/{question}/{fault}");
    }

    private static async Task<string?> ErrorOfAsync(string fault)
    {
        var router = new RouterClient(Program.ClientAt($"{Scripted}/{fault}"));
        try
        {
            await foreach (var _ in await router.CreateResponseStreamAsync(Texts.Question)) { }
            return null;
        }
        catch (ProtocolException)
        {
            return "protocol";
        }
    }
}
