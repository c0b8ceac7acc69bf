using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace Parley;

/// <summary>Marks a union, and names the field that tells its types apart. Without it, the kind of JSON does.</summary>
[AttributeUsage(AttributeTargets.Interface)]
public sealed class UnionAttribute : Attribute
{
    /// <summary>The tag of a frame of bytes.</summary>
    public const string Binary = "(binary)";

    /// <summary>Marks a union.</summary>
    public UnionAttribute(string tag = "") => Tag = tag;

    /// <summary>The field with the tag.</summary>
    public string Tag { get; }

    /// <summary>The type for values from a later version of the server.</summary>
    public Type? Unknown { get; init; }
}

/// <summary>One type of a union.</summary>
[AttributeUsage(AttributeTargets.Interface, AllowMultiple = true)]
public sealed class ArmAttribute : Attribute
{
    /// <summary>Names a type, and the tags, events or kinds of JSON for this type.</summary>
    public ArmAttribute(Type type, params string[] on) => (Type, On) = (type, on);

    /// <summary>The type.</summary>
    public Type Type { get; }

    /// <summary>The tags, events, or kinds of JSON: string, number, boolean, object or array.</summary>
    public IReadOnlyList<string> On { get; }
}

/// <summary>A record with a single value, whose JSON is the JSON of the value.</summary>
public interface IWrapper<out T>
{
    /// <summary>The value.</summary>
    T Value { get; }
}

/// <summary>The types of one union by their tags.</summary>
internal static class UnionRule<T>
{
    private static readonly IReadOnlyDictionary<string, Type> Types = typeof(T).GetCustomAttributes<ArmAttribute>()
        .SelectMany(arm => arm.On.Select(tag => (tag, arm.Type))).ToDictionary(pair => pair.tag, pair => pair.Type);

    private static readonly UnionAttribute Rule =
        typeof(T).GetCustomAttribute<UnionAttribute>() ?? new UnionAttribute();

    internal static string Tag => Rule.Tag;

    /// <summary>Returns the type for a tag. Null if the union is only for requests and has no such type.</summary>
    internal static Type? TypeFor(string tag) => Types.TryGetValue(tag, out var type) ? type : Rule.Unknown;
}
