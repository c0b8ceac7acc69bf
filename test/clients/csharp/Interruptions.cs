using System;
using System.IO;
using System.Net.Http;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Parley;
using Parley.Compat;
using Parley.Platform;
using Parley.Router;

namespace Behaviour;

/// <summary>Requests and streams with an early end, by a connection, an upload or a caller.</summary>
internal static class Interruptions
{
    /// <summary>Sends a request without a body over a used connection. The server closes the connection.</summary>
    internal static async Task<object> WithoutBodyAsync()
    {
        using var client = Program.ClientAt("dropped");
        await new RouterClient(client).ListModelsAsync();
        return await new PlatformClient(client).ResendInvitationAsync("a");
    }

    /// <summary>Returns how often the client read a failing upload.</summary>
    internal static async Task<object> UploadAsync(Exception failure)
    {
        var upload = new FailingUpload(failure);
        try
        {
            await new CompatClient(Program.ClientAt("upload")).TranscribeAsync(upload);
        }
        catch (ConnectionException lost)
        {
            return new object[] { upload.ReadsCount, lost.IsNeverMade };
        }
        return "sent";
    }

    /// <summary>Disposes of a stream while its loop waits for the next event.</summary>
    internal static async Task<object> DisposedAsync()
    {
        var stream = await new PlatformClient(Program.ClientAt("slow")).StreamSessionAsync("a");
        await using var loop = stream.GetAsyncEnumerator();
        for (var count = 0; count < 2; count++) await loop.MoveNextAsync();
        var next = loop.MoveNextAsync();
        await stream.DisposeAsync();
        return await next;
    }

    /// <summary>Cancels a loop while its cut stream is opened again.</summary>
    internal static async Task<object> ReopenedAsync()
    {
        using var stop = new CancellationTokenSource();
        using var handler = HandlerThatCancels(stop);
        using var client = new ParleyClient(
            $"{Program.Url}/cancelled", new ParleyOptions { ApiKey = "sk", Handler = handler });
        var stream = await new PlatformClient(client).StreamSessionAsync("a");
        await foreach (var _ in stream.WithCancellation(stop.Token)) { }
        return "complete";
    }

    /// <summary>Opens a connection for each request, and cancels while the second connection is opened.</summary>
    private static SocketsHttpHandler HandlerThatCancels(CancellationTokenSource stop)
    {
        var count = 0;
        return new()
        {
            AllowAutoRedirect = false,
            PooledConnectionLifetime = TimeSpan.Zero,
            ConnectCallback = async (context, limit) =>
            {
                if (++count == 2) stop.Cancel();
                var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                await socket.ConnectAsync(context.DnsEndPoint, limit);
                return new NetworkStream(socket, ownsSocket: true);
            },
        };
    }

    /// <summary>Fails after the first byte.</summary>
    private sealed class FailingUpload : MemoryStream
    {
        private readonly Exception failure;

        internal FailingUpload(Exception failure) => this.failure = failure;

        internal int ReadsCount { get; private set; }

        public override async Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken)
        {
            ReadsCount++;
            await destination.WriteAsync(new byte[1], cancellationToken);
            throw failure;
        }
    }
}
