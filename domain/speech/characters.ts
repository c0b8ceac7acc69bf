/**
 * Counts code points, for limits and billing. An emoji counts as one character, although JavaScript stores it as two
 * units.
 */
export function charactersOf(text: string): number {
  let characters = text.length
  for (let at = 1; at < text.length; at++)
    if (isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))) characters--
  return characters
}

const isHigh = (unit: number) => (unit & 0xfc00) === 0xd800
const isLow = (unit: number) => (unit & 0xfc00) === 0xdc00
