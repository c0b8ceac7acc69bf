using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Parley;
using Parley.Compat;
using Parley.Platform;
using Parley.Router;
using Intent = Parley.Compat.Intent;
using SpeechRequest = Parley.Router.SpeechRequest;

namespace Scenario;

/// <summary>The rules for retries, redirects, headers, time limits, errors and webhooks.</summary>
internal static class Rules
{
    internal static readonly Step[] Steps =
    {
        new("rule_retries", RetriesAsync),
        new("rule_redirects", () => ErrorsOfAsync(PostAsync, "moved", "other", "temporary")),
        new("rule_headers", HeadersAsync), new("rule_errors", ErrorsAsync), new("rule_timeouts", TimeoutsAsync),
        new("rule_webhooks", WebhooksAsync),
    };

    private static readonly string[] Refusals =
    {
        "limited", "progress", "broken", "upstream", "overloaded", "late", "final", "begun",
    };

    private static readonly string Url = Program.Variable("PARLEY_RULES_URL");
    private static readonly ParleyOptions Hurry = new() { Timeout = TimeSpan.FromSeconds(1) };

    /// <summary>The key comes from PARLEY_API_KEY.</summary>
    private static RouterClient RouterAt(string answer, ParleyOptions? options = null) =>
        new(new ParleyClient($"{Url}/{answer}", options));

    private static Task PostAsync(string name) => RouterAt(name).CreateResponseAsync(Texts.Question);

    private static Task GetAsync(string name) => RouterAt(name).ListModelsAsync();

    private static async Task<Values> RetriesAsync()
    {
        var mine = new CallOptions(Headers: new Dictionary<string, string> { ["idempotency-KEY"] = "mine" });
        return new Values
        {
            ["posts"] = await ErrorsOfAsync(PostAsync, Refusals), ["reads"] = await ErrorsOfAsync(GetAsync, Refusals),
            ["with_key"] = await ErrorOfAsync(() => RouterAt("limited").CreateResponseAsync(Texts.Question, mine)),
        };
    }

    private static async Task<Values> HeadersAsync()
    {
        var compat = new CompatClient(new ParleyClient($"{Url}/headers//", new ParleyOptions { HeaderPrefix = "Voice" }));
        var options = new CallOptions(Headers: new Dictionary<string, string> { ["content-type"] = "audio/l16; rate=8000" });
        var answer = await compat.TranscribeAsync(new byte[2], serviceIntent: new Intent("dé🎵"), options: options);
        return new Values { ["text"] = answer.Text };
    }

    private static async Task<Values> ErrorsAsync()
    {
        var unused = new RouterClient(new ParleyClient("http://127.0.0.1:2", new ParleyOptions { RetriesMax = 1 }));
        var errors = await ErrorsOfAsync(PostAsync, "reset", "cut");
        foreach (var (name, error) in await ErrorsOfAsync(GetAsync, "page", "gateway", "text", "longest", "longer"))
            errors[name] = error;
        errors["refused"] = await ErrorOfAsync(() => unused.ListModelsAsync());
        return errors;
    }

    private static async Task<Values> TimeoutsAsync()
    {
        var errors = await ErrorsOfAsync(name => RouterAt(name, Hurry).ListModelsAsync(), "silent", "slow");
        foreach (var (name, error) in await ErrorsOfAsync(ListenAsync, "audio", "stalled")) errors[name] = error;
        errors["paused"] = await ErrorOfAsync(ReadStreamAsync);
        return errors;
    }

    private static async Task ListenAsync(string name)
    {
        await using var audio = await RouterAt(name, Hurry).CreateSpeechAsync(new SpeechRequest("Hi."));
        await audio.CopyToAsync(Stream.Null);
    }

    private static async Task ReadStreamAsync()
    {
        await foreach (var _ in await RouterAt("paused", Hurry).CreateResponseStreamAsync(Texts.Question)) { }
    }

    private static async Task<Values> ErrorsOfAsync(Func<string, Task> run, params string[] names)
    {
        var errors = new Values();
        foreach (var name in names) errors[name] = await ErrorOfAsync(() => run(name));
        return errors;
    }

    private static async Task<object?> ErrorOfAsync(Func<Task> run)
    {
        try
        {
            await run();
            return null;
        }
        catch (ApiException failure)
        {
            return failure.Status;
        }
        catch (RequestTimeoutException)
        {
            return "timeout";
        }
        catch (ProtocolException)
        {
            return "protocol";
        }
        catch (ConnectionException lost)
        {
            return lost.IsNeverMade ? "unsent" : "lost";
        }
    }

    private static Task<Values> WebhooksAsync()
    {
        var results = new Values();
        var cases = JsonSerializer.Deserialize<JsonElement>(File.ReadAllText(Program.Variable("PARLEY_WEBHOOK_CASES")));
        foreach (var sent in cases.EnumerateArray()) results[sent.GetProperty("name").GetString()!] = ResultOf(sent);
        return Task.FromResult(results);
    }

    private static string ResultOf(JsonElement sent)
    {
        var secrets = sent.GetProperty("secrets").EnumerateArray().Select(secret => secret.GetString()!).ToArray();
        var body = Program.Bytes(sent.GetProperty("body").GetString()!);
        try
        {
            var verifier = new WebhookVerifier(secrets) { Clock = new FixedClock(sent.GetProperty("now").GetInt64()) };
            var received = PlatformClient.VerifyWebhook(verifier, name => Webhooks.HeaderOf(sent, name), body);
            return received is StatusEvent status ? status.Type : received.GetType().Name;
        }
        catch (WebhookException refused)
        {
            return refused.Reason;
        }
        catch (ArgumentException)
        {
            return "misuse";
        }
    }

    private sealed class FixedClock : TimeProvider
    {
        private readonly long seconds;

        internal FixedClock(long seconds) => this.seconds = seconds;

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.FromUnixTimeSeconds(seconds);
    }
}
