using System;
using System.Linq;
using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Parley;

/// <summary>Makes the converters for unions, open enums, wrappers and optional fields.</summary>
internal sealed class ContractConverters : JsonConverterFactory
{
    public override bool CanConvert(Type type) => ConverterFor(type) is not null;

    public override JsonConverter CreateConverter(Type type, JsonSerializerOptions options) =>
        (JsonConverter)Activator.CreateInstance(ConverterFor(type)!)!;

    private static Type? ConverterFor(Type type)
    {
        var isUnion = type.IsInterface && type.IsDefined(typeof(UnionAttribute), false);
        if (isUnion) return typeof(UnionConverter<>).MakeGenericType(type);
        if (type.IsInterface) return null;
        if (type.IsSubclassOf(typeof(OpenEnum))) return typeof(OpenEnumConverter<>).MakeGenericType(type);
        if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(Optional<>))
            return typeof(OptionalConverter<>).MakeGenericType(type.GetGenericArguments());
        return WrappedIn(type) is { } inner ? typeof(WrapperConverter<,>).MakeGenericType(type, inner) : null;
    }

    private static Type? WrappedIn(Type type) => type.GetInterfaces()
        .FirstOrDefault(each => each.IsGenericType && each.GetGenericTypeDefinition() == typeof(IWrapper<>))
        ?.GetGenericArguments()[0];
}

internal sealed class UnionConverter<T> : JsonConverter<T> where T : class
{
    public override T? Read(ref Utf8JsonReader reader, Type type, JsonSerializerOptions options)
    {
        var json = JsonElement.ParseValue(ref reader);
        var arm = UnionRule<T>.TypeFor(TagOf(json)) ?? throw new JsonException("the union has no such type");
        return (T?)json.Deserialize(arm, options);
    }

    public override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value, value.GetType(), options);

    private static string TagOf(JsonElement json)
    {
        if (UnionRule<T>.Tag == "") return KindOf(json);
        if (json.ValueKind != JsonValueKind.Object) throw new JsonException("the value is not an object");
        return ((JsonElement?)json).Text(UnionRule<T>.Tag);
    }

    private static string KindOf(JsonElement json) => json.ValueKind switch
    {
        JsonValueKind.True or JsonValueKind.False => "boolean",
        var kind => kind.ToString().ToLowerInvariant(),
    };
}

internal sealed class OpenEnumConverter<T> : JsonConverter<T> where T : OpenEnum
{
    private static readonly ConstructorInfo Constructor = typeof(T).GetConstructor(new[] { typeof(string) })!;

    public override T Read(ref Utf8JsonReader reader, Type type, JsonSerializerOptions options) =>
        (T)Constructor.Invoke(new object[] { JsonSerializer.Deserialize<string>(ref reader) ?? "" });

    public override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value.Value);
}

internal sealed class WrapperConverter<T, TValue> : JsonConverter<T> where T : IWrapper<TValue>
{
    public override T Read(ref Utf8JsonReader reader, Type type, JsonSerializerOptions options) =>
        (T)Activator.CreateInstance(typeof(T), JsonSerializer.Deserialize<TValue>(ref reader, options))!;

    public override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.Value, options);
}

internal sealed class OptionalConverter<T> : JsonConverter<Optional<T>>
{
    public override bool HandleNull => true;

    public override Optional<T> Read(ref Utf8JsonReader reader, Type type, JsonSerializerOptions options) =>
        new(JsonSerializer.Deserialize<T>(ref reader, options)!);

    public override void Write(Utf8JsonWriter writer, Optional<T> value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.Value, options);
}
