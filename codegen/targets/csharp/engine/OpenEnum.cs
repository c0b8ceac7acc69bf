namespace Parley;

/// <summary>
/// A text with known values. A later version of the server may send a text that this version does not know, so a value
/// can have any text. Two values with the same text are equal.
/// </summary>
/// <param name="Value">The text in the contract.</param>
public abstract record OpenEnum(string Value)
{
    /// <summary>Returns the text in the contract.</summary>
    public sealed override string ToString() => Value;
}
