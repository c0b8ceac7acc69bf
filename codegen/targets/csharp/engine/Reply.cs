using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>One answer. The stream is null if the body was read whole, and the body is empty if not.</summary>
internal sealed record Reply(int Status, IReadOnlyDictionary<string, string> Headers, byte[] Body, Download? Stream)
{
    internal static IReadOnlyDictionary<string, string> HeadersOf(HttpResponseMessage response) =>
        response.Headers.Concat(response.Content.Headers)
            .ToDictionary(pair => pair.Key, pair => string.Join(", ", pair.Value), StringComparer.OrdinalIgnoreCase);

    /// <summary>Reads a whole body, which may have at most 64 MiB.</summary>
    internal static async Task<Reply> ReadAsync(HttpResponseMessage response, CancellationToken stop)
    {
        using var stream = await response.Content.ReadAsStreamAsync(stop).ConfigureAwait(false);
        var body = new MemoryStream();
        var piece = new byte[1 << 16];
        for (int count; (count = await stream.ReadAsync(piece, stop).ConfigureAwait(false)) > 0;)
        {
            body.Write(piece, 0, count);
            if (body.Length > Json.BytesMax)
                throw new ProtocolException($"the answer has more than {Json.BytesMax} bytes");
        }
        return new Reply((int)response.StatusCode, HeadersOf(response), body.ToArray(), null);
    }
}
