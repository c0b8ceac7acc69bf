using System;
using System.Collections.Generic;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>Opens a cut stream again, and leaves out the events that the server repeats.</summary>
internal sealed class Resumption
{
    /// <summary>How often a stream is opened again without a new event in between.</summary>
    private const int AttemptsMax = 5;
    private const int FirstPauseMs = 250;
    private const int PauseMsMax = 4_000;

    /// <summary>More than the events that a server repeats.</summary>
    private const int KeysMax = 10_000;

    private readonly IReadOnlyDictionary<string, string> identity;
    private readonly Func<string, CancellationToken, Task<Download>> open;
    private readonly CancellationToken stop;
    private readonly CancellationTokenSource closed = new();
    private readonly Dictionary<string, (string Value, LinkedListNode<string> Place)> handedOut = new();
    private readonly LinkedList<string> oldest = new();
    private bool isResumed;
    private int attempts;

    /// <summary>
    /// The identity has the field of an event's data that tells two events apart, by the events' name. <c>open</c>
    /// sends the request again, after an event's id.
    /// </summary>
    internal Resumption(
        IReadOnlyDictionary<string, string> identity, CancellationToken stop,
        Func<string, CancellationToken, Task<Download>> open) =>
        (this.identity, this.stop, this.open) = (identity, stop, open);

    /// <summary>False if the caller has the event. Of events without an identity only the last counts.</summary>
    internal bool IsNew(Frame frame)
    {
        JsonElement? data = frame.Json();
        var isState = !identity.TryGetValue(frame.Event, out var field);
        var key = isState ? frame.Event : $"{frame.Event} {data.Field(field!)}";
        var isKnown = Keep(key, isState ? data.Value.GetRawText() : "");
        if (isResumed && isKnown) return false;
        attempts = 0;
        return true;
    }

    /// <summary>Opens the stream again. Throws the last failure if there must be no further attempt.</summary>
    internal async Task<Download> OpenAsync(string? lastId, ParleyException failure, CancellationToken stopOfLoop)
    {
        var last = failure;
        using var token = CancellationTokenSource.CreateLinkedTokenSource(closed.Token, stop, stopOfLoop);
        while (lastId is not null && attempts < AttemptsMax && MayPass(last))
        {
            isResumed = true;
            await Task.Delay(Math.Min(FirstPauseMs << attempts++, PauseMsMax), token.Token).ConfigureAwait(false);
            try
            {
                return await open(lastId, token.Token).ConfigureAwait(false);
            }
            catch (ParleyException again)
            {
                last = again;
            }
        }
        throw last;
    }

    /// <summary>Ends a pause, and the request of an attempt.</summary>
    internal void Close() => closed.Cancel();

    /// <summary>Keeps a key and its value. The newest key goes to the end: the oldest is forgotten first.</summary>
    private bool Keep(string key, string value)
    {
        var isKnown = handedOut.Remove(key, out var known) && known.Value == value;
        if (known.Place is not null) oldest.Remove(known.Place);
        handedOut[key] = (value, oldest.AddLast(key));
        if (handedOut.Count <= KeysMax) return isKnown;
        handedOut.Remove(oldest.First!.Value);
        oldest.RemoveFirst();
        return isKnown;
    }

    private static bool MayPass(ParleyException failure) =>
        failure is ApiException error ? error.IsRetryable : failure is ConnectionException or RequestTimeoutException;
}
