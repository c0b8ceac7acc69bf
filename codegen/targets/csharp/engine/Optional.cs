namespace Parley;

/// <summary>A field of a request that can be left out, and can be null. A value converts to it.</summary>
public readonly struct Optional<T> : IOptional
{
    /// <summary>Makes a field that is sent, also with null.</summary>
    public Optional(T value) => (Value, IsSet) = (value, true);

    /// <summary>The value. It is the type's default if the field is left out.</summary>
    public T Value { get; }

    /// <summary>True if the field is sent.</summary>
    public bool IsSet { get; }

    /// <summary>Converts a value to a field that is sent.</summary>
    public static implicit operator Optional<T>(T value) => new(value);
}

internal interface IOptional
{
    bool IsSet { get; }
}
