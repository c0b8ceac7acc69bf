using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Parley.Platform;
using Parley.Session;

namespace Scenario;

internal static class Sessions
{
    internal static readonly Step[] Steps =
    {
        new("agent", AgentAsync), new("session", TalkAsync), new("call", CallAsync), new("report", ReportAsync),
        new("recording", RecordingAsync),
    };

    private const int TriesMax = 200;
    private const int TriesPauseMs = 100;
    private const int LongBytes = 10_000;
    private static readonly string[] Questions = { "How are you?", "Goodbye." };
    private static string agentId = "";
    private static string sessionId = "";

    private static async Task<Values> AgentAsync()
    {
        var providers = new[] { "loopback" };
        var allowed = new StackPreferencesAllowedProviders(Stt: providers, Llm: providers, Tts: providers);
        var agent = await Program.Platform.CreateAgentAsync(new NewAgent(
            "Scenario", "Be brief.", Intent: new AgentIntent(Language: "en"),
            StackPreferences: new StackPreferences(AllowedProviders: allowed)));
        agentId = agent.Id;
        return new Values { ["name"] = agent.Name, ["language"] = agent.Intent.Language };
    }

    /// <summary>Types each question after the previous answer, and hangs up after the last answer.</summary>
    private static async Task<Values> TalkAsync()
    {
        var started = await Program.Platform.CreateSessionAsync(new NewSession(AgentId: agentId));
        sessionId = started.SessionId;
        var answers = new List<string>();
        var session = new SessionClient(Program.Connection.WithApiKey(started.TransportToken));
        await using var socket = await session.SessionMediaAsync(sessionId);
        await foreach (var frame in socket)
        {
            if (frame is ReadyFrame) await socket.SendAsync(Next(answers));
            if (frame is MarkFrame mark) await socket.SendAsync(new PlayedFrame(mark.Name));
            if (frame is AgentMessageFrame { IsFinal: true } message)
            {
                answers.Add(message.Text);
                await socket.SendAsync(Next(answers));
            }
            if (frame is EndFrame end) return new Values { ["answers"] = answers, ["end"] = end.Reason.Value };
        }
        throw new InvalidOperationException("the socket closed without an end");
    }

    private static ISessionMediaSent Next(List<string> answers) =>
        answers.Count >= Questions.Length ? new HangUpFrame() : new UserMessageFrame(Questions[answers.Count]);

    /// <summary>Waits until the recording is stored.</summary>
    private static async Task<Values> CallAsync()
    {
        for (var count = 0; count < TriesMax; count++)
        {
            if ((await Program.Platform.GetSessionAsync(sessionId)).RecordingStatus == RecordingStatus.Ready)
            {
                var call = await Program.Platform.GetCallAsync(sessionId);
                return new Values { ["status"] = call.Status.Value, ["kind"] = call.Kind.Value };
            }
            await Task.Delay(TriesPauseMs);
        }
        throw new InvalidOperationException("the recording is not ready");
    }

    private static async Task<Values> ReportAsync()
    {
        var report = await Program.Platform.GetCallReportAsync(sessionId);
        return new Values { ["turns"] = report.Transcript.Entries.Select(entry => $"{entry.Source}: {entry.Text}") };
    }

    private static async Task<Values> RecordingAsync()
    {
        await using var audio = await Program.Platform.GetCallRecordingAudioAsync(sessionId);
        var whole = new MemoryStream();
        await audio.CopyToAsync(whole);
        var starts = Encoding.ASCII.GetString(whole.ToArray(), 0, 4);
        return new Values { ["starts"] = starts, ["is_long"] = whole.Length > LongBytes };
    }
}
