using System;
using System.Collections.Generic;
using System.IO;
using System.Text.Json;
using System.Threading.Tasks;
using Parley;
using Parley.Platform;

namespace Scenario;

internal static class Webhooks
{
    internal static readonly Step[] Steps =
    {
        new("webhook", WebhookAsync), new("webhook_refused", RefusedAsync), new("pages", PagesAsync),
        new("not_found", NotFoundAsync),
    };

    private const int SessionsMore = 4;
    private const int PagesMax = 10;
    private const string UnknownCall = "0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b";

    /// <summary>Returns a header of a webhook in a JSON file.</summary>
    internal static string? HeaderOf(JsonElement sent, string name) =>
        sent.GetProperty("headers").TryGetProperty(name, out var header) ? header.GetString() : null;

    /// <summary>Verifies the webhook of the server, with a text after its body.</summary>
    private static IWebhookEvent Verified(string suffix)
    {
        var sent = JsonSerializer.Deserialize<JsonElement>(File.ReadAllText(Program.Variable("PARLEY_WEBHOOK")));
        var verifier = new WebhookVerifier(Program.Variable("PARLEY_WEBHOOK_SECRET"));
        var body = Program.Bytes(sent.GetProperty("body").GetString() + suffix);
        return PlatformClient.VerifyWebhook(verifier, name => HeaderOf(sent, name), body);
    }

    private static Task<Values> WebhookAsync() =>
        Task.FromResult(new Values { ["type"] = ((ReportEvent)Verified("")).Type });

    private static Task<Values> RefusedAsync()
    {
        try
        {
            throw new InvalidOperationException($"the webhook was not refused: {Verified(" ")}");
        }
        catch (WebhookException refused)
        {
            return Task.FromResult(new Values { ["error"] = refused.Reason });
        }
    }

    private static async Task<Values> PagesAsync()
    {
        for (var count = 0; count < SessionsMore; count++)
            await Program.Platform.CreateSessionAsync(new NewSession(Intent: new SessionIntent(Language: "en")));
        var (sizes, ids, cursor) = (new List<int>(), new HashSet<string>(), (string?)null);
        do
        {
            var page = await Program.Platform.ListSessionsAsync(limit: 2, cursor: cursor);
            sizes.Add(page.Entries.Count);
            foreach (var entry in page.Entries) ids.Add(entry.SessionId);
            cursor = page.NextCursor;
        }
        while (cursor is not null && sizes.Count < PagesMax);
        return new Values { ["sizes"] = sizes, ["ids"] = ids.Count };
    }

    private static async Task<Values> NotFoundAsync()
    {
        try
        {
            throw new InvalidOperationException($"the call exists: {await Program.Platform.GetCallAsync(UnknownCall)}");
        }
        catch (ApiException failure)
        {
            return new Values { ["status"] = failure.Status, ["code"] = failure.Code };
        }
    }
}
