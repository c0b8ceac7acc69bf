using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace Parley;

/// <summary>A webhook was refused.</summary>
public sealed class WebhookException : ParleyException
{
    internal WebhookException(string reason, Exception? cause = null)
        : base($"the webhook's {reason} is not valid", cause) => Reason = reason;

    /// <summary>The invalid part: header, timestamp, signature or body.</summary>
    public string Reason { get; }
}

/// <summary>Checks that webhooks come from the server that has one of the secrets (Standard Webhooks 1.0).</summary>
public sealed class WebhookVerifier
{
    /// <summary>While the server replaces a secret, a webhook has two signatures.</summary>
    private const int SignaturesMax = 8;
    private const int KeyBytesMin = 24;
    private const int KeyBytesMax = 64;

    /// <summary>Anybody can sign with an empty secret, such as that of a variable that is not set.</summary>
    private const int SecretLengthMin = 8;
    private const int TimestampDigitsMax = 12;
    private const string StandardPrefix = "whsec_";

    private readonly IReadOnlyList<string> secrets;

    /// <summary>Takes the current secret and, while it is replaced, the previous secret.</summary>
    public WebhookVerifier(params string[] secrets)
    {
        if (secrets.Length == 0 || secrets.Any(secret => secret.Length < SecretLengthMin))
            throw new ArgumentException("the secret of a webhook has at least 8 characters");
        this.secrets = secrets;
    }

    /// <summary>The limit for the age of a webhook.</summary>
    public TimeSpan Tolerance { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>Tells the present.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>
    /// Throws a WebhookException unless a signature fits a secret and the webhook is recent. The signature covers the
    /// exact bytes of the body, so the body must not be parsed and written again before.
    /// </summary>
    /// <param name="header">Returns a header by its name, or null.</param>
    /// <param name="body">The bytes of the body.</param>
    public void Verify(Func<string, string?> header, ReadOnlySpan<byte> body)
    {
        var (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"));
        var signatures = header("webhook-signature");
        if (string.IsNullOrEmpty(id) || string.IsNullOrEmpty(timestamp) || string.IsNullOrEmpty(signatures))
            throw new WebhookException("header");
        if (!IsRecent(timestamp)) throw new WebhookException("timestamp");
        var head = Encoding.UTF8.GetBytes($"{id}.{timestamp}.");
        var signed = new byte[head.Length + body.Length];
        head.CopyTo(signed, 0);
        body.CopyTo(signed.AsSpan(head.Length));
        if (!secrets.Any(secret => IsSigned(signed, secret, signatures))) throw new WebhookException("signature");
    }

    private bool IsRecent(string timestamp)
    {
        if (timestamp.Length > TimestampDigitsMax || !timestamp.All(char.IsAsciiDigit)) return false;
        var age = Clock.GetUtcNow().ToUnixTimeSeconds() - long.Parse(timestamp, CultureInfo.InvariantCulture);
        return Math.Abs(age) <= Tolerance.TotalSeconds;
    }

    private static bool IsSigned(byte[] signed, string secret, string signatures)
    {
        var expected = Encoding.UTF8.GetBytes(Convert.ToBase64String(HMACSHA256.HashData(KeyOf(secret), signed)));
        return signatures.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries).Take(SignaturesMax)
            .Where(text => text.StartsWith("v1,", StringComparison.Ordinal))
            .Any(text => CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(text[3..]), expected));
    }

    /// <summary>Decodes a secret in the standard's form. Another text is used unchanged.</summary>
    private static byte[] KeyOf(string secret)
    {
        var isPrefixed = secret.StartsWith(StandardPrefix, StringComparison.Ordinal);
        var key = isPrefixed ? Decode(secret[StandardPrefix.Length..]) : Array.Empty<byte>();
        return key.Length is >= KeyBytesMin and <= KeyBytesMax ? key : Encoding.UTF8.GetBytes(secret);
    }

    /// <summary>Returns no bytes if no encoder writes the text, for example without its padding.</summary>
    private static byte[] Decode(string text)
    {
        var bytes = new byte[text.Length];
        var isValid = Convert.TryFromBase64String(text, bytes, out var count);
        return isValid && Convert.ToBase64String(bytes, 0, count) == text ? bytes[..count] : Array.Empty<byte>();
    }
}
