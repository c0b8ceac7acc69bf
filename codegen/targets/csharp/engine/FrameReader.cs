using System;
using System.IO;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>An event as it came over the wire.</summary>
internal sealed record Frame(string? Id, string Event, string Data)
{
    internal JsonElement Json() => Parley.Json.Tree(Encoding.UTF8.GetBytes(Data));
}

/// <summary>
/// Reads an event stream: lines end in LF, CR or CRLF, a blank line ends an event, and a colon starts a comment.
/// </summary>
internal sealed class FrameReader
{
    /// <summary>One event may have at most 16 MiB.</summary>
    private const int EventBytesMax = 16 << 20;

    private readonly Download body;
    private readonly byte[] piece = new byte[1 << 14];
    private int start;
    private int end;
    private bool isAfterCr;
    private int eventBytes;

    /// <summary>The last id is that of the stream before a cut, or null.</summary>
    internal FrameReader(Download body, string? lastId) => (this.body, LastId) = (body, lastId);

    /// <summary>The id of the last whole event. Null if no event had an id.</summary>
    internal string? LastId { get; private set; }

    internal void Close() => body.Dispose();

    /// <summary>Returns the next event with data. Null if the stream ends.</summary>
    internal async Task<Frame?> NextAsync(CancellationToken stop)
    {
        StringBuilder? data = null;
        var (name, id) = ("message", LastId);
        eventBytes = 0;
        while (await LineAsync(stop).ConfigureAwait(false) is { } line)
        {
            if (line == "")
            {
                // The id counts only at the end of its event.
                LastId = id;
                if (data is not null) return new Frame(id, name, data.ToString());
                (name, eventBytes) = ("message", 0);
                continue;
            }
            var (field, value) = Split(line);
            if (field == "event") name = value;
            else if (field == "id") id = value;
            else if (field == "data") data = (data?.Append('\n') ?? new StringBuilder()).Append(value);
        }
        return null;
    }

    private static (string Field, string Value) Split(string line)
    {
        var colon = line.IndexOf(':');
        if (colon < 0) return (line, "");
        var value = line[(colon + 1)..];
        return (line[..colon], value.StartsWith(' ') ? value[1..] : value);
    }

    /// <summary>Returns a line without its end. Null if the stream ends, also in the middle of a line.</summary>
    private async Task<string?> LineAsync(CancellationToken stop)
    {
        var line = new MemoryStream();
        while (await FillAsync(stop).ConfigureAwait(false))
        {
            var isSecondHalf = isAfterCr && piece[start] == '\n';
            isAfterCr = false;
            if (isSecondHalf && ++start == end) continue;
            var length = piece.AsSpan(start, end - start).IndexOfAny((byte)'\r', (byte)'\n');
            var count = length < 0 ? end - start : length;
            line.Write(piece, start, count);
            start += count;
            eventBytes += count;
            if (eventBytes > EventBytesMax)
                throw new ProtocolException($"an event has more than {EventBytesMax} bytes");
            if (length < 0) continue;
            isAfterCr = piece[start++] == '\r';
            return Encoding.UTF8.GetString(line.GetBuffer(), 0, (int)line.Length).TrimStart('\ufeff');
        }
        return null;
    }

    /// <summary>Waits for bytes. False at the end.</summary>
    private async Task<bool> FillAsync(CancellationToken stop)
    {
        if (start < end) return true;
        (start, end) = (0, await body.ReadAsync(piece, stop).ConfigureAwait(false));
        return end > 0;
    }
}
