using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Parley;
using Parley.Realtime;

namespace Scenario;

internal static class Sockets
{
    internal static readonly Step[] Steps =
    {
        new("socket_transcribe", TranscribeAsync), new("socket_synthesize", SynthesizeAsync),
        new("socket_refused", RefusedAsync),
    };

    private const int FrameBytes = 3200;
    private const int NormalClose = 1000;

    private static async Task<Values> TranscribeAsync()
    {
        await using var socket = await Program.Realtime.TranscribeStreamAsync();
        var sent = SendAsync(socket, await File.ReadAllBytesAsync(Program.Variable("PARLEY_WAV")));
        var words = "";
        await foreach (var frame in socket)
            if (frame is TranscriptFrame { IsFinal: true } transcript) words += $"{transcript.Text} ";
        await sent;
        return new Values { ["words"] = Program.WordsOf(words), ["close"] = NormalClose };
    }

    private static async Task SendAsync(
        Socket<ITranscribeStreamSent, ITranscribeStreamReceived> socket, byte[] recording)
    {
        await socket.SendAsync(new SttConfig(Language: "en", ContentType: SttConfigContentType.AudioWav));
        foreach (var frame in recording.Chunk(FrameBytes)) await socket.SendAsync(new Audio(frame));
        await socket.SendAsync(new EndFrame());
    }

    private static async Task<Values> SynthesizeAsync()
    {
        await using var socket = await Program.Realtime.SynthesizeStreamAsync();
        await socket.SendAsync(new TtsConfig(Model: "loopback/loopback"));
        await socket.SendAsync(new TextFrame(Program.Text));
        await socket.SendAsync(new EndFrame());
        var (bytes, characters) = (0, 0L);
        await foreach (var frame in socket)
        {
            if (frame is Audio audio) bytes += audio.Value.Length;
            if (frame is SpeechEndFrame end) characters = end.Usage.Characters;
        }
        return new Values { ["bytes"] = bytes, ["characters"] = characters, ["close"] = NormalClose };
    }

    private static async Task<Values> RefusedAsync()
    {
        await using var socket = await Program.Realtime.SynthesizeStreamAsync();
        await socket.SendAsync(new TtsConfig(SampleRate: 1));
        try
        {
            await foreach (var _ in socket) { }
        }
        catch (SocketClosedException closed)
        {
            return new Values { ["code"] = closed.Code, ["close"] = closed.CloseCode, ["retryable"] = closed.IsRetryable };
        }
        throw new InvalidOperationException("the socket closed without an error");
    }
}
