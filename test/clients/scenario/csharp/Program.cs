using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Parley;
using Parley.Compat;
using Parley.Platform;
using Parley.Realtime;
using Parley.Router;

namespace Scenario;

/// <summary>The values of one step, which are printed.</summary>
internal sealed class Values : Dictionary<string, object?> { }

internal sealed record Step(string Name, Func<Task<Values>> Run);

/// <summary>Runs the steps of the scenario with the client for C#, and prints a line for each step.</summary>
internal static class Program
{
    internal const string Text = "Hello there.";
    internal static readonly ParleyClient Connection = ClientAt(Variable("PARLEY_URL"));
    internal static readonly RouterClient Router = new(Connection);
    internal static readonly CompatClient Compat = new(Connection);
    internal static readonly PlatformClient Platform = new(Connection);
    internal static readonly RealtimeClient Realtime = new(Connection);

    /// <summary>The model answers with the request's text, and with a tone as long as the text.</summary>
    internal static ExplicitRouting Loopback => new(Model: "loopback/loopback");

    public static async Task Main()
    {
        var groups = new[]
        {
            Models.Steps, Texts.Steps, Sockets.Steps, Sessions.Steps, Webhooks.Steps, Faults.Steps, Streams.Steps,
            SocketFaults.Steps, Rules.Steps,
        };
        foreach (var step in groups.SelectMany(steps => steps))
        {
            var line = new Values { ["step"] = step.Name };
            foreach (var (name, value) in await step.Run()) line[name] = value;
            Console.WriteLine(JsonSerializer.Serialize(line));
        }
    }

    internal static ParleyClient ClientAt(string url) => new(url, new ParleyOptions { ApiKey = Variable("PARLEY_API_KEY") });

    internal static string Variable(string name) =>
        Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException($"{name} is not set");

    /// <summary>Returns the text in small letters, without signs.</summary>
    internal static string WordsOf(string transcript) => Regex.Replace(transcript.ToLowerInvariant(), "[^a-z]+", " ").Trim();

    internal static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
