using System.Collections.Generic;
using System.Text.Json;

namespace Parley;

/// <summary>One contract of a server. The generated clients have a contract each.</summary>
/// <param name="Prefix">The path before the contract's paths.</param>
/// <param name="Json">Reads and writes the contract's types.</param>
/// <param name="RetryableCodes">The error codes whose request or socket may succeed when it is tried again.</param>
/// <param name="CloseCodes">The error codes that close a socket.</param>
internal sealed record Contract(
    string Prefix, JsonSerializerOptions Json, IReadOnlySet<string> RetryableCodes, IReadOnlySet<string> CloseCodes);
