using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;

namespace Parley;

/// <summary>
/// Decides whether a failed request is sent again. The server runs no request twice, so a request is sent again only if
/// there was no connection, or if the server answered that the same request may succeed.
/// </summary>
internal static class Retries
{
    private const int FirstPauseMs = 500;
    private const int PauseMsMax = 8_000;

    /// <summary>The server can ask for a pause of at most a minute.</summary>
    private static readonly TimeSpan RetryAfterMax = TimeSpan.FromMinutes(1);

    private static readonly IReadOnlySet<int> Always = new HashSet<int> { 429, 502, 503 };
    private static readonly IReadOnlySet<int> SafeMethodsOnly = new HashSet<int> { 500, 504 };
    private static readonly IReadOnlySet<string> SafeMethods = new HashSet<string> { "GET", "HEAD", "PUT", "DELETE" };

    /// <summary>Returns the pause before a retry, counted from 0. Null if the request must not be sent again.</summary>
    internal static TimeSpan? PauseBefore(int retry, ApiRequest request, ParleyException failure)
    {
        if (failure is ConnectionException lost) return lost.IsNeverMade ? UsualPause(retry) : null;
        if (failure is not ApiException { IsRetryable: true } error || !request.IsRepeatable) return null;
        // The server sends this header if a provider has the request already.
        var mayHaveRun = SafeMethodsOnly.Contains(error.Status) || HeaderOf(error, "x-should-retry") == "false";
        var isKnown = Always.Contains(error.Status) || SafeMethodsOnly.Contains(error.Status);
        if (!isKnown || (mayHaveRun && !IsSafe(request.Method))) return null;
        var pause = Parse(HeaderOf(error, "Retry-After")) ?? UsualPause(retry);
        return pause > RetryAfterMax ? null : pause;
    }

    /// <summary>True if the server may run a request with the method twice.</summary>
    internal static bool IsSafe(string method) => SafeMethods.Contains(method);

    /// <summary>True if there was no connection: name not found, refused, too slow, or no TLS handshake.</summary>
    internal static bool IsNeverMade(Exception failure) => failure switch
    {
        HttpRequestException { HttpRequestError: var error } =>
            error is HttpRequestError.NameResolutionError or HttpRequestError.ConnectionError
                or HttpRequestError.SecureConnectionError or HttpRequestError.ProxyTunnelError,
        // The handler's limit for a connection. The other limits are tokens.
        OperationCanceledException { InnerException: TimeoutException } => true,
        _ => false,
    };

    private static string? HeaderOf(ApiException error, string name) =>
        error.Headers.TryGetValue(name, out var value) ? value : null;

    /// <summary>Reads seconds or a date. Null if the text is neither.</summary>
    private static TimeSpan? Parse(string? text)
    {
        if (text is { Length: > 0 and <= 9 } && text.All(char.IsAsciiDigit))
            return TimeSpan.FromSeconds(int.Parse(text, CultureInfo.InvariantCulture));
        if (!DateTimeOffset.TryParseExact(text, "r", CultureInfo.InvariantCulture, DateTimeStyles.None, out var date))
            return null;
        var until = date - DateTimeOffset.UtcNow;
        return until < TimeSpan.Zero ? TimeSpan.Zero : until;
    }

    /// <summary>The pause doubles with each retry. A random half spreads the retries of many clients.</summary>
    private static TimeSpan UsualPause(int retry)
    {
        var pauseMs = Math.Min(FirstPauseMs << Math.Min(retry, 10), PauseMsMax);
        return TimeSpan.FromMilliseconds((pauseMs / 2) + Random.Shared.Next(pauseMs / 2));
    }
}
