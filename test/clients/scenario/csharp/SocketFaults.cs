using System;
using System.Globalization;
using System.Threading.Tasks;
using Parley;
using Parley.Realtime;

namespace Scenario;

/// <summary>Sockets that close, break, refuse or stall, from the scripted server.</summary>
internal static class SocketFaults
{
    internal static readonly Step[] Steps =
    {
        new("socket_closes", () => EachAsync(
            fault => ResultOfAsync(At(fault)), "normal", "away", "empty", "cut", "reason", "later", "frame", "mild")),
        new("socket_frames", () => EachAsync(
            fault => ResultOfAsync(At(fault).SynthesizeStreamAsync()), "text", "list", "null", "large", "largest")),
        new("socket_openings", OpeningsAsync), new("socket_prefix", PrefixAsync),
        new("socket_late_send", LateSendAsync), new("socket_slow", SlowAsync),
    };

    private const int SlowFrames = 32;
    private const int SlowFrameBytes = 1 << 20;

    private static RealtimeClient At(string fault, ParleyOptions? options = null) =>
        new(new ParleyClient($"{Program.Variable("PARLEY_SCRIPTED_URL")}/{fault}", options));

    private static async Task<Values> EachAsync(Func<string, Task<object?>> resultOf, params string[] faults)
    {
        var results = new Values();
        foreach (var fault in faults) results[fault] = await resultOf(fault);
        return results;
    }

    private static Task<object?> ResultOfAsync(RealtimeClient realtime) => ResultOfAsync(realtime.TranscribeStreamAsync());

    /// <summary>Reads all frames. Returns null if the loop ends normally.</summary>
    private static async Task<object?> ResultOfAsync<TSent, TReceived>(Task<Socket<TSent, TReceived>> opening)
        where TSent : class where TReceived : class
    {
        try
        {
            await using var socket = await opening;
            await foreach (var _ in socket) { }
            return null;
        }
        catch (SocketClosedException closed)
        {
            return new object?[] { closed.CloseCode, closed.Reason, closed.Code == "" ? null : closed.Code, closed.IsRetryable };
        }
        catch (ApiException refused)
        {
            return new object?[] { refused.Status, refused.Code };
        }
        catch (RequestTimeoutException)
        {
            return "timeout";
        }
        catch (ProtocolException)
        {
            return "protocol";
        }
    }

    private static async Task<Values> OpeningsAsync()
    {
        var late = At("late", new ParleyOptions { Timeout = TimeSpan.FromMilliseconds(300) });
        var moved = (object?[])(await ResultOfAsync(At("moved")))!;
        return new Values
        {
            ["refused"] = await ResultOfAsync(At("refused")), ["moved"] = moved[0], ["late"] = await ResultOfAsync(late),
        };
    }

    private static async Task<Values> PrefixAsync()
    {
        var closed = await ResultOfAsync(At("offered", new ParleyOptions { HeaderPrefix = "Acme" }));
        return new Values { ["offered"] = ((object?[])closed!)[1] };
    }

    private static async Task<Values> LateSendAsync()
    {
        await using var socket = await At("normal").TranscribeStreamAsync();
        await foreach (var _ in socket) { }
        try
        {
            await socket.SendAsync(new EndFrame());
        }
        catch (SocketClosedException closed)
        {
            return new Values { ["close"] = closed.CloseCode };
        }
        throw new InvalidOperationException("the frame was sent");
    }

    private static async Task<Values> SlowAsync()
    {
        await using var socket = await At("slow").TranscribeStreamAsync();
        try
        {
            for (var sent = 0; sent < SlowFrames; sent++) await socket.SendAsync(new Audio(new byte[SlowFrameBytes]));
            await socket.SendAsync(new EndFrame());
            await foreach (var _ in socket) { }
        }
        catch (SocketClosedException closed)
        {
            return new Values { ["bytes"] = int.Parse(closed.Reason, CultureInfo.InvariantCulture) };
        }
        throw new InvalidOperationException("the socket closed without the number of bytes");
    }
}
