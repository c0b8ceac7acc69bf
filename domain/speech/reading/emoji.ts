/** Removes emoji from an agent's text for the voice, because voices read their names or stumble over them. */
import { TracedText } from './traced-text.ts'

/** Arrows, marks for yes and no, and symbols such as ® have a meaning, so they stay. */
const picture = String.raw`(?![©®™‼⁉ℹ↔-↪⬅-⬇➡✅✔✖❌☑])\p{Extended_Pictographic}[\ufe0e\ufe0f\p{Emoji_Modifier}]?`
/** A sequence of pictures is one emoji, and two regional indicators are a flag. A keycap's digit stays. */
const emoji = String.raw`(?:${picture}|\p{Regional_Indicator}|[\u200d\ufe0f\u20e3])`
const emojis = new RegExp(`[ \\u00a0]?${emoji}(?:[ \\u00a0]?${emoji}){0,50}`, 'gu')

/** The gap between two words stays. */
export function withoutEmoji(text: string): TracedText {
  const plain = new TracedText(text)
  for (const { 0: match, index } of text.matchAll(emojis)) {
    const end = index + match.length
    const isBetween =
      /[\p{L}\p{N}]$/u.test(text.slice(0, index).slice(-2)) && /^[\p{L}\p{N}]/u.test(text.slice(end, end + 2))
    plain.copy(index).put(isBetween ? ' ' : '', end)
  }
  return plain.copy()
}
