using System;
using System.Collections.Generic;
using System.Text.Json;

namespace Parley;

/// <summary>The server closed a socket with another code than 1000, or the connection was lost.</summary>
public sealed class SocketClosedException : ParleyException
{
    internal const int Lost = 1006;

    /// <summary>The connection was lost, the server restarts, or the server has too much work.</summary>
    private static readonly IReadOnlySet<int> RetryableCloses = new HashSet<int> { Lost, 1012, 1013 };

    private SocketClosedException(SocketClose close, string code, bool isRetryable, Exception? cause)
        : base($"the socket closed with {close.Code} {(code == "" ? close.Reason : code)}", cause)
    {
        (CloseCode, Reason, Code, IsRetryable) = (close.Code, close.Reason, code, isRetryable);
    }

    /// <summary>The close code of the WebSocket: 1006 if the connection was lost.</summary>
    public int CloseCode { get; }

    /// <summary>The text of the close.</summary>
    public string Reason { get; }

    /// <summary>The contract's error code. Empty if the server sent no error before the close.</summary>
    public string Code { get; }

    /// <summary>True if a new socket with the same settings may succeed.</summary>
    public bool IsRetryable { get; }

    /// <summary>Takes the error code from the last error frame, or else from the close's reason.</summary>
    internal static SocketClosedException Of(Contract contract, SocketClose close, JsonElement? error, Exception? cause)
    {
        var codes = contract.CloseCodes;
        var sent = error.Text("code");
        var isSent = sent != "" && (codes.Contains(sent) || sent == close.Reason);
        var code = isSent ? sent : codes.Contains(close.Reason) ? close.Reason : "";
        var isKnown = codes.Contains(code);
        var isRetryable = isKnown ? contract.RetryableCodes.Contains(code) : RetryableCloses.Contains(close.Code);
        if (isSent) isRetryable = error.Truth("retryable") ?? isRetryable;
        return new SocketClosedException(close, code, isRetryable, cause);
    }
}

/// <summary>How a socket closed.</summary>
internal sealed record SocketClose(int Code, string Reason);
