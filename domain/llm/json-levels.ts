const quote = 0x22
const backslash = 0x5c

/** Counts the levels of objects and arrays in a JSON text, without parsing it. */
export function levelsOf(text: string): number {
  let level = 0
  let most = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) isString = !isString
    else if (isString) at += code === backslash ? 1 : 0
    // True for `[` and `{`.
    else if ((code | 0x20) === 0x7b) most = Math.max(most, ++level)
    else if ((code | 0x20) === 0x7d) level--
  }
  return most
}
