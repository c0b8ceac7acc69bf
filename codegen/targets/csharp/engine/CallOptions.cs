using System;
using System.Collections.Generic;
using System.Linq;

namespace Parley;

/// <summary>The settings of one call.</summary>
/// <param name="Timeout">Replaces the timeout of the client.</param>
/// <param name="IdempotencyKey">Such a request is never sent again, because the server runs a key at most once.</param>
/// <param name="Headers">More headers, such as the Content-Type of raw audio.</param>
public sealed record CallOptions(
    TimeSpan? Timeout = null, string? IdempotencyKey = null, IReadOnlyDictionary<string, string>? Headers = null)
{
    internal const string KeyHeader = "Idempotency-Key";

    /// <summary>True if a failed request is not sent again.</summary>
    internal bool IsOnce { get; init; }

    /// <summary>True if there is one attempt, or if the caller chose the key.</summary>
    internal bool HasOneAttempt => IsOnce || AllHeaders.Any(pair => IsKey(pair.Key));

    internal IEnumerable<KeyValuePair<string, string>> AllHeaders
    {
        get
        {
            foreach (var pair in Headers ?? new Dictionary<string, string>()) yield return pair;
            if (IdempotencyKey is not null) yield return new(KeyHeader, IdempotencyKey);
        }
    }

    private static bool IsKey(string name) => name.Equals(KeyHeader, StringComparison.OrdinalIgnoreCase);
}
