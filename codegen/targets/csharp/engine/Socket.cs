using System;
using System.Collections.Generic;
using System.IO;
using System.Net.WebSockets;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>
/// A typed socket. One task may read while others send. If the server closes the socket with another code than 1000, or
/// the connection is lost, the loop over the frames throws a SocketClosedException.
/// </summary>
/// <typeparam name="TSent">The frames of the client.</typeparam>
/// <typeparam name="TReceived">The frames of the server.</typeparam>
public sealed class Socket<TSent, TReceived> : IAsyncEnumerable<TReceived>, IAsyncDisposable
    where TSent : class where TReceived : class
{
    private const int NormalClose = 1000;
    private const int CloseWithoutCode = 1005;

    /// <summary>One frame may have at most 16 MiB.</summary>
    private const int FrameBytesMax = 16 << 20;

    /// <summary>The server has this time to answer a close.</summary>
    private static readonly TimeSpan CloseMax = TimeSpan.FromSeconds(5);

    private readonly WebSocket connection;
    private readonly UpgradedStream stream;
    private readonly Contract contract;
    private readonly TimeSpan timeout;
    private readonly SemaphoreSlim sending = new(1, 1);
    private readonly SemaphoreSlim reading = new(1, 1);
    private readonly byte[] piece = new byte[1 << 16];
    private volatile bool isClosedByCaller;
    private volatile SocketClose? closed;

    /// <summary>The last error frame.</summary>
    private JsonElement? error;

    internal Socket(WebSocket connection, UpgradedStream stream, Contract contract, TimeSpan timeout) =>
        (this.connection, this.stream, this.contract, this.timeout) = (connection, stream, contract, timeout);

    /// <summary>Sends a frame. Waits if the network is slower than the caller.</summary>
    public async Task SendAsync(TSent frame, CancellationToken cancellationToken = default)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(timeout);
        await sending.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (closed is not null || isClosedByCaller) throw ClosedError(null);
            var (bytes, type) = frame is IWrapper<byte[]> binary
                ? (binary.Value, WebSocketMessageType.Binary)
                : (Json.Write(contract.Json, frame), WebSocketMessageType.Text);
            await connection.SendAsync(bytes, type, true, limit.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw limit.IsCancellationRequested ? new RequestTimeoutException(timeout) : ClosedError(null);
        }
        catch (Exception failure) when (IsLost(failure))
        {
            throw ClosedError(failure);
        }
        finally
        {
            sending.Release();
        }
    }

    /// <summary>Returns the frames of the server.</summary>
    public async IAsyncEnumerator<TReceived> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        while (await NextAsync(cancellationToken).ConfigureAwait(false) is { } frame) yield return frame;
    }

    /// <summary>Closes the socket with the code 1000. A loop over the frames ends.</summary>
    public async ValueTask DisposeAsync()
    {
        if (isClosedByCaller) return;
        isClosedByCaller = true;
        using var limit = new CancellationTokenSource(CloseMax);
        try
        {
            if (closed is null) await SendCloseAsync(limit.Token).ConfigureAwait(false);
            await DrainAsync(limit.Token).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is OperationCanceledException || IsLost(failure))
        {
            connection.Abort();
        }
        connection.Dispose();
    }

    /// <summary>Reads until the server's close, or waits until the loop over the frames has read it.</summary>
    private async Task DrainAsync(CancellationToken limit)
    {
        await reading.WaitAsync(limit).ConfigureAwait(false);
        try
        {
            while (closed is null && connection.State is WebSocketState.Open or WebSocketState.CloseSent)
                await connection.ReceiveAsync(piece, limit).ConfigureAwait(false);
        }
        finally
        {
            reading.Release();
        }
    }

    /// <summary>Returns the next frame. Null if the socket closed with 1000, or if the caller closed it.</summary>
    private async Task<TReceived?> NextAsync(CancellationToken stop)
    {
        if (isClosedByCaller || closed?.Code == NormalClose) return null;
        if (closed is not null) throw ClosedError(null);
        await reading.WaitAsync(stop).ConfigureAwait(false);
        try
        {
            // Another task may have closed the socket during the wait.
            return isClosedByCaller ? null : await ReceiveAsync(stop).ConfigureAwait(false);
        }
        catch (Exception failure) when (IsLost(failure) || IsAborted(failure, stop))
        {
            closed ??= new SocketClose(SocketClosedException.Lost, "");
            return isClosedByCaller ? null : throw ClosedError(failure);
        }
        catch (ProtocolException)
        {
            connection.Abort();
            throw;
        }
        finally
        {
            reading.Release();
        }
    }

    private async Task<TReceived?> ReceiveAsync(CancellationToken stop)
    {
        var frame = new MemoryStream();
        while (true)
        {
            var got = await connection.ReceiveAsync(piece, stop).ConfigureAwait(false);
            if (got.MessageType == WebSocketMessageType.Close) return await TakeCloseAsync(got).ConfigureAwait(false);
            frame.Write(piece, 0, got.Count);
            if (frame.Length > FrameBytesMax)
                throw new ProtocolException($"a frame has more than {FrameBytesMax} bytes");
            if (got.EndOfMessage) return isClosedByCaller ? null : Decode(frame.ToArray(), got.MessageType);
        }
    }

    private async Task<TReceived?> TakeCloseAsync(WebSocketReceiveResult got)
    {
        closed = CloseOf(got);
        using var limit = new CancellationTokenSource(CloseMax);
        try
        {
            await SendCloseAsync(limit.Token).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is OperationCanceledException || IsLost(failure))
        {
            // The server has closed the connection already.
        }
        return isClosedByCaller || closed.Code == NormalClose ? null : throw ClosedError(null);
    }

    private SocketClose CloseOf(WebSocketReceiveResult got)
    {
        var (code, reason) = ((int?)got.CloseStatus ?? CloseWithoutCode, got.CloseStatusDescription ?? "");
        var hasNoCode = code == NormalClose && reason == "" && stream.HasNoCode;
        return new SocketClose(hasNoCode ? CloseWithoutCode : code, reason);
    }

    private Task SendCloseAsync(CancellationToken limit) =>
        connection.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, "", limit);

    private TReceived Decode(byte[] frame, WebSocketMessageType type)
    {
        if (type == WebSocketMessageType.Binary) return DecodeBinary(frame);
        var json = Json.Tree(frame);
        if (json.ValueKind != JsonValueKind.Object) throw new ProtocolException("a frame is not a JSON object");
        KeepError(json);
        return Json.Read<TReceived>(contract.Json, json);
    }

    /// <summary>If the contract has no binary frames, the frame has the type for unknown values, as base64.</summary>
    private TReceived DecodeBinary(byte[] frame)
    {
        var type = UnionRule<TReceived>.TypeFor(UnionAttribute.Binary);
        if (typeof(IWrapper<byte[]>).IsAssignableFrom(type)) return (TReceived)Activator.CreateInstance(type, frame)!;
        return Json.Arm<TReceived>(contract.Json, UnionAttribute.Binary, JsonSerializer.SerializeToElement(frame));
    }

    /// <summary>Keeps a fatal error. The channel like OpenAI's has the fields in <c>error</c>.</summary>
    private void KeepError(JsonElement? frame)
    {
        if (frame.Text("type") != "error" || frame.Truth("fatal") == false) return;
        error = frame.Field("error") is { ValueKind: JsonValueKind.Object } inner ? inner : frame;
    }

    private static bool IsLost(Exception failure) =>
        failure is WebSocketException or IOException or ObjectDisposedException;

    /// <summary>True if a read ended because this client gave the connection up, for example in another task.</summary>
    private static bool IsAborted(Exception failure, CancellationToken stop) =>
        failure is OperationCanceledException && !stop.IsCancellationRequested;

    private SocketClosedException ClosedError(Exception? cause) =>
        SocketClosedException.Of(contract, closed ?? new SocketClose(SocketClosedException.Lost, ""), error, cause);
}
