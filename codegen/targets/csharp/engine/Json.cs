using System;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Parley;

/// <summary>Reads and writes JSON as the contracts say: null is left out, and unknown fields are ignored.</summary>
internal static class Json
{
    /// <summary>A JSON answer may have at most 64 MiB.</summary>
    internal const int BytesMax = 64 << 20;

    internal static readonly JsonSerializerOptions SnakeCase = Make(JsonNamingPolicy.SnakeCaseLower);
    internal static readonly JsonSerializerOptions CamelCase = Make(JsonNamingPolicy.CamelCase);

    private static JsonSerializerOptions Make(JsonNamingPolicy names) => new()
    {
        PropertyNamingPolicy = names,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Converters = { new ContractConverters() },
        TypeInfoResolver = new DefaultJsonTypeInfoResolver { Modifiers = { LeaveOutAbsent } },
    };

    /// <summary>The escaped text is ASCII alone, so it can be a header too.</summary>
    internal static byte[] Write(JsonSerializerOptions options, object value) =>
        JsonSerializer.SerializeToUtf8Bytes(value, value.GetType(), options);

    /// <summary>Writes an object with another value for one field.</summary>
    internal static byte[] Write(JsonSerializerOptions options, object value, string field, JsonNode fieldValue)
    {
        var node = JsonSerializer.SerializeToNode(value, value.GetType(), options)!.AsObject();
        node[field] = fieldValue;
        return JsonSerializer.SerializeToUtf8Bytes(node, options);
    }

    internal static JsonElement Tree(ReadOnlySpan<byte> json)
    {
        try
        {
            return JsonSerializer.Deserialize<JsonElement>(json);
        }
        catch (JsonException failure)
        {
            throw new ProtocolException("the server's text is not JSON", failure);
        }
    }

    internal static JsonElement? TreeOrNull(ReadOnlySpan<byte> json)
    {
        try
        {
            return Tree(json);
        }
        catch (ProtocolException)
        {
            return null;
        }
    }

    internal static T Read<T>(JsonSerializerOptions options, JsonElement json) => (T)Read(options, json, typeof(T));

    internal static object Read(JsonSerializerOptions options, JsonElement json, Type type)
    {
        try
        {
            return json.Deserialize(type, options) ?? throw new ProtocolException("the JSON is null");
        }
        catch (JsonException failure)
        {
            throw new ProtocolException("the JSON is not what the contract says", failure);
        }
    }

    /// <summary>Reads a value of a union by the name of an event.</summary>
    internal static T Arm<T>(JsonSerializerOptions options, string tag, JsonElement json) =>
        (T)Read(options, json, UnionRule<T>.TypeFor(tag) ?? typeof(T));

    private static void LeaveOutAbsent(JsonTypeInfo type)
    {
        foreach (var property in type.Properties)
            if (typeof(IOptional).IsAssignableFrom(property.PropertyType))
                property.ShouldSerialize = (_, value) => value is IOptional { IsSet: true };
    }
}
