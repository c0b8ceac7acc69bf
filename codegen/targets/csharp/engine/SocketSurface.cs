using System;
using System.Net;
using System.Net.Http;
using System.Net.WebSockets;
using System.Threading;
using System.Threading.Tasks;

namespace Parley;

/// <summary>One contract of sockets with the settings of a connection. The generated clients extend it.</summary>
public abstract class SocketSurface : Surface
{
    private protected SocketSurface(ParleyClient client, Contract contract) : base(client, contract) { }

    /// <summary>Opens a socket. The request has its address and query.</summary>
    private protected async Task<Socket<TSent, TReceived>> OpenSocket<TSent, TReceived>(
        ApiRequest request, string subprotocol, CallOptions? options, CancellationToken stop)
        where TSent : class where TReceived : class
    {
        var timeout = options?.Timeout ?? Client.Options.Timeout;
        var limit = timeout < ParleyClient.ConnectMax ? timeout : ParleyClient.ConnectMax;
        using var late = CancellationTokenSource.CreateLinkedTokenSource(stop);
        late.CancelAfter(limit);
        var connection = Prepare(subprotocol, options ?? new CallOptions());
        var upgrade = new Upgrade(this);
        using var http = new HttpMessageInvoker(upgrade);
        var address = new Uri($"ws{Client.BaseUrl[4..]}{Contract.Prefix}{request.Address}");
        try
        {
            await connection.ConnectAsync(address, http, late.Token).ConfigureAwait(false);
            return new Socket<TSent, TReceived>(connection, upgrade.Stream!, Contract, timeout);
        }
        catch (Exception failure)
        {
            connection.Dispose();
            stop.ThrowIfCancellationRequested();
            if (late.IsCancellationRequested) throw new RequestTimeoutException(limit);
            throw Refusal(failure);
        }
    }

    private ClientWebSocket Prepare(string subprotocol, CallOptions options)
    {
        var socket = new ClientWebSocket();
        socket.Options.SetRequestHeader("User-Agent", Client.UserAgent);
        if (Client.Options.ApiKey is { } key) socket.Options.SetRequestHeader("Authorization", $"Bearer {key}");
        foreach (var (name, value) in options.AllHeaders) socket.Options.SetRequestHeader(name, value);
        var isOurs = subprotocol.StartsWith("service.", StringComparison.Ordinal);
        var prefix = Client.Options.HeaderPrefix.ToLowerInvariant();
        socket.Options.AddSubProtocol(isOurs ? $"{prefix}{subprotocol["service".Length..]}" : subprotocol);
        return socket;
    }

    private static Exception Refusal(Exception failure) => (failure as WebSocketException)?.InnerException switch
    {
        ApiException refused => refused,
        HttpRequestException cause => Unopened(cause, Retries.IsNeverMade(cause)),
        _ => Unopened(failure, false),
    };

    private static ConnectionException Unopened(Exception cause, bool isNeverMade) =>
        new($"the socket could not be opened: {cause.Message}", isNeverMade, cause);

    /// <summary>Reads a refusal's body, which ClientWebSocket would not show, and keeps the stream.</summary>
    private sealed class Upgrade : HttpMessageHandler
    {
        private readonly Surface surface;

        internal Upgrade(Surface surface) => this.surface = surface;

        internal UpgradedStream? Stream { get; private set; }

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage message, CancellationToken stop)
        {
            var response = await surface.Client.Http.SendAsync(message, stop).ConfigureAwait(false);
            if (response.StatusCode != HttpStatusCode.SwitchingProtocols)
                using (response) throw surface.ErrorOf(await Reply.ReadAsync(response, stop).ConfigureAwait(false));
            Stream = new UpgradedStream(await response.Content.ReadAsStreamAsync(stop).ConfigureAwait(false));
            response.Content = new UpgradedStream.Content(Stream);
            return response;
        }
    }
}
