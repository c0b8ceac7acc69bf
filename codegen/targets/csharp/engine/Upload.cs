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
    private readonly Func<Upload, HttpContent> open;

    private Upload(Func<Upload, HttpContent> open) => this.open = open;

    /// <summary>False after the first read of a stream, which can be read once.</summary>
    internal bool IsRepeatable { get; private set; } = true;

    /// <summary>Sends an array.</summary>
    public static implicit operator Upload(byte[] bytes) => new(_ => new ByteArrayContent(bytes));

    /// <summary>Sends a stream in pieces, while it is read. The caller closes the stream.</summary>
    public static implicit operator Upload(Stream stream) => new(self => new OnceContent(self, stream));

    /// <summary>Sends a file, which is opened for each attempt.</summary>
    public static Upload FromFile(string path) => new(_ => new StreamContent(File.OpenRead(path)));

    /// <summary>Makes the content for one attempt.</summary>
    internal HttpContent Open() => open(this);

    /// <summary>Leaves the caller's stream open, which StreamContent would close.</summary>
    private sealed class OnceContent : HttpContent
    {
        private readonly Upload upload;
        private readonly Stream stream;

        internal OnceContent(Upload upload, Stream stream) => (this.upload, this.stream) = (upload, stream);

        protected override Task SerializeToStreamAsync(Stream target, TransportContext? context) =>
            SerializeToStreamAsync(target, context, CancellationToken.None);

        protected override Task SerializeToStreamAsync(
            Stream target, TransportContext? context, CancellationToken stop)
        {
            upload.IsRepeatable = false;
            return stream.CopyToAsync(target, stop);
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
