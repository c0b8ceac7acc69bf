using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>An event with a name.</summary>
/// <param name="Name">The kind of the event. The data has the type that belongs to the name.</param>
/// <param name="Id">The event's id, for the header Last-Event-ID. Null if the stream has no ids.</param>
/// <param name="Data">The event's data.</param>
public sealed record Event<T>(string Name, string? Id, T Data);

/// <summary>A value, or null if the event has no value. The last event ends the stream.</summary>
internal sealed record Decoded<T>(T? Value, bool IsLast) where T : class;

/// <summary>
/// A stream of events. It is complete only after its last event: if the connection ends before, the loop throws a
/// ConnectionException. To leave the loop closes the connection. Only one loop may read a stream, and any thread may
/// dispose of it.
/// </summary>
public sealed class EventStream<T> : IAsyncEnumerable<T>, IAsyncDisposable where T : class
{
    private readonly Func<Frame, Decoded<T>> decode;
    private readonly Resumption? resumption;
    private volatile FrameReader frames;
    private volatile bool isOver;

    /// <summary>The resumption is null if a cut stream cannot be opened again.</summary>
    internal EventStream(Download body, Func<Frame, Decoded<T>> decode, Resumption? resumption)
    {
        (this.decode, this.resumption) = (decode, resumption);
        Headers = body.Headers;
        frames = new FrameReader(body, null);
    }

    /// <summary>The headers of the answer.</summary>
    public IReadOnlyDictionary<string, string> Headers { get; }

    /// <summary>Returns the events.</summary>
    public async IAsyncEnumerator<T> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        try
        {
            while (await NextAsync(cancellationToken).ConfigureAwait(false) is { } value) yield return value;
        }
        finally
        {
            Close();
        }
    }

    /// <summary>Closes the connection. The server stops if it has not sent all events.</summary>
    public ValueTask DisposeAsync()
    {
        Close();
        return default;
    }

    private void Close()
    {
        isOver = true;
        resumption?.Close();
        frames.Close();
    }

    /// <summary>Returns the next value. Null after the last event, and after the stream was closed.</summary>
    private async Task<T?> NextAsync(CancellationToken stop)
    {
        try
        {
            while (!isOver)
            {
                var frame = await FrameAsync(stop).ConfigureAwait(false);
                if (resumption?.IsNew(frame) == false) continue;
                var decoded = decode(frame);
                if (decoded.IsLast) Close();
                if (decoded.Value is not null) return decoded.Value;
            }
        }
        catch (Exception) when (isOver)
        {
            // Another thread has closed the stream, which ends the loop.
        }
        return null;
    }

    private async Task<Frame> FrameAsync(CancellationToken stop)
    {
        while (true)
        {
            ParleyException cut = new ConnectionException("the stream ended before its last event", false);
            try
            {
                if (await frames.NextAsync(stop).ConfigureAwait(false) is { } frame) return frame;
            }
            catch (Exception failure) when (failure is ConnectionException or RequestTimeoutException)
            {
                cut = (ParleyException)failure;
            }
            frames.Close();
            if (resumption is null) throw cut;
            var lastId = frames.LastId;
            frames = new FrameReader(await resumption.OpenAsync(lastId, cut, stop).ConfigureAwait(false), lastId);
            // Another thread may have closed the stream in the meantime.
            if (isOver) frames.Close();
        }
    }
}
