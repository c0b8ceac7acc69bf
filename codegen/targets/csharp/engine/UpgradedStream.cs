using System;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>
/// The bytes of a socket. The platform reports a close without a code as a close with 1000. Both have no reason, so the
/// last byte tells them apart: 0 is the length of a frame without a code, and a frame with 1000 ends in E8.
/// </summary>
internal sealed class UpgradedStream : Stream
{
    private readonly Stream connection;
    private volatile int lastByte = -1;

    internal UpgradedStream(Stream connection) => this.connection = connection;

    /// <summary>True if the server's last frame, a close without a reason, has no code.</summary>
    internal bool HasNoCode => lastByte == 0;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var count = await connection.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
        if (count > 0) lastByte = buffer.Span[count - 1];
        return count;
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        connection.WriteAsync(buffer, cancellationToken);

    public override Task FlushAsync(CancellationToken cancellationToken) => connection.FlushAsync(cancellationToken);

    public override void Flush() => connection.Flush();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing) connection.Dispose();
    }

    /// <summary>The content of an upgraded answer, which is this stream.</summary>
    internal sealed class Content : HttpContent
    {
        private readonly UpgradedStream stream;

        internal Content(UpgradedStream stream) => this.stream = stream;

        protected override Stream CreateContentReadStream(CancellationToken cancellationToken) => stream;

        protected override Task<Stream> CreateContentReadStreamAsync() => Task.FromResult<Stream>(stream);

        protected override Task SerializeToStreamAsync(Stream target, TransportContext? context) =>
            throw new NotSupportedException();

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
