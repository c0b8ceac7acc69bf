using System;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Parley;
using Parley.Router;

namespace Scenario;

internal static class Faults
{
    internal static readonly Step[] Steps =
    {
        new("retry", RetryAsync), new("cut_stream", () => CutAsync("reset")), new("short_stream", () => CutAsync("short")),
        new("cancel", CancelAsync), new("timeout", LateAsync),
    };

    private static readonly TimeSpan Limit = TimeSpan.FromMilliseconds(300);
    private static readonly string Url = Program.Variable("PARLEY_FAULTS_URL");

    private static RouterClient At(string fault) => new(Program.ClientAt($"{Url}/{fault}"));

    private static async Task<Values> RetryAsync() =>
        new() { ["text"] = Texts.TextOf(await At("busy").CreateResponseAsync(Texts.Question)) };

    private static async Task<Values> CutAsync(string fault)
    {
        try
        {
            await foreach (var _ in await At(fault).CreateResponseStreamAsync(Texts.Question)) { }
        }
        catch (ConnectionException)
        {
            return new Values { ["error"] = "truncated" };
        }
        throw new InvalidOperationException("the stream was complete");
    }

    private static async Task<Values> CancelAsync()
    {
        using var stop = new CancellationTokenSource();
        var answer = At("silent").CreateResponseAsync(Texts.Question, cancellationToken: stop.Token);
        using var http = new HttpClient();
        await http.GetAsync($"{Url}/sent/silent");
        stop.Cancel();
        try
        {
            throw new InvalidOperationException($"there was an answer: {await answer}");
        }
        catch (OperationCanceledException)
        {
            return new Values { ["error"] = "cancelled" };
        }
    }

    private static async Task<Values> LateAsync()
    {
        try
        {
            var answer = await At("silent").CreateResponseAsync(Texts.Question, new CallOptions(Timeout: Limit));
            throw new InvalidOperationException($"there was an answer: {answer}");
        }
        catch (RequestTimeoutException)
        {
            return new Values { ["error"] = "timeout" };
        }
    }
}
