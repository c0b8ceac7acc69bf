using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>
/// The bytes of an answer, such as audio, while the server sends them. Each read may take at most the timeout. The
/// reader must dispose of it, which ends the request if the server has not sent all bytes.
/// </summary>
public sealed class Download : Stream
{
    private readonly HttpResponseMessage response;
    private readonly Stream body;
    private readonly TimeSpan timeout;
    private readonly CancellationToken stop;
    private readonly CancellationTokenSource closed = new();

    /// <summary>The token of the call also ends each read.</summary>
    internal Download(HttpResponseMessage response, Stream body, TimeSpan timeout, CancellationToken stop)
    {
        (this.response, this.body, this.timeout, this.stop) = (response, body, timeout, stop);
        Headers = Reply.HeadersOf(response);
    }

    /// <summary>The headers of the answer, such as Content-Type.</summary>
    public IReadOnlyDictionary<string, string> Headers { get; }

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop, closed.Token, cancellationToken);
        limit.CancelAfter(timeout);
        try
        {
            return await body.ReadAsync(buffer, limit.Token).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is not ParleyException)
        {
            cancellationToken.ThrowIfCancellationRequested();
            stop.ThrowIfCancellationRequested();
            if (closed.IsCancellationRequested) throw new OperationCanceledException("the stream was closed");
            if (failure is OperationCanceledException) throw new RequestTimeoutException(timeout);
            throw new ConnectionException("the answer was cut", false, failure);
        }
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) =>
        ReadAsync(buffer.AsMemory(offset, count)).AsTask().GetAwaiter().GetResult();

    /// <inheritdoc/>
    public override void Flush() { }

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <summary>Ends the request. Any thread may call this, also during a read.</summary>
    protected override void Dispose(bool disposing)
    {
        if (!disposing) return;
        closed.Cancel();
        response.Dispose();
    }
}
