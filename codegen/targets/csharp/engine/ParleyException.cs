using System;
using System.Collections.Generic;
using System.Text.Json;

namespace Parley;

/// <summary>Any failure of a request, a stream, a socket or a webhook.</summary>
public abstract class ParleyException : Exception
{
    private protected ParleyException(string message, Exception? cause) : base(message, cause) { }
}

/// <summary>There is no answer, or only a part: the connection was never made, or was cut.</summary>
public sealed class ConnectionException : ParleyException
{
    internal ConnectionException(string message, bool isNeverMade, Exception? cause = null) : base(message, cause) =>
        IsNeverMade = isNeverMade;

    /// <summary>True if there was no connection, so that the server cannot have received the request.</summary>
    public bool IsNeverMade { get; }
}

/// <summary>The time of the client or of the call is over.</summary>
public sealed class RequestTimeoutException : ParleyException
{
    internal RequestTimeoutException(TimeSpan limit)
        : base($"there is no answer after {limit.TotalSeconds} s", null) { }
}

/// <summary>The answer breaks the contract: text that is not JSON, or an answer over a limit.</summary>
public sealed class ProtocolException : ParleyException
{
    internal ProtocolException(string message, Exception? cause = null) : base(message, cause) { }
}

/// <summary>Any answer other than 2xx.</summary>
public sealed class ApiException : ParleyException
{
    internal ApiException(Reply reply, JsonElement? body, ErrorBody error, string requestId)
        : base($"{reply.Status} {error.Code}: {error.Message} {error.Hint}".Trim(), null)
    {
        (Status, Headers, Body) = (reply.Status, reply.Headers, body);
        (Code, Type, Hint) = (error.Code, error.Type, error.Hint);
        (IsRetryable, RequestId) = (error.IsRetryable, requestId);
    }

    /// <summary>The HTTP status.</summary>
    public int Status { get; }

    /// <summary>The error code, for programs. Empty if something between client and server made the answer.</summary>
    public string Code { get; }

    /// <summary>The kind of the error, such as rate_limit_error. Empty if the answer does not have it.</summary>
    public string Type { get; }

    /// <summary>How to correct the request. Empty if the answer does not have it. The message ends with it.</summary>
    public string Hint { get; }

    /// <summary>The id of the request in the server's log.</summary>
    public string RequestId { get; }

    /// <summary>True if the same request may succeed when it is sent again.</summary>
    public bool IsRetryable { get; }

    /// <summary>The headers of the answer.</summary>
    public IReadOnlyDictionary<string, string> Headers { get; }

    /// <summary>The whole body with all details. Null if the body is not JSON.</summary>
    public JsonElement? Body { get; }
}
