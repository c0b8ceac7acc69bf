using System.Text.Json;

namespace Parley;

/// <summary>An error's body: <c>{"error": {"code", "message"}}</c> or <c>{"error": "message", "code"}</c>.</summary>
internal sealed record ErrorBody(
    string Code, string Type, string Message, string Hint, string RequestId, bool IsRetryable)
{
    /// <summary>Reads a body. If the body lacks <c>retryable</c>, the contract's table has the value.</summary>
    internal static ErrorBody Read(JsonElement? body, Contract contract)
    {
        var error = body.Field("error");
        var fields = error?.ValueKind == JsonValueKind.Object ? error : body;
        var code = fields.Text("code");
        var message = error?.ValueKind == JsonValueKind.String ? body.Text("error") : fields.Text("message");
        var requestId = fields.Text("request_id");
        return new ErrorBody(
            code, fields.Text("type"), message, fields.Text("hint"),
            requestId == "" ? body.Text("requestId") : requestId,
            fields.Truth("retryable") ?? contract.RetryableCodes.Contains(code));
    }
}

/// <summary>Reads single fields of JSON whose form is not known.</summary>
internal static class Fields
{
    internal static JsonElement? Field(this JsonElement? value, string name) =>
        value is { ValueKind: JsonValueKind.Object } found && found.TryGetProperty(name, out var field) ? field : null;

    internal static string Text(this JsonElement? value, string name) =>
        value.Field(name) is { ValueKind: JsonValueKind.String } field ? field.GetString() ?? "" : "";

    internal static bool? Truth(this JsonElement? value, string name) =>
        value.Field(name) is { ValueKind: JsonValueKind.True or JsonValueKind.False } field ? field.GetBoolean() : null;
}
