using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Parley;
using Parley.Router;

namespace Scenario;

internal static class Models
{
    internal static readonly Step[] Steps =
    {
        new("models", ModelsAsync), new("transcription", TranscriptionAsync), new("raw_transcription", RawAsync),
        new("speech", SpeechAsync), new("speech_chunks", ChunksAsync),
    };

    private static readonly SpeechRequest Speech = new(Program.Text, Routing: Program.Loopback);

    private static async Task<Values> ModelsAsync()
    {
        var answer = await Program.Router.ListModelsAsync();
        var kinds = answer.Models.Where(row => row.Provider == "loopback").Select(row => row.Kind.Value);
        return new Values { ["kinds"] = kinds.OrderBy(kind => kind) };
    }

    private static async Task<Values> TranscriptionAsync()
    {
        var audio = Upload.FromFile(Program.Variable("PARLEY_WAV"));
        var answer = await Program.Router.CreateTranscriptionAsync(new TranscriptionRequest(Language: "en"), audio);
        return new Values { ["words"] = Program.WordsOf(answer.Text) };
    }

    /// <summary>A stream has no known length, so the file is sent in pieces.</summary>
    private static async Task<Values> RawAsync()
    {
        await using var recording = File.OpenRead(Program.Variable("PARLEY_WAV"));
        var answer = await Program.Compat.TranscribeAsync(recording);
        return new Values { ["words"] = Program.WordsOf(answer.Text) };
    }

    private static async Task<Values> SpeechAsync()
    {
        await using var audio = await Program.Router.CreateSpeechAsync(Speech);
        var whole = new MemoryStream();
        await audio.CopyToAsync(whole);
        return new Values { ["bytes"] = whole.Length };
    }

    private static async Task<Values> ChunksAsync()
    {
        await using var audio = await Program.Router.CreateSpeechAsync(Speech);
        var (bytes, chunk) = (0, new byte[4096]);
        for (int count; (count = audio.Read(chunk, 0, chunk.Length)) > 0;) bytes += count;
        return new Values { ["bytes"] = bytes };
    }
}
