using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Text.Json.Nodes;

namespace Parley;

/// <summary>The request for an operation. The generated clients describe a request, and the engine sends it.</summary>
internal sealed class ApiRequest
{
    private readonly Contract contract;
    private readonly string path;
    private readonly List<(string Name, string Value)> query = new();
    private readonly List<Func<HttpContent>> parts = new();
    private readonly List<Upload> uploads = new();
    private Upload? body;

    /// <summary>Makes a request. Each of the arguments replaces a parameter of the path, such as <c>{id}</c>.</summary>
    internal ApiRequest(Contract contract, string method, string path, params string[] arguments)
    {
        (this.contract, Method) = (contract, method);
        this.path = Fill(path, arguments);
    }

    internal string Method { get; }

    internal Dictionary<string, string> Headers { get; } = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>The field that tells two events apart, by event. Null if a cut stream stays cut.</summary>
    internal Dictionary<string, string>? Identity { get; private set; }

    internal bool IsIdempotent { get; private set; }

    internal bool IsPublic { get; private set; }

    /// <summary>False if the body has a stream that was read, also in part.</summary>
    internal bool IsRepeatable => uploads.All(upload => upload.IsRepeatable);

    internal string Address
    {
        get
        {
            var pairs = query.Select(pair => $"{Uri.EscapeDataString(pair.Name)}={Uri.EscapeDataString(pair.Value)}");
            return query.Count == 0 ? path : $"{path}?{string.Join('&', pairs)}";
        }
    }

    /// <summary>
    /// Makes the body for one attempt, with the parts of a form in their order. .NET itself sends a request without
    /// content again if a used connection closes before the answer, so an unsafe method always has content.
    /// </summary>
    internal HttpContent? Body()
    {
        if (parts.Count == 0)
            return body?.Open() ?? (Retries.IsSafe(Method) ? null : new ByteArrayContent(Array.Empty<byte>()));
        var form = new MultipartContent("form-data", Guid.NewGuid().ToString());
        foreach (var part in parts) form.Add(part());
        return form;
    }

    /// <summary>Adds a parameter of the query, once for each item of a list. Null is left out.</summary>
    internal ApiRequest Query(string name, object? value)
    {
        query.AddRange(Items(value).Select(item => (name, item)));
        return this;
    }

    /// <summary>Adds a header. Null is left out.</summary>
    internal ApiRequest Header(string name, object? value)
    {
        if (value is not null) Headers[name] = Text(value);
        return this;
    }

    /// <summary>Adds a header with JSON. Null is left out.</summary>
    internal ApiRequest JsonHeader(string name, object? value) =>
        value is null ? this : Header(name, Encoding.ASCII.GetString(Parley.Json.Write(contract.Json, value)));

    /// <summary>Sets the body. Null is no body.</summary>
    internal ApiRequest Json(object? value) =>
        value is null ? this : Content("application/json", Parley.Json.Write(contract.Json, value));

    /// <summary>Sets the body, with another value for one field.</summary>
    internal ApiRequest Json(object value, string field, JsonNode fieldValue) =>
        Content("application/json", Parley.Json.Write(contract.Json, value, field, fieldValue));

    internal ApiRequest Bytes(Upload bytes) => Content("application/octet-stream", bytes);

    /// <summary>Adds a part with text to the form, once for each item of a list. Null is left out.</summary>
    internal ApiRequest TextPart(string name, object? value)
    {
        foreach (var item in Items(value)) Part(name, "", null, Encoding.UTF8.GetBytes(item));
        return this;
    }

    /// <summary>Adds a part with JSON to the form. Null is left out.</summary>
    internal ApiRequest JsonPart(string name, object? value) =>
        value is null ? this : Part(name, "", "application/json", Parley.Json.Write(contract.Json, value));

    /// <summary>Adds a part with bytes to the form. Null is left out.</summary>
    internal ApiRequest BytesPart(string name, Upload? bytes) =>
        bytes is null ? this : Part(name, "; filename=\"audio\"", "application/octet-stream", bytes);

    internal ApiRequest Accept(string mediaTypes) => Header("Accept", mediaTypes);

    /// <summary>Adds an Idempotency-Key, which is new for each attempt.</summary>
    internal ApiRequest Idempotent()
    {
        IsIdempotent = true;
        return this;
    }

    /// <summary>Leaves the API key out.</summary>
    internal ApiRequest WithoutKey()
    {
        IsPublic = true;
        return this;
    }

    /// <summary>Lets the client open a cut stream again.</summary>
    internal ApiRequest Resumable(Dictionary<string, string> identity)
    {
        Identity = identity;
        return this;
    }

    /// <summary>Changes the request to open a stream again. The server ignores the id if there is a cursor.</summary>
    internal ApiRequest After(string id)
    {
        query.RemoveAll(pair => pair.Name == "cursor");
        return Header("Last-Event-ID", id);
    }

    private ApiRequest Content(string mediaType, Upload content)
    {
        Headers["Content-Type"] = mediaType;
        body = content;
        uploads.Add(content);
        return this;
    }

    private ApiRequest Part(string name, string fileName, string? mediaType, Upload content)
    {
        uploads.Add(content);
        parts.Add(() =>
        {
            var part = content.Open();
            part.Headers.TryAddWithoutValidation("Content-Disposition", $"form-data; name=\"{name}\"{fileName}");
            if (mediaType is not null) part.Headers.TryAddWithoutValidation("Content-Type", mediaType);
            return part;
        });
        return this;
    }

    private static IEnumerable<string> Items(object? value) => value switch
    {
        null => Array.Empty<string>(),
        string text => new[] { text },
        IEnumerable list => list.Cast<object>().Select(Text),
        _ => new[] { Text(value) },
    };

    private static string Text(object value) => value switch
    {
        bool truth => truth ? "true" : "false",
        DateTimeOffset time => time.ToString("O", CultureInfo.InvariantCulture),
        _ => Convert.ToString(value, CultureInfo.InvariantCulture) ?? "",
    };

    private static string Fill(string path, string[] arguments)
    {
        var filled = new StringBuilder();
        var next = 0;
        foreach (var segment in path.Split('/').Skip(1))
            filled.Append('/').Append(segment.StartsWith('{') ? Segment(arguments[next++]) : segment);
        return filled.ToString();
    }

    /// <summary>A path with an empty segment or with dots could lead to another operation.</summary>
    private static string Segment(string value)
    {
        if (value is "" or "." or "..") throw new ArgumentException($"a parameter of the path cannot be '{value}'");
        return Uri.EscapeDataString(value);
    }
}
