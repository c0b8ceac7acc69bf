using System;
using System.Net.Http;
using System.Text;

namespace Parley;

/// <summary>The settings of a connection.</summary>
public sealed record ParleyOptions
{
    /// <summary>The API key. The default is the environment variable PARLEY_API_KEY.</summary>
    public string? ApiKey { get; init; } = Environment.GetEnvironmentVariable("PARLEY_API_KEY");

    /// <summary>
    /// The limit for each attempt, from sending until the whole answer. If the answer is a stream or audio, the limit
    /// for the time until the answer begins, and then for each read. The default is 300 seconds.
    /// </summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(300);

    /// <summary>How often a request is sent again after a failure that permits it. The default is 2.</summary>
    public int RetriesMax { get; init; } = 2;

    /// <summary>The server's setting headerPrefix, if its operator has changed it.</summary>
    public string HeaderPrefix { get; init; } = "Service";

    /// <summary>The name of a program, which is added to the header User-Agent.</summary>
    public string? UserAgent { get; init; }

    /// <summary>Another HTTP handler, for example with a proxy. A handler that follows redirects is refused.</summary>
    public SocketsHttpHandler? Handler { get; init; }

    /// <summary>Leaves the API key out of ToString(), so that the key is not logged.</summary>
    private bool PrintMembers(StringBuilder text)
    {
        text.Append($"Timeout = {Timeout}, RetriesMax = {RetriesMax}, HeaderPrefix = {HeaderPrefix}");
        text.Append($", UserAgent = {UserAgent}");
        return true;
    }
}

/// <summary>
/// A connection to a Parley server. All surfaces share a client, and it is safe for concurrent use. RouterClient,
/// CompatClient and PlatformClient call operations; RealtimeClient and SessionClient open sockets.
/// </summary>
public sealed class ParleyClient : IDisposable
{
    /// <summary>The version of this package, which is part of the header User-Agent.</summary>
    public const string Version = "0.0.0";

    internal static readonly TimeSpan ConnectMax = TimeSpan.FromSeconds(30);

    private readonly bool ownsHttp;

    /// <summary>Makes a client. <c>baseUrl</c> is the server's root, such as http://127.0.0.1:8080.</summary>
    public ParleyClient(string baseUrl, ParleyOptions? options = null)
    {
        BaseUrl = baseUrl.TrimEnd('/');
        Options = options ?? new ParleyOptions();
        if (Options.Handler is { AllowAutoRedirect: true })
            throw new ArgumentException(
                "the handler follows redirects, which could carry the API key to another server: " +
                "set AllowAutoRedirect to false");
        ownsHttp = Options.Handler is null;
        Http = new HttpMessageInvoker(Options.Handler ?? UsualHandler(), ownsHttp);
    }

    private ParleyClient(ParleyClient other, string apiKey)
    {
        BaseUrl = other.BaseUrl;
        Options = other.Options with { ApiKey = apiKey };
        Http = other.Http;
    }

    internal string BaseUrl { get; }

    internal ParleyOptions Options { get; }

    internal HttpMessageInvoker Http { get; }

    internal string UserAgent => $"{Options.UserAgent} parley-csharp/{Version}".TrimStart();

    /// <summary>Returns a client with another credential, such as a session's token. Both share connections.</summary>
    public ParleyClient WithApiKey(string apiKey) => new(this, apiKey);

    /// <summary>Closes the connections, if this client made them.</summary>
    public void Dispose()
    {
        if (ownsHttp) Http.Dispose();
    }

    /// <summary>Replaces "Service" by the server's prefix.</summary>
    internal string HeaderName(string name)
    {
        foreach (var start in new[] { "service-", "x-service-" })
            if (name.StartsWith(start, StringComparison.OrdinalIgnoreCase))
                return name[..(start.Length - 8)] + Options.HeaderPrefix + name[(start.Length - 1)..];
        return name;
    }

    /// <summary>A redirect could carry the key to another server, so no redirect is followed.</summary>
    private static SocketsHttpHandler UsualHandler() =>
        new() { AllowAutoRedirect = false, UseCookies = false, ConnectTimeout = ConnectMax };
}
