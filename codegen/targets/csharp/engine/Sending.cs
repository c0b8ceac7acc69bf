using System;
using System.IO;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>Sends a request until the server answers it, or until it must not be sent again.</summary>
internal sealed record Sending(Surface Surface, ApiRequest Request, CallOptions Options, CancellationToken Stop)
{
    /// <summary>Ends the reads of a streamed answer. The source of the token Stop may be gone by then.</summary>
    internal CancellationToken StopOfBody { get; init; } = Stop;

    internal TimeSpan Timeout => Options.Timeout ?? Surface.Client.Options.Timeout;

    /// <summary>Returns the answer, whose body is a stream or whole.</summary>
    internal async Task<Reply> SendAsync(bool isStream)
    {
        for (var retry = 0; ; retry++)
        {
            TimeSpan pause;
            try
            {
                return await AttemptAsync(isStream).ConfigureAwait(false);
            }
            catch (ParleyException failure) when (PauseAfter(failure, retry) is { } usual)
            {
                pause = usual;
            }
            await Task.Delay(pause, Stop).ConfigureAwait(false);
        }
    }

    private TimeSpan? PauseAfter(ParleyException failure, int retry)
    {
        var isOver = retry >= Surface.Client.Options.RetriesMax || Options.HasOneAttempt;
        return isOver ? null : Retries.PauseBefore(retry, Request, failure);
    }

    private async Task<Reply> AttemptAsync(bool isStream)
    {
        // A file that cannot be opened is no failure of the network.
        using var message = Prepare();
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Stop);
        limit.CancelAfter(Timeout);
        try
        {
            return await ReplyAsync(message, isStream, limit.Token).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is HttpRequestException or IOException or OperationCanceledException)
        {
            Stop.ThrowIfCancellationRequested();
            if (limit.IsCancellationRequested) throw new RequestTimeoutException(Timeout);
            // The failure may also be that of the caller's stream, which is read only over a connection.
            var isNeverMade = Request.IsRepeatable && Retries.IsNeverMade(failure);
            throw new ConnectionException($"there is no answer: {failure.Message}", isNeverMade, failure);
        }
    }

    private async Task<Reply> ReplyAsync(HttpRequestMessage message, bool isStream, CancellationToken limit)
    {
        var response = await Surface.Client.Http.SendAsync(message, limit).ConfigureAwait(false);
        var isKept = false;
        try
        {
            if (isStream && response.IsSuccessStatusCode)
            {
                var body = await response.Content.ReadAsStreamAsync(limit).ConfigureAwait(false);
                var stream = new Download(response, body, Timeout, StopOfBody);
                isKept = true;
                return new Reply((int)response.StatusCode, stream.Headers, Array.Empty<byte>(), stream);
            }
            var reply = await Reply.ReadAsync(response, limit).ConfigureAwait(false);
            return response.IsSuccessStatusCode ? reply : throw Surface.ErrorOf(reply);
        }
        finally
        {
            if (!isKept) response.Dispose();
        }
    }

    private HttpRequestMessage Prepare()
    {
        var client = Surface.Client;
        var address = client.BaseUrl + Surface.Contract.Prefix + Request.Address;
        // The path is escaped already, and must stay as it is.
        var exact = new UriCreationOptions { DangerousDisablePathAndQueryCanonicalization = true };
        var message = new HttpRequestMessage(new HttpMethod(Request.Method), new Uri(address, exact))
        {
            Content = Request.Body(),
        };
        Set(message, "User-Agent", client.UserAgent);
        foreach (var (name, value) in Request.Headers) Set(message, client.HeaderName(name), value);
        if (!Request.IsPublic && client.Options.ApiKey is { } key) Set(message, "Authorization", $"Bearer {key}");
        if (Request.IsIdempotent) Set(message, CallOptions.KeyHeader, Guid.NewGuid().ToString());
        foreach (var (name, value) in Options.AllHeaders) Set(message, name, value);
        return message;
    }

    /// <summary>Sets a header. In .NET some headers belong to the body.</summary>
    private static void Set(HttpRequestMessage message, string name, string value)
    {
        if (message.Headers.TryGetValues(name, out _)) message.Headers.Remove(name);
        if (message.Headers.TryAddWithoutValidation(name, value)) return;
        message.Content?.Headers.Remove(name);
        message.Content?.Headers.TryAddWithoutValidation(name, value);
    }
}
