using System;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>Bytes of a request, such as audio. An array and a stream convert to it.</summary>
public sealed class Upload
{
    private Upload(Func<HttpContent> open, bool isRepeatable) => (Open, IsRepeatable) = (open, isRepeatable);

    /// <summary>Makes the content for one attempt.</summary>
    internal Func<HttpContent> Open { get; }

    /// <summary>A stream can be read once, so a request with a stream is not sent again after an answer.</summary>
    internal bool IsRepeatable { get; }

    /// <summary>Sends an array.</summary>
    public static implicit operator Upload(byte[] bytes) => new(() => new ByteArrayContent(bytes), true);

    /// <summary>Sends a stream in pieces, while it is read. The caller closes the stream.</summary>
    public static implicit operator Upload(Stream stream) => new(() => new OnceContent(stream), false);

    /// <summary>Sends a file, which is opened for each attempt.</summary>
    public static Upload FromFile(string path) => new(() => new StreamContent(File.OpenRead(path)), true);

    /// <summary>Leaves the caller's stream open, which StreamContent would close.</summary>
    private sealed class OnceContent : HttpContent
    {
        private readonly Stream stream;

        internal OnceContent(Stream stream) => this.stream = stream;

        protected override Task SerializeToStreamAsync(Stream target, TransportContext? context) =>
            stream.CopyToAsync(target);

        protected override Task SerializeToStreamAsync(
            Stream target, TransportContext? context, CancellationToken stop) =>
            stream.CopyToAsync(target, stop);

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
